//! AG-UI.

use std::collections::BTreeMap;

use super::{Item, arguments, content_text, objects};
use crate::common::json::Json;

/// What the main agent says. Texts in other roles are prompts. A call is told where it begins, with all its arguments; of chunks one that names
/// nothing goes on with what the one before was of.
pub fn ag_ui(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut said: BTreeMap<String, bool> = BTreeMap::new();
    let mut calls: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut chunk = String::new();
    for line in objects(bytes) {
        if line.get("subagentRunId").is_some() {
            continue;
        }
        let is_agents = matches!(line.str("role"), "" | "assistant" | "reasoning");
        let message = line.str("messageId").to_owned();
        let delta = line.str("delta").to_owned();
        let kind = line.str("type");
        match kind {
            "TEXT_MESSAGE_START" => {
                said.insert(message, is_agents);
            }
            "TEXT_MESSAGE_CONTENT" if said.get(&message) != Some(&false) => items.push(Item::Text(delta)),
            "TEXT_MESSAGE_CHUNK" if is_agents => items.push(Item::Text(delta)),
            "REASONING_MESSAGE_CONTENT" | "REASONING_MESSAGE_CHUNK" | "THINKING_TEXT_MESSAGE_CONTENT" => items.push(Item::Think(delta)),
            "TOOL_CALL_START" | "TOOL_CALL_CHUNK" | "TOOL_CALL_ARGS" => {
                let named = line.str("toolCallId").to_owned();
                let id = if named.is_empty() { chunk.clone() } else { named };
                if kind != "TOOL_CALL_ARGS" && !calls.contains_key(&id) {
                    calls.insert(id.clone(), (items.len(), String::new()));
                    items.push(Item::Call {
                        id: id.clone(),
                        name: line.str("toolCallName").to_owned(),
                        input: String::new(),
                    });
                }
                if let Some((_, input)) = calls.get_mut(&id) {
                    input.push_str(&delta);
                }
                chunk = id;
            }
            "TOOL_CALL_RESULT" => items.push(Item::Result {
                id: line.str("toolCallId").to_owned(),
                ok: line.at(&["metadata", "agentglot", "status"]).is_none(),
                text: Some(content_text(line.get("content"))),
            }),
            "RUN_FINISHED" => {
                let outcome = line.at(&["outcome", "type"]).and_then(Json::text);
                items.push(Item::End {
                    ok: outcome != Some("cancelled"),
                });
            }
            "RUN_ERROR" => items.push(Item::End { ok: false }),
            _ => {}
        }
    }
    for (at, said) in calls.into_values() {
        if let Item::Call { input, .. } = &mut items[at] {
            *input = arguments(&said);
        }
    }
    items
}
