//! Chat Requests of the RFC and what goes over the control channel besides leave for tools, with the built-in agent over a scripted model.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::model::{Answer, Server};
use crate::support::play::Play;
use crate::support::rfc::{MESSAGES, Rfc, displays, terminals};

/// A model that runs `echo hi` when the last words are `ASK`, and says the last words back otherwise.
fn model() -> Server {
    Server::start(|asked, _| {
        let last = asked.body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        let text = match &last["content"] {
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        if last["role"] == "user" && text.ends_with("ASK") {
            return Answer::calls(&[("run_shell_command", json!({"command": "echo hi > made", "is_background": false}))]);
        }
        Answer::text(&format!("heard: {text}"))
    })
}

fn with_id(session: &str, id: &str, text: &str, goes_on: bool) -> Value {
    let mut request = json!({"session_id": session, "input": {"origin": "user", "parts": [{"type": "text", "text": text}]}});
    if !id.is_empty() {
        request["prompt_id"] = json!(id);
    }
    if goes_on {
        request["continuation"] = json!(true);
    }
    request
}

fn deny(host: &mut Rfc) -> Value {
    let asked = host.kind("control_request");
    host.answer_well(&asked, json!({"behavior": "deny"}));
    asked["request"].clone()
}

#[test]
fn a_prompt_without_an_id_gets_the_next_number_of_its_session() {
    let mut host = Rfc::new(model());
    let number = |host: &mut Rfc, session: &str, text: &str| {
        host.say(&with_id(session, "", text, false));
        host.kind("result/command")["prompt_id"].clone()
    };
    let first = number(&mut host, "_new", "/help");
    let session = host.session();
    let numbered = |n: u64| json!(format!("{session}########{n}"));
    assert_eq!(first, numbered(1));
    // One of the host's own is a prompt too.
    host.say(&with_id(&session, "mine", "hello", false));
    assert_eq!(host.summary()["outcome"], "success");
    host.say(&with_id(&session, "", "ASK", false));
    assert_eq!(deny(&mut host)["prompt_id"], numbered(3));
    host.summary();
    // A number that the host has used itself is passed over, and another session counts by itself.
    let mine = format!("{session}########4");
    host.say(&with_id(&session, &mine, "/help", false));
    assert_eq!(host.kind("result/command")["prompt_id"], json!(mine));
    assert_eq!(number(&mut host, &session, "/help"), numbered(5));
    let other = number(&mut host, "_new", "/help");
    assert_ne!(host.session(), session);
    assert_eq!(other, json!(format!("{}########1", host.session())));
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn what_goes_on_with_a_prompt_keeps_its_id_and_is_no_command() {
    let mut host = Rfc::new(model());
    host.say(&with_id("_new", "first", "begin", false));
    host.summary();
    let session = host.session();
    // What a command gave is submitted as it is, also if it looks like one itself.
    for id in ["first", ""] {
        host.say(&with_id(&session, id, "/help me, @nobody", true));
        assert_eq!(host.summary()["outcome"], "success");
        assert!(host.play.server.asked().last().unwrap().last().contains("/help me, @nobody"));
    }
    host.say(&with_id(&session, "", "ASK", true));
    assert_eq!(deny(&mut host)["prompt_id"], "first");
    host.summary();
    // Without the word for it the id is used up.
    host.say(&with_id(&session, "first", "again", false));
    assert!(host.summary()["error"].as_str().unwrap().starts_with("QWEN_DUPLICATE_PROMPT_ID"));
    assert_eq!(host.end().code, Some(0));
}

fn wanted(session: &str, wanted: &Value) -> Value {
    json!({"session_id": session, "input": {"origin": "user", "parts": []}, "tool_request": wanted})
}

#[test]
fn calls_that_the_host_wants_run_as_those_of_the_model_do() {
    let play = Play::of(model());
    std::fs::write(play.path("wool.txt"), "soft and grey").unwrap();
    let mut host = Rfc::with(play, MESSAGES, &|_| {});
    // The user's own call: the model hears nothing of it.
    let path = host.play.at("wool.txt");
    let read = json!({"callId": "mine", "name": "read_file", "args": {"file_path": path}, "isClientInitiated": true});
    host.say(&wanted("_new", &read));
    let call = host.until(|line| line["choices"][0]["message"]["tool_calls"].is_array());
    assert_eq!(call["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "read_file");
    let done = host.status("success");
    assert_eq!(done["tool_call_id"], "mine");
    assert!(done["result_display"]["text"].as_str().unwrap().contains("soft and grey"), "{done}");
    assert_eq!(host.summary()["outcome"], "success");
    assert!(host.play.server.asked().is_empty());
    // One on the model's behalf: it goes on with the result. Arguments may be the text of an object, as OpenAI has them.
    let session = host.session();
    let read = json!({"id": "its", "name": "read_file", "arguments": json!({"file_path": path}).to_string()});
    host.say(&wanted(&session, &read));
    assert_eq!(host.summary()["outcome"], "success");
    let asked = host.play.server.asked();
    assert!(asked.len() == 1 && asked[0].all().contains("soft and grey"), "{asked:#?}");
    // Leave is asked for as ever, and a denied call is cancelled.
    let run = json!({"name": "run_shell_command", "args": {"command": "touch made", "is_background": false}, "isClientInitiated": true});
    host.say(&wanted(&session, &run));
    assert_eq!(deny(&mut host)["tool"]["name"], "run_shell_command");
    host.status("canceled");
    host.summary();
    assert!(!host.play.path("made").exists());
    // What cannot be a call fails its turn.
    for bad in [
        json!({}),
        json!({"name": 3}),
        json!({"name": "read_file", "args": [1]}),
        json!({"name": "read_file", "args": "{no"}),
        json!("read_file"),
    ] {
        host.say_raw(&wanted(&session, &bad).to_string());
        let summary = host.summary();
        assert!(
            summary["error"].as_str().unwrap().starts_with("QWEN_INVALID_TOOL_ARGS"),
            "{bad}: {summary}"
        );
    }
    host.say(&wanted(&session, &json!({"name": "no_such_tool", "args": {}, "isClientInitiated": true})));
    assert!(host.status("error")["result_display"]["text"].as_str().unwrap().contains("no_such_tool"));
    host.summary();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn a_command_begins_a_tool() {
    let play = Play::of(model());
    std::fs::write(play.path("wool.txt"), "soft and grey").unwrap();
    let mut host = Rfc::with(play, MESSAGES, &|_| {});
    let text = format!("/tools run read_file {}", json!({"file_path": host.play.at("wool.txt")}));
    host.prompt(&text);
    let line = host.kind("result/command");
    let result = &line["result"];
    assert_eq!((&result["type"], &result["toolName"]), (&json!("tool"), &json!("read_file")), "{line}");
    assert_eq!(result["tool_request"]["prompt_id"], line["prompt_id"]);
    // The host asks for it as it was told, in the same prompt.
    let session = host.session();
    let mut request = wanted(&session, &result["tool_request"]);
    request["prompt_id"] = line["prompt_id"].clone();
    request["continuation"] = json!(true);
    host.say(&request);
    assert_eq!(host.status("success")["tool_call_id"], result["tool_request"]["callId"]);
    assert_eq!(host.summary()["result"].as_str().map(|text| text.contains("soft")), Some(true));
    for bad in ["/tools run", "/tools run nothing {}", "/tools run read_file [1]"] {
        host.prompt(bad);
        assert_eq!(host.result()["status"], "error", "{bad}");
    }
    assert!(host.play.server.asked().is_empty());
    assert_eq!(host.end().code, Some(0));
}

fn hint(id: &str, trigger: &str, text: &str) -> Value {
    json!({"type": "command_hint_request", "session_id": "s", "prompt_id": id, "trigger": trigger, "text": text, "cursor": text.chars().count()})
}

#[test]
fn the_latest_hint_is_answered_and_a_cancelled_one_is_not() {
    let play = Play::of(model());
    for folder in 0..40 {
        let path = play.path(&format!("folder{folder}"));
        std::fs::create_dir(&path).unwrap();
        for file in 0..50 {
            std::fs::write(path.join(format!("loom{file}.txt")), "").unwrap();
        }
    }
    let mut host = Rfc::with(play, MESSAGES, &|_| {});
    // The first look at the files is given up; nothing comes of it.
    host.say(&hint("given-up", "at", "@lo"));
    host.say(&json!({"type": "command_hint_cancel", "session_id": "s"}));
    host.say(&hint("slash", "slash", "/he"));
    let line = host.until(|line| line["type"] == "result/command_hint" && line["prompt_id"] == "slash");
    assert_eq!(line["suggestions"][0]["label"], "help");
    // Three in one breath: the last one is answered.
    let breath: Vec<String> = ["@l", "@lo", "@loo"].map(|text| hint(text, "at", text).to_string()).to_vec();
    host.say_raw(&breath.join("\n"));
    let line = host.until(|line| line["type"] == "result/command_hint" && line["status"] == "ok");
    assert_eq!(
        (&line["prompt_id"], line["suggestions"].as_array().map(Vec::len)),
        (&json!("@loo"), Some(50))
    );
    // With the files known, one that is cancelled in the same breath says nothing either.
    host.say_raw(&format!(
        "{}\n{}\n{}",
        hint("gone", "at", "@folder1"),
        json!({"type": "command_hint_cancel"}),
        json!({"type": "heartbeat_request", "session_id": "s"})
    ));
    host.kind("result/heartbeat");
    host.say(&hint("last", "at", "@folder1/"));
    let line = host.kind("result/command_hint");
    assert_eq!((&line["prompt_id"], &line["status"]), (&json!("last"), &json!("ok")));
    let end = host.end();
    let hints: Vec<_> = end.lines.iter().filter(|line| line["type"] == "result/command_hint").collect();
    let told = |id: &str, status: &str| hints.iter().any(|line| line["prompt_id"] == id && line["status"] == status);
    assert!(!told("given-up", "ok") && !told("gone", "ok") && !told("gone", "loading"), "{hints:#?}");
    assert!(!told("@l", "ok") && !told("@lo", "ok"), "{hints:#?}");
}

/// A host that answers questions about commands, with a command of its own that holds a shell part, and a conversation that is kept as `one`.
fn confirming(args: &[&str]) -> Rfc {
    let play = Play::of(model());
    let commands = play.base().join("home/.qwen/commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("review.md"), "Review !{echo from-the-shell} of $ARGUMENTS").unwrap();
    let mut host = Rfc::with(play, &[MESSAGES, args].concat(), &|_| {});
    host.say(&json!({
        "session_id": "_new", "capabilities": "confirm_shell_commands confirm_action quit_confirmation",
        "input": {"origin": "user", "parts": [{"type": "text", "text": "hello"}]},
    }));
    host.summary();
    host.prompt("/chat save one");
    assert_eq!(host.result()["type"], "message");
    host
}

#[test]
fn questions_about_commands_go_over_the_control_channel_where_the_host_answers_them() {
    let mut host = confirming(&[]);
    host.prompt("/review the loom");
    let asked = host.kind("control_request");
    let request = &asked["request"];
    assert_eq!(request["subtype"], "confirm_shell_commands", "{asked}");
    assert_eq!(request["commands"], json!(["echo from-the-shell"]));
    assert_eq!(request["command"], json!({"kind": "slash", "path": ["review"], "args": "the loom"}));
    host.answer_well(&asked, json!({"behavior": "approve", "outcome": "once"}));
    let result = host.result();
    assert_eq!(result["parts"][0]["text"], "Review from-the-shell\n of the loom");
    // Once is once; always is always.
    for (text, answer, kind) in [
        ("/review a", json!({"behavior": "deny"}), "message"),
        ("/review b", json!({"behavior": "approve", "outcome": "cancel"}), "message"),
        ("/review c", json!({"behavior": "approve", "outcome": "always"}), "submit_prompt"),
        ("/chat save one", json!({"behavior": "approve"}), "message"),
        ("/quit-confirm", json!({"behavior": "deny"}), "message"),
        ("/quit-confirm", json!({"behavior": "approve"}), "quit"),
    ] {
        host.prompt(text);
        let asked = host.kind("control_request");
        host.answer_well(&asked, answer);
        let result = host.result();
        assert_eq!(result["type"], kind, "{text}: {result}");
        assert_eq!(asked["request"]["subtype"], question_of(text));
    }
    host.prompt("/review d");
    assert_eq!(host.result()["type"], "submit_prompt", "it was allowed for good");
    // A host that cannot answer after all is told in the other way.
    host.prompt("/chat save one");
    let asked = host.kind("control_request");
    host.answer(
        &asked,
        json!({"subtype": "error", "error": {"message": "no dialog here", "retryable": false}}),
    );
    assert_eq!(host.result()["type"], "confirm_action");
    let end = host.end();
    assert_eq!(end.code, Some(0));
    assert!(faults(&end.lines).contains("no dialog here"));
}

fn question_of(text: &str) -> &'static str {
    match text {
        text if text.starts_with("/review") => "confirm_shell_commands",
        text if text.starts_with("/chat") => "confirm_action",
        _ => "quit_confirmation",
    }
}

/// What the metadata says of the control channel.
fn faults(lines: &[Value]) -> String {
    let told = lines.iter().filter_map(|line| line["metadata"]["control_errors"].as_str());
    for told in told.clone() {
        let list: Vec<Value> = serde_json::from_str(told).expect("a list in a text");
        assert!(
            list.iter().all(|fault| fault["request_id"].is_string() && fault["message"].is_string()),
            "{told}"
        );
    }
    told.collect()
}

#[test]
fn questions_that_are_not_answered_in_time_are_denied_and_told() {
    let mut host = confirming(&["--control-timeout", "0.4"]);
    host.prompt("/review the loom");
    host.kind("control_request");
    let result = host.result();
    assert_eq!(result["status"], "error", "{result}");
    assert!(result["content"].as_str().unwrap().contains("did not answer within 0."), "{result}");
    host.prompt("ASK");
    let asked = host.kind("control_request");
    let denied = host.status("canceled");
    assert!(denied["result_display"]["text"].as_str().unwrap().contains("did not answer"), "{denied}");
    host.summary();
    // Too late, and never asked: told, and nothing happens.
    host.answer_well(&asked, json!({"behavior": "approve"}));
    host.answer_well(&json!({"request_id": "never-asked"}), json!({"behavior": "approve"}));
    host.prompt("still here");
    assert_eq!(host.summary()["outcome"], "success");
    assert!(!host.play.path("made").exists());
    let end = host.end();
    let told = faults(&end.lines);
    for word in ["did not answer within", "never-asked", "no question of this id"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    // A person at a terminal sees it too.
    assert!(terminals(&end.lines, "system").iter().any(|(_, text)| text.contains("did not answer")));
}

#[test]
fn a_question_that_may_be_asked_again_is_asked_once_more() {
    let broken = |again: bool| json!({"subtype": "error", "error": {"message": "the dialog broke", "retryable": again}});
    let mut host = Rfc::new(model());
    host.say(&with_id("_new", "", "ASK", false));
    let first = host.kind("control_request");
    host.answer(&first, broken(true));
    let second = host.kind("control_request");
    assert_ne!(first["request_id"], second["request_id"]);
    assert_eq!(first["request"], second["request"]);
    host.answer_well(&second, json!({"behavior": "approve"}));
    host.status("success");
    assert_eq!(host.summary()["outcome"], "success");
    assert!(host.play.path("made").exists());
    // Twice broken is a denial, and so is what may not be asked again.
    for (answers, times) in [(vec![broken(true), broken(true)], 2), (vec![broken(false)], 1)] {
        host.prompt("ASK");
        let before = host.seen.len();
        for answer in answers {
            let asked = host.kind("control_request");
            host.answer(&asked, answer);
        }
        assert!(
            host.status("canceled")["result_display"]["text"]
                .as_str()
                .unwrap()
                .contains("the dialog broke")
        );
        host.summary();
        let asked = host.seen[before..].iter().filter(|line| line["type"] == "control_request").count();
        assert_eq!(asked, times);
        assert!(faults(&host.seen[before..]).contains("the dialog broke"));
    }
    // What is neither yes nor no is no permission.
    host.prompt("ASK");
    let asked = host.kind("control_request");
    host.answer_well(&asked, json!({"behavior": "perhaps"}));
    host.status("canceled");
    host.summary();
    let end = host.end();
    assert!(faults(&end.lines).contains("could not be understood"));
    let denied = end.lines.iter().flat_map(displays).filter(|display| display["status"] == "canceled");
    assert_eq!(denied.count(), 3);
}

#[test]
fn hints_stay_quick_on_a_tree_of_many_files() {
    let play = Play::of(model());
    for folder in 0..100 {
        let path = play.path(&format!("folder{folder}"));
        std::fs::create_dir(&path).unwrap();
        for file in 0..100 {
            std::fs::write(path.join(format!("loom{file}.txt")), "").unwrap();
        }
    }
    let mut host = Rfc::with(play, MESSAGES, &|_| {});
    let begun = Instant::now();
    host.say(&hint("first", "at", "@"));
    assert_eq!(host.kind("result/command_hint")["status"], "loading");
    assert_eq!(host.kind("result/command_hint")["status"], "ok");
    let first = begun.elapsed();
    let mut took: Vec<Duration> = ["@l", "@lo", "@loom7", "@folder99/", "@xyz", "@99/loom9", "@er3"]
        .iter()
        .map(|text| {
            let begun = Instant::now();
            host.say(&hint(text, "at", text));
            let line = host.kind("result/command_hint");
            assert_eq!((&line["prompt_id"], &line["status"]), (&json!(text), &json!("ok")));
            begun.elapsed()
        })
        .collect();
    took.sort();
    println!("hints on 10,000 files: first {first:?}, later {took:?}");
    // A machine that does much else may hold some of them up.
    assert!(took[3] <= Duration::from_millis(50), "{took:?}");
    assert_eq!(host.end().code, Some(0));
}
