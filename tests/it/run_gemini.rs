//! Standing in for `gemini -p`: recordings that answer, the built-in agent under its tools, and what it does with command lines.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::golden;
use crate::support::model::{Answer, Step};
use crate::support::play::Play;
use crate::support::stage::Host;
use crate::support::{lines, stderr, stdout, turns, wait};

/// A run whose lines are read, with permission for everything. The prompt goes behind it.
const STREAM: &[&str] = &["-y", "-m", "gpt-4o", "-o", "stream-json", "-p"];

/// A run of a recording.
fn replay(log: &str, args: &[&str]) -> Output {
    let mut command = turns::replay("gemini", &format!("gemini/{log}"), &[], args);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Without what is another in each run.
fn timeless(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        for name in ["timestamp", "session_id"] {
            line.as_object_mut().unwrap().remove(name);
        }
    }
    lines
}

fn output(play: &Play, args: &[&str]) -> Output {
    let mut command = play.command("gemini", args);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Recorded sessions are said again line by line, and end with the codes that the program had.
#[test]
fn recordings_are_told_again_and_end_with_their_codes() {
    for (log, code) in [
        ("edit.out.jsonl", 0),
        ("toolerr.out.jsonl", 0),
        ("todo.out.jsonl", 0),
        ("agent.out.jsonl", 0),
        ("unicode.out.jsonl", 0),
        ("deny_default.out.jsonl", 0),
        ("e400.out.jsonl", 144),
        ("midstream.out.jsonl", 1),
        ("turn_limit.jsonl", 53),
    ] {
        let wanted = timeless(lines(&std::fs::read(golden("gemini").join(log)).unwrap()));
        let prompt = wanted
            .iter()
            .find(|line| line["role"] == "user")
            .map_or("go", |line| line["content"].as_str().unwrap());
        let said = replay(log, &["-o", "stream-json", "-p", prompt]);
        assert_eq!(timeless(lines(&said.stdout)), wanted, "{log}: {}", stderr(&said));
        assert_eq!(said.status.code(), Some(code), "{log}");
    }
}

/// The three formats of one run: what the program printed for such a run is text behind text, each round on lines of its own, and the
/// object of the last round.
#[test]
fn text_and_json_are_the_program_s() {
    let play = || {
        let list = ("list_directory", json!({"dir_path": "."}));
        Play::script(vec![
            Answer::steps(vec![
                Step::Text("First a look.\n".into()),
                Step::Call("c1".into(), "list_directory".into(), json!({"dir_path": "."}).to_string()),
            ]),
            Answer::steps(vec![
                Step::Text("Second.".into()),
                Step::Call("c2".into(), list.0.into(), list.1.to_string()),
            ]),
            Answer::calls(&[("read_file", json!({"file_path": "nope"}))]),
            Answer::steps(vec![Step::Text("Third\n\nend.".into()), Step::Used(118, 20)]),
        ])
    };
    let said = output(&play(), &["-y", "-m", "gpt-4o", "-p", "go"]);
    assert_eq!(stdout(&said), "First a look.\nSecond.\nThird\n\nend.\n", "{}", stderr(&said));
    let said = output(&play(), &["-y", "-m", "gpt-4o", "-o", "json", "-p", "go"]);
    let text = stdout(&said);
    assert!(text.starts_with("{\n  \"session_id\": \"") && text.ends_with("  }\n}"), "{text}");
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["response"], "Third\n\nend.");
    let model = &object["stats"]["models"]["gpt-4o"];
    assert_eq!(model["api"]["totalRequests"], 4, "{text}");
    assert_eq!(model["roles"]["main"]["tokens"], model["tokens"]);
    let tools = &object["stats"]["tools"];
    assert_eq!(
        (&tools["totalCalls"], &tools["totalSuccess"], &tools["totalFail"]),
        (&json!(3), &json!(2), &json!(1))
    );
    assert_eq!(tools["byName"]["list_directory"]["success"], 2);
    // The members that the program's object has, and no others.
    let recorded: Value = serde_json::from_slice(&std::fs::read(golden("gemini/json.out.json")).unwrap()).unwrap();
    let names = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let known = &recorded["stats"]["models"]["gemini-2.5-pro"];
    assert_eq!(names(model), names(known));
    assert_eq!(names(&model["tokens"]), names(&known["tokens"]));
    assert_eq!(names(tools), names(&recorded["stats"]["tools"]));
    assert_eq!(object["stats"]["files"], recorded["stats"]["files"]);
}

#[test]
fn calls_have_its_names_arguments_and_results() {
    let play = Play::script(vec![
        Answer::calls(&[("read_file", json!({"file_path": "hello.txt"}))]),
        Answer::calls(&[(
            "replace",
            json!({"file_path": "hello.txt", "old_string": "hello", "new_string": "goodbye", "instruction": "swap"}),
        )]),
        Answer::calls(&[("run_shell_command", json!({"command": "echo out; echo err >&2; exit 3"}))]),
        Answer::calls(&[("read_file", json!({"file_path": "nope.txt"})), ("nosuch", json!({}))]),
        Answer::calls(&[("write_todos", json!({"todos": [{"description": "a", "status": "pending"}]}))]),
        Answer::text("Done."),
    ]);
    std::fs::write(play.path("hello.txt"), "hello\n").unwrap();
    let end = play.one("gemini", STREAM, "go");
    assert_eq!(end.code(), 0, "{end:#?}");
    assert_eq!(
        (end.types()[..2].to_vec(), *end.types().last().unwrap()),
        (vec!["init", "message"], "result")
    );
    assert_eq!(play.read("hello.txt"), "goodbye\n");
    let results: Vec<&Value> = end.lines.iter().filter(|line| line["type"] == "tool_result").collect();
    let shown: Vec<(&Value, &Value, &Value)> = results
        .iter()
        .map(|line| (&line["status"], &line["output"], &line["error"]["type"]))
        .collect();
    let (fine, failed, none) = (json!("success"), json!("error"), Value::Null);
    assert_eq!(
        shown,
        [
            (&fine, &json!(""), &none),
            (&fine, &none, &none),
            (&fine, &json!("out\nerr"), &none),
            (&failed, &json!("File not found."), &json!("file_not_found")),
            (&failed, &json!("Tool \"nosuch\" not found."), &json!("tool_not_registered")),
            (&fine, &none, &none),
        ],
        "{end:#?}"
    );
    // The model reads more than people see.
    let told = play.server.asked()[3].last();
    assert!(
        told.contains(r"<untrusted_context>\nOutput: out\nerr\nExit Code: 3\nProcess Group PGID: "),
        "{told}"
    );
    let offered = play.server.asked()[0].tools();
    for name in [
        "read_file",
        "replace",
        "write_file",
        "glob",
        "grep_search",
        "list_directory",
        "run_shell_command",
        "write_todos",
        "invoke_agent",
    ] {
        assert!(offered.iter().any(|tool| tool == name), "{name}: {offered:?}");
    }
}

#[test]
fn what_would_be_asked_about_is_not_offered() {
    for (args, shell, write) in [
        (&["--approval-mode", "default"][..], false, false),
        (&["--approval-mode", "auto_edit"], false, true),
        (&["--approval-mode=yolo"], true, true),
        (&["--allowed-tools", "run_shell_command"], true, false),
    ] {
        let play = Play::new(|_, _| Answer::text("ok"));
        let said = output(&play, &[args, &["-m", "gpt-4o", "-p", "go"]].concat());
        assert_eq!(said.status.code(), Some(0), "{args:?}: {}", stderr(&said));
        let offered = play.server.asked()[0].tools();
        let has = |name: &str| offered.iter().any(|tool| tool == name);
        assert_eq!((has("run_shell_command"), has("write_file")), (shell, write), "{args:?}: {offered:?}");
        assert!(has("read_file"));
    }
    // To edit files is not to run commands, where some are allowed too.
    let play = Play::script(vec![
        Answer::calls(&[("run_shell_command", json!({"command": "touch ran"}))]),
        Answer::text("ok"),
    ]);
    let allowed = ["--approval-mode", "auto_edit", "--allowed-tools", "run_shell_command(git)"];
    let said = output(&play, &[&allowed[..], &["-m", "gpt-4o", "-p", "go"]].concat());
    assert_eq!(said.status.code(), Some(0), "{}", stderr(&said));
    assert!(!play.path("ran").exists());
}

#[test]
fn prompts_come_by_flag_by_word_by_pipe_and_by_both() {
    for (args, piped, wanted) in [
        (&["-p", "one"][..], "", "one"),
        (&["one", "two"], "", "one two"),
        (&[], "piped", "piped"),
        (&["-p", "asked"], "piped", "piped\n\nasked"),
    ] {
        let play = Play::new(|_, _| Answer::text("ok"));
        let mut command = play.command("gemini", &[&["-m", "gpt-4o", "-o", "stream-json"], args].concat());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(piped.as_bytes()).unwrap();
        let said = child.wait_with_output().unwrap();
        assert_eq!(lines(&said.stdout)[1]["content"], wanted, "{args:?}: {}", stderr(&said));
    }
    // A standard input that somebody holds open and never writes to is not waited for.
    let play = Play::new(|_, _| Answer::text("ok"));
    let host = Host::new(play.command("gemini", &["-m", "gpt-4o", "-o", "stream-json", "-p", "one"]));
    let began = Instant::now();
    let end = host.end();
    assert_eq!(end.code(), 0, "{end:#?}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn wrong_command_lines_are_refused_in_its_words() {
    let play = Play::new(|_, _| Answer::text("never asked"));
    let id = "11111111-2222-4333-8444-555555555555";
    for (args, code, words) in [
        (&["-o", "stream-json"][..], 42, "No input provided via stdin."),
        (&["-p", ""], 42, "No input provided via stdin."),
        (
            &["--flag-of-nobody", "-p", "x"],
            1,
            "Unknown arguments: flag-of-nobody, flagOfNobody\nUsage: gemini [options] [command]",
        ),
        (
            &["-o", "xml", "-p", "x"],
            1,
            "Argument: output-format, Given: \"xml\", Choices: \"text\", \"json\", \"stream-json\"",
        ),
        (
            &["-p", "a", "b"],
            1,
            "Cannot use both a positional prompt and the --prompt (-p) flag together",
        ),
        (
            &["-y", "--approval-mode", "plan", "-p", "x"],
            1,
            "Cannot use both --yolo (-y) and --approval-mode together.",
        ),
        (&["-r", "latest", "--session-id", id, "-p", "x"], 1, "are mutually exclusive"),
        (
            &["-r", id, "-p", "x"],
            42,
            "Error resuming session: Invalid session identifier \"11111111-",
        ),
        (&["-r", "7", "-p", "x"], 42, "Error resuming session: Invalid session identifier \"7\"."),
        (&["-i", "x"], 42, "cannot be used when input is piped"),
    ] {
        let said = output(&play, args);
        assert_eq!((said.status.code(), said.stdout.len()), (Some(code), 0), "{args:?}: {}", stderr(&said));
        assert!(stderr(&said).contains(words), "{args:?}: {}", stderr(&said));
    }
    assert!(play.server.asked().is_empty());
    assert_eq!(stdout(&output(&play, &["--version"])), "0.61.0\n");
    let help = stdout(&output(&play, &["--help"]));
    assert!(help.contains("--approval-mode") && help.contains("--session-id"), "{help}");
    assert_eq!(
        stdout(&output(&play, &["--list-sessions"])),
        "No previous sessions found for this project."
    );
}

#[test]
fn a_failure_is_told_where_the_program_tells_it() {
    for (status, code) in [(400, 144), (401, 145), (429, 173), (500, 244)] {
        let play = || Play::script(vec![Answer::error(status, "that was wrong")]);
        let end = play().one("gemini", STREAM, "go");
        let last = end.lines.last().unwrap();
        assert_eq!((end.code(), &last["status"]), (code, &json!("error")), "{end:#?}");
        let why = last["error"]["message"].as_str().unwrap();
        assert!(why.contains(&format!("\"code\":{status},\"message\":\"that was wrong\"")), "{why}");
        assert_eq!(end.types().iter().filter(|kind| **kind == "result").count(), 1);
        let said = output(&play(), &["-m", "gpt-4o", "-o", "json", "-p", "go"]);
        assert_eq!((said.status.code(), stdout(&said).as_str()), (Some(code), ""));
        let told = stderr(&said);
        let object: Value = serde_json::from_str(&told[told.find('{').unwrap()..]).unwrap();
        assert_eq!(
            (&object["error"]["type"], &object["error"]["code"]),
            (&json!("Error"), &json!(status)),
            "{told}"
        );
        let said = output(&play(), &["-m", "gpt-4o", "-p", "go"]);
        assert_eq!((said.status.code(), stdout(&said).as_str()), (Some(1), ""));
        assert!(stderr(&said).contains("that was wrong"));
    }
    let broken = Play::script(vec![Answer::steps(vec![Step::Text("half".into()), Step::Cut])]).one("gemini", STREAM, "go");
    assert_eq!(
        (broken.code(), &broken.lines.last().unwrap()["status"]),
        (1, &json!("error")),
        "{broken:#?}"
    );
}

#[test]
fn the_limit_of_turns_is_that_of_its_settings() {
    let play = Play::new(|_, _| Answer::calls(&[("list_directory", json!({"dir_path": "."}))]));
    let folder = play.base().join("home/.gemini");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), json!({"model": {"maxSessionTurns": 2}}).to_string()).unwrap();
    let end = play.one("gemini", STREAM, "go");
    let last = end.lines.last().unwrap();
    assert_eq!((end.code(), &last["error"]["type"]), (53, &json!("FatalTurnLimitedError")), "{end:#?}");
    assert_eq!(play.server.asked().len(), 2);
}

#[test]
fn sessions_go_on_by_id_by_number_and_the_latest() {
    let play = Play::new(|_, number| Answer::text(&format!("answer-{number}")));
    let id = "11111111-2222-4333-8444-555555555555";
    let base = ["-m", "gpt-4o", "-o", "stream-json"];
    let run = |more: &[&str]| play.one("gemini", &[&base, more, &["-p"]].concat(), "prompt");
    let first = run(&["--session-id", id]);
    assert_eq!(first.lines[0]["session_id"], id, "{first:#?}");
    let other = run(&[]);
    assert_ne!(other.lines[0]["session_id"], id);
    for (which, wanted) in [(&["-r", id][..], id), (&["--resume=1"], id), (&["-r", "latest"], id), (&["--resume"], id)] {
        let end = run(which);
        assert_eq!(end.lines[0]["session_id"], wanted, "{which:?}: {end:#?}");
        assert!(play.server.asked().pop().unwrap().all().contains("answer-0"), "{which:?}");
    }
    let again = output(&play, &["--session-id", id, "-p", "x"]);
    assert_eq!(again.status.code(), Some(42));
    assert!(
        stderr(&again).contains(&format!("Session ID \"{id}\" already exists.")),
        "{}",
        stderr(&again)
    );
    let listed = stdout(&output(&play, &["--list-sessions"]));
    assert!(
        listed.starts_with(&format!("\nAvailable sessions for this project (2):\n  1. [{id}]\n  2. [")),
        "{listed}"
    );
}

#[test]
fn a_signal_ends_the_turn_and_what_it_runs() {
    for (signal, code) in [(Signal::INT, 0), (Signal::TERM, 143)] {
        let play = Play::script(vec![
            Answer::calls(&[("run_shell_command", json!({"command": "touch began; sleep 61; touch late"}))]),
            Answer::text("late"),
        ]);
        let host = Host::new(play.command("gemini", &[STREAM, &["go"]].concat()));
        wait("the command begins", Duration::from_secs(20), || play.path("began").exists());
        let process = host.process.id();
        host.signal(signal);
        let end = host.end();
        // As the program: no result, and the call stays open.
        assert_eq!((end.code(), end.types().last()), (code, Some(&"tool_use")), "{end:#?}");
        play.nothing_is_left(Some(process));
    }
}

/// What was said by then stays, and is said once.
#[test]
fn text_that_a_signal_breaks_off_was_written_already() {
    let play = Play::script(vec![Answer::steps(vec![Step::Text("half a sentence".into()), Step::Pause(60_000)])]);
    let mut command = play.command("gemini", &["-m", "gpt-4o", "-p", "go"]);
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let mut heard = [0; 15];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut heard).unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    let said = child.wait_with_output().unwrap();
    assert_eq!((&heard, said.stdout.as_slice()), (b"half a sentence", &b"\n"[..]));
    assert_eq!(said.status.code(), Some(130));
}

#[test]
fn other_agents_logs_answer_in_its_lines() {
    let claude = format!("{}/golden/claude/cli_edit.out.jsonl", env!("CARGO_MANIFEST_DIR"));
    let backend = format!("replay:{claude}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.args(["run", "--as", "gemini", "--backend", &backend, "--", "-o", "stream-json", "-p", "go"]);
    let said = command.stdin(Stdio::null()).output().unwrap();
    let all = lines(&said.stdout);
    let kinds: Vec<&str> = all.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        (kinds[0], kinds[1], *kinds.last().unwrap()),
        ("init", "message", "result"),
        "{}",
        stderr(&said)
    );
    assert_eq!(all[1]["content"], "go");
    assert!(all.iter().any(|line| line["tool_name"] == "replace"), "{all:#?}");
    assert_eq!(said.status.code(), Some(0));
}
