//! Standing in for `opencode run`: recordings that answer, the built-in agent under its tools, and what it does with command lines.

use std::io::Write;
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::golden;
use crate::support::model::{Answer, Step};
use crate::support::play::Play;
use crate::support::stage::{End, Host};
use crate::support::{lines, stderr, stdout, turns, wait};

/// A run whose lines are read. The prompt goes behind it.
const STREAM: &[&str] = &["run", "-m", "openai/gpt-4o", "--format", "json"];
/// One whose text is read.
const TEXT: &[&str] = &["run", "-m", "openai/gpt-4o"];

/// A run of a recording.
fn replay(log: &str, args: &[&str]) -> Output {
    let mut command = turns::replay("opencode", log, &[], &[&["run"], args].concat());
    command.stdin(Stdio::null()).output().unwrap()
}

/// Without what is another in each run.
fn timeless(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        line.remove("timestamp");
        line.remove("sessionID");
        if let Some(part) = line.get_mut("part").and_then(Value::as_object_mut) {
            part.remove("sessionID");
            if let Some(metadata) = part.get_mut("state").and_then(|state| state["metadata"].as_object_mut()) {
                metadata.remove("parentSessionId");
            }
        }
    }
    lines
}

fn output(play: &Play, args: &[&str]) -> Output {
    let mut command = play.command("opencode", args);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Recorded sessions are said again line by line, and end with the codes that the program had.
#[test]
fn recordings_are_told_again_and_end_with_their_codes() {
    for (log, code) in [
        ("bash.out.jsonl", 0),
        ("toolerr.out.jsonl", 0),
        ("badtool.out.jsonl", 0),
        ("todo.out.jsonl", 0),
        ("agent.out.jsonl", 0),
        ("think.out.jsonl", 0),
        ("unicode.out.jsonl", 0),
        ("perm_ask.out.jsonl", 0),
        ("e400.out.jsonl", 1),
        ("refusal.out.jsonl", 1),
    ] {
        let log = format!("opencode/{log}");
        let wanted = timeless(lines(&std::fs::read(golden(&log)).unwrap()));
        let said = replay(&log, &["--format", "json", "--thinking", "go"]);
        assert_eq!(timeless(lines(&said.stdout)), wanted, "{log}: {}", stderr(&said));
        assert_eq!(said.status.code(), Some(code), "{log}");
    }
}

#[test]
fn text_has_lines_of_its_own_and_thoughts_where_they_are_asked_for() {
    let play = || {
        Play::script(vec![
            Answer::steps(vec![
                Step::Think("Two and two.".into()),
                Step::Text("  First a look.\n\n".into()),
                Step::Call("c1".into(), "glob".into(), json!({"pattern": "*"}).to_string()),
            ]),
            Answer::text("Second\n\nend."),
        ])
    };
    let said = output(&play(), &[TEXT, &["go"]].concat());
    assert_eq!(stdout(&said), "First a look.\nSecond\n\nend.\n", "{}", stderr(&said));
    let said = output(&play(), &[TEXT, &["--thinking", "go"]].concat());
    assert_eq!(
        stdout(&said),
        "Thinking: Two and two.\nFirst a look.\nSecond\n\nend.\n",
        "{}",
        stderr(&said)
    );
    let quiet = play().one("opencode", STREAM, "go");
    assert!(!quiet.types().contains(&"reasoning"), "{quiet:#?}");
    let loud = play().one("opencode", &[STREAM, &["--thinking"]].concat(), "go");
    assert_eq!(loud.types()[..2], ["step_start", "reasoning"], "{loud:#?}");
}

#[test]
fn calls_have_its_names_arguments_and_results() {
    let play = Play::script(vec![
        Answer::calls(&[("read", json!({"filePath": "hello.txt"}))]),
        Answer::calls(&[("edit", json!({"filePath": "hello.txt", "oldString": "hello", "newString": "goodbye"}))]),
        Answer::calls(&[("bash", json!({"command": "echo out; echo err >&2; exit 3"}))]),
        Answer::calls(&[("read", json!({"filePath": "nope.txt"})), ("nosuch", json!({"a": 1}))]),
        Answer::calls(&[("todowrite", json!({"todos": [{"content": "a", "status": "pending", "priority": "low"}]}))]),
        Answer::text("Done."),
    ]);
    std::fs::write(play.path("hello.txt"), "hello\n").unwrap();
    let end = play.one("opencode", STREAM, "go");
    assert_eq!(end.code(), 0, "{end:#?}");
    assert_eq!((end.types()[0], *end.types().last().unwrap()), ("step_start", "step_finish"));
    assert_eq!(play.read("hello.txt"), "goodbye\n");
    let parts: Vec<&Value> = end
        .lines
        .iter()
        .filter(|line| line["type"] == "tool_use")
        .map(|line| &line["part"])
        .collect();
    let told: Vec<(&str, &str)> = parts
        .iter()
        .map(|part| (part["tool"].as_str().unwrap(), part["state"]["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("read", "completed"),
            ("edit", "completed"),
            ("bash", "completed"),
            ("read", "error"),
            ("invalid", "completed"),
            ("todowrite", "completed"),
        ]
    );
    let state = |n: usize| &parts[n]["state"];
    assert_eq!(state(0)["metadata"]["display"]["text"], "hello");
    assert!(
        state(1)["metadata"]["diff"]
            .as_str()
            .unwrap()
            .ends_with("@@ -1,1 +1,1 @@\n-hello\n+goodbye\n")
    );
    assert_eq!((&state(2)["output"], &state(2)["metadata"]["exit"]), (&json!("out\nerr\n"), &json!(3)));
    assert!(state(3)["error"].as_str().unwrap().starts_with("File not found: "));
    assert_eq!(state(4)["input"]["tool"], "nosuch");
    // The model reads what its own tool says.
    let told = play.server.asked()[1].last();
    assert!(
        told.contains(r"<content>\n1: hello\n\n(End of file - total 1 lines)\n</content>"),
        "{told}"
    );
    let asked = &play.server.asked()[0];
    assert_eq!(asked.body["model"], "gpt-4o");
    let mut offered = asked.tools();
    offered.sort_unstable();
    assert_eq!(
        offered,
        ["bash", "edit", "glob", "grep", "read", "task", "todowrite", "webfetch", "write"]
    );
    // Ids are of the agent's own making.
    let id = end.lines[0]["sessionID"].as_str().unwrap();
    assert!(id.starts_with("ses_") && id.len() == 30, "{id}");
    assert!(end.lines.iter().all(|line| line["sessionID"] == id));
}

#[test]
fn what_runs_is_what_runs_there() {
    let play = |settings: Value| {
        let play = Play::script(vec![
            Answer::calls(&[("bash", json!({"command": "touch ran"}))]),
            Answer::calls(&[("write", json!({"filePath": "new.txt", "content": "x"}))]),
            Answer::calls(&[("read", json!({"filePath": "/etc/hostname"}))]),
            Answer::text("Done."),
        ]);
        let folder = play.base().join("home/.config/opencode");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("opencode.json"), json!({"permission": settings}).to_string()).unwrap();
        play
    };
    let (rejected, rule) = ("The user rejected permission", "The user has specified a rule");
    for (settings, args, wanted) in [
        (json!({}), &[][..], ["", "", rejected]),
        (json!({"bash": {"touch *": "deny"}, "edit": "ask"}), &[], [rule, rejected, rejected]),
        (json!("ask"), &[], [rejected; 3]),
        (json!({}), &["--agent", "plan"], [rule, rule, rejected]),
        (json!({"edit": "deny"}), &["--auto"], ["", "invalid", ""]),
    ] {
        let play = play(settings.clone());
        let end = play.one("opencode", &[STREAM, args].concat(), "go");
        assert_eq!(end.code(), 0, "{end:#?}");
        let states = end.lines.iter().filter(|line| line["type"] == "tool_use").map(|line| &line["part"]);
        for (part, wanted) in states.zip(wanted) {
            let error = part["state"]["error"].as_str().unwrap_or_default();
            match wanted {
                "invalid" => assert_eq!(part["tool"], "write", "{settings} {args:?}: {part}"),
                "" => assert!(!error.contains("permission") && !error.contains("rule"), "{settings} {args:?}: {part}"),
                wanted => assert!(error.starts_with(wanted), "{settings} {args:?}: {part}"),
            }
        }
        assert_eq!(play.path("ran").exists(), wanted[0].is_empty(), "{settings} {args:?}");
        assert_eq!(play.path("new.txt").exists(), wanted[1].is_empty(), "{settings} {args:?}");
    }
}

#[test]
fn prompts_come_by_word_by_pipe_and_by_both() {
    for (args, piped, wanted) in [
        (&["one", "two"][..], "", "one two"),
        (&["stats", "run"], "", "stats run"),
        (&["--", "--x"], "", "--x"),
        (&[], "piped\n", "piped"),
        (&["asked"], "piped\n", "asked\npiped\n"),
    ] {
        let play = Play::new(|_, _| Answer::text("ok"));
        let mut command = play.command("opencode", &[TEXT, args].concat());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(piped.as_bytes()).unwrap();
        let said = child.wait_with_output().unwrap();
        assert_eq!(stdout(&said), "ok\n", "{args:?}: {}", stderr(&said));
        let told = play.server.asked()[0].last();
        assert!(told.contains(&json!(wanted).to_string()), "{args:?}: {told}");
    }
}

#[test]
fn wrong_command_lines_are_refused_in_its_words() {
    let play = Play::new(|_, _| Answer::text("never asked"));
    for (args, words) in [
        (&["run"][..], "Error: You must provide a message or a command\n"),
        (&["run", "", "--format", "json"], "Error: You must provide a message or a command\n"),
        (&["run", "--flag-of-nobody", "x"], "--thinking"),
        (&["run", "--format", "xml", "x"], "--thinking"),
        (&["run", "-s", "ses_nope", "x"], "Error: Session not found\n"),
        (&["run", "-s", "../../x", "x"], "Error: Session not found\n"),
        (&["run", "--fork", "x"], "Error: --fork requires --continue or --session\n"),
        (&["run", "--attach", "http://127.0.0.1:1", "x"], "which a stand-in does not have"),
        (&["serve"], "which a stand-in does not have"),
        (&["x"], "say 'opencode run'"),
    ] {
        let said = output(&play, args);
        assert_eq!((said.status.code(), said.stdout.len()), (Some(1), 0), "{args:?}: {}", stderr(&said));
        assert!(stderr(&said).contains(words), "{args:?}: {}", stderr(&said));
    }
    assert!(play.server.asked().is_empty());
    for args in [&["--version"][..], &["run", "-v"]] {
        assert_eq!(stdout(&output(&play, args)), "1.18.33\n");
    }
    let help = stdout(&output(&play, &["run", "--help"]));
    assert!(help.contains("--format") && help.contains("--session"), "{help}");
}

#[test]
fn a_failure_is_told_where_the_program_tells_it() {
    let play = || Play::script(vec![Answer::error(400, "that was wrong")]);
    let end = play().one("opencode", STREAM, "go");
    let last = end.lines.last().unwrap();
    assert_eq!((end.code(), &last["type"]), (1, &json!("error")), "{end:#?}");
    assert_eq!(last["error"]["name"], "APIError");
    assert!(last["error"]["data"]["message"].as_str().unwrap().contains("that was wrong"));
    let said = output(&play(), &[TEXT, &["go"]].concat());
    assert_eq!((said.status.code(), stdout(&said).as_str()), (Some(1), ""));
    assert!(stderr(&said).contains("that was wrong"), "{}", stderr(&said));
    let broken = Play::script(vec![Answer::steps(vec![Step::Text("half".into()), Step::Cut])]).one("opencode", STREAM, "go");
    assert_eq!(broken.code(), 1, "{broken:#?}");
}

#[test]
fn sessions_go_on_by_id_and_the_latest_and_in_copies() {
    let play = Play::new(|_, number| Answer::text(&format!("answer-{number}")));
    let run = |more: &[&str]| play.one("opencode", &[STREAM, more].concat(), "prompt");
    let id = |end: &End| end.lines[0]["sessionID"].as_str().unwrap().to_owned();
    let first = id(&run(&[]));
    let second = id(&run(&[]));
    assert_ne!(first, second);
    for (which, wanted) in [(&["-s", &first][..], &first), (&["--continue"], &first)] {
        let end = run(which);
        assert_eq!(id(&end), *wanted, "{which:?}: {end:#?}");
        assert!(play.server.asked().pop().unwrap().all().contains("answer-0"), "{which:?}");
    }
    let copy = run(&["--session", &first, "--fork"]);
    assert!(id(&copy) != first && id(&copy) != second);
    assert!(play.server.asked().pop().unwrap().all().contains("answer-0"));
}

#[test]
fn a_signal_ends_the_turn_and_what_it_runs() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let play = Play::script(vec![
            Answer::calls(&[("bash", json!({"command": "touch began; sleep 61; touch late"}))]),
            Answer::text("late"),
        ]);
        let mut host = Host::new(play.command("opencode", &[STREAM, &["go"]].concat()));
        // The prompt may come on standard input too: its end is waited for.
        host.close();
        wait("the command begins", Duration::from_secs(20), || play.path("began").exists());
        let process = host.process.id();
        host.signal(signal);
        let end = host.end();
        let last = end.lines.last().unwrap();
        assert_eq!((end.code(), &last["error"]["name"]), (code, &json!("MessageAbortedError")), "{end:#?}");
        play.nothing_is_left(Some(process));
    }
}

#[test]
fn other_agents_logs_answer_in_its_lines() {
    let said = replay("claude/cli_edit.out.jsonl", &["--format", "json", "go"]);
    let all = lines(&said.stdout);
    assert_eq!(
        (&all[0]["type"], said.status.code()),
        (&json!("step_start"), Some(0)),
        "{}",
        stderr(&said)
    );
    assert!(all.iter().any(|line| line["part"]["tool"] == "edit"), "{all:#?}");
}
