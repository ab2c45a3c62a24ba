//! Tricode's lines to events.

use super::fields::is_known;
use super::formatted_result::{self, Same, Shown, needs_arguments};
use super::{failure, formatted_call, lines};
use crate::codec::{Cx, Decode, Dialect};
use crate::event::{
    At, Block, Content, Event, Fate, Field, Kind, Notice, Origin, Outcome, OutcomeKind, Reply, ResultStatus, RoundStart, Session, Sink, ToolCall,
    ToolResult, Topic,
};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};
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
    /// Calls that were answered, kept for their memory.
    spare: Vec<Open>,
    /// The line before was plain text.
    after_text: bool,
}

#[derive(Debug, Default)]
struct Open {
    number: u64,
    name: String,
    /// Empty when [`needs_arguments`] says no.
    arguments: String,
}

/// More calls than this do not wait for results: the oldest are forgotten.
const MOST_OPEN: usize = 1024;

/// The types of lines.
const TYPES: [&str; 6] = ["system", "round", "tool_call", "tool_result", "reminder", "final"];

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if text.starts_with('{') {
            let mut at = Cursor::new(text);
            let mut members = Members::default();
            match members.read(&mut at) {
                Ok(()) => {
                    let line = &text[..at.position()];
                    self.object(line, &members, cx, sink)?;
                    self.after_text = false;
                    return Ok(line.len());
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
}

impl Decoder {
    fn event<'a>(&self, kind: Kind<'a>, fields: &'a [Field<'a>], cx: &Cx<'a>) -> Event<'a> {
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

    fn object<'a>(&mut self, line: &'a str, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let kind = members.of("type").and_then(|m| m.text);
        match &*kind.unwrap_or_default().unescape() {
            "tool_call" => self.call(members, cx, sink)?,
            "tool_result" => self.result(members, cx, sink)?,
            "round" => {
                let number = members
                    .of("number")
                    .filter(|m| m.raw.shape() == Some(Shape::Number))
                    .and_then(|m| m.raw.u64());
                if let (Some(member), Some(_)) = (members.of("number"), number) {
                    cx.took(member.raw.as_str());
                }
                let start = RoundStart {
                    number,
                    ..RoundStart::default()
                };
                let typed: &[&str] = if number.is_some() { &["type", "number"] } else { &["type"] };
                sink.event(&self.event(Kind::RoundStart(start), members.others(typed, cx), cx));
            }
            "final" => {
                let content = match members.required("content")? {
                    member if member.raw.is_null() => None,
                    member => Some(member.text()?),
                };
                self.open.clear();
                let others = members.others(&["type", "content"], cx);
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
            "system" => self.system(members, cx, sink)?,
            "reminder" => {
                let message = members.required("message")?.text()?;
                let notice = Notice {
                    name: Str::trusted("reminder"),
                    topic: Topic::Reminder,
                    message: Some(message),
                    data: None,
                };
                let others = members.others(&["type", "message"], cx);
                sink.event(&self.event(Kind::Notice(cx.keep(notice)), others, cx));
            }
            _ => {
                sink.event(&self.event(Kind::Unknown(Raw::trusted(line)), &[], cx));
                return Ok(());
            }
        }
        if let Some(kind) = kind {
            cx.took(kind.as_escaped());
        }
        Ok(())
    }

    fn system<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let message = members.required("message")?.text()?;
        let others = members.others(&["type", "message"], cx);
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
        let name = members.required("name")?.text()?;
        let input = members.required("arguments")?.raw;
        let derived = members.of("formatted").filter(|member| {
            let mut same = Same::new(member.text.unwrap_or_default());
            formatted_call::write(name, input, &mut same);
            member.text.is_some() && same.is_all()
        });
        let others = members.others(with_formatted(&["type", "name", "arguments", "formatted"], derived, cx), cx);
        let number = self.opened(name, input);
        if let Some(trace) = cx.trace.filter(|_| number == 1) {
            trace.note(Fate::Invented, "", "calls have no ids in tricode: call_1, call_2 … are made up");
        }
        let call = ToolCall {
            id: made_up(number, cx),
            name,
            kind: tools::kind_of(Dialect::Tricode, name),
            input,
            fields: &[],
        };
        let blocks = cx.list(&[Block::Call(call)]);
        sink.event(&self.event(Kind::Reply(cx.keep(Reply { blocks, ..Reply::default() })), others, cx));
        Ok(())
    }

    fn result<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = match members.of("name") {
            Some(member) => Some(member.text()?),
            None => None,
        };
        let success = members.required("success")?;
        let Some(ok) = success.raw.bool() else {
            return Err(success.error(Why::Type));
        };
        let text = members.required("result")?.text()?;
        let answered = self.answered(name);
        let number = answered.as_ref().map_or(self.calls, |open| open.number);
        let derived = members.of("formatted").filter(|member| {
            let mut same = Same::new(member.text.unwrap_or_default());
            let arguments = answered
                .as_ref()
                .map(|open| Raw::trusted(open.arguments.as_str()))
                .filter(|a| !a.as_str().is_empty());
            formatted_result::write(
                Shown {
                    name: name.unwrap_or_default(),
                    arguments,
                    success: ok,
                    result: text,
                },
                &mut same,
            );
            member.text.is_some() && same.is_all()
        });
        self.spare.extend(answered);
        let others = members.others(with_formatted(&["type", "name", "success", "result", "formatted"], derived, cx), cx);
        cx.took(success.raw.as_str());
        if let Some(name) = name {
            // It repeats the call's.
            cx.took(name.as_escaped());
        }
        let status = match ok {
            true => ResultStatus::Success,
            false if text.as_escaped().starts_with(super::DENIED) => ResultStatus::Denied,
            false => ResultStatus::Error,
        };
        let result = ToolResult {
            call: made_up(number, cx),
            name,
            status,
            content: Content::Text(text),
            is_error: None,
            detail: None,
            fields: &[],
            of: None,
        };
        sink.event(&self.event(Kind::ToolResult(cx.keep(result)), others, cx));
        Ok(())
    }

    /// Remembers a call; returns its number.
    fn opened(&mut self, name: Str<'_>, input: Raw<'_>) -> u64 {
        self.calls += 1;
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        let mut open = self.spare.pop().unwrap_or_default();
        self.spare.clear();
        open.number = self.calls;
        name.as_escaped().clone_into(&mut open.name);
        open.arguments.clear();
        if needs_arguments(name) {
            open.arguments.push_str(input.as_str());
        }
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

/// One member of a line.
#[derive(Clone, Copy)]
struct Member<'a> {
    key: Str<'a>,
    /// Where the value stands in the line.
    at: usize,
    raw: Raw<'a>,
    /// The value, if it is a text.
    text: Option<Str<'a>>,
}

impl<'a> Member<'a> {
    const fn error(&self, why: Why) -> Error {
        Error { at: self.at, why }
    }

    fn text(&self) -> Result<Str<'a>, Error> {
        self.text.ok_or_else(|| self.error(Why::Type))
    }
}

/// The members of a line in order. Lines of the program have five at the most.
#[derive(Default)]
struct Members<'a> {
    few: [Option<Member<'a>>; 6],
    more: Vec<Member<'a>>,
    end: usize,
}

impl<'a> Members<'a> {
    fn read(&mut self, at: &mut Cursor<'a>) -> Result<(), Error> {
        let mut object = at.object()?;
        let mut count = 0;
        while let Some(key) = object.key(at)? {
            let text = at.peek() == Some(b'"');
            let before = at.rest();
            let begin = at.position();
            let text = if text { Some(at.string()?) } else { None };
            let raw = match text {
                Some(_) => Raw::trusted(&before[..at.position() - begin]),
                None if key.is("arguments") => at.raw()?,
                None => at.skip()?,
            };
            let member = Member { key, at: begin, raw, text };
            match self.few.get_mut(count) {
                Some(slot) => *slot = Some(member),
                None => self.more.push(member),
            }
            count += 1;
        }
        self.end = at.position();
        Ok(())
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        self.few.iter().flatten().chain(&self.more)
    }

    /// The member of that name; of several, the last, as Python has it.
    fn of(&self, key: &str) -> Option<&Member<'a>> {
        self.all().rfind(|member| member.key.is(key))
    }

    fn required(&self, key: &str) -> Result<&Member<'a>, Error> {
        self.of(key).ok_or(Error {
            at: self.end,
            why: Why::Missing,
        })
    }

    /// Every member but the last one of each of these names.
    fn others(&self, typed: &[&str], cx: &Cx<'a>) -> &'a [Field<'a>] {
        if self.more.is_empty() && self.all().count() == typed.len() && typed.iter().all(|key| self.of(key).is_some()) {
            return &[];
        }
        let is_typed = |member: &&Member<'a>| typed.iter().any(|key| self.of(key).is_some_and(|last| std::ptr::eq(last, *member)));
        let others = self.all().filter(|member| !is_typed(member));
        let field = |m: &Member<'a>| Field {
            at: At::Line,
            key: m.key,
            value: m.raw,
            known: is_known(&m.key.unescape()),
        };
        let fields: Vec<_> = others.map(field).collect();
        cx.list(&fields)
    }
}

/// The typed members of a line: `formatted`, which comes last, is one of them when it says nothing that the others don't.
fn with_formatted<'n, 'k>(names: &'n [&'k str], derived: Option<&Member<'_>>, cx: &Cx<'_>) -> &'n [&'k str] {
    match derived {
        Some(member) => {
            cx.took(member.raw.as_str());
            names
        }
        None => &names[..names.len() - 1],
    }
}

fn made_up<'a>(number: u64, cx: &Cx<'a>) -> Str<'a> {
    Str::trusted(bumpalo::format!(in cx.arena, "call_{}", number).into_bump_str())
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
    memchr::memmem::find_iter(text.as_bytes(), b"{\"type\":").find(|&at| {
        let Some(word) = text[at + "{\"type\":".len()..].trim_ascii_start().strip_prefix('"') else {
            return false;
        };
        if at == 0 || looks == 0 {
            return false;
        }
        looks -= 1;
        match Members::default().read(&mut Cursor::new(&text[at..])) {
            Ok(()) => true,
            // Cut off, and meant as a line.
            Err(error) => error.why == Why::CutOff && TYPES.iter().any(|kind| names(word, kind) || kind.starts_with(word)),
        }
    })
}

/// Whether the text begins with that word and the quote behind it.
fn names(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with('"'))
}
