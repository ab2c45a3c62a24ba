//! The Agent Client Protocol.

use super::{Item, objects};
use crate::common::json::Json;
use std::collections::BTreeMap;

/// Both directions of the Agent Client Protocol, bare or as a recorder wrapped the messages. Of a call the last arguments before its result
/// count; what a call shows is its result. A call is told when it runs, or when something else is said.
pub fn acp(bytes: &[u8]) -> Vec<Item> {
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
