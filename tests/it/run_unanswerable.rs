//! What an agent asks that its host cannot be asked: it waits, so it is answered, in its own protocol and under its id as it spelled it.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, Host, INIT, QWEN, Stage, result, user};
use crate::support::within;

/// What the agent was told under this id.
fn told(stage: &Stage, id: &Value) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.path("typed")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["id"] == *id && line["method"].is_null() || line["response"]["request_id"] == *id)
        .filter(|line| !line["error"].is_null() || line["type"] == "control_response")
        .collect()
}

#[test]
fn control_requests_that_cannot_be_read_are_refused() {
    within(120, async {
        let asked = [
            (r#""r1""#, r#""request":{"subtype":"can_use_tool","input":{}}"#, "tool_name"),
            (
                r#""r1""#,
                r#""request":{"subtype":"can_use_tool","tool_name":7,"input":{}}"#,
                "cannot be read",
            ),
            (r#""r1""#, r#""request":"can_use_tool""#, "cannot be read"),
            (r#""r1""#, r#""why":1"#, "request"),
            (r#""r1""#, r#""request":{"subtype":"set_model","model":"m"}"#, "set_model"),
            (r#""r1""#, r#""request":{"subtype":"no_such_question"}"#, "the host"),
            (
                "7",
                r#""request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}"#,
                "no text",
            ),
            (
                "7.50",
                r#""request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}"#,
                "no text",
            ),
            ("null", r#""request":{"subtype":"hook_callback","callback_id":"h","input":{}}"#, "no text"),
        ];
        for (host, args, backend) in [("claude", CLAUDE, "claude"), ("qwen-code", QWEN, "claude"), ("claude", CLAUDE, "qwen")] {
            for (id, rest, why) in asked {
                // A host of the same dialect reads questions that we do not know.
                if host == backend && rest.contains("no_such") {
                    continue;
                }
                let script = [
                    "keep typed".to_owned(),
                    "control answer".to_owned(),
                    "read".to_owned(),
                    format!("say {INIT}"),
                    format!(r#"say {{"type":"control_request","request_id":{id},{rest}}}"#),
                    "answered 60000".to_owned(),
                    format!("say {}", result("lives")),
                    "read all".to_owned(),
                ];
                let stage = Stage::new(&script);
                let mut run = stage.host(host, backend, &["--silence-timeout", "5"], args);
                run.say(&user("hi"));
                let told_host = run.until("result");
                run.close();
                let end = run.end();
                let what = format!("{host} {backend} {id} {rest}");
                assert_eq!((&told_host["result"], end.code()), (&json!("lives"), 0), "{what}: {end:#?}");
                let answers = told(&stage, &serde_json::from_str(id).unwrap());
                let [answer] = &answers[..] else { panic!("{what}: {answers:#?}") };
                assert_eq!(answer["response"]["subtype"], "error", "{what}: {answer:#}");
                let text = std::fs::read_to_string(stage.path("typed")).unwrap();
                assert!(text.contains(&format!("\"request_id\":{id}")), "{what}: spelled as it was: {text}");
                assert!(answer["response"]["error"].as_str().unwrap().contains(why), "{what}: {answer:#}");
            }
        }
    });
}

/// A line of an agent of the Agent Client Protocol in its turn, and then this.
fn acp(line: &[u8], then: &[&str]) -> (Stage, crate::support::stage::End) {
    let script = [
        "keep typed",
        "read",
        r#"say {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#,
        "read",
        r#"say {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}"#,
        "read",
        "pour 1 line",
    ];
    let stage = Stage::new(&[&script, then, &["read all"]].concat());
    std::fs::write(stage.path("line"), [line, b"\n"].concat()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.args([
        "run",
        "--as",
        "claude",
        "--backend",
        "acp:./agent-program",
        "--silence-timeout",
        "5",
        "--max-line",
        "4000",
        "--",
    ]);
    command.args(CLAUDE).current_dir(stage.path(""));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = Host::new(command);
    run.say(&user("hi")).close();
    let end = run.end();
    (stage, end)
}

#[test]
fn requests_that_are_none_are_refused() {
    within(120, async {
        let question =
            r#""params":{"sessionId":"s-1","toolCall":{"toolCallId":"c","title":"t"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}"#;
        let asks = |id: &str, method: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},{question}}}"#);
        let ids = ["null", "true", "[1]", r#"{"a":"b"}"#];
        let lines = ids.map(|id| (id, asks(id, r#""session/request_permission""#)));
        let method = ("7", asks("7", "7"));
        let broken = ("7", asks("7", r#""session/request_permission""#)[..80].to_owned());
        let several = ("null", format!("[{}]", asks("7", r#""session/request_permission""#)));
        for (id, line) in lines.into_iter().chain([method, broken, several]) {
            let ends = r#"say {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;
            let (stage, end) = acp(line.as_bytes(), &["read", ends]);
            assert_eq!((&end.result()["subtype"], end.code()), (&json!("success"), 0), "{line}: {end:#?}");
            let answers = told(&stage, &serde_json::from_str(id).unwrap());
            let [answer] = &answers[..] else { panic!("{line}: {answers:#?}") };
            assert_eq!(answer["error"]["code"], -32600, "{line}: {answer:#}");
        }
    });
}

/// Nobody can say what such a question is about.
#[test]
fn permission_for_no_call_is_refused() {
    within(60, async {
        for call in ["", r#""toolCall":{"title":"t"},"#, r#""toolCall":"c","#] {
            let options = r#""options":[{"optionId":"a","name":"A","kind":"allow_once"}]"#;
            let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{{"sessionId":"s-1",{call}{options}}}}}"#);
            let ends = r#"say {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;
            let (stage, end) = acp(line.as_bytes(), &["read", ends]);
            assert_eq!((&end.result()["subtype"], end.code()), (&json!("success"), 0), "{line}: {end:#?}");
            assert_eq!(end.lines[0]["subtype"], "init", "{line}: {end:#?}");
            let answers = told(&stage, &json!(7));
            let [answer] = &answers[..] else { panic!("{line}: {answers:#?}") };
            assert_eq!(answer["error"]["code"], -32602, "{line}: {answer:#}");
        }
    });
}

/// An answer that breaks off, or is too long, is not said once more.
#[test]
fn a_prompt_whose_answer_breaks_off_has_failed_at_once() {
    within(60, async {
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{"stopReason":"end_turn","_meta":{{"x":"{}"}}}}}}"#,
            "x".repeat(5000)
        );
        for line in [r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_t"#, &long] {
            let (_, end) = acp(line.as_bytes(), &[]);
            let result = end.result();
            assert!(result["is_error"] == true && result.to_string().contains("cannot be read"), "{end:#?}");
        }
    });
}

/// What is answered to the prompt ends the turn, also where it does not say how.
#[test]
fn a_prompt_that_is_answered_with_nothing_has_failed_at_once() {
    within(60, async {
        for answer in [r#""result":null"#, r#""result":{}"#, r#""error":null"#, r#""result":{"stopReason":7}"#] {
            let (_, end) = acp(format!(r#"{{"jsonrpc":"2.0","id":2,{answer}}}"#).as_bytes(), &[]);
            let result = end.result();
            let says = result.to_string().contains("does not say how the turn ended");
            assert!(result["is_error"] == true && says, "{answer}: {end:#?}");
        }
    });
}

/// A line may be waited for whatever its bytes are.
#[test]
fn lines_that_are_no_utf_8_are_not_lost() {
    within(60, async {
        let (_, end) = acp(
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"end_turn\",\"_meta\":{\"x\":\"\xff\"}}}",
            &[],
        );
        assert_eq!((&end.result()["subtype"], end.code()), (&json!("success"), 0), "{end:#?}");
    });
}
