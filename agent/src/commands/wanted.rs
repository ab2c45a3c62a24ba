//! A call that the host wants to be run, not the model: `tool_request` of a Chat Request.

use std::rc::Rc;

use serde_json::{Value, json};

use super::wellformed::invalid_tool;
use crate::host::event_writer::{body, line_id};
use crate::model::message::{Call, CallResult, Message, Part, Role};
use crate::session::core::{Core, Thread};
use crate::turn::{self, Came, End};
use agentglot_adapters::event::{Block, Kind, Reply, RoundEnd, RoundStart, ToolCall};
use agentglot_adapters::json::{Raw, Str};

/// Such a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    call: Call,
    /// The model is not told of it, and the turn ends with its result: `isClientInitiated`.
    pub(crate) of_client: bool,
}

impl Wanted {
    /// Reads `{callId?,name,args,isClientInitiated?}`; arguments may be an object or the text of one.
    ///
    /// # Errors
    /// `QWEN_INVALID_TOOL_ARGS` and what is wrong.
    pub(super) fn read(asked: &Value) -> Result<Self, String> {
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
        Ok(Self {
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
    pub(crate) async fn run(self, core: &Rc<Core>, thread: &mut Thread) -> Came {
        self.tell(core, &thread.model);
        let done = turn::calls::run(core, thread, vec![self.call.clone()], false).await;
        let text: String = done
            .results
            .iter()
            .filter_map(result)
            .flat_map(|result| &result.content)
            .filter_map(text)
            .collect();
        if !self.of_client {
            thread.messages.push(Rc::new(Message {
                role: Role::Assistant,
                parts: vec![Part::Call(self.call)],
            }));
            thread.add_user(done.results);
        }
        match done.end {
            Some(end) => Came { end, rounds: 0 },
            None if self.of_client => Came {
                end: End::Done(text, None),
                rounds: 0,
            },
            None => turn::rounds(core, thread).await,
        }
    }

    /// The call goes out as one of the model's does.
    fn tell(&self, core: &Core, model: &str) {
        let (id, name, model) = (body(&self.call.id), body(&self.call.name), body(model));
        let blocks = [Block::Call(ToolCall {
            id: Str::trusted(&id),
            name: Str::trusted(&name),
            kind: Default::default(),
            input: Raw::trusted(&self.call.input),
            fields: &[],
        })];
        let reply = Reply {
            model: Some(Str::trusted(&model)),
            blocks: &blocks,
            last: true,
            ..Reply::default()
        };
        let id = line_id();
        core.events.say(Kind::RoundStart(&RoundStart::default()), None, None);
        core.events.say(Kind::Reply(&reply), None, Some(&id));
        core.events.say(Kind::RoundEnd(&RoundEnd::PLAIN), None, None);
    }
}

fn new_id() -> String {
    format!("call_{}", uuid::Uuid::new_v4().simple())
}

fn result(part: &Part) -> Option<&CallResult> {
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
