//! A call that the host wants to be run, not the model: `tool_request` of a Chat Request.

use std::rc::Rc;

use serde_json::{Value, json};

use super::wellformed::Refused;
use super::wellformed::invalid_tool;
use crate::conversation::Conversation;
use crate::host::event_writer::{body, line_id};
use crate::host::prompts::RequestedCall;
use crate::model::message::{Call, CallResult, Message, Part, Role};
use crate::turn::context::Context;
use crate::turn::{self, End, Finished};
use agentglot_adapters::raw::event::{Block, Kind, Reply, RoundEnd, RoundStart, ToolCall};
use agentglot_adapters::raw::json::{Raw, Str};

/// Reads `{callId?,name,args,isClientInitiated?}`; arguments may be an object or the text of one.
///
/// # Errors
/// What is wrong.
pub(super) fn read(asked: &Value) -> Result<RequestedCall, Refused> {
    let find = |names: &[&str]| names.iter().find_map(|name| asked.get(name)).filter(|value| !value.is_null());
    let text = |names: &[&str]| find(names).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text(&["name", "toolName", "tool_name"]).ok_or_else(|| invalid_tool("tool_request.name is missing or no text"))?;
    let args = match find(&["args", "arguments", "toolArgs"]) {
        None => json!({}),
        Some(Value::String(text)) => serde_json::from_str(text).map_err(|error| invalid_tool(format!("tool_request.args: {error}")))?,
        Some(args) => args.clone(),
    };
    if !args.is_object() {
        return Err(invalid_tool("tool_request.args is no object"));
    }
    let id = text(&["callId", "call_id", "tool_call_id", "id"]).map_or_else(new_id, str::to_owned);
    let of_client = find(&["isClientInitiated", "is_client_initiated"])
        .and_then(Value::as_bool)
        .unwrap_or(false);
    Ok(RequestedCall {
        call: Call {
            id,
            name: name.to_owned(),
            input: args.to_string(),
            extra: None,
        },
        of_client,
    })
}

/// As a command's result of type `tool` says it.
pub(super) fn result(name: &str, args: &Value, turn: &str) -> Value {
    json!({
        "type": "tool", "toolName": name, "toolArgs": args,
        "tool_request": {"callId": new_id(), "name": name, "args": args, "isClientInitiated": true, "prompt_id": turn},
    })
}

/// Runs it, as if the model had made it. What the model is told of, it goes on with.
pub(crate) async fn run(requested: RequestedCall, context: &Rc<Context>, conversation: &mut Conversation) -> Finished {
    tell(&requested.call, context, &conversation.model);
    let done = turn::calls::run(context, conversation, vec![requested.call.clone()], false).await;
    let text: String = done
        .results
        .iter()
        .filter_map(result_of)
        .flat_map(|result| &result.content)
        .filter_map(text)
        .collect();
    if !requested.of_client {
        conversation.messages.push(Rc::new(Message {
            role: Role::Assistant,
            parts: vec![Part::Call(requested.call)],
        }));
        conversation.add_user(done.results);
    }
    match done.end {
        Some(end) => Finished::of(end, 0),
        None if requested.of_client => Finished::of(End::Done(text, None), 0),
        None => turn::rounds(context, conversation).await,
    }
}

/// The call goes out as one of the model's does.
fn tell(call: &Call, context: &Context, model: &str) {
    let (id, name, model) = (body(&call.id), body(&call.name), body(model));
    let blocks = [Block::Call(ToolCall {
        id: Str::trusted(&id),
        name: Str::trusted(&name),
        kind: Default::default(),
        input: Raw::trusted(&call.input),
        fields: &[],
    })];
    let reply = Reply {
        model: Some(Str::trusted(&model)),
        blocks: &blocks,
        last: true,
        ..Reply::default()
    };
    let id = line_id();
    context.host.events.say(Kind::RoundStart(&RoundStart::default()), None, None);
    context.host.events.say(Kind::Reply(&reply), None, Some(&id));
    context.host.events.say(Kind::RoundEnd(&RoundEnd::PLAIN), None, None);
}

fn new_id() -> String {
    format!("call_{}", uuid::Uuid::new_v4().simple())
}

fn result_of(part: &Part) -> Option<&CallResult> {
    match part {
        Part::Result(result) => Some(result),
        _ => None,
    }
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        _ => None,
    }
}
