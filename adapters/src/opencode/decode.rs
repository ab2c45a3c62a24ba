//! OpenCode's lines to events.

use super::fields::knows;
use super::parts::{Called, Part};
use super::{DATA, ERROR, GOES_ON};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode};
use crate::event::{
    At, Block, Cost, Event, Fate, Fields, Kind, Limit, Notice, Origin, Outcome, OutcomeKind, Place, Provenance, Reply, ResultStatus, RoundEnd,
    RoundStart, Scope, Sink, StopKind, Thinking, Time, Topic, Usage,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::seen::Seen;

/// Reads it.
///
/// No line says how a turn ended, but for one that failed: that is worked out of the last round when the log is over, when a line of another
/// session comes, or when a round begins behind one that called nothing.
#[derive(Debug, Default)]
pub struct Decoder {
    session: String,
    /// The id of the round that is open.
    round: String,
    /// Calls that were told without their results: what comes of them is told with the part once more.
    running: Seen<4096>,
    turn: Turn,
}

/// The turn, as far as it is needed to work out how it ended.
#[derive(Debug, Default)]
struct Turn {
    /// Something was said in it.
    open: bool,
    /// Why the last round stopped, if it has.
    stop: Option<StopKind>,
    /// The last round was refused a permission.
    denied: bool,
    usage: Option<Usage<'static>>,
    cost: Cost,
}

impl Turn {
    /// How it ended, if it is over as far as anybody can tell.
    fn ended(&self) -> Option<OutcomeKind> {
        Some(match self.stop? {
            StopKind::Tools if self.denied => OutcomeKind::Cancelled,
            StopKind::Tools => return None,
            StopKind::Length => OutcomeKind::Limit(Limit::Tokens),
            StopKind::Refusal => OutcomeKind::Refused,
            StopKind::Error => OutcomeKind::Failed(Place::Model),
            _ => OutcomeKind::Success,
        })
    }

    fn usage(&self) -> Option<Usage<'static>> {
        self.usage.map(|usage| Usage {
            scope: Scope::Turn,
            provenance: Provenance::Derived,
            ..usage
        })
    }
}

/// A line, opened.
struct Line<'a> {
    text: &'a str,
    cx: Cx<'a>,
    /// What is left of it.
    members: Members<'a>,
    origin: Origin<'a>,
    /// Nobody looks at the fields of what is said within a turn.
    bare: bool,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            sink.event(&Event::new(Origin::default(), Kind::Noise(text)));
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let members = Members::read_along(&mut at, &["part", "state", "tokens", "cache"], cx)?;
        let used = at.position();
        let line = Line {
            text: &text[..used],
            cx: *cx,
            members,
            origin: Origin::default(),
            bare: !sink.takes_fields(),
        };
        let word = line.members.get("type").and_then(Raw::string).unwrap_or_default();
        match &*word.unescape() {
            "step_start" => self.step_start(line, sink)?,
            "text" => self.said(line, "text", sink)?,
            "reasoning" => self.said(line, "reasoning", sink)?,
            "tool_use" => self.tool(line, sink)?,
            "step_finish" => self.step_finish(line, sink)?,
            "error" => self.error(line, word, sink)?,
            "done" => self.done(line, word, sink)?,
            _ => sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(line.text)))),
        }
        Ok(used)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end(cx, sink);
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self::default();
    }
}

impl Decoder {
    fn step_start<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let mut part = line.part("step-start")?;
        line.open()?;
        let cx = line.cx;
        self.enter(&line, sink);
        if self.turn.ended().is_some_and(|kind| kind != OutcomeKind::Cancelled) {
            self.end(&cx, sink);
        }
        self.turn.open = true;
        self.turn.stop = None;
        self.turn.denied = false;
        let id = part.message();
        id.unwrap_or_default().as_escaped().clone_into(&mut self.round);
        let start = cx.keep(RoundStart { id, ..RoundStart::default() });
        line.tell(Kind::RoundStart(start), part.rest(), sink);
        Ok(())
    }

    fn said<'a>(&mut self, mut line: Line<'a>, kind: &str, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let mut part = line.part(kind)?;
        let Some(text) = part.text("text") else {
            return Err(line.missing("part/text"));
        };
        line.open()?;
        self.enter(&line, sink);
        self.turn.open = true;
        let block = match kind {
            "text" => Block::Text { text, fields: &[] },
            _ => Block::Thinking(Thinking { text, ..Thinking::default() }),
        };
        let reply = line.cx.keep(Reply {
            id: part.message(),
            blocks: line.cx.list(&[block]),
            ..Reply::default()
        });
        line.tell(Kind::Reply(reply), part.rest(), sink);
        Ok(())
    }

    fn tool<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let mut part = line.part("tool")?;
        let id = part.message();
        let Called { call, result, fields } = part.call().map_err(|lacks| line.missing(lacks))?;
        line.open()?;
        let cx = line.cx;
        self.enter(&line, sink);
        self.turn.open = true;
        let is_told = self.running.has(call.id);
        let reply = cx.keep(Reply {
            id,
            blocks: cx.list(&[Block::Call(call)]),
            ..Reply::default()
        });
        let kind = Kind::Reply(reply);
        match result {
            None => {
                self.running.add(call.id);
                line.tell(kind, fields, sink);
            }
            Some(result) => {
                self.turn.denied |= result.status == ResultStatus::Denied;
                if !is_told {
                    sink.event(&Event::new(line.origin, kind));
                }
                line.tell(Kind::ToolResult(cx.keep(result)), fields, sink);
            }
        }
        Ok(())
    }

    fn step_finish<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let mut part = line.part("step-finish")?;
        let Some((stop, usage)) = part.finish() else {
            return Err(line.missing("part/reason"));
        };
        line.open()?;
        self.enter(&line, sink);
        part.again("messageID", &self.round);
        self.turn.cost.add(part.cost());
        self.turn.open = true;
        self.turn.stop = Some(if stop.word.is(GOES_ON) { StopKind::Tools } else { stop.kind });
        if let Some(usage) = &usage {
            Usage::add(&mut self.turn.usage, usage);
        }
        let end = line.cx.keep(RoundEnd {
            stop: Some(stop),
            usage,
            abandoned_from: None,
        });
        line.tell(Kind::RoundEnd(end), part.rest(), sink);
        Ok(())
    }

    /// What ends a turn. Another one behind it says nothing of another turn.
    fn error<'a>(&mut self, mut line: Line<'a>, word: Str<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let error = line.members.shaped("error", Shape::Object, &cx);
        let Some(mut error) = error.and_then(|error| Members::of(error, &cx)) else {
            return Err(line.missing("error"));
        };
        line.open()?;
        let mut fields = FieldList::new_in(cx.arena);
        let name = error.get("name").and_then(Raw::string).unwrap_or_default();
        let data = error.get("data").and_then(|data| Members::of(data, &cx));
        let mut message = None;
        if let Some(mut data) = data.filter(|data| data.get("message").and_then(Raw::string).is_some()) {
            error.take_raw("data");
            message = data.text("message", &cx);
            data.pour(DATA, knows, &mut fields);
        }
        let again = self.session == line.session() && !self.turn.open && !self.session.is_empty();
        self.enter(&line, sink);
        if again {
            error.pour(ERROR, knows, &mut fields);
            let notice = cx.keep(Notice {
                name: word,
                topic: Topic::Other,
                message,
                data: None,
            });
            line.tell(Kind::Notice(notice), fields, sink);
            return Ok(());
        }
        let outcome = cx.keep(Outcome {
            error: message.or(Some(name)),
            word: error.text("name", &cx),
            usage: self.turn.usage(),
            cost_usd: self.turn.cost.said(cx.arena),
            cost_scope: Scope::Turn,
            ..Outcome::new(why(name, message))
        });
        error.pour(ERROR, knows, &mut fields);
        self.turn = Turn::default();
        line.tell(Kind::Outcome(outcome), fields, sink);
        Ok(())
    }

    /// Newer versions say that nothing more comes.
    fn done<'a>(&mut self, mut line: Line<'a>, word: Str<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        line.open()?;
        let cx = line.cx;
        self.enter(&line, sink);
        let fields = FieldList::new_in(cx.arena);
        let Some(kind) = self.turn.ended() else {
            let notice = cx.keep(Notice {
                name: word,
                topic: Topic::Status,
                message: line.members.text("reason", &cx),
                data: None,
            });
            line.tell(Kind::Notice(notice), fields, sink);
            return Ok(());
        };
        let outcome = cx.keep(Outcome {
            word: line.members.text("reason", &cx).or(Some(word)),
            usage: self.turn.usage(),
            cost_usd: self.turn.cost.said(cx.arena),
            cost_scope: Scope::Turn,
            ..Outcome::new(kind)
        });
        self.turn = Turn::default();
        line.tell(Kind::Outcome(outcome), fields, sink);
        Ok(())
    }

    /// The line of a session comes: the turn of another one is over.
    fn enter<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        if self.session == line.session() {
            return;
        }
        self.end(&line.cx, sink);
        self.turn = Turn::default();
        line.session().clone_into(&mut self.session);
    }

    /// Tells how the turn ended, if it did.
    fn end<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let turn = std::mem::take(&mut self.turn);
        let Some(kind) = turn.ended() else {
            self.turn = turn;
            return;
        };
        if let Some(trace) = cx.trace {
            trace.note(
                Fate::Invented,
                "",
                "no line says how a turn ended: that was worked out of how its last round did",
            );
        }
        let outcome = cx.keep(Outcome {
            synthetic: true,
            usage: turn.usage(),
            cost_usd: turn.cost.said(cx.arena),
            cost_scope: Scope::Turn,
            ..Outcome::new(kind)
        });
        let origin = Origin {
            session: Some(Str::trusted(cx.arena.alloc_str(&self.session))),
            ..Origin::default()
        };
        sink.event(&Event::new(origin, Kind::Outcome(outcome)));
    }
}

impl<'a> Line<'a> {
    fn missing(&self, member: &'static str) -> Error {
        Error::missing(self.text.len(), member)
    }

    fn session(&self) -> &'a str {
        self.origin.session.unwrap_or_default().as_escaped()
    }

    /// Reads whose line it is and when it was written.
    fn open(&mut self) -> Result<(), Error> {
        let cx = self.cx;
        self.members.word("type", &cx);
        let session = self.members.text("sessionID", &cx).ok_or_else(|| self.missing("sessionID"))?;
        let time = self.members.shaped("timestamp", Shape::Number, &cx);
        // Which is written where no time is known.
        if let Some(none) = time.filter(|time| time.as_str() == "0") {
            cx.took(none.as_str());
        }
        self.origin = Origin {
            session: Some(session),
            time: time.filter(|time| time.as_str() != "0").map(Time::Millis),
            ..Origin::default()
        };
        Ok(())
    }

    /// Takes out the part of this type that the line has.
    fn part(&mut self, kind: &str) -> Result<Part<'a>, Error> {
        let cx = self.cx;
        let part = self.members.shaped("part", Shape::Object, &cx);
        let members = part.and_then(|part| self.members.inside(part, &cx)).ok_or_else(|| self.missing("part"))?;
        let mut part = Part {
            members,
            cx,
            bare: self.bare,
        };
        part.again("type", kind);
        let session = self.members.get("sessionID").and_then(Raw::string).unwrap_or_default();
        part.again("sessionID", session.as_escaped());
        Ok(part)
    }

    /// What it means, with the fields of what is in it and those of the line itself.
    fn tell(self, kind: Kind<'a>, mut fields: FieldList<'a>, sink: &mut dyn Sink<'a>) {
        if !self.bare || matches!(kind, Kind::Notice(_) | Kind::Outcome(_)) {
            self.members.pour(At::Line, knows, &mut fields);
        }
        let fields: Fields<'a> = fields.into_bump_slice();
        sink.event(&Event {
            origin: self.origin,
            kind,
            fields,
        });
    }
}

/// What an error means, with its message where it has one.
pub(super) fn why(name: Str<'_>, message: Option<Str<'_>>) -> OutcomeKind {
    match name.as_escaped() {
        "MessageAbortedError" => OutcomeKind::Cancelled,
        "ContentFilterError" => OutcomeKind::Refused,
        "MessageOutputLengthError" | "ContextOverflowError" => OutcomeKind::Limit(Limit::Tokens),
        "StructuredOutputError" => OutcomeKind::Limit(Limit::Retries),
        "UnknownError" => message
            .and_then(|message| OutcomeKind::named(message.as_escaped()))
            .unwrap_or(OutcomeKind::Failed(Place::Backend)),
        _ => OutcomeKind::Failed(Place::Model),
    }
}
