//! Lines that hosts of Claude Code's read beside the conversation, and what they ask there, as 2.1.332 has it.

use serde_json::{Value, json};

use crate::agent::FREE;
use crate::support::claude::{BASH, bash, called, closed, hello, serve};
use crate::support::model::{Answer, Says, Step};
use crate::support::play::Play;
use crate::support::stage::{End, request, user};

/// The lines of a kind: `system` lines by their subtype.
fn of<'e>(end: &'e End, kind: &str) -> Vec<&'e Value> {
    end.lines.iter().filter(|line| line["type"] == kind || line["subtype"] == kind).collect()
}

fn answer<'e>(end: &'e End, id: &str) -> &'e Value {
    let found = end.lines.iter().find(|line| line["response"]["request_id"] == id);
    &found.unwrap_or_else(|| panic!("no answer to {id}: {end:#?}"))["response"]
}

/// A prompt with an id.
fn named(text: &str, id: &str) -> String {
    json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "uuid": id}).to_string()
}

const ID: &str = "11111111-2222-4333-8444-555555555555";

#[test]
fn how_much_is_thought_is_told_and_that_the_model_is_asked() {
    let think = || {
        Answer::steps(vec![
            Step::Think("12345678".into()),
            Step::Think("90".into()),
            Step::Think("ab".into()),
            Step::Text("Hm.".into()),
        ])
    };
    let play = Play::script(vec![think(), think()]);
    let counted = |end: &End| -> Vec<(u64, u64)> {
        let number = |line: &Value, name: &str| line[name].as_u64().unwrap();
        let lines = of(end, "thinking_tokens");
        lines
            .iter()
            .map(|line| (number(line, "estimated_tokens"), number(line, "estimated_tokens_delta")))
            .collect()
    };
    let end = play.print("go");
    assert_eq!(counted(&end), [(2, 2), (3, 1)], "{end:#?}");
    assert!(of(&end, "status").is_empty(), "{end:#?}");
    let partial = ["-p", "--verbose", "--output-format", "stream-json", "--include-partial-messages"];
    let end = play.one("claude", &partial, "go");
    assert_eq!(counted(&end), [(2, 2), (3, 1)], "{end:#?}");
    let at = |kind: &str| {
        end.lines
            .iter()
            .position(|line| line["subtype"] == kind || line["event"]["type"] == kind)
            .unwrap()
    };
    assert!(at("init") < at("status") && at("status") < at("message_start"), "{end:#?}");
    assert_eq!(end.lines[at("status")]["status"], "requesting");
    assert!(
        at("content_block_start") < at("thinking_tokens") && at("thinking_tokens") < at("content_block_delta"),
        "{end:#?}"
    );
}

#[test]
fn what_becomes_of_a_prompt_that_has_an_id_is_told() {
    let play = Play::script(vec![Answer::text("OK"), Answer::error(400, "no")]);
    let mut host = play.host("claude", FREE);
    host.say(&named("one", ID)).say(&user("two, without an id"));
    serve(&mut host, 2, |_| json!({}));
    let end = closed(host);
    let states: Vec<_> = of(&end, "command_lifecycle").iter().map(|line| line["state"].clone()).collect();
    assert_eq!(states, ["queued", "started", "completed"], "{end:#?}");
    assert!(
        of(&end, "command_lifecycle")
            .iter()
            .all(|line| line["command_uuid"] == ID && line["session_id"].is_string())
    );

    let play = Play::script(vec![Answer::error(400, "no")]);
    let mut host = play.host("claude", FREE);
    host.say(&named("one", ID));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    assert_eq!(of(&end, "command_lifecycle").last().unwrap()["state"], "cancelled", "{end:#?}");
    assert_eq!(end.code(), 1);
}

#[test]
fn a_refusal_is_asked_about_once_more() {
    let refused = || Answer::steps(vec![Step::Text("I can't".into()), Step::Stop("content_filter")]);
    let play = Play::script(vec![refused(), Answer::text("Here is something else.")]);
    let end = play.print("go");
    assert_eq!(
        (end.code(), &end.result()["result"], &end.result()["num_turns"]),
        (0, &json!("Here is something else."), &json!(2)),
        "{end:#?}"
    );
    let urged = end.lines.iter().find(|line| line["refusal_retry"] == true).expect("the model is told");
    let first = &of(&end, "assistant")[0]["message"]["id"];
    assert_eq!((&urged["isSynthetic"], &urged["refused_message_id"]), (&json!(true), first));
    assert_eq!(of(&end, "informational")[0]["level"], "notice");
    assert!(play.server.asked()[1].last().contains("safety filter"));

    let play = Play::script(vec![refused(), refused()]);
    let end = play.print("go");
    assert_eq!((end.code(), play.server.asked().len()), (1, 2), "{end:#?}");
    assert_eq!(
        (&end.result()["stop_reason"], &end.result()["terminal_reason"]),
        (&json!("refusal"), &json!("api_error")),
        "{end:#?}"
    );
    assert_eq!(of(&end, "model_refusal_no_fallback").len(), 1);
    let last = of(&end, "assistant").pop().unwrap();
    assert_eq!(
        (&last["error"], &last["message"]["content"][0]["text"]),
        (&json!("invalid_request"), &end.result()["result"])
    );
}

#[test]
fn a_reply_that_breaks_off_is_asked_for_again_or_gone_on_with() {
    let partial = ["-p", "--verbose", "--output-format", "stream-json", "--include-partial-messages"];
    // Nothing of it was whole: it is given up.
    let play = Play::script(vec![
        Answer::steps(vec![Step::Text("Half of".into()), Step::Cut]),
        Answer::text("The whole."),
    ]);
    let end = play.one("claude", &partial, "go");
    assert_eq!((end.code(), &end.result()["result"]), (0, &json!("The whole.")), "{end:#?}");
    let given_up: Vec<_> = end.lines.iter().filter(|line| line["abandoned_blocks"].is_object()).collect();
    assert_eq!(
        (given_up.len(), &given_up[0]["abandoned_blocks"]["from_block_index"]),
        (1, &json!(0)),
        "{end:#?}"
    );
    let texts: Vec<_> = of(&end, "assistant")
        .iter()
        .map(|line| line["message"]["content"][0]["text"].clone())
        .collect();
    assert_eq!(texts, ["The whole."], "{end:#?}");
    assert!(!play.server.asked()[1].all().contains("Half of"));

    // A thought was: the model is told to go on.
    let broken = || Answer::steps(vec![Step::Think("A thought.".into()), Step::Text("Half of".into()), Step::Cut]);
    let play = Play::script(vec![broken(), Answer::text("The whole.")]);
    let end = play.one("claude", &partial, "go");
    assert_eq!(end.result()["result"], "The whole.", "{end:#?}");

    // What is asked for again is to come in one piece: streams may break again and again.
    let half = || Answer::steps(vec![Step::Text("Half of".into()), Step::Cut]);
    let whole = json!({"id": "c-2", "object": "chat.completion", "created": 1, "model": "m-1", "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "In one piece."}, "finish_reason": "stop"}]});
    let play = Play::script(vec![half(), Answer::with(200, Says::Body("application/json", whole.to_string()))]);
    let end = play.one("claude", &partial, "go");
    assert_eq!(end.result()["result"], "In one piece.", "{end:#?}");
    let streams: Vec<Value> = play.server.asked().iter().map(|asked| asked.body["stream"].clone()).collect();
    assert_eq!(streams, [json!(true), json!(false)]);
    assert!(play.server.asked()[1].body["stream_options"].is_null());

    // Twice is too often.
    let half = || Answer::steps(vec![Step::Text("Half of".into()), Step::Cut]);
    let play = Play::script(vec![half(), half()]);
    let end = play.print("go");
    assert_eq!((end.code(), play.server.asked().len()), (1, 2), "{end:#?}");
    assert_eq!(end.result()["terminal_reason"], "api_error");
}

#[test]
fn a_failed_call_of_the_model_is_told_with_the_apis_words() {
    let play = Play::script(vec![Answer::error(400, "no such thing")]);
    let mut host = play.host("claude", FREE);
    host.say(&hello(&["StopFailure"], &json!({}))).say(&user("go"));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let last = of(&end, "assistant").pop().unwrap();
    assert_eq!(
        (
            &last["is_api_error_message"],
            &last["api_error_status"],
            &last["api_error_type"],
            &last["message"]["stop_reason"]
        ),
        (&json!(true), &json!(400), &json!("some_error"), &json!("stop_sequence")),
        "{end:#?}"
    );
    assert_eq!(end.result()["api_error_type"], "some_error");
    let hooked = called(&end.lines, "StopFailure");
    assert_eq!(
        (hooked.len(), &hooked[0]["error"], &hooked[0]["last_assistant_message"]),
        (1, &json!("unknown"), &end.result()["result"])
    );
}

#[test]
fn hooks_for_the_end_hold_it_up_with_context_or_say_that_they_wanted_it() {
    let play = Play::script(vec![Answer::text("One."), Answer::text("Two.")]);
    let mut host = play.host("claude", FREE);
    host.say(&hello(&["Stop"], &json!({}))).say(&user("go"));
    let first = std::cell::Cell::new(true);
    serve(&mut host, 1, |_| match first.take() {
        true => json!({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "There is more."}}),
        false => json!({"continue": false, "stopReason": "enough"}),
    });
    let end = closed(host);
    assert_eq!(
        (&end.result()["result"], &end.result()["terminal_reason"]),
        (&json!("Two."), &json!("stop_hook_prevented")),
        "{end:#?}"
    );
    assert!(play.server.asked()[1].last().contains("There is more."));
}

#[test]
fn a_result_has_the_members_that_its_type_wants() {
    let play = Play::script(vec![Answer::text("OK")]);
    let end = play.print("go");
    let result = end.result();
    for name in ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] {
        assert!(result["usage"][name].is_u64(), "{name}: {result:#}");
    }
    assert_eq!(
        result["usage"]["server_tool_use"],
        json!({"web_search_requests": 0, "web_fetch_requests": 0})
    );
    assert!(result["usage"]["cache_creation"]["ephemeral_5m_input_tokens"].is_u64());
    assert_eq!(
        end.lines.iter().find(|line| line["subtype"] == "init").unwrap()["apiKeySource"],
        "OPENAI_API_KEY"
    );
}

#[test]
fn what_a_subagent_does_is_told_while_it_works() {
    let kind = json!({"agents": {"worker": {"description": "Works.", "prompt": "You are the worker."}}});
    for background in [false, true] {
        let play = Play::new(
            move |asked, _| match (asked.system().contains("You are the worker."), asked.all().contains("from-sub")) {
                (true, false) => Answer::steps(vec![
                    Step::Text("Looking.".into()),
                    Step::Call(
                        "sub_0".into(),
                        "Bash".into(),
                        json!({"command": "echo from-sub", "description": "Sub echo"}).to_string(),
                    ),
                ]),
                (true, true) => Answer::text("Found."),
                _ if asked.all().contains("worker") => Answer::text("Over."),
                _ => Answer::calls(&[(
                    "Agent",
                    json!({"description": "look", "prompt": "Look.", "subagent_type": "worker", "run_in_background": background}),
                )]),
            },
        );
        let mut host = play.host("claude", BASH);
        host.say(&hello(&[], &kind)).say(&user("go"));
        serve(&mut host, if background { 2 } else { 1 }, |_| json!({}));
        let end = closed(host);
        let told = of(&end, "task_progress");
        assert_eq!(told.len(), 1, "{end:#?}");
        assert_eq!(
            (&told[0]["last_tool_name"], &told[0]["usage"]["tool_uses"], &told[0]["description"]),
            (&json!("Bash"), &json!(1), &json!("Running Sub echo"))
        );
        assert_eq!(of(&end, "task_started")[0]["spawn_depth"], 1);
        // Of one in the background the words are told too.
        let words = end
            .lines
            .iter()
            .any(|line| line["parent_tool_use_id"].is_string() && line["message"]["content"][0]["text"] == "Looking.");
        assert_eq!(words, background, "{end:#?}");
        let main = end
            .lines
            .iter()
            .find(|line| line["type"] == "user" && line["parent_tool_use_id"].is_null())
            .unwrap();
        assert_eq!(
            main["message"]["content"][0]["content"][0]["type"], "text",
            "a subagent's result is a list: {main:#}"
        );
    }
}

#[test]
fn a_model_that_is_chosen_stands_in_the_conversation_and_ends_a_failure() {
    let play = Play::script(vec![Answer::error(400, "no")]);
    let choose = |id: &str| request(id, r#"{"subtype":"set_model","model":"other-model"}"#);
    let mut host = play.host("claude", FREE);
    host.say(&choose("early")).say(&user("go"));
    serve(&mut host, 1, |_| json!({}));
    host.say(&choose("late"));
    while !host.seen.iter().any(|line| line["response"]["request_id"] == "late") {
        host.next(std::time::Duration::from_secs(10)).expect("it is answered");
    }
    let end = closed(host);
    let said: Vec<_> = of(&end, "user");
    assert_eq!(said.len(), 1, "{end:#?}");
    assert_eq!(
        (&said[0]["isReplay"], &said[0]["message"]["content"]),
        (
            &json!(true),
            &json!("<local-command-stdout>Set model to `other-model`</local-command-stdout>")
        )
    );
    assert_eq!(end.code(), 0, "a line followed the failed result: {end:#?}");
}

#[test]
fn questions_beside_the_work_and_lists_of_hooks_are_answered() {
    let play = Play::new(|asked, _| match asked.last().contains("what is it?") {
        true if asked.tools().is_empty() => Answer::text("It is that."),
        true => Answer::text("with tools?"),
        false => Answer::text("OK"),
    });
    std::fs::create_dir_all(play.path("repo")).unwrap();
    std::fs::create_dir_all(play.path(".claude")).unwrap();
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}});
    let settings = hooks.to_string();
    let mut host = play.host("claude", &[FREE, &["--settings", &settings]].concat());
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("remember: blue"));
    serve(&mut host, 1, |_| json!({}));
    for (id, asked) in [
        ("side", json!({"subtype": "side_question", "question": "what is it?"})),
        ("none", json!({"subtype": "side_question"})),
        ("hooks", json!({"subtype": "get_hooks_listing"})),
        ("repo", json!({"subtype": "register_repo_root", "directory": play.at("repo")})),
        ("here", json!({"subtype": "register_repo_root", "directory": "."})),
        ("gone", json!({"subtype": "register_repo_root"})),
        ("out", json!({"subtype": "register_repo_root", "directory": "/usr"})),
        ("back", json!({"subtype": "background_tasks", "tool_use_id": "x"})),
        ("mode", json!({"subtype": "set_permission_mode", "mode": "manual"})),
    ] {
        host.say(&request(id, &asked.to_string()));
    }
    while !["side", "none", "mode"]
        .iter()
        .all(|id| host.seen.iter().any(|line| line["response"]["request_id"] == *id))
    {
        host.next(std::time::Duration::from_secs(10)).expect("all are answered");
    }
    let end = closed(host);
    assert_eq!(
        answer(&end, "side")["response"],
        json!({"response": "It is that.", "synthetic": false}),
        "{end:#?}"
    );
    assert_eq!(answer(&end, "none")["response"]["synthetic"], true);
    assert_eq!(of(&end, "control_request_progress")[0]["request_id"], "side");
    let asked = play.server.asked();
    let side = asked.iter().find(|asked| asked.last().contains("what is it?")).unwrap();
    assert!(side.all().contains("remember: blue"), "{}", side.all());
    let listed = &answer(&end, "hooks")["response"];
    assert_eq!(
        (&listed["events"][0]["name"], &listed["events"][0]["hookCount"]),
        (&json!("PreToolUse"), &json!(1)),
        "{listed:#}"
    );
    assert_eq!(
        (&listed["hooks"][0]["commandText"], &listed["hooks"][0]["matcher"]),
        (&json!("true"), &json!("Bash"))
    );
    assert!(listed["eventCatalog"].as_array().unwrap().len() > 10);
    assert!(answer(&end, "repo")["response"]["directory"].as_str().unwrap().ends_with("/repo"));
    for refused in ["here", "gone", "out"] {
        assert!(
            answer(&end, refused)["error"].as_str().unwrap().starts_with("register_repo_root: "),
            "{refused}"
        );
    }
    assert_eq!(answer(&end, "back")["response"], json!({"backgrounded": false}));
    assert_eq!(answer(&end, "mode")["response"], json!({"mode": "default"}));
}

#[test]
fn prompts_that_are_said_back_have_the_form_in_which_they_came() {
    let play = Play::script(vec![Answer::text("OK"), Answer::text("OK")]);
    let mut host = play.host("claude", &[FREE, &["--replay-user-messages"]].concat());
    let blocks = json!([{"type": "text", "text": "two"}]);
    host.say(&user("one"));
    serve(&mut host, 1, |_| json!({}));
    host.say(&json!({"type": "user", "message": {"role": "user", "content": blocks}}).to_string());
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let said: Vec<_> = of(&end, "user").iter().map(|line| line["message"]["content"].clone()).collect();
    assert_eq!(said, [json!("one"), blocks], "{end:#?}");
}

#[test]
fn commands_are_named_by_their_outcome_and_fail_in_words() {
    let play = Play::script(Vec::new());
    let mut host = play.host("claude", FREE);
    host.say(&user("/cost")).say(&user("/compact"));
    let results = serve(&mut host, 2, |_| json!({}));
    let end = closed(host);
    assert_eq!(results[0]["local_command"], "cost", "{end:#?}");
    assert_eq!(
        (&results[1]["local_command"], &results[1]["is_error"], &results[1]["result"]),
        (&json!("compact"), &json!(false), &json!(""))
    );
    let said = of(&end, "assistant").pop().unwrap()["message"]["content"][0]["text"].clone();
    assert!(said.as_str().unwrap().starts_with("Error: "), "{said}");
    assert_eq!(end.code(), 0);
}

#[test]
fn a_tool_that_is_not_there_is_called_an_error_once() {
    let play = Play::script(vec![Answer::calls(&[("NoSuchTool", json!({})), bash("echo ok")]), Answer::text("OK")]);
    let mut host = play.host("claude", FREE);
    host.say(&user("go"));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let results = of(&end, "user");
    assert_eq!(results[0]["tool_use_result"], "Error: No such tool available: NoSuchTool", "{end:#?}");
    assert_eq!(results[1]["message"]["content"][0]["is_error"], false);
}
