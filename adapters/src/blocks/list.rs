use crate::codec::List;
use crate::json::{Cursor, Raw, Shape};

/// The blocks of a message that may as well come on lines of their own: results, and those of a reply that has an id where `replies` are
/// told block by block. Blocks of a prompt are one prompt.
pub(crate) fn list(text: &str, replies: bool) -> Option<List> {
    let mut at = Cursor::new(text);
    let mut line = at.object().ok()?;
    let (mut kind, mut found) = (None, None);
    while let Some(key) = line.key(&mut at).ok()? {
        match key.as_escaped() {
            "type" if kind.is_none() => kind = Some(at.string().ok()?),
            "message" if found.is_none() => found = Some(blocks(&mut at)?),
            // It is of one result.
            "tool_use_result" => return None,
            _ => {
                at.skip().ok()?;
            }
        }
    }
    let (list, has_id) = found?;
    let may = match kind?.as_escaped() {
        "assistant" => replies && has_id,
        "user" => Raw::trusted(&text[list.at.clone()]).elements().all(|block| {
            let kind = block.get("type").and_then(Raw::string);
            kind.is_some_and(|kind| kind.is("tool_result"))
        }),
        _ => false,
    };
    may.then_some(list)
}

/// Where the blocks of a message stand, and whether the message has an id.
fn blocks(at: &mut Cursor<'_>) -> Option<(List, bool)> {
    let (mut list, mut has_id) = (None, false);
    let mut message = at.object().ok()?;
    while let Some(key) = message.key(at).ok()? {
        match (key.as_escaped(), at.shape().ok()?) {
            ("id", Shape::String) => has_id |= !at.string().ok()?.is_empty(),
            ("content", Shape::Array) if list.is_none() => {
                let begin = at.position();
                at.skip().ok()?;
                list = Some(List {
                    at: begin..at.position(),
                    pointer: "/message/content",
                });
            }
            ("content", _) => return None,
            _ => {
                at.skip().ok()?;
            }
        }
    }
    list.map(|list| (list, has_id))
}
