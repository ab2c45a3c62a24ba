//! The fake agent does what its script says; other tests rely on it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::support::{example, within};

fn agent(commands: &[&str]) -> Command {
    let mut command = Command::new(example("fake_agent"));
    command.arg("--do").args(commands);
    command
}

fn play(commands: &[&str]) -> Output {
    agent(commands).stdin(Stdio::null()).output().unwrap()
}

fn talk(commands: &[&str]) -> Child {
    let mut command = agent(commands);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What it says after these lines of the host.
fn after(commands: &[&str], host: &str) -> Output {
    let mut process = talk(commands);
    process.stdin.take().unwrap().write_all(host.as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

#[test]
fn finds_its_script() {
    within(20, async {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("claude.script");
        std::fs::write(&script, "# a comment\n\nsay from a script\n  args\nexit 4\n").unwrap();
        let expected = |args: &str| format!("from a script\n{args}\n");
        let run = |command: &mut Command| {
            let output = command.stdin(Stdio::null()).output().unwrap();
            assert_eq!(output.status.code(), Some(4), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let program = example("fake_agent");
        let named = run(Command::new(&program).arg("--script").arg(&script));
        assert_eq!(named, expected(&format!("[\"--script\",\"{}\"]", script.display())));
        let by_variable = run(Command::new(&program).args(["-p", "hi"]).env("FAKE_AGENT_SCRIPT", &script));
        assert_eq!(by_variable, expected("[\"-p\",\"hi\"]"));
        let link = folder.path().join("claude");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        assert_eq!(run(Command::new(&link).args(["-p", "hi"])), expected("[\"-p\",\"hi\"]"));
        let wrong = play(&["say fine", "dance"]);
        assert_eq!((wrong.status.code(), wrong.stdout.as_slice()), (Some(64), &b""[..]));
    });
}

#[test]
fn does_another_part_with_each_start() {
    within(20, async {
        let folder = tempfile::tempdir().unwrap();
        let (starts, args) = (folder.path().join("starts"), folder.path().join("args"));
        let script = [
            &format!("args {}", args.display()),
            &format!("starts {}", starts.display()),
            "say one",
            "---",
            "say two",
            "exit 3",
        ];
        let said: Vec<(String, Option<i32>)> = std::iter::repeat_with(|| play(&script))
            .take(3)
            .map(|output| (String::from_utf8(output.stdout).unwrap(), output.status.code()))
            .collect();
        let two = ("two\n".to_owned(), Some(3));
        assert_eq!(said, [("one\n".to_owned(), Some(0)), two.clone(), two]);
        assert_eq!(std::fs::read_to_string(args).unwrap().lines().count(), 3);
    });
}

#[test]
fn writes_in_pieces_and_at_a_pace() {
    within(20, async {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "{\"at\":@NS@}\n{\"at\":@NS@}\n").unwrap();
        let output = play(&[
            "cut 3 0",
            "write a\\nbcdef",
            "cut 0 0",
            "say  g",
            &format!("rate 100 5 {}", log.display()),
            "file 1 /dev/null",
        ]);
        let text = String::from_utf8(output.stdout).unwrap();
        let stamped = text.strip_prefix("a\nbcdef g\n").unwrap();
        let stamps: Vec<i64> = stamped
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["at"].as_i64().unwrap())
            .collect();
        assert_eq!(stamps.len(), 10);
        // Ten lines, ten milliseconds apart; one that comes late does not put the others off.
        assert!(stamps.is_sorted() && stamps[9] - stamps[0] > 70_000_000, "{stamps:?}");
    });
}

#[test]
fn answers_control_requests_in_every_manner() {
    let request = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#;
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"asked":"interrupt"}}}"#;
    within(20, async {
        let host = format!("{request}\n{{\"type\":\"user\"}}\n");
        for (manner, expected) in [
            ("answer", format!("{answer}\n")),
            ("never", String::new()),
            ("twice", format!("{answer}\n{answer}\n")),
            ("unknown", format!("{}\n", answer.replace("r1", "an id that nobody gave"))),
            ("malformed", format!("{}\n", &answer[..=answer.len() / 2])),
        ] {
            let output = after(&[&format!("control {manner}"), "echo"], &host);
            let text = String::from_utf8(output.stdout).unwrap();
            let (control, user) = text.split_at(text.find("{\"type\":\"user\"}").unwrap());
            assert_eq!(user, "{\"type\":\"user\"}\n");
            if manner == "malformed" {
                assert!(serde_json::from_str::<Value>(control).is_err() && control.ends_with('\n'), "{control}");
            } else {
                assert_eq!(control, expected, "{manner}");
            }
        }
        // Without a manner they are lines like any other.
        assert_eq!(after(&["echo"], &host).stdout, host.as_bytes());
    });
}

#[test]
fn asks_and_waits_for_the_answer() {
    within(20, async {
        let mut process = talk(&["ask q1 5000 {\"subtype\":\"can_use_tool\"}", "ask q2 50 {}", "say done"]);
        let mut stdin = process.stdin.take().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let asked = lines.next().unwrap().unwrap();
        assert_eq!(
            asked,
            r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool"}}"#
        );
        for id in ["another", "q1"] {
            let answer = format!("{{\"type\":\"control_response\",\"response\":{{\"request_id\":\"{id}\"}}}}\n");
            stdin.write_all(answer.as_bytes()).unwrap();
        }
        assert!(lines.next().unwrap().unwrap().contains("q2"));
        assert_eq!(lines.next().unwrap().unwrap(), "done");
        drop(stdin);
        let told = String::from_utf8(process.wait_with_output().unwrap().stderr).unwrap();
        assert!(told.starts_with("answered q1 {\"request_id\":\"q1\"}\nnot answered q2"), "{told}");
    });
}

#[test]
fn ends_as_it_is_told() {
    use std::os::unix::process::ExitStatusExt;
    within(20, async {
        let killed = play(&["write {\"half\":", "die KILL", "say never"]);
        assert_eq!((killed.status.signal(), killed.stdout.as_slice()), (Some(9), &b"{\"half\":"[..]));
        assert_eq!(play(&["say after the result", "exit 9"]).status.code(), Some(9));
        let anew = play(&["say one", "reexec", "say two", "respawn", "say three", "exit 5", "say never"]);
        assert_eq!((anew.status.code(), anew.stdout.as_slice()), (Some(5), &b"one\ntwo\nthree\n"[..]));
        let flooded = play(&["flood stderr 5000", "flood stdout 70000"]);
        assert_eq!((flooded.stderr.len(), flooded.stdout.len()), (5000, 70_000));
    });
}

#[test]
fn keeps_what_it_read() {
    within(20, async {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        let commands = [&*format!("keep {}", kept.display()), "read", "say read one", "read all", "say read all"];
        assert_eq!(after(&commands, "one\ntwo\nthree\n").stdout, b"read one\nread all\n");
        assert_eq!(std::fs::read_to_string(Path::new(&kept)).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(after(&["count"], "12345").stdout, b"5\n");
    });
}
