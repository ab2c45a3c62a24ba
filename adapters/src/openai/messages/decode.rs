//! Sessions to events.

use super::{PAIR, PROGRAM, ROLES, is_half};
use crate::chat::{Members, Reader, arguments_json};
use crate::codec::{Cx, Decode, Dialect, stray};
use crate::event::{Block, Content, Event, Kind, Media, Origin, Sink, Stop, StopKind, Thinking, ToolCall};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::openai::fields::knows;
use crate::talk::Teller;
use crate::tools;

/// Reads lines of which none knows of another.
#[derive(Debug, Default)]
pub struct Decoder {
    lines: u64,
}

/// Where what the model thought may stand.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let mut members = Members::read(&mut at, cx)?;
        let end = at.position();
        let line = Raw::trusted(&text[..end]);
        let halves = match members.shaped("messages", Shape::Array, cx) {
            None if PAIR.iter().all(|name| members.get(name).is_some_and(is_half)) => PAIR.map(|name| members.take(name, cx)),
            None => {
                sink.event(&Event::new(Origin::default(), Kind::Unknown(line)));
                return Ok(end);
            }
            messages => [messages, None],
        };
        let mut told = Session {
            teller: Teller::new(line.as_str(), None, &mut self.lines, knows, cx, sink),
            function: None,
        };
        let model = members.text("model", cx);
        told.teller.session(model, members);
        told.halves(halves);
        told.teller.end();
        Ok(end)
    }

    fn next_session(&mut self, _to: &str) {}
}

/// The session of a line.
struct Session<'t, 'a> {
    teller: Teller<'t, 'a>,
    /// The last call of the kind that has no id: what comes of it names the function.
    function: Option<Str<'a>>,
}

impl<'a> Session<'_, 'a> {
    /// All messages, or what is asked and what is answered: each a text or a list of messages.
    fn halves(&mut self, halves: [Option<Raw<'a>>; 2]) {
        let cx = self.teller.cx;
        for (half, raw) in halves.into_iter().enumerate().filter_map(|(half, raw)| Some((half, raw?))) {
            match raw.string() {
                Some(_) if half == 0 => self.teller.prompt(content(Some(raw), &cx), Members::new(&cx)),
                Some(text) => {
                    let blocks = cx.list(&[Block::Text { text, fields: &[] }]);
                    self.teller.reply(blocks, None, Members::new(&cx));
                }
                None => raw.elements().for_each(|message| self.message(message)),
            }
        }
    }

    fn message(&mut self, raw: Raw<'a>) {
        let cx = self.teller.cx;
        let role = raw.get("role").and_then(Raw::string).unwrap_or_default();
        let known = ROLES.contains(&role.as_escaped());
        let members = Members::of(raw, &cx).filter(|members| known && is_sound(members));
        let Some(mut message) = members else { return self.teller.unknown(raw) };
        message.word("role", &cx);
        if role.is("assistant") {
            return self.answer(message);
        }
        let data = message.take("content", &cx);
        let content = content(data, &cx);
        match role.as_escaped() {
            "user" if message.get("name").and_then(Raw::string).is_some_and(|name| name.is(PROGRAM)) => {
                message.word("name", &cx);
                self.teller.said_by_program(content, message);
            }
            "user" => self.teller.prompt(content, message),
            "tool" => {
                let call = message.text("tool_call_id", &cx);
                self.teller.result(call, content, message);
            }
            "function" => {
                let call = self.function.take();
                self.teller.result(call, content, message);
            }
            _ => self.teller.system(role, content, data, message),
        }
    }

    fn answer(&mut self, mut message: Members<'a>) {
        let cx = self.teller.cx;
        let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
        // When several say the same, it is told once.
        let thought = THOUGHTS.iter().find_map(|name| message.text(name, &cx).filter(|text| !text.is_empty()));
        blocks.extend(thought.map(|text| Block::Thinking(Thinking { text, ..Thinking::default() })));
        let said = message.take("content", &cx);
        // What was spoken is said in words, where nothing else is.
        let spoken = message.get("audio").filter(|_| said.is_none()).and_then(|audio| audio.get("transcript"));
        let said = said.or(spoken);
        let is_refusal = |part: Raw<'a>| part.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("refusal"));
        let has_refused = said.is_some_and(|said| said.elements().any(is_refusal));
        match content(said, &cx) {
            Content::Text(text) if text.is_empty() => cx.took(text.as_escaped()),
            Content::Text(text) => blocks.push(Block::Text { text, fields: &[] }),
            Content::Blocks(parts) => blocks.extend(parts.iter().copied()),
        }
        let images = message.shaped("images", Shape::Array, &cx);
        blocks.extend(images.into_iter().flat_map(Raw::elements).map(|part| block(part, &cx)));
        let refusal = message.text("refusal", &cx).filter(|text| !text.is_empty());
        blocks.extend(refusal.map(|text| Block::Text { text, fields: &[] }));
        let calls = message.shaped("tool_calls", Shape::Array, &cx);
        for raw in calls.into_iter().flat_map(Raw::elements) {
            blocks.push(self.call(raw));
        }
        if let Some(function) = message.shaped("function_call", Shape::Object, &cx) {
            let id = self.teller.id();
            self.function = Some(id);
            blocks.push(self.function(id, function));
        }
        let stop = (has_refused || refusal.is_some()).then(|| Stop {
            kind: StopKind::Refusal,
            word: Str::trusted("refusal"),
        });
        self.teller.reply(blocks.into_bump_slice(), stop, message);
    }

    fn call(&mut self, raw: Raw<'a>) -> Block<'a> {
        let other = Block::Other {
            kind: Str::trusted("tool_call"),
            raw,
        };
        let cx = self.teller.cx;
        if let Some(call) = self.custom(raw) {
            return call;
        }
        let reader = Reader { cx: &cx, knows };
        let Ok(call) = reader.call(&mut Cursor::new(raw.as_str()), 0) else {
            return other;
        };
        let Some(name) = call.name else { return other };
        Block::Call(ToolCall {
            id: call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| self.teller.id()),
            name,
            kind: tools::kind_of(Dialect::Openai, name),
            input: arguments_json(call.arguments, &cx),
            fields: call.fields,
        })
    }

    /// A call of a tool that takes a text.
    fn custom(&mut self, raw: Raw<'a>) -> Option<Block<'a>> {
        let cx = self.teller.cx;
        let mut call = Members::of(raw, &cx)?;
        let called = call.get("custom")?;
        let (name, text) = (
            called.get("name")?.string()?,
            called.get("input").filter(|input| input.string().is_some())?,
        );
        call.take("custom", &cx);
        let id = call.text("id", &cx).filter(|id| !id.is_empty());
        let input = &*cx.arena.alloc_str(&format!("{{\"input\":{}}}", text.as_str()));
        cx.stands_for(input, text.as_str());
        Some(Block::Call(ToolCall {
            id: id.unwrap_or_else(|| self.teller.id()),
            name,
            kind: tools::kind_of(Dialect::Openai, name),
            input: Raw::trusted(input),
            fields: self.teller.fields(call),
        }))
    }

    fn function(&self, id: Str<'a>, raw: Raw<'a>) -> Block<'a> {
        let text = |name: &str| raw.get(name).and_then(Raw::string);
        let name = text("name").unwrap_or_default();
        Block::Call(ToolCall {
            id,
            name,
            kind: tools::kind_of(Dialect::Openai, name),
            input: arguments_json(text("arguments"), &self.teller.cx),
            fields: &[],
        })
    }
}

/// Whether what a message says is a text, parts, or nothing.
fn is_sound(message: &Members<'_>) -> bool {
    let shape = message.get("content").map(Raw::shape);
    matches!(shape, None | Some(Some(Shape::String | Shape::Array | Shape::Null)))
}

fn content<'a>(raw: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
    match raw.map(|raw| (raw, raw.string())) {
        None => Content::Blocks(&[]),
        Some((_, Some(text))) => Content::Text(text),
        Some((raw, None)) => {
            let parts = raw.elements().map(|part| block(part, cx));
            Content::Blocks(bumpalo::collections::Vec::from_iter_in(parts, cx.arena).into_bump_slice())
        }
    }
}

/// A part of a message; an image in the form that blocks have.
fn block<'a>(part: Raw<'a>, cx: &Cx<'a>) -> Block<'a> {
    let kind = part.get("type").and_then(Raw::string).unwrap_or_default();
    let said = part.get("text").or_else(|| part.get("refusal")).and_then(Raw::string);
    let url = part.get("image_url").and_then(|image| image.get("url")).and_then(Raw::string);
    match (kind.as_escaped(), said, url) {
        ("text" | "refusal", Some(text), _) => {
            cx.took(kind.as_escaped());
            Block::Text { text, fields: &[] }
        }
        ("image_url", _, Some(url)) => {
            let url = url.as_escaped();
            let data = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
            let made = match data {
                Some((kind, data)) => format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{kind}","data":"{data}"}}}}"#),
                None => format!(r#"{{"type":"image","source":{{"type":"url","url":"{url}"}}}}"#),
            };
            let raw = Raw::trusted(cx.arena.alloc_str(&made));
            cx.took(kind.as_escaped());
            cx.stands_for(raw.as_str(), url);
            if let Some(trace) = cx.trace.filter(|_| data.is_some()) {
                trace.reshaped(url, "an image whose data stand in its address");
            }
            Block::Media(Media { kind: cx.text("image"), raw })
        }
        ("file", ..) if holds_document(part) => Block::Media(Media { kind, raw: part }),
        _ => Block::Other { kind, raw: part },
    }
}

/// A file that goes with the message itself, and not by its id alone.
fn holds_document(part: Raw<'_>) -> bool {
    let data = part.get("file").and_then(|file| file.get("file_data")).and_then(Raw::string);
    data.is_some_and(|data| data.begins("data:application/pdf;base64,"))
}
