//! Claude's and Qwen Code's lines.

use super::{Item, arguments, content_text, is_subagents_end, main_thread, merged, objects};
use crate::common::json::Json;
use std::collections::BTreeMap;

pub fn claude(bytes: &[u8]) -> Vec<Item> {
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
pub fn pieces(bytes: &[u8]) -> Vec<Item> {
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
