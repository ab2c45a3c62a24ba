//! Lines of a host that its dialect's program could not read, or would refuse, in front of a stand-in.

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, End, INIT, QWEN, Stage, request, result, text, user};
use crate::support::within;

fn say(line: &str) -> String {
    format!("say {line}")
}

/// What a session with these lines of the host ends like.
fn after(dialect: &str, args: &[&str], lines: &[&str]) -> End {
    let stage = Stage::new(&["read".to_owned(), say(INIT), say(&result("fine")), "read all".to_owned()]);
    let mut host = stage.host(dialect, "claude", &[], args);
    for line in lines {
        host.say(line);
    }
    host.close();
    host.end()
}

#[test]
fn bad_lines_of_a_claude_host_do_what_claude_does() {
    within(60, async {
        let hi = user("hi");
        for (line, words) in [
            ("this is no JSON", "(type=unknown, 15 chars): SyntaxError"),
            ("{\"type\":\"user\",", "SyntaxError"),
            (r#"{"type":"user"}"#, "Expected message role 'user'"),
            (
                r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
                "Expected message role 'user'",
            ),
            (r#"{"type":"control_request","request_id":"r"}"#, "Missing request on control_request"),
        ] {
            let end = after("claude", CLAUDE, &[line]);
            assert_eq!(end.code(), 1, "{line}: {end:#?}");
            assert!(
                end.lines.is_empty() && !end.stderr.is_empty() && end.stderr.contains(words),
                "{line}: {end:#?}"
            );
        }
        for line in [
            "",
            "\r",
            "[]",
            "7",
            r#"{"a":1}"#,
            r#"{"type":"never_heard_of"}"#,
            r#"{"type":"keep_alive"}"#,
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"x"}}"#,
        ] {
            let end = after("claude", CLAUDE, &[line, &hi]);
            assert_eq!((end.code(), end.result()["result"].as_str()), (0, Some("fine")), "{line}: {end:#?}");
        }
    });
}

#[test]
fn unknown_control_requests_are_refused_in_the_words_of_the_program() {
    within(60, async {
        for (dialect, backend, args, error, code) in [
            (
                "claude",
                "qwen",
                CLAUDE,
                "Unsupported control request subtype: dance",
                Some("unsupported_request"),
            ),
            ("qwen-code", "claude", QWEN, "Unknown control request subtype: dance", None),
        ] {
            let stage = Stage::new(&["control answer", "read all"]);
            let mut host = stage.host(dialect, backend, &[], args);
            host.say(&request("r0", r#"{"subtype":"initialize","hooks":null}"#))
                .until("control_response");
            host.say(&request("r1", r#"{"subtype":"dance"}"#));
            let answer = host.until("control_response")["response"].clone();
            assert_eq!(
                (answer["subtype"].as_str(), answer["error"].as_str()),
                (Some("error"), Some(error)),
                "{answer:#}"
            );
            assert_eq!(answer.get("error_code").and_then(Value::as_str), code, "{answer:#}");
            host.close();
            assert_eq!(host.end().code(), 0);
        }
    });
}

#[test]
fn bad_lines_of_a_qwen_host_do_what_qwen_does() {
    within(60, async {
        let hi = user("hi");
        for line in ["this is no JSON", "[]", "7", r#"{"a":1}"#] {
            let end = after("qwen-code", QWEN, &[line]);
            assert_eq!(end.code(), 1, "{line}: {end:#?}");
            assert!(end.lines.is_empty() && !end.stderr.is_empty(), "{line}: {end:#?}");
        }
        for line in [
            "",
            r#"{"type":"never_heard_of"}"#,
            r#"{"type":"control_request"}"#,
            r#"{"type":"user","message":{"role":"user","content":""}}"#,
        ] {
            let end = after("qwen-code", QWEN, &[line, &hi]);
            assert_eq!((end.code(), end.result()["result"].as_str()), (0, Some("fine")), "{line}: {end:#?}");
        }
        // In mid-turn it gives up in other words.
        let stage = Stage::new(&["read".to_owned(), say(INIT), say(&text("begun")), "hang".to_owned()]);
        let mut host = stage.host("qwen-code", "claude", &[], QWEN);
        host.say(&hi);
        host.until("system");
        host.say("this is no JSON");
        let end = host.end();
        assert_eq!((end.code(), end.results().len()), (130, 0), "{end:#?}");
        assert!(end.stderr.contains("Operation cancelled."), "{end:#?}");
    });
}

#[test]
fn bad_lines_of_an_rfc_host_harm_nobody() {
    within(60, async {
        let prompt = r#"{"session_id":"_new","input":{"origin":"user","parts":[{"type":"text","text":"hi"}]}}"#;
        for line in ["this is no JSON", "[]", "7", r#"{"a":1}"#, r#"{"type":"never_heard_of"}"#] {
            let end = after("qwen", QWEN, &[line, prompt]);
            assert_eq!(end.code(), 0, "{line}: {end:#?}");
            assert!(!end.lines.is_empty(), "{line}: {end:#?}");
        }
        let end = after("qwen", QWEN, &[r#"{"type":"heartbeat_request","session_id":"s"}"#]);
        let beat = end.lines.iter().find(|line| line["type"] == "result/heartbeat").unwrap();
        assert!(beat["ts"].as_u64().is_some_and(|seconds| seconds > 1_700_000_000), "{beat}");
    });
}

/// A host of Claude Code's in front of an agent of another dialect, which ends each of its turns.
fn claude_host(stage: &Stage) -> crate::support::stage::Host {
    let mut host = stage.host("claude", "qwen", &[], CLAUDE);
    host.say(&request("r0", r#"{"subtype":"initialize","hooks":null}"#))
        .until("control_response");
    host
}

#[test]
fn ids_of_requests_that_are_no_strings_are_given_back_as_they_are() {
    within(60, async {
        for backend in ["qwen", "claude"] {
            let stage = Stage::new(&["control answer", "read all"]);
            let mut host = stage.host("claude", backend, &[], CLAUDE);
            for id in ["7", "-1.50", "true", r#"{"a":[1]}"#] {
                host.say(&format!(
                    r#"{{"type":"control_request","request_id":{id},"request":{{"subtype":"set_model","model":"m"}}}}"#
                ));
                let answer = host.until("control_response")["response"].clone();
                assert_eq!(
                    (&answer["subtype"], &answer["request_id"]),
                    (&json!("success"), &serde_json::from_str::<Value>(id).unwrap()),
                    "{backend}: {answer:#}"
                );
            }
            host.close();
            assert_eq!(host.end().code(), 0);
        }
    });
}

#[test]
fn requests_of_a_claude_host_with_members_of_other_types_are_refused() {
    within(60, async {
        let stage = Stage::new(&["control answer", "read", &say(INIT), &say(&result("fine")), "read all"]);
        let mut host = claude_host(&stage);
        for (body, words) in [
            (r#"{"subtype":"set_model","model":5}"#, "model must be a string"),
            (r#"{"subtype":"initialize","hooks":"x"}"#, "hooks must map"),
            (
                r#"{"subtype":"initialize","hooks":{"Stop":[{"matcher":5,"hookCallbackIds":[]}]}}"#,
                "hooks must map",
            ),
            (r#"{"subtype":"initialize","sdkMcpServers":"x"}"#, "must be arrays of strings"),
            (
                r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":"x"}"#,
                "must be an integer or null",
            ),
            (r#"{"subtype":"apply_flag_settings","settings":5}"#, "to be an object"),
            (r#"{"subtype":"stop_task"}"#, "task_id must be a string"),
            (r#"{"subtype":"can_use_tool"}"#, "Unsupported control request subtype: can_use_tool"),
            ("{}", "Unsupported control request subtype: undefined"),
            ("5", "Unsupported control request subtype: undefined"),
        ] {
            host.say(&request("r1", body));
            let answer = host.until("control_response")["response"].clone();
            assert_eq!(
                (&answer["subtype"], &answer["request_id"]),
                (&json!("error"), &json!("r1")),
                "{body}: {answer:#}"
            );
            assert!(answer["error"].as_str().is_some_and(|why| why.contains(words)), "{body}: {answer:#}");
        }
        for body in [
            r#"{"subtype":"set_model","model":null}"#,
            r#"{"subtype":"initialize","hooks":{"Stop":[{"matcher":null,"hookCallbackIds":["h"],"timeout":5}]},"sdkMcpServers":["s"]}"#,
            r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}"#,
        ] {
            host.say(&request("r2", body));
            let answer = host.until("control_response")["response"].clone();
            assert_eq!(answer["subtype"], "success", "{body}: {answer:#}");
        }
        host.say(&user("hi"));
        assert_eq!(host.until("result")["result"], "fine");
        host.close();
        assert_eq!(host.end().code(), 0);
    });
}

#[test]
fn a_prompt_that_cannot_be_read_fails_and_the_session_goes_on() {
    within(60, async {
        for content in ["5", r#"[{"type":"text","text":5}]"#] {
            let line = format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}}}"#);
            let end = after("claude", CLAUDE, &[&line, &user("hi")]);
            let results: Vec<_> = end.results().iter().map(|result| result["is_error"].clone()).collect();
            assert_eq!((end.code(), results), (0, vec![json!(true), json!(false)]), "{content}: {end:#?}");
            assert_eq!(end.results()[1]["result"], "fine", "{content}: {end:#?}");
        }
        // No content is one that says nothing.
        let end = after("claude", CLAUDE, &[r#"{"type":"user","message":{"role":"user","content":null}}"#]);
        assert_eq!((end.code(), end.result()["result"].as_str()), (0, Some("fine")), "{end:#?}");
    });
}

#[test]
fn whatever_a_prompt_carries_it_begins_a_turn() {
    within(60, async {
        for (content, besides) in [
            ("\"hi\"", r#""isSynthetic":true"#),
            ("\"hi\"", r#""isReplay":true"#),
            ("\"hi\"", r#""tool_use_result":{"a":1}"#),
            ("\"hi\"", r#""parent_tool_use_id":"t""#),
            (
                "\"hi\"",
                r#""timestamp":"2026-01-01T00:00:00.000Z","uuid":"11111111-1111-4111-8111-111111111111""#,
            ),
            (
                r#"[{"type":"text","text":"hi"},{"type":"tool_result","tool_use_id":"t","content":"x"}]"#,
                r#""priority":"now""#,
            ),
        ] {
            let line = format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}},"session_id":"s",{besides}}}"#);
            for (dialect, args, backend) in [("claude", CLAUDE, "claude"), ("claude", CLAUDE, "qwen"), ("qwen-code", QWEN, "claude")] {
                let stage = Stage::new(&["read".to_owned(), say(INIT), say(&result("fine")), "read all".to_owned()]);
                let mut host = stage.host(dialect, backend, &[], args);
                host.say(&line).close();
                let end = host.end();
                assert_eq!(
                    (end.code(), end.result()["result"].as_str()),
                    (0, Some("fine")),
                    "{dialect} over {backend}: {line}: {end:#?}"
                );
            }
        }
    });
}

#[test]
fn a_host_can_end_its_session() {
    within(60, async {
        let stage = Stage::new(&["control answer", "read all"]);
        let mut host = claude_host(&stage);
        host.say(&request("r1", r#"{"subtype":"end_session"}"#)).say(&user("not heard any more"));
        assert_eq!(host.until("control_response")["response"]["subtype"], "success");
        let end = host.end();
        assert_eq!((end.code(), end.results().len()), (0, 0), "{end:#?}");
        // A turn that runs ends with it.
        let stage = Stage::new(&[say(INIT), say(&text("begun")), "hang".to_owned()]);
        let mut host = stage.host("claude", "cursor", &[], CLAUDE);
        host.say(&user("hi"));
        host.until("system");
        host.say(&request("r1", r#"{"subtype":"end_session"}"#));
        assert_eq!(host.until("control_response")["response"]["subtype"], "success");
        assert_eq!(host.until("result")["is_error"], true);
        let end = host.end();
        assert_eq!((end.code(), end.result()["is_error"].as_bool()), (1, Some(true)), "{end:#?}");
    });
}
