//! Every call and result that the real programs recorded, through every translation.

use std::collections::BTreeSet;
use std::path::Path;

use bumpalo::Bump;
use serde_json::{Value, value::RawValue};

use crate::codec::Dialect::{self, Claude, Cursor, QwenCode, Tricode};
use crate::event::{Content, Detail, DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::{Translate, kind_of, output};

/// A call and its result, as JSON texts.
struct Pair {
    from: Dialect,
    name: String,
    input: String,
    ok: bool,
    text: String,
    detail: Option<String>,
}

/// What stays in its source's words: `FROM NAME TARGET`. The reasons are in the module's documentation.
const STAYS: &[&str] = &[
    "claude AskUserQuestion tricode",
    "claude Agent tricode",
    "claude ExitPlanMode tricode",
    "claude NoSuchTool cursor",
    "claude NoSuchTool qwen-code",
    "claude NoSuchTool tricode",
    // A call with wrong arguments.
    "claude Read cursor",
    "claude Read qwen-code",
    "claude Read tricode",
    "claude StructuredOutput cursor",
    "claude StructuredOutput qwen-code",
    "claude StructuredOutput tricode",
    "claude mcp__calc__add tricode",
    "cursor askQuestionToolCall tricode",
    "cursor globToolCall tricode",
    "cursor taskToolCall tricode",
    "cursor updateTodosToolCall tricode",
    // Refused calls whose lines do not repeat the arguments.
    "cursor shellToolCall claude",
    "cursor shellToolCall qwen-code",
    "cursor shellToolCall tricode",
    "cursor webFetchToolCall claude",
    "cursor webFetchToolCall qwen-code",
    "cursor webFetchToolCall tricode",
    "cursor webSearchToolCall claude",
    "cursor webSearchToolCall qwen-code",
    "cursor webSearchToolCall tricode",
    "qwen-code agent tricode",
    "qwen-code ask_user_question tricode",
    "qwen-code exit_plan_mode tricode",
    "qwen-code glob tricode",
    "qwen-code mcp__calc__add tricode",
    "qwen-code no_such_tool claude",
    "qwen-code no_such_tool cursor",
    "qwen-code no_such_tool tricode",
    "qwen-code read_file claude",
    "qwen-code read_file cursor",
    "qwen-code read_file tricode",
    "qwen-code todo_write tricode",
];

#[test]
fn every_recorded_call_goes_over_or_stays_for_a_reason() {
    let Some(root) = crate::beside::shared("recordings") else { return };
    let mut stays = BTreeSet::new();
    let mut count = 0;
    for pair in pairs(&root) {
        for to in [Claude, QwenCode, Cursor, Tricode] {
            if to != pair.from {
                count += 1;
                if !goes_over(&pair, to) {
                    stays.insert(format!("{} {} {}", pair.from.name(), pair.name, to.name()));
                }
            }
        }
    }
    assert!(count > 500, "only {count} translations");
    // Tricode's own: sessions, symbols, folders, plans that change, and wrong arguments.
    stays.retain(|line| !line.starts_with("tricode "));
    let known: BTreeSet<_> = STAYS.iter().map(|line| (*line).to_owned()).collect();
    let surprises: Vec<_> = stays.difference(&known).collect();
    assert!(surprises.is_empty(), "{surprises:#?}");
}

fn goes_over(pair: &Pair, to: Dialect) -> bool {
    let arena = Bump::new();
    let tools = Translate::new(pair.from, to);
    let call = ToolCall {
        id: Str::trusted("c"),
        name: Str::trusted(&pair.name),
        kind: kind_of(pair.from, Str::trusted(&pair.name)),
        input: Raw::trusted(&pair.input),
        fields: &[],
    };
    let shape = if pair.from == Cursor { DetailShape::Cursor } else { DetailShape::Claude };
    let result = ToolResult {
        detail: pair.detail.as_deref().map(|raw| Detail {
            shape,
            raw: Raw::trusted(raw),
        }),
        ..ToolResult::new(
            call.id,
            if pair.ok { ResultStatus::Success } else { ResultStatus::Error },
            Content::Text(Str::trusted(&pair.text)),
        )
    };
    let valid = |text: &str| assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "{text}");
    output(Some(&call), &result, &arena);
    let (answered, made) = tools.result(&call, &result, &arena);
    if let Some(made) = made {
        made.detail.inspect(|detail| valid(detail.raw.as_str()));
        let Content::Text(text) = made.content else {
            panic!("a text became blocks")
        };
        valid(&format!("\"{}\"", text.as_escaped()));
    }
    if let Some(made) = answered {
        valid(made.input.as_str());
        assert_ne!(kind_of(to, made.name), ToolKind::Other, "{:?}", made.name);
    }
    // Claude and Qwen name the tools of servers alike.
    let same = call.kind == ToolKind::Mcp && matches!((pair.from, to), (Claude, QwenCode) | (QwenCode, Claude));
    answered.is_some() || same
}

fn pairs(root: &Path) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (dialect, folder) in [
        (Claude, "claude"),
        (QwenCode, "qwen-code"),
        (QwenCode, "qwen-code/sdk"),
        (Cursor, "cursor"),
        (Tricode, "tricode"),
    ] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.ends_with(".jsonl") || name.contains(".in.") || name.contains(".api.") {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let lines = text.lines().filter_map(|line| serde_json::from_str(&line[line.find('{')?..]).ok());
            match dialect {
                Cursor => cursor(lines, &mut pairs),
                Tricode => tricode(lines, &mut pairs),
                _ => claude(dialect, lines, &mut pairs),
            }
        }
    }
    pairs
}

/// A string's body.
fn body(text: &str) -> String {
    let mut body = String::new();
    Str::escape(text, &mut body);
    body
}

fn claude(from: Dialect, lines: impl Iterator<Item = Value>, pairs: &mut Vec<Pair>) {
    let mut calls = std::collections::HashMap::new();
    for line in lines {
        for block in line["message"]["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                calls.insert(
                    block["id"].to_string(),
                    (block["name"].as_str().unwrap().to_owned(), block["input"].to_string()),
                );
            } else if let Some((name, input)) = (block["type"] == "tool_result")
                .then(|| calls.get(&block["tool_use_id"].to_string()))
                .flatten()
            {
                pairs.push(Pair {
                    from,
                    name: name.clone(),
                    input: input.clone(),
                    ok: block["is_error"] != true,
                    text: body(block["content"].as_str().unwrap_or_default()),
                    detail: line.get("tool_use_result").map(Value::to_string),
                });
            }
        }
    }
}

fn cursor(lines: impl Iterator<Item = Value>, pairs: &mut Vec<Pair>) {
    for line in lines.filter(|line| line["subtype"] == "completed" && line["type"] == "tool_call") {
        let Some((name, tool)) = line["tool_call"]
            .as_object()
            .and_then(|call| call.iter().find(|(key, _)| key.ends_with("ToolCall")))
        else {
            continue;
        };
        pairs.push(Pair {
            from: Cursor,
            name: name.clone(),
            input: tool.get("args").map_or("{}".to_owned(), Value::to_string),
            ok: tool["result"].get("success").is_some(),
            text: body("text"),
            detail: Some(tool["result"].to_string()),
        });
    }
}

fn tricode(lines: impl Iterator<Item = Value>, pairs: &mut Vec<Pair>) {
    let mut input = String::new();
    for line in lines {
        if line["type"] == "tool_call" {
            input = line["arguments"].to_string();
        } else if line["type"] == "tool_result" {
            pairs.push(Pair {
                from: Tricode,
                name: line["name"].as_str().unwrap().to_owned(),
                input: input.clone(),
                ok: line["success"] == true,
                text: body(line["result"].as_str().unwrap()),
                detail: None,
            });
        }
    }
}
