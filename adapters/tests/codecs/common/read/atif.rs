//! Trajectories.

use super::{Item, content_text};
use crate::common::json::Json;

/// A trajectory: results stand in the step of their call. What an agent says of itself is in the free room.
pub fn atif(bytes: &[u8]) -> Vec<Item> {
    let document = Json::read(String::from_utf8_lossy(bytes).trim()).unwrap_or(Json::Null);
    let mut items = Vec::new();
    for step in document.items("steps") {
        if step.str("source") == "agent" {
            items.push(Item::Think(step.str("reasoning_content").to_owned()));
            items.push(Item::Text(content_text(step.get("message"))));
        }
        for call in step.items("tool_calls") {
            items.push(Item::Call {
                id: call.str("tool_call_id").to_owned(),
                name: call.str("function_name").to_owned(),
                input: call.get("arguments").map_or("{}".to_owned(), Json::canonical),
            });
        }
        for result in step.get("observation").map_or(&[][..], |observation| observation.items("results")) {
            items.push(Item::Result {
                id: result.str("source_call_id").to_owned(),
                ok: result.at(&["extra", "is_error"]).is_none(),
                text: Some(content_text(result.get("content"))),
            });
        }
        if let Some(outcome) = step.at(&["extra", "outcome"]) {
            items.push(Item::End {
                ok: outcome.bool("is_error") == Some(false),
            });
        }
    }
    items
}
