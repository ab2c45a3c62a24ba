//! All messages of a thread in one event: those that were not told yet are told.

use super::decode::Decoder;
use super::line::Line;
use super::parts;
use super::told::{Seen, print};
use crate::chat::arguments_json;
use crate::codec::{Cx, Dialect};
use crate::event::{
    At, Block, Content, Event, Fate, Field, Fields, Kind, Origin, Prompt, PromptSource, Reply, ResultStatus, Sink, Thinking, ToolCall, ToolResult,
    Topic,
};
use crate::json::{Error, Raw, Shape, Str};
use crate::tools::kind_of;
use crate::trace::Trace;

const TOLD: &str = "the messages were told already";

/// The roles that say something.
const ROLES: [&str; 6] = ["user", "system", "developer", "assistant", "reasoning", "tool"];

/// What a message of the list was.
pub(super) enum Was {
    /// Something of it was not told yet.
    New,
    Told,
    /// It has no id, or a role that says nothing.
    Unread,
}

impl Decoder {
    pub(super) fn messages<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let Some(messages) = line.members.get("messages").filter(|list| list.shape() == Some(Shape::Array)) else {
            return Err(line.missing("messages"));
        };
        self.break_off(line, sink);
        self.note_open();
        let cx = line.cx;
        let origin = line.origin;
        line.notice(Topic::Other, None, sink);
        let (mut told, mut known) = (false, false);
        for message in messages.elements() {
            match self.message(message, origin, line, sink) {
                Was::New => told = true,
                Was::Told => known = true,
                Was::Unread => {}
            }
        }
        if let Some(trace) = cx.trace.filter(|_| known && !told) {
            if trace.covers(messages.as_str()) {
                trace.merged(TOLD);
            } else {
                tell_parts(messages, trace);
            }
        }
        Ok(())
    }

    /// Tells what a message says that was not told.
    fn message<'a>(&mut self, message: Raw<'a>, origin: Origin<'a>, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Was {
        let cx = line.cx;
        let text = |name: &str| message.get(name).and_then(Raw::string);
        let role = text("role").unwrap_or_default();
        let Some(id) = text("id").filter(|_| ROLES.contains(&role.as_escaped())) else {
            return Was::Unread;
        };
        let agent = text("subagentRunId");
        let origin = self.thread(agent).origin(agent, origin, &cx);
        cx.took(role.as_escaped());
        if role.is("tool") {
            return self.whole_result(message, origin, of_list(&cx), &cx, sink);
        }
        let is_new = self.told.see(Seen::Message, id);
        let content = message.get("content");
        match content {
            Some(content) if is_new => self.told.says(Seen::Message, id, print(content)),
            Some(content) if self.told.said(Seen::Message, id, content) => cx.took(content.as_str()),
            _ => {}
        }
        if !is_new {
            cx.took(id.as_escaped());
            cx.took(agent.unwrap_or_default().as_escaped());
        }
        match role.as_escaped() {
            "user" | "system" | "developer" => {
                let Some(content) = content.filter(|_| is_new) else { return Was::Told };
                let source = match (role.is("user"), agent) {
                    (true, None) => PromptSource::Host,
                    (true, Some(_)) => PromptSource::Parent,
                    (false, _) => PromptSource::Agent,
                };
                let content = parts::content(content, &cx);
                let prompt = cx.keep(Prompt { content, source });
                tell(Kind::Prompt(prompt), origin, of_list(&cx), sink);
            }
            "assistant" => {
                let text = content.and_then(Raw::string).filter(|text| is_new && !text.is_empty());
                let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
                blocks.extend(text.map(|text| Block::Text { text, fields: &[] }));
                for call in message.get("toolCalls").into_iter().flat_map(Raw::elements) {
                    blocks.extend(self.whole_call(call, line));
                }
                if blocks.is_empty() {
                    // Nothing but calls that were told, or nothing at all.
                    cx.took(id.as_escaped());
                    return Was::Told;
                }
                self.tell_reply(Some(id), blocks.into_bump_slice(), origin, line, sink);
            }
            _ => {
                let seal = message.get("encryptedValue");
                if !is_new {
                    if let Some(seal) = seal.filter(|seal| self.told.said(Seen::Seal, id, *seal)) {
                        cx.took(seal.as_str());
                    }
                    return Was::Told;
                }
                if let Some(seal) = seal {
                    self.told.says(Seen::Seal, id, print(seal));
                }
                let thought = Thinking {
                    text: text("content").unwrap_or_default(),
                    signature: text("encryptedValue"),
                    ..Thinking::default()
                };
                self.tell_reply(None, cx.list(&[Block::Thinking(thought)]), origin, line, sink);
            }
        }
        Was::New
    }

    fn whole_call<'a>(&mut self, call: Raw<'a>, line: &Line<'a>) -> Option<Block<'a>> {
        let cx = line.cx;
        let function = call.get("function")?;
        let id = call.get("id")?.string()?;
        let name = function.get("name")?.string()?;
        if let Some(kind) = call.get("type").filter(|kind| kind.string().is_some_and(|kind| kind.is("function"))) {
            cx.took(kind.as_str());
        }
        let arguments = function.get("arguments");
        if !self.told.see(Seen::Call, id) {
            cx.took(id.as_escaped());
            cx.took(name.as_escaped());
            if let Some(arguments) = arguments.filter(|arguments| self.told.said(Seen::Call, id, *arguments)) {
                cx.took(arguments.as_str());
            }
            return None;
        }
        if let Some(arguments) = arguments {
            self.told.says(Seen::Call, id, print(arguments));
        }
        self.name_call(id, name);
        Some(Block::Call(ToolCall {
            id,
            name,
            kind: kind_of(Dialect::AgUi, name),
            input: arguments_json(arguments.and_then(Raw::string), &cx),
            fields: &[],
        }))
    }

    fn tell_reply<'a>(&mut self, id: Option<Str<'a>>, blocks: &'a [Block<'a>], origin: Origin<'a>, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        self.end_rounds(Origin::default(), &cx, sink);
        let reply = cx.keep(Reply {
            id,
            blocks,
            last: id.is_some(),
            ..Reply::default()
        });
        tell(Kind::Reply(reply), origin, of_list(&cx), sink);
    }

    /// Tells what came of a call.
    pub(super) fn whole_result<'a>(&mut self, message: Raw<'a>, origin: Origin<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Was {
        let call = message.get("toolCallId").and_then(Raw::string);
        let Some((call, content)) = call.zip(message.get("content")) else {
            return Was::Unread;
        };
        if !self.told.see(Seen::Result, call) {
            let id = message.get("id").and_then(Raw::string).unwrap_or_default();
            cx.took(id.as_escaped());
            cx.took(call.as_escaped());
            if self.told.said(Seen::Result, call, content) {
                cx.took(content.as_str());
            }
            return Was::Told;
        }
        self.told.says(Seen::Result, call, print(content));
        let error = message.get("error").filter(|error| !error.is_null());
        let content = parts::content(content, cx);
        let silent = matches!(content, Content::Text(text) if text.is_empty());
        let said = error.filter(|_| silent).and_then(Raw::string).map(Content::Text);
        let result = cx.keep(ToolResult::new(
            call,
            if error.is_some() { ResultStatus::Error } else { ResultStatus::Success },
            said.unwrap_or(content),
        ));
        tell(Kind::ToolResult(result), origin, fields, sink);
        Was::New
    }
}

/// Some of it was told, and the rest is said otherwise than before, or besides: the ledger tells of each part.
fn tell_parts(messages: Raw<'_>, trace: &Trace) {
    trace.carried();
    let told = |value: Option<Raw<'_>>, pointer: &str| {
        if value.is_some_and(|value| !value.is_null() && trace.covers(value.as_str())) {
            trace.note(Fate::Merged, pointer, TOLD);
        }
    };
    for (n, message) in messages.elements().enumerate() {
        told(message.get("content"), &format!("/messages/{n}/content"));
        let calls = message.get("toolCalls").into_iter().flat_map(Raw::elements);
        for (m, call) in calls.enumerate() {
            let arguments = call.get("function").and_then(|function| function.get("arguments"));
            told(arguments, &format!("/messages/{n}/toolCalls/{m}/function/arguments"));
        }
    }
}

/// Its event says that something stands in the list.
fn of_list<'a>(cx: &Cx<'a>) -> Fields<'a> {
    cx.list(&[Field {
        at: At::Line,
        key: Str::trusted("type"),
        value: Raw::trusted("\"MESSAGES_SNAPSHOT\""),
        known: true,
    }])
}

fn tell<'a>(kind: Kind<'a>, origin: Origin<'a>, fields: Fields<'a>, sink: &mut dyn Sink<'a>) {
    sink.event(&Event { origin, kind, fields });
}
