//! Commands of the built-in agent, seen from outside: what is left when it ends, the background, the wall for writes.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::skipped;
use crate::support::model::{Answer, Server};

/// A server that answers the first request of a turn with one tool call and the next one with `done`. Its address.
fn model(name: &'static str, arguments: Value) -> String {
    let server = Server::start(move |asked, _| match asked.all().contains(r#""role":"tool""#) {
        true => Answer::text("done"),
        false => Answer::calls(&[(name, arguments.clone())]),
    });
    format!("http://127.0.0.1:{}/v1", server.port)
}

struct Stage {
    home: tempfile::TempDir,
    mark: String,
}

impl Stage {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("work")).unwrap();
        let mark = format!("STAGE={}", home.path().display());
        Self { home, mark }
    }

    fn start(&self, url: &str, ours: &[&str], args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command
            .args(["run", "--as", "claude", "--backend", "model:openai"])
            .args(ours)
            .arg("--")
            .args(args);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command
            .env("HOME", self.home.path())
            .env("OPENAI_BASE_URL", url)
            .env("OPENAI_API_KEY", "k");
        command.env("STAGE", self.home.path()).env("NO_PROXY", "127.0.0.1");
        command.current_dir(self.home.path().join("work"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The processes that carry our mark, but for the agent itself.
    fn alive(&self, agent: u32) -> Vec<u32> {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == self.mark.as_bytes())
        };
        pids.filter(|pid| *pid != agent).filter(marked).collect()
    }

    fn until(&self, agent: u32, what: &str, so: impl Fn(&[u32]) -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        while !so(&self.alive(agent)) {
            assert!(Instant::now() < until, "{what}: {:?}", self.alive(agent));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

const ALL: [&str; 6] = [
    "-p",
    "--output-format",
    "stream-json",
    "--verbose",
    "--dangerously-skip-permissions",
    "go",
];

fn lines(child: Child) -> Vec<Value> {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nothing_is_left_however_the_agent_ends() {
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        for background in [false, true] {
            let stage = Stage::new();
            // The second one leaves its group, the first one does not heed SIGTERM.
            let command = "setsid sleep 300 & trap '' TERM; sleep 300; sleep 300";
            let url = model("Bash", json!({"command": command, "run_in_background": background}));
            let mut child = stage.start(&url, &[], &ALL);
            let id = child.id();
            stage.until(id, "the command runs", |alive| alive.len() >= 3);
            kill_process(Pid::from_raw(id.try_into().unwrap()).unwrap(), signal).unwrap();
            child.wait().unwrap();
            stage.until(id, "nothing is left", <[u32]>::is_empty);
        }
    }
}

#[test]
fn the_end_of_a_background_command_is_a_turn_of_its_own() {
    let stage = Stage::new();
    let url = model(
        "Bash",
        json!({"command": "sleep 1; echo late", "description": "Be late", "run_in_background": true}),
    );
    let all = lines(stage.start(&url, &[], &ALL));
    let said: Vec<_> = all
        .iter()
        .map(|line| match line["subtype"].as_str() {
            Some(subtype) => format!("{}/{subtype}", line["type"].as_str().unwrap()),
            None => line["type"].as_str().unwrap().to_owned(),
        })
        .collect();
    assert_eq!(
        said,
        [
            "system/init",
            "assistant",
            "user",
            "system/task_started",
            "system/background_tasks_changed",
            "assistant",
            "result/success",
            "system/task_updated",
            "system/task_notification",
            "system/background_tasks_changed",
            "system/init",
            "assistant",
            "result/success",
        ]
    );
    assert_eq!(all[7]["patch"]["status"], "completed");
    assert_eq!(all[8]["summary"], "Background command \"Be late\" completed (exit code 0)");
    assert_eq!(all[8]["task_id"], all[2]["tool_use_result"]["backgroundTaskId"]);
    assert_eq!(all[12]["origin"], json!({"kind": "task-notification"}));
    // Whoever waits for one value gets one.
    let child = stage.start(&url, &[], &["-p", "--output-format", "json", "--dangerously-skip-permissions", "go"]);
    assert_eq!(lines(child).len(), 1);
}

#[test]
fn confined_commands_write_in_the_workspace_alone() {
    let stage = Stage::new();
    // The folders for temporary files are open, and the home of this test may lie in one: another place is needed.
    let Some(outside) = std::env::home_dir().filter(|home| !home.starts_with("/tmp") && !home.starts_with(std::env::temp_dir())) else {
        return skipped("confined commands", "the home lies in a folder for temporary files");
    };
    let Ok(outside) = tempfile::Builder::new().prefix(".agentglot-test-").tempdir_in(outside) else {
        return skipped("confined commands", "the home cannot be written");
    };
    let command = format!("echo in > made; echo out > {}/made; cat made", outside.path().display());
    let url = model("Bash", json!({"command": command}));
    let child = stage.start(&url, &["--confine-commands"], &ALL);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!outside.path().join("made").exists(), "{text}");
    if text.contains("commands cannot be confined") {
        assert!(!output.status.success() && !exists(&stage, "work/made"), "{text}");
        return skipped("confined commands", "no Landlock here");
    }
    assert!(output.status.success() && exists(&stage, "work/made"), "{text}");
    assert!(text.contains("Permission denied"), "{text}");
}

fn exists(stage: &Stage, path: impl AsRef<Path>) -> bool {
    stage.home.path().join(path).exists()
}
