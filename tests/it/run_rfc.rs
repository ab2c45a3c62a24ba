//! A host of the RFC: Chat Requests, commands, hints, signs of life and cancelling, over agents that know none of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::stage::{Host, INIT, Stage, result, text};
use crate::support::turns::{begins, stage, starts, turn, typed};
use crate::support::within;

const ARGS: &[&str] = &["--input-format", "stream-json", "--output-format", "stream-json"];

/// A Chat Request with these members of `input`.
fn chat(input: &Value) -> String {
    json!({"session_id": "_new", "input": input}).to_string()
}

fn prompt(text: &str) -> Value {
    json!({"origin": "user", "parts": [{"type": "text", "text": text}]})
}

/// Whether a line is the end of a turn.
fn ends_turn(line: &Value) -> bool {
    line["object"] == "chat.completion" && line["choices"][0]["finish_reason"].is_string() || line["error"].is_object()
}

/// The next line that says this.
fn until(host: &mut Host, what: &str) -> Value {
    host.until_is(what, Duration::from_secs(20), |line| line.to_string().contains(what))
}

/// An agent of Claude's that answers each of so many prompts.
fn answers(prompts: usize) -> Stage {
    let one = [
        "read".to_owned(),
        format!("say {INIT}"),
        format!("say {}", text("the answer")),
        format!("say {}", result("the answer")),
    ];
    let script: Vec<String> = std::iter::repeat_n(one, prompts).flatten().chain(["read all".to_owned()]).collect();
    Stage::new(&script)
}

#[test]
fn commands_and_hints_are_answered_with_an_error_and_begin_no_turn() {
    within(60, async {
        let stage = answers(1);
        let mut host = stage.host("qwen", "claude", &[], ARGS);
        let explicit = json!({"kind": "slash", "path": ["run"], "args": "make"});
        for input in [
            json!({"origin": "user", "parts": [{"type": "text", "text": ""}], "command": explicit}),
            json!({"origin": "user", "parts": [{"type": "text", "text": "look"}], "command": {"kind": "at", "references": []}}),
            prompt("/memory add wool"),
            prompt("@src/loom.py"),
            prompt("?"),
        ] {
            host.say(&chat(&input));
            let answer = host.until("result/command");
            assert_eq!(
                (&answer["result"]["status"], &answer["result"]["level"]),
                (&"error".into(), &"error".into()),
                "{answer}"
            );
            if !input["command"].is_null() {
                assert_eq!(answer["command"], input["command"], "{answer}");
            }
        }
        for trigger in ["slash", "at"] {
            host.say(&json!({"type": "command_hint_request", "session_id": "s", "trigger": trigger, "text": "/c", "cursor": 2}).to_string());
            let answer = host.until("result/command_hint");
            assert_eq!((&answer["status"], &answer["trigger"]), (&"error".into(), &trigger.into()), "{answer}");
        }
        host.say(r#"{"type":"command_hint_cancel","session_id":"s"}"#);
        // The agent has heard nothing of it: the one prompt that it waits for is this.
        host.say(&chat(&prompt("hello")));
        until(&mut host, "the answer");
        host.close();
        assert_eq!(host.end().code(), 0);
    });
}

/// Programs of one turn read plain text, and so does a Chat Request reach them.
#[test]
fn chat_requests_reach_programs_that_live_for_one_turn() {
    within(60, async {
        for backend in ["cursor", "tricode"] {
            let stage = stage(&[turn(backend, "one", "first", false), turn(backend, "two", "second", true)]);
            let mut host = stage.host("qwen", backend, &[], ARGS);
            host.say(&chat(&prompt("one")));
            until(&mut host, "first");
            host.say(r#"{"model":"m","messages":[{"role":"user","content":"two"}]}"#);
            until(&mut host, "second");
            host.close();
            let end = host.end();
            assert_eq!((end.code(), starts(&stage).len()), (0, 2), "{backend}: {end:#?}");
            let told = if backend == "cursor" {
                typed(&stage)
            } else {
                starts(&stage)
                    .iter()
                    .filter_map(|args| args.last().cloned())
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            assert_eq!(told.replace('\n', ""), "onetwo", "{backend}");
        }
    });
}

#[test]
fn a_request_without_a_text_fails_its_turn_at_once() {
    within(60, async {
        let stage = answers(1);
        let mut host = stage.host("qwen", "claude", &[], ARGS);
        host.say(&chat(
            &json!({"origin": "tool_response", "parts": [{"type": "function_response", "function_response": {"id": "c"}}]}),
        ));
        let failed = until(&mut host, "the request holds no text");
        assert!(ends_turn(&failed), "{failed}");
        host.say(&chat(&prompt("hello")));
        until(&mut host, "the answer");
        host.close();
        host.end();
    });
}

#[test]
fn a_busy_agent_keeps_nobody_from_signs_of_life_and_from_cancelling() {
    within(60, async {
        let stage = stage(&[[begins("tricode", "one", false), vec!["hang".to_owned()]].concat()]);
        let mut host = stage.host("qwen", "tricode", &[], ARGS);
        host.say(r#"{"type":"control/cancel","session_id":"s","reason":"escape"}"#);
        assert_eq!(host.until("result/cancel")["status"], "noop");
        host.say(&chat(&prompt("one")));
        let since = Instant::now();
        while stage.living().is_empty() {
            assert!(since.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(20));
        }
        host.say(r#"{"type":"heartbeat_request","session_id":"s"}"#);
        let since = Instant::now();
        assert_eq!(host.until("result/heartbeat")["status"], "ok");
        host.say(r#"{"type":"control/cancel","session_id":"s","reason":"escape"}"#);
        assert_eq!(host.until("result/cancel")["status"], "ok");
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
        host.close();
        host.end();
        assert!(stage.living().is_empty());
    });
}
