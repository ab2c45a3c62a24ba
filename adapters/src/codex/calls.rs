//! Items that are calls, read: of tools, and the list of things to do.

use bumpalo::collections::Vec as BumpVec;

use super::decode::{Decoder, ItemLine, known};
use super::items::{BUILTIN, MCP_TOOL_CALL, PRINTED, PROCESS, Tool, object};
use super::unrun::unrun;
use crate::chat::FieldList;
use crate::codec::{Cx, Dialect};
use crate::event::{At, Block, Content, Detail, DetailShape, Fate, Field, Kind, Media, ResultStatus, Sink, ToolCall, ToolKind, ToolResult, Topic};
use crate::ids;
use crate::json::{Error, Raw, Shape, Str};
use crate::tools::kind_of;

/// More items than this are not remembered to have started.
const MOST_OPEN: usize = 1024;

impl Decoder {
    /// The list as it is now. When it is completed, just before the turn ends, it says again what it said last.
    pub(super) fn list<'a>(&mut self, mut item: ItemLine<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
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
            name: Some(name),
            ..ToolResult::new(id, ResultStatus::Success, Content::Text(Str::EMPTY))
        });
        self.tell(Kind::ToolResult(result), &[], &cx, sink);
        Ok(())
    }

    pub(super) fn tool<'a>(&mut self, tool: &'static Tool, mut item: ItemLine<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
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
}

impl<'a> ItemLine<'a> {
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
        let status = match status(value("status").and_then(Raw::string), value("exit_code")) {
            ResultStatus::Error => value("error").and_then(refused).unwrap_or(ResultStatus::Error),
            status => status,
        };
        for (_, value) in shown.iter().filter(|(name, value)| match *name {
            "status" => ["\"completed\"", "\"failed\"", "\"declined\"", "\"in_progress\""].contains(&value.as_str()),
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
            name: Some(call.name),
            detail,
            // The line says its call again.
            of: Some(call),
            ..ToolResult::new(call.id, status, content)
        }
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

pub(super) fn status(word: Option<Str<'_>>, exit: Option<Raw<'_>>) -> ResultStatus {
    match word.map_or("", Str::as_escaped) {
        "completed" => ResultStatus::Success,
        "failed" => ResultStatus::Error,
        "declined" => ResultStatus::Denied,
        _ if exit.is_some_and(|exit| exit.as_str() != "0") => ResultStatus::Error,
        _ => ResultStatus::Success,
    }
}

/// Whether the error of a server's tool says that its call was refused or stopped.
pub(super) fn refused(error: Raw<'_>) -> Option<ResultStatus> {
    unrun(error.get("message")?.string()?)
}

/// The blocks that a server's tool gave, or why it failed.
pub(super) fn mcp_content<'a>(result: Option<Raw<'a>>, error: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
    if let Some(message) = error.and_then(|error| error.get("message")).and_then(Raw::string) {
        return Content::Text(message);
    }
    let structured = result.and_then(|result| result.get("structured_content").or_else(|| result.get("structuredContent")));
    if let Some(none) = structured.filter(|value| value.is_null()) {
        cx.took(none.as_str());
    }
    let list = result.and_then(|result| result.get("content"));
    let mut blocks = BumpVec::new_in(cx.arena);
    for block in list.into_iter().flat_map(Raw::elements) {
        let kind = block.get("type").and_then(Raw::string).unwrap_or_default();
        match mcp_text(kind, block) {
            Some(text) => {
                cx.took(kind.as_escaped());
                blocks.push(Block::Text { text, fields: &[] });
            }
            None if kind.is("image") => blocks.push(Block::Media(Media { kind, raw: block })),
            None => blocks.push(Block::Other { kind, raw: block }),
        }
    }
    match blocks.as_slice() {
        [] => Content::Text(Str::EMPTY),
        [Block::Text { text, .. }] => Content::Text(*text),
        _ => Content::Blocks(blocks.into_bump_slice()),
    }
}

/// The text of a block: a resource is its text, and a link to one where it lies.
fn mcp_text<'a>(kind: Str<'a>, block: Raw<'a>) -> Option<Str<'a>> {
    let text = match kind.as_escaped() {
        "text" => block.get("text"),
        "resource" => block.get("resource")?.get("text"),
        "resource_link" => block.get("uri"),
        _ => None,
    };
    text?.string()
}

/// What the agents that were called said.
pub(super) fn messages<'a>(states: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
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

/// What came of a call in the words of `exec`, if anything is said of it.
pub(super) fn detail<'a>(shown: &[(&'static str, Raw<'a>)], cx: &Cx<'a>) -> Option<Detail<'a>> {
    (!shown.is_empty()).then(|| Detail {
        shape: DetailShape::Codex,
        raw: in_words(shown, cx),
    })
}

/// What came of a call in the words of `exec`, of members of an item that may spell them otherwise.
fn in_words<'a>(shown: &[(&'static str, Raw<'a>)], cx: &Cx<'a>) -> Raw<'a> {
    let server = shown
        .first()
        .filter(|(name, result)| *name == "result" && result.shape() == Some(Shape::Object));
    let Some((_, result)) = server else { return object(shown, cx) };
    let parts = [("content", "content"), ("structuredContent", "structured_content")];
    let parts: Vec<_> = parts.iter().filter_map(|(name, made)| Some((*made, result.get(name)?))).collect();
    let inner = object(&parts, cx);
    let mut all = shown.to_vec();
    all[0].1 = inner;
    let whole = object(&all, cx);
    // The inner object is no part of the line, but what stands in it is.
    let mut at = "{\"result\":{".len();
    for (name, value) in parts {
        let from = at + name.len() + "\"\":".len();
        at = from + value.as_str().len() + ",".len();
        cx.stands_for(&whole.as_str()[from..at - 1], value.as_str());
    }
    whole
}
