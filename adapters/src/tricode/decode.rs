//! Tricode's lines to events.

use super::formatted_result::{self, Shown};
use super::members::{Key, Line, Members, count, text};
use super::{failure, formatted_call, lines};
use crate::codec::{Cx, Decode, Dialect};
use crate::event::{
    Block, Content, Event, Fate, Fields, Kind, Notice, Origin, Outcome, OutcomeKind, Reply, ResultStatus, RoundStart, Session, Sink, ToolCall,
    ToolResult, Topic,
};
use crate::json::{Digits, Error, Raw, Str, Why};
use crate::tools;

/// Reads it.
///
/// Besides JSON objects the program prints plain text: error lines, which end the run, and questions to a person, after
/// which an object may follow on the same line. Calls have no ids; `call_1`, `call_2` … are made up, and a result belongs
/// to the last call of its name that has none.
#[derive(Debug, Default)]
pub struct Decoder {
    session: String,
    /// How many ids were made up in this session.
    calls: u64,
    /// Calls of this run without a result.
    open: Vec<Open>,
    /// A call that was answered, kept for its memory.
    spare: Option<Open>,
    /// The line before was plain text.
    after_text: bool,
    /// The number of the round that began last.
    round: u64,
}

#[derive(Debug, Default)]
struct Open {
    number: u64,
    name: String,
    /// Empty unless somebody keeps a ledger.
    arguments: String,
}

/// More calls than this do not wait for results: the oldest are forgotten.
const MOST_OPEN: usize = 1024;

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if text.starts_with('{') {
            let mut members = Members::of(text);
            match members.read() {
                Ok(()) => {
                    self.object(&members, cx, sink)?;
                    self.after_text = false;
                    return Ok(members.end);
                }
                // Printed files and Python objects begin with a bracket too.
                Err(error) if claims_to_be_a_line(text) => return Err(error),
                Err(_) => {}
            }
        } else if let Some(kind) = failure::read(text).filter(|&kind| kind != failure::GENERAL || !self.after_text) {
            self.after_text = true;
            self.open.clear();
            let error = failure::text(text, cx);
            let outcome = Outcome {
                error: Some(error),
                ..Outcome::new(kind)
            };
            sink.event(&self.event(Kind::Outcome(cx.keep(outcome)), &[], cx));
            return Ok(text.len());
        }
        self.after_text = true;
        let end = glued(text).unwrap_or(text.len());
        sink.event(&self.event(Kind::Noise(&text[..end]), &[], cx));
        Ok(end)
    }

    #[inline]
    fn reads_again(&self) -> bool {
        true
    }

    /// The program spells its lines in one way only.
    #[inline]
    fn again<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let line = &text[..memchr::memchr(b'\n', text.as_bytes())?];
        let mut members = Members::of(line);
        members.read_usual()?;
        if !matches!(&line[members.end..], "" | "\r") {
            return None;
        }
        self.object(&members, cx, sink).ok()?;
        self.after_text = false;
        Some(line.len() + 1)
    }

    fn next_session(&mut self, _to: &str) {
        self.session.clear();
        self.calls = 0;
        self.open.clear();
        self.after_text = false;
    }
}

impl Decoder {
    fn event<'a>(&self, kind: Kind<'a>, fields: Fields<'a>, cx: &Cx<'a>) -> Event<'a> {
        let session = (!self.session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.session)));
        Event {
            origin: Origin {
                session,
                ..Origin::default()
            },
            kind,
            fields,
        }
    }

    fn object<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        match members.line {
            Some(Line::Call) => self.call(members, cx, sink)?,
            Some(Line::Result) => self.result(members, cx, sink)?,
            Some(Line::Round) => {
                let number = members.get(Key::Number).and_then(count);
                let typed: &[Key] = if number.is_some() { &[Key::Type, Key::Number] } else { &[Key::Type] };
                let start = cx.keep(RoundStart {
                    number,
                    ..RoundStart::default()
                });
                if let Some((written, number)) = members.get(Key::Number).and_then(|written| Some((written, written.u64()?))) {
                    // The place of the round says the number that follows.
                    if number == 1 || number == self.round.saturating_add(1) {
                        cx.took(written.as_str());
                    }
                    self.round = number;
                }
                sink.event(&self.event(Kind::RoundStart(start), members.others(typed, cx), cx));
            }
            Some(Line::Final) => {
                let content = match members.require(Key::Content)? {
                    null if null.is_null() => None,
                    _ => Some(members.said(Key::Content, cx)?),
                };
                self.open.clear();
                let others = members.others(&[Key::Type, Key::Content], cx);
                if let Some(text) = content {
                    let blocks = cx.list(&[Block::Text { text, fields: &[] }]);
                    sink.event(&self.event(Kind::Reply(cx.keep(Reply { blocks, ..Reply::default() })), &[], cx));
                }
                let outcome = Outcome {
                    text: content,
                    ..Outcome::new(OutcomeKind::Success)
                };
                sink.event(&self.event(Kind::Outcome(cx.keep(outcome)), others, cx));
            }
            Some(Line::System) => self.system(members, cx, sink)?,
            Some(Line::Reminder) => {
                let message = members.text(Key::Message)?;
                let notice = Notice {
                    name: Str::trusted("reminder"),
                    topic: Topic::Reminder,
                    message: Some(message),
                    data: None,
                };
                let others = members.others(&[Key::Type, Key::Message], cx);
                sink.event(&self.event(Kind::Notice(cx.keep(notice)), others, cx));
            }
            None => {
                sink.event(&self.event(Kind::Unknown(Raw::trusted(members.text_of_line())), &[], cx));
                return Ok(());
            }
        }
        if let (Some(_), Some(kind)) = (cx.trace, members.get(Key::Type).and_then(text)) {
            cx.took(kind.as_escaped());
        }
        Ok(())
    }

    fn system<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let message = members.text(Key::Message)?;
        let others = members.others(&[Key::Type, Key::Message], cx);
        let id = |prefix: &str| {
            message
                .as_escaped()
                .strip_prefix(prefix)
                .filter(|id| !id.is_empty() && !id.contains([' ', '\\']))
        };
        let (id, resumed) = match (id(lines::NEW), id(lines::RESUMED)) {
            (Some(id), _) => (id, false),
            (None, Some(id)) => (id, true),
            (None, None) => {
                let notice = Notice {
                    name: Str::trusted("system"),
                    topic: Topic::Other,
                    message: Some(message),
                    data: None,
                };
                sink.event(&self.event(Kind::Notice(cx.keep(notice)), others, cx));
                return Ok(());
            }
        };
        self.open.clear();
        if self.session != id {
            self.calls = 0;
            id.clone_into(&mut self.session);
        }
        let session = Session {
            resumed,
            opens_turn: true,
            ..Session::default()
        };
        let origin = Origin {
            session: Some(Str::trusted(id)),
            ..Origin::default()
        };
        sink.event(&Event {
            origin,
            kind: Kind::Session(cx.keep(session)),
            fields: others,
        });
        Ok(())
    }

    fn call<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = members.text(Key::Name)?;
        let input = members.require(Key::Arguments)?;
        let number = self.opened(name, cx.trace.map(|_| input));
        if let Some(trace) = cx.trace {
            if number == 1 {
                trace.note(Fate::Invented, "", "calls have no ids in tricode: call_1, call_2 … are made up");
            }
            members.took_formatted(cx, |same| formatted_call::write(name, input, same));
        }
        let call = ToolCall {
            id: made_up(number, cx),
            name,
            kind: tools::kind_of(Dialect::Tricode, name),
            input,
            fields: &[],
        };
        let blocks = cx.list(&[Block::Call(call)]);
        let others = members.others(&[Key::Type, Key::Name, Key::Arguments], cx);
        sink.event(&self.event(Kind::Reply(cx.keep(Reply { blocks, ..Reply::default() })), others, cx));
        Ok(())
    }

    fn result<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = match members.get(Key::Name) {
            Some(_) => Some(members.text(Key::Name)?),
            None => None,
        };
        let success = members.require(Key::Success)?;
        let Some(ok) = success.bool() else {
            return Err(members.wrong(success));
        };
        let said = members.said(Key::Result, cx)?;
        let answered = self.answered(name);
        let number = answered.as_ref().map_or(self.calls, |open| open.number);
        if cx.trace.is_some() {
            let shown = Shown {
                name: name.unwrap_or_default(),
                arguments: answered.as_ref().map(|open| Raw::trusted(&open.arguments)),
                success: ok,
                result: said,
            };
            members.took_formatted(cx, |same| formatted_result::write(shown, same));
            cx.took(success.as_str());
            // It repeats the call's.
            cx.took(name.unwrap_or_default().as_escaped());
        }
        self.spare = answered.or(self.spare.take());
        let status = match ok {
            true => ResultStatus::Success,
            false if said.as_escaped().starts_with(super::DENIED) => ResultStatus::Denied,
            false => ResultStatus::Error,
        };
        let result = ToolResult {
            name,
            ..ToolResult::new(made_up(number, cx), status, Content::Text(said))
        };
        let others = members.others(&[Key::Type, Key::Name, Key::Success, Key::Result], cx);
        sink.event(&self.event(Kind::ToolResult(cx.keep(result)), others, cx));
        Ok(())
    }

    /// Remembers a call; returns its number.
    fn opened(&mut self, name: Str<'_>, arguments: Option<Raw<'_>>) -> u64 {
        self.calls += 1;
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        let mut open = self.spare.take().unwrap_or_default();
        open.number = self.calls;
        name.as_escaped().clone_into(&mut open.name);
        arguments.map_or("", Raw::as_str).clone_into(&mut open.arguments);
        self.open.push(open);
        self.calls
    }

    /// The call that a result of this name belongs to. A result without a call gets an id of its own.
    fn answered(&mut self, name: Option<Str<'_>>) -> Option<Open> {
        let found = match name {
            Some(name) => self.open.iter().rposition(|open| open.name == name.as_escaped()),
            None => self.open.len().checked_sub(1),
        };
        let open = found.map(|at| self.open.remove(at));
        self.calls += u64::from(open.is_none());
        open
    }
}

/// `call_` and a number.
fn made_up<'a>(number: u64, cx: &Cx<'a>) -> Str<'a> {
    let mut id = bumpalo::collections::String::with_capacity_in(25, cx.arena);
    id.push_str("call_");
    id.extend(Digits::of(number.into()).as_bytes().iter().map(|&digit| char::from(digit)));
    Str::trusted(id.into_bump_str())
}

/// Whether a text that could not be read looks as if it had been meant as a line.
fn claims_to_be_a_line(text: &str) -> bool {
    let rest = text.strip_prefix('{').unwrap_or("").trim_ascii_start();
    rest.starts_with(TYPE) || (!rest.is_empty() && TYPE.starts_with(rest))
}

const TYPE: &str = "\"type\"";

/// Where an object begins that follows plain text on the same line.
fn glued(text: &str) -> Option<usize> {
    // A text may hold any number of beginnings of objects; only so many are looked at, or a long line would cost its square.
    let mut looks = 16;
    memchr::memchr_iter(b'{', text.as_bytes()).find(|&at| {
        let word = text[at..]
            .strip_prefix("{\"type\":")
            .and_then(|rest| rest.trim_ascii_start().strip_prefix('"'));
        let Some(word) = word.filter(|_| at > 0 && looks > 0) else {
            return false;
        };
        looks -= 1;
        match Members::of(&text[at..]).read() {
            Ok(()) => true,
            // Cut off, and meant as a line.
            Err(error) => error.why == Why::CutOff && Line::ALL.iter().any(|(_, kind)| names(word, kind) || kind.starts_with(word)),
        }
    })
}

/// Whether the text begins with that word and the quote behind it.
fn names(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with('"'))
}
