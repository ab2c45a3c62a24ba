use super::*;

fn detect(text: &str) -> Answer {
    Detector::new(false).look(text.as_bytes(), true)
}

fn found(text: &str) -> String {
    match detect(text) {
        Answer::Found(found) => found.format.to_string(),
        other => panic!("{other:?}"),
    }
}

const CLAUDE: &str = r#"{"type":"system","subtype":"init","cwd":"/","session_id":"s","tools":[],"permissionMode":"default","claude_code_version":"2.1.329","uuid":"u"}"#;
const QWEN_CODE: &str =
    r#"{"type":"system","subtype":"init","uuid":"s","session_id":"s","cwd":"/","tools":[],"permission_mode":"default","qwen_code_version":"0.24.4"}"#;

#[test]
fn the_first_telling_line_decides() {
    let mut detector = Detector::new(false);
    let text = format!("npm warn: something\n{CLAUDE}\n");
    let almost = text.len() - 1;
    assert_eq!(detector.look(&text.as_bytes()[..10], false), Answer::More);
    assert_eq!(detector.look(&text.as_bytes()[..almost], false), Answer::More);
    let Answer::Found(found) = detector.look(text.as_bytes(), false) else {
        panic!()
    };
    assert_eq!(found.format.to_string(), "claude");
    assert_eq!(found.why, "line 2: system/init with claude_code_version");
}

#[test]
fn layouts_are_told_apart() {
    assert_eq!(found(&format!("[{CLAUDE}]")), "claude:json");
    assert_eq!(found(&format!("[\n  {QWEN_CODE}\n]\n")), "qwen-code:json");
    assert_eq!(found(&format!("[1,2]\n{QWEN_CODE}\n")), "qwen-code");
    assert_eq!(found(&CLAUDE.replacen('{', "{\n", 1)), "claude:json");
    let result = r#"{"duration_ms":1,"type":"result","subtype":"success","is_error":false,"total_cost_usd":0,"modelUsage":{},"session_id":"s"}"#;
    assert_eq!(found(result), "claude");
    let Answer::Found(named) = Detector::new(true).look(result.as_bytes(), true) else {
        panic!()
    };
    assert_eq!(named.format.to_string(), "claude:json");
    let Answer::Found(stream) = Detector::new(true).look(format!("{result}\n{result}\n").as_bytes(), true) else {
        panic!()
    };
    assert_eq!(stream.format.to_string(), "claude");
}

#[test]
fn an_answer_without_numbers_is_one() {
    assert_eq!(
        found("{\n  \"session_id\": \"s\",\n  \"response\": \"No response generated\"\n}"),
        "gemini:json"
    );
}

#[test]
fn what_cannot_be_told_is_said() {
    assert_eq!(detect(" \n\n"), Answer::Empty);
    let Answer::Unclear(unclear) = detect("hello\n{\"x\":1}\n") else {
        panic!()
    };
    assert!(unclear.candidates.is_empty());
    assert!(unclear.to_string().contains("2 lines read and no dialect recognised"), "{unclear}");
    let Answer::Unclear(unclear) = detect(r#"{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}"#) else {
        panic!()
    };
    let names: Vec<_> = unclear.candidates.iter().map(|c| c.format.to_string()).collect();
    assert_eq!(names, ["claude", "qwen-code"]);
    assert!(unclear.to_string().contains("may be claude (line 1: "), "{unclear}");
    let Answer::Unclear(unclear) = Detector::new(false).look(b"\xff\xfe{\0\"\0", true) else {
        panic!()
    };
    assert!(unclear.kind.is_some_and(|kind| kind.starts_with("text in UTF-16 ")));
}

#[test]
fn cuts_never_matter_for_the_answer() {
    let texts = [
        format!("{{\"x\":1}}\n{CLAUDE}\n"),
        format!("[\n{QWEN_CODE}\n]"),
        format!("[{QWEN_CODE}]"),
        "{\"type\": \"system\", \"message\": \"Session ID: 0a1b2c3d\"}\n".to_owned(),
    ];
    for text in texts {
        let whole = Detector::new(false).look(text.as_bytes(), true);
        for cut in 0..text.len() {
            let mut detector = Detector::new(false);
            let answer = match detector.look(&text.as_bytes()[..cut], false) {
                Answer::More => detector.look(text.as_bytes(), true),
                early => early,
            };
            assert_eq!(answer, whole, "cut at {cut} of {text}");
        }
    }
}

#[test]
fn a_line_without_end_is_looked_at_all_the_same() {
    let mut text =
        r#"{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":""#
            .to_owned();
    text.push_str(&"x".repeat(Detector::ENOUGH_BYTES));
    let Answer::Found(found) = Detector::new(false).look(text.as_bytes(), false) else {
        panic!()
    };
    assert_eq!(found.format.to_string(), "claude");
}

#[test]
fn a_session_on_one_line_is_found_before_a_log() {
    let row = r#"{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"tool","tool_call_id":"c","content":"x"}]}"#;
    assert_eq!(found(&format!("{row}\n{CLAUDE}\n")), "openai:messages");
    assert_eq!(found(&format!("{CLAUDE}\n{row}\n")), "claude");
    // Hosts of the RFC send such requests too.
    let qwen = r#"{"id":"m","object":"chat.completion","choices":[]}"#;
    assert_eq!(found(&format!("{row}\n{qwen}\n")), "qwen");
}

#[test]
fn what_another_program_has_put_around_lines_is_said() {
    let text = |line: &str| {
        let mut escaped = String::new();
        crate::json::Str::escape(line, &mut escaped);
        escaped
    };
    for (around, told) in [
        (
            format!("2026-01-02T03:04:05.1Z {CLAUDE}"),
            r#"line 2 is claude behind "2026-01-02T03:04:05.1Z ", which"#,
        ),
        (format!("2026-01-02T03:04:05.1Z stdout F {CLAUDE}"), "sed 's/^[^{]*//' takes it away"),
        (format!("[pod/x/agent] {QWEN_CODE}"), r#"line 2 is qwen-code behind "[pod/x/agent] ""#),
        (format!("agent-1  | {CLAUDE}"), r#"behind "agent-1  | ""#),
        (format!("data: {CLAUDE}"), r#"behind "data: ""#),
        (
            format!("\u{1b}[32m{CLAUDE}\u{1b}[0m"),
            r#"sed "$(printf 's/\033\\[[0-9;]*[A-Za-z]//g')" takes"#,
        ),
        (
            format!("\u{1b}[32mINFO\u{1b}[0m {CLAUDE}"),
            r#"sed "$(printf 's/\033\\[[0-9;]*[A-Za-z]//g; s/^[^{]*//')" takes"#,
        ),
        (
            format!("x={{\"a\":1}} {CLAUDE}"),
            r#"behind "x={\"a\":1} ", which another program has put in front"#,
        ),
        (
            format!(r#"{{"log":"{}\n","stream":"stdout"}}"#, text(CLAUDE)),
            r#"line 2 is claude in the member "log" of another program's line; jq -j .log takes it out"#,
        ),
        (format!(r#"{{"ts":1,"message":"{}"}}"#, text(CLAUDE)), "jq -r .message takes"),
        (format!(r#"{{"insertId":"x","jsonPayload":{QWEN_CODE}}}"#), "jq -c .jsonPayload takes"),
        (format!(r#"{{"a.b":{QWEN_CODE}}}"#), r#"in the member "a.b" of another program's line"#),
        (
            format!("\"{}\"", text(CLAUDE)),
            "line 2 is claude as the text of a string; jq -r . takes it out",
        ),
    ] {
        let log = format!("\n{around}\n{around}\n");
        let Answer::Unclear(unclear) = detect(&log) else { panic!("{log}") };
        assert!(unclear.to_string().contains(told), "{unclear}");
        // Also to who has named the dialect, unless lines of it are there.
        assert!(wrapped(Dialect::Claude, log.as_bytes()).is_some(), "{log}");
        assert_eq!(wrapped(Dialect::Claude, format!("{log}{CLAUDE}\n").as_bytes()), None);
    }
    for other in ["hello {\"a\":1}\n", "\"hello\"\n", "{\"log\":\"hello\"}\n", "{\"a\":{}}\n", "\u{1b}[1m\n"] {
        assert_eq!(wrapped(Dialect::Claude, other.as_bytes()), None, "{other}");
    }
}

#[test]
fn archives_are_named() {
    let mut tar = vec![0; 512];
    tar[..5].copy_from_slice(b"a.log");
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend_from_slice(CLAUDE.as_bytes());
    let Answer::Unclear(unclear) = Detector::new(false).look(&tar, true) else {
        panic!()
    };
    assert!(unclear.to_string().contains("a tar archive"), "{unclear}");
}
