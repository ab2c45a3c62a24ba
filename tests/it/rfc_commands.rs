//! Chat Requests, commands, hints, cancelling and versions of the RFC, answered by the built-in agent over a scripted model.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::model::{Answer, Server, Step};
use crate::support::play::Play;
use crate::support::rfc::{MESSAGES, Rfc};
use crate::support::wait;

/// A model that does what the last message says: `SLOW` says a word and then nothing, `HOSTTOOL` calls the tool `weather`, all else is said back.
fn model() -> Server {
    Server::start(|asked, _| {
        let last = asked.body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        let (text, user) = (words(&last), last["role"] == "user");
        let heard = Step::Text(format!("heard: {text}"));
        Answer::steps(match user {
            true if text.contains("HOSTTOOL") => vec![Step::Call("call_h".into(), "weather".into(), r#"{"city":"Ulm"}"#.into())],
            true if text.contains("SLOW") => vec![Step::Text("begun".into()), Step::Pause(30_000), heard],
            _ => vec![heard],
        })
    })
}

fn words(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn host() -> Rfc {
    host_with(|_| {})
}

fn host_with(prepare: impl Fn(&Play)) -> Rfc {
    let play = Play::of(model());
    prepare(&play);
    Rfc::with(play, MESSAGES, &|_| {})
}

/// How often the model was asked.
fn count(host: &Rfc) -> usize {
    host.play.server.asked().len()
}

/// What it was asked last.
fn last(host: &Rfc) -> Value {
    host.play.server.asked().pop().map(|asked| asked.body).unwrap_or_default()
}

/// Says a line that may leave out what our schema wants of hosts, or be none that they may say.
fn tell(host: &mut Rfc, line: &Value) {
    host.say_raw(&line.to_string());
}

/// A prompt in a session of its own.
fn say(host: &mut Rfc, text: &str) {
    host.say(&json!({"input": {"origin": "user", "parts": [{"type": "text", "text": text}]}, "session_id": "_new"}));
}

fn command(host: &mut Rfc, text: &str) -> Value {
    say(host, text);
    host.result()
}

#[test]
fn each_command_is_answered_with_its_own_result_and_begins_no_turn() {
    let mut host = host_with(|play| {
        let commands = play.base().join("home/.qwen/commands");
        fs::create_dir_all(&commands).unwrap();
        fs::write(commands.join("review.md"), "Review !{echo from-the-shell} of $ARGUMENTS").unwrap();
    });
    for (text, kind) in [
        ("/help", "dialog"),
        ("?", "dialog"),
        ("/clear", "handled"),
        ("/chat list", "message"),
        ("/model", "dialog"),
        ("/model other-model", "message"),
        ("/tools", "message"),
        ("/mcp", "message"),
        ("/stats", "message"),
        ("/memory show", "message"),
        ("/memory add wool is soft", "message"),
        ("/init", "submit_prompt"),
        ("/theme", "dialog"),
        ("/quit", "quit"),
        ("/quit-confirm", "quit_confirmation"),
    ] {
        let result = command(&mut host, text);
        assert_eq!(result["type"], kind, "{text}: {result}");
        assert_ne!(result["status"], "error", "{text}: {result}");
    }
    assert!(host.play.read("QWEN.md").contains("- wool is soft"));
    for text in ["/nothing", "/chat save ../x", "/chat resume nobody", "/chat delete nobody", "/compress"] {
        let result = command(&mut host, text);
        assert_eq!(
            (&result["type"], &result["status"]),
            (&"message".into(), &"error".into()),
            "{text}: {result}"
        );
    }
    let asks = command(&mut host, "/review the loom");
    assert_eq!(asks, json!({"type": "confirm_shell_commands", "commands": ["echo from-the-shell"]}));
    let approved = json!({"kind": "slash", "path": ["review"], "args": "the loom; echo !{no}", "approvedCommands": ["echo from-the-shell"]});
    tell(&mut host, &json!({"input": {"origin": "user", "parts": [], "command": approved}}));
    let submitted = host.result();
    assert_eq!(submitted["type"], "submit_prompt");
    assert_eq!(submitted["parts"][0]["text"], "Review from-the-shell\n of the loom; echo !{no}");
    tell(
        &mut host,
        &json!({"input": {"origin": "system", "parts": [{"type": "instruction", "text": "/clear"}]}}),
    );
    assert_eq!(host.result()["type"], "handled");
    assert_eq!(count(&host), 0);
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn a_conversation_is_kept_under_a_name_and_taken_up_again() {
    let mut host = host();
    say(&mut host, "the red thread");
    host.summary();
    let session = {
        tell(&mut host, &json!({"type": "heartbeat_request"}));
        host.kind("result/heartbeat")["session_id"].clone()
    };
    let text = |text: &str| json!({"session_id": session, "input": {"origin": "user", "parts": [{"type": "text", "text": text}]}});
    tell(&mut host, &text("/chat save one"));
    assert!(host.result()["content"].as_str().unwrap().contains("saved"));
    tell(&mut host, &text("/chat save one"));
    assert_eq!(host.result()["type"], "confirm_action");
    let again = json!({"kind": "slash", "path": ["chat", "save"], "args": "one", "confirmationOutcome": "once"});
    tell(
        &mut host,
        &json!({"session_id": session, "input": {"origin": "user", "parts": [], "command": again}}),
    );
    assert_eq!(host.result()["type"], "message");
    let chats = host.play.base().join("home/.local/state/agentglot/chats");
    let file = fs::read_dir(fs::read_dir(chats).unwrap().next().unwrap().unwrap().path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    tell(&mut host, &text("/clear"));
    assert_eq!(host.result()["type"], "handled");
    tell(&mut host, &text("what was it?"));
    host.summary();
    assert!(!last(&host)["messages"].to_string().contains("red thread"));
    tell(&mut host, &text("/chat resume one"));
    assert_eq!(host.result()["history"][0], json!({"role": "user", "content": "the red thread"}));
    tell(&mut host, &text("and now?"));
    host.summary();
    assert!(last(&host)["messages"].to_string().contains("red thread"));
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn requests_choose_sessions_ids_models_options_and_tools() {
    let mut host = host();
    let prompt = json!({"origin": "user", "parts": [{"type": "text", "text": "fir"}, {"type": "text", "text": "st"}]});
    let options = json!({"temperature": 0.5, "top_p": 0.25, "max_tokens": 77, "tool_overrides": ["read_file"]});
    tell(
        &mut host,
        &json!({"session_id": "_new", "prompt_id": "p1", "model": "special", "input": prompt, "options": options}),
    );
    let receipt = host.until(|_| true);
    assert_eq!(receipt["metadata"]["protocol_version"], "1");
    assert_eq!(receipt["metadata"]["input_format"], "stream-json");
    assert!(receipt["metadata"]["capabilities"].as_str().unwrap().contains("command_hint"));
    assert_eq!(host.summary()["outcome"], "success");
    let asked = last(&host);
    assert_eq!(
        (&asked["model"], &asked["temperature"], &asked["top_p"]),
        (&"special".into(), &json!(0.5), &json!(0.25))
    );
    assert_eq!(words(asked["messages"].as_array().unwrap().last().unwrap()), "first");
    let tools = |asked: &Value| {
        asked["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(tools(&asked), ["read_file"]);
    let first = receipt["id"].as_str().unwrap().trim_start_matches("chatcmpl-").to_owned();
    // The same session goes on, without the options of the one before.
    tell(
        &mut host,
        &json!({"session_id": first, "input": {"parts": [{"type": "text", "text": "second"}]}}),
    );
    host.summary();
    let asked = last(&host);
    assert!(
        asked["model"] != "special" && asked["temperature"].is_null() && tools(&asked).len() > 3,
        "{asked}"
    );
    assert!(asked["messages"].to_string().contains("first"));
    // Another session knows nothing of it, and has a receipt of its own.
    tell(
        &mut host,
        &json!({"model": "m", "messages": [
            {"role": "user", "content": "before"}, {"role": "assistant", "content": "indeed"}, {"role": "user", "content": "third"}
        ]}),
    );
    let other = host.until(|line| line["metadata"]["protocol_version"] == "1");
    assert_ne!(other["id"], receipt["id"]);
    host.summary();
    let said = last(&host)["messages"].to_string();
    assert!(!said.contains("first") && said.contains("before") && said.contains("indeed"), "{said}");
    // Back again.
    tell(
        &mut host,
        &json!({"session_id": first, "input": {"parts": [{"type": "text", "text": "fourth"}]}}),
    );
    host.summary();
    assert!(last(&host)["messages"].to_string().contains("second"));
    for (request, code) in [
        (
            json!({"session_id": "nobody", "input": {"parts": [{"type": "text", "text": "x"}]}}),
            "QWEN_UNKNOWN_SESSION",
        ),
        (
            json!({"prompt_id": "p1", "input": {"parts": [{"type": "text", "text": "x"}]}}),
            "QWEN_DUPLICATE_PROMPT_ID",
        ),
        (json!({"input": {"parts": []}}), "QWEN_INVALID_REQUEST"),
        (json!({"input": {"parts": [{"type": "song"}]}}), "QWEN_INVALID_REQUEST"),
        (json!({"input": {"parts": "text"}}), "QWEN_INVALID_REQUEST"),
        (
            json!({"input": {"origin": "moon", "parts": [{"type": "text", "text": "x"}]}}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"input": {"parts": [{"type": "text", "text": "x"}]}, "options": 3}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"input": {"parts": [{"type": "text", "text": "x"}]}, "tools": [{"type": "function"}]}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"input": {"parts": [{"type": "file_data", "file_uri": "/etc/passwd"}]}}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"tool_call_id": "none", "input": {"origin": "tool_response", "parts": []}}),
            "QWEN_INVALID_REQUEST",
        ),
    ] {
        let before = count(&host);
        tell(&mut host, &request);
        let summary = host.summary();
        assert!(
            summary["error"].as_str().is_some_and(|error| error.starts_with(code)),
            "{request}: {summary}"
        );
        assert_eq!(count(&host), before, "{request}");
    }
    say(&mut host, "still here");
    assert_eq!(host.summary()["outcome"], "success");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn the_host_runs_its_own_tools() {
    let mut host = host();
    let tool = json!({"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}}});
    tell(
        &mut host,
        &json!({"input": {"parts": [{"type": "text", "text": "HOSTTOOL"}]}, "tools": [tool]}),
    );
    let call = host.until(|line| line["choices"][0]["message"]["tool_calls"][0]["id"] == "call_h");
    assert_eq!(call["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "weather");
    let response = json!({"type": "function_response", "function_response": {"name": "weather", "response": {"output": "rain"}}});
    tell(
        &mut host,
        &json!({"input": {"origin": "tool_response", "tool_call_id": "call_h", "parts": [response]}}),
    );
    assert_eq!(host.summary()["outcome"], "success");
    let asked = last(&host);
    assert_eq!(words(asked["messages"].as_array().unwrap().last().unwrap()), "rain");
    // Cancelled while the host works: the call is answered.
    let tool = json!({"type": "function", "function": {"name": "weather"}});
    tell(
        &mut host,
        &json!({"input": {"parts": [{"type": "text", "text": "HOSTTOOL"}]}, "tools": [tool]}),
    );
    host.until(|line| line.to_string().contains("executing"));
    tell(&mut host, &json!({"type": "control/cancel", "reason": "escape"}));
    assert_eq!(host.kind("result/cancel")["status"], "ok");
    host.until(|line| line.to_string().contains("\"canceled\""));
    assert_eq!(host.summary()["outcome"], "cancelled");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn files_are_named_in_prompts() {
    let mut host = host_with(|play| {
        fs::write(play.path("a b.txt"), "the blank one").unwrap();
        fs::write(play.base().join("outside.txt"), "not for you").unwrap();
    });
    say(&mut host, "read @a\\ b.txt and @../outside.txt, me@home");
    let line = host.kind("result/command");
    assert_eq!(
        line["command"],
        json!({"kind": "at", "references": [{"original": "@a\\ b.txt", "resolved": "a b.txt"}]})
    );
    assert_eq!(
        (&line["result"]["type"], &line["result"]["skipped"][0]["original"]),
        (&"handled".into(), &"@../outside.txt".into())
    );
    host.summary();
    let said = last(&host)["messages"].to_string();
    assert!(said.contains("the blank one") && !said.contains("not for you"), "{said}");
    let command = json!({"kind": "at", "references": [{"original": "@it", "resolved": "a b.txt"}]});
    tell(
        &mut host,
        &json!({"input": {"parts": [{"type": "text", "text": "see @it"}], "command": command}}),
    );
    assert_eq!(host.result()["type"], "handled");
    host.summary();
    assert!(last(&host)["messages"].to_string().contains("the blank one"));
    let command = json!({"kind": "at", "references": [{"original": "@x", "resolved": "../outside.txt"}]});
    tell(
        &mut host,
        &json!({"input": {"parts": [{"type": "text", "text": "@x"}], "command": command}}),
    );
    assert_eq!(host.result()["status"], "error");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn signs_of_life_hints_and_cancelling_are_answered_while_the_model_works() {
    let mut host = host_with(|play| fs::write(play.path("loom.py"), "").unwrap());
    tell(&mut host, &json!({"type": "control/cancel"}));
    assert_eq!(host.until(|_| true)["metadata"]["protocol_version"], "1");
    assert_eq!(host.kind("result/cancel")["status"], "noop");
    tell(
        &mut host,
        &json!({"session_id": "_new", "prompt_id": "slow", "input": {"parts": [{"type": "text", "text": "SLOW"}]}}),
    );
    wait("the model is asked", Duration::from_secs(20), || count(&host) > 0);
    let mut took = Vec::new();
    for n in 0..100 {
        let begun = Instant::now();
        tell(&mut host, &json!({"type": "heartbeat_request", "prompt_id": format!("h{n}")}));
        assert_eq!(host.kind("result/heartbeat")["prompt_id"], format!("h{n}"));
        took.push(begun.elapsed());
    }
    took.sort();
    println!("heartbeats in a model call: p50 {:?}, p99 {:?}", took[50], took[98]);
    assert!(took[98] < Duration::from_secs(1), "{took:?}");
    let hint = |trigger: &str, text: &str, cursor: u64| json!({"type": "command_hint_request", "prompt_id": "preview", "trigger": trigger, "text": text, "cursor": cursor});
    tell(&mut host, &hint("slash", "/c and more", 2));
    let line = host.kind("result/command_hint");
    let labels: Vec<_> = line["suggestions"].as_array().unwrap().iter().map(|one| one["label"].clone()).collect();
    assert_eq!(labels, ["chat", "clear", "compress"]);
    assert_eq!(
        (&line["prompt_id"], &line["metadata"]["is_perfect_match"]),
        (&"preview".into(), &false.into())
    );
    tell(&mut host, &hint("slash", "/?", 2));
    let line = host.kind("result/command_hint");
    assert_eq!(
        (&line["suggestions"][0]["label"], &line["suggestions"][0]["matchedIndex"]),
        (&"help".into(), &json!(0))
    );
    assert_eq!(line["metadata"]["is_perfect_match"], true);
    tell(&mut host, &hint("slash", "/chat l", 7));
    assert_eq!(host.kind("result/command_hint")["suggestions"][0]["value"], "list");
    tell(&mut host, &hint("at", "@lo", 3));
    assert_eq!(host.kind("result/command_hint")["status"], "loading");
    assert_eq!(host.kind("result/command_hint")["suggestions"][0]["value"], "loom.py");
    tell(&mut host, &hint("moon", "x", 1));
    assert_eq!(host.kind("result/command_hint")["status"], "error");
    tell(
        &mut host,
        &json!({"type": "command_hint_request", "trigger": "at", "text": "@", "cursor": 1, "context": {"cwd": "/etc"}}),
    );
    assert!(host.kind("result/command_hint")["message"].as_str().unwrap().contains("outside"));
    tell(&mut host, &json!({"type": "control/cancel", "prompt_id": "another", "reason": "escape"}));
    assert_eq!(host.kind("result/cancel")["status"], "noop");
    let begun = Instant::now();
    tell(&mut host, &json!({"type": "control/cancel", "prompt_id": "slow", "reason": "escape"}));
    let line = host.kind("result/cancel");
    assert_eq!(
        (&line["status"], &line["prompt_id"], &line["message"]),
        (&"ok".into(), &"slow".into(), &"Request cancelled.".into())
    );
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(host.kind("x-qwen-session-event")["event"], "USER_CANCELLED");
    assert_eq!(host.summary()["outcome"], "cancelled");
    tell(&mut host, &json!({"type": "heartbeat_request"}));
    let session = host.kind("result/heartbeat")["session_id"].clone();
    tell(
        &mut host,
        &json!({"session_id": session, "input": {"parts": [{"type": "text", "text": "go on"}]}}),
    );
    host.summary();
    let said = last(&host)["messages"].to_string();
    assert!(said.contains("Request cancelled.") && !said.contains("/chat l"), "{said}");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn a_version_that_nobody_speaks_ends_the_run() {
    for version in [json!(3), json!("2")] {
        let mut host = host();
        tell(
            &mut host,
            &json!({"protocol_version": version, "input": {"parts": [{"type": "text", "text": "x"}]}}),
        );
        let line = host.until(|_| true);
        assert_eq!(line["choices"][0]["finish_reason"], "error", "{line}");
        assert_eq!(line["metadata"]["error"], "unsupported_protocol");
        assert_eq!(host.rest().code, Some(2));
    }
    let mut host = host();
    tell(
        &mut host,
        &json!({"protocol_version": "1", "input": {"parts": [{"type": "text", "text": "x"}]}}),
    );
    assert_eq!(host.summary()["outcome"], "success");
    assert_eq!(host.end().code, Some(0));
}
