//! Hooks of the host's that say nothing, go away, or never let a turn end; and hosts that say what is none.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::claude::{BASH, bash, called, closed, hello, serve};
use crate::support::model::Answer;
use crate::support::play::Play;
use crate::support::stage::{CLAUDE, INIT, Stage, request, result, text, user};
use crate::support::turns::{stage, typed};
use crate::support::within;

fn say(line: &str) -> String {
    format!("say {line}")
}

fn makes_a_file() -> Vec<Answer> {
    vec![Answer::calls(&[bash("touch made.txt")]), Answer::text("Well then.")]
}

#[test]
fn a_guard_that_does_not_answer_lets_nothing_run() {
    let play = Play::script(makes_a_file());
    let mut host = play.host("claude", BASH);
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["guard"], "timeout": 1}]});
    host.say(&request("hello", &json!({"subtype": "initialize", "hooks": hooks}).to_string()));
    host.say(&user("go"));
    host.until_within("result", Duration::from_secs(30));
    let end = closed(host);
    assert_eq!(called(&end.lines, "PreToolUse").len(), 1, "{end:#?}");
    assert!(!play.path("made.txt").exists());
    let said = end.lines.iter().filter(|line| line["type"] == "user").map(Value::to_string);
    assert!(said.collect::<String>().contains("did not respond before its timeout"), "{end:#?}");
}

#[test]
fn a_guard_that_is_gone_lets_nothing_run() {
    let play = Play::script(makes_a_file());
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    host.until("control_request");
    let end = closed(host);
    assert_eq!(end.results().len(), 1, "{end:#?}");
    assert!(!play.path("made.txt").exists());
}

/// The program takes a hook that is an error for one that forbids nothing.
#[test]
fn a_guard_that_is_gone_is_a_denial_to_the_program_too() {
    within(60, async {
        let asks = r#"{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"guard","input":{"hook_event_name":"PreToolUse","tool_name":"Bash"},"tool_use_id":"t"}}"#;
        let script = [
            "read",
            &say(INIT),
            &say(asks),
            "answered 20000",
            &say(&text("one")),
            &say(&result("one")),
            "read all",
        ];
        let stage = stage(&[script.map(str::to_owned).to_vec()]);
        let mut host = stage.host("claude", "claude", &[], CLAUDE);
        host.say(&user("go"));
        host.until("control_request");
        host.close();
        assert_eq!(host.end().results().len(), 1);
        assert!(typed(&stage).contains(r#""permissionDecision":"deny""#), "{}", typed(&stage));
    });
}

/// Claude Code makes a prompt that comes in the middle of a turn part of that turn.
#[test]
fn a_prompt_that_became_part_of_a_turn_is_not_waited_for() {
    within(60, async {
        let stage = Stage::new(&["read", &say(INIT), "read", &say(&text("both")), &say(&result("both")), "read all"]);
        let mut host = stage.host("claude", "claude", &[], CLAUDE);
        host.say(&user("one")).say(&user("two"));
        host.until("result");
        host.close();
        let end = host.end();
        assert_eq!((end.results().len(), end.code()), (1, 0), "{end:#?}");
        assert_eq!(stage.living(), [0; 0]);
    });
}

#[test]
fn a_hook_keeps_a_turn_from_its_end_only_so_often() {
    let play = Play::new(|_, _| Answer::text("Done."));
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&["Stop"], &json!({}))).say(&user("go"));
    let active = Cell::new(0);
    let results = serve(&mut host, 1, |_| {
        active.set(active.get() + 1);
        json!({"decision": "block", "reason": "not yet"})
    });
    let end = closed(host);
    assert_eq!((results.len(), active.get()), (1, 9), "{end:#?}");
    let asked: Vec<bool> = called(&end.lines, "Stop").iter().map(|input| input["stop_hook_active"] == true).collect();
    assert_eq!(asked.iter().filter(|active| !**active).count(), 1, "{asked:?}");
}

#[test]
fn permission_for_arguments_that_are_none_is_no_permission() {
    let writes = Answer::calls(&[("Write", json!({"file_path": "made.txt", "content": "a"}))]);
    let play = Play::script(vec![writes, Answer::text("Well then.")]);
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&[], &json!({}))).say(&user("go"));
    serve(&mut host, 1, |_| json!({"behavior": "allow", "updatedInput": "x"}));
    closed(host);
    assert!(!play.path("made.txt").exists());
}

/// As Claude Code 2.1.332 does.
#[test]
fn what_a_host_says_that_is_odd_ends_no_session() {
    let play = Play::new(|_, _| Answer::text("Done."));
    let mut host = play.host("claude", CLAUDE);
    host.say(&request(
        "q",
        r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}"#,
    ));
    let same = json!({"type": "user", "uuid": "0c6a3f5e-7d0e-4d58-9b0a-9b6f6b1c2d3e", "message": {"role": "user", "content": "once"}}).to_string();
    host.say(&same).say(&same);
    host.say_bytes(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a \xff b\"}}\n");
    let end = closed(host);
    assert_eq!((end.results().len(), end.code()), (2, 0), "{end:#?}");
    let refused = end
        .lines
        .iter()
        .find(|line| line["response"]["request_id"] == "q")
        .map(|line| &line["response"]["subtype"]);
    assert_eq!(refused, Some(&json!("error")), "{end:#?}");
}
