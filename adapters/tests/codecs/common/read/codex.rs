//! Codex's `exec --json`.

use super::{Item, content_text, objects};
use crate::common::json::Json;
use std::collections::BTreeMap;

/// Items are counted anew in each turn: calls are numbered as they come. Tools without an item of their own are said to be a server's.
pub fn codex(bytes: &[u8]) -> Vec<Item> {
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

/// A message of the app-server, which a recording keeps beside its direction.
pub fn message(object: &Json) -> &Json {
    object.get("msg").filter(|_| object.get("dir").is_some()).unwrap_or(object)
}

/// Text comes in pieces, and whole; what is interrupted comes in pieces only.
pub fn app_server(bytes: &[u8]) -> Vec<Item> {
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
