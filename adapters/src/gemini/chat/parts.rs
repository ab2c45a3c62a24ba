//! Gemini's parts, of which messages consist, and what is said of calls.

use crate::chat::Members;
use crate::codec::{Cx, Dialect};
use crate::event::{Block, Content, Count, Media, Provenance, ResultStatus, Scope, Thinking, ToolCall, ToolResult, Usage};
use crate::gemini::unrun::unrun;
use crate::json::{Raw, Shape, Str};

/// One part of a message.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Block(Block<'a>),
    /// A result, and the part itself.
    Result(ToolResult<'a>, Raw<'a>),
}

/// The parts of what a message says: a text, a part, or a list of them.
pub(super) fn parts<'a>(content: Raw<'a>, cx: &Cx<'a>) -> &'a [Part<'a>] {
    match content.shape() {
        Some(Shape::Array) => {
            let parts = content.elements_with(SAYS).map(|(part, says)| read(part, says, cx));
            bumpalo::collections::Vec::from_iter_in(parts, cx.arena).into_bump_slice()
        }
        Some(Shape::Null) | None => &[],
        _ => std::slice::from_ref(cx.keep(read(content, content.pick(SAYS), cx))),
    }
}

/// The texts of a message, without its thoughts.
pub(super) fn texts<'p, 'a: 'p>(parts: &'p [Part<'a>]) -> impl Iterator<Item = &'a str> + 'p {
    parts.iter().filter_map(|part| match part {
        Part::Block(Block::Text { text, .. }) => Some(text.as_escaped()),
        _ => None,
    })
}

/// What a part says.
const SAYS: [&str; 4] = ["text", "thought", "functionCall", "functionResponse"];

fn read<'a>(part: Raw<'a>, [text, thought, call, answer]: [Option<Raw<'a>>; 4], cx: &Cx<'a>) -> Part<'a> {
    if let Some(text) = part.string() {
        return Part::Block(Block::Text { text, fields: &[] });
    }
    if let Some(text) = text.and_then(Raw::string) {
        let thought = thought.filter(|thought| thought.bool() == Some(true));
        return Part::Block(match thought {
            Some(thought) => {
                cx.took(thought.as_str());
                Block::Thinking(Thinking { text, ..Thinking::default() })
            }
            None => Block::Text { text, fields: &[] },
        });
    }
    if let Some(call) = call.and_then(|call| call_of(call.pick(["id", "name", "args"]))) {
        return Part::Block(Block::Call(call));
    }
    if let Some(result) = answer.and_then(|answer| answer_of(answer, cx)) {
        return Part::Result(result, part);
    }
    Part::Block(Block::of_part(part))
}

/// Code that the model's API has run, and what came of it, as the blocks that say so of any API's own tools.
pub(super) fn ran<'a>(parts: &'a [Part<'a>], message: Str<'a>, cx: &Cx<'a>) -> &'a [Part<'a>] {
    let inside = |part: &Part<'a>, name: &str| match part {
        Part::Block(Block::Other { raw, .. }) => raw.get(name).filter(|inside| inside.shape() == Some(Shape::Object)),
        _ => None,
    };
    if !parts.iter().any(|part| inside(part, CODE).is_some() || inside(part, OUTPUT).is_some()) {
        return parts;
    }
    let mut calls = 0_u32;
    let told = parts.iter().map(|part| {
        let made = match (inside(part, CODE), inside(part, OUTPUT)) {
            (Some(code), _) => {
                calls += 1;
                let [code, language] = code.pick(["code", "language"]).map(|value| value.unwrap_or(Raw::NULL));
                let made = format!(
                    r#"{{"type":"server_tool_use","id":"{}_code_{calls}","name":"code_execution","input":{{"code":{},"language":{}}}}}"#,
                    message.as_escaped(),
                    code.as_str(),
                    language.as_str()
                );
                (made, [code, language])
            }
            (None, Some(answer)) => {
                let [output, outcome] = answer.pick(["output", "outcome"]).map(|value| value.unwrap_or(Raw::NULL));
                cx.took(outcome.as_str());
                let failed = outcome.string().is_some_and(|outcome| !outcome.is("OUTCOME_OK"));
                let made = format!(
                    r#"{{"type":"code_execution_tool_result","tool_use_id":"{}_code_{calls}","content":{{"type":"code_execution_result","stdout":{},"return_code":{}}}}}"#,
                    message.as_escaped(),
                    output.as_str(),
                    u8::from(failed)
                );
                (made, [output, Raw::NULL])
            }
            (None, None) => return *part,
        };
        let raw = Raw::trusted(cx.arena.alloc_str(&made.0));
        for said in made.1 {
            cx.stands_for(raw.as_str(), said.as_str());
        }
        let kind = raw.get("type").and_then(Raw::string).unwrap_or_default();
        Part::Block(Block::Other { kind, raw })
    });
    bumpalo::collections::Vec::from_iter_in(told, cx.arena).into_bump_slice()
}

/// The member of a part that is code, and that of what came of it.
const CODE: &str = "executableCode";
const OUTPUT: &str = "codeExecutionResult";

/// A call, one of `toolCalls` or a `functionCall`, by its members `id`, `name` and `args`.
pub(super) fn call_of<'a>([id, name, args]: [Option<Raw<'a>>; 3]) -> Option<ToolCall<'a>> {
    let name = name.and_then(Raw::string)?;
    let args = args.filter(|args| args.shape() == Some(Shape::Object));
    Some(ToolCall {
        id: id.and_then(Raw::string).filter(|id| !id.is_empty())?,
        name,
        kind: crate::tools::kind_of(Dialect::Gemini, name),
        input: args.unwrap_or(Raw::trusted("{}")),
        fields: &[],
    })
}

/// What the model is told of a call: a `functionResponse`.
fn answer_of<'a>(answer: Raw<'a>, cx: &Cx<'a>) -> Option<ToolResult<'a>> {
    let [id, name, response] = answer.pick(["id", "name", "response"]);
    let response = response?;
    let [error, output] = response.pick(["error", "output"]);
    let said = error.or(output);
    let status = if error.is_some() { ResultStatus::Error } else { ResultStatus::Success };
    Some(ToolResult {
        name: name.and_then(Raw::string),
        is_error: Some(status != ResultStatus::Success),
        ..ToolResult::new(
            id.and_then(Raw::string)?,
            status,
            Content::Text(match said.map(|said| (said, said.string())) {
                Some((_, Some(text))) => text,
                Some((said, None)) => cx.text(said.as_str()),
                None => cx.text(response.as_str()),
            }),
        )
    })
}

/// What came of a call, one of `toolCalls`, by its members `name`, `result` and `status`. Nothing while it has none.
pub(super) fn result_of<'a>(call: Raw<'a>, [name, result, status]: [Option<Raw<'a>>; 3], id: Str<'a>, cx: &Cx<'a>) -> Option<ToolResult<'a>> {
    let result = result.filter(|result| !result.is_null())?;
    let parts = parts(result, cx);
    let answers = || {
        parts.iter().filter_map(|part| match part {
            Part::Result(answer, raw) => Some((*answer, *raw)),
            Part::Block(_) => None,
        })
    };
    // Of several calls in one reply each may have the answers to all.
    let own = answers().find(|(answer, _)| answer.call == id).or_else(|| answers().next());
    let rest: Vec<Block<'a>> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Block(block) => Some(*block),
            Part::Result(..) => None,
        })
        .collect();
    let mut told = match own {
        Some((answer, raw)) => {
            if let Some(answer) = cx.trace.and_then(|_| raw.get("functionResponse")) {
                for name in ["id", "name"] {
                    let again = answer.get(name).filter(|again| call.get(name) == Some(*again));
                    again.into_iter().for_each(|again| cx.took(again.as_str()));
                }
            }
            ToolResult {
                call: id,
                content: with_media(answer.content, rest, cx),
                ..answer
            }
        }
        None => ToolResult {
            is_error: Some(false),
            ..ToolResult::new(id, ResultStatus::Success, Content::Blocks(cx.list(&rest)))
        },
    };
    told.name = name.and_then(Raw::string).or(told.name);
    if let Some(status) = status {
        let word = status.string().map_or("", Str::as_escaped);
        let said = || unrun(told.content.texts().next().unwrap_or_default());
        match word {
            "error" => told.status = said().unwrap_or(ResultStatus::Error),
            "cancelled" => told.status = said().unwrap_or(ResultStatus::Canceled),
            _ => {}
        }
        if matches!(word, "success" | "error" | "cancelled") {
            cx.took(status.as_str());
        }
        told.is_error = Some(told.status != ResultStatus::Success);
    }
    Some(told)
}

/// The images and files of a result that is a `functionResponse`: they stand behind it, as parts of their own.
pub(super) fn media_behind<'p, 'a: 'p>(parts: &mut std::iter::Peekable<impl Iterator<Item = &'p Part<'a>>>) -> Vec<Media<'a>> {
    let mut found = Vec::new();
    while let Some(Part::Block(Block::Media(media))) = parts.peek() {
        found.push(*media);
        parts.next();
    }
    found
}

/// What a result says, with what stands behind it.
pub(super) fn with_media<'a>(content: Content<'a>, media: impl IntoIterator<Item = Block<'a>>, cx: &Cx<'a>) -> Content<'a> {
    let mut media = media.into_iter().peekable();
    match content {
        Content::Text(text) if media.peek().is_some() => {
            let blocks: Vec<Block<'a>> = std::iter::once(Block::Text { text, fields: &[] }).chain(media).collect();
            Content::Blocks(cx.list(&blocks))
        }
        content => content,
    }
}

/// What the model thought.
pub(super) fn thoughts<'a>(list: Raw<'a>) -> impl Iterator<Item = Block<'a>> {
    list.elements_with(["subject", "description"]).map(|(_, thought)| {
        let [subject, text] = thought.map(|value| value.and_then(Raw::string));
        Block::Thinking(Thinking {
            text: text.unwrap_or_default(),
            subject: subject.filter(|subject| !subject.is_empty()),
            ..Thinking::default()
        })
    })
}

/// The tokens of a reply.
pub(super) fn usage<'a>(raw: Raw<'a>, tokens: &Members<'a>) -> Usage<'a> {
    let count = |name: &str| tokens.get(name).and_then(Count::read);
    Usage {
        input: count("input"),
        output: count("output"),
        reasoning: count("thoughts"),
        reasoning_beside: true,
        cache_read: count("cached"),
        cache_write: None,
        total: count("total"),
        inclusive: true,
        scope: Scope::Round,
        provenance: Provenance::Reported,
        raw: Some(raw),
    }
}
