use crate::testing::{converted, damage, traced};

const LOG: &str = concat!(
    r#"{"type":"init","timestamp":"2026-11-21T07:03:48.381Z","session_id":"s1","model":"m1"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2026-11-21T07:03:48.382Z","role":"user","content":"go"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2026-11-21T07:03:48.400Z","role":"assistant","content":"I ","delta":true}"#,
    "\n",
    r#"{"type":"message","timestamp":"2026-11-21T07:03:48.401Z","role":"assistant","content":"look.","delta":true,"new":[1]}"#,
    "\n",
    r#"{"type":"tool_use","timestamp":"2026-11-21T07:03:48.434Z","tool_name":"read_file","tool_id":"r1","parameters":{"file_path":"/w/a","start_line":3,"end_line":4}}"#,
    "\n",
    r#"{"type":"tool_result","timestamp":"2026-11-21T07:03:48.465Z","tool_id":"r1","status":"error","output":"File not found.","error":{"type":"file_not_found","message":"File not found: /w/a","more":{}}}"#,
    "\n",
    r#"{"type":"tool_use","timestamp":"2026-11-21T07:03:48.480Z","tool_name":"mcp_calc_add_up","tool_id":"r2","parameters":{"n":[1]}}"#,
    "\n",
    r#"{"type":"tool_result","timestamp":"2026-11-21T07:03:48.495Z","tool_id":"r2","status":"success"}"#,
    "\n",
    r#"{"type":"error","timestamp":"2026-11-21T07:03:48.500Z","severity":"warning","message":"Loop detected, stopping execution"}"#,
    "\n",
    r#"{"type":"brand_new","timestamp":"2026-11-21T07:03:48.501Z","x":1}"#,
    "\n",
    r#"{"type":"message","timestamp":"2026-11-21T07:03:48.544Z","role":"assistant","content":"Gone.","delta":true}"#,
    "\n",
    r#"{"type":"result","timestamp":"2026-11-21T07:03:48.546Z","status":"success","stats":{"total_tokens":381,"input_tokens":303,"output_tokens":63,"cached":33,"input":270,"duration_ms":165,"tool_calls":2,"models":{"m1":{"total_tokens":381,"input_tokens":303,"output_tokens":63,"cached":33,"input":270}}}}"#,
    "\n",
);

#[test]
fn it_goes_to_the_canonical_events_and_back() {
    let events = converted(LOG, "gemini", "agentglot");
    assert!(events.contains("\"source\":\"gemini\"") && events.contains("\"key\":\"new\""), "{events}");
    assert_eq!(converted(&events, "agentglot", "gemini"), LOG);
}

#[test]
fn calls_and_failures_are_said_in_others_words() {
    let claude = converted(LOG, "gemini", "claude");
    for text in [
        r#""name":"Read","input":{"file_path":"/w/a","offset":3,"limit":2}"#,
        r#""name":"mcp__calc__add_up","input":{"n":[1]}"#,
        r#""content":"File not found: /w/a","#,
        r#""result":"Gone.""#,
        r#""input_tokens":270,"#,
        r#""cache_read_input_tokens":33,"#,
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
    let back = converted(&claude, "claude", "gemini");
    for text in [
        r#""tool_name":"read_file","tool_id":"r1","parameters":{"file_path":"/w/a","start_line":3,"end_line":4}}"#,
        r#""tool_name":"mcp_calc_add_up""#,
        r#""status":"error","output":"File not found: /w/a","error":{"type":"TOOL_EXECUTION_ERROR","message":"File not found: /w/a"}}"#,
        // What was thought stands in the total alone here, and in the output elsewhere, which says so.
        r#""stats":{"total_tokens":381,"input_tokens":303,"output_tokens":63,"cached":33,"input":270,"duration_ms":165,"tool_calls":2,"#,
    ] {
        assert!(back.contains(text), "{text}\n{back}");
    }
}

#[test]
fn a_run_without_a_result_fails_and_says_that_this_was_made_up() {
    let (cut, _) = LOG.split_once("{\"type\":\"tool_result\"").expect("it has one");
    let claude = converted(cut, "gemini", "claude");
    assert!(claude.contains("\"is_error\":true") && claude.contains("\"synthetic\":true"), "{claude}");
    let again = converted(&claude, "claude", "gemini");
    let last = again.lines().last().expect("there are lines");
    assert!(
        last.contains(r#""status":"error","error":{"type":"unknown","message":"#) && last.ends_with(",\"synthetic\":true}"),
        "{again}"
    );
}

#[test]
fn an_error_line_says_why_a_run_failed_that_says_nothing_itself() {
    let log = concat!(
        r#"{"type":"init","timestamp":"t","session_id":"s1","model":"m1"}"#,
        "\n",
        r#"{"type":"error","timestamp":"t","severity":"error","message":"Invalid stream: empty response"}"#,
        "\n",
        r#"{"type":"result","timestamp":"t","status":"error"}"#,
        "\n",
    );
    assert!(converted(log, "gemini", "claude").contains("Invalid stream: empty response"));
    assert_eq!(converted(&converted(log, "gemini", "agentglot"), "agentglot", "gemini"), log);
}

#[test]
fn the_one_object_of_json_is_a_whole_run() {
    let stats =
        r#"{"models":{"m1":{"tokens":{"input":67,"prompt":100,"candidates":20,"total":125,"cached":33}}},"tools":{"totalCalls":0},"files":{}}"#;
    let object = format!(r#"{{"session_id":"s1","response":"Hello.","stats":{stats}}}"#);
    let stream = converted(&object, "gemini:json", "gemini");
    assert_eq!(stream.lines().count(), 3, "{stream}");
    assert!(stream.contains(r#""content":"Hello.","delta":true}"#), "{stream}");
    assert!(
        stream.contains(r#""total_tokens":125,"input_tokens":100,"output_tokens":20,"cached":33,"input":67"#),
        "{stream}"
    );
    let again = converted(&stream, "gemini", "gemini:json");
    assert!(
        again.starts_with("{\n  \"session_id\": \"s1\",\n  \"response\": \"Hello.\",\n  \"stats\": {\n    \"models\""),
        "{again}"
    );
    assert!(again.contains("\"prompt\": 100,") && again.ends_with("  }\n}\n"), "{again}");
    let failed = r#"{"session_id":"s1","error":{"type":"FatalTurnLimitedError","message":"Too many.","code":53}}"#;
    assert!(converted(failed, "gemini:json", "claude").contains("error_max_turns"));
    assert_eq!(converted(LOG, "gemini", "gemini:json").matches("\"response\": \"Gone.\"").count(), 1);
}

#[test]
fn damaged_lines_tell_nothing() {
    for line in [
        r#"{"type":"init","timestamp":"t","model":"m"}"#,
        r#"{"type":"message","timestamp":"t","role":"assistant","content":7,"delta":true}"#,
        r#"{"type":"tool_use","timestamp":"t","tool_name":"x","tool_id":"c"}"#,
        r#"{"type":"tool_result","timestamp":"t","tool_id":"c"}"#,
        r#"{"type":"result","timestamp":"t"}"#,
    ] {
        assert_eq!(damage(line, "gemini", "agentglot").len(), 1, "{line}");
        assert_eq!(converted(line, "gemini", "agentglot"), "", "{line}");
    }
}

#[test]
fn text_is_what_was_said_each_round_on_lines_of_its_own() {
    assert_eq!(converted(LOG, "gemini", "gemini:text"), "I look.\nGone.\n");
    let failed = r#"{"session_id":"s1","error":{"type":"FatalTurnLimitedError","message":"Too many.","code":53}}"#;
    assert_eq!(converted(failed, "gemini:json", "gemini:text"), "");
}

/// One text is the answer; the ledger tells of the others, and of what was asked of tools.
#[test]
fn a_document_says_the_last_answer() {
    let user = |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"session_id\":\"s\"}}\n");
    let says = |id: &str, block: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{block}]}},\"session_id\":\"s\"}}\n"
        )
    };
    let ends = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\"}\n".to_owned();
    let log = [
        &user("one"),
        &says("a", r#"{"type":"text","text":"before"}"#),
        &says("a", r#"{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}"#),
        &user("no").replace(r#""no""#, r#"[{"type":"tool_result","tool_use_id":"c","content":"no"}]"#),
        &says("b", r#"{"type":"text","text":"first"}"#),
        &ends,
        &user("two"),
        &says("c", r#"{"type":"text","text":"second"}"#),
        &ends,
    ]
    .map(String::as_str)
    .concat();
    let (document, ledger) = traced(&log, "claude", "gemini:json");
    assert!(document.contains("\"second\"") && !document.contains("first"), "{document}");
    let dropped = |line: u32, pointer: &str| {
        let found = ledger.lines().any(|entry| {
            entry.contains(&format!("\"line\":{line},")) && entry.contains(&format!("\"pointer\":\"{pointer}\"")) && entry.contains("\"dropped\"")
        });
        assert!(found, "{line} {pointer} in {ledger}");
    };
    dropped(2, "/message/content/0/text");
    dropped(3, "/message/content/0/input");
    dropped(5, "/message/content/0/text");
    assert!(!ledger.contains("\"line\":8,\"pointer\":\"/message/content/0/text\""), "{ledger}");
}

/// Sessions of one file count their calls each on its own.
#[test]
fn a_call_of_another_session_is_another_call() {
    let session = |id: &str| {
        format!(
            "{{\"sessionId\":\"{id}\",\"projectHash\":\"0\",\"startTime\":\"2026-01-01T00:00:00.000Z\",\"lastUpdated\":\"2026-01-01T00:00:00.000Z\",\"kind\":\"main\"}}\n{{\"id\":\"m\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"gemini\",\"content\":\"\",\"toolCalls\":[{{\"id\":\"c\",\"name\":\"glob\",\"args\":{{}},\"status\":\"success\",\"result\":[{{\"functionResponse\":{{\"id\":\"c\",\"name\":\"glob\",\"response\":{{\"output\":\"x\"}}}}}}]}}]}}\n"
        )
    };
    let log = session("a") + &session("b") + &session("a");
    let events = crate::testing::kept(&log, "gemini:chat", "agentglot");
    assert_eq!(events.matches("\"event\":\"tool_result\"").count(), 3, "{events}");
    assert_eq!(events.matches("\"event\":\"session\",\"session\":\"b\"").count(), 1, "{events}");
    // One that is opened once more is told once.
    let log = session("a") + &session("a");
    let events = crate::testing::kept(&log, "gemini:chat", "agentglot");
    assert_eq!(events.matches("\"event\":\"tool_result\"").count(), 1, "{events}");
}

/// The header of another session ends the one before, though no line says how its turn ended; ids of calls may come again.
#[test]
fn another_chat_is_another_session() {
    let chat = |id: &str| {
        let header = format!(
            r#"{{"sessionId":"{id}","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}}"#
        );
        let ask = format!(r#"{{"id":"u","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{{"text":"ask {id}"}}]}}"#);
        let call = r#"{"id":"c","name":"run_shell_command","args":{"command":"ls"},"result":[],"status":"success"}"#;
        let say = format!(
            r#"{{"id":"r","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"say","thoughts":[],"model":"m","toolCalls":[{call}]}}"#
        );
        format!("{header}\n{ask}\n{say}\n")
    };
    let log = chat("one") + &chat("two");
    let events = converted(&log, "gemini:chat", "agentglot");
    for session in ["one", "two"] {
        let outcome = format!(r#""event":"outcome","session":"{session}""#);
        assert_eq!(events.matches(&outcome).count(), 1, "{events}");
    }
    assert_eq!(converted(&log, "gemini:chat", "sharegpt").lines().count(), 2);
    let mut checker = crate::check::Checker::new("gemini:chat".parse().unwrap());
    checker.feed(log.as_bytes());
    let rules: Vec<_> = checker.finish().0.into_iter().map(|finding| finding.rule).collect();
    assert!(!rules.contains(&crate::check::Rule::DuplicateCallId), "{rules:?}");
}

/// A run that failed without saying why failed of what its last `error` line said; of any other run nobody says that.
#[test]
fn an_error_line_is_lost_where_no_outcome_says_it() {
    let log = |end: &str| {
        let mut log = LOG.lines().take(2).collect::<Vec<_>>().join("\n");
        log.push_str("\n{\"type\":\"error\",\"timestamp\":\"2026-11-21T07:03:48.500Z\",\"severity\":\"error\",\"message\":\"Empty reply.\"}\n");
        log + &format!("{{\"type\":\"result\",\"timestamp\":\"2026-11-21T07:03:48.546Z\",{end}}}\n")
    };
    for to in ["claude", "codex", "acp", "opencode", "qwen"] {
        let dropped = |end: &str| {
            let (out, ledger) = traced(&log(end), "gemini", to);
            let here = ledger.lines().filter(|line| line.contains("\"line\":3,") && line.contains("\"dropped\""));
            let said = |line: &&str| line.contains("\"pointer\":\"\"") || line.contains("\"pointer\":\"/message\"");
            (out.contains("Empty reply."), here.filter(said).count())
        };
        assert_eq!(dropped(r#""status":"error""#), (true, 0), "{to}");
        assert_eq!(dropped(r#""status":"success""#), (false, 1), "{to}");
        assert_eq!(
            dropped(r#""status":"error","error":{"type":"unknown","message":"Else."}"#),
            (false, 1),
            "{to}"
        );
    }
}

/// The words of a failure say whether the call was refused or stopped, in lines that are spelled like one before as well.
#[test]
fn words_of_failures_tell_among_lines_that_are_spelled_alike() {
    let line = |n: usize, why: &str| {
        format!(
            "{{\"type\":\"tool_use\",\"timestamp\":\"2026-11-21T07:03:40.000Z\",\"tool_name\":\"f\",\"tool_id\":\"c{n}\",\"parameters\":{{}}}}\n{{\"type\":\"tool_result\",\"timestamp\":\"2026-11-21T07:03:40.000Z\",\"tool_id\":\"c{n}\",\"status\":\"error\",\"output\":\"{why}\",\"error\":{{\"type\":\"TOOL_EXECUTION_ERROR\",\"message\":\"{why}\"}}}}\n"
        )
    };
    let words = [
        "no such file",
        "nor this one",
        "[Operation Cancelled] Reason: User denied execution.",
        "[Operation Cancelled] Reason: User cancelled tool execution.",
        "gone",
    ];
    let log: String = words.iter().enumerate().map(|(n, why)| line(n, why)).collect();
    let events = converted(&log, "gemini", "agentglot");
    let statuses: Vec<&str> = events
        .lines()
        .filter(|line| line.contains("\"event\":\"tool_result\""))
        .filter_map(|line| line.split_once("\"status\":\"")?.1.split('"').next())
        .collect();
    assert_eq!(statuses, ["error", "error", "denied", "canceled", "error"]);
}
