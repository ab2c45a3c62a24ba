//! OpenCode's lines, as a JSON Schema.

// The types say what lines have; nothing is read into them.
#![allow(dead_code, non_snake_case)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[
            line::<OfPart<StepStart>>(&[("type", "step_start")]),
            line::<OfPart<Said>>(&[("type", "text")]),
            line::<OfPart<Said>>(&[("type", "reasoning")]),
            line::<OfPart<Tool>>(&[("type", "tool_use")]),
            line::<OfPart<StepFinish>>(&[("type", "step_finish")]),
            line::<Failed>(&[("type", "error")]),
            line::<Done>(&[("type", "done")]),
            line::<Happened>(&[("properties", "")]),
        ],
        tags: &["type", "sessionID"],
    },
    host: None,
};

/// A line with a part of a message.
#[derive(JsonSchema)]
struct OfPart<T> {
    /// When it was printed, in milliseconds.
    timestamp: u64,
    sessionID: String,
    part: T,
}

/// A round begins.
#[derive(JsonSchema)]
struct StepStart {
    id: String,
    messageID: String,
    sessionID: String,
    r#type: String,
    /// The state of the files.
    snapshot: Option<String>,
}

/// A whole text, or a whole thought.
#[derive(JsonSchema)]
struct Said {
    id: String,
    messageID: String,
    sessionID: String,
    r#type: String,
    text: String,
    time: Option<Span>,
    metadata: Option<Object>,
}

/// When it began and ended, in milliseconds.
#[derive(JsonSchema)]
struct Span {
    start: u64,
    end: Option<u64>,
}

/// A call that is over.
#[derive(JsonSchema)]
struct Tool {
    id: String,
    messageID: String,
    sessionID: String,
    r#type: String,
    tool: String,
    callID: String,
    state: State,
}

/// What a call asks for and what came of it.
#[derive(JsonSchema)]
struct State {
    /// `completed` or `error`; `running` where nothing says what came of it.
    status: String,
    input: Object,
    /// What the model sees, of a call that is completed.
    output: Option<String>,
    /// The same of one that failed.
    error: Option<String>,
    title: Option<String>,
    metadata: Option<Object>,
    time: Option<Span>,
}

/// A round is over.
#[derive(JsonSchema)]
struct StepFinish {
    id: String,
    messageID: String,
    sessionID: String,
    r#type: String,
    /// `stop`, `tool-calls`, `length`, `content-filter` …
    reason: String,
    tokens: Tokens,
    /// US dollars.
    cost: f64,
    snapshot: Option<String>,
}

/// What a round took.
#[derive(JsonSchema)]
pub(super) struct Tokens {
    total: Option<u64>,
    /// Without what the cache answered and took.
    input: u64,
    /// Without what was thought.
    output: u64,
    reasoning: u64,
    cache: Cache,
}

/// What the cache answered and took.
#[derive(JsonSchema)]
struct Cache {
    read: u64,
    write: u64,
}

/// The turn failed.
#[derive(JsonSchema)]
struct Failed {
    timestamp: u64,
    sessionID: String,
    error: Failure,
}

/// What went wrong.
#[derive(JsonSchema)]
pub(super) struct Failure {
    name: String,
    data: Option<Object>,
}

/// Nothing more comes.
#[derive(JsonSchema)]
struct Done {
    timestamp: u64,
    sessionID: String,
    reason: Option<String>,
}

/// What happened in the server.
#[derive(JsonSchema)]
struct Happened {
    id: Option<String>,
    r#type: String,
    properties: Object,
}
