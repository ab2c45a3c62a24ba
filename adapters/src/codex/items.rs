//! What stands in an item that is the call of a tool, and in which order.

use bumpalo::collections::{String as BumpString, Vec as BumpVec};

use crate::codec::Cx;
use crate::event::{At, Block, Content, Field, Fields, Picture};
use crate::json::{Out, Raw, Str};

/// Where fields of an item stand.
pub(super) const ITEM: At<'static> = At::Part("/item");

/// The server that calls of tools without an item of their own are said to go to: they are no MCP server's.
pub(super) const BUILTIN: &str = "builtin";

/// What stands before the number of the process, and then the item's id, in the id of a call that a later process of a thread made.
pub(super) const PROCESS: &str = "process";

/// The item's id in that of a call.
pub(super) fn item_id(call: Str<'_>) -> Str<'_> {
    let numbered = call.as_escaped().strip_prefix(PROCESS).and_then(|rest| rest.split_once('_'));
    match numbered.filter(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((_, id)) => Str::trusted(id),
        None => call,
    }
}

/// The `type` of a list of things to do.
pub(super) const TODO_LIST: &str = "todo_list";
/// The `type` of files that change.
pub(super) const FILE_CHANGE: &str = "file_change";
/// The `type` of a call of an MCP server's tool.
pub(super) const MCP_TOOL_CALL: &str = "mcp_tool_call";

/// A turn whose last text is `last` says that this was its answer.
pub(super) fn answered(last: &str, answer: Str<'_>, out: &Out) {
    let (answer_text, last) = (answer.unescape(), Str::trusted(last).unescape());
    if last.contains(&*answer_text) {
        out.used(answer.as_escaped());
    } else if answer_text.contains(&*last) {
        out.renamed(answer.as_escaped(), "the answer is the last text of the turn");
    }
}

/// A kind of item that is a call.
#[derive(Debug)]
pub(super) struct Tool {
    /// Its `type`, which is the tool's name.
    pub(super) name: &'static str,
    /// All of its members, in their order.
    order: &'static [&'static str],
    /// Those that are the call's arguments.
    pub(super) asks: &'static [&'static str],
    /// Those without which there is no such item.
    pub(super) needs: &'static [&'static str],
    /// Those that say what came of it.
    pub(super) shows: &'static [&'static str],
    /// What those and others say when it starts.
    pub(super) begins: &'static str,
}

/// What a command printed is the result's text.
pub(super) const PRINTED: &str = "aggregated_output";

static TOOLS: [Tool; 6] = [
    Tool {
        name: "command_execution",
        order: &["command", PRINTED, "exit_code", "status"],
        asks: &["command"],
        needs: &["command"],
        shows: &["exit_code", "status"],
        begins: "{\"aggregated_output\":\"\",\"exit_code\":null,\"status\":\"in_progress\"}",
    },
    Tool {
        name: FILE_CHANGE,
        order: &["changes", "status"],
        asks: &["changes"],
        needs: &["changes"],
        shows: &["status"],
        begins: "{\"status\":\"in_progress\"}",
    },
    Tool {
        name: MCP_TOOL_CALL,
        order: &["server", "tool", "arguments", "result", "error", "status"],
        asks: &["server", "tool", "arguments"],
        needs: &["server", "tool"],
        shows: &["result", "error", "status"],
        begins: "{\"result\":null,\"error\":null,\"status\":\"in_progress\"}",
    },
    Tool {
        name: "web_search",
        order: &["id", "query", "action"],
        asks: &["query", "action"],
        needs: &["query"],
        shows: &[],
        begins: "{}",
    },
    Tool {
        name: TODO_LIST,
        order: &["items"],
        asks: &["items"],
        needs: &["items"],
        shows: &[],
        begins: "{}",
    },
    Tool {
        name: "collab_tool_call",
        order: &["tool", "sender_thread_id", "receiver_thread_ids", "prompt", "agents_states", "status"],
        asks: &["tool", "prompt"],
        needs: &["tool"],
        shows: &["agents_states", "status"],
        begins: "{\"receiver_thread_ids\":[],\"agents_states\":{},\"status\":\"in_progress\"}",
    },
];

impl Tool {
    /// The kind of item of a name.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Whether these are arguments of such a call.
    pub(super) fn takes(&self, input: Raw<'_>) -> bool {
        self.needs.iter().all(|name| input.get(name).is_some()) && input.members().all(|(name, _)| self.asks.iter().any(|asks| name.is(asks)))
    }
}

/// What an item asks for.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    /// Its own members.
    Own(Raw<'a>),
    /// A tool that has no item of its own, and its arguments.
    Builtin(Str<'a>, Raw<'a>),
}

impl Asked<'_> {
    /// Writes a member behind a comma, if it is one of these.
    fn write(self, name: &str, out: &mut Out) -> bool {
        match (self, name) {
            (Self::Builtin(..), "server") => {
                out.lit(",\"server\":\"");
                out.lit(BUILTIN);
                out.lit("\"");
            }
            (Self::Builtin(tool, _), "tool") => out.str_if(",\"tool\":", Some(tool)),
            (Self::Builtin(_, input), "arguments") => out.unchecked_if(",\"arguments\":", Some(input)),
            (Self::Own(input), name) => match input.get(name) {
                Some(value) => named(name, value, out),
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

/// An item that is written.
pub(super) struct Item<'i, 'a> {
    pub(super) tool: &'static Tool,
    pub(super) id: Str<'a>,
    pub(super) asked: Asked<'a>,
    /// What came of it, or what stands there when it starts.
    pub(super) shown: Raw<'a>,
    /// What it printed.
    pub(super) said: Option<Content<'a>>,
    pub(super) fields: &'i [Field<'a>],
}

impl Item<'_, '_> {
    /// The object.
    pub(super) fn write(&self, out: &mut Out) {
        out.lit("{\"id\":");
        out.str(self.id);
        out.lit(",\"type\":\"");
        out.lit(self.tool.name);
        out.lit("\"");
        for name in self.tool.order {
            // What our own agent shows is not what its model reads.
            let printed = || self.said.is_some() && self.shown.get(PRINTED).is_some();
            if let Some(said) = self.said.filter(|_| *name == PRINTED && !printed()) {
                out.lit(",\"aggregated_output\":\"");
                said.texts().for_each(|text| out.body(text));
                out.lit("\"");
                continue;
            }
            if self.asked.write(name, out) {
                continue;
            }
            let field = || self.inside().find(|field| field.key.is(name)).map(|field| field.value);
            if let Some(value) = self.shown.get(name).or_else(field) {
                named(name, value, out);
            }
        }
        for field in self.inside().filter(|field| !self.tool.order.iter().any(|name| field.key.is(name))) {
            field.write_next(out);
        }
        out.lit("}");
    }

    fn inside(&self) -> impl Iterator<Item = &Field<'_>> {
        self.fields.iter().filter(|field| field.at == ITEM)
    }
}

/// The fields of one object, each behind a comma.
pub(super) fn fields(fields: Fields<'_>, at: At<'_>, out: &mut Out) {
    fields.iter().filter(|field| field.at == at).for_each(|field| field.write_next(out));
}

fn named(name: &str, value: Raw<'_>, out: &mut Out) {
    out.lit(",\"");
    out.lit(name);
    out.lit("\":");
    out.unchecked(value);
}

/// An object of members of the line, which it stands for.
pub(super) fn object<'a>(members: &[(&'static str, Raw<'a>)], cx: &Cx<'a>) -> Raw<'a> {
    let room = members.iter().map(|(name, value)| name.len() + value.as_str().len() + 4).sum::<usize>();
    let mut text = BumpString::with_capacity_in(room + 2, cx.arena);
    let mut places = BumpVec::with_capacity_in(members.len(), cx.arena);
    text.push('{');
    for (name, value) in members {
        text.push_str(if text.len() > 1 { ",\"" } else { "\"" });
        text.push_str(name);
        text.push_str("\":");
        places.push(text.len());
        text.push_str(value.as_str());
    }
    text.push('}');
    let text = text.into_bump_str();
    for ((_, value), from) in members.iter().zip(places) {
        cx.stands_for(&text[from..from + value.as_str().len()], value.as_str());
    }
    // Lines are checked in full.
    Raw::checked(text)
}

/// Writes the texts and the images of content, each in its form.
pub(super) fn parts(content: Content<'_>, text: impl Fn(Str<'_>, &mut Out), image: impl Fn(&Picture<'_>, &mut Out), out: &mut Out) {
    let blocks = match content {
        Content::Text(one) => return text(one, out),
        Content::Blocks(blocks) => blocks,
    };
    let mut between = "";
    for block in blocks {
        match block {
            Block::Text { text: one, .. } => {
                out.lit(between);
                text(*one, out);
            }
            Block::Media(media) => {
                let Some(picture) = media.picture().filter(|picture| !picture.is_document) else {
                    continue;
                };
                out.lit(between);
                out.beside(media.kind.as_escaped());
                image(&picture, out);
            }
            _ => continue,
        }
        between = ",";
    }
}

/// The same where both are objects: what stands in the one before its text and behind it, and in the other before the image's address.
pub(super) fn addressed(content: Content<'_>, [begin, end, image]: [&str; 3], out: &mut Out) {
    let text = |text: Str<'_>, out: &mut Out| {
        out.lit(begin);
        out.str(text);
        out.lit(end);
    };
    let image = |picture: &Picture<'_>, out: &mut Out| {
        out.lit(image);
        picture.write_address(out);
        out.lit("}");
    };
    parts(content, text, image, out);
}
