//! The lines of the RFC.

use super::{Item, arguments, objects};
use crate::common::json::Json;
use std::collections::BTreeMap;

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

pub fn completions(bytes: &[u8]) -> Vec<Item> {
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

pub fn chunks(bytes: &[u8]) -> Vec<Item> {
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
