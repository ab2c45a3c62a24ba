//! A line: when it was, what kind it is of, and what it says.

use crate::chat::Members;
use crate::codec::Cx;
use crate::event::{At, Field, Fields, Time};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// A line, opened.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) cx: Cx<'a>,
    /// The whole of it.
    pub(super) raw: Raw<'a>,
    pub(super) kind: Option<Str<'a>>,
    /// The payload, if it is an object.
    pub(super) payload: Option<&'a Members<'a>>,
    /// What kind of payload it is.
    pub(super) word: Str<'a>,
    pub(super) time: Option<Time<'a>>,
}

impl<'a> Line<'a> {
    /// Opens it. The bytes that it takes are those of `raw`.
    pub(super) fn read(text: &'a str, cx: &Cx<'a>) -> Result<Self, Error> {
        let mut at = Cursor::new(text);
        let members: &'a Members<'a> = cx.arena.alloc(Members::read_along(&mut at, &["payload"], cx)?);
        let raw = Raw::checked(&text[..at.position()]);
        let text = |name: &str| members.get(name).and_then(Raw::string);
        let (kind, payload) = match members.get("payload") {
            Some(payload) => (text("type"), members.opened(payload, cx)),
            None => match bare(members) {
                Some(kind) => (Some(Str::trusted(kind)), Some(members)),
                None => (text("type"), None),
            },
        };
        Ok(Self {
            cx: *cx,
            raw,
            kind,
            payload,
            word: payload.and_then(|payload| payload.get("type")?.string()).unwrap_or_default(),
            time: text("timestamp").map(Time::Iso),
        })
    }

    /// Whether nothing stands around what it says.
    pub(super) fn is_bare(&self) -> bool {
        self.raw.get("payload").is_none()
    }

    /// What kind of line it is has been understood.
    pub(super) fn took(&self) {
        for word in [self.kind.unwrap_or_default(), self.word] {
            self.cx.took(word.as_escaped());
        }
    }

    /// A member of what it says.
    pub(super) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.payload?.get(name).filter(|value| !value.is_null())
    }

    /// A text among them.
    pub(super) fn text(&self, name: &str) -> Option<Str<'a>> {
        self.get(name)?.string()
    }

    /// The same, which has to be there.
    pub(super) fn need(&self, name: &'static str) -> Result<Str<'a>, Error> {
        self.text(name).ok_or_else(|| self.missing(name))
    }

    /// A list that has to be there.
    pub(super) fn need_list(&self, name: &'static str) -> Result<Raw<'a>, Error> {
        let list = self.get(name).filter(|list| list.shape() == Some(Shape::Array));
        list.ok_or_else(|| self.missing(name))
    }

    pub(super) fn missing(&self, name: &'static str) -> Error {
        Error::missing(self.raw.as_str().len(), name)
    }

    /// The line, as the field of an event.
    pub(super) fn fields(&self) -> Fields<'a> {
        self.cx.list(&[Field {
            at: At::Line,
            key: Str::trusted(super::LINE),
            value: self.raw,
            known: true,
        }])
    }

    /// The turn that it belongs to, if it says so.
    pub(super) fn turn(&self) -> Option<Str<'a>> {
        let beside = || self.get("internal_chat_message_metadata_passthrough")?.get("turn_id")?.string();
        self.text("turn_id").or_else(beside)
    }
}

/// What kind of line it would be since September 2025, when each got a `payload`.
fn bare(line: &Members<'_>) -> Option<&'static str> {
    let has = |name: &str| line.get(name).is_some();
    match line.get("type").and_then(Raw::string) {
        Some(kind) => super::items::KINDS.contains(&kind.as_escaped()).then_some("response_item"),
        None if has("id") && has("timestamp") && has("instructions") => Some("session_meta"),
        None => has("record_type").then_some("state"),
    }
}
