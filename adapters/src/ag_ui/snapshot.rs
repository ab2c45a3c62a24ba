//! All messages of a thread in one event: those that were not told yet are told.

use super::decode::{Decoder, Seen};
use super::line::Line;
use super::parts;
use crate::chat::arguments_json;
use crate::codec::Dialect;
use crate::event::{
    At, Block, Content, Event, Field, Kind, Origin, Prompt, PromptSource, Reply, ResultStatus, Sink, Thinking, ToolCall, ToolResult, Topic,
};
use crate::json::{Error, Raw, Shape, Str};
use crate::tools::kind_of;

const TOLD: &str = "the messages were told already";

impl Decoder {
    pub(super) fn messages<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let Some(messages) = line.members.get("messages").filter(|list| list.shape() == Some(Shape::Array)) else {
            return Err(line.missing("messages"));
        };
        self.break_off(line, sink);
        let cx = line.cx;
        let origin = line.origin;
        line.notice(Topic::Other, None, sink);
        let mut told = false;
        for message in messages.elements() {
            if self.message(message, origin, line, sink) {
                told = true;
            } else {
                cx.took(message.as_str());
            }
        }
        if let Some(trace) = cx.trace.filter(|_| !told) {
            trace.merged(TOLD);
        }
        Ok(())
    }

    /// Tells what a message says; whether there was anything to tell.
    fn message<'a>(&mut self, message: Raw<'a>, origin: Origin<'a>, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> bool {
        let cx = line.cx;
        let text = |name: &str| message.get(name).and_then(Raw::string);
        let role = text("role").unwrap_or_default();
        let Some(id) = text("id") else { return false };
        let agent = text("subagentRunId");
        let origin = self.thread(agent).origin(agent, origin, &cx);
        cx.took(role.as_escaped());
        let is_new = role.is("tool") || self.see(Seen::Message, id);
        match role.as_escaped() {
            "user" | "system" | "developer" if is_new => {
                let Some(content) = message.get("content") else { return false };
                let source = match (role.is("user"), agent) {
                    (true, None) => PromptSource::Host,
                    (true, Some(_)) => PromptSource::Parent,
                    (false, _) => PromptSource::Agent,
                };
                let content = parts::content(content, &cx);
                let prompt = cx.keep(Prompt { content, source });
                tell(Kind::Prompt(prompt), origin, line, sink);
            }
            "assistant" => {
                let content = text("content").filter(|text| is_new && !text.is_empty());
                let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
                blocks.extend(content.map(|text| Block::Text { text, fields: &[] }));
                for call in message.get("toolCalls").into_iter().flat_map(Raw::elements) {
                    blocks.extend(self.whole_call(call, line));
                }
                if blocks.is_empty() {
                    return false;
                }
                self.tell_reply(Some(id), blocks.into_bump_slice(), origin, line, sink);
            }
            "reasoning" if is_new => {
                let thought = Thinking {
                    text: text("content").unwrap_or_default(),
                    signature: text("encryptedValue"),
                    ..Thinking::default()
                };
                self.tell_reply(None, cx.list(&[Block::Thinking(thought)]), origin, line, sink);
            }
            "tool" => return self.whole_result(message, origin, line, sink),
            _ => return false,
        }
        true
    }

    fn whole_call<'a>(&mut self, call: Raw<'a>, line: &Line<'a>) -> Option<Block<'a>> {
        let cx = line.cx;
        let function = call.get("function")?;
        let id = call.get("id")?.string()?;
        let name = function.get("name")?.string()?;
        if !self.see(Seen::Call, id) {
            return None;
        }
        self.name_call(id, name);
        if let Some(kind) = call.get("type") {
            cx.took(kind.as_str());
        }
        Some(Block::Call(ToolCall {
            id,
            name,
            kind: kind_of(Dialect::AgUi, name),
            input: arguments_json(function.get("arguments").and_then(Raw::string), &cx),
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
        tell(Kind::Reply(reply), origin, line, sink);
    }

    fn whole_result<'a>(&mut self, message: Raw<'a>, origin: Origin<'a>, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> bool {
        let cx = line.cx;
        let call = message.get("toolCallId").and_then(Raw::string);
        let Some((call, content)) = call.zip(message.get("content")).filter(|(call, _)| self.see(Seen::Result, *call)) else {
            return false;
        };
        let error = message.get("error").filter(|error| !error.is_null());
        if let Some(error) = error {
            cx.took(error.as_str());
        }
        let content = parts::content(content, &cx);
        let said = error.and_then(Raw::string).map(Content::Text);
        let result = cx.keep(ToolResult {
            call,
            name: None,
            status: if error.is_some() { ResultStatus::Error } else { ResultStatus::Success },
            content: match content {
                Content::Text(text) if text.is_empty() => said.unwrap_or(content),
                content => content,
            },
            is_error: None,
            detail: None,
            fields: &[],
            of: None,
        });
        tell(Kind::ToolResult(result), origin, line, sink);
        true
    }
}

/// Tells what stands in the list: its event says so.
fn tell<'a>(kind: Kind<'a>, origin: Origin<'a>, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
    let fields = line.cx.list(&[Field {
        at: At::Line,
        key: Str::trusted("type"),
        value: Raw::trusted("\"MESSAGES_SNAPSHOT\""),
        known: true,
    }]);
    sink.event(&Event { origin, kind, fields });
}
