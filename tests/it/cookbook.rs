//! `docs/cookbook.md`: each task is done as it stands there, and comes out as it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{golden, skipped};
use crate::installed;
use crate::support::model::{Answer, Server};

/// So many tasks there are.
const TASKS: usize = 16;

/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A task of the page.
struct Task<'p> {
    title: &'p str,
    /// Files that it names behind the language of a block.
    files: Vec<(&'p str, &'p str)>,
    commands: String,
    output: String,
}

#[test]
fn every_task_of_the_cookbook_comes_out_as_it_says() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cookbook.md")).unwrap();
    let tasks: Vec<Task<'_>> = page.split("\n## ").skip(1).map(task).collect();
    assert_eq!(tasks.len(), TASKS);
    let model = Server::start(|_, _| Answer::text("A folder with logs."));
    let mut wrong = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        assert!(task.title.starts_with(&format!("{}. ", n + 1)), "{}", task.title);
        assert!(
            !task.commands.is_empty() && !task.output.is_empty(),
            "{}: what is typed, or what comes of it",
            task.title
        );
        let python = match task.files.iter().any(|(_, text)| text.contains("claude_agent_sdk")) {
            true => match installed::python("sdks/requirements.txt") {
                Ok(python) => Some(python),
                Err(why) => {
                    skipped(task.title, why);
                    continue;
                }
            },
            false => None,
        };
        let commands = task
            .commands
            .replace("http://127.0.0.1:8080", &format!("http://127.0.0.1:{}", model.port));
        if let Err(why) = done(task, &commands, python.as_deref()) {
            wrong.push(format!("{}:\n{why}", task.title));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn task(section: &str) -> Task<'_> {
    let (title, rest) = section.split_once('\n').unwrap();
    let (mut files, mut commands, mut output) = (Vec::new(), String::new(), String::new());
    for block in rest.split("\n```").skip(1).step_by(2) {
        let (info, text) = block.split_once('\n').unwrap();
        match info.split_once(' ') {
            Some((_, name)) => files.push((name, text)),
            None if info == "sh" => commands = commands + text + "\n",
            None => output = output + text + "\n",
        }
    }
    Task {
        title,
        files,
        commands,
        output,
    }
}

/// Does a task in a folder of its own, and compares what is written to standard output.
fn done(task: &Task<'_>, commands: &str, python: Option<&Path>) -> Result<(), String> {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("work");
    let home = scratch.path().join("home");
    fs::create_dir_all(folder.join("logs")).unwrap();
    fs::create_dir(&home).unwrap();
    for (from, to) in [
        ("claude/cli_edit.out.jsonl", "logs/edit.jsonl"),
        ("claude/cli_parallel_partial.out.jsonl", "logs/parallel.jsonl"),
        ("claude/cli_toolerr.out.jsonl", "logs/toolerr.jsonl"),
        ("hostile/claude-bad-json.jsonl", "bad.jsonl"),
        ("claude/ctl_sigterm_mid_stream.out.jsonl", "killed.jsonl"),
    ] {
        fs::copy(golden(from), folder.join(to)).unwrap();
    }
    for (name, text) in &task.files {
        fs::write(folder.join(name), text).unwrap();
    }
    let own: Vec<PathBuf> = python
        .into_iter()
        .chain([Path::new(env!("CARGO_BIN_EXE_agentglot"))])
        .map(|path| path.parent().unwrap().to_owned())
        .collect();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let (out, err) = (scratch.path().join("out"), scratch.path().join("err"));
    let mut shell = Command::new("bash")
        .args(["--norc", "-euo", "pipefail", "-c", commands])
        .current_dir(&folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", &home)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match shell.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > until => {
                shell.kill().unwrap();
                break shell.wait().unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let said = fs::read_to_string(&out).unwrap();
    match status.success() && fits(said.trim_end(), task.output.trim_end()) {
        true => Ok(()),
        false => Err(format!("{status}\n{said}\n{}", fs::read_to_string(&err).unwrap())),
    }
}

/// Whether a text is the one that is shown; `…` stands for anything.
fn fits(text: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    true
}

#[test]
fn what_is_left_out_may_be_anything() {
    assert!(fits("a b c", "a b c") && fits("a b c", "a … c") && fits("a b c", "…c") && fits("a b c d", "a … c …"));
    assert!(!fits("a b c", "a b") && !fits("a b c", "a … d") && !fits("a b c", "b …") && !fits("a b", "a … b …c"));
}
