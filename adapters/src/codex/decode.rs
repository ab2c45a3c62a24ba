//! Codex's lines to events.

use std::collections::BTreeMap;

use super::failure::why;
use super::fields::knows;
use super::items::{ITEM, TODO_LIST, Tool};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode};
use crate::event::{
    At, Block, Count, Event, Field, Fields, Kind, Notice, Origin, Outcome, OutcomeKind, Reply, RoundEnd, Scope, Session, Sink, Thinking, Topic, Usage,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// Reads it.
///
/// A list of things to do is one item for the whole turn: each time that it changes is a call of its own, and its result.
#[derive(Debug, Default)]
pub struct Decoder {
    thread: String,
    /// How many processes the thread has had in this log.
    pub(super) processes: u64,
    /// Items that have started and are not completed, and how they were said.
    pub(super) open: BTreeMap<String, u64>,
    pub(super) list: List,
    /// A call was made since the last result: what the model says next is another reply.
    pub(super) called: bool,
}

/// The list of things to do.
#[derive(Debug, Default)]
pub(super) struct List {
    /// How it looked last.
    pub(super) print: Option<u64>,
    /// How often it has changed in this turn.
    pub(super) changes: u64,
}

/// A line, opened.
pub(super) struct Line<'a> {
    text: &'a str,
    pub(super) cx: Cx<'a>,
    /// What is left of it.
    members: Members<'a>,
    /// Nobody looks at the fields of what is said within a turn.
    bare: bool,
}

/// A line with an item.
pub(super) struct ItemLine<'a> {
    pub(super) line: Line<'a>,
    /// The line's type.
    pub(super) word: Str<'a>,
    /// The item as it stands.
    pub(super) raw: Raw<'a>,
    /// What is left of the item.
    pub(super) parts: Members<'a>,
    pub(super) id: Str<'a>,
    pub(super) kind: Str<'a>,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            self.tell(Kind::Noise(text), &[], cx, sink);
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let members = Members::read_along(&mut at, &["item"], cx)?;
        let used = at.position();
        let line = Line {
            text: &text[..used],
            cx: *cx,
            members,
            bare: !sink.takes_fields(),
        };
        let word = line.members.get("type").and_then(Raw::string).unwrap_or_default();
        match &*word.unescape() {
            "thread.started" => self.thread(line, sink)?,
            "turn.started" => {
                if line.members.len() == 1 {
                    sink.own();
                }
                self.notice(line, word, Topic::Status, None, sink);
            }
            "turn.completed" => self.completed(line, sink)?,
            "turn.failed" => self.failed(line, sink)?,
            "error" => self.error(line, word, sink)?,
            "item.started" | "item.updated" | "item.completed" => self.item(line, word, sink)?,
            _ => self.tell(Kind::Unknown(Raw::trusted(line.text)), &[], cx, sink),
        }
        Ok(used)
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self::default();
    }
}

impl Decoder {
    pub(super) fn tell<'a>(&self, kind: Kind<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let session = (!self.thread.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.thread)));
        let origin = Origin {
            session,
            ..Origin::default()
        };
        sink.event(&Event { origin, kind, fields });
    }

    fn thread<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = line.need("thread_id")?;
        if line.members.len() == 1 {
            sink.own();
        }
        if id.as_escaped() != self.thread {
            id.as_escaped().clone_into(&mut self.thread);
            self.processes = 0;
        }
        self.processes += 1;
        self.begin_turn();
        let session = line.cx.keep(Session {
            opens_turn: true,
            ..Session::default()
        });
        let origin = Origin {
            session: Some(id),
            ..Origin::default()
        };
        let kind = Kind::Session(session);
        let fields = line.rest();
        sink.event(&Event { origin, kind, fields });
        Ok(())
    }

    fn begin_turn(&mut self) {
        self.open.clear();
        self.list = List::default();
        self.called = false;
    }

    /// Something that is no part of the conversation. With `data` it is an item, which has its own text.
    pub(super) fn notice<'a>(&self, mut line: Line<'a>, name: Str<'a>, topic: Topic, data: Option<Raw<'a>>, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        let message = match data {
            Some(item) => item.get("message").and_then(Raw::string),
            None => line.members.text("message", &cx),
        };
        let notice = cx.keep(Notice { name, topic, message, data });
        let fields = line.rest();
        self.tell(Kind::Notice(notice), fields, &cx, sink);
    }

    /// Of an attempt that is made again, and of what ends the turn: `turn.failed` says it once more.
    fn error<'a>(&self, line: Line<'a>, word: Str<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let message = line.members.get("message").and_then(Raw::string);
        let Some(message) = message else { return Err(line.missing("message")) };
        let again = message.as_escaped().starts_with("Reconnecting...");
        self.notice(line, word, if again { Topic::Retry } else { Topic::Other }, None, sink);
        Ok(())
    }

    fn completed<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let usage = line.members.shaped("usage", Shape::Object, &cx);
        self.begin_turn();
        let outcome = cx.keep(Outcome {
            usage: usage.map(read_usage),
            ..Outcome::new(OutcomeKind::Success)
        });
        let fields = line.rest();
        self.tell(Kind::Outcome(outcome), fields, &cx, sink);
        Ok(())
    }

    fn failed<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let mut fields = FieldList::new_in(cx.arena);
        let error = line.members.shaped("error", Shape::Object, &cx);
        let Some(mut error) = error.and_then(|error| Members::of(error, &cx)) else {
            return Err(line.missing("error"));
        };
        let Some(message) = error.text("message", &cx) else {
            return Err(line.missing("error/message"));
        };
        self.begin_turn();
        error.pour(At::Part("/error"), knows, &mut fields);
        let outcome = cx.keep(Outcome {
            error: Some(message),
            ..Outcome::new(why(message.as_escaped()))
        });
        line.rest_into(&mut fields);
        self.tell(Kind::Outcome(outcome), fields.into_bump_slice(), &cx, sink);
        Ok(())
    }

    fn item<'a>(&mut self, mut line: Line<'a>, word: Str<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let Some(raw) = line.members.shaped("item", Shape::Object, &cx) else {
            return Err(line.missing("item"));
        };
        let Some(mut parts) = line.members.inside(raw, &cx) else {
            return Err(line.missing("item"));
        };
        let Some(kind) = parts.get("type").and_then(Raw::string) else {
            return Err(line.missing("item/type"));
        };
        let Some(id) = parts.text("id", &cx) else {
            return Err(line.missing("item/id"));
        };
        let name = kind.unescape();
        let mut item = ItemLine {
            line,
            word,
            raw,
            parts,
            id,
            kind,
        };
        match &*name {
            "agent_message" | "reasoning" => self.said(item, sink)?,
            "error" => {
                item.need("message")?;
                let ItemLine { line, .. } = item;
                // No other dialect has such items.
                if line.members.len() == 1 {
                    sink.own();
                }
                self.notice(line, word, Topic::Other, Some(raw), sink);
            }
            TODO_LIST => self.list(item, sink)?,
            name => match Tool::of(name) {
                Some(tool) => self.tool(tool, item, sink)?,
                None => self.tell(Kind::Unknown(Raw::trusted(item.line.text)), &[], &cx, sink),
            },
        }
        Ok(())
    }

    /// Text and thoughts, which come whole.
    fn said<'a>(&mut self, mut item: ItemLine<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = item.line.cx;
        let text = item.need("text")?;
        if !item.word.is("item.completed") {
            self.notice(item.line, item.word, Topic::Status, Some(item.raw), sink);
            return Ok(());
        }
        if std::mem::take(&mut self.called) {
            self.tell(Kind::RoundEnd(&RoundEnd::PLAIN), &[], &cx, sink);
        }
        let block = match item.kind.is("reasoning") {
            true => Block::Thinking(Thinking { text, ..Thinking::default() }),
            false => Block::Text { text, fields: &[] },
        };
        item.took();
        let mut fields = FieldList::new_in(cx.arena);
        if !item.line.bare {
            fields.push(known("id", item.raw.get("id").unwrap_or(Raw::NULL)));
        }
        item.rest_into(&mut fields);
        self.reply(block, fields.into_bump_slice(), &cx, sink);
        Ok(())
    }

    pub(super) fn reply<'a>(&self, block: Block<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let blocks = cx.list(&[block]);
        self.tell(Kind::Reply(cx.keep(Reply { blocks, ..Reply::default() })), fields, cx, sink);
    }
}

impl<'a> Line<'a> {
    pub(super) fn missing(&self, member: &'static str) -> Error {
        Error::missing(self.text.len(), member)
    }

    /// Takes out a string that has to be there.
    fn need(&mut self, name: &'static str) -> Result<Str<'a>, Error> {
        let cx = self.cx;
        self.members.text(name, &cx).ok_or_else(|| self.missing(name))
    }

    fn rest(self) -> Fields<'a> {
        let mut fields = FieldList::new_in(self.cx.arena);
        self.rest_into(&mut fields);
        fields.into_bump_slice()
    }

    fn rest_into(mut self, fields: &mut FieldList<'a>) {
        let cx = self.cx;
        self.members.word("type", &cx);
        self.members.pour(At::Line, knows, fields);
    }
}

impl<'a> ItemLine<'a> {
    fn need(&mut self, name: &'static str) -> Result<Str<'a>, Error> {
        let cx = self.line.cx;
        self.parts.text(name, &cx).ok_or_else(|| self.line.missing(name))
    }

    /// What kind of item it is has been understood.
    pub(super) fn took(&mut self) {
        let cx = self.line.cx;
        self.parts.word("type", &cx);
    }

    /// What is left of the item, then of the line, if anybody looks at it.
    pub(super) fn rest_into(self, fields: &mut FieldList<'a>) {
        if !self.line.bare {
            self.parts.pour(ITEM, knows, fields);
            self.line.rest_into(fields);
        }
    }
}

pub(super) const fn known<'a>(key: &'static str, value: Raw<'a>) -> Field<'a> {
    Field {
        at: ITEM,
        key: Str::trusted(key),
        value,
        known: true,
    }
}

/// All turns of the thread so far.
fn read_usage(usage: Raw<'_>) -> Usage<'_> {
    let names = [
        "input_tokens",
        "cached_input_tokens",
        "cache_write_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
    ];
    let [input, cache_read, cache_write, output, reasoning] = usage.pick(names).map(|count| count.and_then(Count::read));
    Usage {
        input,
        output,
        reasoning,
        cache_read,
        cache_write,
        inclusive: true,
        scope: Scope::Session,
        raw: Some(usage),
        ..Usage::default()
    }
}
