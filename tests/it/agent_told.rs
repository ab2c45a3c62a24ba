//! What the built-in agent tells hosts of Claude Code's on the way, as Claude Code 2.1.332 does.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::claude::{BASH, bash, called, closed, hello, serve};
use crate::support::model::{Answer, Step};
use crate::support::play::Play;
use crate::support::stage::{CLAUDE, End, Host, request, user};

/// A decision of a hook before a call.
fn decides(word: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "so it is"}})
}

/// One prompt, with hooks of a moment that answer so.
fn hooked(play: &Play, args: &[&str], moment: &str, answer: &Value) -> End {
    let mut host = play.host("claude", args);
    host.say(&hello(&[moment], &json!({}))).say(&user("go"));
    serve(
        &mut host,
        1,
        |about| {
            if about == moment { answer.clone() } else { json!({"behavior": "allow"}) }
        },
    );
    closed(host)
}

/// Its lines of type `system` of a kind.
fn system<'e>(end: &'e End, subtype: &str) -> Vec<&'e Value> {
    let lines = end.lines.iter().filter(|line| line["type"] == "system");
    lines.filter(|line| line["subtype"] == subtype).collect()
}

/// The content of the results, in order.
fn results(end: &End) -> Vec<&Value> {
    let blocks = end.lines.iter().filter(|line| line["type"] == "user");
    blocks
        .map(|line| &line["message"]["content"][0])
        .filter(|block| block["type"] == "tool_result")
        .map(|block| &block["content"])
        .collect()
}

#[test]
fn what_a_subagent_does_between_two_turns_is_told_once_and_begins_none() {
    let play = Play::new(|asked, number| {
        if asked.system().contains("You are the worker.") {
            return match asked.all().contains("tool_call_id") {
                false => Answer::calls(&[bash("sleep 1; echo looked")]),
                true => Answer::text("Found it."),
            };
        }
        let kind = json!({"description": "look", "prompt": "Look.", "subagent_type": "worker", "run_in_background": true});
        match number {
            0 => Answer::calls(&[("Agent", kind)]),
            _ if asked.all().contains("<task-notification>") => Answer::text("Finished."),
            _ => Answer::text("Launched."),
        }
    });
    let mut host = play.host("claude", BASH);
    let worker = json!({"agents": {"worker": {"description": "looks", "prompt": "You are the worker."}}});
    host.say(&hello(&[], &worker)).say(&user("go"));
    serve(&mut host, 2, |_| json!({}));
    let end = closed(host);
    let of = |kind: &str, block: &str| -> Vec<&Value> {
        let lines = end
            .lines
            .iter()
            .filter(|line| line["type"] == kind && line["parent_tool_use_id"].is_string());
        lines.filter(|line| line["message"]["content"][0]["type"] == block).collect()
    };
    let (calls, answers) = (of("assistant", "tool_use"), of("user", "tool_result"));
    assert_eq!((calls.len(), answers.len()), (1, 1), "{end:#?}");
    for line in [calls[0], answers[0]] {
        assert_eq!(
            (&line["subagent_type"], &line["task_description"]),
            (&json!("worker"), &json!("look")),
            "{line}"
        );
        assert_eq!(line["agent_id"], system(&end, "task_started")[0]["task_id"], "{line}");
    }
    assert_eq!(system(&end, "init").len(), 2, "{end:#?}");
    // That it was asked is said by `task_started`.
    assert_eq!(of("user", "text").len(), 0, "{end:#?}");
    let updated = system(&end, "task_updated");
    assert_eq!((updated.len(), &updated[0]["patch"]["status"]), (1, &json!("completed")), "{end:#?}");
    let place = |subtype: &str| end.lines.iter().position(|line| line["subtype"] == subtype);
    assert!(place("task_updated") < place("task_notification"), "{end:#?}");
}

#[test]
fn what_a_hook_says_to_the_user_names_it() {
    let play = Play::script(vec![Answer::calls(&[bash("true")]), Answer::text("Done.")]);
    let end = hooked(&play, BASH, "PreToolUse", &json!({"systemMessage": "look out"}));
    let told = system(&end, "informational");
    assert_eq!(told[0]["content"], "PreToolUse:Bash says: look out", "{end:#?}");
    let end = hooked(&play, BASH, "Stop", &json!({"systemMessage": "well done"}));
    assert_eq!(system(&end, "informational")[0]["content"], "Stop says: well done", "{end:#?}");
}

#[test]
fn whoever_is_asked_because_of_a_hook_reads_why() {
    let script = || vec![Answer::calls(&[bash("touch made.txt")]), Answer::text("Done.")];
    let play = Play::script(script());
    let asks = [CLAUDE, &["--allowedTools", "Bash"]].concat();
    let end = hooked(&play, &asks, "PreToolUse", &decides("ask"));
    let question = end.lines.iter().find(|line| line["request"]["subtype"] == "can_use_tool");
    let question = &question.expect("the host is asked")["request"];
    let said = ["decision_reason", "decision_reason_type", "display_name", "description"].map(|name| &question[name]);
    assert_eq!(said, ["so it is", "hook", "Bash", "a command"], "{question}");
    assert!(play.path("made.txt").exists());
    // Where nobody can be asked, the host and the model read the same.
    let play = Play::script(script());
    let end = hooked(&play, BASH, "PreToolUse", &decides("ask"));
    let refused = system(&end, "permission_denied");
    assert_eq!(refused.len(), 1, "{end:#?}");
    let said = ["tool_name", "message", "decision_reason", "decision_reason_type"].map(|name| &refused[0][name]);
    assert_eq!(said, ["Bash", "so it is", "so it is", "hook"], "{end:#?}");
    assert_eq!(results(&end), [&json!("so it is")], "{end:#?}");
    assert!(!play.path("made.txt").exists());
}

#[test]
fn a_call_that_nobody_could_be_asked_about_is_told() {
    let writes = Answer::calls(&[("Write", json!({"file_path": "made.txt", "content": "a"}))]);
    let play = Play::script(vec![writes, Answer::text("Well then.")]);
    let end = hooked(&play, BASH, "Stop", &json!({}));
    let refused = system(&end, "permission_denied");
    assert_eq!(refused.len(), 1, "{end:#?}");
    assert_eq!(refused[0]["message"], *results(&end)[0], "{end:#?}");
    assert_eq!(
        (&refused[0]["tool_name"], &refused[0]["decision_reason_type"]),
        (&json!("Write"), &Value::Null),
        "{end:#?}"
    );
}

#[test]
fn a_prompt_at_which_a_hook_stops_stays_in_the_conversation() {
    for (answer, kept, said) in [
        (
            json!({"continue": false, "stopReason": "enough"}),
            true,
            "Operation stopped by hook: enough",
        ),
        (
            json!({"decision": "block", "reason": "enough"}),
            false,
            "UserPromptSubmit operation blocked by hook:\nenough",
        ),
    ] {
        let play = Play::new(|_, _| Answer::text("Done."));
        let mut host = play.host("claude", CLAUDE);
        host.say(&hello(&["UserPromptSubmit"], &json!({}))).say(&user("the first one"));
        let stopped = serve(&mut host, 1, |_| answer.clone()).remove(0);
        host.say(&user("the second one"));
        serve(&mut host, 1, |_| json!({}));
        let end = closed(host);
        assert!(stopped["result"].as_str().unwrap().starts_with(said), "{stopped}");
        assert_eq!((&stopped["is_error"], &stopped["num_turns"]), (&json!(false), &json!(0)), "{stopped}");
        let told = &system(&end, "informational")[0]["prompt_submit_outcome"];
        assert_eq!(told["prompt_kept"], kept, "{end:#?}");
        let asked = play.server.asked();
        assert_eq!(asked.len(), 1, "the model is asked about the second one alone");
        assert_eq!(asked[0].all().contains("the first one"), kept, "{}", asked[0].all());
    }
}

#[test]
fn a_result_that_a_hook_gives_instead_is_read_as_the_tool_would_print_it() {
    let play = Play::script(vec![Answer::calls(&[bash("echo real")]), Answer::text("Done.")]);
    let output = json!({"stdout": "made up", "stderr": "and so on", "interrupted": false, "isImage": false});
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}});
    let end = hooked(&play, BASH, "PostToolUse", &answer);
    assert_eq!(results(&end), [&json!("made up\nand so on")], "{end:#?}");
    let line = end.lines.iter().find(|line| line["tool_use_result"].is_object()).unwrap();
    assert_eq!(line["tool_use_result"], output);
}

#[test]
fn why_the_model_goes_on_is_told_and_counts_as_a_turn() {
    let play = Play::script(vec![Answer::text("Done."), Answer::text("Done again.")]);
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&["Stop"], &json!({}))).say(&user("go"));
    let asked = std::cell::Cell::new(0);
    let result = serve(&mut host, 1, |_| {
        asked.set(asked.get() + 1);
        match asked.get() {
            1 => json!({"decision": "block", "reason": "not yet"}),
            _ => json!({}),
        }
    })
    .remove(0);
    let end = closed(host);
    let told: Vec<&Value> = end.lines.iter().filter(|line| line["isSynthetic"] == true).collect();
    assert_eq!(told.len(), 1, "{end:#?}");
    assert_eq!(told[0]["message"]["content"][0]["text"], "Stop hook feedback:\nnot yet");
    assert_eq!((&result["num_turns"], &result["result"]), (&json!(2), &json!("Done again.")));
}

#[test]
fn an_interrupt_is_not_said_in_the_name_of_the_program() {
    let play = Play::new(|_, _| Answer::steps(vec![Step::Text("Slowly".to_owned()), Step::Pause(20_000), Step::Text(".".to_owned())]));
    let mut host = play.host("claude", CLAUDE);
    host.say(&user("go"));
    std::thread::sleep(Duration::from_millis(500));
    host.say(&request("stop", r#"{"subtype":"interrupt"}"#));
    host.until("result");
    let end = closed(host);
    let says = |line: &&Value| line["message"]["content"][0]["text"] == "[Request interrupted by user]";
    let said = end.lines.iter().find(says).unwrap_or_else(|| panic!("{end:#?}"));
    assert_eq!(said["isSynthetic"], Value::Null, "{said}");
}

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}"#;

#[test]
fn an_answer_that_never_gets_its_form_is_given_up() {
    let gives = |n: Value| Answer::calls(&[("StructuredOutput", json!({ "n": n }))]);
    let args = [CLAUDE, &["--json-schema", SCHEMA]].concat();
    let play = Play::script(vec![gives(json!("x"))]);
    let end = hooked(&play, &args, "Stop", &json!({}));
    let result = end.result();
    assert_eq!(result["subtype"], "error_max_structured_output_retries", "{end:#?}");
    let why = result["errors"][0].as_str().unwrap();
    assert!(
        why.contains("after 5 attempts — last StructuredOutput error: Output does not match"),
        "{why}"
    );
    assert_eq!(play.server.asked().len(), 5);
    // One that gets it in the end is the text of the result too.
    let play = Play::script(vec![gives(json!("x")), gives(json!(2))]);
    let end = hooked(&play, &args, "Stop", &json!({}));
    let result = end.result();
    assert_eq!(
        (&result["structured_output"], &result["result"]),
        (&json!({"n": 2}), &json!(r#"{"n":2}"#)),
        "{end:#?}"
    );
}

#[test]
fn a_model_that_is_not_there_is_called_that() {
    let play = Play::new(|_, _| Answer::error(404, "model: no-such-model"));
    let end = hooked(&play, CLAUDE, "Stop", &json!({}));
    let failed = end.lines.iter().find(|line| line["type"] == "assistant").unwrap();
    assert_eq!(failed["error"], "model_not_found", "{end:#?}");
}

#[test]
fn a_mode_that_the_host_sets_is_told() {
    let play = Play::new(|_, _| Answer::text("Done."));
    let mut host: Host = play.host("claude", CLAUDE);
    host.say(&hello(&[], &json!({})));
    host.say(&request("mode", r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#));
    host.say(&user("go"));
    host.until("result");
    let end = closed(host);
    let told = system(&end, "status");
    assert_eq!(
        (told.len(), &told[0]["permissionMode"], &told[0]["status"]),
        (1, &json!("acceptEdits"), &Value::Null),
        "{end:#?}"
    );
    assert_eq!(called(&end.lines, "Stop").len(), 0);
}

#[test]
fn a_host_reads_what_was_used_and_what_commands_in_the_background_have_written() {
    let input = json!({"command": "printf done", "description": "work", "run_in_background": true});
    let play = Play::script(vec![Answer::calls(&[("Bash", input)]), Answer::text("Started.")]);
    let mut host = play.host("claude", BASH);
    host.say(&user("go"));
    let started = host.until("user");
    let task = started["tool_use_result"]["backgroundTaskId"].clone();
    host.until("result");
    let mut ask = |body: Value| {
        host.say(&request("r", &body.to_string()));
        host.until("control_response")["response"].clone()
    };
    for wrong in [
        json!({"subtype": "get_task_output"}),
        json!({"subtype": "get_task_output", "task_id": "nope"}),
    ] {
        assert_eq!(ask(wrong)["subtype"], "error");
    }
    let written = loop {
        let answer = ask(json!({"subtype": "get_task_output", "task_id": task}));
        if answer["response"]["output"] != "" {
            break answer["response"].clone();
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(written, json!({"output": "done", "total_bytes": 4, "truncated": false}));
    let used = ask(json!({"subtype": "get_usage"}))["response"]["session"].clone();
    let models = used["model_usage"].as_object().unwrap();
    assert!(
        models.values().all(|model| model["inputTokens"].as_u64() > Some(0)) && !models.is_empty(),
        "{used:#}"
    );
    let cost = ask(json!({"subtype": "get_session_cost"}))["response"]["text"].clone();
    assert!(cost.as_str().unwrap().starts_with("Estimated cost:"), "{cost}");
    closed(host);
}

#[test]
fn prompts_that_wait_can_be_taken_back() {
    const IDS: [&str; 2] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    let prompt = |id: &str| {
        let said = json!({"type": "user", "message": {"role": "user", "content": format!("of {id}")}, "uuid": id});
        said.to_string()
    };
    for (cancels, still, gone) in [(false, json!([IDS[1]]), Value::Null), (true, json!([]), json!([IDS[1]]))] {
        let play = Play::new(|asked, _| {
            if asked.last().contains("go") {
                Answer::steps(vec![Step::Text("Begun.".to_owned()), Step::Pause(60_000)])
            } else {
                Answer::text("Heard.")
            }
        });
        let mut host = play.host("claude", &[CLAUDE, &["--include-partial-messages"]].concat());
        host.say(&user("go"));
        host.until("stream_event");
        host.say(&prompt(IDS[0])).say(&prompt(IDS[1]));
        let mut ask = |body: Value| {
            host.say(&request("r", &body.to_string()));
            host.until("control_response")["response"]["response"].clone()
        };
        let cancel = json!({"subtype": "cancel_async_message", "message_uuid": IDS[0]});
        assert_eq!(ask(cancel.clone()), json!({"cancelled": true, "message_uuid": IDS[0]}));
        assert_eq!(ask(cancel), json!({"cancelled": false}));
        let stopped = ask(json!({"subtype": "interrupt", "cancel_queued": cancels}));
        assert_eq!((&stopped["still_queued"], &stopped["cancelled"]), (&still, &gone), "{stopped}");
        assert_eq!(host.until("result")["is_error"], true);
        if !cancels {
            assert_eq!(host.until("result")["result"], "Heard.");
        }
        let end = closed(host);
        assert_eq!(end.results().len(), if cancels { 1 } else { 2 }, "{end:#?}");
        assert!(play.server.asked().iter().all(|asked| !asked.all().contains(IDS[0])));
    }
}

#[test]
fn a_refused_request_changes_nothing() {
    let play = Play::script(vec![Answer::text("Done.")]);
    let mut host = play.host("claude", CLAUDE);
    for (body, outcome) in [
        (json!({"subtype": "set_model", "model": "chosen"}), "success"),
        (json!({"subtype": "set_model", "model": 5}), "error"),
        (json!({"subtype": "apply_flag_settings", "settings": 5}), "error"),
    ] {
        host.say(&request("r", &body.to_string()));
        assert_eq!(host.until("control_response")["response"]["subtype"], outcome, "{body}");
    }
    host.say(&user("go"));
    assert_eq!(host.until("system")["model"], "chosen");
    closed(host);
}
