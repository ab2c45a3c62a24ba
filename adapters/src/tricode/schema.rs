//! Tricode's lines. Members of every type are checked; which arguments a tool takes is the tool's to say.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Line, Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: AGENT,
        tags: &["type"],
    },
    host: None,
};

const AGENT: &[Line] = &[
    line::<Said>(&[("type", "system")]),
    line::<Said>(&[("type", "reminder")]),
    line::<Round>(&[("type", "round")]),
    line::<ToolCall>(&[("type", "tool_call")]),
    line::<ToolResult>(&[("type", "tool_result")]),
    line::<Final>(&[("type", "final")]),
];

/// What the program says, or reminds the model of.
#[derive(JsonSchema)]
struct Said {
    message: String,
}

/// A model call begins.
#[derive(JsonSchema)]
struct Round {
    number: u64,
}

/// A tool is called.
#[derive(JsonSchema)]
struct ToolCall {
    name: String,
    arguments: Object,
    /// The same for people.
    formatted: Option<String>,
}

/// What came of it.
#[derive(JsonSchema)]
struct ToolResult {
    name: String,
    success: bool,
    result: String,
    formatted: Option<String>,
}

/// The turn's answer.
#[derive(JsonSchema)]
struct Final {
    content: String,
}
