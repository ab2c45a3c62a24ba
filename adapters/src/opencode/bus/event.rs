//! One event of the server.

use super::LINE;
use crate::chat::Members;
use crate::codec::Cx;
use crate::event::{At, Field, Fields, Time};
use crate::json::{Error, Raw, Shape, Str};
use crate::opencode::parts::Part;

/// An event, opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) cx: Cx<'a>,
    /// The whole event.
    pub(super) line: Raw<'a>,
    pub(super) kind: Str<'a>,
    pub(super) properties: &'a Members<'a>,
}

/// What is opened of a line.
pub(super) const OPENED: [&str; 6] = ["properties", "status", "info", "part", "state", "time"];

impl<'a> Said<'a> {
    /// The event of a line, if it is one.
    pub(super) fn read(line: Raw<'a>, members: &Members<'a>, cx: Cx<'a>) -> Option<Self> {
        let kind = members.get("type").and_then(Raw::string)?;
        let properties = members.get("properties").filter(|properties| properties.shape() == Some(Shape::Object))?;
        let properties = members.opened(properties, &cx)?;
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
        self.properties.find(path)
    }

    /// The text at the end of a path.
    pub(super) fn text(&self, path: &[&str]) -> Option<Str<'a>> {
        self.find(path)?.string()
    }

    /// The part that it is about, opened. What is left of it goes over with the line.
    pub(super) fn part(&self) -> Option<Part<'a>> {
        let part = self.find(&["part"])?;
        Some(Part {
            members: self.properties.inside(part, &self.cx)?,
            cx: self.cx,
            bare: true,
        })
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
