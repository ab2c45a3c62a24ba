//! The protocol's events, as a JSON Schema.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Line, Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: LINES,
        tags: &["type"],
    },
    host: None,
};

const LINES: &[Line] = &[
    line::<RunStarted>(&[("type", "RUN_STARTED")]),
    line::<RunFinished>(&[("type", "RUN_FINISHED")]),
    line::<RunError>(&[("type", "RUN_ERROR")]),
    line::<Step>(&[("type", "STEP_STARTED")]),
    line::<Step>(&[("type", "STEP_FINISHED")]),
    line::<MessageStart>(&[("type", "TEXT_MESSAGE_START")]),
    line::<Piece>(&[("type", "TEXT_MESSAGE_CONTENT")]),
    line::<Message>(&[("type", "TEXT_MESSAGE_END")]),
    line::<Chunk>(&[("type", "TEXT_MESSAGE_CHUNK")]),
    line::<CallStart>(&[("type", "TOOL_CALL_START")]),
    line::<CallPiece>(&[("type", "TOOL_CALL_ARGS")]),
    line::<CallEnd>(&[("type", "TOOL_CALL_END")]),
    line::<Chunk>(&[("type", "TOOL_CALL_CHUNK")]),
    line::<CallResult>(&[("type", "TOOL_CALL_RESULT")]),
    line::<Message>(&[("type", "REASONING_START")]),
    line::<MessageStart>(&[("type", "REASONING_MESSAGE_START")]),
    line::<Piece>(&[("type", "REASONING_MESSAGE_CONTENT")]),
    line::<Message>(&[("type", "REASONING_MESSAGE_END")]),
    line::<Chunk>(&[("type", "REASONING_MESSAGE_CHUNK")]),
    line::<Message>(&[("type", "REASONING_END")]),
    line::<Seal>(&[("type", "REASONING_ENCRYPTED_VALUE")]),
    line::<SubagentStarted>(&[("type", "SUBAGENT_STARTED")]),
    line::<SubagentFinished>(&[("type", "SUBAGENT_FINISHED")]),
    line::<SubagentError>(&[("type", "SUBAGENT_ERROR")]),
    line::<StateSnapshot>(&[("type", "STATE_SNAPSHOT")]),
    line::<StateDelta>(&[("type", "STATE_DELTA")]),
    line::<Messages>(&[("type", "MESSAGES_SNAPSHOT")]),
    line::<Activity>(&[("type", "ACTIVITY_SNAPSHOT")]),
    line::<ActivityDelta>(&[("type", "ACTIVITY_DELTA")]),
    line::<Raw>(&[("type", "RAW")]),
    line::<Custom>(&[("type", "CUSTOM")]),
];

/// A run begins.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunStarted {
    thread_id: String,
    run_id: String,
    parent_run_id: Option<String>,
    protocol_version: Option<String>,
    /// What it was asked for with.
    input: Option<Object>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A run has not failed.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunFinished {
    thread_id: String,
    run_id: String,
    result: Option<Value>,
    /// Its `type` is `success`, `interrupt` or `cancelled`.
    outcome: Option<Object>,
    /// One entry for each model.
    usage: Option<Vec<Tokens>>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A run has failed.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunError {
    message: String,
    code: Option<String>,
    usage: Option<Vec<Tokens>>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// Tokens. Those of the cache are parts of the input.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    provider: Option<String>,
    model: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
}

/// A step begins, or is over.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Step {
    step_name: String,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A text or a thought begins.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MessageStart {
    message_id: String,
    role: Option<String>,
    name: Option<String>,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// More of a text or a thought.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Piece {
    message_id: String,
    delta: String,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A text or a thought is over; a span of thoughts begins or is over.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Message {
    message_id: String,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A piece of something that no line begins and none ends.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    message_id: Option<String>,
    role: Option<String>,
    tool_call_id: Option<String>,
    tool_call_name: Option<String>,
    parent_message_id: Option<String>,
    delta: Option<String>,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A tool is called.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallStart {
    tool_call_id: String,
    tool_call_name: String,
    parent_message_id: Option<String>,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A piece of its arguments, which are JSON together.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallPiece {
    tool_call_id: String,
    delta: String,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// Its arguments are whole.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallEnd {
    tool_call_id: String,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// What came of it.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    message_id: String,
    tool_call_id: String,
    content: Content,
    role: Option<String>,
    subagent_run_id: Option<String>,
    timestamp: Option<i64>,
    metadata: Option<Object>,
}

/// A text, or parts.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Object>),
}

/// What a model's vendor sealed a message or a call with.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Seal {
    /// `message` or `tool-call`.
    subtype: String,
    entity_id: String,
    encrypted_value: String,
    subagent_run_id: Option<String>,
}

/// A subagent begins.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubagentStarted {
    subagent_run_id: String,
    name: String,
    description: Option<String>,
    parent_subagent_run_id: Option<String>,
    parent_tool_call_id: Option<String>,
    parent_message_id: Option<String>,
}

/// A subagent is done.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubagentFinished {
    subagent_run_id: String,
    result: Option<Value>,
    /// Its `type` is `success` or `suspended`.
    outcome: Option<Object>,
}

/// A subagent has failed.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubagentError {
    subagent_run_id: String,
    message: String,
    code: Option<String>,
}

/// The state.
#[derive(JsonSchema)]
struct StateSnapshot {
    snapshot: Value,
}

/// A change of it, as RFC 6902 has it.
#[derive(JsonSchema)]
struct StateDelta {
    delta: Vec<Value>,
}

/// All messages of a thread.
#[derive(JsonSchema)]
struct Messages {
    messages: Vec<Object>,
}

/// Something to be shown that is no part of the conversation.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Activity {
    message_id: String,
    activity_type: String,
    content: Object,
    replace: Option<bool>,
}

/// A change of it.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityDelta {
    message_id: String,
    activity_type: String,
    patch: Vec<Value>,
}

/// What another program has said.
#[derive(JsonSchema)]
struct Raw {
    event: Value,
    source: Option<String>,
}

/// Something of the producer's own.
#[derive(JsonSchema)]
struct Custom {
    name: String,
    value: Value,
}
