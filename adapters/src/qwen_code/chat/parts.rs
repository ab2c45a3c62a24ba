//! Gemini's parts, of which messages consist.

use super::RESPONSE;
use super::fields::knows;
use crate::chat::FieldList;
use crate::codec::{Cx, Dialect};
use crate::event::{At, Block, Content, Count, Field, Fields, Provenance, ResultStatus, Scope, Thinking, ToolCall, ToolResult, Usage};
use crate::json::{Raw, Str};

/// One part of a message.
pub(super) enum Part<'a> {
    Block(Block<'a>),
    /// The result, and the fields of its line.
    Result(ToolResult<'a>, Field<'a>),
}

/// The parts of a message, which stand in a list.
pub(super) fn parts<'a>(list: Option<Raw<'a>>, line: Option<Str<'a>>, cx: &Cx<'a>) -> Vec<Part<'a>> {
    let list = list.into_iter().flat_map(Raw::elements);
    list.enumerate().map(|(n, part)| read(part, n, line, cx)).collect()
}

fn read<'a>(part: Raw<'a>, n: usize, line: Option<Str<'a>>, cx: &Cx<'a>) -> Part<'a> {
    let ([text, thought, call, answer], others) = apart(part, n, ["text", "thought", "functionCall", "functionResponse"], cx);
    if let Some(text) = text.and_then(Raw::string) {
        let thought = thought.filter(|thought| thought.bool() == Some(true));
        let fields = match (call, answer) {
            (None, None) => others,
            _ => apart(part, n, ["text", "thought"], cx).1,
        };
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
    if let Some(call) = call
        && let ([id, Some(name), args], fields) = apart(call, n, ["id", "name", "args"], cx)
        && let Some(name) = name.string()
    {
        // Some servers name no calls.
        let made = || cx.text(&format!("call_{}_{n}", line.unwrap_or_default().as_escaped()));
        return Part::Block(Block::Call(ToolCall {
            id: id.and_then(Raw::string).unwrap_or_else(made),
            name,
            kind: crate::tools::kind_of(Dialect::QwenCode, name),
            input: args.unwrap_or(Raw::trusted("{}")),
            fields,
        }));
    }
    if let Some(answer) = answer
        && let [id, name, Some(response)] = answer.pick(["id", "name", "response"])
    {
        let [error, output] = response.pick(["error", "output"]);
        let said = error.or(output);
        let status = if error.is_some() { ResultStatus::Error } else { ResultStatus::Success };
        let result = ToolResult {
            name: name.and_then(Raw::string),
            is_error: Some(status != ResultStatus::Success),
            ..ToolResult::new(
                id.and_then(Raw::string).unwrap_or_default(),
                status,
                match said.and_then(Raw::string) {
                    Some(text) => Content::Text(text),
                    None => Content::Text(said.map_or(Str::EMPTY, |said| cx.text(said.as_str()))),
                },
            )
        };
        let field = Field {
            at: At::Part(RESPONSE),
            key: Str::trusted("response"),
            value: response,
            known: true,
        };
        return Part::Result(result, field);
    }
    Part::Block(Block::of_part(part))
}

/// The first members of these names, and those of others.
fn apart<'a, const N: usize>(object: Raw<'a>, n: usize, names: [&str; N], cx: &Cx<'a>) -> ([Option<Raw<'a>>; N], Fields<'a>) {
    let mut found = [None; N];
    let mut others = FieldList::new_in(cx.arena);
    for (key, value) in object.members() {
        match names.iter().position(|name| key.is(name)) {
            Some(place) => found[place] = found[place].or(Some(value)),
            None => others.push(Field {
                at: At::Block(n as u32),
                key,
                value,
                known: knows(&key.unescape()),
            }),
        }
    }
    (found, others.into_bump_slice())
}

/// The tokens of a reply.
pub(super) fn usage(raw: Raw<'_>) -> Usage<'_> {
    let names = [
        "promptTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "cachedContentTokenCount",
        "totalTokenCount",
    ];
    let [input, output, reasoning, cache_read, total] = raw.pick(names).map(|count| count.and_then(Count::read));
    Usage {
        input,
        output,
        reasoning,
        cache_read,
        cache_write: None,
        total,
        inclusive: true,
        reasoning_beside: false,
        scope: Scope::Round,
        provenance: Provenance::Reported,
        raw: Some(raw),
    }
}
