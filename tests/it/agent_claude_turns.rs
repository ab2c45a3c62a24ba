//! How turns of Claude Code's hosts go that say something in the middle, or limit them, as 2.1.332 has it.

use serde_json::{Value, json};

use crate::support::claude::{BASH, bash, called, closed, hello, respond, serve};
use crate::support::model::{Answer, Step};
use crate::support::play::{PRINT, Play, run};
use crate::support::stage::{CLAUDE, End, Host, user};

const ID: &str = "11111111-2222-4333-8444-555555555555";

/// A prompt with an id.
fn named(text: &str) -> String {
    json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "uuid": ID}).to_string()
}

fn results(end: &End) -> Vec<&Value> {
    end.results().into_iter().map(|result| &result["result"]).collect()
}

fn of<'e>(end: &'e End, kind: &str) -> Vec<&'e Value> {
    end.lines.iter().filter(|line| line["type"] == kind || line["subtype"] == kind).collect()
}

/// A reply that takes a while.
fn slow(text: &str) -> Answer {
    Answer::steps(vec![Step::Text("Well, ".into()), Step::Pause(1500), Step::Text(text.into())])
}

fn wait_for(host: &mut Host, subtype: &str) -> Value {
    loop {
        let line = host.until("control_request");
        if line["request"]["subtype"] == subtype {
            return line;
        }
    }
}

#[test]
fn what_a_host_says_in_mid_turn_is_read_behind_the_calls() {
    let play = Play::script(vec![Answer::calls(&[bash("sleep 2")]), Answer::text("Both."), Answer::text("More.")]);
    let mut host = play.host("claude", &[BASH, &["--replay-user-messages"]].concat());
    host.say(&hello(&["UserPromptSubmit"], &json!({}))).say(&user("one"));
    let asked = wait_for(&mut host, "hook_callback");
    host.say(&respond(&asked, &json!({})));
    host.until("assistant");
    host.say(&named("and also this")).say(&user("/cost"));
    serve(&mut host, 2, |_| json!({}));
    let end = closed(host);
    assert_eq!(results(&end)[0], "Both.", "{end:#?}");
    assert_eq!(end.results().len(), 2, "a command is a turn of its own: {end:#?}");
    let asked = play.server.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].last().contains("and also this"), "{}", asked[1].last());
    let states: Vec<_> = of(&end, "command_lifecycle").iter().map(|line| line["state"].clone()).collect();
    assert_eq!(states, ["queued", "started", "completed"]);
    let at = |found: &dyn Fn(&Value) -> bool| end.lines.iter().position(found).unwrap();
    let ended = at(&|line| line["type"] == "result");
    assert!(at(&|line| line["state"] == "completed") < ended, "{end:#?}");
    assert!(at(&|line| line["isReplay"] == true && line["message"]["content"] == "and also this") < ended);
    let prompts: Vec<_> = called(&end.lines, "UserPromptSubmit")
        .iter()
        .map(|input| input["prompt"].clone())
        .collect();
    assert_eq!(prompts, ["one", "and also this"]);
}

#[test]
fn a_hook_keeps_a_prompt_from_the_turn_that_runs() {
    let play = Play::script(vec![Answer::calls(&[bash("sleep 2")]), Answer::text("Done.")]);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["UserPromptSubmit"], &json!({}))).say(&user("one"));
    let asked = wait_for(&mut host, "hook_callback");
    host.say(&respond(&asked, &json!({})));
    host.until("assistant");
    host.say(&user("and also this"));
    serve(&mut host, 1, |_| json!({"decision": "block", "reason": "not now"}));
    let end = closed(host);
    assert_eq!((results(&end), end.code()), (vec![&json!("Done.")], 0), "{end:#?}");
    assert!(!play.server.asked()[1].all().contains("and also this"));
    assert_eq!(of(&end, "informational")[0]["prompt_submit_outcome"]["kind"], "blocked_by_hook");
}

#[test]
fn prompts_that_wait_for_the_next_turn_are_one() {
    let play = Play::script(vec![slow("first."), Answer::text("Both."), Answer::text("Last.")]);
    let mut host = play.host("claude", BASH);
    host.say(&user("one"));
    host.until("system");
    host.say(&user("two")).say(&user("three")).say(&user("/cost")).say(&user("four"));
    serve(&mut host, 4, |_| json!({}));
    let end = closed(host);
    assert_eq!(results(&end)[..2], [&json!("Well, first."), &json!("Both.")], "{end:#?}");
    assert_eq!(results(&end)[3], "Last.");
    assert!(play.server.asked()[1].last().contains("two\\nthree"), "{}", play.server.asked()[1].last());

    // The first one of several does not wait: it begins.
    let play = Play::script(vec![Answer::text("One."), Answer::text("Others.")]);
    let mut host = play.host("claude", BASH);
    host.say(&[user("one"), user("two"), user("three")].join("\n"));
    serve(&mut host, 2, |_| json!({}));
    assert_eq!(results(&closed(host)), ["One.", "Others."]);
}

#[test]
fn hooks_and_the_host_are_asked_for_permission_side_by_side() {
    let writes = || Answer::calls(&[("Write", json!({"file_path": "made.txt", "content": "a"}))]);
    let decides = |behavior: &str| json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": behavior, "message": "the hook says no"}}});
    for (behavior, runs) in [("deny", false), ("allow", true)] {
        let play = Play::script(vec![writes(), Answer::text("Well then.")]);
        let mut host = play.host("claude", CLAUDE);
        host.say(&hello(&["PermissionRequest"], &json!({}))).say(&user("go"));
        let asked = wait_for(&mut host, "can_use_tool");
        let hook = wait_for(&mut host, "hook_callback");
        host.say(&respond(&hook, &decides(behavior)));
        assert_eq!(host.until("control_cancel_request")["request_id"], asked["request_id"]);
        host.until("result");
        let end = closed(host);
        assert_eq!(play.path("made.txt").exists(), runs, "{end:#?}");
        let made = end.lines.iter().find(|line| line["tool_result_meta"].is_array()).unwrap();
        let decision = &made["tool_result_meta"][0]["permission_decision"];
        assert_eq!(
            (&decision["source"], &decision["reason_type"]),
            (&json!("hook"), &json!("hook")),
            "{made}"
        );
    }
    // The host need not wait for a hook, nor a hook with nothing to say for the host.
    for hook_first in [false, true] {
        let play = Play::script(vec![writes(), Answer::text("Well then.")]);
        let mut host = play.host("claude", CLAUDE);
        host.say(&hello(&["PermissionRequest"], &json!({}))).say(&user("go"));
        let asked = wait_for(&mut host, "can_use_tool");
        let hook = wait_for(&mut host, "hook_callback");
        if hook_first {
            host.say(&respond(&hook, &json!({})));
        }
        host.say(&respond(&asked, &json!({"behavior": "allow"})));
        assert_eq!(host.until("result")["result"], "Well then.");
        assert!(play.path("made.txt").exists());
        closed(host);
    }
}

#[test]
fn plan_mode_asks_the_host_about_changes() {
    let writes = || Answer::calls(&[("Write", json!({"file_path": "made.txt", "content": "a"}))]);
    let plan = ["--permission-mode", "plan", "--allowedTools", "Write"];
    for behavior in ["allow", "deny"] {
        let play = Play::script(vec![writes(), Answer::text("Well then.")]);
        let mut host = play.host("claude", &[CLAUDE, &plan].concat());
        host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
        serve(&mut host, 1, |about| match about {
            // No hook lifts the mode.
            "PreToolUse" => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
            _ => json!({"behavior": behavior, "message": "no"}),
        });
        let end = closed(host);
        let asked = end
            .lines
            .iter()
            .find(|line| line["request"]["subtype"] == "can_use_tool")
            .expect("a question");
        assert_eq!(asked["request"]["decision_reason_type"], "mode");
        assert!(asked["request"].get("permission_suggestions").is_none(), "{asked}");
        assert_eq!(play.path("made.txt").exists(), behavior == "allow", "{end:#?}");
    }
    let play = Play::script(vec![writes(), Answer::text("Well then.")]);
    let end = play.one(
        "claude",
        &["-p", "--verbose", "--output-format", "stream-json", "--permission-mode", "plan"],
        "go",
    );
    let denied = &of(&end, "permission_denied")[0];
    assert!(denied["message"].as_str().unwrap().ends_with("made.txt while in plan mode."), "{denied}");
    assert_eq!(denied["decision_reason_type"], "mode");
    assert!(!play.path("made.txt").exists());
}

#[test]
fn a_hook_that_ends_the_turn_before_a_call_ends_it_behind_the_calls() {
    let two = || Answer::calls(&[bash("echo a > a"), bash("echo b > b")]);
    let stop = json!({"continue": false, "stopReason": "Enough."});
    let play = Play::script(vec![two()]);
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    let result = serve(&mut host, 1, |_| stop.clone()).remove(0);
    let end = closed(host);
    assert_eq!(result["terminal_reason"], "hook_stopped", "{end:#?}");
    assert!(play.path("a").exists() && play.path("b").exists());

    // What the host does not allow ends nothing.
    let play = Play::script(vec![Answer::calls(&[bash("echo a > a")]), Answer::text("Well then.")]);
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    let result = serve(&mut host, 1, |about| match about {
        "PreToolUse" => stop.clone(),
        _ => json!({"behavior": "deny", "message": "no"}),
    })
    .remove(0);
    assert_eq!(result["result"], "Well then.");
    assert!(!play.path("a").exists());
    closed(host);
}

#[test]
fn nothing_is_done_once_the_budget_is_spent() {
    let spends = Answer::steps(vec![
        Step::Call("call_0".into(), "Bash".into(), r#"{"command": "echo a > a"}"#.into()),
        Step::Used(100_000, 100_000),
    ]);
    let play = Play::script(vec![spends]);
    let mut host = play.host("claude", &[BASH, &["--max-budget-usd", "0.001"]].concat());
    host.say(&user("one"));
    let first = host.until("result");
    host.say(&user("two"));
    let second = host.until("result");
    let end = closed(host);
    for result in [first, second] {
        assert_eq!(
            (&result["subtype"], &result["num_turns"]),
            (&json!("error_max_budget_usd"), &json!(1)),
            "{end:#?}"
        );
    }
    assert!(!play.path("a").exists());
    assert_eq!(play.server.asked().len(), 1);
}

#[test]
fn another_model_answers_in_place_of_one_that_cannot_be_had() {
    let overloaded = || Answer::error(529, "overloaded").header("retry-after", "0");
    let unknown = || Answer::error(404, "model: gpt-4o");
    for (answers, why, retries) in [
        (vec![overloaded(), overloaded(), overloaded()], "overloaded", 2),
        (vec![unknown()], "model_not_found", 0),
    ] {
        let failed = answers.len();
        let play = Play::script([answers, vec![Answer::text("Here I am."), Answer::text("Again.")]].concat());
        let mut command = play.command("claude", &[BASH, &["--fallback-model", "gpt-4o-mini,o3"]].concat());
        command.env("AGENTGLOT_MODEL_RETRIES", "5");
        let mut host = Host::new(command);
        host.say(&user("one"));
        assert_eq!(host.until("result")["result"], "Here I am.");
        host.say(&user("two"));
        assert_eq!(host.until("result")["result"], "Again.");
        let end = closed(host);
        let told = of(&end, "model_fallback");
        assert_eq!(told.len(), 1, "{end:#?}");
        assert_eq!(
            ["trigger", "original_model", "fallback_model"].map(|name| told[0][name].as_str().unwrap()),
            [why, "gpt-4o", "gpt-4o-mini"]
        );
        assert_eq!(of(&end, "api_retry").len(), retries);
        let models: Vec<_> = play.server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
        // The first one is asked again with the next turn.
        assert_eq!(models[failed..], ["gpt-4o-mini", "gpt-4o"]);
    }
    let play = Play::script(vec![unknown()]);
    let end = play.print("go");
    assert_eq!(end.result()["api_error_status"], 404, "{end:#?}");
}

#[test]
fn an_answer_in_a_form_is_reminded_of_once() {
    let play = Play::new(|_, _| Answer::text("Words."));
    let end = play.one(
        "claude",
        &[PRINT, &["--json-schema", r#"{"type":"object","required":["n"]}"#]].concat(),
        "go",
    );
    assert_eq!(
        (end.code(), &end.result()["result"], play.server.asked().len()),
        (0, &json!("Words."), 2),
        "{end:#?}"
    );
    assert!(end.result().get("structured_output").is_none());

    let end = play.one("claude", &[PRINT, &["--json-schema", r#"{"type":"wibble"}"#]].concat(), "go");
    assert_eq!(end.code(), 1);
    assert!(end.stderr.contains("--json-schema is not a valid JSON Schema"), "{end:#?}");
}

#[test]
fn commands_that_need_a_screen_are_said_to_be_not_there() {
    let play = Play::new(|_, _| Answer::text("Words."));
    for (command, says) in [
        ("/help", "/help isn't available in this environment."),
        ("/status", "/status isn't available in this environment."),
        ("/model", "Current model: `gpt-4o`"),
        ("/model o3", "Set model to `o3`"),
        ("/context", "## Context Usage"),
    ] {
        let end = play.print(command);
        let result = end.result()["result"].as_str().unwrap();
        assert!(result.starts_with(says), "{command}: {end:#?}");
        assert_eq!((end.code(), &end.result()["num_turns"]), (0, &json!(0)), "{command}");
    }
    assert!(play.server.asked().is_empty());
    // A command of the user's has the name to itself.
    let commands = play.base().join("home/.claude/commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("status.md"), "Say how the sheep are.").unwrap();
    assert_eq!(play.print("/status").result()["result"], "Words.");
}

#[test]
fn keys_that_do_not_fit_are_told_in_the_words_that_hosts_look_for() {
    for (status, message, told) in [
        (401, "invalid x-api-key", "Invalid API key · Fix external API key"),
        (401, "token bad", "Failed to authenticate. API Error: 401 token bad"),
        (403, "forbidden", "Failed to authenticate. API Error: 403 forbidden"),
    ] {
        let play = Play::script(vec![Answer::error(status, message)]);
        let end = play.print("go");
        assert_eq!((end.code(), &end.result()["result"]), (1, &json!(told)), "{end:#?}");
    }
}

#[test]
fn whoever_wants_to_go_on_with_nothing_begins_anew() {
    let play = Play::new(|_, _| Answer::text("Words."));
    let end = play.one("claude", &[PRINT, &["--continue"]].concat(), "go");
    assert_eq!((end.code(), &end.result()["result"]), (0, &json!("Words.")), "{end:#?}");
}

#[test]
fn a_mode_of_thinking_is_asked_for() {
    let play = Play::new(|_, _| Answer::text("Words."));
    for (mode, wanted) in [
        ("adaptive", json!({"type": "enabled", "budget_tokens": 31_999})),
        ("disabled", Value::Null),
    ] {
        let end = run(play.command_of("anthropic", "claude", &[PRINT, &["--thinking", mode, "go"]].concat()));
        assert_eq!(end.code(), 0, "{end:#?}");
        assert_eq!(play.server.asked().last().unwrap().body["thinking"], wanted, "{mode}");
    }
}

#[test]
fn a_command_that_a_rule_forbids_is_told_as_refused() {
    let play = Play::script(vec![Answer::calls(&[bash("touch ran")]), Answer::text("Well then.")]);
    let end = play.one("claude", &[PRINT, &["--disallowedTools", "Bash(touch:*)", "--"]].concat(), "go");
    let denied = of(&end, "permission_denied");
    assert_eq!(denied.len(), 1, "{end:#?}");
    assert_eq!(
        (&denied[0]["decision_reason_type"], &denied[0]["tool_name"]),
        (&json!("rule"), &json!("Bash"))
    );
    assert!(!play.path("ran").exists());
}
