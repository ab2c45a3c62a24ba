//! Sessions to events.

use super::fields::knows;
use super::{CALLS, RESULT, THOUGHT, trimmed, without_line_feed};
use crate::chat::{Members, arguments_json};
use crate::codec::{Cx, Decode, Dialect, stray};
use crate::event::{Block, Content, Event, Kind, Origin, Sink, Thinking, ToolCall};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::talk::Teller;
use crate::tools;

/// Reads sessions of which none knows of another.
#[derive(Debug, Default)]
pub struct Decoder {
    sessions: u64,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let mut members = Members::read(&mut at, cx)?;
        let end = at.position();
        let whole = Raw::trusted(&text[..end]);
        let Some(all) = members.shaped("conversations", Shape::Array, cx) else {
            sink.event(&Event::new(Origin::default(), Kind::Unknown(whole)));
            return Ok(end);
        };
        let id = members.get("id").and_then(Raw::string).filter(|id| !id.is_empty());
        if id.is_some() {
            members.take_raw("id");
        }
        let system = members.text("system", cx).filter(|text| !text.is_empty());
        let mut teller = Teller::new(whole.as_str(), id, &mut self.sessions, knows, cx, sink);
        teller.session(None, members);
        if let Some(text) = system {
            teller.system(Str::trusted("system"), Content::Text(text), None, Members::new(cx));
        }
        all.elements().for_each(|said| one(said, &mut teller));
        teller.end();
        Ok(end)
    }

    fn next_session(&mut self, _to: &str) {}
}

/// Tells one thing that was said.
fn one<'a>(raw: Raw<'a>, teller: &mut Teller<'_, 'a>) {
    let cx = teller.cx;
    let [who, what] = keys(raw);
    let members = Members::of(raw, &cx).filter(|said| matches!(said.get(what).map(Raw::shape), Some(Some(Shape::String | Shape::Null))));
    let from = raw.get(who).and_then(Raw::string).unwrap_or_default();
    let Some(mut said) = members else { return teller.unknown(raw) };
    if !matches!(
        from.as_escaped(),
        "human" | "user" | "gpt" | "assistant" | "function_call" | "observation" | "tool" | "system"
    ) {
        return teller.unknown(raw);
    }
    said.word(who, &cx);
    let value = plainly(said.text(what, &cx).unwrap_or_default(), &cx);
    match from.as_escaped() {
        "human" | "user" => teller.prompt(Content::Text(value), said),
        "system" => teller.system(from, Content::Text(value), None, said),
        "observation" | "tool" => results(value, said, teller),
        from => answer(value, from == "function_call", said, teller),
    }
}

/// What the members are called that say who speaks, and what. Data sets that are named in OpenAI's words are read as well.
pub(super) fn keys(said: Raw<'_>) -> [&'static str; 2] {
    match said.get("from") {
        None if said.get("role").is_some() => ["role", "content"],
        _ => ["from", "value"],
    }
}

/// A text in which marks may be looked for as they are written.
fn plainly<'a>(value: Str<'a>, cx: &Cx<'a>) -> Str<'a> {
    let plain = cx.plainly(value);
    match plain.as_escaped().contains('<') {
        true => plain,
        false => value,
    }
}

/// What came of the calls before it, of each its part, or of the first all of it.
fn results<'a>(value: Str<'a>, said: Members<'a>, teller: &mut Teller<'_, 'a>) {
    let marked = value.as_escaped();
    let bare = trimmed(marked).strip_prefix(RESULT[0]).and_then(|rest| rest.strip_suffix(RESULT[1]));
    let parts = parts(bare.unwrap_or(marked), bare.is_some()).filter(|parts| parts.len() == 1 || parts.len() <= teller.waiting());
    teller.cx.took(marked);
    let mut said = Some(said);
    for part in parts.unwrap_or_else(|| vec![marked]) {
        let rest = said.take().unwrap_or_else(|| Members::new(&teller.cx));
        teller.result(None, Content::Text(Str::trusted(part)), rest);
    }
}

/// What the marks between results divide, without the line feeds beside marks; `is_marked`: marks stood around them all too.
fn parts(text: &str, is_marked: bool) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for part in text.split(RESULT[1]) {
        let begun = match parts.is_empty() {
            true => part,
            false => part.split_once(RESULT[0]).filter(|(before, _)| trimmed(before).is_empty())?.1,
        };
        parts.push(begun);
    }
    let last = parts.len() - 1;
    for (n, part) in parts.iter_mut().enumerate() {
        if is_marked || n > 0 {
            *part = part.strip_prefix("\\n").unwrap_or(part);
        }
        if is_marked || n < last {
            *part = without_line_feed(part);
        }
    }
    Some(parts)
}

fn answer<'a>(value: Str<'a>, is_call: bool, said: Members<'a>, teller: &mut Teller<'_, 'a>) {
    let cx = teller.cx;
    let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
    let mut text = value.as_escaped();
    let thought = text.trim_ascii_start().strip_prefix(THOUGHT[0]).and_then(thought);
    let thought = thought.map_or("", |(thought, rest)| {
        text = trimmed(rest);
        trimmed(thought)
    });
    if !thought.is_empty() {
        blocks.push(Block::Thinking(Thinking {
            text: Str::trusted(thought),
            ..Thinking::default()
        }));
    }
    let marked = marked(text, teller);
    let whole = || read(trimmed(text), teller).filter(|_| is_call).map(|calls| ("", calls));
    let (text, calls) = marked.or_else(whole).unwrap_or((text, Vec::new()));
    if let Some(trace) = cx.trace {
        trace.consists_of(value.as_escaped(), &[thought, text]);
    }
    if !text.is_empty() {
        let text = Str::trusted(text);
        blocks.push(Block::Text { text, fields: &[] });
    }
    blocks.extend(calls);
    teller.reply(blocks.into_bump_slice(), None, said);
}

/// A thought and what stands behind its mark. It may hold marks too: the end is the first mark to which no other one belongs.
fn thought(text: &str) -> Option<(&str, &str)> {
    let first = text.split_once(THOUGHT[1])?;
    let (mut from, mut open) = (0, 1_usize);
    while let Some(end) = text[from..].find(THOUGHT[1]).map(|at| from + at) {
        open += text[from..end].matches(THOUGHT[0]).count();
        open -= 1;
        from = end + THOUGHT[1].len();
        if open == 0 {
            return Some((&text[..end], &text[from..]));
        }
    }
    Some(first)
}

/// So many marks of a text are tried whether a call begins at them.
const TRIES: usize = 16;

/// The text in front of calls in their marks, with which it ends, and those calls. The text may hold marks too: they are looked for from
/// the end, as long as calls stand in them.
fn marked<'a>(text: &'a str, teller: &mut Teller<'_, 'a>) -> Option<(&'a str, Vec<Block<'a>>)> {
    let mut before = trimmed(text);
    let mut found = Vec::new();
    while let Some(rest) = before.strip_suffix(CALLS[1]) {
        let from = rest.rfind(CALLS[1]).map_or(0, |at| at + CALLS[1].len());
        let begins = rest[from..].match_indices(CALLS[0]).take(TRIES);
        let begun = begins.map(|(at, mark)| (from + at, trimmed(&rest[from + at + mark.len()..])));
        let Some((at, calls)) = begun.filter_map(|(at, text)| Some((at, calls_in(text, &teller.cx)?))).next() else {
            break;
        };
        found.push(calls);
        before = trimmed(&rest[..at]);
    }
    let calls = found.into_iter().rev().flatten();
    let calls: Vec<Block<'a>> = calls.map(|call| block(call, teller)).collect();
    (!calls.is_empty()).then_some((before, calls))
}

/// The calls that a text says: one, or a list.
fn read<'a>(text: &'a str, teller: &mut Teller<'_, 'a>) -> Option<Vec<Block<'a>>> {
    let calls = calls_in(text, &teller.cx)?;
    Some(calls.into_iter().map(|call| block(call, teller)).collect())
}

fn calls_in<'a>(text: &'a str, cx: &Cx<'a>) -> Option<Vec<Raw<'a>>> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value = arguments_json(Some(Str::trusted(text)), cx);
    let all: Vec<Raw<'a>> = match value.shape() {
        Some(Shape::Array) => value.elements().collect(),
        _ => vec![value],
    };
    let named = |call: &Raw<'a>| call.shape() == Some(Shape::Object) && call.get("name").is_some_and(|name| name.string().is_some());
    (!all.is_empty() && all.iter().all(named)).then_some(all)
}

fn block<'a>(call: Raw<'a>, teller: &mut Teller<'_, 'a>) -> Block<'a> {
    let cx = teller.cx;
    let name = call.get("name").and_then(Raw::string).unwrap_or_default();
    let id = call.get("id").and_then(Raw::string).filter(|id| !id.is_empty());
    if let Some(trace) = cx.trace {
        for (key, value) in call.members() {
            let known = ["name", "arguments"].iter().any(|known| key.is(known)) || (key.is("id") && id.is_some());
            if !known {
                trace.lost(
                    value.as_str(),
                    None,
                    &format!("no place for what a call says beside its name and arguments: {}", key.as_escaped()),
                );
            }
        }
    }
    Block::Call(ToolCall {
        id: id.unwrap_or_else(|| teller.id()),
        name,
        kind: tools::kind_of(Dialect::Sharegpt, name),
        input: call.get("arguments").map_or(Raw::trusted("{}"), |input| in_text(input, &cx)),
        fields: &[],
    })
}

/// Arguments are an object; some write them as a text that is one.
fn in_text<'a>(input: Raw<'a>, cx: &Cx<'a>) -> Raw<'a> {
    match input.string() {
        Some(text) => arguments_json(Some(text), cx),
        None => input,
    }
}
