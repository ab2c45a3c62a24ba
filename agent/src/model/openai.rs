//! Requests to OpenAI-compatible APIs.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::Spec;
use super::history::{self, Turn};
use super::written::{Parts, Told, object};
use super::{Api, Ask};
use crate::model::message::{Part, Role, Source};
use agentglot_models::{Asking, Manner, TokenLimit};

/// The members of a request; the messages and the tools are [written](body) in their places.
pub(super) fn members(ask: &Ask<'_>, manner: Manner) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), ask.model.into());
    body.insert("messages".into(), Value::Null);
    body.insert("stream".into(), true.into());
    if manner.stream_usage {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if !ask.tools.is_empty() {
        body.insert("tools".into(), Value::Null);
        if let Some(name) = ask.must_call {
            body.insert("tool_choice".into(), json!({"type": "function", "function": {"name": name}}));
        }
    }
    if let Some(tokens) = ask.max_tokens {
        let name = match manner.token_limit {
            TokenLimit::MaxTokens => "max_tokens",
            TokenLimit::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(name.into(), tokens.into());
    }
    for (name, value) in [("temperature", ask.temperature), ("top_p", ask.top_p)] {
        if let Some(value) = value {
            body.insert(name.into(), value.into());
        }
    }
    thinking(ask, manner.thinking, &mut body);
    body
}

fn thinking(ask: &Ask<'_>, asking: Asking, body: &mut Map<String, Value>) {
    match asking {
        Asking::Qwen => {
            if let Some(budget) = ask.thinking {
                body.insert("enable_thinking".into(), (budget > 0).into());
                if budget > 0 {
                    body.insert("thinking_budget".into(), budget.into());
                }
            }
        }
        Asking::Openrouter => {
            let reasoning = match (ask.effort, ask.thinking) {
                (Some(effort), _) => json!({"effort": effort}),
                (None, Some(0)) => json!({"enabled": false}),
                (None, Some(budget)) => json!({"max_tokens": budget}),
                (None, None) => return,
            };
            body.insert("reasoning".into(), reasoning);
        }
        Asking::Effort => {
            if let Some(effort) = ask.effort {
                body.insert("reasoning_effort".into(), effort.into());
            }
        }
        Asking::None | Asking::Budget | Asking::Adaptive => {}
    }
}

/// The whole of a request.
pub(super) fn body(members: &Map<String, Value>, parts: &Parts<'_>) -> Vec<u8> {
    let mut body = Vec::with_capacity(parts.messages.len() + parts.system.len() + parts.tools.len() + 1024);
    object(members, &mut body, |name, out| match name {
        "messages" => {
            out.push(b'[');
            out.extend_from_slice(parts.system);
            if !parts.system.is_empty() && !parts.messages.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(parts.messages);
            out.push(b']');
            true
        }
        "tools" => {
            out.extend_from_slice(parts.tools);
            true
        }
        _ => false,
    });
    body
}

/// The system prompt as a message.
pub(super) fn system(prompt: &str) -> Value {
    json!({"role": "system", "content": prompt})
}

/// The list of tools.
pub(super) fn tools(tools: &[Rc<Spec>]) -> Value {
    let tools = tools
        .iter()
        .map(|tool| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema}}));
    tools.collect()
}

/// Writes messages behind others; those from `current` on are part of the work that is going on.
pub(super) fn write(turns: &[Turn<'_>], current: usize, model: &str, out: &mut Vec<u8>) -> Told {
    let mut messages = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        match turn.role {
            Role::User => user(turn, &mut messages),
            Role::Assistant => assistant(turn, at >= current, model, &mut messages),
        }
    }
    for message in messages {
        if !out.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(message.to_string().as_bytes());
    }
    let passing = |part: &Part| match part {
        Part::Thinking { source, .. } => is_own(source, model) && !matches!(source.member.as_str(), "reasoning_details" | "content" | ""),
        _ => false,
    };
    Told {
        depends: turns.iter().any(|turn| turn.parts.iter().any(|part| passing(part))),
        ..Told::default()
    }
}

/// A thought of this model, through this API.
fn is_own(source: &Source, model: &str) -> bool {
    source.api == Api::Openai.name() && source.model == model
}

fn user(turn: &Turn<'_>, messages: &mut Vec<Value>) {
    let mut content = Vec::new();
    for part in &turn.parts {
        match &**part {
            Part::Result(result) => {
                let text = history::text_of(&result.content);
                let text = match (result.is_error, text.is_empty()) {
                    (_, true) if result.content.is_empty() => "(no output)".to_owned(),
                    (_, true) => "(see the message below)".to_owned(),
                    (true, _) if !text.starts_with("Error") => format!("Error: {text}"),
                    _ => text,
                };
                messages.push(json!({"role": "tool", "tool_call_id": result.call, "content": text}));
                // A tool's message holds text alone.
                let media: Vec<Value> = result.content.iter().filter_map(media).collect();
                if !media.is_empty() {
                    content.push(json!({"type": "text", "text": format!("What the call {} returned:", result.call)}));
                    content.extend(media);
                }
            }
            Part::Text(text) => content.push(json!({"type": "text", "text": text})),
            part => content.extend(media(part)),
        }
    }
    let only_text = content.iter().all(|part| part["type"] == "text");
    if content.is_empty() {
        return;
    }
    let content = match only_text {
        true => {
            let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
            Value::String(texts.join("\n\n"))
        }
        false => Value::Array(content),
    };
    messages.push(json!({"role": "user", "content": content}));
}

fn media(part: &Part) -> Option<Value> {
    match part {
        Part::Image { media_type, data } => Some(json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{data}")}})),
        Part::Document { media_type, data } => {
            let ending = media_type.rsplit('/').next().unwrap_or("bin");
            let file = json!({"filename": format!("document.{ending}"), "file_data": format!("data:{media_type};base64,{data}")});
            Some(json!({"type": "file", "file": file}))
        }
        _ => None,
    }
}

/// A message of the model's. Thoughts go back under the name they came by, to the model they came from, and only while it is at work on
/// the same task: DeepSeek refuses calls without them, others refuse those of earlier tasks.
fn assistant(turn: &Turn<'_>, current: bool, model: &str, messages: &mut Vec<Value>) {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut listed = Vec::new();
    for part in &turn.parts {
        match &**part {
            Part::Text(more) => text.push_str(more),
            Part::Call(call) => {
                let mut element = json!({
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": history::arguments(&call.input).to_string()},
                });
                let extra = call
                    .extra
                    .as_deref()
                    .and_then(|extra| serde_json::from_str::<Map<String, Value>>(extra).ok());
                for (name, value) in extra.into_iter().flatten() {
                    element[name.as_str()] = value;
                }
                calls.push(element);
            }
            Part::Thinking { text, signature, source } if is_own(source, model) => match source.member.as_str() {
                "reasoning_details" => {
                    let details = signature.as_deref().and_then(|details| serde_json::from_str::<Vec<Value>>(details).ok());
                    let before = message.entry("reasoning_details").or_insert_with(|| json!([]));
                    if let Some(list) = before.as_array_mut() {
                        list.extend(details.into_iter().flatten());
                    }
                }
                "content" => listed.push(json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]})),
                "" => {}
                member if current => {
                    let before = message.get(member).and_then(Value::as_str).unwrap_or_default();
                    message.insert(member.to_owned(), format!("{before}{text}").into());
                }
                _ => {}
            },
            _ => {}
        }
    }
    if text.is_empty() && calls.is_empty() {
        return;
    }
    let content = match (listed.is_empty(), text.is_empty()) {
        (false, true) => Value::Array(listed),
        (false, false) => {
            listed.push(json!({"type": "text", "text": text}));
            Value::Array(listed)
        }
        (true, true) => Value::Null,
        (true, false) => text.into(),
    };
    message.insert("content".into(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    messages.push(Value::Object(message));
}

/// Changes a request that was refused because of one of its parameters; false if the refusal is about something else. Servers differ in
/// what they take, and say so. A value out of range is something else.
pub(super) fn adapt(body: &mut Map<String, Value>, refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    if !NOT_TAKEN.iter().any(|words| refusal.contains(words)) {
        return false;
    }
    for (from, to) in [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")] {
        if refusal.contains(from)
            && let Some(tokens) = body.remove(from)
        {
            body.insert(to.into(), tokens);
            return true;
        }
    }
    let refused = OPTIONAL.iter().find(|name| body.contains_key(**name) && refusal.contains(**name));
    refused.is_some_and(|name| body.remove(*name).is_some())
}

/// How servers say that they do not take a parameter.
const NOT_TAKEN: &[&str] = &[
    "unsupported",
    "not support",
    "unrecognized",
    "unknown",
    "extra inputs",
    "extra fields",
    "not permitted",
    "unexpected",
];

/// What a request can do without.
const OPTIONAL: &[&str] = &[
    "stream_options",
    "reasoning_effort",
    "temperature",
    "top_p",
    "tool_choice",
    "enable_thinking",
    "thinking_budget",
    "reasoning",
];
