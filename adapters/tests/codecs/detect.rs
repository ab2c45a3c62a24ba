//! The dialect of every golden log, and of every recording where they are at hand, is told rightly.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agentglot_adapters::detect::{Answer, Detector};
use agentglot_adapters::raw::codec::Format;

fn detect(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).unwrap();
    let json = path.extension().is_some_and(|e| e == "json");
    match Detector::new(json).look(&bytes, true) {
        Answer::Found(found) => Ok(found.format.to_string()),
        Answer::Empty => Ok("empty".to_owned()),
        Answer::Unclear(unclear) => Err(unclear.to_string()),
        Answer::More => panic!("{}: more than everything is wanted", path.display()),
    }
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
    into.sort();
}

/// Host lines that both Claude Code and Qwen Code take, or that mean nothing in any dialect: not telling is right, as long as
/// the true dialect is among the candidates. Telling wrongly never is.
fn may_be_unclear(name: &str, dialect: &str, unclear: &str) -> bool {
    let nothing = [
        "claude/stdin_text_input.in.jsonl",
        "qwen-code/ctl_malformed_first.in.jsonl",
        "hostile/claude-utf16.jsonl",
    ];
    let host = name.ends_with(".in.jsonl") && unclear.contains("may be claude (") && unclear.contains("or qwen-code (");
    host && matches!(dialect, "claude" | "qwen-code") || nothing.contains(&name)
}

/// Lines of the RFC that were sent to a program that does not know them.
const MISPLACED: &[&str] = &["qwen-code/ctl_rfc_request.in.jsonl", "qwen-code/ctl_unknown_type.in.jsonl"];

#[test]
fn goldens() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
    let manifest = fs::read_to_string(golden.join("MANIFEST.toml")).unwrap();
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    let (mut path, value) = (String::new(), |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned());
    for line in manifest.lines() {
        match line.split_once(" = ").map(|(key, _)| key) {
            Some("path") => path = value(line),
            Some("dialect") => {
                wanted.insert(path.clone(), value(line));
            }
            _ => {}
        }
    }
    assert!(wanted.len() > 100, "the manifest was not understood");
    let mut wrong = Vec::new();
    for (name, dialect) in &wanted {
        let found = detect(&golden.join(name));
        let as_it_should = match &found {
            Ok(found) => found == dialect || found == "empty" || MISPLACED.contains(&name.as_str()) && found == "qwen",
            Err(unclear) => may_be_unclear(name, dialect, unclear),
        };
        if !as_it_should {
            wrong.push(format!("{name} ({dialect}): {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), wanted.len(), wrong.join("\n"));
}

#[test]
fn recordings() {
    let Some(recordings) = crate::common::beside::shared("recordings") else {
        return;
    };
    let mut all = Vec::new();
    files(&recordings, &mut all);
    let mut wrong = Vec::new();
    for path in &all {
        let name = path.strip_prefix(&recordings).unwrap().to_str().unwrap().to_owned();
        let agent = name.ends_with(".out.jsonl") || name.ends_with(".out.json");
        let plain = name.starts_with("cursor/") || name.starts_with("tricode/");
        let log = agent || name.ends_with(".in.jsonl") || plain && name.ends_with(".jsonl") && !name.ends_with(".api.jsonl");
        if !log {
            continue;
        }
        let mode = if name.ends_with(".json") { ":json" } else { "" };
        let dialect = format!("{}{mode}", name.split('/').next().unwrap());
        // There are recordings of agents that have no dialect here.
        if dialect.parse::<Format>().is_err() {
            continue;
        }
        let found = detect(path);
        let as_it_should = match &found {
            Ok(found) => *found == dialect || found == "empty" || MISPLACED.contains(&name.as_str()) && found == "qwen",
            Err(unclear) => may_be_unclear(&name, &dialect, unclear),
        };
        if !as_it_should {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
