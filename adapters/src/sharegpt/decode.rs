//! Sessions to events.

use super::fields::knows;
use super::{BETWEEN, CALLS, THOUGHT, trimmed};
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
    let members = Members::of(raw, &cx).filter(|said| matches!(said.get("value").map(Raw::shape), Some(Some(Shape::String | Shape::Null))));
    let from = raw.get("from").and_then(Raw::string).unwrap_or_default();
    let Some(mut said) = members else { return teller.unknown(raw) };
    if !matches!(
        from.as_escaped(),
        "human" | "user" | "gpt" | "assistant" | "function_call" | "observation" | "tool" | "system"
    ) {
        return teller.unknown(raw);
    }
    said.word("from", &cx);
    let value = said.text("value", &cx).unwrap_or_default();
    match from.as_escaped() {
        "human" | "user" => teller.prompt(Content::Text(value), said),
        "system" => teller.system(from, Content::Text(value), None, said),
        "observation" | "tool" => results(value, said, teller),
        from => answer(value, from == "function_call", said, teller),
    }
}

/// What came of the calls before it, of each its part, or of the first all of it.
fn results<'a>(value: Str<'a>, said: Members<'a>, teller: &mut Teller<'_, 'a>) {
    let parts: Vec<&str> = value.as_escaped().split(BETWEEN).collect();
    if parts.len() < 2 || parts.len() != teller.waiting() {
        return teller.result(None, Content::Text(value), said);
    }
    let mut said = Some(said);
    for part in parts {
        let rest = said.take().unwrap_or_else(|| Members::new(&teller.cx));
        teller.result(None, Content::Text(Str::trusted(part)), rest);
    }
}

fn answer<'a>(value: Str<'a>, is_call: bool, said: Members<'a>, teller: &mut Teller<'_, 'a>) {
    let cx = teller.cx;
    let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
    let mut text = value.as_escaped();
    let thought = text
        .trim_ascii_start()
        .strip_prefix(THOUGHT[0])
        .and_then(|rest| rest.split_once(THOUGHT[1]));
    if let Some((thought, rest)) = thought {
        cx.took(value.as_escaped());
        let thought = Str::trusted(trimmed(thought));
        if !thought.is_empty() {
            blocks.push(Block::Thinking(Thinking {
                text: thought,
                ..Thinking::default()
            }));
        }
        text = trimmed(rest);
    }
    let (before, calls) = match marked(text) {
        Some((before, calls)) => (before, calls),
        None if is_call => ("", vec![text]),
        None => (text, Vec::new()),
    };
    let calls: Option<Vec<Block<'a>>> = calls
        .into_iter()
        .map(|text| read(text, teller))
        .collect::<Option<Vec<_>>>()
        .map(|all| all.concat());
    let (text, calls) = match calls {
        Some(calls) => (before, calls),
        None => (text, Vec::new()),
    };
    if !calls.is_empty() {
        cx.took(value.as_escaped());
    }
    if !text.is_empty() {
        let text = Str::trusted(text);
        blocks.push(Block::Text { text, fields: &[] });
    }
    blocks.extend(calls);
    teller.reply(blocks.into_bump_slice(), None, said);
}

/// The text in front of calls in their marks, and what stands in those.
fn marked(text: &str) -> Option<(&str, Vec<&str>)> {
    let (before, _) = text.split_once(CALLS[0])?;
    let mut rest = &text[before.len()..];
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (call, behind) = rest.strip_prefix(CALLS[0])?.split_once(CALLS[1])?;
        calls.push(trimmed(call));
        rest = trimmed(behind);
    }
    Some((trimmed(before), calls))
}

/// The calls that a text says: one, or a list.
fn read<'a>(text: &'a str, teller: &mut Teller<'_, 'a>) -> Option<Vec<Block<'a>>> {
    let cx = teller.cx;
    let value = arguments_json(Some(Str::trusted(text)), &cx);
    let all: Vec<Raw<'a>> = match value.shape() {
        Some(Shape::Array) => value.elements().collect(),
        _ => vec![value],
    };
    let named = |call: &Raw<'a>| call.shape() == Some(Shape::Object) && call.get("name").is_some_and(|name| name.string().is_some());
    if all.is_empty() || !all.iter().all(named) {
        return None;
    }
    let one = |call: Raw<'a>| {
        let name = call.get("name").and_then(Raw::string).unwrap_or_default();
        Block::Call(ToolCall {
            id: teller.id(),
            name,
            kind: tools::kind_of(Dialect::Sharegpt, name),
            input: call.get("arguments").map_or(Raw::trusted("{}"), |input| in_text(input, &cx)),
            fields: &[],
        })
    };
    Some(all.into_iter().map(one).collect())
}

/// Arguments are an object; some write them as a text that is one.
fn in_text<'a>(input: Raw<'a>, cx: &Cx<'a>) -> Raw<'a> {
    match input.string() {
        Some(text) => arguments_json(Some(text), cx),
        None => input,
    }
}
