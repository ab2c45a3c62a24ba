//! Parts of messages that are no text: a path here, a source with data or a link where content is made of blocks.

use super::MEDIA;
use crate::codec::Cx;
use crate::event::{Block, Media};
use crate::json::{Out, Raw, Str};

/// What a part of a message says; its media in the form that blocks have.
pub(super) fn read<'a>(part: Raw<'a>, cx: &Cx<'a>) -> Block<'a> {
    let kind = part.get("type").and_then(Raw::string).unwrap_or_default();
    match (kind.as_escaped(), part.get("text").and_then(Raw::string), path_of(part)) {
        ("text", Some(text), _) => {
            cx.took(kind.as_escaped());
            Block::Text { text, fields: &[] }
        }
        ("image", _, Some((media, path))) => {
            let (kind, media) = (cx.text("image"), media.as_escaped());
            let made = match path.as_escaped().split_once(";base64,") {
                Some((head, data)) if head.starts_with("data:") => {
                    format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{data}"}}}}"#)
                }
                _ => format!(
                    r#"{{"type":"image","source":{{"type":"url","media_type":"{media}","url":"{}"}}}}"#,
                    path.as_escaped()
                ),
            };
            let raw = Raw::trusted(cx.arena.alloc_str(&made));
            cx.stands_for(raw.as_str(), part.as_str());
            Block::Media(Media { kind, raw })
        }
        _ => Block::Other { kind, raw: part },
    }
}

/// The kind of media of a part, and where they are.
fn path_of(part: Raw<'_>) -> Option<(Str<'_>, Str<'_>)> {
    let source = part.get("source")?;
    Some((source.get("media_type")?.string()?, source.get("path")?.string()?))
}

/// Media that came with their data, in the free room beside a message: no path leads to them.
pub(super) fn inline<'a>(extra: Option<Raw<'a>>) -> impl Iterator<Item = Block<'a>> {
    let list = extra.and_then(|extra| extra.get(MEDIA));
    let all = list.into_iter().flat_map(Raw::elements);
    all.filter_map(|raw| {
        let kind = raw.get("type")?.string()?;
        Some(Block::Media(Media { kind, raw }))
    })
}

/// Writes an image that a link leads to as a part of a message; nothing of other media.
pub(super) fn write(media: &Media<'_>, out: &mut Out) {
    let text = |name: &str| media.raw.get("source").and_then(|source| source.get(name)).and_then(Raw::string);
    let (Some(kind), Some(link)) = (text("media_type"), text("url")) else {
        return;
    };
    if media.kind.is("image") && TYPES.contains(&kind.as_escaped()) && media.raw.check().is_ok() {
        out.lit("{\"type\":\"image\",\"source\":{\"media_type\":\"");
        out.lit(kind.as_escaped());
        out.lit("\",\"path\":\"");
        out.lit(link.as_escaped());
        out.lit("\"}}");
        out.renamed(media.raw.as_str(), "an image is named by its path");
    }
}

/// The kinds of images that there are.
const TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
