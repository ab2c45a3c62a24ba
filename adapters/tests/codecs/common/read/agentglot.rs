//! The canonical events.

use super::{Item, arguments, content_text, objects};
use crate::common::json::Json;
use std::collections::BTreeMap;

/// A kind of block that comes in deltas comes so throughout, and its snapshots say it again. Calls stand where they begin: pieces of several may
/// come one among the other.
pub fn events(bytes: &[u8]) -> Vec<Item> {
    let all = objects(bytes);
    let deltas = |key: &str| all.iter().any(|o| o.str("event") == "delta" && o.get(key).is_some());
    let streamed = [deltas("text"), deltas("thinking"), deltas("input")];
    let mut items = Vec::new();
    let mut calls: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut announced: BTreeMap<String, usize> = BTreeMap::new();
    for object in all.iter().filter(|o| o.get("parent").is_none()) {
        let index = object.get("index").map_or(String::new(), Json::compact);
        match object.str("event") {
            "block_start" if object.at(&["block", "type"]).and_then(Json::text) == Some("call") => {
                let block = object.get("block").cloned().unwrap_or(Json::Null);
                calls.insert(index, (items.len(), String::new()));
                items.push(Item::Call {
                    id: block.str("id").to_owned(),
                    name: block.str("name").to_owned(),
                    input: String::new(),
                });
            }
            "delta" => {
                items.push(Item::Text(object.str("text").to_owned()));
                items.push(Item::Think(object.str("thinking").to_owned()));
                if let Some((_, input)) = calls.get_mut(&index) {
                    input.push_str(object.str("input"));
                }
            }
            "block_stop" | "round_end" => {
                let done: Vec<String> = calls
                    .keys()
                    .filter(|key| object.str("event") == "round_end" || **key == index)
                    .cloned()
                    .collect();
                for key in done {
                    let (at, said) = calls.remove(&key).expect("its key was just seen");
                    if let Item::Call { input, .. } = &mut items[at] {
                        *input = arguments(&said);
                    }
                }
            }
            "reply" => {
                let said = object.items("blocks").iter().filter_map(event_block).filter(|item| match item {
                    Item::Text(_) => !streamed[0],
                    Item::Think(_) => !streamed[1],
                    _ => !streamed[2],
                });
                for item in said {
                    let place = match &item {
                        Item::Call { id, .. } => announced.remove(id),
                        _ => None,
                    };
                    match place {
                        Some(at) => items[at] = item,
                        None => items.push(item),
                    }
                }
            }
            "tool_progress" => {
                let id = object.str("call");
                if !items.iter().any(|item| matches!(item, Item::Call { id: told, .. } if told == id)) && !announced.contains_key(id) {
                    announced.insert(id.to_owned(), items.len());
                    items.push(Item::Text(String::new()));
                }
            }
            "tool_result" => {
                let text = Some(content_text(object.get("content")));
                items.push(Item::Result {
                    id: object.str("call").to_owned(),
                    ok: object.str("status") == "success",
                    text,
                });
            }
            "outcome" => items.push(Item::End {
                ok: object.bool("is_error") != Some(true),
            }),
            _ => {}
        }
    }
    // What has not ended was not called.
    for (at, _) in calls.into_values() {
        items[at] = Item::Text(String::new());
    }
    items
}

fn event_block(block: &Json) -> Option<Item> {
    Some(match block.str("type") {
        "text" => Item::Text(block.str("text").to_owned()),
        "thinking" => Item::Think(block.str("text").to_owned()),
        "call" => Item::Call {
            id: block.str("id").to_owned(),
            name: block.str("name").to_owned(),
            input: block.get("input").map_or("{}".to_owned(), Json::canonical),
        },
        _ => return None,
    })
}
