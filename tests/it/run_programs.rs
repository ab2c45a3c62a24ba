//! Codex, Gemini CLI and OpenCode behind a host that talks for as long as it likes: a program is started for each turn, and answers with
//! what the real one was recorded to say.

use std::process::Command;

use serde_json::Value;

use crate::common::{Scratch, golden};
use crate::support::stage::{CLAUDE, Stage, request, user};
use crate::support::turns::{prompts, said, stage, starts};
use crate::support::within;

/// A program, recordings of two turns, their answers, and how it is told to go on with the session of the first.
struct Known {
    backend: &'static str,
    logs: [&'static str; 2],
    answers: [&'static str; 2],
    begins: &'static [&'static str],
    resumes: &'static [&'static str],
}

const ID: &str = "11111111-2222-4333-8444-555555555555";

const PROGRAMS: [Known; 3] = [
    Known {
        backend: "codex",
        logs: ["codex/resume_1.out.jsonl", "codex/resume_2.out.jsonl"],
        answers: ["Hello from the scripted model.", "Second answer."],
        begins: &["exec", "--json"],
        resumes: &["resume", "01a1fcec-3a5d-7473-bd94-6e349025bd4c"],
    },
    Known {
        backend: "gemini",
        logs: ["gemini/todo.out.jsonl", "gemini/todo.out.jsonl"],
        answers: ["Listed.", "Listed."],
        begins: &["--output-format=stream-json"],
        resumes: &["--resume=f65fa382-5970-4de8-8973-7c6b56202254"],
    },
    Known {
        backend: "opencode",
        logs: ["opencode/bash.out.jsonl", "opencode/bash.out.jsonl"],
        answers: ["It failed with 3.", "It failed with 3."],
        begins: &["run", "--format=json"],
        resumes: &["--session=ses_e0313953bffeAJ4FRFR3nSyCDX"],
    },
];

/// A program that does one of these parts with each start of a turn. Newer versions are spoken to in requests, of which this one knows none.
fn stage_for(parts: &[Vec<String>]) -> Stage {
    let older = vec!["warn error: unrecognized subcommand".to_owned(), "exit 2".to_owned()];
    stage(&[&[older], parts].concat())
}

/// The arguments of each turn.
fn turns(stage: &Stage) -> Vec<Vec<String>> {
    let starts = starts(stage);
    let first = starts[0][0].as_str();
    assert!(["app-server", "--acp", "acp"].contains(&first), "{starts:?}");
    starts[1..].to_vec()
}

fn plays(log: &str) -> Vec<String> {
    vec!["read all".to_owned(), format!("file 0 {}", golden(log).display())]
}

/// The first lines of a log: its program dies there.
fn begins(log: &str, lines: usize, end: &str) -> Vec<String> {
    let text = std::fs::read_to_string(golden(log)).unwrap();
    let said = text.lines().take(lines).map(|line| format!("say {line}"));
    [vec!["read all".to_owned()], said.collect(), vec![end.to_owned()]].concat()
}

fn contains(args: &[String], words: &[&str]) -> bool {
    args.windows(words.len()).any(|part| part == words)
}

#[test]
fn prompts_are_turns_of_one_session() {
    within(60, async {
        for known in &PROGRAMS {
            let stage = stage_for(&known.logs.map(plays));
            let mut host = stage.host("claude", known.backend, &[], CLAUDE);
            host.say(&user("one")).say(&user("two")).close();
            let end = host.end();
            assert_eq!(said(&end.results()), known.answers, "{}: {end:#?}", known.backend);
            assert!(end.results().iter().all(|result| result["is_error"] == false), "{end:#?}");
            assert_eq!(end.code(), 0, "{end:#?}");
            let starts = turns(&stage);
            assert_eq!(starts.len(), 2, "{starts:?}");
            assert!(starts.iter().all(|args| contains(args, known.begins)), "{starts:?}");
            let resumed: Vec<bool> = starts.iter().map(|args| contains(args, known.resumes)).collect();
            assert_eq!(resumed, [false, true], "{}: {starts:?}", known.backend);
            assert_eq!(prompts(&stage), "onetwo", "{}", known.backend);
            assert_eq!(stage.living(), [0; 0]);
        }
    });
}

/// OpenCode says nothing of the end of a turn; the others do, and their end without a word is a failure.
#[test]
fn a_program_that_dies_in_its_turn_leaves_one_failure_and_the_session() {
    within(60, async {
        for known in &PROGRAMS {
            for end in ["exit 0", "die KILL"] {
                let stage = stage_for(&[begins(known.logs[0], 2, end), plays(known.logs[1])]);
                let mut host = stage.host("claude", known.backend, &[], CLAUDE);
                host.say(&user("one"));
                let first = host.until("result");
                assert_eq!(first["is_error"], true, "{} {end}: {first}", known.backend);
                host.say(&user("two"));
                assert_eq!(host.until("result")["result"], known.answers[1], "{} {end}", known.backend);
                host.close();
                let all = host.end();
                assert_eq!(all.results().len(), 2, "{all:#?}");
                assert!(contains(&turns(&stage)[1], known.resumes), "{:?}", starts(&stage));
            }
        }
    });
}

#[test]
fn an_interrupt_ends_the_program_and_what_it_started() {
    within(60, async {
        for known in &PROGRAMS {
            let mut hangs = begins(known.logs[0], 2, "spawn");
            hangs.extend(["ignore TERM".to_owned(), "hang".to_owned()]);
            let stage = stage_for(&[hangs, plays(known.logs[1])]);
            let mut host = stage.host("claude", known.backend, &[], CLAUDE);
            host.say(&user("one"));
            host.until("system");
            host.say(&request("r1", "{\"subtype\":\"interrupt\"}"));
            assert_eq!(host.until("control_response")["response"]["subtype"], "success");
            let first = host.until("result");
            assert_eq!(first["is_error"], true, "{}: {first}", known.backend);
            host.say(&user("two"));
            assert_eq!(host.until("result")["result"], known.answers[1], "{}", known.backend);
            host.close();
            assert_eq!(host.end().code(), 0);
            assert_eq!(stage.living(), [0; 0], "{}", known.backend);
        }
    });
}

/// The program is stopped, and can say nothing of it: the turn's end names the limit all the same.
#[test]
fn the_limit_of_rounds_ends_the_turn_and_its_program() {
    within(60, async {
        let second_round = [
            ("codex", "codex/mcp.out.jsonl", 6),
            ("gemini", "gemini/todo.out.jsonl", 5),
            ("opencode", "opencode/bash.out.jsonl", 5),
        ];
        for (backend, log, lines) in second_round {
            let scratch = Scratch::new();
            let text = std::fs::read_to_string(golden(log)).unwrap();
            let begun: String = text.split_inclusive('\n').take(lines).collect();
            let begun = scratch.file("begun.jsonl", begun);
            let turn = vec!["read all".to_owned(), format!("file 0 {}", begun.display()), "hang".to_owned()];
            let stage = stage_for(&[turn]);
            let mut host = stage.host("claude", backend, &[], &[CLAUDE, &["--max-turns", "1"]].concat());
            host.say(&user("one")).close();
            let end = host.end();
            let subtypes: Vec<_> = end.results().iter().map(|result| result["subtype"].clone()).collect();
            assert_eq!(subtypes, ["error_max_turns"], "{backend}: {end:#?}");
            assert_eq!(end.results()[0]["session_id"], end.lines[0]["session_id"], "{backend}: {end:#?}");
            assert_eq!(stage.living(), [0; 0], "{backend}");
        }
    });
}

/// It runs everything by itself: what the host did not permit is forbidden by a variable.
#[test]
fn opencode_is_told_the_mode_of_permission_in_its_environment() {
    within(60, async {
        for (mode, rules, flag) in [("default", true, false), ("plan", true, false), ("bypassPermissions", false, true)] {
            let asks = ["read all", "env OPENCODE_PERMISSION"].map(str::to_owned).to_vec();
            let stage = stage_for(&[[asks, vec![format!("file 0 {}", golden("opencode/bash.out.jsonl").display())]].concat()]);
            let records = stage.path("records").display().to_string();
            let args = [CLAUDE, &["--permission-mode", mode]].concat();
            let mut host = stage.host("claude", "opencode", &["--record", &records], &args);
            host.say(&user("one")).close();
            let end = host.end();
            assert_eq!(end.result()["is_error"], false, "{mode}: {end:#?}");
            let files = std::fs::read_dir(&records).unwrap().map(|entry| entry.unwrap().path());
            let log = files.into_iter().find(|path| path.to_string_lossy().ends_with(".backend.jsonl")).unwrap();
            let heard = std::fs::read_to_string(log).unwrap();
            assert_eq!(heard.contains(r#""bash":"deny""#), rules, "{mode}: {heard}");
            assert_eq!(turns(&stage)[0].contains(&"--auto".to_owned()), flag, "{mode}");
        }
    });
}

#[test]
fn an_error_of_the_api_is_the_outcome() {
    within(60, async {
        for (backend, log) in [
            ("codex", "codex/e500.out.jsonl"),
            ("gemini", "gemini/e400.out.jsonl"),
            ("opencode", "opencode/e400.out.jsonl"),
        ] {
            let stage = stage_for(&[[plays(log), vec!["exit 1".to_owned()]].concat()]);
            let mut host = stage.host("claude", backend, &[], CLAUDE);
            host.say(&user("one")).close();
            let end = host.end();
            assert_eq!(end.result()["is_error"], true, "{backend}: {end:#?}");
        }
    });
}

#[test]
fn a_session_that_is_not_there_is_refused_in_the_host_s_words() {
    within(60, async {
        for (backend, words) in [
            (
                "codex",
                "Error: thread/resume: thread/resume failed: no rollout found for thread id 11111111-2222-4333-8444-555555555555 (code -32600)",
            ),
            (
                "gemini",
                "Error resuming session: Invalid session identifier \"11111111-2222-4333-8444-555555555555\".",
            ),
            ("opencode", "Error: Session not found"),
        ] {
            let refuses = vec!["read all".to_owned(), format!("warn {words}"), "exit 1".to_owned()];
            // This one goes on with a session in lines.
            let stage = if backend == "gemini" { stage(&[refuses]) } else { stage_for(&[refuses]) };
            let args = [CLAUDE, &["--resume", ID]].concat();
            let mut host = stage.host("claude", backend, &[], &args);
            host.say(&user("one")).close();
            let end = host.end();
            assert!(
                end.stderr.contains(&format!("No conversation found with session ID: {ID}")),
                "{backend}: {end:#?}"
            );
            assert_ne!(end.code(), 0, "{backend}");
        }
    });
}

/// Nobody is a dialect without a program.
#[test]
fn a_dialect_without_a_program_is_not_stood_in_for() {
    let run = Command::new(env!("CARGO_BIN_EXE_agentglot"))
        .args(["run", "--as", "atif", "--backend", "demo", "--", "hi"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("has no program that could be stood in for"), "{said}");
}

/// The doctor looks for them too.
#[test]
fn the_doctor_names_them() {
    let run = Command::new(env!("CARGO_BIN_EXE_agentglot")).args(["doctor", "--json"]).output().unwrap();
    let told: Value = serde_json::from_slice(&run.stdout).unwrap();
    for known in &PROGRAMS {
        assert!(
            told["programs"]
                .as_array()
                .unwrap()
                .iter()
                .any(|program| program["dialect"] == known.backend),
            "{told}"
        );
    }
}
