//! Calls in the target's own words: each fits the target's tool, and the ledger tells what became of each argument.

use std::collections::BTreeSet;

use crate::common::tool_schema::{Member, Tools, Type, tools};
use crate::common::{Converted, Wrongs, convert, format, goldens, quick, recordings, with_ledger};
use proptest::prelude::*;
use serde_json::{Value, json};

use agentglot_adapters::convert::Options;

/// A dialect that has tools, and the mode in which its calls are whole.
const SPEAKERS: [(&str, &str); 8] = [
    ("claude", "claude"),
    ("qwen-code", "qwen-code"),
    ("qwen", "qwen-code"),
    ("tricode", "tricode"),
    ("cursor", "cursor"),
    ("gemini", "gemini"),
    ("codex", "codex"),
    ("opencode", "opencode"),
];

/// The calls of a log: names and arguments.
fn calls(log: &[u8]) -> Vec<(String, Value)> {
    let text = String::from_utf8_lossy(log);
    let mut calls = Vec::new();
    let mut add = |name: &Value, input: &Value| calls.push((name.as_str().unwrap_or_default().to_owned(), input.clone()));
    for line in text.lines() {
        let line = line.find("{\"type\": \"").map_or(line, |at| &line[at..]);
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        for block in line["message"]["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                add(&block["name"], &block["input"]);
            }
        }
        for choice in line["choices"].as_array().into_iter().flatten() {
            for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                let input = serde_json::from_str(function["arguments"].as_str().unwrap_or_default()).unwrap_or(Value::Null);
                add(&function["name"], &input);
            }
        }
        if line["type"] == "tool_call" && line["arguments"].is_object() {
            add(&line["name"], &line["arguments"]);
        }
        if line["type"] == "tool_use" && line["part"].is_object() {
            add(&line["part"]["tool"], &line["part"]["state"]["input"]);
        } else if line["type"] == "tool_use" {
            add(&line["tool_name"], &line["parameters"]);
        }
        if line["type"] == "item.started" && line["item"]["server"] != "builtin" {
            let item = &line["item"];
            let result = [
                "id",
                "type",
                "status",
                "aggregated_output",
                "exit_code",
                "result",
                "error",
                "sender_thread_id",
                "receiver_thread_ids",
                "agents_states",
            ];
            let asked = item
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| !result.contains(&name.as_str()));
            add(&item["type"], &asked.map(|(name, value)| (name.clone(), value.clone())).collect());
        } else if line["type"] == "item.started" {
            add(&line["item"]["tool"], &line["item"]["arguments"]);
        }
        for (kind, call) in line["tool_call"].as_object().into_iter().flatten() {
            if kind.ends_with("ToolCall") && call.get("args").is_some() {
                add(&json!(kind), &call["args"]);
            } else if kind == "function" {
                let input = serde_json::from_str(call["arguments"].as_str().unwrap_or_default()).unwrap_or(Value::Null);
                add(&call["name"], &input);
            }
        }
    }
    calls
}

#[test]
fn every_call_that_is_written_fits_the_targets_tool() {
    let tools = tools();
    let fits = |dialect: &str, name: &str, input: &Value| {
        let tool = tools.get(&(dialect.to_owned(), name.to_owned()));
        tool.map_or_else(Vec::new, |of| of.wrong(input, ""))
    };
    let mut wrongs = Wrongs::default();
    for log in goldens().into_iter().chain(recordings()).filter(crate::common::Log::is_plain) {
        let said = calls(&log.bytes);
        let own = SPEAKERS.iter().find(|(name, _)| *name == log.format.dialect.name());
        for (to, vocabulary) in SPEAKERS {
            let to = format(to);
            if to.dialect == log.format.dialect {
                continue;
            }
            for (name, input) in calls(&quick(log.format, to, &log.bytes).out) {
                wrongs.check();
                let wrong = fits(vocabulary, &name, &input);
                // What its own agent called wrongly stays as it was.
                let stays = said.contains(&(name.clone(), input.clone())) && own.is_none_or(|(_, own)| !fits(own, &name, &input).is_empty());
                if !wrong.is_empty() && !stays {
                    wrongs.add(format!("{to} {name}"), format!("{}: {wrong:?} in {input}", log.name));
                }
            }
        }
    }
    wrongs.finish("calls fit their tools");
}

/// A line in which a dialect calls a tool, and where the arguments stand in it.
fn line(dialect: &str, name: &str, input: &Value) -> (String, String) {
    match dialect {
        "claude" | "qwen-code" => (
            json!({
                "type": "assistant", "uuid": "u", "session_id": "s", "parent_tool_use_id": null,
                "message": {
                    "id": "m", "type": "message", "role": "assistant", "model": "k",
                    "content": [{"type": "tool_use", "id": "c1", "name": name, "input": input}],
                    "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}
                },
            })
            .to_string(),
            "/message/content/0/input".to_owned(),
        ),
        "tricode" => (
            json!({"type": "tool_call", "name": name, "arguments": input, "formatted": "X"})
                .to_string()
                .replacen("\"type\":\"", "\"type\": \"", 1),
            "/arguments".to_owned(),
        ),
        "codex" => {
            let mut item = json!({"id": "item_0", "type": name});
            let members = item.as_object_mut().expect("it is one");
            members.extend(input.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
            (json!({"type": "item.started", "item": item}).to_string(), "/item".to_owned())
        }
        "opencode" => (
            json!({"type": "tool_use", "timestamp": 1, "sessionID": "s", "part": {
                "type": "tool", "tool": name, "callID": "c1", "state": {"status": "running", "input": input},
            }})
            .to_string(),
            "/part/state/input".to_owned(),
        ),
        "gemini" => (
            json!({"type": "tool_use", "timestamp": "t", "tool_name": name, "tool_id": "c1", "parameters": input}).to_string(),
            "/parameters".to_owned(),
        ),
        _ => (
            json!({
                "type": "tool_call", "subtype": "started", "call_id": "c1",
                "tool_call": {name: {"args": input}}, "model_call_id": "m", "session_id": "s", "timestamp_ms": 1
            })
            .to_string(),
            format!("/tool_call/{name}/args"),
        ),
    }
}

/// A value of a type, with marks that stand nowhere else; `choose` tells which optional members are there.
fn value(of: &Type, marks: &mut u64, choose: &mut dyn FnMut() -> usize) -> Value {
    *marks += 1;
    match of {
        Type::String => json!(format!("mark{marks}x")),
        // Big enough to be no index, and whole seconds in milliseconds.
        Type::Integer => json!(10_000 + 1000 * *marks),
        Type::Boolean => json!(choose().is_multiple_of(2)),
        Type::Object => json!({format!("mark{marks}x"): {}}),
        Type::Word(words) => json!(words[choose() % words.len()]),
        Type::List(of) => (0..1 + choose() % 2).map(|_| value(of, marks, choose)).collect(),
        Type::Members(members) => {
            let mut object = serde_json::Map::new();
            for Member { name, required, of } in members {
                if *required || choose().is_multiple_of(2) {
                    object.insert(name.clone(), value(of, marks, choose));
                }
            }
            Value::Object(object)
        }
    }
}

/// The parts of a value that hold no others, with their pointers.
fn leaves<'v>(value: &'v Value, at: &str, into: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(members) if !members.is_empty() => members.iter().for_each(|(key, value)| leaves(value, &format!("{at}/{key}"), into)),
        Value::Array(list) if !list.is_empty() => list.iter().enumerate().for_each(|(n, value)| leaves(value, &format!("{at}/{n}"), into)),
        _ => into.push((at.to_owned(), value)),
    }
}

/// The entries of a ledger of some fate that speak of a part: at its pointer or above.
fn entries(ledger: &str, fate: &str, pointer: &str) -> usize {
    let entry = |line: &str| {
        let entry: Value = serde_json::from_str(line).ok()?;
        let at = entry["pointer"].as_str()?;
        let speaks = entry["fate"] == fate && (pointer == at || pointer.strip_prefix(at).is_some_and(|rest| rest.starts_with('/')));
        // What is said of the line as a whole is not about its arguments.
        (speaks && !at.is_empty()).then_some(entry["count"].as_u64().unwrap_or(1) as usize)
    };
    ledger.lines().filter_map(entry).sum()
}

/// Calls of a tool with arguments of every combination, to every other dialect: what is written fits, and each argument is there as it
/// was, or has one entry that it was renamed, or one that it was dropped.
fn told(tools: &Tools, (dialect, name): (&str, &str), to: &str, choices: &[u8]) -> Result<(), TestCaseError> {
    let (mut marks, mut next) = (0, 0);
    let mut choose = || {
        next += 1;
        usize::from(choices[next % choices.len()])
    };
    let input = value(&tools[&(dialect.to_owned(), name.to_owned())], &mut marks, &mut choose);
    let (line, at) = line(dialect, name, &input);
    let Converted { out, ledger, .. } = convert(&with_ledger(Options::new(format(dialect), format(to))), format!("{line}\n").as_bytes());
    let made = calls(&out);
    let about = || format!("{dialect} to {to}: {name} {input}\n{made:?}\n{ledger}");
    prop_assert!(!made.is_empty(), "{}", about());
    let (made_name, made_input) = &made[0];
    if let Some(of) = tools.get(&(to.to_owned(), made_name.clone())) {
        prop_assert_eq!(of.wrong(made_input, ""), Vec::<String>::new(), "{}", about());
    }
    let text = made.iter().map(|(name, input)| format!("{name} {input}")).collect::<String>();
    let mut parts = Vec::new();
    leaves(&input, "", &mut parts);
    for (pointer, value) in parts.into_iter().filter(|(_, value)| **value != json!({})) {
        let whole = format!("{at}{pointer}");
        let (dropped, renamed) = (entries(&ledger, "dropped", &whole), entries(&ledger, "renamed", &whole));
        let stays = made_input.pointer(&pointer) == Some(value);
        let marked = matches!(value, Value::String(text) if text.starts_with("mark")) || value.is_number();
        let there = stays || marked && text.contains(value.to_string().trim_matches('"'));
        prop_assert!(dropped + renamed <= 1, "{whole} is told {dropped} + {renamed} times: {}", about());
        prop_assert!(!there || dropped == 0, "{whole} is there, and told as dropped: {}", about());
        // A word of an element of a list moves with it, when one before it is left out.
        let moved = value.is_string() && !marked && text.contains(&value.to_string());
        prop_assert!(
            there || moved || dropped + renamed == 1,
            "{whole} is not there, and nothing is told: {}",
            about()
        );
        // A text that is gone was dropped; a number may have become another.
        let gone = marked && value.is_string() && !there;
        prop_assert!(!gone || dropped == 1, "{whole} is gone, and told as renamed: {}", about());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn each_argument_goes_over_or_is_told(choices in prop::collection::vec(any::<u8>(), 40)) {
        let tools = tools();
        for (dialect, name) in tools.keys() {
            for to in ["claude", "qwen-code", "tricode", "cursor", "gemini", "codex", "opencode"] {
                if to != dialect {
                    told(&tools, (dialect, name), to, &choices)?;
                }
            }
        }
    }
}

#[test]
fn every_tool_that_is_written_has_its_arguments_on_the_page() {
    let told: BTreeSet<(String, String)> = tools().into_keys().collect();
    for dialect in ["claude", "qwen-code", "tricode", "cursor", "gemini", "codex", "opencode"] {
        let vendor = format(dialect).dialect;
        let tools = agentglot_adapters::raw::tools::Tools::of(vendor).expect("it has tools");
        for (kind, names) in tools.names {
            let first = (dialect.to_owned(), names[0].to_owned());
            // Written since 2025 as an edit; made by nobody else's tool.
            let unwritten = ["writeToolCall", "mkdir"].contains(&names[0]);
            assert!(unwritten || told.contains(&first), "{kind:?}: {first:?} is not on the page");
        }
    }
}

#[test]
fn arguments_that_the_host_changes_are_in_the_target_s_words() {
    let input = r#"{"file_path":"/w/a","offset":5,"limit":2}"#;
    let log = format!(
        "{{\"type\":\"control_request\",\"request_id\":\"q\",\"request\":{{\"subtype\":\"can_use_tool\",\"tool_name\":\"Read\",\"input\":{input},\"tool_use_id\":\"c\"}}}}\n\
         {{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":\"q\",\"response\":{{\"behavior\":\"allow\",\"updatedInput\":{input},\"updatedPermissions\":[]}}}}}}\n"
    );
    let plain = Options::new(format("claude"), format("qwen-code"));
    for options in [with_ledger(plain.clone()), plain] {
        let Converted { out, ledger, .. } = convert(&options, log.as_bytes());
        let lines: Vec<Value> = out
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let asked = lines
            .iter()
            .find_map(|line| line["request"].get("input"))
            .expect("the question goes over");
        let answer = lines
            .iter()
            .find_map(|line| line["response"].get("response"))
            .expect("the answer goes over");
        assert_ne!(asked, &serde_json::from_str::<Value>(input).expect("JSON"), "the target counts from 0");
        assert_eq!(&answer["updatedInput"], asked);
        assert_eq!((&answer["behavior"], &answer["updatedPermissions"]), (&json!("allow"), &json!([])));
        assert!(!ledger.contains("\"dropped\""), "{ledger}");
    }
}
