//! Codex's lines to events.

use std::collections::BTreeMap;

use bumpalo::collections::Vec as BumpVec;

use super::fields::knows;
use super::items::{BUILTIN, ITEM, MCP_TOOL_CALL, PRINTED, PROCESS, TODO_LIST, Tool, object};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode, Dialect};
use crate::event::{
    At, Block, Content, Count, Detail, DetailShape, Event, Fate, Field, Fields, Kind, Limit, Notice, Origin, Outcome, OutcomeKind, Place, Reply,
    ResultStatus, RoundEnd, Scope, Session, Sink, Thinking, ToolCall, ToolKind, ToolResult, Topic, Usage,
};
use crate::ids;
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::tools::kind_of;

/// Reads it.
///
/// A list of things to do is one item for the whole turn: each time that it changes is a call of its own, and its result.
#[derive(Debug, Default)]
pub struct Decoder {
    thread: String,
    /// How many processes the thread has had in this log.
    processes: u64,
    /// Items that have started and are not completed, and how they were said.
    open: BTreeMap<String, u64>,
    list: List,
    /// A call was made since the last result: what the model says next is another reply.
    called: bool,
}

/// The list of things to do.
#[derive(Debug, Default)]
struct List {
    /// How it looked last.
    print: Option<u64>,
    /// How often it has changed in this turn.
    changes: u64,
}

/// More items than this are not remembered to have started.
const MOST_OPEN: usize = 1024;

/// A line, opened.
struct Line<'a> {
    text: &'a str,
    cx: Cx<'a>,
    /// What is left of it.
    members: Members<'a>,
}

/// A line with an item.
struct ItemLine<'a> {
    line: Line<'a>,
    /// The line's type.
    word: Str<'a>,
    /// The item as it stands.
    raw: Raw<'a>,
    /// What is left of the item.
    parts: Members<'a>,
    id: Str<'a>,
    kind: Str<'a>,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            self.tell(Kind::Noise(text), &[], cx, sink);
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let members = Members::read(&mut at, cx)?;
        let used = at.position();
        let line = Line {
            text: &text[..used],
            cx: *cx,
            members,
        };
        let word = line.members.get("type").and_then(Raw::string).unwrap_or_default();
        match &*word.unescape() {
            "thread.started" => self.thread(line, sink)?,
            "turn.started" => self.notice(line, word, Topic::Status, None, sink),
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
    fn tell<'a>(&self, kind: Kind<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let session = (!self.thread.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.thread)));
        let origin = Origin {
            session,
            ..Origin::default()
        };
        sink.event(&Event { origin, kind, fields });
    }

    fn thread<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = line.need("thread_id")?;
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

    /// Items are counted anew in each process, calls are not.
    fn call_id<'a>(&self, id: Str<'a>, cx: &Cx<'a>) -> Str<'a> {
        if self.processes < 2 {
            return id;
        }
        let made = bumpalo::format!(in cx.arena, "{}{}_{}", PROCESS, self.processes, id.as_escaped()).into_bump_str();
        cx.stands_for(made, id.as_escaped());
        tell_made_up(cx);
        Str::trusted(made)
    }

    fn begin_turn(&mut self) {
        self.open.clear();
        self.list = List::default();
        self.called = false;
    }

    /// Something that is no part of the conversation. With `data` it is an item, which has its own text.
    fn notice<'a>(&self, mut line: Line<'a>, name: Str<'a>, topic: Topic, data: Option<Raw<'a>>, sink: &mut dyn Sink<'a>) {
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
        let Some(mut parts) = Members::of(raw, &cx) else {
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
        let id = item.raw.get("id").unwrap_or(Raw::NULL);
        let mut fields = FieldList::new_in(cx.arena);
        fields.push(known("id", id));
        item.rest_into(&mut fields);
        self.reply(block, fields.into_bump_slice(), &cx, sink);
        Ok(())
    }

    fn reply<'a>(&self, block: Block<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let blocks = cx.list(&[block]);
        self.tell(Kind::Reply(cx.keep(Reply { blocks, ..Reply::default() })), fields, cx, sink);
    }

    /// The list as it is now. When it is completed, just before the turn ends, it says again what it said last.
    fn list<'a>(&mut self, mut item: ItemLine<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = item.line.cx;
        let Some(items) = item.parts.shaped("items", Shape::Array, &cx) else {
            return Err(item.line.missing("item/items"));
        };
        let print = ids::fnv(items.as_str().as_bytes(), ids::FNV_SEED);
        if item.word.is("item.completed") && self.list.print == Some(print) {
            if let Some(trace) = cx.trace {
                trace.merged("the list of things to do as it was said last");
            }
            self.notice(item.line, item.word, Topic::Status, Some(item.raw), sink);
            return Ok(());
        }
        self.list.print = Some(print);
        self.list.changes += 1;
        let mut fields = FieldList::new_in(cx.arena);
        let mut id = self.call_id(item.id, &cx);
        if !(item.word.is("item.started") && self.list.changes == 1) {
            fields.push(type_of(item.word, &cx));
            fields.push(known("id", item.raw.get("id").unwrap_or(Raw::NULL)));
            let made = bumpalo::format!(in cx.arena, "{}_{}", id.as_escaped(), self.list.changes).into_bump_str();
            cx.stands_for(made, item.id.as_escaped());
            tell_made_up(&cx);
            id = Str::trusted(made);
        }
        item.took();
        let name = item.kind;
        item.rest_into(&mut fields);
        let call = ToolCall {
            id,
            name,
            kind: ToolKind::Todo,
            input: object(&[("items", items)], &cx),
            fields: &[],
        };
        self.reply(Block::Call(call), fields.into_bump_slice(), &cx, sink);
        let result = cx.keep(ToolResult {
            call: id,
            name: Some(name),
            status: ResultStatus::Success,
            content: Content::Text(Str::EMPTY),
            is_error: None,
            detail: None,
            fields: &[],
            of: None,
        });
        self.tell(Kind::ToolResult(result), &[], &cx, sink);
        Ok(())
    }

    fn tool<'a>(&mut self, tool: &'static Tool, mut item: ItemLine<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = item.line.cx;
        for name in tool.needs {
            match (*name, item.parts.get(name)) {
                ("changes", Some(value)) if value.shape() == Some(Shape::Array) => {}
                (name, Some(value)) if name != "changes" && value.string().is_some() => {}
                _ => return Err(item.line.missing(name)),
            }
        }
        let starts = item.word.is("item.started");
        // What is searched for may be known at the end only.
        let is_empty = tool.name == "web_search" && item.parts.get("query").is_some_and(|query| query.as_str() == "\"\"");
        let opened = self.open.get(item.id.as_escaped()).copied();
        if item.word.is("item.updated") || starts && (opened.is_some() || is_empty) {
            self.notice(item.line, item.word, Topic::Status, Some(item.raw), sink);
            return Ok(());
        }
        item.took();
        let asked = item.take_all(tool.asks);
        let (call, print) = self.call(tool, &item, &asked);
        if starts {
            if self.open.len() == MOST_OPEN {
                self.open.pop_first();
            }
            self.open.insert(item.id.as_escaped().to_owned(), print);
            item.took_start(tool);
            let mut fields = FieldList::new_in(cx.arena);
            item.rest_into(&mut fields);
            self.called = true;
            self.reply(Block::Call(call), fields.into_bump_slice(), &cx, sink);
            return Ok(());
        }
        self.open.remove(item.id.as_escaped());
        match opened {
            Some(before) if before == print => asked.iter().for_each(|(_, value)| cx.took(value.as_str())),
            Some(_) => {}
            None => self.reply(Block::Call(call), cx.list(&[type_of(item.word, &cx)]), &cx, sink),
        }
        self.called = false;
        let result = cx.keep(item.result(tool, call));
        let mut fields = FieldList::new_in(cx.arena);
        item.rest_into(&mut fields);
        self.tell(Kind::ToolResult(result), fields.into_bump_slice(), &cx, sink);
        Ok(())
    }

    /// The call that an item is, and a fingerprint of what it asks for.
    fn call<'a>(&self, tool: &'static Tool, item: &ItemLine<'a>, asked: &[(&'static str, Raw<'a>)]) -> (ToolCall<'a>, u64) {
        let cx = &item.line.cx;
        let print = |seed, (_, value): &(_, Raw<'a>)| ids::fnv(value.as_str().as_bytes(), seed);
        let print = match cx.trace {
            Some(_) => asked.iter().fold(ids::FNV_SEED, print),
            None => 0,
        };
        let value = |name: &str| asked.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        let builtin = (tool.name == MCP_TOOL_CALL).then(|| (value("server"), value("tool"), value("arguments")));
        if let Some((Some(server), Some(name), Some(input))) = builtin
            && server.string().is_some_and(|server| server.is(BUILTIN))
            && let Some(name) = name.string().filter(|name| kind_of(Dialect::Codex, *name) == ToolKind::Other)
        {
            cx.took(server.as_str());
            let call = ToolCall {
                id: self.call_id(item.id, cx),
                name,
                kind: ToolKind::Other,
                input,
                fields: &[],
            };
            return (call, print);
        }
        let call = ToolCall {
            id: self.call_id(item.id, cx),
            name: item.kind,
            kind: kind_of(Dialect::Codex, item.kind),
            input: object(asked, cx),
            fields: &[],
        };
        (call, print)
    }
}

impl<'a> Line<'a> {
    fn missing(&self, member: &'static str) -> Error {
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
    fn took(&mut self) {
        let cx = self.line.cx;
        self.parts.word("type", &cx);
    }

    /// Takes out the members of these names that are there.
    fn take_all(&mut self, names: &[&'static str]) -> BumpVec<'a, (&'static str, Raw<'a>)> {
        let mut taken = BumpVec::with_capacity_in(names.len(), self.line.cx.arena);
        taken.extend(names.iter().filter_map(|name| Some((*name, self.parts.take_raw(name)?))));
        taken
    }

    /// What stands in an item that has just started says nothing.
    fn took_start(&self, tool: &Tool) {
        let cx = self.line.cx;
        for (name, begins) in Raw::trusted(tool.begins).members() {
            if let Some(value) = self.parts.get(name.as_escaped()).filter(|value| *value == begins) {
                cx.took(value.as_str());
            }
        }
    }

    fn result(&mut self, tool: &'static Tool, call: ToolCall<'a>) -> ToolResult<'a> {
        let cx = self.line.cx;
        let shown = self.take_all(tool.shows);
        let value = |name: &str| shown.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        let status = status(value("status").and_then(Raw::string), value("exit_code"));
        for (_, value) in shown.iter().filter(|(name, value)| match *name {
            "status" => true,
            "exit_code" => status == ResultStatus::Success && value.as_str() == "0" || value.is_null(),
            _ => value.is_null(),
        }) {
            cx.took(value.as_str());
        }
        let content = match tool.name {
            MCP_TOOL_CALL => mcp_content(value("result"), value("error"), &cx),
            "collab_tool_call" => messages(value("agents_states"), &cx),
            "command_execution" => Content::Text(self.parts.text(PRINTED, &cx).unwrap_or_default()),
            _ => Content::Text(Str::EMPTY),
        };
        let detail = (!shown.is_empty()).then(|| Detail {
            shape: DetailShape::Codex,
            raw: object(&shown, &cx),
        });
        ToolResult {
            call: call.id,
            name: Some(call.name),
            status,
            content,
            is_error: None,
            detail,
            fields: &[],
            // The line says its call again.
            of: Some(call),
        }
    }

    /// What is left of the item, then of the line.
    fn rest_into(self, fields: &mut FieldList<'a>) {
        self.parts.pour(ITEM, knows, fields);
        self.line.rest_into(fields);
    }
}

fn tell_made_up(cx: &Cx<'_>) {
    if let Some(trace) = cx.trace {
        trace.note(
            Fate::Invented,
            "",
            "one item is several calls here, or several items have one id: they get ids of their own",
        );
    }
}

const fn known<'a>(key: &'static str, value: Raw<'a>) -> Field<'a> {
    Field {
        at: ITEM,
        key: Str::trusted(key),
        value,
        known: true,
    }
}

/// The line's type as a field of its event.
fn type_of<'a>(word: Str<'a>, cx: &Cx<'a>) -> Field<'a> {
    let quoted = bumpalo::format!(in cx.arena, "\"{}\"", word.as_escaped()).into_bump_str();
    Field {
        at: At::Line,
        key: Str::trusted("type"),
        value: Raw::trusted(quoted),
        known: true,
    }
}

fn status(word: Option<Str<'_>>, exit: Option<Raw<'_>>) -> ResultStatus {
    match word.map_or("", Str::as_escaped) {
        "completed" => ResultStatus::Success,
        "failed" => ResultStatus::Error,
        "declined" => ResultStatus::Denied,
        _ if exit.is_some_and(|exit| exit.as_str() != "0") => ResultStatus::Error,
        _ => ResultStatus::Success,
    }
}

/// The blocks that a server's tool gave, or why it failed.
fn mcp_content<'a>(result: Option<Raw<'a>>, error: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
    if let Some(message) = error.and_then(|error| error.get("message")).and_then(Raw::string) {
        return Content::Text(message);
    }
    if let Some(none) = result.and_then(|result| result.get("structured_content")).filter(|value| value.is_null()) {
        cx.took(none.as_str());
    }
    let list = result.and_then(|result| result.get("content"));
    let mut blocks = BumpVec::new_in(cx.arena);
    for block in list.into_iter().flat_map(Raw::elements) {
        let kind = block.get("type").and_then(Raw::string).unwrap_or_default();
        match block.get("text").and_then(Raw::string).filter(|_| kind.is("text")) {
            Some(text) => {
                cx.took(kind.as_escaped());
                blocks.push(Block::Text { text, fields: &[] });
            }
            None => blocks.push(Block::Other { kind, raw: block }),
        }
    }
    match blocks.as_slice() {
        [] => Content::Text(Str::EMPTY),
        [Block::Text { text, .. }] => Content::Text(*text),
        _ => Content::Blocks(blocks.into_bump_slice()),
    }
}

/// What the agents that were called said.
fn messages<'a>(states: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
    let said = states
        .into_iter()
        .flat_map(Raw::members)
        .filter_map(|(_, state)| state.get("message")?.string());
    let mut blocks = BumpVec::new_in(cx.arena);
    blocks.extend(said.map(|text| Block::Text { text, fields: &[] }));
    match blocks.as_slice() {
        [] => Content::Text(Str::EMPTY),
        [Block::Text { text, .. }] => Content::Text(*text),
        _ => Content::Blocks(blocks.into_bump_slice()),
    }
}

/// All turns of the thread so far.
fn read_usage(usage: Raw<'_>) -> Usage<'_> {
    let count = |name| usage.get(name).and_then(Count::read);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cached_input_tokens"),
        cache_write: count("cache_write_input_tokens"),
        inclusive: true,
        scope: Scope::Session,
        raw: Some(usage),
        ..Usage::default()
    }
}

/// What a turn failed of, as far as its words tell.
fn why(message: &str) -> OutcomeKind {
    const TOO_LONG: [&str; 2] = [
        "Incomplete response returned, reason: max_output_tokens",
        "Codex ran out of room in the model",
    ];
    match message {
        _ if TOO_LONG.iter().any(|words| message.starts_with(words)) => OutcomeKind::Limit(Limit::Tokens),
        _ if message.starts_with("Incomplete response returned, reason: content_filter") => OutcomeKind::Refused,
        _ if message.starts_with("Missing environment variable") => OutcomeKind::Failed(Place::Backend),
        "the log ends before the turn does" => OutcomeKind::Failed(Place::Protocol),
        _ => OutcomeKind::Failed(Place::Model),
    }
}
