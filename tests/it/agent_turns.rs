//! Turns of the built-in agent that a host of Claude Code's has not asked for: calls that a hook has put off, subagents in the background.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::{FREE, until};
use crate::support::claude::{BASH, bash, called, closed, hello, serve};
use crate::support::model::{Answer, Step};
use crate::support::play::Play;
use crate::support::stage::{CLAUDE, Host, request, user};

/// A decision of a hook before a call.
fn decides(word: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "so it is"}})
}

#[test]
fn a_call_that_a_hook_puts_off_ends_the_turn_and_is_looked_at_again() {
    for (word, runs, prompt) in [
        ("deny", false, false),
        ("allow", true, false),
        ("defer", false, false),
        ("allow", true, true),
    ] {
        let play = Play::script(vec![
            Answer::calls(&[bash("echo done > mark")]),
            Answer::text("Well."),
            Answer::text("More."),
        ]);
        let mut host = play.host("claude", BASH);
        host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
        let first = serve(&mut host, 1, |_| decides("defer")).remove(0);
        assert_eq!(closed(host).code(), 0, "{word}");
        let told = ["subtype", "is_error", "stop_reason", "terminal_reason", "result", "permission_denials"].map(|name| &first[name]);
        let wanted = [
            json!("success"),
            json!(false),
            json!("tool_deferred"),
            json!("tool_deferred"),
            json!(""),
            json!([]),
        ];
        assert_eq!(told.map(Clone::clone), wanted, "{first}");
        let call = json!({"id": "call_0", "name": "Bash", "input": {"command": "echo done > mark", "description": "a command"}});
        assert_eq!(first["deferred_tool_use"], call);
        assert!(!play.path("mark").exists(), "{word}");

        // Nobody asks for anything: the session goes on with the call by itself, once it knows the hooks.
        let id = first["session_id"].as_str().unwrap();
        let mut host = play.host("claude", &[BASH, &["--resume", id]].concat());
        host.say(&hello(&["PreToolUse"], &json!({})));
        if prompt {
            host.say(&user("and more"));
        }
        let results = serve(&mut host, 1 + usize::from(prompt), |_| decides(word));
        let end = closed(host);
        assert_eq!(play.path("mark").exists(), runs, "{word} {end:#?}");
        assert_eq!(called(&end.lines, "PreToolUse")[0]["tool_use_id"], "call_0", "{word}");
        assert_eq!(results[0]["is_error"], false, "{word}");
        if word == "defer" {
            assert_eq!(
                (&results[0]["stop_reason"], &results[0]["deferred_tool_use"]),
                (&json!("tool_deferred"), &call)
            );
            assert_eq!(play.server.asked().len(), 1, "the model is not asked before the call has a result");
            continue;
        }
        assert_eq!(results[0]["result"], "Well.", "{word}");
        assert_eq!(
            results[0]["permission_denials"].as_array().unwrap().len(),
            usize::from(word == "deny"),
            "{word}"
        );
        let result = end
            .lines
            .iter()
            .find(|line| line["message"]["content"][0]["type"] == "tool_result")
            .unwrap();
        assert_eq!(result["message"]["content"][0]["tool_use_id"], "call_0");
        let asked = play.server.asked();
        assert_eq!(asked[1].all().matches("call_0").count(), 2, "one call and one result: {}", asked[1].all());
        if prompt {
            assert_eq!(results[1]["result"], "More.");
        }
    }
}

#[test]
fn a_call_that_was_put_off_does_not_run_where_its_hooks_cannot_be_asked() {
    let play = Play::script(vec![Answer::calls(&[bash("echo done > mark")]), Answer::text("Well.")]);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    let first = serve(&mut host, 1, |_| decides("defer")).remove(0);
    closed(host);
    let resumed = [BASH, &["--resume", first["session_id"].as_str().unwrap()]].concat();
    let mut host = play.host("claude", &resumed);
    host.say(&hello(&["PreToolUse"], &json!({})));
    let end = closed(host);
    assert_eq!((&end.result()["stop_reason"], end.code()), (&json!("tool_deferred"), 0), "{end:#?}");
    assert!(!play.path("mark").exists());
    // Without hooks the rules decide, also where nothing is said at all.
    let end = closed(play.host("claude", &resumed));
    assert_eq!(
        (&end.result()["result"], play.read("mark")),
        (&json!("Well."), "done\n".to_owned()),
        "{end:#?}"
    );
}

/// As Claude Code 2.1.332 does: whoever puts a call off wants to have a say before it runs, whatever stands beside it.
#[test]
fn calls_that_are_not_alone_are_put_off_too() {
    for (first, second, waits, ran) in [("defer", "allow", "a", "b"), ("allow", "defer", "b", "a"), ("defer", "defer", "b", "")] {
        let play = Play::script(vec![Answer::calls(&[bash("echo a > a"), bash("echo b > b")]), Answer::text("Then.")]);
        let mut host = play.host("claude", BASH);
        host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
        let asked = Cell::new(0);
        let result = serve(&mut host, 1, |_| {
            asked.set(asked.get() + 1);
            decides(if asked.get() == 1 { first } else { second })
        })
        .remove(0);
        let end = closed(host);
        let call = &result["deferred_tool_use"];
        assert_eq!(result["stop_reason"], "tool_deferred", "{end:#?}");
        assert_eq!(call["input"]["command"], format!("echo {waits} > {waits}"), "{end:#?}");
        let there = |name: &str| play.path(name).exists();
        assert_eq!((there("a"), there("b")), (ran == "a", ran == "b"), "{first}, {second}");
        let resumed = [BASH, &["--resume", result["session_id"].as_str().unwrap()]].concat();
        let mut host = play.host("claude", &resumed);
        host.say(&hello(&["PreToolUse"], &json!({})));
        let result = serve(&mut host, 1, |_| decides("allow")).remove(0);
        let end = closed(host);
        let again = called(&end.lines, "PreToolUse");
        assert_eq!((again.len(), &again[0]["tool_use_id"]), (1, &call["id"]), "{end:#?}");
        // The host of the earlier run was told of the call.
        let calls = end.lines.iter().filter(|line| line["message"]["content"][0]["type"] == "tool_use");
        assert_eq!(calls.count(), 0, "{end:#?}");
        assert_eq!((&result["result"], play.read(waits)), (&json!("Then."), format!("{waits}\n")), "{end:#?}");
        assert_eq!((there("a"), there("b")), (ran == "a" || waits == "a", true), "{first}, {second}");
        // The model reads one result of each call.
        let last = play.server.asked().pop().unwrap().all();
        assert_eq!(last.matches("\"tool_call_id\"").count(), 2, "{last}");
    }
}

#[test]
fn whoever_goes_on_without_a_call_that_was_put_off_gets_an_answer() {
    let play = Play::script(vec![Answer::calls(&[bash("echo a > a")]), Answer::text("Without.")]);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    serve(&mut host, 1, |_| decides("defer"));
    host.say(&user("something else"));
    let result = serve(&mut host, 1, |_| decides("defer")).remove(0);
    closed(host);
    assert_eq!((&result["result"], play.path("a").exists()), (&json!("Without."), false));
    let asked = play.server.asked().pop().unwrap().all();
    assert_eq!(asked.matches("call_0").count(), 2, "{asked}");
}

#[test]
fn a_call_whose_tool_is_gone_waits_for_a_session_that_has_it() {
    let play = Play::script(vec![Answer::calls(&[bash("echo done > mark")]), Answer::text("Well.")]);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    let first = serve(&mut host, 1, |_| decides("defer")).remove(0);
    closed(host);
    let id = first["session_id"].as_str().unwrap();
    let mut host = play.host("claude", &[BASH, &["--resume", id, "--tools", "Read"]].concat());
    host.say(&hello(&[], &json!({})));
    let gone = serve(&mut host, 1, |_| decides("allow")).remove(0);
    closed(host);
    assert_eq!(
        (&gone["is_error"], &gone["stop_reason"]),
        (&json!(true), &json!("tool_deferred_unavailable")),
        "{gone}"
    );
    let mut host = play.host("claude", &[BASH, &["--resume", id]].concat());
    host.say(&hello(&[], &json!({})));
    let result = serve(&mut host, 1, |_| decides("allow")).remove(0);
    closed(host);
    assert_eq!((&result["result"], play.read("mark")), (&json!("Well."), "done\n".to_owned()));
}

#[test]
fn a_hook_that_stops_the_turn_is_no_failure() {
    for moment in ["PreToolUse", "PostToolUse"] {
        let play = Play::script(vec![Answer::calls(&[bash("echo done > mark")])]);
        let mut host = play.host("claude", BASH);
        host.say(&hello(&[moment], &json!({}))).say(&user("go"));
        let result = serve(&mut host, 1, |_| json!({"continue": false, "stopReason": "Enough."})).remove(0);
        let end = closed(host);
        let told = ["subtype", "is_error", "stop_reason", "terminal_reason"].map(|name| result[name].clone());
        assert_eq!(
            told,
            [json!("success"), json!(false), json!("tool_use"), json!("hook_stopped")],
            "{moment}: {end:#?}"
        );
        assert_eq!((end.code(), play.path("mark").exists()), (0, true), "{moment}");
    }
}

/// A call that begins a subagent.
fn agent(prompt: &str, background: bool) -> (&'static str, Value) {
    (
        "Agent",
        json!({"description": "look", "prompt": prompt, "subagent_type": "worker", "run_in_background": background}),
    )
}

/// The kind of it, and its tools.
fn worker(tools: &[&str]) -> Value {
    json!({"agents": {"worker": {"description": "Works.", "prompt": "You are the worker.", "tools": tools}}})
}

#[test]
fn a_subagent_in_the_background_wakes_the_model_and_its_turn_is_served() {
    for delay in [0, 400] {
        let play = Play::new(move |asked, number| {
            if asked.system().contains("You are the worker.") {
                std::thread::sleep(Duration::from_millis(delay));
                return Answer::text("Found it.");
            }
            match number {
                0 => Answer::calls(&[agent("Look.", true)]),
                _ if asked.last().contains("<task-notification>") && asked.last().contains("Found it.") => {
                    Answer::calls(&[("Bash", json!({"command": "echo found > mark", "description": "note"}))])
                }
                _ if asked.all().contains("<task-notification>") => Answer::text("Finished."),
                _ => Answer::text("Launched."),
            }
        });
        let mut command = play.command("claude", BASH);
        command.env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
        let mut host = Host::new(command);
        host.say(&hello(&["PreToolUse", "SubagentStop", "Stop"], &worker(&[]))).say(&user("go"));
        let results = serve(&mut host, 2, |_| json!({}));
        while host.seen.last().unwrap()["state"] != "idle" {
            host.next(Duration::from_secs(10)).expect("it rests in the end");
        }
        let end = closed(host);
        assert_eq!(
            (&results[0]["result"], &results[1]["result"]),
            (&json!("Launched."), &json!("Finished.")),
            "{end:#?}"
        );
        assert_eq!(results[1]["origin"], json!({"kind": "task-notification"}));
        assert_eq!(play.read("mark"), "found\n");
        let launched = end
            .lines
            .iter()
            .find(|line| line["tool_use_result"]["isAsync"] == true)
            .expect("it is launched");
        let id = &launched["tool_use_result"]["agentId"];
        let of = |subtype: &str| {
            end.lines
                .iter()
                .find(|line| line["subtype"] == subtype)
                .unwrap_or_else(|| panic!("no {subtype}"))
        };
        let started = of("task_started");
        assert_eq!(
            (&started["task_id"], &started["is_backgrounded"], &started["task_type"]),
            (id, &json!(true), &json!("local_agent"))
        );
        let notice = of("task_notification");
        assert_eq!(
            (&notice["task_id"], &notice["status"], &notice["summary"]),
            (id, &json!("completed"), &json!("Found it."))
        );
        let states: Vec<_> = end.lines.iter().filter(|line| line["subtype"] == "session_state_changed").collect();
        assert_eq!(
            states.iter().map(|line| &line["state"]).collect::<Vec<_>>(),
            ["running", "idle"],
            "{end:#?}"
        );
        assert!(states.iter().all(|line| line["sdk_host_only"] == true));
        let stopped = called(&end.lines, "SubagentStop");
        assert_eq!((stopped.len(), &stopped[0]["last_assistant_message"]), (1, &json!("Found it.")));
    }
}

#[test]
fn a_subagent_in_the_background_is_waited_for_and_can_be_stopped() {
    let slow = |asked: &crate::support::model::Asked, number: usize| match number {
        _ if asked.system().contains("You are the worker.") => Answer::steps(vec![Step::Pause(800), Step::Text("Slow.".to_owned())]),
        0 => Answer::calls(&[agent("Look.", true)]),
        _ => Answer::text("Launched."),
    };
    // The host has closed its input: what it asked for is done all the same.
    let play = Play::new(slow);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&[], &worker(&[]))).say(&user("go"));
    let end = closed(host);
    assert_eq!(end.results().len(), 2, "{end:#?}");
    // An interrupt stops the turn and not the subagent; the host stops that by its own request.
    let play = Play::new(slow);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&[], &worker(&[]))).say(&user("go"));
    serve(&mut host, 1, |_| json!({}));
    host.say(&request("stop", r#"{"subtype":"interrupt"}"#));
    let id = host.seen.iter().find(|line| line["subtype"] == "task_started").unwrap()["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    host.say(&request("end", &json!({"subtype": "stop_task", "task_id": id}).to_string()));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let notice = end.lines.iter().find(|line| line["subtype"] == "task_notification").unwrap();
    assert_eq!(notice["status"], "stopped", "{end:#?}");
    let answer = end.lines.iter().find(|line| line["response"]["request_id"] == "end").unwrap();
    assert_eq!(answer["response"]["subtype"], "success");
    // Whoever waits for one value gets one: there the model waits for its subagents.
    let play = Play::new(slow);
    let end = play.one(
        "claude",
        &["-p", "--output-format", "json", "--agents", &worker(&[])["agents"].to_string()],
        "go",
    );
    assert_eq!(end.lines.len(), 1, "{end:#?}");
    assert!(play.server.asked().pop().unwrap().all().contains("Slow."));
}

#[test]
fn kinds_of_subagents_have_limits_of_their_own() {
    let play = Play::new(|asked, _| match asked.system().contains("You are the worker.") {
        true if asked.tools().contains(&"Bash".to_owned()) => Answer::text("It has the shell."),
        true => Answer::calls(&[("Read", json!({"file_path": "none.txt"}))]),
        false if asked.all().contains("limit of 2 rounds") => Answer::text("Limited."),
        false => Answer::calls(&[agent("Look.", false)]),
    });
    let mut host = play.host("claude", BASH);
    let mut kinds = worker(&[]);
    kinds["agents"]["worker"] = json!({"description": "Works.", "prompt": "You are the worker.", "disallowedTools": ["Bash"], "maxTurns": 2});
    host.say(&hello(&[], &kinds)).say(&user("go"));
    let result = serve(&mut host, 1, |_| json!({})).remove(0);
    closed(host);
    assert_eq!(result["result"], "Limited.");
    // One that always works in the background, whatever the model says.
    let play = Play::new(|asked, number| match number {
        _ if asked.system().contains("You are the worker.") => Answer::text("Found it."),
        0 => Answer::calls(&[agent("Look.", false)]),
        _ => Answer::text("Well."),
    });
    let mut host = play.host("claude", BASH);
    kinds["agents"]["worker"] = json!({"description": "Works.", "prompt": "You are the worker.", "background": true});
    host.say(&hello(&[], &kinds)).say(&user("go"));
    let end = closed(host);
    assert_eq!(end.results().len(), 2, "{end:#?}");
}

#[test]
fn a_prompt_may_wait_for_the_next_one() {
    let play = Play::script(vec![Answer::text("Done.")]);
    let mut host = play.host("claude", BASH);
    host.say(r#"{"type":"user","message":{"role":"user","content":"first"},"shouldQuery":false}"#);
    let kept = host.until("result");
    assert_eq!(
        (&kept["result"], &kept["num_turns"], &kept["is_error"]),
        (&json!(""), &json!(0), &json!(false))
    );
    host.say(&user("second"));
    assert_eq!(host.until("result")["result"], "Done.");
    closed(host);
    let asked = play.server.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].all().contains("first") && asked[0].all().contains("second"),
        "{}",
        asked[0].all()
    );
}

#[test]
fn hooks_hear_of_all_calls_of_a_reply_together() {
    let play = Play::script(vec![Answer::calls(&[bash("echo a"), bash("echo b")]), Answer::text("Done.")]);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["PostToolBatch"], &json!({}))).say(&user("go"));
    let context = json!({"hookSpecificOutput": {"hookEventName": "PostToolBatch", "additionalContext": "Mind the gap."}});
    let result = serve(&mut host, 1, |_| context.clone()).remove(0);
    let end = closed(host);
    assert_eq!(result["result"], "Done.");
    let heard = called(&end.lines, "PostToolBatch");
    let calls = heard[0]["tool_calls"].as_array().unwrap();
    let told: Vec<_> = calls.iter().map(|call| (&call["tool_use_id"], &call["tool_response"])).collect();
    assert_eq!(
        (heard.len(), told),
        (1, vec![(&json!("call_0"), &json!("a")), (&json!("call_1"), &json!("b"))])
    );
    assert!(play.server.asked()[1].all().contains("Mind the gap."));
}

#[test]
fn what_stands_before_a_call_is_told_while_its_arguments_are_on_their_way() {
    let replies = || {
        let (name, input) = bash("touch late");
        let call = Step::Call("c1".to_owned(), name.to_owned(), input.to_string());
        vec![
            Answer::steps(vec![
                Step::Text("I look.".to_owned()),
                call,
                Step::Pause(60_000),
                Step::Text("late".to_owned()),
            ]),
            Answer::text("Well."),
        ]
    };
    for partial in [&[][..], &["--include-partial-messages"]] {
        let play = Play::script(replies());
        let mut command = play.command("claude", &[FREE, partial].concat());
        command.env("AGENTGLOT_MODEL_STALL_TIMEOUT", "90");
        let mut host = Host::new(command);
        host.say(&user("go"));
        let text = until(&mut host, "text", |line| line["type"] == "assistant");
        assert_eq!(text["message"]["content"], json!([{"type": "text", "text": "I look."}]), "{partial:?}");
        host.say(&request("i1", r#"{"subtype":"interrupt"}"#));
        assert_eq!(host.until("result")["is_error"], true, "{partial:?}");
        host.say(&user("and now?"));
        assert_eq!(host.until("result")["result"], "Well.", "{partial:?}");
        host.close();
        let end = host.end();
        let told = end
            .lines
            .iter()
            .filter(|line| line["type"] == "assistant" && line.to_string().contains("I look."));
        assert_eq!(told.count(), 1, "{partial:?}: {end:#?}");
        assert!(!play.path("late").exists());
    }
}

#[test]
fn the_model_reads_that_a_turn_was_stopped() {
    let play = Play::new(|asked, _| match asked.last().contains("again") {
        true if asked.all().contains("[Request interrupted by user]") => Answer::text("I was stopped."),
        true => Answer::text("I was not."),
        false => Answer::steps(vec![Step::Text("I begin".into()), Step::Pause(30_000)]),
    });
    let mut host = play.host("claude", &[CLAUDE, &["--include-partial-messages"]].concat());
    host.say(&user("go"));
    host.until("stream_event");
    host.say(&request("stop", r#"{"subtype":"interrupt"}"#));
    host.until("result");
    host.say(&user("again"));
    assert_eq!(host.until("result")["result"], "I was stopped.");
    closed(host);
}
