//! What the pieces of a content say, and the pictures among them.

use std::borrow::Cow;

use agentglot_adapters::events::{Block as Piece, Content, Json};

/// What content says; of what is no text, what it is.
pub(super) fn written(content: &Content) -> Cow<'_, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Blocks(pieces) => {
            let texts: Vec<Cow<'_, str>> = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text { text, .. } => Cow::Borrowed(text.as_str()),
                    other => Cow::Owned(format!("[{}]", about(other).0)),
                })
                .collect();
            match <[_; 1]>::try_from(texts) {
                Ok([one]) => one,
                Err(several) => Cow::Owned(several.join("\n")),
            }
        }
        _ => Cow::Borrowed(""),
    }
}

/// What a block without a better form is, and its text.
pub(super) fn about(piece: &Piece) -> (String, String) {
    match piece {
        Piece::Text { text, .. } => ("text".to_owned(), text.clone()),
        Piece::Thinking(thinking) => ("thinking".to_owned(), thinking.text.clone()),
        Piece::Redacted { .. } => ("thinking that only its vendor can read".to_owned(), String::new()),
        Piece::Call(call) => (call.name.clone(), call.input.to_string()),
        Piece::Media(media) => {
            let source = media.raw.get("source");
            let part = |name: &str| source.as_ref().and_then(|source| source.get(name)?.to_text());
            let size = part("data").map(|data| format!(", {} bytes", data.len() / 4 * 3));
            let kind = part("media_type").unwrap_or_else(|| media.kind.clone());
            (format!("{kind}{}", size.unwrap_or_default()), String::new())
        }
        Piece::Other { kind, raw } if !kind.is_empty() => (kind.clone(), raw.to_string()),
        Piece::Other { raw, .. } => ("block".to_owned(), raw.to_string()),
        _ => ("block".to_owned(), String::new()),
    }
}

/// A picture that a log holds, of a kind that runs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its media type.
    pub kind: &'static str,
    /// Its bytes in base64: nothing but that.
    pub data: String,
}

/// SVG is none of them: it may hold scripts, and ask for other files.
const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl Picture {
    /// The pictures of a content.
    pub(super) fn of_content(content: &Content) -> Vec<Self> {
        match content {
            Content::Blocks(pieces) => pieces.iter().filter_map(Self::of_piece).collect(),
            _ => Vec::new(),
        }
    }

    /// The picture that a piece is.
    pub(super) fn of_piece(piece: &Piece) -> Option<Self> {
        match piece {
            Piece::Media(media) => Self::of(&media.raw),
            Piece::Other { raw, .. } => Self::of(raw),
            _ => None,
        }
    }

    /// However it is written: beside its type, in an object, or as a `data:` URI.
    fn of(raw: &Json) -> Option<Self> {
        let inner = ["source", "inlineData", "inline_data", "image_url", "image"]
            .iter()
            .find_map(|name| raw.get(name));
        let place = inner.as_ref().unwrap_or(raw);
        let first = |names: &[&str]| names.iter().find_map(|name| place.get(name)?.to_text());
        let uri = place.to_text().or_else(|| first(&["url", "uri"]));
        if let Some(rest) = uri.as_deref().and_then(|uri| uri.strip_prefix("data:")) {
            let (kind, data) = rest.split_once(";base64,")?;
            return Self::new(kind, data.to_owned());
        }
        Self::new(&first(&["media_type", "mimeType", "mime_type", "mediaType"])?, first(&["data"])?)
    }

    fn new(kind: &str, data: String) -> Option<Self> {
        let kind = KINDS.into_iter().find(|known| kind.eq_ignore_ascii_case(known))?;
        let digits = data.trim_end_matches('=');
        let is_base64 = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
        is_base64.then_some(Self { kind, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_however_they_are_written() {
        let picture = |json: &str| Picture::of(&Json::new(json).unwrap()).map(|picture| (picture.kind, picture.data));
        let png = Some(("image/png", "iVBOR+/=".to_owned()));
        for written in [
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBOR+/="}}"#,
            r#"{"type":"image","mimeType":"IMAGE/PNG","data":"iVBOR+/="}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"iVBOR+/="}}"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,iVBOR+/="}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBOR+/="}}"#,
        ] {
            assert_eq!(picture(written), png, "{written}");
        }
        for other in [
            r#"{"mimeType":"image/svg+xml","data":"PHN2Zz4="}"#,
            r#"{"mimeType":"text/html","data":"PHN2Zz4="}"#,
            r#"{"mimeType":"image/png","data":"\" onload=\"alert(1)"}"#,
            r#"{"mimeType":"image/png","data":""}"#,
            r#"{"image_url":"https://example.org/a.png"}"#,
            r#"{"image_url":"data:image/png,plain"}"#,
        ] {
            assert_eq!(picture(other), None, "{other}");
        }
    }
}
