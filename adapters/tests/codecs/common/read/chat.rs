//! Sessions as lists of what was said: chat messages, and ShareGPT's.

use super::{Item, arguments, content_text, objects};
use crate::common::json::Json;

/// Chat messages. Nothing says that a call failed, or how a turn ended.
pub fn messages(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for message in objects(bytes).iter().flat_map(|session| session.items("messages")) {
        match message.str("role") {
            "assistant" => {
                items.push(Item::Think(message.str("reasoning_content").to_owned()));
                items.push(Item::Text(content_text(message.get("content"))));
                items.push(Item::Text(message.str("refusal").to_owned()));
                items.extend(message.items("tool_calls").iter().map(|call| {
                    let function = call.get("function").cloned().unwrap_or(Json::Null);
                    Item::Call {
                        id: call.str("id").to_owned(),
                        name: function.str("name").to_owned(),
                        input: arguments(function.str("arguments")),
                    }
                }));
            }
            "tool" => items.push(Item::Result {
                id: message.str("tool_call_id").to_owned(),
                ok: true,
                text: Some(content_text(message.get("content"))),
            }),
            _ => {}
        }
    }
    items
}

/// ShareGPT's. Calls have no ids: they are numbered, and results come in the order of their calls.
pub fn conversations(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for session in objects(bytes) {
        let (mut calls, mut results) = (0, 0);
        for said in session.items("conversations") {
            let mut value = said.str("value");
            match said.str("from") {
                "observation" => {
                    for text in value.split("\n</tool_response>\n<tool_response>\n") {
                        results += 1;
                        items.push(Item::Result {
                            id: format!("call_{results}"),
                            ok: true,
                            text: Some(text.to_owned()),
                        });
                    }
                }
                from @ ("gpt" | "function_call") => {
                    if let Some((thought, rest)) = value.strip_prefix("<think>\n").and_then(|rest| rest.split_once("\n</think>\n\n")) {
                        items.push(Item::Think(thought.to_owned()));
                        value = rest;
                    }
                    if from == "gpt" {
                        items.push(Item::Text(value.to_owned()));
                        continue;
                    }
                    let marked = value.strip_suffix("\n</tool_call>").and_then(|rest| rest.split_once("\n<tool_call>\n"));
                    let (text, json) = marked.unwrap_or(("", value));
                    items.push(Item::Text(text.to_owned()));
                    let json = Json::read(json).unwrap_or(Json::Null);
                    let list = if json.is_object() { std::slice::from_ref(&json) } else { json.list() };
                    for call in list {
                        calls += 1;
                        items.push(Item::Call {
                            id: format!("call_{calls}"),
                            name: call.str("name").to_owned(),
                            input: call.get("arguments").map_or("{}".to_owned(), Json::canonical),
                        });
                    }
                }
                _ => {}
            }
        }
    }
    items
}
