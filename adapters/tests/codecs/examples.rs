//! The programs of `examples/` do what they say, on goldens; each is short enough to be read at once.

#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use agentglot_adapters::{Source, turns};

#[path = "../../examples/convert_folder.rs"]
mod convert_folder;
#[path = "../../examples/count_tools.rs"]
mod count_tools;
#[path = "../../examples/extract_diffs.rs"]
mod extract_diffs;
#[path = "../../examples/follow.rs"]
mod follow;
#[path = "../../examples/write_session.rs"]
mod write_session;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn golden(name: &str) -> Vec<u8> {
    fs::read(folder("../golden").join(name)).expect("a golden")
}

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).expect("text")
}

#[test]
fn tools_are_counted() {
    let mut out = Vec::new();
    count_tools::count(golden("claude/cli_edit.out.jsonl").as_slice(), &mut out).unwrap();
    assert!(text(out).lines().any(|line| line == "Edit: 1 calls, 0 failed"));
}

#[test]
fn diffs_are_extracted() {
    for log in ["claude/cli_edit.out.jsonl", "cursor/read_edit.jsonl"] {
        let mut out = Vec::new();
        extract_diffs::diffs(&golden(log), &mut out).unwrap();
        let out = text(out);
        assert!(out.contains("\n@@ ") && out.contains("\n+"), "{log}: {out}");
    }
}

#[test]
fn a_log_is_followed() {
    let mut out = Vec::new();
    follow::follow(golden("claude/cli_edit.out.jsonl").as_slice(), &mut out).unwrap();
    let out = text(out);
    assert!(out.lines().any(|line| line.starts_with("> Edit {\"")), "{out}");
}

#[test]
fn a_session_is_written() {
    for to in [
        "claude",
        "qwen",
        "qwen:stream-chunk-json",
        "qwen-code",
        "tricode",
        "cursor",
        "codex",
        "codex:app-server",
        "acp",
        "opencode",
        "agentglot",
    ] {
        let mut out = Vec::new();
        write_session::write(to.parse().unwrap(), &mut out).unwrap();
        let log = text(out);
        let turns: Vec<_> = turns(log.as_bytes(), Source::Auto)
            .map(|turn| turn.unwrap_or_else(|error| panic!("{to}: {error}\n{log}")))
            .collect();
        assert_eq!(turns.len(), 1, "{to}: {log}");
        let calls = turns[0].calls();
        assert!(calls.len() == 1 && calls[0].succeeded() == Some(true), "{to}: {log}");
        let command = calls[0].input.get("command").and_then(|command| command.to_text());
        // Some show the shell that runs it.
        assert_eq!(
            command.as_deref().and_then(|command| command.split(' ').next_back()),
            Some("ls"),
            "{to}: {log}"
        );
        assert_eq!(
            turns[0].outcome.as_ref().map(|outcome| outcome.kind.as_str()),
            Some("success"),
            "{to}: {log}"
        );
    }
}

#[test]
fn a_folder_is_converted() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("converted");
    let converted = convert_folder::convert("qwen".parse().unwrap(), &folder("../golden/cursor"), &out).unwrap();
    assert!(converted > 5);
    let log = fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    assert!(fs::read_to_string(log).unwrap().contains("chat.completion"));
}

#[test]
fn examples_are_short() {
    for name in ["convert_folder", "count_tools", "extract_diffs", "follow", "write_session"] {
        let lines = fs::read_to_string(folder("examples").join(name).with_extension("rs"))
            .unwrap()
            .lines()
            .count();
        assert!(lines <= 40, "{name}: {lines} lines");
    }
}
