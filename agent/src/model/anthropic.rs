//! Requests to Anthropic's API.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::Spec;
use super::history::{self, Turn};
use super::written::{Parts, Told, object};
use super::{Api, Ask};
use crate::model::message::{Part, Role};
use agentglot_models::{Asking, Known, Manner};

/// The least that may be thought with a budget.
const LEAST_BUDGET: u64 = 1024;

/// The members of a request; the system prompt, the messages and the tools are [written](body) in their places.
pub(super) fn members(ask: &Ask<'_>, manner: Manner, known: Option<&Known>, told: Told) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), ask.model.into());
    let most = known.and_then(|known| known.output);
    // It has to be said; what nobody limits may be long.
    let tokens = ask.max_tokens.unwrap_or(most.unwrap_or(8192).min(32_000));
    body.insert("max_tokens".into(), tokens.into());
    if !ask.system.is_empty() {
        body.insert("system".into(), Value::Null);
    }
    body.insert("messages".into(), Value::Null);
    if !ask.tools.is_empty() {
        body.insert("tools".into(), Value::Null);
    }
    let thinking = thinking(ask, manner.thinking, tokens, told);
    match ask.must_call {
        // A call cannot be forced on a model that thinks.
        Some(name) if !ask.tools.is_empty() && thinking.is_none() => {
            body.insert("tool_choice".into(), json!({"type": "tool", "name": name}));
        }
        _ => {}
    }
    if thinking.is_none() {
        // A model that thinks takes no other than its own.
        for (name, value) in [("temperature", ask.temperature), ("top_p", ask.top_p)] {
            if let Some(value) = value {
                body.insert(name.into(), value.into());
            }
        }
    }
    if let Some(thinking) = thinking {
        body.insert("thinking".into(), thinking);
    }
    if let (Some(effort), Asking::Adaptive) = (ask.effort, manner.thinking) {
        body.insert("output_config".into(), json!({"effort": effort}));
    }
    body.insert("stream".into(), true.into());
    body
}

/// The whole of a request.
pub(super) fn body(members: &Map<String, Value>, parts: &Parts<'_>) -> Vec<u8> {
    let mut body = Vec::with_capacity(parts.messages.len() + parts.system.len() + parts.tools.len() + 1024);
    object(members, &mut body, |name, out| {
        match name {
            "system" => out.extend_from_slice(parts.system),
            "tools" => out.extend_from_slice(parts.tools),
            "messages" => {
                out.push(b'[');
                match parts.messages.split_last() {
                    // What the next request will begin with.
                    Some((_, block)) if parts.told.markable => {
                        out.extend_from_slice(block);
                        out.extend_from_slice(br#","cache_control":{"type":"ephemeral"}}]}"#);
                    }
                    Some(_) => {
                        out.extend_from_slice(parts.messages);
                        out.extend_from_slice(b"]}");
                    }
                    None => {}
                }
                out.push(b']');
            }
            _ => return false,
        }
        true
    });
    body
}

/// The system prompt.
pub(super) fn system(prompt: &str) -> Value {
    json!([{"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}])
}

/// The list of tools.
pub(super) fn tools(tools: &[Rc<Spec>]) -> Value {
    let mut tools: Vec<Value> = tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
        .collect();
    if let Some(last) = tools.last_mut() {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    tools.into()
}

fn thinking(ask: &Ask<'_>, asking: Asking, tokens: u64, told: Told) -> Option<Value> {
    let budget = ask.thinking.filter(|&budget| budget > 0)?;
    // A model that has called tools without a thought before cannot begin to think in the middle of its work.
    if ask.must_call.is_some() || (told.at_work && !told.thought) {
        return None;
    }
    if asking == Asking::Adaptive {
        return Some(json!({"type": "adaptive"}));
    }
    let budget = budget.max(LEAST_BUDGET).min(tokens.checked_sub(1)?);
    (budget >= LEAST_BUDGET).then(|| json!({"type": "enabled", "budget_tokens": budget}))
}

/// A thought that may go back: Anthropic's own, with its signature.
fn is_thought(part: &Part) -> bool {
    match part {
        Part::Thinking { signature, source, .. } => source.api == Api::Anthropic.name() && signature.as_deref().is_some_and(|s| !s.is_empty()),
        Part::Redacted { .. } => true,
        _ => false,
    }
}

/// Writes messages behind those of which `told` is known. The last one stays open behind its last block: more of the same role, or a mark
/// for the server's cache, may come.
pub(super) fn write(turns: &[Turn<'_>], mut told: Told, out: &mut Vec<u8>) -> Told {
    for turn in turns {
        let role = match turn.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        told.at_work = turn.parts.iter().any(|part| matches!(**part, Part::Result(_)));
        if turn.role == Role::Assistant {
            told.thought = turn.parts.iter().any(|part| is_thought(part));
        }
        for block in turn.parts.iter().filter_map(|part| block(part)) {
            // A message of thoughts alone, which do not go back, leaves two of the user's side by side.
            if told.role == Some(turn.role) {
                out.push(b',');
            } else {
                out.extend_from_slice(if told.role.is_some() { b"]},".as_slice() } else { b"" });
                out.extend_from_slice(format!("{{\"role\":\"{role}\",\"content\":[").as_bytes());
            }
            told.role = Some(turn.role);
            told.markable = !matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
            out.extend_from_slice(block.to_string().as_bytes());
        }
    }
    told
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { media_type, data } => source("image", media_type, data),
        Part::Document { media_type, data } => source("document", media_type, data),
        Part::Thinking { text, signature, .. } if is_thought(part) => json!({"type": "thinking", "thinking": text, "signature": signature}),
        Part::Thinking { .. } => return None,
        Part::Redacted { data } => json!({"type": "redacted_thinking", "data": data}),
        Part::Call(call) => json!({"type": "tool_use", "id": id(&call.id), "name": call.name, "input": history::arguments(&call.input)}),
        Part::Result(result) => {
            let mut content: Vec<Value> = result
                .content
                .iter()
                .filter(|part| !matches!(part, Part::Text(text) if text.trim().is_empty()))
                .filter_map(block)
                .collect();
            if content.is_empty() && result.is_error {
                content.push(json!({"type": "text", "text": "(no output)"}));
            }
            let mut block = json!({"type": "tool_result", "tool_use_id": id(&result.call), "content": content});
            if result.is_error {
                block["is_error"] = true.into();
            }
            block
        }
    })
}

fn source(kind: &str, media_type: &str, data: &str) -> Value {
    json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}})
}

/// An id as Anthropic takes it: letters, digits, `_` and `-`. Others have more in theirs.
fn id(id: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}
