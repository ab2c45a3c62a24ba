//! Pipes that live: what has come is converted and written before more comes.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{golden, log, program, session, skipped};

/// The program with both pipes held open.
struct Live {
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    child: std::process::Child,
}

impl Live {
    fn start(args: &[&str]) -> Self {
        let mut child = program().args(args).stdin(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            lines,
            child,
        }
    }

    fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// The next line of output, which must come although nothing more goes in.
    fn line(&self) -> String {
        self.lines
            .recv_timeout(Duration::from_secs(20))
            .expect("a line comes while the pipe is open")
    }

    fn line_with(&self, text: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(text) {
                return line;
            }
        }
    }

    fn nothing(&self) {
        assert_eq!(self.lines.recv_timeout(Duration::from_millis(100)).ok(), None);
    }

    fn end(mut self) -> i32 {
        drop(self.stdin.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn lines_are_written_as_soon_as_they_are_complete() {
    for jobs in ["1", "2"] {
        let mut live = Live::start(&["convert", "--from", "claude", "--to", "qwen:stream-chunk-json", "--jobs", jobs]);
        let [init, answer, result] = session("s-1", "Good day.");
        live.write(&format!("{init}\n"));
        // The receipt has the time of the line behind it, where its own says none.
        live.write(&answer[..50]);
        live.nothing();
        live.write(&format!("{}\n", &answer[50..]));
        live.line_with("protocol_version");
        live.line_with("Good day.");
        live.write(&format!("{result}\n"));
        live.line_with("\"summary\":\"true\"");
        assert_eq!(live.end(), 0);
    }
}

#[test]
fn the_dialect_is_told_by_the_first_telling_line() {
    let mut live = Live::start(&["convert", "--to", "claude"]);
    live.write("npm warn something\n");
    live.nothing();
    let [init, answer, _] = session("s-1", "Good day.");
    live.write(&format!("{init}\n"));
    assert_eq!([live.line(), live.line()], ["npm warn something".to_owned(), init]);
    live.write(&format!("{answer}\n"));
    assert_eq!(live.line(), answer);
    assert_eq!(live.end(), 0);
}

#[test]
fn every_dialect_is_told_while_its_pipe_is_open() {
    for (file, telling) in [
        ("claude/ctl_hook_defer.out.jsonl", 1),
        ("qwen-code/plain_text.out.jsonl", 1),
        ("qwen-code/ctl_set_model.out.jsonl", 1),
        ("cursor/plain_answer.jsonl", 1),
        ("tricode/plain.jsonl", 1),
        ("qwen/plain.jsonl", 1),
        ("qwen/plain.chunks.jsonl", 1),
    ] {
        let text = std::fs::read_to_string(golden(file)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let dialect = match file.split('/').next().unwrap() {
            "qwen" if file.contains("chunks") => "qwen:stream-chunk-json",
            dialect => dialect,
        };
        let mut live = Live::start(&["convert", "--to", dialect]);
        live.write(&format!("{}\n", lines[..telling].join("\n")));
        assert_eq!(live.line(), lines[0], "{file}");
        assert_eq!(live.end(), 0, "{file}");
    }
}

/// Ends a process with the test.
struct Kill(std::process::Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_log_that_grows_is_followed() {
    let scratch = crate::common::Scratch::new();
    let path = scratch.file("log.jsonl", log("s-1", "First."));
    let Ok(tail) = std::process::Command::new("tail")
        .args(["-n", "+1", "-f"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
    else {
        return skipped("a log that grows", "there is no tail(1)");
    };
    let mut tail = Kill(tail);
    let mut child = program()
        .args(["convert", "--to", "tricode"])
        .stdin(tail.0.stdout.take().unwrap())
        .spawn()
        .unwrap();
    let (sender, lines) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        for line in stdout.lines() {
            let _ = sender.send(line.unwrap());
        }
    });
    let wait_for = |text: &str| while !lines.recv_timeout(Duration::from_secs(20)).expect("the log is followed").contains(text) {};
    wait_for("First.");
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(log("s-1", "Second.").as_bytes())
        .unwrap();
    wait_for("Second.");
    drop(tail);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    reader.join().unwrap();
}
