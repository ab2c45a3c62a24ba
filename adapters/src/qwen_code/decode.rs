//! Reads what the `qwen` program writes: docs/qwen-code.md.

mod control;
mod learnt;
mod result;
mod stream;
mod system;
pub(super) mod turn;

use std::collections::BTreeSet;

use super::WORDS;
use crate::blocks::{FieldList, Reader, plain_key};
use crate::codec::{Cx, Decode, List, stray};
use crate::event::{At, Event, Fatal, Fields, Kind, Origin, Side, Sink};
use crate::json::{Cursor, Error, Str};
use crate::learn::Learned;
use control::Asked;

/// Reads Qwen Code's lines: `stream-json`, and the elements of a `json` array.
#[derive(Debug, Default)]
pub struct Decoder {
    side: Side,
    asked: Asked,
    open: Open,
    /// Only a host speaks here: an id makes no message the program's.
    hears_host: bool,
    learned: Learned,
}

/// What earlier lines have begun.
#[derive(Debug, Default)]
struct Open {
    /// The main thread is between `message_start` and `message_stop`, which then ends the round.
    message: bool,
    /// Pieces came for which no `assistant` line has come yet.
    unconfirmed: bool,
    /// The calls whose subagents have spoken, and that have no result yet.
    subagents: BTreeSet<String>,
}

impl Open {
    /// What is remembered of an event for the lines behind it.
    fn told(&mut self, event: &Event<'_>) {
        if let Some(parent) = event.origin.parent {
            if !self.subagents.contains(parent.as_escaped()) {
                self.subagents.insert(parent.as_escaped().to_owned());
            }
            return;
        }
        match event.kind {
            Kind::Delta(_) | Kind::BlockStart(_) => self.unconfirmed = true,
            Kind::RoundStart(_) => (self.message, self.unconfirmed) = (true, false),
            Kind::RoundEnd(_) => (self.message, self.unconfirmed) = (false, false),
            Kind::Reply(_) => self.unconfirmed = false,
            Kind::ToolResult(result) => _ = self.subagents.remove(result.call.as_escaped()),
            Kind::Session(_) | Kind::Outcome(_) => *self = Self::default(),
            _ => {}
        }
    }
}

impl Decode for Decoder {
    #[inline]
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if cx.trace.is_none()
            && let Some(used) = self.read_learnt(text, false, cx, sink)
        {
            return Ok(used);
        }
        self.general(text, cx, sink)
    }

    #[inline]
    fn reads_again(&self) -> bool {
        true
    }

    #[inline]
    fn again<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        self.read_learnt(text, true, cx, sink)
    }

    fn list(&self, line: &str) -> Option<List> {
        // A line holds a whole reply.
        crate::blocks::list(line, false)
    }

    fn next_session(&mut self, to: &str) {
        let mut learned = std::mem::take(&mut self.learned);
        learned.next_session(to);
        *self = Self {
            learned,
            hears_host: self.hears_host,
            ..Self::default()
        };
    }
}

impl Decoder {
    /// At the beginning of what a host says.
    pub(crate) fn of_host() -> Self {
        Self {
            side: Side::Host,
            hears_host: true,
            ..Self::default()
        }
    }

    fn general<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let (kind, subtype) = head(text)?;
        let line = Line {
            at: Cursor::new(text),
            text,
            cx,
            reader: Reader { cx, words: &WORDS },
            sink,
        };
        let Some(kind) = kind else {
            return line.untyped();
        };
        match &*kind.unescape() {
            "stream_event" => self.stream_event(line),
            "assistant" => self.assistant(line),
            "user" => self.user(line),
            "system" => match subtype {
                Some(subtype) if subtype.is("init") => self.init(line),
                Some(_) => self.notice(line),
                None => Err(line.at.error(crate::json::Why::Missing("subtype"))),
            },
            "result" => self.result(line),
            "control_request" => self.control_request(line),
            "control_response" => self.control_response(line),
            "control_cancel_request" => self.control_cancel(line),
            _ => line.unknown(),
        }
    }
}

/// One line on its way through a decoder.
struct Line<'c, 'a, 's> {
    /// Stands at the line's beginning.
    at: Cursor<'a>,
    text: &'a str,
    cx: &'c Cx<'a>,
    reader: Reader<'c, 'a>,
    sink: &'s mut dyn Sink<'a>,
}

impl<'c, 'a> Line<'c, 'a, '_> {
    fn event(&mut self, envelope: Envelope<'a>, kind: Kind<'a>) {
        self.sink.event(&Event {
            origin: envelope.origin,
            kind,
            fields: envelope.fields.into_bump_slice(),
        });
    }

    fn unknown(mut self) -> Result<usize, Error> {
        let raw = self.at.raw()?;
        self.sink.event(&Event::new(Origin::default(), Kind::Unknown(raw)));
        Ok(self.at.position())
    }

    /// An object without a type: the error that the program writes to stderr in `json` format, or nothing that is known.
    fn untyped(mut self) -> Result<usize, Error> {
        let raw = self.at.raw()?;
        let Some(error) = raw.get("error").filter(|_| raw.members().count() == 1) else {
            self.sink.event(&Event::new(Origin::default(), Kind::Unknown(raw)));
            return Ok(self.at.position());
        };
        let mut fatal = Fatal::default();
        let mut fields = self.reader.fields();
        let mut found = false;
        for (key, value) in error.members() {
            match key.as_escaped() {
                "message" if value.string().is_some() => {
                    fatal.message = value.string().unwrap_or_default();
                    found = true;
                }
                "type" if fatal.kind.is_none() && value.string().is_some() => fatal.kind = value.string(),
                "code" if fatal.code.is_none() => fatal.code = Some(value),
                _ => fields.push(self.reader.field(At::Part("/error"), key, value)),
            }
        }
        let kind = if found { Kind::Fatal(self.cx.keep(fatal)) } else { Kind::Unknown(raw) };
        let fields: Fields<'a> = if found { fields.into_bump_slice() } else { &[] };
        self.sink.event(&Event {
            origin: Origin::default(),
            kind,
            fields,
        });
        Ok(self.at.position())
    }
}

/// What most lines carry besides what their type adds.
struct Envelope<'a> {
    origin: Origin<'a>,
    fields: FieldList<'a>,
    typed: bool,
}

impl<'a> Envelope<'a> {
    fn new(reader: &Reader<'_, 'a>) -> Self {
        Self {
            origin: Origin::default(),
            fields: reader.fields(),
            typed: false,
        }
    }

    /// Takes a member that the line's type says nothing about.
    #[inline]
    fn member(&mut self, key: Str<'a>, name: &str, reader: &Reader<'_, 'a>, at: &mut Cursor<'a>) -> Result<(), Error> {
        match name {
            "type" if !self.typed && at.peek() == Some(b'"') => {
                self.typed = true;
                reader.cx.took(at.string()?.as_escaped());
            }
            "uuid" if self.origin.id.is_none() => self.origin.id = reader.text(at, At::Line, key, &mut self.fields)?,
            "session_id" if self.origin.session.is_none() => self.origin.session = reader.text(at, At::Line, key, &mut self.fields)?,
            "parent_tool_use_id" if self.origin.parent.is_none() => self.origin.parent = reader.text(at, At::Line, key, &mut self.fields)?,
            _ => {
                let value = at.skip()?.unread();
                self.fields.push(reader.field(At::Line, key, value));
            }
        }
        Ok(())
    }
}

/// The name that a key stands for.
#[inline]
fn name<'a>(cx: &Cx<'a>, key: Str<'a>) -> &'a str {
    // Keys are short; a plain loop is the quickest way to find that there is nothing to do.
    if key.as_escaped().bytes().all(|byte| byte != b'\\') {
        return key.as_escaped();
    }
    plain_key(cx, key.as_escaped()).unwrap_or(key.as_escaped())
}

/// The line's `type` and, for a system line, its `subtype`: the first two members as a rule, so that no more is read here.
/// A `type` that is no text is none.
#[inline]
fn head(text: &str) -> Result<(Option<Str<'_>>, Option<Str<'_>>), Error> {
    let mut at = Cursor::new(text);
    let mut object = at.object()?;
    let (mut kind, mut subtype) = (None, None);
    while let Some(key) = object.key(&mut at)? {
        match key.as_escaped() {
            "type" if kind.is_none() && at.peek() == Some(b'"') => kind = Some(at.string()?),
            "subtype" if subtype.is_none() && at.peek() == Some(b'"') => subtype = Some(at.string()?),
            name if name.contains('\\') && key.is("type") && kind.is_none() && at.peek() == Some(b'"') => kind = Some(at.string()?),
            name if name.contains('\\') && key.is("subtype") && subtype.is_none() && at.peek() == Some(b'"') => subtype = Some(at.string()?),
            _ => {
                at.skip()?;
            }
        }
        if kind.is_some_and(|kind| subtype.is_some() || !kind.is("system")) {
            break;
        }
    }
    Ok((kind, subtype))
}
