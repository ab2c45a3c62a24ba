// A bench without a harness compiles this module too, but none of its tests.
#![allow(unused_imports, dead_code)]

use std::collections::HashMap;

use serde_json::Value;

use super::order::{KeyOrder, reorder};
use super::rng::Rng;
use super::{Corpus, Plan, json};

const PLAN: Plan = Plan {
    seed: 5,
    bytes: 1_000_000,
    sessions: 2,
};

fn log(corpus: Corpus, plan: Plan) -> Vec<u8> {
    let mut out = Vec::new();
    corpus.write(plan, &mut out).expect("writing to memory cannot fail");
    out
}

fn lines(log: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(log).expect("logs are UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn claude_events(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().filter(|line| line["type"] == "stream_event").map(|line| &line["event"])
}

/// No recording in `golden/` has more bytes.
const LONGEST_RECORDING: u64 = 256 << 10;

#[test]
fn every_line_is_json_and_the_size_is_met() {
    for corpus in Corpus::all() {
        for plan in [
            PLAN,
            Plan::of_size(3_000_000),
            Plan {
                seed: 9,
                bytes: 500_000,
                sessions: 1,
            },
        ] {
            let log = log(corpus, plan);
            assert_eq!(log.last(), Some(&b'\n'));
            if corpus.name().starts_with("recordings:") {
                // The real programs write more than JSON, and their recordings are written whole.
                assert!(
                    (plan.bytes..plan.bytes + LONGEST_RECORDING).contains(&(log.len() as u64)),
                    "{corpus:?}: {} bytes",
                    log.len()
                );
                continue;
            }
            assert!(lines(&log).len() > 2, "{corpus:?}");
            let error = (log.len() as f64 / plan.bytes as f64 - 1.0).abs();
            assert!(error <= 0.02, "{corpus:?}: {} bytes instead of {}", log.len(), plan.bytes);
        }
    }
}

#[test]
fn the_seed_decides_the_bytes() {
    for corpus in Corpus::all() {
        assert_eq!(log(corpus, PLAN), log(corpus, PLAN), "{corpus:?}");
        assert_ne!(log(corpus, PLAN), log(corpus, Plan { seed: 6, ..PLAN }), "{corpus:?}");
    }
}

#[test]
fn names_are_read_back() {
    for corpus in Corpus::all() {
        assert_eq!(Corpus::from_name(&corpus.name()), Some(corpus));
    }
    assert_eq!(Corpus::from_name("claude"), None);
}

#[test]
fn sessions_follow_each_other() {
    let mut ids: Vec<String> = Vec::new();
    for line in lines(&log(
        Corpus::ClaudePartial,
        Plan {
            seed: 1,
            bytes: 3_000_000,
            sessions: 6,
        },
    )) {
        let id = line["session_id"].as_str().expect("each Claude line has a session");
        if ids.last().is_none_or(|last| last != id) {
            assert!(!ids.iter().any(|seen| seen == id), "a session is never taken up again");
            ids.push(id.to_owned());
        }
    }
    assert_eq!(ids.len(), 6);
}

/// The recordings have 446 bytes a line where little besides stream events occurs.
#[test]
fn partial_claude_logs_have_lines_of_the_recorded_length() {
    let log = log(Corpus::ClaudePartial, Plan::of_size(5_000_000));
    let mean = log.len() / log.iter().filter(|&&byte| byte == b'\n').count();
    assert!((420..=470).contains(&mean), "{mean}");
}

#[test]
fn snapshots_say_what_the_deltas_said() {
    let lines = lines(&log(Corpus::ClaudePartial, PLAN));
    let (mut deltas, mut compared) = (String::new(), 0);
    for line in &lines {
        match line["event"]["type"].as_str() {
            Some("content_block_start") => deltas.clear(),
            Some("content_block_delta") => {
                let delta = &line["event"]["delta"];
                let piece = ["text", "thinking", "partial_json"].into_iter().find_map(|key| delta[key].as_str());
                deltas.push_str(piece.unwrap_or(""));
            }
            _ if line["type"] == "assistant" => {
                let block = &line["message"]["content"][0];
                match block["type"].as_str() {
                    Some("tool_use") => {
                        let mut input: Value = serde_json::from_str(&deltas).expect("the pieces of an input are JSON");
                        if block["name"] == "Edit" {
                            input["replace_all"] = false.into();
                        }
                        assert_eq!(input, block["input"]);
                    }
                    Some(kind) => assert_eq!(block[kind], deltas),
                    None => panic!("a block without a type"),
                }
                compared += 1;
            }
            _ => {}
        }
    }
    assert!(compared > 100);
}

#[test]
fn reordered_keys_say_the_same() {
    let recorded = lines(&log(Corpus::ClaudePartial, PLAN));
    for corpus in [Corpus::ClaudePartialSorted, Corpus::ClaudePartialShuffled] {
        assert_eq!(recorded, lines(&log(corpus, PLAN)), "{corpus:?}");
    }
}

#[test]
fn the_orders_are_what_they_are_called() {
    let line = b"{\"b\":[{\"d\":1,\"c\":\"},\\\"\"}],\"a\":{},\"e\":[]}\n{\"b\":-1.5e3,\"a\":null}\n";
    let ordered = |order| {
        let mut out = Vec::new();
        reorder(line, order, &mut Rng::at(&[1]), &mut out);
        String::from_utf8(out).expect("keys and values are moved whole")
    };
    assert_eq!(ordered(KeyOrder::Recorded).as_bytes(), line);
    let sorted = "{\"a\":{},\"b\":[{\"c\":\"},\\\"\",\"d\":1}],\"e\":[]}\n{\"a\":null,\"b\":-1.5e3}\n";
    assert_eq!(ordered(KeyOrder::OtherConstant), sorted);

    let first_keys = |corpus| {
        let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
        for line in log(corpus, PLAN).split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let key = line.split(|&byte| byte == b':').next().unwrap_or_default();
            *counts.entry(key.to_vec()).or_default() += 1;
        }
        counts.len()
    };
    let (recorded, shuffled) = (first_keys(Corpus::ClaudePartial), first_keys(Corpus::ClaudePartialShuffled));
    assert!(shuffled > 4 * recorded, "{shuffled} first keys, {recorded} as recorded");
}

/// The answers of the first turns, as each dialect tells them.
#[test]
fn all_dialects_tell_the_same_story() {
    let answers = |corpus| -> Vec<String> {
        let mut text = String::new();
        let mut answers = Vec::new();
        for line in lines(&log(corpus, PLAN)) {
            let delta = &line["choices"][0]["delta"];
            let answer = match line["type"].as_str() {
                Some("final") => &line["content"],
                Some("result") => &line["result"],
                _ if line["choices"][0]["message"]["content"].is_string() && line["metadata"].is_null() => {
                    text = line["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned();
                    continue;
                }
                _ if line["object"] == "chat.completion.chunk" => {
                    if delta["role"].is_string() {
                        text.clear();
                    }
                    text.push_str(delta["content"].as_str().unwrap_or_default());
                    if line["choices"].as_array().is_some_and(Vec::is_empty) {
                        answers.push(text.clone());
                    }
                    continue;
                }
                _ if line["metadata"]["summary"].is_string() => {
                    answers.push(text.clone());
                    continue;
                }
                _ => continue,
            };
            answers.push(answer.as_str().expect("answers are text").to_owned());
        }
        answers
    };
    let told = answers(Corpus::ClaudeMessages);
    for corpus in [
        Corpus::ClaudePartial,
        Corpus::QwenCodePartial,
        Corpus::QwenCodeMessages,
        Corpus::QwenChunks,
        Corpus::QwenMessages,
        Corpus::Tricode,
    ] {
        assert_eq!(answers(corpus)[..2], told[..2], "{corpus:?}");
    }
    // Cursor's result is all texts of the turn together.
    for corpus in [Corpus::CursorPartial, Corpus::CursorMessages] {
        for (whole, last) in answers(corpus).iter().zip(&told).take(2) {
            assert!(whole.ends_with(last), "{corpus:?}");
        }
    }
}

#[test]
fn tricode_lines_are_spelled_as_python_spells_them() {
    let log = log(Corpus::Tricode, PLAN);
    let mut formatted: HashMap<String, usize> = HashMap::new();
    for (line, value) in log.split(|&byte| byte == b'\n').zip(lines(&log)) {
        let object = value.as_object().expect("each line is an object");
        let members: Vec<_> = object.iter().map(|(key, value)| format!("\"{key}\": {}", python(value))).collect();
        assert_eq!(String::from_utf8_lossy(line), format!("{{{}}}", members.join(", ")));
        if value["type"] != "tool_result" {
            continue;
        }
        let result = value["result"].as_str().expect("results are text");
        let newlines = result.matches('\n').count();
        let want = match value["name"].as_str() {
            _ if value["success"] == false => format!("[FAIL] {result}"),
            Some("read_file") => format!("[OK] read {newlines} lines"),
            Some("run_command") => format!("[OK] {newlines} lines output"),
            Some("search_context") => format!("[OK] {newlines} results"),
            Some("plan") => result.to_owned(),
            _ => continue,
        };
        assert_eq!(value["formatted"], want);
        *formatted.entry(value["name"].to_string()).or_default() += 1;
    }
    assert_eq!(formatted.len(), 4, "{formatted:?}");
}

/// A value in the spelling of Python's `json`.
fn python(value: &Value) -> String {
    let text = |value: &str| {
        let mut out = Vec::new();
        json::put!(&mut out; json::Text(value));
        String::from_utf8(out).expect("text stays text")
    };
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("{}: {}", text(key), python(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

#[test]
fn escapes_are_those_of_the_programs() {
    let text = "a\"\\\n\t\u{1}\u{1b}\u{7f}é\u{200d}\u{2028}🎉\u{2030}";
    let (mut plain, mut claude) = (Vec::new(), Vec::new());
    json::put!(&mut plain; json::Text(text));
    json::put!(&mut claude; json::ClaudeText(text));
    assert_eq!(plain, "\"a\\\"\\\\\\n\\t\\u0001\\u001b\u{7f}é\u{200d}\u{2028}🎉\u{2030}\"".as_bytes());
    assert_eq!(claude, "\"a\\\"\\\\\\n\\t\\u0001\\u001b\\u007fé\\u200d\\u2028🎉\u{2030}\"".as_bytes());
    for written in [plain, claude] {
        assert_eq!(serde_json::from_slice::<String>(&written).expect("both are JSON"), text);
    }
}

#[test]
fn the_hot_path_meets_escapes_and_other_scripts() {
    let log = log(Corpus::ClaudePartial, PLAN);
    let lines = lines(&log);
    let texts: Vec<_> = claude_events(&lines).filter_map(|event| event["delta"]["text"].as_str()).collect();
    for needle in ["\n", "\"", "\\", "。"] {
        assert!(texts.iter().any(|text| text.contains(needle)), "no text has {needle:?}");
    }
    assert!(String::from_utf8_lossy(&log).contains("\\u200d"));
}

#[test]
fn times_are_civil() {
    assert_eq!(json::timestamp(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(json::timestamp(1_709_208_000_123), "2024-02-29T12:00:00.123Z");
    assert_eq!(json::timestamp(1_795_240_800_000), "2026-11-21T06:00:00.000Z");
}
