use crate::event::{Block, Media};
use crate::json::{Out, Raw, Str};

/// An image or a document, whatever its data are called where it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Picture<'a> {
    is_image: bool,
    pub(crate) is_document: bool,
    /// The type of the data; `None` where an address stands in their place.
    pub(crate) mime: Option<Str<'a>>,
    /// The data in base64, or the address.
    pub(crate) value: Str<'a>,
    /// The whole block.
    raw: Raw<'a>,
    /// The address, where there is one; it may hold the data.
    address: Option<Str<'a>>,
}

impl<'a> Media<'a> {
    /// An image or a document.
    pub(crate) fn picture(&self) -> Option<Picture<'a>> {
        self.shown().filter(Picture::is_seen)
    }

    /// What is shown, or heard where its data say so. Beside a `source` the data may stand in the block itself, in a member of it, or in an address.
    pub(crate) fn shown(&self) -> Option<Picture<'a>> {
        self.raw.check().ok()?;
        let of = |raw: Raw<'a>, name: &str| raw.get(name).and_then(Raw::string);
        let held = held(self.raw);
        let mime = ["media_type", "mimeType"].iter().find_map(|name| of(held, name));
        let data = mime.zip(["data", "blob"].iter().find_map(|name| of(held, name)));
        let address = || {
            held.string()
                .or_else(|| ["url", "fileUri", "file_data"].iter().find_map(|name| of(held, name)))
        };
        let (address, (mime, value)) = match data {
            Some((mime, data)) => (None, (Some(mime), data)),
            None => {
                let address = address()?;
                (Some(address), in_address(address))
            }
        };
        // An address does not say what lies there; what stands beside it does.
        let declared = mime.or_else(|| ["media_type", "mimeType", "mime"].iter().find_map(|name| of(held, name)));
        // Where only an address is known nothing else says what it is.
        let bare = self.kind.is("fileData") && declared.is_none();
        let is_document = match bare {
            true => value.as_escaped().ends_with(".pdf"),
            false => self.kind.is("document") || declared.is_some_and(|mime| mime.is("application/pdf")),
        };
        let is_image = bare && !is_document
            || ["image", "input_image", "inputImage", "image_url"].iter().any(|kind| self.kind.is(kind))
            || declared.is_some_and(|mime| mime.begins("image/"));
        (is_image || is_document || mime.is_some()).then_some(Picture {
            is_image,
            is_document,
            mime,
            value,
            raw: self.raw,
            address,
        })
    }
}

/// What holds the data: a member of the block, or the block itself.
fn held(block: Raw<'_>) -> Raw<'_> {
    let names = ["source", "inlineData", "fileData", "image_url", "imageUrl", "resource", "file"];
    names.iter().find_map(|name| block.get(name)).unwrap_or(block)
}

/// An address may hold the data themselves.
fn in_address(address: Str<'_>) -> (Option<Str<'_>>, Str<'_>) {
    let held = address.as_escaped().strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    held.map_or((None, address), |(mime, data)| (Some(Str::trusted(mime)), Str::trusted(data)))
}

impl<'a> Block<'a> {
    /// A part as [`Picture::write_part`] writes it; another one is of a kind that has no name.
    pub(crate) fn of_part(part: Raw<'a>) -> Self {
        match ["inlineData", "fileData"].into_iter().find(|name| part.get(name).is_some()) {
            Some(kind) => Self::Media(Media {
                kind: Str::trusted(kind),
                raw: part,
            }),
            None => Self::Other { kind: Str::EMPTY, raw: part },
        }
    }
}

impl Picture<'_> {
    /// Whether it is an image or a document.
    pub(crate) const fn is_seen(&self) -> bool {
        self.is_image || self.is_document
    }

    /// Whether it is heard.
    pub(crate) fn is_sound(&self) -> bool {
        self.mime.is_some_and(|mime| mime.begins("audio/"))
    }

    /// What it is called in blocks.
    pub(crate) const fn kind(&self) -> &'static str {
        if self.is_document { "document" } else { "image" }
    }

    /// Writes its address, which holds the data themselves where they are known.
    pub(crate) fn write_address(&self, out: &mut Out) {
        if let Some(address) = self.address {
            return out.str(address);
        }
        out.lit("\"data:");
        out.body(self.mime.unwrap_or_default());
        out.lit(";base64,");
        out.body(self.value);
        out.lit("\"");
        self.tell("an image is an address", out);
    }

    /// Tells the ledger that it was said in another shape. What else the block says was not.
    pub(crate) fn tell(&self, note: &'static str, out: &Out) {
        if !out.traced() {
            return;
        }
        let said = [self.mime, Some(self.value), self.address];
        said.into_iter().flatten().for_each(|text| out.used(text.as_escaped()));
        for (key, value) in [self.raw, held(self.raw)].into_iter().flat_map(Raw::members) {
            let is_mime = self.mime.is_some_and(|mime| value.string().is_some_and(|text| text.same_text(mime)));
            // What kind of thing it is each shape says in its own way.
            if is_mime || key.is("type") {
                out.used(value.as_str());
            }
        }
        out.reshaped(self.raw.as_str(), note);
    }

    /// Writes it as a part with `inlineData`, or with `fileData` where only its address is known.
    pub(crate) fn write_part(&self, out: &mut Out) {
        match self.mime {
            Some(mime) => {
                out.lit("{\"inlineData\":{\"mimeType\":");
                out.str(mime);
                out.lit(",\"data\":");
            }
            None => out.lit("{\"fileData\":{\"fileUri\":"),
        }
        out.str(self.value);
        out.lit("}}");
    }

    /// Writes it as a block with a `source`.
    pub(crate) fn write(&self, out: &mut Out) {
        out.lit("{\"type\":\"");
        out.lit(self.kind());
        out.lit("\",\"source\":{\"type\":\"");
        out.lit(if self.mime.is_some() { "base64\"" } else { "url\"" });
        out.str_if(",\"media_type\":", self.mime);
        out.lit(if self.mime.is_some() { ",\"data\":" } else { ",\"url\":" });
        out.str(self.value);
        out.lit("}}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_one_whoever_says_it() {
        let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
        let linked = r#"{"type":"image","source":{"type":"url","url":"https://e.org/a"}}"#;
        let document = r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}}"#;
        for (kind, raw, wanted) in [
            (
                "image",
                r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#,
                image,
            ),
            ("image", r#"{"type":"image","mimeType":"image/png","data":"QUJD"}"#, image),
            ("input_image", r#"{"type":"input_image","image_url":"data:image/png;base64,QUJD"}"#, image),
            (
                "image_url",
                r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}"#,
                image,
            ),
            ("inputImage", r#"{"type":"inputImage","imageUrl":"data:image/png;base64,QUJD"}"#, image),
            ("file", r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,QUJD"}"#, image),
            ("inlineData", r#"{"inlineData":{"mimeType":"image/png","data":"QUJD"}}"#, image),
            (
                "resource",
                r#"{"type":"resource","resource":{"uri":"file:///a.png","mimeType":"image/png","blob":"QUJD"}}"#,
                image,
            ),
            ("file", r#"{"type":"file","mime":"image/png","url":"https://e.org/a"}"#, linked),
            ("fileData", r#"{"fileData":{"mimeType":"image/png","fileUri":"https://e.org/a"}}"#, linked),
            ("fileData", r#"{"fileData":{"fileUri":"https://e.org/a"}}"#, linked),
            (
                "file",
                r#"{"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,QUJD"}"#,
                document,
            ),
            ("inlineData", r#"{"inlineData":{"mimeType":"application/pdf","data":"QUJD"}}"#, document),
        ] {
            let media = Media {
                kind: Str::trusted(kind),
                raw: Raw::trusted(raw),
            };
            let mut out = Out::default();
            media.picture().unwrap_or_else(|| panic!("{raw}")).write(&mut out);
            assert_eq!(String::from_utf8_lossy(out.written()), wanted, "{raw}");
        }
        let audio = Media {
            kind: Str::trusted("audio"),
            raw: Raw::trusted(r#"{"type":"audio","mimeType":"audio/wav","data":"QUJD"}"#),
        };
        assert_eq!(audio.picture(), None);
    }
}
