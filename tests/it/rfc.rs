//! The Qwen RFC's own examples, and the list of what it asks for (docs/rfc-checklist.md).
//!
//! Each example of both texts that is JSON is decoded: from `../shared/seeds` where that is beside this clone, and always from our own copies of them
//! in tests/examples/rfc.*.jsonl, which say the same in other words.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agentglot::adapters::raw::codec::Dialect;
use agentglot::adapters::raw::event::{InputKind, Kind};
use agentglot::adapters::raw::live::{Heard, Listener};
use serde_json::{Value, json};

use crate::common::skipped;

#[test]
fn our_copies_of_the_examples_are_understood() {
    let read = |name: &str| fs::read_to_string(root().join("tests/examples").join(name)).unwrap();
    let examples = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let (agent, host) = (examples(&read("rfc.agent.jsonl")), examples(&read("rfc.host.jsonl")));
    assert!(agent.iter().all(|one| side(one) == Some(Side::Agent)) && host.iter().all(|one| side(one) == Some(Side::Host)));
    understood(&agent, &host);
}

#[test]
fn the_examples_of_both_texts_are_understood() {
    for name in ["qwen-rfc.en.md", "qwen-rfc.zh.md"] {
        let Ok(text) = fs::read_to_string(root().join("../shared/seeds").join(name)) else {
            skipped(name, "it is not beside this clone");
            continue;
        };
        let all = extracted(&text);
        let of = |wanted: Side| all.iter().filter(|one| side(one) == Some(wanted)).cloned().collect::<Vec<_>>();
        let (agent, host) = (of(Side::Agent), of(Side::Host));
        assert!(agent.len() >= 12 && host.len() >= 6, "{name}: {} and {}", agent.len(), host.len());
        understood(&agent, &host);
    }
}

#[test]
fn the_checklist_names_tests_that_exist_and_has_no_empty_row() {
    let mut known = BTreeSet::new();
    for folder in ["tests", "src", "agent/src", "adapters/src", "adapters/tests"] {
        tests_of(&root().join(folder), &mut known);
    }
    let page = fs::read_to_string(root().join("docs/rfc-checklist.md")).unwrap();
    let mut rows = 0;
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what ")) {
        let (_, shown) = line
            .trim_end_matches(" |")
            .rsplit_once(" | ")
            .unwrap_or_else(|| panic!("no second cell: {line}"));
        rows += 1;
        let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        let excused = shown.starts_with("not ours: ");
        assert!(excused || !names.is_empty(), "an empty row: {line}");
        for name in names.iter().filter(|_| !excused) {
            assert!(known.contains(*name), "no test is called {name}: {line}");
        }
    }
    assert!(rows >= 80, "only {rows} rows");
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Agent,
    Host,
}

/// Who says it. `None` for what is a part of a line and no line.
fn side(line: &Value) -> Option<Side> {
    let has = |name: &str| line.get(name).is_some();
    match line["type"].as_str() {
        Some("control_request") => Some(Side::Agent),
        Some("control/cancel" | "control_response" | "command_hint_cancel") => Some(Side::Host),
        Some(kind) if kind.ends_with("_request") => Some(Side::Host),
        Some(kind) if kind.starts_with("result/") || kind.starts_with("x-qwen-") => Some(Side::Agent),
        Some(_) => None,
        None if has("input") && has("session_id") || has("messages") => Some(Side::Host),
        None if has("choices") || line["error"]["code"].is_string() => Some(Side::Agent),
        None => None,
    }
}

/// Each is something that its side says, and the right thing.
fn understood(agent: &[Value], host: &[Value]) {
    for example in agent {
        let kind = example["type"].as_str().unwrap_or_default();
        // Annotations stand in a chunk; the session event may stand alone.
        let line = match kind {
            "x-qwen-terminal" | "x-qwen-tool-display" | "x-qwen-thought" | "x-qwen-ansi" => json!({
                "object": "chat.completion.chunk", "id": "chatcmpl-s", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": {"content": "x".repeat(30), "annotations": [example]}, "finish_reason": null}],
            }),
            _ => example.clone(),
        };
        let mut kinds = Vec::new();
        let mut listener = Listener::to_agent(Dialect::Qwen, usize::MAX);
        let mut hear = |heard: Heard<'_, '_>| {
            kinds.push(match heard {
                Heard::Event(event) => match event.kind {
                    Kind::Unknown(_) | Kind::Noise(_) => "not understood",
                    Kind::Terminal(_) => "x-qwen-terminal",
                    Kind::ToolProgress(_) | Kind::ToolResult(_) => "x-qwen-tool-display",
                    Kind::Notice(_) => "x-qwen-session-event",
                    Kind::Command(_) => "result/command",
                    Kind::Hint(_) => "result/command_hint",
                    Kind::Heartbeat(_) => "result/heartbeat",
                    Kind::CancelResult(_) => "result/cancel",
                    Kind::Request(_) => "control_request",
                    Kind::Fatal(_) => "fatal",
                    _ => "said",
                },
                Heard::Input(_) => "input",
                Heard::Damaged { .. } => "damaged",
            });
        };
        listener.feed(format!("{line}\n").as_bytes(), &mut hear);
        listener.finish(&mut hear);
        let wanted = match kind {
            "x-qwen-thought" => "said",
            "x-qwen-ansi" => "x-qwen-terminal",
            "" if example.get("error").is_some() => "fatal",
            // A first chunk that names the role alone, and a last one with usage alone, need say nothing.
            "" => "",
            kind => kind,
        };
        let wrong = ["not understood", "input", "damaged"].iter().any(|wrong| kinds.contains(wrong));
        assert!(
            !wrong && (wanted.is_empty() || kinds.contains(&wanted)),
            "{wanted}: {kinds:?} of {example}"
        );
        let says = example["choices"].as_array().is_some_and(|all| {
            all.iter().any(|one| {
                let said = if one["delta"].is_object() { &one["delta"] } else { &one["message"] };
                said["content"].as_str().is_some_and(|text| !text.is_empty()) || said["tool_calls"].is_array()
            })
        });
        assert!(!says || kinds.contains(&"said"), "nothing was said: {kinds:?} of {example}");
    }
    for example in host {
        let mut inputs = Vec::new();
        let mut listener = Listener::to_host(Dialect::Qwen, usize::MAX);
        let mut hear = |heard: Heard<'_, '_>| {
            inputs.push(match heard {
                Heard::Input(input) => match input.kind {
                    InputKind::Chat(_) => "chat",
                    InputKind::Hint(_) => "command_hint_request",
                    InputKind::HintCancel => "command_hint_cancel",
                    InputKind::Heartbeat { .. } => "heartbeat_request",
                    InputKind::Cancel { .. } => "control/cancel",
                    InputKind::Response(_) => "control_response",
                    _ => "not understood",
                },
                Heard::Event(_) => "event",
                Heard::Damaged { .. } => "damaged",
            });
        };
        listener.feed(format!("{example}\n").as_bytes(), &mut hear);
        listener.finish(&mut hear);
        assert_eq!(inputs, [example["type"].as_str().unwrap_or("chat")], "{example}");
    }
}

/// All JSON of a text: fenced blocks, whole or line by line, with comments left out; code within a line; what examples of shells are given.
fn extracted(text: &str) -> Vec<Value> {
    let (mut all, mut outside, mut block) = (Vec::new(), String::new(), None::<String>);
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        match (&mut block, fence) {
            (None, true) => block = Some(String::new()),
            (None, false) => {
                outside.push_str(line);
                outside.push('\n');
            }
            (Some(inside), false) => {
                inside.push_str(&uncommented(line));
                inside.push('\n');
            }
            (Some(inside), true) => {
                match serde_json::from_str(inside) {
                    Ok(one) => all.push(one),
                    Err(_) => all.extend(inside.lines().filter_map(|line| {
                        let line = line.trim();
                        let line = line
                            .strip_prefix("echo '")
                            .map_or(line, |rest| rest.trim_end_matches(['\\', ' ']).trim_end_matches('\''));
                        serde_json::from_str::<Value>(line).ok()
                    })),
                }
                block = None;
            }
        }
    }
    let code = outside.split('`').skip(1).step_by(2);
    all.extend(code.filter_map(|code| serde_json::from_str::<Value>(code).ok()).filter(Value::is_object));
    all
}

/// Without `// …`, where that is no part of a text.
fn uncommented(line: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in line.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            '/' if !quoted && line[at..].starts_with("//") => return line[..at].to_owned(),
            _ => {}
        }
    }
    line.to_owned()
}

/// The names of the functions that are tests.
fn tests_of(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_of(&path, names);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim_start) {
                if line == "#[test]" || line.starts_with("#[tokio::test") {
                    is_test = true;
                } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
                    names.extend(rest.split_once('(').map(|(name, _)| name.to_owned()));
                    is_test = false;
                }
            }
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
