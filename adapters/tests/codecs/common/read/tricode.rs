//! Tricode's lines.

use super::Item;
use crate::common::json::Json;

/// Tricode has no ids: calls and results are numbered as they come.
pub fn tricode(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let (mut calls, mut results) = (0, 0);
    for line in String::from_utf8_lossy(bytes).split('\n') {
        let object = line.find("{\"type\": \"").and_then(|at| Json::read(&line[at..])).unwrap_or(Json::Null);
        match object.str("type") {
            "tool_call" => {
                calls += 1;
                let input = object.get("arguments").map_or("{}".to_owned(), Json::canonical);
                items.push(Item::Call {
                    id: calls.to_string(),
                    name: object.str("name").to_owned(),
                    input,
                });
            }
            "tool_result" => {
                results += 1;
                let text = Some(object.str("result").to_owned());
                items.push(Item::Result {
                    id: results.to_string(),
                    ok: object.bool("success") == Some(true),
                    text,
                });
            }
            "final" => items.extend([Item::Text(object.str("content").to_owned()), Item::End { ok: true }]),
            _ if is_tricode_error(line) => items.push(Item::End { ok: false }),
            _ => {}
        }
    }
    items
}

/// Whether a line is one of the plain sentences with which Tricode gives up.
pub fn is_tricode_error(line: &str) -> bool {
    ["OpenAI API error:", "Error:", "❌ Agent terminated"]
        .iter()
        .any(|start| line.starts_with(start))
}
