//! OpenCode's lines.

use super::{Item, objects};
use crate::common::json::Json;

/// Nothing says that a turn is over but an error, or a round that called nothing.
pub fn opencode(bytes: &[u8]) -> Vec<Item> {
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
