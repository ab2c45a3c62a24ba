//! Gemini CLI's lines to events.

use super::ends::why;
use super::fields::knows;
use super::stats::Stats;
use super::unrun::unrun;
use super::{ERROR, FORBIDDEN, NO_TIME};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode, Dialect, stray};
use crate::event::{
    At, Block, BlockHead, BlockStart, BlockStop, Content, Delta, Event, Fate, Fields, Kind, Notice, Origin, Outcome, OutcomeKind, Piece, Prompt,
    PromptSource, Reply, ResultStatus, Session, Sink, Time, ToolCall, ToolResult, Topic,
};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};
use crate::learn::Learned;
use crate::tools;
use crate::trace::Kept;

/// Reads `stream-json` and `json`.
#[derive(Debug, Default)]
pub struct Decoder {
    pub(super) run: Run,
    /// Where the run has warned, for the ledger.
    kept: Kept,
    pub(super) learned: Learned,
}

/// What is remembered of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The text that comes in pieces.
    open: Option<u32>,
    /// The index of the next block of the round.
    next: u32,
    /// What its last `error` line said: a failed outcome may say nothing itself.
    pub(super) warned: String,
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

    fn next_session(&mut self, to: &str) {
        let mut learned = std::mem::take(&mut self.learned);
        learned.next_session(to);
        *self = Self { learned, ..Self::default() };
    }
}

impl Decoder {
    fn general<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let members = Members::read_along(&mut at, &["stats"], cx)?;
        let line = Line {
            members,
            text: &text[..at.position()],
            cx: *cx,
        };
        match line.word("type") {
            "init" => self.init(line, sink)?,
            "message" if matches!(line.word("role"), "user" | "assistant") => self.message(line, sink)?,
            "tool_use" => self.call(line, sink)?,
            "tool_result" => self.result(line, sink)?,
            "error" => self.warning(line, sink)?,
            "result" => self.outcome(line, sink)?,
            "" if line.members.get("session_id").is_some() && (line.word_is("response") || line.members.get("error").is_some()) => {
                self.document(line, sink)?;
            }
            _ => sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(line.text)))),
        }
        Ok(at.position())
    }
}

/// A line that is an object.
pub(super) struct Line<'a> {
    members: Members<'a>,
    pub(super) text: &'a str,
    pub(super) cx: Cx<'a>,
}

impl<'a> Line<'a> {
    /// A member that says what the line is; empty if it is none or has another shape.
    fn word(&self, name: &str) -> &'a str {
        self.members.get(name).and_then(Raw::string).map_or("", Str::as_escaped)
    }

    fn word_is(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|value| value.shape() == Some(Shape::String))
    }

    /// Takes out a string that has to be there.
    fn need(&mut self, name: &'static str) -> Result<Str<'a>, Error> {
        self.members.text(name, &self.cx).ok_or(Error {
            at: self.text.len(),
            why: Why::Missing(name),
        })
    }

    /// When it was written. A time that stands for none is none.
    fn origin(&mut self) -> Origin<'a> {
        self.members.word("type", &self.cx);
        let time = self.members.text("timestamp", &self.cx);
        if let Some(none) = time.filter(|time| time.is(NO_TIME)) {
            self.cx.took(none.as_escaped());
        }
        Origin {
            time: time.filter(|time| !time.is(NO_TIME)).map(Time::Iso),
            ..Origin::default()
        }
    }

    /// Takes out the error, if it says its type and its message; its other members are fields.
    fn error(&mut self, fields: &mut FieldList<'a>) -> Option<(Str<'a>, Str<'a>)> {
        let mut inner = Members::of(self.members.get("error")?, &self.cx)?;
        let kind = inner.get("type").and_then(Raw::string)?;
        let message = inner.text("message", &self.cx)?;
        self.members.take("error", &self.cx);
        inner.pour(At::Part(ERROR), knows, fields);
        Some((kind, message))
    }

    /// Takes out what the run took.
    fn stats(&mut self) -> Option<Stats<'a>> {
        let raw = self.members.shaped("stats", Shape::Object, &self.cx)?;
        Some(Stats::read(raw, self.members.opened(raw, &self.cx)?))
    }

    fn fields(&self) -> FieldList<'a> {
        FieldList::new_in(self.cx.arena)
    }

    /// What is left of it.
    fn rest(&self) -> Fields<'a> {
        self.rest_behind(self.fields())
    }

    /// The same of what is said within a turn.
    fn rest_within(&self, sink: &dyn Sink<'a>) -> Fields<'a> {
        if sink.takes_fields() { self.rest() } else { &[] }
    }

    /// The same behind fields that stood in other objects.
    fn rest_behind(&self, mut fields: FieldList<'a>) -> Fields<'a> {
        self.members.copy(At::Line, knows, &mut fields);
        fields.into_bump_slice()
    }
}

impl Decoder {
    fn init<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        if ["timestamp", "session_id", "model"].iter().all(|name| line.members.get(name).is_some()) {
            sink.own();
        }
        let origin = Origin {
            session: Some(line.need("session_id")?),
            ..line.origin()
        };
        let session = line.cx.keep(Session {
            model: line.members.text("model", &line.cx),
            opens_turn: true,
            ..Session::default()
        });
        self.only(&line, origin, Kind::Session(session), line.rest(), sink);
        Ok(())
    }

    fn message<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let content = line.need("content")?;
        let origin = line.origin();
        let cx = line.cx;
        let role = line.members.word("role", &cx).unwrap_or_default();
        if role.is("user") {
            let prompt = cx.keep(Prompt {
                content: Content::Text(content),
                source: PromptSource::Echo,
            });
            self.only(&line, origin, Kind::Prompt(prompt), line.rest(), sink);
            return Ok(());
        }
        if line.members.get("delta").and_then(Raw::bool) != Some(true) {
            self.whole(&line, origin, Block::Text { text: content, fields: &[] }, sink);
            return Ok(());
        }
        if let Some(delta) = line.members.take("delta", &cx) {
            cx.took(delta.as_str());
        }
        let piece = Piece::Text(content);
        let kind = Kind::Delta(Delta { index: 0, piece });
        self.only(&line, origin, kind, line.rest_within(sink), sink);
        Ok(())
    }

    fn call<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (name, id) = (line.need("tool_name")?, line.need("tool_id")?);
        let cx = line.cx;
        let call = ToolCall {
            id,
            name,
            kind: tools::kind_of(Dialect::Gemini, name),
            input: line.members.take("parameters", &cx).ok_or(Error {
                at: line.text.len(),
                why: Why::Missing("parameters"),
            })?,
            fields: &[],
        };
        let origin = line.origin();
        self.whole(&line, origin, Block::Call(call), sink);
        Ok(())
    }

    /// Of a call that failed the model sees the error's message, and people the output; of others nobody says what the model sees.
    fn result<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (call, status) = (line.need("tool_id")?, line.need("status")?);
        let cx = line.cx;
        let origin = line.origin();
        if matches!(status.as_escaped(), "success" | "error") {
            cx.took(status.as_escaped());
        }
        let mut fields = line.fields();
        let error = if status.is("success") { None } else { line.error(&mut fields) };
        let status = match error {
            _ if status.is("success") => ResultStatus::Success,
            Some((kind, _)) if kind.is(FORBIDDEN) => ResultStatus::Denied,
            Some((_, message)) => unrun(message).unwrap_or(ResultStatus::Error),
            None => ResultStatus::Error,
        };
        let content = match error {
            Some((_, message)) => {
                // Where both say the same, the one stands for the other.
                let shown = line.members.get("output").and_then(Raw::string);
                if let Some(shown) = shown.filter(|shown| *shown == message && !shown.is_empty()) {
                    cx.stands_for(message.as_escaped(), shown.as_escaped());
                }
                Content::Text(message)
            }
            None => line.members.text("output", &cx).map_or(Content::Blocks(&[]), Content::Text),
        };
        let result = cx.keep(ToolResult::new(call, status, content));
        let kind = Kind::ToolResult(result);
        self.only(&line, origin, kind, line.rest_behind(fields), sink);
        Ok(())
    }

    fn warning<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let message = line.need("message")?;
        let (origin, cx) = (line.origin(), line.cx);
        let notice = cx.keep(Notice {
            name: Str::trusted("error"),
            topic: Topic::Other,
            message: Some(message),
            data: None,
        });
        message.as_escaped().clone_into(&mut self.run.warned);
        sink.event(&Event {
            origin,
            kind: Kind::Notice(notice),
            fields: line.rest(),
        });
        if let Some(trace) = cx.trace {
            trace.tell_held(&mut self.kept, Fate::Dropped, "another error followed");
            trace.hold_unsaid(&mut self.kept, message.as_escaped());
        }
        Ok(())
    }

    fn outcome<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let status = line.need("status")?;
        let cx = line.cx;
        let origin = line.origin();
        let mut fields = line.fields();
        let error = line.error(&mut fields);
        let stats = line.stats();
        let synthetic = line.members.get("synthetic").and_then(Raw::bool) == Some(true);
        if let Some(flag) = line.members.take("synthetic", &cx).filter(|_| synthetic) {
            cx.took(flag.as_str());
        }
        let failed = !status.is("success");
        let kind = if failed { end_of(error) } else { OutcomeKind::Success };
        let warned = || (failed && !self.run.warned.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.run.warned)));
        let outcome = cx.keep(Outcome {
            synthetic,
            error: error.map(|(_, message)| message).or_else(warned),
            word: Some(status),
            duration_ms: stats.and_then(|stats| stats.duration_ms),
            usage: stats.map(|stats| stats.usage),
            ..Outcome::new(kind)
        });
        let said = outcome.error.filter(|_| error.is_none()).unwrap_or_default();
        if let Some(trace) = cx.trace {
            trace.watch(said.as_escaped(), &self.kept);
        }
        let mut kept = std::mem::take(&mut self.kept);
        let kind = Kind::Outcome(outcome);
        self.only(&line, origin, kind, line.rest_behind(fields), sink);
        if let Some(trace) = cx.trace {
            trace.told(&mut kept, said.as_escaped(), "the outcome does not say it");
        }
        Ok(())
    }

    /// The one object of `json`: a whole run.
    fn document<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let origin = Origin {
            session: Some(line.need("session_id")?),
            ..Origin::default()
        };
        let response = line.members.text("response", &cx);
        let mut fields = line.fields();
        let error = line.error(&mut fields);
        let failed = error.is_some() || line.members.get("error").is_some();
        let stats = line.stats();
        let session = cx.keep(Session {
            model: stats.and_then(|stats| stats.model),
            opens_turn: true,
            ..Session::default()
        });
        let kind = if failed { end_of(error) } else { OutcomeKind::Success };
        let outcome = cx.keep(Outcome {
            text: response.filter(|_| !failed),
            error: error.map(|(_, message)| message),
            usage: stats.map(|stats| stats.usage),
            ..Outcome::new(kind)
        });
        self.run.tell(&Event::new(origin, Kind::Session(session)), sink);
        if let Some(text) = response.filter(|text| !text.is_empty()) {
            let piece = Piece::Text(text);
            self.run.tell(&Event::new(origin, Kind::Delta(Delta { index: 0, piece })), sink);
        }
        let kind = Kind::Outcome(outcome);
        self.run.tell(
            &Event {
                origin,
                kind,
                fields: line.rest_behind(fields),
            },
            sink,
        );
        Ok(())
    }

    /// A whole block of a reply.
    fn whole<'a>(&mut self, line: &Line<'a>, origin: Origin<'a>, block: Block<'a>, sink: &mut dyn Sink<'a>) {
        let blocks = line.cx.list(&[block]);
        let kind = Kind::Reply(line.cx.keep(Reply { blocks, ..Reply::default() }));
        self.only(line, origin, kind, line.rest_within(sink), sink);
    }
}

impl Run {
    /// Tells what a line says, behind the end of what it ends.
    pub(super) fn tell<'a>(&mut self, event: &Event<'a>, sink: &mut dyn Sink<'a>) {
        let (origin, mut kind) = (event.origin, event.kind);
        match &mut kind {
            Kind::Delta(delta) => delta.index = self.begin_text(origin, sink),
            // What was open was cut off.
            Kind::Session(_) => self.end(Origin { session: None, ..origin }, sink),
            Kind::Outcome(_) => self.end(origin, sink),
            Kind::Prompt(_) | Kind::ToolResult(_) => {
                self.end_text(origin, sink);
                self.next = 0;
            }
            Kind::Reply(_) => {
                self.end_text(origin, sink);
                self.next = self.next.saturating_add(1);
            }
            _ => {}
        }
        sink.event(&Event { kind, ..*event });
    }

    /// A piece of text comes: the block that it is a piece of.
    fn begin_text<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) -> u32 {
        if let Some(index) = self.open {
            return index;
        }
        let index = self.next;
        self.next = self.next.saturating_add(1);
        self.open = Some(index);
        let head = BlockHead::Text;
        sink.event(&Event::new(origin, Kind::BlockStart(BlockStart { index, head })));
        index
    }

    /// Ends the text that comes in pieces, because something else comes.
    fn end_text<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        if let Some(index) = self.open.take() {
            sink.event(&Event::new(origin, Kind::BlockStop(BlockStop { index })));
        }
    }

    fn end<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        self.end_text(origin, sink);
        self.next = 0;
        self.warned.clear();
    }
}

/// How a run with this error ended: its type and its message, if it says them.
fn end_of(error: Option<(Str<'_>, Str<'_>)>) -> OutcomeKind {
    let (kind, message) = error.unwrap_or_default();
    why(kind.as_escaped(), message.as_escaped())
}
