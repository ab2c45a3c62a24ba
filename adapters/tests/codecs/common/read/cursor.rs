//! Cursor's lines.

use super::{Item, arguments, content_text, objects};
use crate::common::json::Json;

/// The log without `--stream-partial-output`: every assistant line is a whole segment.
pub fn cursor(bytes: &[u8]) -> Vec<Item> {
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
