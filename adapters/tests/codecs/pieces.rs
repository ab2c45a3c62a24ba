//! What comes in pieces and is never said whole.

#![allow(missing_docs, unreachable_pub)]

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Layout;
use serde_json::Value;

use crate::common::{Wrongs, all_targets, convert, format, model_goldens, plain_goldens, quick, with_ledger};

/// A reply of Claude Code in pieces, without the whole blocks that follow them as a rule.
const PIECES: [&str; 10] = [
    r#""type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"k","content":[],"stop_reason":null,"usage":{"input_tokens":2,"output_tokens":1}}"#,
    r#""type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}"#,
    r#""type":"content_block_stop","index":0"#,
    r#""type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srv","name":"web_search","input":{}}"#,
    r#""type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"what is wa"}"#,
    r#""type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"nted\"}"}"#,
    r#""type":"content_block_stop","index":1"#,
    r#""type":"content_block_start","index":2,"content_block":{"type":"text","text":"Here."}"#,
    r#""type":"content_block_stop","index":2"#,
    r#""type":"message_stop""#,
];

fn log() -> Vec<u8> {
    let line = |(n, event): (usize, &&str)| {
        format!("{{\"type\":\"stream_event\",\"event\":{{{event}}},\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"u{n}\"}}\n")
    };
    PIECES.iter().enumerate().map(line).collect::<String>().into_bytes()
}

#[test]
fn blocks_without_pieces_of_their_own_go_over_whole() {
    let out = quick(format("claude"), format("claude:transcript"), &log()).out;
    let out = String::from_utf8(out).expect("output is UTF-8");
    for block in [
        r#"{"type":"redacted_thinking","data":"b3BhcXVl"}"#,
        r#"{"type":"server_tool_use","id":"srv","name":"web_search","input":{"query":"what is wanted"}}"#,
    ] {
        assert_eq!(out.matches(block).count(), 1, "{out}");
    }
}

#[test]
fn what_has_no_place_is_dropped_and_not_said_elsewhere() {
    for to in ["qwen-code:chat", "codex:rollout", "gemini:chat", "tricode", "atif", "qwen"] {
        let converted = convert(&with_ledger(Options::new(format("claude"), format(to))), &log());
        assert!(!converted.text().contains("b3BhcXVl"), "{to}: {}", converted.text());
        let dropped = |line: u64| {
            converted.ledger.lines().any(|entry| {
                let entry: Value = serde_json::from_str(entry).expect("an entry is JSON");
                entry["line"] == line && entry["fate"] == "dropped"
            })
        };
        assert!(dropped(2), "{to}: {}", converted.ledger);
        // What the API does itself is a call like any other.
        assert!(converted.text().contains("what is wanted"), "{to}: {}", converted.text());
    }
}

#[test]
fn arguments_that_were_cut_off_are_an_object_where_one_is_needed() {
    for log in model_goldens()
        .iter()
        .filter(|log| log.name.ends_with("length.sse") || log.name.ends_with("max_tokens.sse"))
    {
        for (to, call) in [
            ("gemini", "/parameters"),
            ("opencode", "/part/state/input"),
            ("tricode", "/arguments"),
            ("claude", "/message/content/0/input"),
            ("qwen-code", "/message/content/0/input"),
        ] {
            let out = quick(log.format, format(to), &log.bytes).out;
            let lines = out
                .split(|byte| *byte == b'\n')
                .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
            let inputs: Vec<Value> = lines.filter_map(|line| line.pointer(call).cloned()).collect();
            assert!(
                matches!(&inputs[..], [Value::Object(input)] if input["input"].is_string()),
                "{to}: {inputs:?}"
            );
        }
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Every string of a value.
fn gather(value: &Value, to: &mut String) {
    match value {
        Value::String(text) => to.push_str(text),
        Value::Array(list) => list.iter().for_each(|value| gather(value, to)),
        Value::Object(members) => members.values().for_each(|value| gather(value, to)),
        _ => {}
    }
}

/// Every string of the values in a log, and lines that are text, one behind the other.
fn strings(log: &str) -> String {
    let mut all = String::new();
    match serde_json::from_str::<Value>(log) {
        Ok(value) => gather(&value, &mut all),
        Err(_) => log.lines().for_each(|line| match serde_json::from_str(line) {
            Ok(value) => gather(&value, &mut all),
            Err(_) => all.push_str(line),
        }),
    }
    all
}

#[test]
fn a_piece_that_is_told_as_a_part_of_the_whole_is_in_it() {
    const TEXTS: [&str; 4] = [
        "/event/delta/text",
        "/event/delta/thinking",
        "/choices/0/delta/content",
        "/choices/0/delta/reasoning_content",
    ];
    let mut wrongs = Wrongs::default();
    let mut pieces = 0;
    for log in plain_goldens().iter().chain(&model_goldens()) {
        let lines: Vec<Value> = log
            .bytes
            .split(|byte| *byte == b'\n')
            .map(|line| serde_json::from_slice(line).unwrap_or_default())
            .collect();
        if !lines.iter().any(|line| TEXTS.iter().any(|at| line.pointer(at).is_some())) {
            continue;
        }
        for to in all_targets(log.format) {
            let converted = convert(&with_ledger(Options::new(log.format, to)), &log.bytes);
            let entries: Vec<Value> = converted
                .ledger
                .lines()
                .map(|entry| serde_json::from_str(entry).expect("an entry is JSON"))
                .collect();
            let mut said = strings(converted.text());
            // The whole block may have no place, which is told where it stands.
            for entry in entries.iter().filter(|entry| entry["fate"] == "dropped") {
                let line = entry["line"].as_u64().and_then(|line| lines.get(line as usize - 1));
                let part = entry["pointer"].as_str();
                gather(
                    line.zip(part).and_then(|(line, part)| line.pointer(part)).unwrap_or(&Value::Null),
                    &mut said,
                );
            }
            for entry in entries {
                if entry["fate"] != "merged" || entry["note"] != "deltas of a block that goes over whole" {
                    continue;
                }
                let first = entry["line"].as_u64().expect("an entry has a line");
                let last = entry["last_line"].as_u64().unwrap_or(first);
                for line in first..=last {
                    let value = &lines[line as usize - 1];
                    let piece = TEXTS.iter().find_map(|at| value.pointer(at)?.as_str()).unwrap_or_default();
                    pieces += 1;
                    wrongs.check();
                    // Text for people may leave blanks out.
                    let shown = || to.mode.layout == Layout::Text && without_blanks(&said).contains(&without_blanks(piece));
                    if !said.contains(piece) && !shown() {
                        wrongs.add(format!("{} -> {to}", log.format), format!("{}: line {line}: {piece:?}", log.name));
                    }
                }
            }
        }
    }
    assert!(pieces > 500, "{pieces}");
    wrongs.finish("pieces of a whole");
}
