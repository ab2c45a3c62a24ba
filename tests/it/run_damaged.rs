//! Lines of an agent that are damaged: nobody says them once more, so nobody waits for that.

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, INIT, QWEN, Stage, result, user};
use crate::support::within;

/// A turn that ends with these bytes as its line, and one that ends well.
fn ends_with(line: &[u8]) -> Stage {
    let says = [format!("say {INIT}"), format!("say {}", result("lives"))];
    let stage = Stage::new(&["control answer", "read", &says[0], "pour 1 line", "read", &says[0], &says[1], "read all"]);
    std::fs::write(stage.path("line"), [line, b"\n"].concat()).unwrap();
    stage
}

#[test]
fn a_result_that_cannot_be_read_ends_its_turn_at_once() {
    within(120, async {
        let whole = result("said");
        let half = |at: &str| whole[..whole.find(at).unwrap() + at.len()].to_owned();
        let damaged = [
            half("\"result\":\"sa"),
            half("\"subtype\":\"suc"),
            half("\"num_turns\":1"),
            whole.replace("\"is_error\":false", "\"is_error\":falsch"),
            // The next line was written into it.
            format!("{}{}", half("\"result\":\"sa"), INIT),
        ];
        for (host, args, backend) in [("claude", CLAUDE, "claude"), ("qwen-code", QWEN, "claude"), ("claude", CLAUDE, "qwen")] {
            for line in &damaged {
                let stage = ends_with(line.as_bytes());
                let mut run = stage.host(host, backend, &[], args);
                run.say(&user("one"));
                let first = run.until("result");
                run.say(&user("two"));
                let second = run.until("result");
                run.close();
                let end = run.end();
                let what = format!("{host} {backend} {line}: {end:#?}");
                assert!(first["is_error"] == true && first.to_string().contains("cannot be read"), "{what}");
                assert_eq!((&second["result"], end.results().len(), end.code()), (&json!("lives"), 2, 0), "{what}");
            }
        }
    });
}

#[test]
fn a_result_that_is_too_long_ends_its_turn_at_once() {
    within(60, async {
        let stage = ends_with(result(&"x".repeat(10_000)).as_bytes());
        let mut run = stage.host("claude", "claude", &["--max-line", "5000"], CLAUDE);
        run.say(&user("one"));
        let first = run.until("result");
        assert!(first["is_error"] == true && first.to_string().contains("over the limit"), "{first}");
        run.say(&user("two"));
        assert_eq!(run.until("result")["result"], "lives");
        run.close();
        assert_eq!(run.end().code(), 0);
    });
}

#[test]
fn a_result_with_bytes_that_are_no_utf_8_is_one() {
    within(60, async {
        let bytes = result("s@id").into_bytes();
        let at = bytes.iter().position(|byte| *byte == b'@').unwrap();
        let line = [&bytes[..at], b"\xff", &bytes[at + 1..]].concat();
        for (host, args) in [("claude", CLAUDE), ("qwen-code", QWEN)] {
            let stage = ends_with(&line);
            let mut run = stage.host(host, "claude", &[], args);
            run.say(&user("one"));
            let first = run.until("result");
            run.close();
            run.end();
            assert_eq!(
                (&first["result"], &first["is_error"]),
                (&json!("s\u{fffd}id"), &json!(false)),
                "{host}: {first}"
            );
        }
    });
}

/// A host may keep what it was asked by its id: each question has one of its own.
#[test]
fn two_questions_under_one_id_have_two_answers() {
    within(120, async {
        let asks = |command: &str| {
            let request = json!({"subtype":"can_use_tool","tool_name":"Bash","input":{"command":command},"tool_use_id":command});
            format!("say {}", json!({"type":"control_request","request_id":"r1","request":request}))
        };
        for (host, args, backend) in [("claude", CLAUDE, "claude"), ("qwen-code", QWEN, "claude"), ("claude", CLAUDE, "qwen")] {
            let says = [format!("say {INIT}"), asks("ls"), asks("pwd"), format!("say {}", result("lives"))];
            let [init, first, second, end] = &says;
            let script = [
                "keep typed",
                "control answer",
                "read",
                init,
                first,
                second,
                "answered 60000",
                "answered 60000",
                end,
                "read all",
            ];
            let stage = Stage::new(&script);
            let mut run = stage.host(host, backend, &[], args);
            run.say(&user("hi"));
            let asked = [run.until("control_request"), run.until("control_request")];
            let what = format!("{host} {backend}: {asked:#?}");
            assert_ne!(asked[0]["request_id"], asked[1]["request_id"], "{what}");
            for (question, answer) in asked.iter().zip([
                json!({"behavior":"deny","message":"no"}),
                json!({"behavior":"allow","updatedInput":{"command":"pwd"}}),
            ]) {
                let response = json!({"subtype":"success","request_id":question["request_id"],"response":answer});
                run.say(&json!({"type":"control_response","response":response}).to_string());
            }
            assert_eq!(run.until("result")["result"], "lives", "{what}");
            run.close();
            assert_eq!(run.end().code(), 0, "{what}");
            let typed = std::fs::read_to_string(stage.path("typed")).unwrap();
            let answers: Vec<Value> = typed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let answers = answers.iter().filter(|line| line["response"]["request_id"] == "r1");
            let answers: Vec<_> = answers.map(|line| line["response"]["response"]["behavior"].as_str().unwrap()).collect();
            assert_eq!(answers, ["deny", "allow"], "{what}");
        }
    });
}
