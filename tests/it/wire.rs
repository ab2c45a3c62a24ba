//! What the built-in agent said in the tests, read by Python: by the `openai` package as it is, and by the referee of the RFC where that is
//! beside this clone.
//!
//! The sessions are those that tests of this build have kept (`support::rfc`), and some of its own, so that there are always some.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use crate::common::skipped;
use crate::support::model::{Answer, Server, Step};
use crate::support::play::Play;
use crate::support::rfc::{CHUNKS, MESSAGES, Rfc, keepers, kept};

/// A bit of everything that an agent says: thoughts, text, calls side by side, output, edits, a list, a question, commands, a failure.
fn sessions() {
    let shell = |command: &str| ("run_shell_command", json!({"command": command, "is_background": false}));
    let todos = json!({"todos": [{"id": "1", "content": "warp", "status": "pending"}]});
    for args in [MESSAGES, CHUNKS] {
        let server = Server::script(vec![
            Answer::steps(vec![
                Step::Think("Plan\nfirst the warp".to_owned()),
                Step::Text("I look. ".to_owned()),
                Step::Call("a".to_owned(), "list_directory".to_owned(), json!({"path": "."}).to_string()),
                Step::Call(
                    "b".to_owned(),
                    "run_shell_command".to_owned(),
                    shell("printf '\\033[32mgr\\303\\274n\\033[0m'; ls nothing").1.to_string(),
                ),
            ]),
            Answer::calls(&[
                ("write_file", json!({"file_path": "new.txt", "content": "one\n"})),
                ("todo_write", todos.clone()),
            ]),
            Answer::text("done"),
            Answer::error(500, "the loom is broken"),
        ]);
        let mut host = Rfc::with(Play::of(server), &[args, &["--yolo", "--log-annotations"]].concat(), &|_| {});
        host.prompt("weave");
        host.summary();
        for command in [
            "/help",
            "/chat save one",
            "/chat save one",
            "/init",
            "/quit-confirm",
            "/nothing",
            "/tools run read_file {}",
            "@new.txt",
        ] {
            host.prompt(command);
            host.kind("result/command");
        }
        host.summary();
        for trigger in ["slash", "at"] {
            host.say(&json!({"type": "command_hint_request", "session_id": "s", "trigger": trigger, "text": "x", "cursor": 1}));
            host.until(|line| line["type"] == "result/command_hint" && line["status"] == "ok");
        }
        host.say(&json!({"type": "control/cancel", "session_id": host.session(), "reason": "escape"}));
        host.kind("result/cancel");
        host.say_raw("no JSON");
        assert_eq!(host.end().code, Some(0));
    }
}

#[test]
fn python_reads_the_sessions_of_the_tests() {
    sessions();
    // Tests begin in the order of their names, and this one is the last that has to do with the RFC.
    let until = Instant::now() + Duration::from_secs(120);
    while keepers() > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let logs = fresh();
    assert!(logs.len() >= 2, "{logs:?}");
    let python = match crate::installed::python("python/requirements.txt") {
        Ok(python) => python,
        Err(why) => return skipped("sessions of the built-in agent, read by Python", why),
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let referee = root.join("../shared/harness/qwen/rfc_check.py");
    let mut scripts = vec![(root.join("tests/python/check_openai.py"), &["--live"][..])];
    if referee.is_file() {
        scripts.push((referee, &[]));
    } else {
        skipped("the referee of the RFC", "it is not beside this clone");
    }
    for (script, flags) in scripts {
        // A session without a turn has no end of an answer, which the referee wants of each stream of pieces.
        let had_turns = |log: &&PathBuf| std::fs::read_to_string(log).unwrap().contains("\"summary\":\"true\"");
        let logs: Vec<&PathBuf> = logs.iter().filter(had_turns).collect();
        let output = Command::new(&python).arg(&script).args(flags).args(&logs).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let wrong: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("jsonl: line") || line.contains("FAIL") || line.contains("error:"))
            .collect();
        assert!(
            output.status.success(),
            "{} of {} sessions: {}\n{}",
            script.display(),
            logs.len(),
            wrong.join("\n"),
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{}: {} sessions", script.display(), logs.len());
    }
}

/// The sessions that this build's tests have kept; older ones go.
fn fresh() -> Vec<PathBuf> {
    let when = |path: &Path| path.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let built = when(Path::new(env!("CARGO_BIN_EXE_agentglot")));
    let all = std::fs::read_dir(kept()).into_iter().flatten().flatten().map(|entry| entry.path());
    let (mut fresh, old): (Vec<PathBuf>, Vec<PathBuf>) = all.partition(|path| when(path) >= built);
    for path in old {
        let _ = std::fs::remove_file(path);
    }
    fresh.sort();
    fresh
}
