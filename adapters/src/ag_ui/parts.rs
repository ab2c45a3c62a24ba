//! Content that is a text or parts: read, and written.

use bumpalo::collections::Vec as ArenaVec;

use crate::codec::Cx;
use crate::event::{Block, Content, Media, Picture};
use crate::json::{Out, Raw};

/// Content as blocks have it.
pub(super) fn content<'a>(raw: Raw<'a>, cx: &Cx<'a>) -> Content<'a> {
    match raw.string() {
        Some(text) => Content::Text(text),
        None => {
            let parts = raw.elements().map(|part| block(part, cx));
            Content::Blocks(ArenaVec::from_iter_in(parts, cx.arena).into_bump_slice())
        }
    }
}

/// A part; an image in the form that blocks have.
fn block<'a>(part: Raw<'a>, cx: &Cx<'a>) -> Block<'a> {
    let text = |raw: Raw<'a>, name: &str| raw.get(name).and_then(Raw::string);
    let kind = text(part, "type").unwrap_or_default();
    if let Some(text) = text(part, "text").filter(|_| kind.is("text")) {
        cx.took(kind.as_escaped());
        return Block::Text { text, fields: &[] };
    }
    let source = part.get("source").filter(|_| kind.is("image") || kind.is("document"));
    let made = source.and_then(|source| {
        let value = text(source, "value")?;
        let (of, mime) = (text(source, "type")?, text(source, "mimeType"));
        let made = match (of.as_escaped(), mime) {
            ("data", Some(mime)) => format!(
                r#"{{"type":"{}","source":{{"type":"base64","media_type":"{}","data":"{}"}}}}"#,
                kind.as_escaped(),
                mime.as_escaped(),
                value.as_escaped()
            ),
            ("url", _) => format!(
                r#"{{"type":"{}","source":{{"type":"url","url":"{}"}}}}"#,
                kind.as_escaped(),
                value.as_escaped()
            ),
            _ => return None,
        };
        cx.took(kind.as_escaped());
        cx.took(of.as_escaped());
        let made = cx.arena.alloc_str(&made);
        for part in [Some(value), mime].into_iter().flatten() {
            cx.stands_for(made, part.as_escaped());
        }
        Some(Raw::trusted(made))
    });
    match made {
        Some(raw) => Block::Media(Media { kind, raw }),
        None => Block::Other { kind, raw: part },
    }
}

/// Writes the texts of content as one.
pub(super) fn texts(content: Content<'_>, out: &mut Out) {
    out.lit("\"");
    content.as_one().for_each(|text| out.body(text));
    out.lit("\"");
}

/// Writes a member with the images and documents of content, if there are any.
pub(super) fn media(content: Content<'_>, out: &mut Out) {
    let Content::Blocks(blocks) = content else { return };
    let mut before = ",\"media\":[";
    for block in blocks {
        let Block::Media(media) = block else { continue };
        let Some(picture) = media.picture() else { continue };
        out.lit(before);
        out.beside(media.kind.as_escaped());
        write(&picture, out);
        before = ",";
    }
    if before == "," {
        out.lit("]");
    }
}

/// The same read: content with what stands beside it.
pub(super) fn with_media<'a>(content: Content<'a>, media: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
    let Some(media) = media else { return content };
    let mut blocks = ArenaVec::new_in(cx.arena);
    match content {
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => blocks.push(Block::Text { text, fields: &[] }),
        Content::Blocks(parts) => blocks.extend_from_slice(parts),
    }
    blocks.extend(media.elements().map(|part| block(part, cx)));
    Content::Blocks(blocks.into_bump_slice())
}

/// Writes an image or a document, where it is.
fn write(picture: &Picture<'_>, out: &mut Out) {
    out.lit("{\"type\":\"");
    out.lit(picture.kind());
    out.lit("\",\"source\":{\"type\":");
    out.lit(if picture.mime.is_some() { "\"data\"" } else { "\"url\"" });
    out.str_if(",\"mimeType\":", picture.mime);
    out.lit(",\"value\":");
    out.str(picture.value);
    out.lit("}}");
}
