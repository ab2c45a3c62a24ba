//! A message of a session, and what its parts say.

use super::INFO;
use super::fields::knows;
use crate::chat::{FieldList, Members};
use crate::codec::Cx;
use crate::event::{At, Block, Event, Fields, Kind, Notice, Origin, Reply, ResultStatus, RoundEnd, Sink, Stop, Thinking, Time, Topic, Usage};
use crate::json::{Raw, Shape, Str};
use crate::opencode::parts::{Called, Part, image};

/// A message, opened.
pub(super) struct Message<'a> {
    pub(super) cx: Cx<'a>,
    pub(super) id: Option<Str<'a>>,
    pub(super) origin: Origin<'a>,
    /// What is left of what is known of it.
    pub(super) info: Members<'a>,
    /// What is left of the message itself.
    pub(super) rest: Members<'a>,
    pub(super) parts: Option<Raw<'a>>,
}

impl<'a> Message<'a> {
    /// What is left, as fields behind others.
    pub(super) fn fields(&mut self, mut fields: FieldList<'a>) -> Fields<'a> {
        let cx = self.cx;
        std::mem::replace(&mut self.info, Members::new(&cx)).pour(INFO, knows, &mut fields);
        std::mem::replace(&mut self.rest, Members::new(&cx)).pour(At::Line, knows, &mut fields);
        fields.into_bump_slice()
    }

    /// Opens a part, without what says again where it belongs.
    pub(super) fn part(&self, raw: Raw<'a>, kind: &str) -> Option<Part<'a>> {
        let mut part = Part::of(raw, &self.cx)?;
        part.again("type", kind);
        part.again("sessionID", self.origin.session.unwrap_or_default().as_escaped());
        part.again("messageID", self.id.unwrap_or_default().as_escaped());
        Some(part)
    }
}

/// What a reply has said so far.
pub(super) struct Said<'a> {
    pub(super) id: Option<Str<'a>>,
    pub(super) blocks: bumpalo::collections::Vec<'a, Block<'a>>,
    pub(super) end: Option<(Option<Stop<'a>>, Option<Usage<'a>>)>,
    /// What its rounds have cost.
    pub(super) cost: Option<f64>,
    /// A call was not allowed.
    pub(super) denied: bool,
}

impl<'a> Said<'a> {
    pub(super) fn part(&mut self, raw: Raw<'a>, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        let kind = raw.get("type").and_then(Raw::string).unwrap_or_default();
        let told = match kind.as_escaped() {
            "text" | "reasoning" => self.text(raw, kind, message, sink),
            "tool" => self.tool(raw, message, sink),
            "file" => image(raw).map(|shown| self.tell(shown, &[], message, sink)),
            "step-finish" => self.finish(raw, message, sink),
            _ => None,
        };
        if told.is_none() {
            let notice = message.cx.keep(Notice {
                name: kind,
                topic: Topic::Other,
                message: None,
                data: Some(raw),
            });
            sink.event(&Event::new(message.origin, Kind::Notice(notice)));
        }
    }

    fn text(&mut self, raw: Raw<'a>, kind: Str<'a>, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Option<()> {
        let mut part = message.part(raw, kind.as_escaped())?;
        let text = part.text("text")?;
        let block = match kind.is("text") {
            true => Block::Text { text, fields: &[] },
            false => Block::Thinking(Thinking { text, ..Thinking::default() }),
        };
        self.tell(block, part.rest().into_bump_slice(), message, sink);
        Some(())
    }

    fn tell(&mut self, block: Block<'a>, fields: Fields<'a>, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        self.blocks.push(block);
        let reply = message.cx.keep(Reply {
            id: self.id,
            blocks: message.cx.list(&[block]),
            ..Reply::default()
        });
        sink.event(&Event {
            origin: message.origin,
            kind: Kind::Reply(reply),
            fields,
        });
    }

    fn tool(&mut self, raw: Raw<'a>, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Option<()> {
        let Called { call, result, fields } = message.part(raw, "tool")?.call().ok()?;
        let fields: Fields<'a> = fields.into_bump_slice();
        let block = Block::Call(call);
        let Some(result) = result else {
            self.tell(block, fields, message, sink);
            return Some(());
        };
        self.tell(block, &[], message, sink);
        self.denied |= result.status == ResultStatus::Denied;
        sink.event(&Event {
            origin: message.origin,
            kind: Kind::ToolResult(message.cx.keep(result)),
            fields,
        });
        Some(())
    }

    fn finish(&mut self, raw: Raw<'a>, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Option<()> {
        let mut part = message.part(raw, "step-finish")?;
        let (stop, usage) = part.finish()?;
        self.cost = part.cost().map(|cost| cost + self.cost.unwrap_or(0.0)).or(self.cost);
        self.end = Some((Some(stop), usage));
        let end = message.cx.keep(RoundEnd {
            stop: Some(stop),
            usage,
            abandoned_from: None,
        });
        sink.event(&Event {
            origin: message.origin,
            kind: Kind::RoundEnd(end),
            fields: part.rest().into_bump_slice(),
        });
        Some(())
    }
}

/// When it was begun.
pub(super) fn created<'a>(info: &Members<'a>) -> Option<Time<'a>> {
    let time = info.get("time")?.get("created")?;
    (time.shape() == Some(Shape::Number)).then_some(Time::Millis(time))
}
