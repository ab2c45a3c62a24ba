//! The Agent Client Protocol.

use super::{Item, objects};
use crate::common::json::Json;
use std::collections::BTreeMap;

/// Both directions of the Agent Client Protocol, bare or as a recorder wrapped the messages. A call stands where it is first spoken of; its
/// last arguments before its result count, and what it shows is its result.
pub fn acp(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut running: BTreeMap<String, usize> = BTreeMap::new();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for line in objects(bytes) {
        let message = line.get("msg").filter(|_| line.get("dir").is_some()).cloned().unwrap_or(line);
        let update = message.at(&["params", "update"]).cloned().unwrap_or(Json::Null);
        match update.str("sessionUpdate") {
            word @ ("agent_message_chunk" | "agent_thought_chunk") => {
                let text = update.get("content").map_or("", |content| content.str("text")).to_owned();
                items.push(match word {
                    "agent_message_chunk" => Item::Text(text),
                    _ => Item::Think(text),
                });
            }
            "tool_call" | "tool_call_update" => {
                let id = update.str("toolCallId").to_owned();
                let said = update.get("rawInput").map(Json::canonical);
                if update.str("sessionUpdate") == "tool_call" {
                    running.insert(id.clone(), items.len());
                    items.push(Item::Call {
                        id: id.clone(),
                        name: update.str("name").to_owned(),
                        input: said.unwrap_or_else(|| "{}".to_owned()),
                    });
                } else if let Some(Item::Call { input, .. }) = running.get(&id).map(|at| &mut items[*at])
                    && let Some(said) = said
                {
                    *input = said;
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
                    running.remove(&id);
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
        if let Some(reason) = message.at(&["result", "stopReason"]).and_then(Json::text) {
            items.push(Item::End { ok: reason == "end_turn" });
        } else if message.get("error").is_some() && message.get("method").is_none() {
            items.push(Item::End { ok: false });
        }
    }
    items
}
