//! `tool_call` lines: `{"<kind>ToolCall":{"args":…,"result":…}, …}`, or `function` for tools that have no kind of their own.

use std::collections::HashMap;

use super::content::Found;
use super::decode::{Decoder, origin};
use super::members::{FUNCTION, Inside, Line, Members, ToolCallMembers};
use crate::codec::Dialect;
use crate::event::{At, Block, Content, Detail, DetailShape, Event, Fields, Kind, Reply, ResultStatus, Sink, ToolCall, ToolProgress, ToolResult};
use crate::ids;
use crate::json::{Cursor, Error, Raw, Str, Why};
use crate::tools::kind_of;

/// How the calls of a turn were said when they started: a completed line that repeats it says nothing new. Kept only when there
/// is a ledger.
#[derive(Debug, Default)]
pub(super) struct Started(HashMap<String, Prints>);

/// Fingerprints of a started line's arguments and round.
#[derive(Clone, Copy, Debug)]
struct Prints {
    arguments: u64,
    round: u64,
}

impl Started {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn print(text: &str) -> u64 {
    ids::fnv(text.as_bytes(), ids::FNV_SEED)
}

/// A `tool_call` object.
struct Tool<'a> {
    /// The call's id: `call_id` of the line.
    id: Str<'a>,
    /// The tool: the key of its kind, or the name of the function.
    name: Str<'a>,
    /// The arguments as a value; absent when the object does not say them.
    input: Option<Raw<'a>>,
    /// The arguments as they stand in the line.
    arguments: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    /// What was found in the result.
    found: Found<'a>,
    fields: Fields<'a>,
}

impl Decoder {
    pub(super) fn call_started<'a>(
        &mut self,
        line: &Line<'a>,
        (mut members, inside): (Members<'a>, Inside<'a>),
        sink: &mut dyn Sink<'a>,
    ) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let id = members.take_string("model_call_id", line)?;
        let tool = read(line, members, inside)?;
        if line.cx.trace.is_some() {
            let prints = Prints {
                arguments: print(tool.arguments.map_or("", Raw::as_str)),
                round: print(id.unwrap_or_default().as_escaped()),
            };
            self.started.0.insert(tool.id.as_escaped().to_owned(), prints);
        }
        tool.tell_echoes(line);
        self.before_call(origin, sink);
        let call = tool.call().unwrap_or(tool.bare_call());
        let blocks = line.cx.list(&[Block::Call(call)]);
        let reply = line.cx.keep(Reply {
            id,
            blocks,
            ..Reply::default()
        });
        sink.event(&Event {
            origin,
            kind: Kind::Reply(reply),
            fields: tool.fields,
        });
        Ok(())
    }

    pub(super) fn call_completed<'a>(
        &mut self,
        line: &Line<'a>,
        (mut members, inside): (Members<'a>, Inside<'a>),
        sink: &mut dyn Sink<'a>,
    ) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let tool = read(line, members, inside)?;
        if let Some(&prints) = self.started.0.get(tool.id.as_escaped()) {
            tool.tell_repeated(prints, line);
        }
        tool.tell_echoes(line);
        self.before_call(origin, sink);
        self.after_result();
        let (status, content) = match tool.result {
            Some(result) => tool.found.content(tool.name.as_escaped(), result, &line.cx),
            None => (ResultStatus::Error, Content::Text(Str::EMPTY)),
        };
        let result = line.cx.keep(ToolResult {
            call: tool.id,
            name: Some(tool.name),
            status,
            content,
            is_error: None,
            detail: tool.result.map(|raw| Detail {
                shape: DetailShape::Cursor,
                raw,
            }),
            fields: &[],
            // The line says its call again, and may be the only one that does.
            of: tool.call(),
        });
        sink.event(&Event {
            origin,
            kind: Kind::ToolResult(result),
            fields: tool.fields,
        });
        Ok(())
    }

    pub(super) fn call_progress<'a>(&mut self, line: &Line<'a>, mut members: Members<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let call = members.need_string("call_id", line)?;
        let content = members.take("tool_call").map(|raw| line.checked(raw)).transpose()?;
        let progress = line.cx.keep(ToolProgress {
            call,
            status: None,
            content,
            confirmation: None,
        });
        sink.event(&Event {
            origin,
            kind: Kind::ToolProgress(progress),
            fields: super::decode::rest(line, &members),
        });
        Ok(())
    }
}

impl<'a> Tool<'a> {
    /// Tells the ledger what a completed line only repeats.
    fn tell_repeated(&self, started: Prints, line: &Line<'_>) {
        // A function says its name on both.
        line.cx.took(self.name.as_escaped());
        if let Some(again) = self.arguments.filter(|again| print(again.as_str()) == started.arguments) {
            line.cx.took(again.as_str());
        }
        let again = self.fields.iter().find(|field| field.at == At::Line && field.key.is("model_call_id"));
        let again = again.and_then(|field| field.value.string());
        if let Some(again) = again.filter(|again| print(again.as_escaped()) == started.round) {
            line.cx.took(again.as_escaped());
        }
    }

    /// Tells the ledger which members beside the arguments say what stands elsewhere in the line, or nothing.
    fn tell_echoes(&self, line: &Line<'_>) {
        if line.cx.trace.is_none() {
            return;
        }
        for field in self.fields.iter().filter(|field| field.at != At::Line) {
            let echoes = match field.key.as_escaped() {
                "toolCallId" => field.value.string().is_some_and(|id| id.same_text(self.id)),
                "hookAdditionalContexts" => field.value.as_str() == "[]",
                "description" => self
                    .input
                    .and_then(|input| input.get("description"))
                    .is_some_and(|said| said.same_value(field.value)),
                _ => false,
            };
            if echoes {
                line.cx.took(field.value.as_str());
            }
        }
    }

    fn call(&self) -> Option<ToolCall<'a>> {
        Some(ToolCall {
            input: self.input?,
            ..self.bare_call()
        })
    }

    /// The call as far as an object without arguments says it.
    fn bare_call(&self) -> ToolCall<'a> {
        ToolCall {
            id: self.id,
            name: self.name,
            kind: kind_of(Dialect::Cursor, self.name),
            input: Raw::trusted("{}"),
            fields: &[],
        }
    }
}

fn read<'a>(line: &Line<'a>, mut members: Members<'a>, inside: Inside<'a>) -> Result<Tool<'a>, Error> {
    let id = members.need_string("call_id", line)?;
    let value = members.need("tool_call", line)?;
    let ToolCallMembers { mut outer, kind, found } = inside.tool.ok_or(line.place(value.as_str(), Error { at: 0, why: Why::Type }))?;
    let (key, mut inner) = kind.ok_or(line.missing("tool_call/function"))?;
    let mut fields = line.fields();
    let (name, arguments, input) = if key.is(FUNCTION) {
        let name = line.string(inner.take("name").ok_or(line.missing("tool_call/function/name"))?)?;
        let arguments = inner.take("arguments");
        (name, arguments, arguments.map(|raw| function_input(line, raw)))
    } else {
        let arguments = inner.take("args");
        (key, arguments, arguments)
    };
    let (result, found) = match inner.take("result") {
        Some(result) => (Some(result), found.unwrap_or_default()),
        None => {
            // Seen in a third party's reader only.
            let result = outer.take("result");
            let found = result.map(|result| Found::read(&mut Cursor::new(result.as_str())).map_err(|error| line.place(result.as_str(), error)));
            (result, found.transpose()?.unwrap_or_default())
        }
    };
    let mut pointer = bumpalo::collections::String::from_str_in("/tool_call/", line.cx.arena);
    pointer.push_str(key.as_escaped());
    let pointer = pointer.into_bump_str();
    inner.rest(At::Part(pointer), &mut fields);
    outer.rest(At::Part("/tool_call"), &mut fields);
    members.rest(At::Line, &mut fields);
    Ok(Tool {
        id,
        name,
        input,
        arguments,
        result,
        found,
        fields: fields.into_bump_slice(),
    })
}

/// The arguments of a function: a JSON text inside a string. What is no JSON stays a string.
fn function_input<'a>(line: &Line<'a>, arguments: Raw<'a>) -> Raw<'a> {
    let Some(text) = arguments.string() else { return arguments };
    let plain = text.unescape();
    let mut at = Cursor::new(&plain);
    if at.raw().is_err() || !at.at_end() {
        return arguments;
    }
    let input = line.cx.arena.alloc_str(plain.trim_ascii());
    line.cx.took(arguments.as_str());
    line.cx.stands_for(input, arguments.as_str());
    Raw::trusted(input)
}
