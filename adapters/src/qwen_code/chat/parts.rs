//! Gemini's parts, of which messages consist.

use super::RESPONSE;
use super::fields::knows;
use crate::codec::{Cx, Dialect};
use crate::event::{At, Block, Content, Count, Field, Fields, Provenance, ResultStatus, Scope, Thinking, ToolCall, ToolResult, Usage};
use crate::json::{Raw, Str};

/// One part of a message.
pub(super) enum Part<'a> {
    Block(Block<'a>),
    /// The result, and the fields of its line.
    Result(ToolResult<'a>, Field<'a>),
}

/// The parts of a message.
pub(super) fn parts<'a>(message: Raw<'a>, line: Option<Str<'a>>, cx: &Cx<'a>) -> Vec<Part<'a>> {
    let list = message.get("parts").into_iter().flat_map(Raw::elements);
    list.enumerate().map(|(n, part)| read(part, n, line, cx)).collect()
}

fn read<'a>(part: Raw<'a>, n: usize, line: Option<Str<'a>>, cx: &Cx<'a>) -> Part<'a> {
    let other = Part::Block(Block::Other { kind: Str::EMPTY, raw: part });
    if let Some(text) = part.get("text").and_then(Raw::string) {
        let thought = part.get("thought").filter(|thought| thought.bool() == Some(true));
        let fields = rest(part, n, &["text", "thought"], cx);
        return Part::Block(match thought {
            Some(thought) => {
                cx.took(thought.as_str());
                Block::Thinking(Thinking {
                    text,
                    fields,
                    ..Thinking::default()
                })
            }
            None => Block::Text { text, fields },
        });
    }
    if let Some(call) = part.get("functionCall")
        && let Some(name) = call.get("name").and_then(Raw::string)
    {
        // Some servers name no calls.
        let made = || cx.text(&format!("call_{}_{n}", line.unwrap_or_default().as_escaped()));
        return Part::Block(Block::Call(ToolCall {
            id: call.get("id").and_then(Raw::string).unwrap_or_else(made),
            name,
            kind: crate::tools::kind_of(Dialect::QwenCode, name),
            input: call.get("args").unwrap_or(Raw::trusted("{}")),
            fields: rest(call, n, &["id", "name", "args"], cx),
        }));
    }
    if let Some(answer) = part.get("functionResponse")
        && let Some(response) = answer.get("response")
    {
        let error = response.get("error");
        let said = error.or_else(|| response.get("output"));
        let status = if error.is_some() { ResultStatus::Error } else { ResultStatus::Success };
        let result = ToolResult {
            call: answer.get("id").and_then(Raw::string).unwrap_or_default(),
            name: answer.get("name").and_then(Raw::string),
            status,
            content: match said.and_then(Raw::string) {
                Some(text) => Content::Text(text),
                None => Content::Text(said.map_or(Str::EMPTY, |said| cx.text(said.as_str()))),
            },
            is_error: Some(status != ResultStatus::Success),
            detail: None,
            fields: &[],
            of: None,
        };
        let field = Field {
            at: At::Part(RESPONSE),
            key: Str::trusted("response"),
            value: response,
            known: true,
        };
        return Part::Result(result, field);
    }
    other
}

/// The members of an object that were not read.
fn rest<'a>(object: Raw<'a>, n: usize, read: &[&str], cx: &Cx<'a>) -> Fields<'a> {
    let list: Vec<Field<'a>> = object
        .members()
        .filter(|(key, _)| !read.iter().any(|name| key.is(name)))
        .map(|(key, value)| Field {
            at: At::Block(n as u32),
            key,
            value,
            known: knows(&key.unescape()),
        })
        .collect();
    cx.list(&list)
}

/// The tokens of a reply.
pub(super) fn usage(raw: Raw<'_>) -> Usage<'_> {
    let count = |name: &str| raw.get(name).and_then(Count::read);
    Usage {
        input: count("promptTokenCount"),
        output: count("candidatesTokenCount"),
        cache_read: count("cachedContentTokenCount"),
        cache_write: None,
        total: count("totalTokenCount"),
        inclusive: true,
        scope: Scope::Round,
        provenance: Provenance::Reported,
        raw: Some(raw),
    }
}
