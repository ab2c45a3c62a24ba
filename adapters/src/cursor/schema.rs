//! The lines of Cursor's command line.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::{Message, Object};
use crate::schema::{Line, Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: AGENT,
        tags: &["type"],
    },
    host: None,
};

const AGENT: &[Line] = &[
    line::<Init>(&[("type", "system"), ("subtype", "init")]),
    line::<Said>(&[("type", "user")]),
    line::<Said>(&[("type", "assistant")]),
    line::<Thinking>(&[("type", "thinking"), ("subtype", "delta")]),
    line::<Timed>(&[("type", "thinking")]),
    line::<ToolCall>(&[("type", "tool_call")]),
    line::<Query>(&[("type", "interaction_query"), ("subtype", "request")]),
    line::<Answer>(&[("type", "interaction_query"), ("subtype", "response")]),
    line::<Timed>(&[("type", "connection")]),
    line::<Retry>(&[("type", "retry")]),
    line::<Outcome>(&[("type", "result")]),
];

/// The session's facts.
#[derive(JsonSchema)]
struct Init {
    #[schemars(rename = "apiKeySource")]
    api_key_source: Option<String>,
    cwd: String,
    session_id: String,
    model: String,
    #[schemars(rename = "permissionMode")]
    permission_mode: Option<String>,
}

/// A prompt said again, or what the model says.
#[derive(JsonSchema)]
struct Said {
    message: Message,
    session_id: String,
    model_call_id: Option<String>,
    timestamp_ms: Option<u64>,
}

/// A piece of a thought.
#[derive(JsonSchema)]
struct Thinking {
    text: String,
}

/// Something that happened then.
#[derive(JsonSchema)]
struct Timed {
    subtype: String,
    session_id: Option<String>,
    timestamp_ms: Option<u64>,
}

/// A call began, or is complete: one member `<name>ToolCall` or `function` with `args` and `result`.
#[derive(JsonSchema)]
struct ToolCall {
    subtype: String,
    call_id: String,
    tool_call: Object,
    model_call_id: Option<String>,
    session_id: Option<String>,
    timestamp_ms: Option<u64>,
}

/// A person is asked.
#[derive(JsonSchema)]
struct Query {
    query_type: String,
    query: Object,
}

/// What was answered.
#[derive(JsonSchema)]
struct Answer {
    query_type: String,
    response: Object,
}

/// A model call is tried again.
#[derive(JsonSchema)]
struct Retry {
    subtype: String,
    attempt: Option<u64>,
    is_resume: Option<bool>,
}

/// How the turn ended.
#[derive(JsonSchema)]
struct Outcome {
    subtype: String,
    is_error: bool,
    result: Option<String>,
    duration_ms: Option<f64>,
    duration_api_ms: Option<f64>,
    session_id: Option<String>,
    request_id: Option<String>,
    usage: Option<Usage>,
    error: Option<Value>,
}

/// Tokens.
#[derive(JsonSchema)]
struct Usage {
    #[schemars(rename = "inputTokens")]
    input: Option<u64>,
    #[schemars(rename = "outputTokens")]
    output: Option<u64>,
    #[schemars(rename = "cacheReadTokens")]
    cache_read: Option<u64>,
    #[schemars(rename = "cacheWriteTokens")]
    cache_write: Option<u64>,
}
