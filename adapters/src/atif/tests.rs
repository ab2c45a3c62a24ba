use crate::testing::{damage, kept, traced};

const ONE: &str = r#"{
  "schema_version": "ATIF-v1.7", "session_id": "s1", "new": {"x": [1]},
  "agent": {"name": "nobody", "version": "0.1", "model_name": "m1", "tool_definitions": []},
  "steps": [
    {"step_id": 1, "timestamp": "2026-11-21T07:07:47.055Z", "source": "system", "message": "Be kind."},
    {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Look."}, {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}]},
    {"step_id": 3, "source": "agent", "model_name": "m2", "message": "I look.", "reasoning_content": "Hm.",
     "tool_calls": [{"tool_call_id": "c1", "function_name": "look", "arguments": {"at": 1e3}, "extra": {"y": 2}}, {"tool_call_id": "c2", "function_name": "ask", "arguments": {}}],
     "observation": {"results": [{"source_call_id": "c1", "content": "blue"}, {"content": "no", "extra": {"is_error": true}, "subagent_trajectory_ref": [{"trajectory_id": "t1"}]}]},
     "metrics": {"prompt_tokens": 118, "completion_tokens": 20, "cached_tokens": 11, "cost_usd": 0.5, "extra": {"cache_creation_input_tokens": 7}}},
    {"step_id": 4, "source": "agent", "message": "It is blue.", "llm_call_count": 1},
    {"step_id": 5, "source": "user", "message": "And now?"}
  ],
  "subagent_trajectories": [{"schema_version": "ATIF-v1.7", "trajectory_id": "t1", "agent": {"name": "asker", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "Ask."}, {"step_id": 2, "source": "agent", "message": "Asked."}]}],
  "final_metrics": {"total_prompt_tokens": 118, "total_completion_tokens": 20, "total_cost_usd": 0.5, "total_steps": 5}
}
"#;

#[test]
fn it_is_given_back_byte_for_byte() {
    assert_eq!(kept(ONE, "atif", "atif"), ONE);
    let two = format!("{ONE}{}", ONE.replace("s1", "s2"));
    for log in [ONE, &two] {
        assert_eq!(kept(&kept(log, "atif", "agentglot"), "agentglot", "atif"), log);
    }
}

#[test]
fn what_events_say_of_a_trajectory_is_written_anew() {
    let events = kept(ONE, "atif", "agentglot");
    let edited = kept(&events.replace("It is blue.", "It is red."), "agentglot", "atif");
    for text in [
        "\"new\":{",
        "\"name\":\"nobody\"",
        "\"tool_definitions\":[]",
        "\"message\":\"Be kind.\"",
        "\"path\":\"images/a.png\"",
        "\"at\":1e3",
        "\"y\":2",
        "\"cost_usd\":0.5",
        "\"cache_creation_input_tokens\":7",
        "\"message\":\"It is red.\"",
        "\"trajectory_id\":\"t1\"",
        "\"message\":\"Asked.\"",
        "\"total_steps\":5",
    ] {
        assert_eq!(edited.matches(text).count(), 1 + usize::from(text.contains("t1")), "{text}\n{edited}");
    }
    assert!(!edited.contains("\"outcome\""), "{edited}");
}

#[test]
fn the_words_of_others_say_the_same() {
    let (claude, ledger) = traced(ONE, "atif", "claude");
    for text in [
        r#""text":"I look.""#,
        r#""thinking":"Hm.""#,
        r#""name":"look","input":{"at":1e3}"#,
        r#""tool_use_id":"c2","content":"no","is_error":true"#,
        r#""result":"It is blue.""#,
        r#""input_tokens":100,"#,
        r#""total_cost_usd":0.5"#,
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
    assert_eq!(claude.matches("\"type\":\"result\"").count(), 2, "{claude}");
    for pointer in ["/new", "/steps/0/message", "/agent/name", "/steps/2/tool_calls/0/extra"] {
        assert!(ledger.contains(&format!("\"pointer\":\"{pointer}\"")), "{pointer}\n{ledger}");
    }
    assert!(!ledger.contains("\"pointer\":\"\",\"fate\":\"dropped\""), "{ledger}");
}

const CLAUDE: &str = concat!(
    r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s1","tools":["Task"],"model":"m1","permissionMode":"default","claude_code_version":"2.1.0","uuid":"u0"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"a1","role":"assistant","model":"m1","content":[{"type":"thinking","thinking":"Hm.","signature":"SIG"}],"usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":11,"cache_creation_input_tokens":7}},"parent_tool_use_id":null,"session_id":"s1","uuid":"u1"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"a1","role":"assistant","model":"m1","content":[{"type":"tool_use","id":"c1","name":"Task","input":{"prompt":"Ask."}}],"usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":11,"cache_creation_input_tokens":7}},"parent_tool_use_id":null,"session_id":"s1","uuid":"u2"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"b1","role":"assistant","model":"m1","content":[{"type":"text","text":"Asked."}]},"parent_tool_use_id":"c1","session_id":"s1","uuid":"u3"}"#,
    "\n",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}],"is_error":true}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u4"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"a2","role":"assistant","model":"m1","content":[{"type":"text","text":"One."},{"type":"text","text":"Two."}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u5"}"#,
    "\n",
    r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":12,"num_turns":2,"result":"Two.","session_id":"s1","total_cost_usd":0.25,"uuid":"u6"}"#,
    "\n",
);

#[test]
fn a_session_becomes_a_trajectory_and_comes_back() {
    let atif = kept(CLAUDE, "claude", "atif");
    for text in [
        r#""schema_version":"ATIF-v1.8","session_id":"s1","agent":{"name":"claude","version":"2.1.0","model_name":"m1","#,
        r#""step_id":1,"source":"agent","model_name":"m1","message":"","reasoning_content":"Hm.","tool_calls":[{"tool_call_id":"c1","function_name":"Task","arguments":{"prompt":"Ask."}}]"#,
        r#""observation":{"results":[{"source_call_id":"c1","content":"a","subagent_trajectory_ref":[{"trajectory_id":"c1"}],"extra":{"is_error":true,"media":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}}]}"#,
        r#""metrics":{"prompt_tokens":118,"completion_tokens":20,"cached_tokens":11,"extra":{"cache_creation_input_tokens":7}}"#,
        r#""message":[{"type":"text","text":"One."},{"type":"text","text":"Two."}]"#,
        r#""outcome":{"kind":"success","is_error":false,"duration_ms":12,"num_turns":2}"#,
        r#""total_cost_usd":0.25"#,
        r#""trajectory_id":"c1","agent":{"#,
    ] {
        assert!(atif.contains(text), "{text}\n{atif}");
    }
    let claude = kept(&atif, "atif", "claude");
    for text in [
        r#""signature":"SIG""#,
        r#""parent_tool_use_id":"c1""#,
        r#"{"type":"base64","media_type":"image/png","data":"QUJD"}"#,
        r#""duration_ms":12"#,
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
    assert!(!claude.contains("synthetic"), "{claude}");
}

#[test]
fn a_turn_that_fails_without_a_word_has_a_step() {
    let log = "{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n{\"type\":\"turn.started\"}\n{\"type\":\"error\",\"message\":\"no\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n";
    let atif = kept(log, "codex", "atif");
    assert_eq!(atif.matches("\"message\":\"no\"").count(), 1, "{atif}");
    let back = kept(&atif, "atif", "codex");
    assert!(back.contains("\"turn.failed\",\"error\":{\"message\":\"no\"}"), "{back}");
}

#[test]
fn several_sessions_are_several_documents() {
    let log = format!("{CLAUDE}{}", CLAUDE.replace("s1", "s2"));
    let atif = kept(&log, "claude", "atif");
    assert_eq!(atif.lines().count(), 2, "{atif}");
    let claude = kept(&atif, "atif", "claude");
    assert_eq!(claude.matches("\"subtype\":\"init\"").count(), 2, "{claude}");
}

#[test]
fn rubbish_is_told() {
    for (text, damages) in [
        ("{\"schema_version\":\"ATIF-v1.7\"}", 1),
        ("{\"schema_version\":\"ATIF-v1.7\",\"steps\":7}", 1),
        ("{\"schema_version\":\"ATIF-v1.7\",\"steps\":[{\"step_id\":1,", 1),
        (
            "{\"schema_version\":\"ATIF-v1.7\",\"steps\":[7,null,{},{\"source\":\"x\"},{\"source\":\"agent\",\"tool_calls\":[3],\"observation\":{\"results\":[4,{}]}}]}",
            0,
        ),
        ("{\"a\":1}\nhello\n[1]", 0),
    ] {
        assert_eq!(damage(text, "atif", "agentglot").len(), damages, "{text}");
    }
}

/// What Claude Code says: that a tool is called and what came of it, in the main thread or by the subagent of a call.
fn call(id: &str, name: &str, by: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{{\"a\":1}}}}]}},\"parent_tool_use_id\":{by},\"agent_id\":\"helper\",\"session_id\":\"s\"}}\n"
    )
}

fn result(id: &str, by: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"of {id}\"}}]}},\"parent_tool_use_id\":{by},\"session_id\":\"s\"}}\n"
    )
}

const INIT: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"x\",\"cwd\":\"/w\",\"tools\":[]}\n";
const DONE: &str = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\"}\n";

/// A call's id comes again: the subagent of the first call has not worked for the second.
#[test]
fn a_subagent_works_for_one_call_of_an_id() {
    let log = [
        INIT,
        &call("t1", "Task", "null"),
        &call("t2", "Read", "\"t1\""),
        &result("t2", "\"t1\""),
        &result("t1", "null"),
        DONE,
        INIT,
        &call("t1", "Bash", "null"),
        &result("t1", "null"),
        DONE,
    ]
    .concat();
    let atif = kept(&log, "claude", "atif");
    assert_eq!(atif.matches("\"subagent_trajectory_ref\"").count(), 1, "{atif}");
    let again = kept(&atif, "atif", "claude");
    assert_eq!(again.matches("\"name\":\"Read\"").count(), 1, "{again}");
}

/// A subagent's id and name may be said before, or behind, the first thing that it says.
#[test]
fn a_subagents_trajectory_has_its_own_id() {
    let log = r#"{"type":"RUN_STARTED","threadId":"s","runId":"r"}
{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"ask"}
{"type":"TOOL_CALL_END","toolCallId":"c"}
{"type":"SUBAGENT_STARTED","subagentRunId":"helper","name":"asker","parentToolCallId":"c"}
{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"helper"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Asked.","subagentRunId":"helper"}
{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"helper"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"helper"}
{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":"c","content":"yes"}
{"type":"RUN_ERROR","message":"broke","code":"E42"}
"#;
    let (atif, ledger) = traced(log, "ag-ui", "atif");
    assert_eq!(atif.matches("\"trajectory_id\":\"helper\"").count(), 2, "{atif}");
    assert!(atif.contains("\"name\":\"asker\""), "{atif}");
    assert!(!ledger.contains("\"pointer\":\"/name\""), "{ledger}");
    // What the word means is not known: it is said as it is.
    assert!(atif.contains("\"word\":\"E42\""), "{atif}");
}

/// Two steps of the user, one behind the other, are one turn; a step of the user may be the last of its turn.
#[test]
fn what_the_user_says_in_two_steps_begins_one_turn() {
    let log = r#"{"schema_version":"ATIF-v1.8","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"One."},{"step_id":2,"source":"user","message":"Two."},{"step_id":3,"source":"agent","message":"Both."},{"step_id":4,"source":"user","message":"Three.","extra":{"outcome":{"kind":"refused","is_error":true}}},{"step_id":5,"source":"user","message":"Four."},{"step_id":6,"source":"agent","message":"Yes."}]}
"#;
    let events = kept(log, "atif", "agentglot");
    let kinds: Vec<_> = events
        .lines()
        .filter_map(|line| line.split("\"outcome\":\"").nth(1)?.split('"').next())
        .collect();
    assert_eq!(kinds, ["success", "refused", "success"], "{events}");
}

/// A subagent in the background speaks when its call has its result, or when the turn is over: the result refers to it all the same. Where
/// there is no result, the id says whose it is.
#[test]
fn a_subagent_in_the_background_is_part_of_its_turn() {
    let text = "{\"type\":\"assistant\",\"message\":{\"id\":\"n\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[{\"type\":\"text\",\"text\":\"Hm.\"}]},\"session_id\":\"s\"}\n";
    let by = "\"t1\"";
    let works = call("t2", "Read", by) + &result("t2", by);
    let late = [
        INIT,
        &call("t1", "Task", "null"),
        &result("t1", "null"),
        text,
        DONE,
        &works,
        INIT,
        text,
        DONE,
    ]
    .concat();
    let cut = [INIT, &call("t1", "Task", "null"), &works, DONE, INIT, text, DONE].concat();
    for (log, references) in [(late, 1), (cut, 0)] {
        let atif = kept(&log, "claude", "atif");
        assert_eq!(atif.matches("\"subagent_trajectory_ref\"").count(), references, "{atif}");
        let events = kept(&atif, "atif", "agentglot");
        assert_eq!(events.matches("\"event\":\"outcome\"").count(), 2, "{events}");
        let told = events
            .lines()
            .filter(|line| line.contains("\"parent\":\"t1\"") && line.contains("\"name\":\"Read\""));
        assert_eq!(told.count(), 1, "{events}");
        assert_eq!(kept(&events, "agentglot", "atif"), atif);
    }
}
