//! What goes wrong in a session of the RFC, and what the host is told of it; and what it gets while the agent is busy.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::example;
use crate::support::model::{Answer, Says, Server, Step};
use crate::support::play::Play;
use crate::support::rfc::{CHUNKS, MESSAGES, Rfc, said, terminals};

pub(super) fn echo() -> Server {
    Server::script(vec![Answer::text("well done")])
}

pub(super) fn prompt(text: &str) -> Value {
    json!({"session_id": "_new", "input": {"origin": "user", "parts": [{"type": "text", "text": text}]}})
}

/// How a line that makes no sense is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    /// By a turn of its own that fails, with this code.
    Turn(&'static str),
    /// By a line that belongs to no turn.
    Line,
    /// By this line, with `status:"error"`.
    Result(&'static str),
    /// It is answered as any prompt: what is too much is passed over.
    Prompt,
    /// As the same line without the member would be.
    Side(&'static str),
}

use Told::{Line, Prompt, Result as Answered, Side, Turn};

const INVALID: Told = Turn("QWEN_INVALID_REQUEST");

/// A Chat Request with a member that is something else.
fn but(pointer: &str, value: Value) -> Value {
    let mut request = json!({
        "session_id": "_new", "prompt_id": "p", "model": "m", "continuation": false, "protocol_version": "1",
        "input": {"origin": "user", "parts": [{"type": "text", "text": "hello"}], "command": null},
        "options": {"temperature": 0.2, "top_p": 0.5, "max_tokens": 10, "model": "m", "tool_overrides": ["read_file"]},
        "tools": [{"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}}}],
    });
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    let parent = request.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(object), Value::Null) => _ = object.remove(member),
        (Value::Object(object), value) => _ = object.insert(member.to_owned(), value),
        (Value::Array(list), value) => list[member.parse::<usize>().unwrap()] = value,
        _ => unreachable!("{pointer}"),
    }
    // A used id would be a fault of its own.
    if pointer != "/prompt_id" {
        request.as_object_mut().unwrap().remove("prompt_id");
    }
    request
}

/// Everything that a host may get wrong, member by member.
fn mistakes() -> Vec<(String, Told)> {
    let long = "x".repeat(5000);
    let mut all: Vec<(String, Told)> = [
        // Members that are missing.
        ("/session_id", json!(null), Prompt),
        ("/model", json!(null), Prompt),
        ("/input", json!(null), Line),
        ("/input/origin", json!(null), Prompt),
        ("/input/parts", json!(null), INVALID),
        ("/input/parts/0/text", json!(null), INVALID),
        ("/input/parts/0/type", json!(null), Prompt),
        ("/options", json!(null), Prompt),
        ("/tools", json!(null), Prompt),
        ("/tools/0/function", json!(null), INVALID),
        ("/tools/0/function/name", json!(null), INVALID),
        ("/tools/0/function/parameters", json!(null), Prompt),
        // Of the wrong type.
        ("/session_id", json!(7), INVALID),
        ("/prompt_id", json!(["p"]), INVALID),
        ("/model", json!({}), INVALID),
        ("/continuation", json!("yes"), INVALID),
        ("/protocol_version", json!([1]), INVALID),
        ("/input", json!("hello"), INVALID),
        ("/input/origin", json!(1), INVALID),
        ("/input/parts", json!("hello"), INVALID),
        ("/input/parts/0", json!("hello"), INVALID),
        ("/input/parts/0/type", json!("song"), INVALID),
        ("/input/parts/0/text", json!(5), INVALID),
        ("/input/command", json!("/help"), INVALID),
        ("/input/command", json!({"kind": "moon"}), INVALID),
        ("/input/command", json!({"kind": "slash", "path": "help"}), Answered("result/command")),
        ("/input/command", json!({"kind": "slash"}), Answered("result/command")),
        ("/input/command", json!({"kind": "at", "references": [{}]}), Answered("result/command")),
        ("/options", json!([]), INVALID),
        ("/options/temperature", json!("hot"), INVALID),
        ("/options/top_p", json!(-1), INVALID),
        ("/options/max_tokens", json!(1.5), INVALID),
        ("/options/model", json!(1), INVALID),
        ("/options/tool_overrides", json!("read_file"), INVALID),
        ("/tools", json!({}), INVALID),
        ("/tools/0", json!("weather"), INVALID),
        ("/tools/0/function/name", json!("the weather"), INVALID),
        ("/tools/0/function/parameters", json!("none"), Turn("QWEN_INVALID_TOOL_ARGS")),
        ("/tool_request", json!("read_file"), Turn("QWEN_INVALID_TOOL_ARGS")),
        ("/capabilities", json!(1), INVALID),
        // Too long.
        ("/session_id", json!(long), Turn("QWEN_UNKNOWN_SESSION")),
        ("/prompt_id", json!(long), INVALID),
        ("/model", json!(long), INVALID),
        ("/options/model", json!(long), INVALID),
        ("/tools/0/function/name", json!(long), INVALID),
        // Unknown: newer hosts may say more.
        ("/moon", json!({"phase": 1}), Prompt),
        ("/input/moon", json!([1]), Prompt),
        ("/options/moon", json!(true), Prompt),
        ("/input/parts/0/moon", json!(""), Prompt),
    ]
    .into_iter()
    .map(|(pointer, value, told)| (but(pointer, value).to_string(), told))
    .collect();
    let hint = |member: &str, value: Value| {
        let mut hint =
            json!({"type": "command_hint_request", "session_id": "s", "trigger": "slash", "text": "/c", "cursor": 2, "context": {"cwd": ""}});
        hint[member] = value;
        hint.to_string()
    };
    let no_hint = Answered("result/command_hint");
    all.extend([
        (r#"{"messages":"hello"}"#.to_owned(), INVALID),
        (r#"{"model":"m","messages":[]}"#.to_owned(), INVALID),
        (r#"{"model":"m","messages":["hello"]}"#.to_owned(), INVALID),
        (
            r#"{"input":{"origin":"tool_response","parts":[]},"tool_call_id":"nobody's"}"#.to_owned(),
            INVALID,
        ),
        (
            r#"{"input":{"origin":"tool_response","parts":[{"type":"function_response","function_response":{}}]}}"#.to_owned(),
            INVALID,
        ),
        (
            r#"{"input":{"origin":"system","parts":[{"type":"instruction","text":"be kind"}]}}"#.to_owned(),
            Answered("result/command"),
        ),
        ("this is no JSON".to_owned(), Line),
        ("{\"input\":".to_owned(), Line),
        ("[]".to_owned(), Line),
        ("7".to_owned(), Line),
        ("null".to_owned(), Line),
        (r#"{"a":1}"#.to_owned(), Line),
        (r#"{"type":"never_heard_of"}"#.to_owned(), Line),
        (r#"{"type":7}"#.to_owned(), Line),
        (r#"{"type":"result/heartbeat","session_id":"s","status":"ok"}"#.to_owned(), Line),
        (r#"{"type":"control_response","request_id":"r"}"#.to_owned(), Line),
        (
            r#"{"type":"control_response","request_id":"r","response":{"subtype":"success","result":{}}}"#.to_owned(),
            Line,
        ),
        (r#"{"type":"control_request","request":{"subtype":"initialize"}}"#.to_owned(), Line),
        (r#"{"type":"heartbeat_request","session_id":"s","interval_ms":"often"}"#.to_owned(), Line),
        (r#"{"type":"heartbeat_request","session_id":["s"]}"#.to_owned(), Line),
        (r#"{"type":"heartbeat_request"}"#.to_owned(), Side("result/heartbeat")),
        (
            r#"{"type":"heartbeat_request","session_id":"s","moon":1}"#.to_owned(),
            Side("result/heartbeat"),
        ),
        (
            r#"{"type":"control/cancel","session_id":"s","prompt_id":5,"reason":"escape"}"#.to_owned(),
            Line,
        ),
        (r#"{"type":"control/cancel","session_id":"s","reason":7}"#.to_owned(), Line),
        (r#"{"type":"control/cancel"}"#.to_owned(), Side("result/cancel")),
        (
            r#"{"type":"control/cancel","session_id":"s","reason":"a new one","moon":1}"#.to_owned(),
            Side("result/cancel"),
        ),
        (hint("trigger", json!("moon")), no_hint),
        (hint("trigger", json!(1)), no_hint),
        (hint("trigger", json!(null)), no_hint),
        (hint("text", json!(null)), no_hint),
        (hint("text", json!(["/c"])), no_hint),
        (hint("cursor", json!("end")), no_hint),
        (hint("context", json!("here")), no_hint),
        (hint("context", json!({"cwd": "/etc"})), no_hint),
        (hint("context", json!({"cwd": "../.."})), no_hint),
        (hint("cursor", json!(-5)), Side("result/command_hint")),
        (hint("cursor", json!(1e9)), Side("result/command_hint")),
        (hint("moon", json!(1)), Side("result/command_hint")),
    ]);
    all
}

#[test]
fn whatever_the_host_gets_wrong_is_answered_and_the_session_lives() {
    for args in [MESSAGES, CHUNKS] {
        let mut host = Rfc::with(Play::of(echo()), args, &|_| {});
        for (line, expected) in mistakes() {
            let line_start: String = line.chars().take(200).collect();
            host.say_raw(&line);
            let before = host.seen.len();
            let got = match expected {
                Turn(code) => {
                    let summary = host.summary();
                    assert_eq!(summary["is_error"], "true", "{line_start}");
                    assert!(summary["error"].as_str().unwrap().starts_with(code), "{line_start}: {summary}");
                    summary
                }
                Line => host.until(|line| line["metadata"]["error"].is_string() || line["metadata"]["control_errors"].is_string()),
                Answered(kind) => {
                    let line = host.kind(kind);
                    let status = if kind == "result/command" {
                        &line["result"]["status"]
                    } else {
                        &line["status"]
                    };
                    assert_eq!(status, "error", "{line_start}: {line}");
                    line
                }
                Prompt => {
                    let summary = host.summary();
                    assert_eq!(summary["outcome"], "success", "{line_start}: {summary}");
                    summary
                }
                Side(kind) => {
                    let line = host.kind(kind);
                    assert_ne!(line["status"], "error", "{line_start}: {line}");
                    line
                }
            };
            if matches!(expected, Line) {
                let summaries = host.seen[before..].iter().filter(|line| line["metadata"]["summary"] == "true");
                assert_eq!(summaries.count(), 0, "{line_start} is no turn: {got}");
            }
        }
        // Nothing was lost, and nothing came twice: the next prompt is answered as ever.
        host.prompt("still here");
        assert_eq!(host.summary()["outcome"], "success");
        let end = host.end();
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        let wanted = mistakes().iter().filter(|(_, told)| matches!(told, Turn(_) | Prompt)).count() + 1;
        let summaries = end.lines.iter().filter(|line| line["metadata"]["summary"] == "true").count();
        assert_eq!(summaries, wanted);
        assert!(
            end.lines[0]["metadata"]["protocol_version"] == "1",
            "the receipt comes first: {}",
            end.lines[0]
        );
    }
}

#[test]
fn the_first_line_that_makes_no_sense_is_told_behind_the_receipt() {
    let mut host = Rfc::new(echo());
    host.say_raw("{nonsense");
    let receipt = host.next().unwrap();
    assert_eq!(receipt["metadata"]["protocol_version"], "1");
    let told = host.next().unwrap();
    assert!(told["metadata"]["error"].as_str().unwrap().starts_with("QWEN_INVALID_REQUEST"), "{told}");
    assert_eq!(told["id"], receipt["id"]);
    let seen = std::slice::from_ref(&told);
    let [(terminal, text)] = &terminals(seen, "system")[..] else {
        panic!("{told}")
    };
    assert_eq!((&terminal["channel"], &terminal["log_scope"]), (&json!("stderr"), &json!("system")));
    assert!(text.contains("{nonsense"), "{text}");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn requests_during_a_request_wait_for_their_turn() {
    let server = Server::start(|asked, _| {
        let wait = if asked.last().contains("slow") { 700 } else { 0 };
        Answer::steps(vec![Step::Text("heard".to_owned()), Step::Pause(wait)])
    });
    let mut host = Rfc::new(server);
    host.say(&prompt("slow one"));
    host.until(|line| line["metadata"]["protocol_version"] == "1");
    let session = host.session();
    for text in ["second", "third"] {
        host.say(&json!({"session_id": session, "input": {"origin": "user", "parts": [{"type": "text", "text": text}]}}));
    }
    host.say_raw("nonsense in between");
    host.say_raw(r#"{"input":7}"#);
    host.until(|line| line["metadata"]["error"].is_string() && line["metadata"]["summary"].is_null());
    assert!(host.play.server.asked().len() <= 1, "what makes no sense is told at once");
    let outcomes: Vec<Value> = (0..4).map(|_| host.summary()["outcome"].clone()).collect();
    assert_eq!(outcomes, ["success", "success", "success", "failed_protocol"]);
    let asked: Vec<String> = host.play.server.asked().iter().map(|asked| asked.last()).collect();
    assert!(
        asked[0].contains("slow one") && asked[1].contains("second") && asked[2].contains("third"),
        "{asked:?}"
    );
    assert_eq!(host.end().code, Some(0));
}

/// What keeps an agent busy: the model's answers, and the line behind which it is.
struct Busy {
    name: &'static str,
    answers: Vec<Answer>,
    args: &'static [&'static str],
    until: fn(&Value) -> bool,
    prompts: usize,
}

fn states() -> Vec<Busy> {
    let slow = || Answer::steps(vec![Step::Text("begun".to_owned()), Step::Pause(25_000)]);
    let shell = |command: &str| Answer::calls(&[("run_shell_command", json!({"command": command, "is_background": false}))]);
    vec![
        Busy {
            name: "a model call",
            answers: vec![slow()],
            args: &[],
            until: |line| said(line)["content"] == "begun",
            prompts: 1,
        },
        Busy {
            name: "a tool",
            answers: vec![shell("sleep 25; echo never")],
            args: &["--yolo"],
            until: |line| line.to_string().contains("\"executing\""),
            prompts: 1,
        },
        Busy {
            name: "a permission question",
            answers: vec![shell("touch never")],
            args: &[],
            until: |line| line["type"] == "control_request",
            prompts: 1,
        },
        Busy {
            name: "a compaction",
            // The first prompt fills the window; the second one waits for a summary that does not come.
            answers: vec![
                Answer::steps(vec![Step::Text("full".to_owned()), Step::Used(10_000_000, 3)]),
                Answer::with(200, Says::Silence(Duration::from_secs(25))),
            ],
            args: &[],
            until: |line| line["metadata"]["summary"] == "true",
            prompts: 2,
        },
    ]
}

#[test]
fn signs_of_life_and_cancels_are_answered_in_every_state() {
    let chunks = &["--input-format", "stream-json", "--output-format", "stream-chunk-json"];
    for busy in states() {
        let mut host = Rfc::with(Play::script(busy.answers), &[chunks, busy.args].concat(), &|command| {
            command.env("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "60");
        });
        let name = busy.name;
        for n in 1..=busy.prompts {
            let session = host.session();
            host.say(&json!({"session_id": session, "prompt_id": format!("p{n}"), "input": {"origin": "user", "parts": [{"type": "text", "text": "go on"}]}}));
            if n == 1 {
                host.until(busy.until);
            }
        }
        let asked = Instant::now();
        while host.play.server.asked().len() < busy.prompts {
            assert!(asked.elapsed() < Duration::from_secs(10), "{name}: the model is not asked");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut took: Vec<Duration> = (0..20)
            .map(|n| {
                let begun = Instant::now();
                host.say(&json!({"type": "heartbeat_request", "session_id": "s", "prompt_id": format!("h{n}")}));
                let line = host.kind("result/heartbeat");
                assert_eq!((&line["status"], &line["prompt_id"]), (&json!("ok"), &json!(format!("h{n}"))), "{name}");
                begun.elapsed()
            })
            .collect();
        took.sort();
        println!("heartbeats in {name}: p50 {:?}, slowest {:?}", took[10], took[19]);
        // Other work of the machine may hold some of them up; an agent that is held up itself answers none.
        assert!(
            took[10] <= Duration::from_millis(50) && took[19] < Duration::from_secs(2),
            "{name}: {took:?}"
        );
        let begun = Instant::now();
        host.say(&json!({"type": "control/cancel", "session_id": "s", "prompt_id": "another", "reason": "escape"}));
        assert_eq!(host.kind("result/cancel")["status"], "noop", "{name}");
        let prompt = format!("p{}", busy.prompts);
        host.say(&json!({"type": "control/cancel", "session_id": "s", "prompt_id": prompt, "reason": "escape"}));
        let line = host.kind("result/cancel");
        assert_eq!(
            (&line["status"], &line["message"]),
            (&json!("ok"), &json!("Request cancelled.")),
            "{name}"
        );
        let answered = begun.elapsed();
        println!("cancel in {name}: {answered:?}");
        let from = host.seen.len();
        assert_eq!(host.summary()["outcome"], "cancelled", "{name}");
        assert!(
            begun.elapsed() < Duration::from_secs(5) && answered < Duration::from_secs(1),
            "{name}: {answered:?}"
        );
        let behind = &host.seen[from..];
        assert!(behind.iter().any(|line| line["event"] == "USER_CANCELLED"), "{name}: {behind:#?}");
        let calls = host.seen.iter().any(|line| said(line)["tool_calls"].is_array());
        let canceled = behind.iter().any(|line| line.to_string().contains("\"canceled\""));
        assert_eq!(canceled, calls, "{name}: calls that wait are answered: {behind:#?}");
        // And the session lives.
        host.say(&json!({"type": "heartbeat_request", "session_id": "s"}));
        host.kind("result/heartbeat");
        assert_eq!(host.end().code, Some(0), "{name}");
    }
}

#[test]
fn a_command_that_waits_for_the_model_is_cancelled_too() {
    let silent = Answer::with(200, Says::Silence(Duration::from_secs(25)));
    let mut host = Rfc::with(Play::script(vec![Answer::text("one"), silent]), MESSAGES, &|command| {
        command.env("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "60");
    });
    host.say(&prompt("hi"));
    host.summary();
    host.prompt("/compress");
    let asked = Instant::now();
    while host.play.server.asked().len() < 2 {
        assert!(asked.elapsed() < Duration::from_secs(10), "the model is not asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    host.say(&json!({"type": "control/cancel", "session_id": "s", "reason": "escape"}));
    assert_eq!(host.kind("result/cancel")["status"], "ok");
    assert_eq!(host.result()["status"], "error");
    assert_eq!(host.kind("x-qwen-session-event")["event"], "USER_CANCELLED");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn conversations_that_are_too_long_are_events() {
    // Also after it was made shorter it does not fit.
    let server = Server::start(|asked, number| match number {
        0 => Answer::text("one"),
        _ if asked.last().contains("Summarise") => Answer::text("in short"),
        _ => Answer::error(400, "This model's maximum context length is 100 tokens"),
    });
    let mut host = Rfc::new(server);
    host.say(&prompt("hi"));
    host.summary();
    host.prompt("more");
    let event = host.kind("x-qwen-session-event");
    assert_eq!(event["event"], "ChatCompressed", "{event}");
    assert!(
        event["metrics"]["original_tokens"].is_u64() && event["metrics"]["compressed_tokens"].is_u64(),
        "{event}"
    );
    let event = host.kind("x-qwen-session-event");
    assert_eq!(event["event"], "SessionTokenLimitExceeded", "{event}");
    assert!(event["message"].as_str().unwrap().contains("maximum context length"), "{event}");
    assert!(host.summary()["error"].as_str().unwrap().starts_with("QWEN_MODEL_ERROR"));
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn questions_about_servers_and_pages_have_confirmations_of_their_own() {
    for (tool, input, confirmation) in [
        (
            "mcp__bad__fail",
            json!({"text": "x"}),
            json!({"type": "mcp", "serverName": "bad", "toolName": "fail"}),
        ),
        (
            "web_fetch",
            json!({"url": "http://127.0.0.1:9/page", "prompt": "what is it"}),
            json!({"type": "info", "urls": ["http://127.0.0.1:9/page"]}),
        ),
    ] {
        let play = Play::script(vec![Answer::calls(&[(tool, input)]), Answer::text("done")]);
        let servers = json!({"mcpServers": {"bad": {"command": example("mcp_server")}}}).to_string();
        let mut host = Rfc::with(
            play,
            &[MESSAGES, &["--mcp-config", &servers, "--allowed-tools", "web_fetch(domain:example.com)"]].concat(),
            &|_| {},
        );
        host.say(&prompt("go"));
        let shown = host.status("confirming");
        for (name, value) in confirmation.as_object().unwrap() {
            assert_eq!(shown["confirmation"][name], *value, "{shown}");
        }
        let asked = host.kind("control_request");
        assert_eq!(asked["request"]["metadata"]["tool_call_id"], shown["tool_call_id"]);
        host.answer_well(&asked, json!({"behavior": "deny"}));
        host.status("canceled");
        assert_eq!(host.summary()["outcome"], "success");
        assert_eq!(host.end().code, Some(0));
    }
}

#[test]
fn a_version_may_stand_in_the_fingerprint() {
    for (fingerprint, code) in [
        (json!({"protocol_version": 3}), 2),
        (json!("{\"protocol_version\":\"3\"}"), 2),
        (json!({"protocol_version": "1"}), 0),
        (json!("fp_1234"), 0),
    ] {
        let mut host = Rfc::new(echo());
        let mut request = prompt("hi");
        request["system_fingerprint"] = fingerprint.clone();
        host.say(&request);
        let line = host.until(|line| line["metadata"]["error"] == "unsupported_protocol" || line["metadata"]["summary"] == "true");
        assert_eq!(line["choices"][0]["finish_reason"] == "error", code == 2, "{fingerprint}: {line}");
        assert_eq!(host.end().code, Some(code), "{fingerprint}");
    }
}
