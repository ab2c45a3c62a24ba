use crate::testing::{converted, damage};

const LOG: &str = concat!(
    r#"{"type":"step_start","timestamp":1795244716875,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"step-start"}}"#,
    "\n",
    r#"{"type":"reasoning","timestamp":1795244716876,"sessionID":"ses_1","part":{"id":"prt_2","messageID":"msg_1","sessionID":"ses_1","type":"reasoning","text":"Look.","time":{"start":1,"end":2}}}"#,
    "\n",
    r#"{"type":"tool_use","timestamp":1795244716983,"sessionID":"ses_1","part":{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls; exit 3"},"output":"a\nb\n","metadata":{"output":"a\nb\n","exit":3,"truncated":false},"title":"ls","time":{"start":1,"end":2}},"id":"prt_3","sessionID":"ses_1","messageID":"msg_1"}}"#,
    "\n",
    r#"{"type":"tool_use","timestamp":1795244716984,"sessionID":"ses_1","part":{"type":"tool","tool":"read","callID":"c2","state":{"status":"error","input":{"filePath":"/a","offset":3,"limit":2},"error":"File not found: /a","time":{"start":1,"end":2}},"id":"prt_4","sessionID":"ses_1","messageID":"msg_1","new":1}}"#,
    "\n",
    r#"{"type":"step_finish","timestamp":1795244716985,"sessionID":"ses_1","part":{"id":"prt_5","reason":"tool-calls","messageID":"msg_1","sessionID":"ses_1","type":"step-finish","tokens":{"total":160,"input":100,"output":15,"reasoning":5,"cache":{"write":10,"read":30}},"cost":0.5}}"#,
    "\n",
    r#"{"type":"brand_new","timestamp":1795244716985,"sessionID":"ses_1"}"#,
    "\n",
    r#"{"type":"step_start","timestamp":1795244716986,"sessionID":"ses_1","part":{"id":"prt_6","messageID":"msg_2","sessionID":"ses_1","type":"step-start"}}"#,
    "\n",
    r#"{"type":"text","timestamp":1795244716987,"sessionID":"ses_1","part":{"id":"prt_7","messageID":"msg_2","sessionID":"ses_1","type":"text","text":"Gone.","time":{"start":1,"end":2}}}"#,
    "\n",
    r#"{"type":"step_finish","timestamp":1795244716988,"sessionID":"ses_1","part":{"id":"prt_8","reason":"stop","messageID":"msg_2","sessionID":"ses_1","type":"step-finish","tokens":{"total":122,"input":101,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.25}}"#,
    "\n",
);

#[test]
fn it_goes_to_the_canonical_events_and_back() {
    let events = converted(LOG, "opencode", "agentglot");
    assert!(
        events.contains("\"source\":\"opencode\"") && events.contains("\"key\":\"new\""),
        "{events}"
    );
    assert!(!events.contains("\"spelling\""), "{events}");
    assert_eq!(converted(&events, "agentglot", "opencode"), LOG);
}

#[test]
fn calls_and_failures_are_said_in_others_words() {
    let claude = converted(LOG, "opencode", "claude");
    for text in [
        r#""name":"Bash","input":{"command":"ls; exit 3"}"#,
        r#""content":"Exit code 3\na\nb","is_error":true"#,
        r#""name":"Read","input":{"file_path":"/a","offset":3,"limit":2}"#,
        r#""content":"File not found: /a","is_error":true"#,
        r#""result":"Gone.""#,
        r#""usage":{"input_tokens":201,"cache_creation_input_tokens":10,"cache_read_input_tokens":30,"output_tokens":41,"output_tokens_details":{"thinking_tokens":5}}"#,
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
    let back = converted(&claude, "claude", "opencode");
    for text in [
        r#""tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls; exit 3"},"output":"a\nb\n","#,
        r#""metadata":{"output":"a\nb\n","exit":3,"truncated":false}"#,
        r#""tool":"read","callID":"c2","state":{"status":"error","input":{"filePath":"/a","offset":3,"limit":2},"error":"File not found: /a","#,
        r#""messageID":"msg_2","#,
        r#""tokens":{"total":160,"input":100,"output":15,"reasoning":5,"cache":{"write":10,"read":30}}"#,
        r#""reason":"tool-calls","#,
        r#""reason":"stop","#,
    ] {
        assert!(back.contains(text), "{text}\n{back}");
    }
}

#[test]
fn a_turn_ends_as_its_last_round_did() {
    let with = |reason: &str| converted(&LOG.replace("\"stop\"", reason), "opencode", "agentglot");
    for (reason, outcome) in [
        ("\"stop\"", "success"),
        ("\"length\"", "limit_tokens"),
        ("\"content-filter\"", "refused"),
        // The log was cut.
        ("\"tool-calls\"", "failed_protocol"),
    ] {
        let events = with(reason);
        let last = events.lines().last().expect("there are lines");
        assert!(
            last.contains(&format!("\"outcome\":\"{outcome}\"")) || last.contains(outcome),
            "{reason}: {last}"
        );
        assert!(last.contains("\"synthetic\":true"), "{reason}: {last}");
        assert_eq!(events.matches("\"event\":\"outcome\"").count(), 1, "{reason}: {events}");
    }
}

#[test]
fn an_error_ends_the_turn_and_one_behind_it_does_not() {
    let error = r#"{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"APIError","data":{"message":"bad request","statusCode":400}}}"#;
    let log = format!("{error}\n{error}\n");
    let events = converted(&log, "opencode", "agentglot");
    assert_eq!(events.matches("\"event\":\"outcome\"").count(), 1, "{events}");
    assert_eq!(converted(&events, "agentglot", "opencode"), log);
    assert!(converted(&log, "opencode", "claude").contains("bad request"));
}

#[test]
fn two_runs_of_one_session_are_two_turns() {
    let again = LOG
        .replace("msg_", "msg_9")
        .replace("prt_", "prt_9")
        .replace("\"c1\"", "\"d1\"")
        .replace("\"c2\"", "\"d2\"");
    let events = converted(&format!("{LOG}{again}"), "opencode", "agentglot");
    assert_eq!(events.matches("\"event\":\"outcome\"").count(), 2, "{events}");
    let other = LOG.replace("ses_1", "ses_2");
    let events = converted(&format!("{LOG}{other}"), "opencode", "agentglot");
    assert_eq!(events.matches("\"event\":\"outcome\"").count(), 2, "{events}");
}

#[test]
fn damaged_lines_tell_nothing() {
    for line in [
        r#"{"type":"step_start","timestamp":1,"sessionID":"s"}"#,
        r#"{"type":"text","timestamp":1,"sessionID":"s","part":{"type":"text"}}"#,
        r#"{"type":"text","timestamp":1,"part":{"type":"text","text":"x"}}"#,
        r#"{"type":"tool_use","timestamp":1,"sessionID":"s","part":{"tool":"bash","callID":"c"}}"#,
        r#"{"type":"tool_use","timestamp":1,"sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{}}}}"#,
        r#"{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"tokens":{}}}"#,
        r#"{"type":"error","timestamp":1,"sessionID":"s"}"#,
    ] {
        assert_eq!(damage(line, "opencode", "agentglot").len(), 1, "{line}");
        assert_eq!(converted(line, "opencode", "agentglot"), "", "{line}");
    }
}

#[test]
fn a_call_whose_result_comes_after_more_was_said_stands_once() {
    let log = concat!(
        r#"{"type":"thread.started","thread_id":"t-1"}"#,
        "\n",
        r#"{"type":"turn.started"}"#,
        "\n",
        r#"{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"sleep 9","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
        "\n",
        r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"It runs."}}"#,
        "\n",
        r#"{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"never","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
        "\n",
        r#"{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"sleep 9","aggregated_output":"slept","exit_code":0,"status":"completed"}}"#,
        "\n",
        r#"{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"It ran."}}"#,
        "\n",
        r#"{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":1,"output_tokens":3}}"#,
        "\n",
    );
    for to in ["opencode", "opencode:export"] {
        let out = converted(log, "codex", to);
        assert_eq!(out.matches(r#""callID":"item_0""#).count(), 1, "{to}: {out}");
        assert_eq!(out.matches(r#""callID":"item_2""#).count(), 1, "{to}: {out}");
        assert!(
            out.contains(r#""status":"completed","input":{"command":"sleep 9""#) && out.contains(r#""status":"running","input":{"command":"never""#),
            "{to}: {out}"
        );
    }
}
