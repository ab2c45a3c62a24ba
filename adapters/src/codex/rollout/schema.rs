//! The lines of a rollout file.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Line, Side, line, one_of};

pub(super) static SIDE: Side = Side {
    lines: &[
        line::<Meta>(&[("type", "session_meta")]),
        line::<TurnContext>(&[("type", "turn_context")]),
        line::<ResponseItem>(&[("type", "response_item")]),
        line::<Happened>(&[("type", "event_msg")]),
        line::<Other>(&[("type", "world_state")]),
        line::<Other>(&[("type", "token_usage_record")]),
        line::<Other>(&[("type", "inter_agent_communication_metadata")]),
        line::<Other>(&[("type", "compacted")]),
        line::<Header>(&[("instructions", "")]),
        line::<State>(&[("record_type", "state")]),
        line::<Message>(&[("type", "message")]),
        line::<Reasoning>(&[("type", "reasoning")]),
        line::<FunctionCall>(&[("type", "function_call")]),
        line::<CallOutput>(&[("type", "function_call_output")]),
        line::<CustomToolCall>(&[("type", "custom_tool_call")]),
        line::<CallOutput>(&[("type", "custom_tool_call_output")]),
    ],
    tags: &["type", "record_type", "instructions"],
};

/// The first line of a file in which nothing stands around items.
#[derive(JsonSchema)]
struct Header {
    /// The thread.
    id: String,
    timestamp: String,
    git: Option<Object>,
}

/// A mark between items, there.
#[derive(JsonSchema)]
struct State {}

/// Any other line.
#[derive(JsonSchema)]
struct Other {
    timestamp: Option<String>,
    ordinal: Option<u64>,
    payload: Object,
}

/// The first line; in a fork, more of them follow.
#[derive(JsonSchema)]
struct Meta {
    timestamp: Option<String>,
    ordinal: Option<u64>,
    payload: MetaPayload,
}

#[derive(JsonSchema)]
struct MetaPayload {
    /// The thread.
    id: String,
    cwd: Option<String>,
    originator: Option<String>,
    cli_version: Option<String>,
    model_provider: Option<String>,
    /// `subagent` in a subagent's file.
    thread_source: Option<String>,
    parent_thread_id: Option<String>,
    forked_from_id: Option<String>,
}

/// The settings of a turn.
#[derive(JsonSchema)]
struct TurnContext {
    timestamp: Option<String>,
    ordinal: Option<u64>,
    payload: TurnPayload,
}

#[derive(JsonSchema)]
struct TurnPayload {
    turn_id: Option<String>,
    cwd: Option<String>,
    approval_policy: Option<Value>,
    sandbox_policy: Option<Object>,
    model: Option<String>,
}

/// What the model is sent and says.
#[derive(JsonSchema)]
struct ResponseItem {
    timestamp: Option<String>,
    ordinal: Option<u64>,
    payload: Item,
    metadata: Option<Object>,
}

/// What the program tells of a turn.
#[derive(JsonSchema)]
struct Happened {
    timestamp: Option<String>,
    ordinal: Option<u64>,
    payload: News,
}

/// An item of the model's API. Kinds that are not described are allowed.
struct Item;

impl JsonSchema for Item {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Item".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        typed(
            generator,
            &[
                line::<Message>(&[("type", "message")]),
                line::<Reasoning>(&[("type", "reasoning")]),
                line::<FunctionCall>(&[("type", "function_call")]),
                line::<CallOutput>(&[("type", "function_call_output")]),
                line::<CustomToolCall>(&[("type", "custom_tool_call")]),
                line::<CallOutput>(&[("type", "custom_tool_call_output")]),
            ],
        )
    }
}

/// News of a turn. Kinds that are not described are allowed.
struct News;

impl JsonSchema for News {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "News".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        typed(
            generator,
            &[
                line::<Told>(&[("type", "user_message")]),
                line::<Told>(&[("type", "agent_message")]),
                line::<TurnNews>(&[("type", "task_started")]),
                line::<TurnNews>(&[("type", "task_complete")]),
                line::<TurnNews>(&[("type", "turn_aborted")]),
                line::<ItemCompleted>(&[("type", "item_completed")]),
                line::<TokenCount>(&[("type", "token_count")]),
            ],
        )
    }
}

/// One of these kinds; each says which.
fn typed(generator: &mut SchemaGenerator, lines: &[Line]) -> Schema {
    let mut schema = one_of(generator, lines);
    schema.insert("required".to_owned(), serde_json::json!(["type"]));
    schema
}

/// What the user, the program (`developer`) or the model says.
#[derive(JsonSchema)]
struct Message {
    role: String,
    content: Vec<Object>,
    id: Option<String>,
}

/// What the model thought.
#[derive(JsonSchema)]
struct Reasoning {
    summary: Vec<Object>,
    content: Option<Vec<Object>>,
    encrypted_content: Option<String>,
}

/// A tool is called.
#[derive(JsonSchema)]
struct FunctionCall {
    call_id: String,
    name: String,
    namespace: Option<String>,
    /// JSON, as the model wrote it.
    arguments: String,
}

/// A tool is called that takes a text.
#[derive(JsonSchema)]
struct CustomToolCall {
    call_id: String,
    name: String,
    input: String,
}

/// What came of a call: a text, or parts.
#[derive(JsonSchema)]
struct CallOutput {
    /// Without it nobody has called: the program tells the model something (`name`), such as the goal of the thread.
    call_id: Option<String>,
    output: Value,
}

/// What was said, for people.
#[derive(JsonSchema)]
struct Told {
    message: String,
}

/// A turn begins or is over.
#[derive(JsonSchema)]
struct TurnNews {
    turn_id: Option<String>,
    /// Of a turn that is over: the answer.
    last_agent_message: Option<String>,
    /// Of a turn that was stopped: why.
    reason: Option<String>,
    duration_ms: Option<u64>,
}

/// An item of the turn is over, as the app-server tells it.
#[derive(JsonSchema)]
struct ItemCompleted {
    turn_id: Option<String>,
    item: Object,
}

/// Tokens of the thread so far, and of its last reply.
#[derive(JsonSchema)]
struct TokenCount {
    info: Option<Object>,
    rate_limits: Option<Object>,
}
