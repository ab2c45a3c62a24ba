//! Gemini CLI's lines.

use super::{Item, objects};
use crate::common::json::Json;

/// What people see of a call that failed is beside what the model sees.
pub fn gemini(bytes: &[u8]) -> Vec<Item> {
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
