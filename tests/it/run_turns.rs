//! Programs that live for one turn, Cursor's and Tricode's, behind hosts that talk for as long as they like: they are started once a
//! turn and go on with the session of the turn before.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Scratch, golden};
use crate::support::stage::{CLAUDE, Host, INIT, QWEN, request, result, text, user};
use crate::support::turns::{ID, begins, replay, replay_file, said, session, stage, starts, turn, typed};
use crate::support::within;

const PAIRS: [(&str, &[&str], &str); 4] = [
    ("claude", CLAUDE, "cursor"),
    ("claude", CLAUDE, "tricode"),
    ("qwen-code", QWEN, "cursor"),
    ("qwen-code", QWEN, "tricode"),
];

#[test]
fn prompts_that_wait_are_turns_one_after_the_other_in_one_session() {
    within(60, async {
        for (dialect, args, backend) in PAIRS {
            let stage = stage(&[
                turn(backend, "one", "first", false),
                turn(backend, "two", "second", true),
                turn(backend, "three", "third", true),
            ]);
            let mut host = stage.host(dialect, backend, &[], args);
            host.say(&user("one")).say(&user("two")).say(&user("three"));
            host.close();
            let end = host.end();
            assert_eq!(said(&end.results()), ["first", "second", "third"], "{dialect} {backend}: {end:#?}");
            assert!(end.results().iter().all(|result| result["is_error"] == false), "{end:#?}");
            let sessions: Vec<&str> = end.results().iter().filter_map(|result| result["session_id"].as_str()).collect();
            assert!(sessions.len() == 3 && sessions.iter().all(|id| *id == sessions[0]), "{sessions:?}");
            assert_eq!(end.code(), 0, "{dialect} {backend}: {end:#?}");
            let starts = starts(&stage);
            let resumes = format!("--resume={}", session(backend));
            let resumed: Vec<bool> = starts.iter().map(|args| args.contains(&resumes)).collect();
            assert_eq!(resumed, [false, true, true], "{dialect} {backend}: {starts:?}");
            if backend == "tricode" {
                let prompts: Vec<&String> = starts.iter().filter_map(|args| args.last()).collect();
                assert_eq!(prompts, ["one", "two", "three"]);
            } else {
                assert_eq!(
                    typed(&stage).split_whitespace().collect::<String>(),
                    "onetwothree",
                    "a prompt a start on stdin"
                );
            }
            assert_eq!(stage.living(), [0; 0]);
        }
    });
}

#[test]
fn a_session_of_another_day_is_gone_on_with() {
    within(60, async {
        for backend in ["cursor", "tricode"] {
            let stage = stage(&[turn(backend, "on", "further", true)]);
            let resume = format!("--resume={}", session(backend));
            let args = [CLAUDE, &[resume.as_str()]].concat();
            let mut host = stage.host("claude", backend, &[], &args);
            host.say(&user("on")).close();
            let end = host.end();
            assert_eq!(end.result()["result"], "further", "{end:#?}");
            assert!(starts(&stage)[0].contains(&resume), "{:?}", starts(&stage));
        }
    });
}

#[test]
fn a_turn_that_is_interrupted_ends_and_the_next_one_goes_on() {
    within(60, async {
        for (dialect, args, backend) in PAIRS {
            let hangs = [begins(backend, "one", false), vec!["ignore TERM".to_owned(), "hang".to_owned()]].concat();
            let stage = stage(&[hangs, turn(backend, "two", "second", true)]);
            let mut host = stage.host(dialect, backend, &[], args);
            host.say(&user("one"));
            host.until("system");
            let since = Instant::now();
            host.say(&request("r1", "{\"subtype\":\"interrupt\"}"));
            let answer = host.until("control_response");
            assert_eq!(answer["response"]["subtype"], "success", "{answer}");
            let first = host.until("result");
            assert_eq!(first["is_error"], true, "{dialect} {backend}: {first}");
            assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
            host.say(&user("two"));
            let second = host.until("result");
            assert_eq!(second["result"], "second", "{dialect} {backend}: {second}");
            host.close();
            assert_eq!(host.end().code(), 0);
            let resumes = format!("--resume={}", session(backend));
            assert!(starts(&stage)[1].contains(&resumes), "{:?}", starts(&stage));
            assert_eq!(stage.living(), [0; 0], "{dialect} {backend}");
        }
    });
}

#[test]
fn a_turn_that_fails_leaves_the_session_alive() {
    within(60, async {
        for (dialect, args, backend) in PAIRS {
            let dies = |words: &str| [begins(backend, "one", false), vec![format!("warn {words}"), "exit 1".to_owned()]].concat();
            let stage = stage(&[
                dies("RetriableError: no luck"),
                turn(backend, "two", "second", true),
                vec!["die KILL".to_owned()],
            ]);
            let mut host = stage.host(dialect, backend, &[], args);
            host.say(&user("one"));
            let first = host.until("result");
            assert_eq!(first["is_error"], true, "{dialect} {backend}: {first}");
            assert!(first.to_string().contains("no luck"), "{dialect} {backend}: {first}");
            host.say(&user("two"));
            assert_eq!(host.until("result")["result"], "second", "{dialect} {backend}");
            host.say(&user("three"));
            assert_eq!(
                host.until("result")["is_error"],
                true,
                "{dialect} {backend}: killed before its first line"
            );
            host.close();
            assert_eq!(host.end().results().len(), 3, "{dialect} {backend}");
        }
    });
}

#[test]
fn another_model_and_mode_hold_from_the_next_turn_on() {
    within(60, async {
        for backend in ["cursor", "tricode"] {
            let stage = stage(&[turn(backend, "one", "first", false), turn(backend, "two", "second", true)]);
            let mut host = stage.host("claude", backend, &[], CLAUDE);
            host.say(&user("one"));
            host.until("result");
            host.say(&request("m", "{\"subtype\":\"set_model\",\"model\":\"other\"}"));
            assert_eq!(host.until("control_response")["response"]["subtype"], "success");
            host.say(&request("p", "{\"subtype\":\"set_permission_mode\",\"mode\":\"bypassPermissions\"}"));
            assert_eq!(host.until("control_response")["response"]["subtype"], "success");
            host.say(&user("two")).close();
            let end = host.end();
            assert_eq!(end.results().len(), 2, "{end:#?}");
            let (before, after) = (&starts(&stage)[0], &starts(&stage)[1]);
            let (free, model) = if backend == "cursor" {
                ("--force", true)
            } else {
                ("--bypass-permission", false)
            };
            assert!(
                !before.contains(&free.to_owned()) && after.contains(&free.to_owned()),
                "{before:?} {after:?}"
            );
            assert_eq!(after.contains(&"--model=other".to_owned()), model, "{after:?}");
        }
    });
}

/// A chat that was made before anything was said in it is unknown to the agent until its first prompt.
#[test]
fn a_chat_that_was_created_empty_begins_with_its_first_prompt() {
    within(60, async {
        let made = Command::new(env!("CARGO_BIN_EXE_agentglot"))
            .args(["run", "--as", "cursor", "--backend", "demo", "--", "create-chat"])
            .output()
            .unwrap();
        let id = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        for (backend, words) in [
            ("qwen", "No saved session found with ID"),
            ("claude", "No conversation found with session ID:"),
        ] {
            for (resumed, code) in [(id.as_str(), 0), (ID, 1)] {
                let unknown = vec![format!("warn {words} {resumed}"), "exit 1".to_owned()];
                let begins = vec![
                    "control answer".to_owned(),
                    "read".to_owned(),
                    format!("say {}", INIT.replace("11111111-2222-4333-8444-555555555555", resumed)),
                    format!("say {}", text("hello")),
                    format!("say {}", result("hello")),
                ];
                let stage = stage(&[unknown, begins]);
                let resume = format!("--resume={resumed}");
                let args = ["--trust", "-p", "--output-format", "stream-json", &resume, "hi"];
                let mut host = stage.host("cursor", backend, &[], &args);
                host.close();
                let end = host.end();
                assert_eq!(end.code(), code, "{backend} {resumed}: {end:#?}");
                if code == 0 {
                    assert_eq!(end.result()["result"], "hello", "{end:#?}");
                    assert!(starts(&stage)[1].contains(&format!("--session-id={resumed}")), "{:?}", starts(&stage));
                    assert!(typed(&stage).contains("\"hi\""), "{}", typed(&stage));
                } else {
                    assert_eq!(starts(&stage).len(), 1, "a session that was lost is none that begins");
                    assert!(end.stderr.contains("not found"), "{end:#?}");
                }
            }
        }
    });
}

/// A log that breaks off in its last turn.
#[test]
fn a_log_that_breaks_off_ends_its_turn() {
    within(60, async {
        for log in ["cursor/killed_in_tool.jsonl", "tricode/bad_arguments.jsonl"] {
            let mut host = Host::new(replay("claude", log, &[], CLAUDE));
            host.say(&user("go"));
            let ended = host.until("result");
            assert!(
                ended["is_error"] == true && ended.to_string().contains("the log ends before the turn does"),
                "{log}: {ended}"
            );
            host.close();
            host.end();
        }
    });
}

/// The session has another id now, and so have questions whose ids are made of it.
#[test]
fn a_question_whose_id_is_made_of_the_session_s_is_answered() {
    let log = std::fs::read_to_string(golden("claude/sdk_can_use_tool_deny.out.jsonl")).unwrap();
    let lines = || log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let session = lines().find_map(|line| line["session_id"].as_str().map(str::to_owned)).unwrap();
    let question = lines().find(|line| line["type"] == "control_request").unwrap();
    let id = question["request_id"].as_str().unwrap();
    let scratch = Scratch::new();
    let file = scratch.file("log.jsonl", log.replace(id, &format!("{session}-1")));
    within(60, async {
        let settings = ["--on-ask", "deny", "--silence-timeout", "20"];
        let mut host = Host::new(replay_file(
            "cursor",
            file.to_str().unwrap(),
            &settings,
            &["-p", "--output-format", "stream-json", "go"],
        ));
        host.close();
        let end = host.end();
        assert_eq!((end.code(), &end.lines.last().unwrap()["type"]), (0, &Value::from("result")), "{end:#?}");
    });
}
