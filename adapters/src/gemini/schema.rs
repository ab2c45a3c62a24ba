//! Gemini CLI's lines, as a JSON Schema.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[
            line::<Init>(&[("type", "init")]),
            line::<Message>(&[("type", "message")]),
            line::<ToolUse>(&[("type", "tool_use")]),
            line::<ToolResult>(&[("type", "tool_result")]),
            line::<Said>(&[("type", "error"), ("severity", "")]),
            line::<Outcome>(&[("type", "result")]),
            line::<Document>(&[("response", "")]),
        ],
        tags: &["type", "session_id"],
    },
    host: None,
};

/// The first line of a run.
#[derive(JsonSchema)]
struct Init {
    timestamp: String,
    session_id: String,
    model: String,
}

/// The prompt, or a piece of what the model says.
#[derive(JsonSchema)]
struct Message {
    timestamp: String,
    /// `user` or `assistant`.
    role: String,
    content: String,
    delta: Option<bool>,
}

/// A tool is called.
#[derive(JsonSchema)]
struct ToolUse {
    timestamp: String,
    tool_name: String,
    tool_id: String,
    parameters: Object,
}

/// What came of it.
#[derive(JsonSchema)]
struct ToolResult {
    timestamp: String,
    /// The call's.
    tool_id: String,
    /// `success` or `error`.
    status: String,
    /// What people see of it.
    output: Option<String>,
    error: Option<Failure>,
}

/// Something is wrong, and the run goes on.
#[derive(JsonSchema)]
struct Said {
    timestamp: String,
    /// `warning` or `error`.
    severity: String,
    message: String,
}

/// The run is over.
#[derive(JsonSchema)]
struct Outcome {
    timestamp: String,
    /// `success` or `error`.
    status: String,
    error: Option<Failure>,
    stats: Option<Stats>,
}

/// What went wrong.
#[derive(JsonSchema)]
struct Failure {
    r#type: String,
    message: String,
}

/// What the run took.
#[derive(JsonSchema)]
struct Stats {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    /// The input without what the cache answered.
    input: u64,
    duration_ms: u64,
    tool_calls: u64,
    /// The tokens of each model.
    models: Option<BTreeMap<String, Tokens>>,
}

/// The tokens of a model.
#[derive(JsonSchema)]
struct Tokens {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    input: u64,
}

/// The one object of `json`.
#[derive(JsonSchema)]
struct Document {
    session_id: String,
    response: String,
    stats: Option<Object>,
}
