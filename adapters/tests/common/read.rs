//! Small readers of each format, written for tests alone: what a log says, as a flat list of items of the main thread.

use super::json::Json;
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};
use std::collections::BTreeMap;

/// One thing that a log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Text(String),
    Think(String),
    /// A tool call; the arguments in canonical JSON.
    Call {
        id: String,
        name: String,
        input: String,
    },
    /// A tool's result; its text where the format has it in plain form.
    Result {
        id: String,
        ok: bool,
        text: Option<String>,
    },
    /// A turn is over.
    End {
        ok: bool,
    },
}

/// What a log says. Neighbouring texts, and neighbouring thoughts, are one.
pub fn read(format: Format, bytes: &[u8]) -> Vec<Item> {
    let items = match (format.dialect, format.mode.layout) {
        (Dialect::Claude | Dialect::QwenCode, _) => claude(bytes),
        (Dialect::Qwen, Layout::Pieces) => chunks(bytes),
        (Dialect::Qwen, _) => completions(bytes),
        (Dialect::Tricode, _) => tricode(bytes),
        (Dialect::Cursor, _) => cursor(bytes),
        (Dialect::Gemini, _) => gemini(bytes),
        (Dialect::Codex, _) if format.mode.name == "app-server" => app_server(bytes),
        (Dialect::Codex, _) => codex(bytes),
        (Dialect::Atif, _) => atif(bytes),
        (Dialect::Acp, _) => acp(bytes),
        (Dialect::Opencode, _) => opencode(bytes),
        (Dialect::Agentglot | Dialect::Openai | Dialect::Anthropic, _) => events(bytes),
    };
    merged(items)
}

pub fn merged(items: Vec<Item>) -> Vec<Item> {
    let mut all: Vec<Item> = Vec::new();
    for item in items {
        match (all.last_mut(), item) {
            (_, Item::Text(text) | Item::Think(text)) if text.is_empty() => {}
            (Some(Item::Text(before)), Item::Text(text)) | (Some(Item::Think(before)), Item::Think(text)) => before.push_str(&text),
            (_, item) => all.push(item),
        }
    }
    all
}

/// The JSON objects of a log, line by line; everything else is left out.
pub fn objects(bytes: &[u8]) -> Vec<Json> {
    let text = String::from_utf8_lossy(bytes);
    text.split('\n')
        .filter_map(|line| Json::read(line.strip_prefix('\u{feff}').unwrap_or(line)).filter(Json::is_object))
        .collect()
}

/// The text of content that is a text or a list of blocks.
pub fn content_text(content: Option<&Json>) -> String {
    match content {
        Some(Json::Text(text)) => text.clone(),
        Some(Json::List(blocks)) => blocks.iter().filter(|b| b.str("type") == "text").map(|b| b.str("text")).collect(),
        _ => String::new(),
    }
}

/// Arguments that stand in a text, in canonical JSON where they are JSON.
pub fn arguments(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    Json::read(text).map_or_else(|| text.to_owned(), |json| json.canonical())
}

fn main_thread(object: &Json) -> bool {
    object.get("parent_tool_use_id").is_none_or(Json::is_null)
}

/// Qwen Code's subagents end with a `result` of their own, all zero, in the middle of the turn; it ends nothing.
pub fn is_subagents_end(object: &Json) -> bool {
    object.at(&["error", "message"]).and_then(Json::text) == Some("CANCELLED") && object.get("duration_ms") == Some(&Json::Number("0".to_owned()))
}

fn claude(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for object in objects(bytes).iter().filter(|o| main_thread(o)) {
        match object.str("type") {
            "assistant" => {
                for block in object.get("message").map_or(&[][..], |m| m.items("content")) {
                    items.extend(claude_block(block));
                }
            }
            "user" => {
                for block in object.get("message").map_or(&[][..], |m| m.items("content")) {
                    if block.str("type") == "tool_result" {
                        let text = Some(content_text(block.get("content")));
                        items.push(Item::Result {
                            id: block.str("tool_use_id").to_owned(),
                            ok: block.bool("is_error") != Some(true),
                            text,
                        });
                    }
                }
            }
            "result" if !is_subagents_end(object) => items.push(Item::End {
                ok: object.bool("is_error") != Some(true),
            }),
            _ => {}
        }
    }
    items
}

fn claude_block(block: &Json) -> Option<Item> {
    Some(match block.str("type") {
        "text" => Item::Text(block.str("text").to_owned()),
        "thinking" => Item::Think(block.str("thinking").to_owned()),
        "tool_use" => Item::Call {
            id: block.str("id").to_owned(),
            name: block.str("name").to_owned(),
            input: block.get("input").map_or("{}".to_owned(), Json::canonical),
        },
        _ => return None,
    })
}

/// What the deltas of a Claude-shaped log say, without its whole messages: must be the same.
pub fn claude_pieces(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open: BTreeMap<String, (Json, String)> = BTreeMap::new();
    for object in objects(bytes).iter().filter(|o| main_thread(o)) {
        let event = object.get("event").cloned().unwrap_or(Json::Null);
        let index = event.get("index").map_or(String::new(), Json::compact);
        match (object.str("type"), event.str("type")) {
            ("stream_event", "content_block_start") => {
                open.insert(index, (event.get("content_block").cloned().unwrap_or(Json::Null), String::new()));
            }
            ("stream_event", "content_block_delta") => {
                let delta = event.get("delta").cloned().unwrap_or(Json::Null);
                if let Some((_, body)) = open.get_mut(&index) {
                    for key in ["text", "thinking", "partial_json"] {
                        body.push_str(delta.str(key));
                    }
                }
            }
            ("stream_event", "content_block_stop") => {
                let Some((head, body)) = open.remove(&index) else { continue };
                match head.str("type") {
                    "text" => items.push(Item::Text(body)),
                    "thinking" => items.push(Item::Think(body)),
                    "tool_use" => {
                        items.push(Item::Call {
                            id: head.str("id").to_owned(),
                            name: head.str("name").to_owned(),
                            input: arguments(&body),
                        });
                    }
                    _ => {}
                }
            }
            ("user" | "result", _) => items.extend(claude(object.compact().as_bytes())),
            _ => {}
        }
    }
    merged(items)
}

/// The results and, where no `reasoning_content` says them, the thoughts among annotations.
fn annotations(body: &Json, items: &mut Vec<Item>) {
    for note in body.items("annotations") {
        match note.str("type") {
            "x-qwen-tool-display" if matches!(note.str("status"), "success" | "error" | "canceled" | "cancelled") => {
                let display = note.get("result_display");
                let text = display.and_then(|d| d.get("text")).and_then(Json::text).map(str::to_owned);
                items.push(Item::Result {
                    id: note.str("tool_call_id").to_owned(),
                    ok: note.str("status") == "success",
                    text,
                });
            }
            "x-qwen-thought" if body.get("reasoning_content").is_none() => items.push(Item::Think(note.str("description").to_owned())),
            _ => {}
        }
    }
}

/// A summary's word on how the turn ended.
fn summary(object: &Json) -> Option<Item> {
    let metadata = object.get("metadata")?;
    (metadata.str("summary") == "true").then(|| Item::End {
        ok: metadata.str("is_error") != "true",
    })
}

fn completions(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for object in objects(bytes).iter().filter(|o| o.str("object") == "chat.completion") {
        if object.at(&["metadata", "protocol_version"]).is_some() {
            continue;
        }
        if let Some(end) = summary(object) {
            items.push(end);
            continue;
        }
        for message in object.items("choices").iter().filter_map(|c| c.get("message")) {
            items.push(Item::Think(message.str("reasoning_content").to_owned()));
            items.push(Item::Text(message.str("content").to_owned()));
            for call in message.items("tool_calls") {
                let function = call.get("function").cloned().unwrap_or(Json::Null);
                items.push(Item::Call {
                    id: call.str("id").to_owned(),
                    name: function.str("name").to_owned(),
                    input: arguments(function.str("arguments")),
                });
            }
            annotations(message, &mut items);
        }
    }
    items
}

fn chunks(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut calls: BTreeMap<u64, (String, String, String)> = BTreeMap::new();
    let flush = |calls: &mut BTreeMap<u64, (String, String, String)>, items: &mut Vec<Item>| {
        for (id, name, input) in std::mem::take(calls).into_values() {
            items.push(Item::Call {
                id,
                name,
                input: arguments(&input),
            });
        }
    };
    for object in objects(bytes).iter().filter(|o| o.str("object") == "chat.completion.chunk") {
        for choice in object.items("choices") {
            let delta = choice.get("delta").cloned().unwrap_or(Json::Null);
            items.push(Item::Think(delta.str("reasoning_content").to_owned()));
            items.push(Item::Text(delta.str("content").to_owned()));
            for call in delta.items("tool_calls") {
                let index = call.get("index").and_then(|i| i.compact().parse().ok()).unwrap_or(u64::MAX);
                let function = call.get("function").cloned().unwrap_or(Json::Null);
                let (id, name, input) = calls.entry(index).or_default();
                id.push_str(call.str("id"));
                name.push_str(function.str("name"));
                input.push_str(function.str("arguments"));
            }
            if choice.get("finish_reason").is_some_and(|f| !f.is_null()) {
                flush(&mut calls, &mut items);
            }
            annotations(&delta, &mut items);
        }
        if let Some(end) = summary(object) {
            flush(&mut calls, &mut items);
            items.push(end);
        }
    }
    flush(&mut calls, &mut items);
    items
}

/// Tricode has no ids: calls and results are numbered as they come.
fn tricode(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let (mut calls, mut results) = (0, 0);
    for line in String::from_utf8_lossy(bytes).split('\n') {
        let object = line.find("{\"type\": \"").and_then(|at| Json::read(&line[at..])).unwrap_or(Json::Null);
        match object.str("type") {
            "tool_call" => {
                calls += 1;
                let input = object.get("arguments").map_or("{}".to_owned(), Json::canonical);
                items.push(Item::Call {
                    id: calls.to_string(),
                    name: object.str("name").to_owned(),
                    input,
                });
            }
            "tool_result" => {
                results += 1;
                let text = Some(object.str("result").to_owned());
                items.push(Item::Result {
                    id: results.to_string(),
                    ok: object.bool("success") == Some(true),
                    text,
                });
            }
            "final" => items.extend([Item::Text(object.str("content").to_owned()), Item::End { ok: true }]),
            _ if is_tricode_error(line) => items.push(Item::End { ok: false }),
            _ => {}
        }
    }
    items
}

/// Whether a line is one of the plain sentences with which Tricode gives up.
pub fn is_tricode_error(line: &str) -> bool {
    ["OpenAI API error:", "Error:", "❌ Agent terminated"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The log without `--stream-partial-output`: every assistant line is a whole segment.
fn cursor(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for object in objects(bytes) {
        match (object.str("type"), object.str("subtype")) {
            ("assistant", _) => items.push(Item::Text(content_text(object.at(&["message", "content"])))),
            ("thinking", "delta") => items.push(Item::Think(object.str("text").to_owned())),
            ("tool_call", subtype) => {
                let call = object.get("tool_call").cloned().unwrap_or(Json::Null);
                let Some((kind, body)) = call.members().iter().find(|(key, _)| key == "function" || key.ends_with("ToolCall")) else {
                    continue;
                };
                let id = object.str("call_id").to_owned();
                if subtype == "started" {
                    let (name, input) = match kind.as_str() {
                        "function" => (body.str("name").to_owned(), arguments(body.str("arguments"))),
                        kind => (kind.to_owned(), body.get("args").map_or("{}".to_owned(), Json::canonical)),
                    };
                    items.push(Item::Call { id, name, input });
                } else if subtype == "completed" {
                    let result = body.get("result").or_else(|| call.get("result"));
                    items.push(Item::Result {
                        id,
                        ok: result.is_some_and(|r| r.get("success").is_some()),
                        text: None,
                    });
                }
            }
            ("result", _) => items.push(Item::End {
                ok: object.bool("is_error") != Some(true),
            }),
            _ => {}
        }
    }
    items
}

/// What people see of a call that failed is beside what the model sees.
fn gemini(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for object in objects(bytes) {
        match object.str("type") {
            "message" if object.str("role") == "assistant" => items.push(Item::Text(object.str("content").to_owned())),
            "tool_use" => items.push(Item::Call {
                id: object.str("tool_id").to_owned(),
                name: object.str("tool_name").to_owned(),
                input: object.get("parameters").map_or("{}".to_owned(), Json::canonical),
            }),
            "tool_result" => {
                let message = object.at(&["error", "message"]).and_then(Json::text);
                items.push(Item::Result {
                    id: object.str("tool_id").to_owned(),
                    ok: object.str("status") == "success",
                    text: Some(message.unwrap_or(object.str("output")).to_owned()),
                });
            }
            "result" => items.push(Item::End {
                ok: object.str("status") == "success",
            }),
            _ => {}
        }
    }
    items
}

/// Items are counted anew in each turn: calls are numbered as they come. Tools without an item of their own are said to be a server's.
fn codex(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for object in objects(bytes) {
        let item = object.get("item").cloned().unwrap_or(Json::Null);
        let id = item.str("id").to_owned();
        match (object.str("type"), item.str("type")) {
            ("thread.started", _) => calls.clear(),
            ("item.completed", "agent_message") => items.push(Item::Text(item.str("text").to_owned())),
            ("item.completed", "reasoning") => items.push(Item::Think(item.str("text").to_owned())),
            (
                word @ ("item.started" | "item.completed"),
                kind @ ("command_execution" | "file_change" | "mcp_tool_call" | "web_search" | "collab_tool_call"),
            ) => {
                if !calls.contains_key(&id) {
                    count += 1;
                    calls.insert(id.clone(), count);
                    items.push(codex_call(&item, kind, count));
                }
                if word == "item.completed" {
                    let number = calls.get(&id).copied().unwrap_or_default();
                    items.push(Item::Result {
                        id: number.to_string(),
                        ok: item.get("status").is_none() || item.str("status") == "completed",
                        text: Some(match kind {
                            "command_execution" => item.str("aggregated_output").to_owned(),
                            "mcp_tool_call" => match item.at(&["error", "message"]).and_then(Json::text) {
                                Some(text) => text.to_owned(),
                                None => content_text(item.at(&["result", "content"])),
                            },
                            _ => String::new(),
                        }),
                    });
                }
            }
            ("item.started" | "item.updated", "todo_list") => {
                count += 1;
                items.push(codex_call(&item, "todo_list", count));
                items.push(Item::Result {
                    id: count.to_string(),
                    ok: true,
                    text: Some(String::new()),
                });
            }
            ("turn.completed", _) => items.push(Item::End { ok: true }),
            ("turn.failed", _) => items.push(Item::End { ok: false }),
            _ => {}
        }
    }
    items
}

/// A message of the app-server, which a recording keeps beside its direction.
pub fn message(object: &Json) -> &Json {
    object.get("msg").filter(|_| object.get("dir").is_some()).unwrap_or(object)
}

/// Text comes in pieces, and whole; what is interrupted comes in pieces only.
fn app_server(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut pieces: Vec<String> = Vec::new();
    let mut calls: Vec<String> = Vec::new();
    let mut plans = 0;
    for object in objects(bytes) {
        let message = message(&object);
        let params = message.get("params").cloned().unwrap_or(Json::Null);
        let item = params.get("item").cloned().unwrap_or(Json::Null);
        let (id, whole) = (item.str("id").to_owned(), message.str("method") == "item/completed");
        match (message.str("method"), item.str("type")) {
            (method @ ("item/agentMessage/delta" | "item/reasoning/summaryTextDelta"), _) => {
                pieces.push(params.str("itemId").to_owned());
                let text = params.str("delta").to_owned();
                items.push(if method.contains("reasoning") {
                    Item::Think(text)
                } else {
                    Item::Text(text)
                });
            }
            ("item/completed", "agentMessage") if !pieces.contains(&id) => items.push(Item::Text(item.str("text").to_owned())),
            ("item/completed", "reasoning") if !pieces.contains(&id) => {
                let Some(Json::List(parts)) = item.get("summary") else { continue };
                items.extend(parts.iter().filter_map(Json::text).map(|text| Item::Think(text.to_owned())));
            }
            ("turn/plan/updated", _) => {
                plans += 1;
                let members = ["explanation", "plan"]
                    .iter()
                    .filter_map(|name| Some(((*name).to_owned(), params.get(name)?.clone())));
                let members = members.filter(|(_, value)| !matches!(value, Json::Null));
                items.push(Item::Call {
                    id: format!("plan_{plans}"),
                    name: "update_plan".to_owned(),
                    input: Json::Object(members.collect()).canonical(),
                });
                items.push(Item::Result {
                    id: format!("plan_{plans}"),
                    ok: true,
                    text: Some(String::new()),
                });
            }
            ("item/started" | "item/completed", kind) => {
                let Some((name, asks)) = app_server_tool(kind) else { continue };
                if !calls.contains(&id) {
                    calls.push(id.clone());
                    let members = asks.iter().filter_map(|name| Some(((*name).to_owned(), item.get(name)?.clone())));
                    let members = members.filter(|(_, value)| !matches!(value, Json::Null));
                    let (name, input) = match kind {
                        "dynamicToolCall" => (
                            item.str("tool").to_owned(),
                            item.get("arguments").map_or("{}".to_owned(), Json::canonical),
                        ),
                        _ => (name.to_owned(), Json::Object(members.collect()).canonical()),
                    };
                    items.push(Item::Call { id: id.clone(), name, input });
                }
                if whole {
                    let text = match kind {
                        "commandExecution" => item.str("aggregatedOutput").to_owned(),
                        "mcpToolCall" => match item.at(&["error", "message"]).and_then(Json::text) {
                            Some(text) => text.to_owned(),
                            None => content_text(item.at(&["result", "content"])),
                        },
                        "dynamicToolCall" => match item.get("contentItems") {
                            Some(Json::List(blocks)) => blocks.iter().map(|block| block.str("text")).collect(),
                            _ => String::new(),
                        },
                        _ => String::new(),
                    };
                    items.push(Item::Result {
                        id,
                        ok: item.get("status").is_none() || item.str("status") == "completed",
                        text: Some(text),
                    });
                }
            }
            ("turn/completed", _) => items.push(Item::End {
                ok: params.at(&["turn", "status"]).and_then(Json::text) == Some("completed"),
            }),
            _ => {}
        }
    }
    items
}

fn app_server_tool(kind: &str) -> Option<(&'static str, &'static [&'static str])> {
    Some(match kind {
        "commandExecution" => ("command_execution", &["command"]),
        "fileChange" => ("file_change", &["changes"]),
        "mcpToolCall" => ("mcp_tool_call", &["server", "tool", "arguments"]),
        "webSearch" => ("web_search", &["query", "action"]),
        "collabAgentToolCall" => ("collab_tool_call", &["tool", "prompt"]),
        "dynamicToolCall" => ("", &[]),
        _ => return None,
    })
}

/// Nothing says that a turn is over but an error, or a round that called nothing.
fn opencode(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut over = false;
    for object in objects(bytes) {
        let part = object.get("part").cloned().unwrap_or(Json::Null);
        if std::mem::take(&mut over) && object.str("type") != "error" {
            items.push(Item::End { ok: true });
        }
        match object.str("type") {
            "text" => items.push(Item::Text(part.str("text").to_owned())),
            "reasoning" => items.push(Item::Think(part.str("text").to_owned())),
            "tool_use" => {
                let id = part.str("callID").to_owned();
                let state = part.get("state").cloned().unwrap_or(Json::Null);
                items.push(Item::Call {
                    id: id.clone(),
                    name: part.str("tool").to_owned(),
                    input: state.get("input").map_or("{}".to_owned(), Json::canonical),
                });
                let text = match state.str("status") {
                    "completed" => state.str("output"),
                    "error" => state.str("error"),
                    _ => continue,
                };
                let failed = state.at(&["metadata", "exit"]).is_some_and(|exit| exit.canonical() != "0");
                items.push(Item::Result {
                    id,
                    ok: state.str("status") == "completed" && !failed,
                    text: Some(text.to_owned()),
                });
            }
            "step_finish" => over = !["tool-calls", "unknown"].contains(&part.str("reason")),
            "error" => items.push(Item::End { ok: false }),
            _ => {}
        }
    }
    if over {
        items.push(Item::End { ok: true });
    }
    items
}

fn codex_call(item: &Json, kind: &str, number: usize) -> Item {
    let id = number.to_string();
    if item.str("server") == "builtin" {
        return Item::Call {
            id,
            name: item.str("tool").to_owned(),
            input: item.get("arguments").map_or("{}".to_owned(), Json::canonical),
        };
    }
    let asks: &[&str] = match kind {
        "command_execution" => &["command"],
        "file_change" => &["changes"],
        "mcp_tool_call" => &["server", "tool", "arguments"],
        "web_search" => &["query", "action"],
        "todo_list" => &["items"],
        _ => &["tool", "prompt"],
    };
    let members = asks.iter().filter_map(|name| Some(((*name).to_owned(), item.get(name)?.clone())));
    Item::Call {
        id,
        name: kind.to_owned(),
        input: Json::Object(members.collect()).canonical(),
    }
}

/// A trajectory: results stand in the step of their call. What an agent says of itself is in the free room.
fn atif(bytes: &[u8]) -> Vec<Item> {
    let document = Json::read(String::from_utf8_lossy(bytes).trim()).unwrap_or(Json::Null);
    let mut items = Vec::new();
    for step in document.items("steps") {
        if step.str("source") == "agent" {
            items.push(Item::Think(step.str("reasoning_content").to_owned()));
            items.push(Item::Text(content_text(step.get("message"))));
        }
        for call in step.items("tool_calls") {
            items.push(Item::Call {
                id: call.str("tool_call_id").to_owned(),
                name: call.str("function_name").to_owned(),
                input: call.get("arguments").map_or("{}".to_owned(), Json::canonical),
            });
        }
        for result in step.get("observation").map_or(&[][..], |observation| observation.items("results")) {
            items.push(Item::Result {
                id: result.str("source_call_id").to_owned(),
                ok: result.at(&["extra", "is_error"]).is_none(),
                text: Some(content_text(result.get("content"))),
            });
        }
        if let Some(outcome) = step.at(&["extra", "outcome"]) {
            items.push(Item::End {
                ok: outcome.bool("is_error") == Some(false),
            });
        }
    }
    items
}

/// Both directions of the Agent Client Protocol, bare or as a recorder wrapped the messages. Of a call the last arguments before its result
/// count; what a call shows is its result. A call is told when it runs, or when something else is said.
fn acp(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut waiting: Vec<(String, String, String)> = Vec::new();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let flush = |waiting: &mut Vec<(String, String, String)>, items: &mut Vec<Item>| {
        for (id, name, input) in waiting.drain(..) {
            items.push(Item::Call { id, name, input });
        }
    };
    for line in objects(bytes) {
        let message = line.get("msg").filter(|_| line.get("dir").is_some()).cloned().unwrap_or(line);
        let update = message.at(&["params", "update"]).cloned().unwrap_or(Json::Null);
        match update.str("sessionUpdate") {
            "agent_message_chunk" | "agent_thought_chunk" => {
                let text = update.get("content").map_or("", |content| content.str("text")).to_owned();
                if !text.is_empty() {
                    flush(&mut waiting, &mut items);
                }
                items.push(match update.str("sessionUpdate") {
                    "agent_message_chunk" => Item::Text(text),
                    _ => Item::Think(text),
                });
            }
            "tool_call" | "tool_call_update" => {
                let id = update.str("toolCallId").to_owned();
                if update.str("sessionUpdate") == "tool_call" {
                    let input = update.get("rawInput").map_or("{}".to_owned(), Json::canonical);
                    waiting.push((id.clone(), update.str("name").to_owned(), input));
                } else if let Some(call) = waiting.iter_mut().find(|call| call.0 == id)
                    && let Some(input) = update.get("rawInput")
                {
                    call.2 = input.canonical();
                }
                let shown: String = update
                    .items("content")
                    .iter()
                    .filter_map(|part| part.get("content"))
                    .map(|content| content.str("text"))
                    .collect();
                if update.get("content").is_some() {
                    texts.insert(id.clone(), shown);
                }
                if matches!(update.str("status"), "completed" | "failed") {
                    flush(&mut waiting, &mut items);
                    let text = Some(update.str("rawOutput").to_owned()).filter(|text| !text.is_empty());
                    items.push(Item::Result {
                        text: text.or_else(|| texts.remove(&id)),
                        id,
                        ok: update.str("status") == "completed",
                    });
                }
            }
            _ => {}
        }
        if message.at(&["result", "stopReason"]).is_some() {
            flush(&mut waiting, &mut items);
            let reason = message.at(&["result", "stopReason"]).and_then(Json::text).unwrap_or_default();
            items.push(Item::End { ok: reason == "end_turn" });
        } else if message.get("error").is_some() && message.get("method").is_none() {
            flush(&mut waiting, &mut items);
            items.push(Item::End { ok: false });
        }
    }
    flush(&mut waiting, &mut items);
    items
}

/// The canonical events. A kind of block that comes in deltas comes so throughout, and its snapshots say it again.
fn events(bytes: &[u8]) -> Vec<Item> {
    let all = objects(bytes);
    let deltas = |key: &str| all.iter().any(|o| o.str("event") == "delta" && o.get(key).is_some());
    let streamed = [deltas("text"), deltas("thinking"), deltas("input")];
    let mut items = Vec::new();
    let mut calls: BTreeMap<String, (String, String, String)> = BTreeMap::new();
    for object in all.iter().filter(|o| o.get("parent").is_none()) {
        let index = object.get("index").map_or(String::new(), Json::compact);
        match object.str("event") {
            "block_start" if object.at(&["block", "type"]).and_then(Json::text) == Some("call") => {
                let block = object.get("block").cloned().unwrap_or(Json::Null);
                calls.insert(index, (block.str("id").to_owned(), block.str("name").to_owned(), String::new()));
            }
            "delta" => {
                items.push(Item::Text(object.str("text").to_owned()));
                items.push(Item::Think(object.str("thinking").to_owned()));
                if let Some((_, _, input)) = calls.get_mut(&index) {
                    input.push_str(object.str("input"));
                }
            }
            "block_stop" | "round_end" => {
                let done: Vec<String> = calls
                    .keys()
                    .filter(|key| object.str("event") == "round_end" || **key == index)
                    .cloned()
                    .collect();
                for key in done {
                    let (id, name, input) = calls.remove(&key).expect("its key was just seen");
                    items.push(Item::Call {
                        id,
                        name,
                        input: arguments(&input),
                    });
                }
            }
            "reply" => items.extend(object.items("blocks").iter().filter_map(event_block).filter(|item| match item {
                Item::Text(_) => !streamed[0],
                Item::Think(_) => !streamed[1],
                _ => !streamed[2],
            })),
            "tool_result" => {
                let text = Some(content_text(object.get("content")));
                items.push(Item::Result {
                    id: object.str("call").to_owned(),
                    ok: object.str("status") == "success",
                    text,
                });
            }
            "outcome" => items.push(Item::End {
                ok: object.bool("is_error") != Some(true),
            }),
            _ => {}
        }
    }
    items
}

fn event_block(block: &Json) -> Option<Item> {
    Some(match block.str("type") {
        "text" => Item::Text(block.str("text").to_owned()),
        "thinking" => Item::Think(block.str("text").to_owned()),
        "call" => Item::Call {
            id: block.str("id").to_owned(),
            name: block.str("name").to_owned(),
            input: block.get("input").map_or("{}".to_owned(), Json::canonical),
        },
        _ => return None,
    })
}
