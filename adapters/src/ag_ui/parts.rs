//! Content that is a text or parts: read, and written.

use bumpalo::collections::Vec as ArenaVec;

use crate::codec::Cx;
use crate::event::{Block, Content, Media};
use crate::json::{Out, Raw, Str};

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
    content.texts().for_each(|text| out.body(text));
    out.lit("\"");
}

/// Writes a member with the images and documents of content, if there are any.
pub(super) fn media(content: Content<'_>, out: &mut Out) {
    let Content::Blocks(blocks) = content else { return };
    let mut before = ",\"media\":[";
    for block in blocks {
        let Block::Media(Media { raw, .. }) = block else { continue };
        let Some(picture) = picture(*raw) else { continue };
        out.lit(before);
        picture.write(out);
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

/// An image or a document, where it is.
struct Picture<'a> {
    kind: Str<'a>,
    mime: Option<Str<'a>>,
    value: Str<'a>,
}

impl Picture<'_> {
    fn write(&self, out: &mut Out) {
        let is_document = self.kind.is("document");
        out.used(self.kind.as_escaped());
        out.lit(if is_document {
            "{\"type\":\"document\",\"source\":{\"type\":"
        } else {
            "{\"type\":\"image\",\"source\":{\"type\":"
        });
        out.lit(if self.mime.is_some() { "\"data\"" } else { "\"url\"" });
        out.str_if(",\"mimeType\":", self.mime);
        out.lit(",\"value\":");
        out.str(self.value);
        out.lit("}}");
    }
}

/// An image or a document as Anthropic's blocks and this protocol's kin say it.
fn picture(raw: Raw<'_>) -> Option<Picture<'_>> {
    raw.check().ok()?;
    let kind = raw.get("type")?.string()?;
    if !kind.is("image") && !kind.is("document") {
        return None;
    }
    let get = |name: &str| raw.get(name).and_then(Raw::string);
    let (mime, value) = match raw.get("source") {
        Some(source) => {
            let of = |name: &str| source.get(name).and_then(Raw::string);
            match of("data") {
                Some(data) => (Some(of("media_type")?), data),
                None => (None, of("url")?),
            }
        }
        None => (Some(get("mimeType")?), get("data")?),
    };
    Some(Picture { kind, mime, value })
}
