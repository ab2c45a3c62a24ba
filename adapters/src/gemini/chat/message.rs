//! Messages, taken apart.

use super::fields::knows;
use super::parts::Part;
use super::{AGAIN, INNER};
use crate::chat::{FieldList, Members};
use crate::codec::Cx;
use crate::event::{At, Block, Event, Field, Fields, Kind, Notice, Origin, Sink, Time, Topic};
use crate::json::{Raw, Shape, Str};

/// What kinds of messages there are.
pub(super) const TYPES: &[&str] = &["user", "gemini", "info", "warning", "error"];

/// A message, taken apart.
pub(super) struct Message<'a> {
    pub(super) id: Str<'a>,
    raw_id: Option<Raw<'a>>,
    pub(super) kind: Str<'a>,
    pub(super) origin: Origin<'a>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) members: Members<'a>,
    /// It stands on no line of its own.
    pub(super) inner: bool,
}

impl<'a> Message<'a> {
    /// Takes a message apart; nothing if it says nothing.
    pub(super) fn of(mut members: Members<'a>, origin: Origin<'a>, inner: bool, cx: &Cx<'a>) -> Option<Self> {
        let content = members.get("content");
        let kind = members.get("type").and_then(Raw::string).unwrap_or_default();
        if content.is_none() && matches!(kind.as_escaped(), "user" | "gemini") {
            return None;
        }
        let raw_id = members.get("id");
        let id = members.text("id", cx)?;
        members.word("type", cx);
        let origin = Origin {
            id: Some(id),
            time: members.text("timestamp", cx).map(Time::Iso),
            ..origin
        };
        Some(Self {
            id,
            raw_id,
            kind,
            origin,
            content,
            members,
            inner,
        })
    }

    /// What is left of it; nothing of a message without a line, but for a sign of that.
    pub(super) fn fields(self, cx: &Cx<'a>) -> Fields<'a> {
        if self.inner {
            return cx.list(&[Field {
                at: INNER,
                key: Str::trusted("id"),
                value: Raw::trusted("null"),
                known: true,
            }]);
        }
        let mut fields = FieldList::new_in(cx.arena);
        self.members.pour(At::Line, knows, &mut fields);
        fields.into_bump_slice()
    }

    /// The line is not the first of its id, which is a field then.
    pub(super) fn is_again(&mut self) {
        self.origin.id = None;
        if let Some(id) = self.raw_id.take() {
            self.members.push(Str::trusted("id"), id);
        }
    }

    /// Its content is no field: it goes over in the event, whole.
    pub(super) fn without_content(mut self) -> Self {
        self.members.take_raw("content");
        self
    }
}

/// What the ledger says of what was told already.
pub(super) const EARLIER: &str = "an earlier line says it";

/// Tells of a line that says what was told already.
pub(super) fn again<'a>(mut message: Message<'a>, is_same_line: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
    if message.inner {
        return;
    }
    if is_same_line {
        message.is_again();
    }
    if let Some(trace) = cx.trace {
        trace.merged(EARLIER);
    }
    if let Some(content) = message.content {
        cx.took(content.as_str());
    }
    let kind = message.kind;
    let notice = Notice {
        name: cx.text(&format!("{AGAIN}/{}", kind.as_escaped())),
        topic: Topic::Other,
        message: None,
        data: None,
    };
    sink.event(&Event {
        origin: message.origin,
        kind: Kind::Notice(cx.keep(notice)),
        fields: message.fields(cx),
    });
}

pub(super) fn block<'a>(part: &Part<'a>) -> Option<Block<'a>> {
    match part {
        Part::Block(block) => Some(*block),
        Part::Result(..) => None,
    }
}

/// Whether what a message says is a list of one text and nothing else: so prompts are written.
pub(super) fn is_one_text(content: Raw<'_>) -> bool {
    let mut elements = content.elements();
    let one = content.shape() == Some(Shape::Array)
        && elements
            .next()
            .is_some_and(|part| part.members().count() == 1 && part.get("text").is_some());
    one && elements.next().is_none()
}
