//! One event of the server.

use super::LINE;
use crate::chat::Members;
use crate::codec::Cx;
use crate::event::{At, Field, Fields, Time};
use crate::json::{Error, Raw, Shape, Str};

/// An event, opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) cx: Cx<'a>,
    /// The whole event.
    pub(super) line: Raw<'a>,
    pub(super) kind: Str<'a>,
    pub(super) properties: Raw<'a>,
}

impl<'a> Said<'a> {
    /// The event of a line, if it is one.
    pub(super) fn read(line: Raw<'a>, members: &Members<'a>, cx: Cx<'a>) -> Option<Self> {
        let kind = members.get("type").and_then(Raw::string)?;
        let properties = members.get("properties").filter(|properties| properties.shape() == Some(Shape::Object))?;
        cx.took(kind.as_escaped());
        Some(Self { cx, line, kind, properties })
    }

    /// The line, as the field of what it says.
    pub(super) fn fields(&self) -> Fields<'a> {
        self.cx.list(&[Field {
            at: At::Line,
            key: Str::trusted(LINE),
            value: self.line,
            known: true,
        }])
    }

    /// The property at the end of a path.
    pub(super) fn find(&self, path: &[&str]) -> Option<Raw<'a>> {
        path.iter().try_fold(self.properties, |value, key| value.get(key))
    }

    /// The text at the end of a path.
    pub(super) fn text(&self, path: &[&str]) -> Option<Str<'a>> {
        self.find(path)?.string()
    }

    /// The session that it is about.
    pub(super) fn session(&self) -> Option<Str<'a>> {
        let places: [&[&str]; 3] = [&["sessionID"], &["info", "sessionID"], &["part", "sessionID"]];
        let named = places.iter().find_map(|path| self.text(path));
        named.or_else(|| self.text(&["info", "id"]).filter(|_| self.kind.as_escaped().starts_with("session.")))
    }

    /// When it was.
    pub(super) fn time(&self) -> Option<Time<'a>> {
        let places: [&[&str]; 2] = [&["time"], &["info", "time", "created"]];
        let time = places
            .iter()
            .find_map(|path| self.find(path).filter(|time| time.shape() == Some(Shape::Number)))?;
        Some(Time::Millis(time))
    }

    pub(super) fn missing(&self, member: &'static str) -> Error {
        Error::missing(self.line.as_str().len(), member)
    }
}
