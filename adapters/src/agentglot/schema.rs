//! Canonical events as JSON lines.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Line, Side, Sides, line};

/// What agents and hosts say has one form.
pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: LINES,
        tags: &["event", "agentglot", "input"],
    },
    host: Some(Side {
        lines: LINES,
        tags: &["event", "agentglot", "input"],
    }),
};

const LINES: &[Line] = &[
    line::<Header>(&[("agentglot", "events")]),
    line::<Spelling>(&[("agentglot", "spelling")]),
    line::<Common>(&[("event", "")]),
    line::<Notice>(&[("event", "notice")]),
    line::<Prompt>(&[("event", "prompt")]),
    line::<BlockStart>(&[("event", "block_start")]),
    line::<Piece>(&[("event", "delta")]),
    line::<Piece>(&[("event", "block_stop")]),
    line::<Reply>(&[("event", "reply")]),
    line::<ToolResult>(&[("event", "tool_result")]),
    line::<ToolProgress>(&[("event", "tool_progress")]),
    line::<Terminal>(&[("event", "terminal")]),
    line::<Request>(&[("event", "request")]),
    line::<Response>(&[("event", "response")]),
    line::<Outcome>(&[("event", "outcome")]),
    line::<Fatal>(&[("event", "fatal")]),
    line::<Noise>(&[("event", "noise")]),
    line::<Unknown>(&[("event", "unknown")]),
    line::<Input>(&[("input", "")]),
];

/// The first line.
#[derive(JsonSchema)]
struct Header {
    /// `events`.
    agentglot: String,
    version: u64,
    /// The dialect that the events were read from.
    source: Option<String>,
    /// The byte of that log at which the session begins, from 0; without it, unknown or 0.
    at: Option<u64>,
}

/// How a line was spelled that the next lines were stored of.
#[derive(JsonSchema)]
struct Spelling {
    agentglot: String,
    /// What it was read as.
    format: String,
    /// How many lines follow that were stored of it.
    lines: u64,
    /// Whether those are still the same.
    check: String,
    line: Option<String>,
    /// The line in hexadecimal digits, where it is no UTF-8.
    bytes: Option<String>,
}

/// What every event has.
#[derive(JsonSchema)]
struct Common {
    event: String,
    session: Option<String>,
    id: Option<String>,
    /// The call whose subagent speaks.
    parent: Option<String>,
    turn: Option<String>,
    time: Option<String>,
    time_ms: Option<Value>,
    time_s: Option<Value>,
    fields: Option<Vec<Field>>,
}

/// A member that only the source dialect knows.
#[derive(JsonSchema)]
struct Field {
    key: String,
    at: Option<String>,
    block: Option<u64>,
    known: Option<bool>,
}

/// Something about the session.
#[derive(JsonSchema)]
struct Notice {
    name: String,
    topic: String,
    message: Option<String>,
}

/// Text in the user's role.
#[derive(JsonSchema)]
struct Prompt {
    source: String,
    content: Value,
}

/// A block begins in pieces.
#[derive(JsonSchema)]
struct BlockStart {
    index: u64,
    block: Object,
}

/// A piece of a block, or its end.
#[derive(JsonSchema)]
struct Piece {
    index: u64,
    text: Option<String>,
    thinking: Option<String>,
    input: Option<String>,
}

/// Whole blocks of a reply.
#[derive(JsonSchema)]
struct Reply {
    round: Option<String>,
    model: Option<String>,
    blocks: Vec<Object>,
    stop: Option<String>,
    usage: Option<Object>,
    last: Option<bool>,
}

/// What came of a call.
#[derive(JsonSchema)]
struct ToolResult {
    call: String,
    name: Option<String>,
    /// success, error, denied or canceled.
    status: String,
    is_error: Option<bool>,
}

/// A call on its way.
#[derive(JsonSchema)]
struct ToolProgress {
    call: String,
    status: Option<String>,
}

/// Output for a terminal.
#[derive(JsonSchema)]
struct Terminal {
    text: Option<String>,
    channel: Option<String>,
    source: Option<String>,
    spans: Option<Vec<Value>>,
    ansi: Option<Vec<Value>>,
    level: Option<String>,
    raw_ansi: Option<String>,
}

/// A question of the control channel.
#[derive(JsonSchema)]
struct Request {
    request_id: Option<String>,
    subtype: String,
    permission: Option<Object>,
}

/// An answer of the control channel.
#[derive(JsonSchema)]
struct Response {
    request_id: Option<String>,
    ok: bool,
}

/// How the turn ended.
#[derive(JsonSchema)]
struct Outcome {
    outcome: String,
    is_error: bool,
    synthetic: Option<bool>,
    text: Option<String>,
    error: Option<String>,
    usage: Option<Object>,
    stop: Option<String>,
}

/// The program ends with an error.
#[derive(JsonSchema)]
struct Fatal {
    message: String,
}

/// Text that is no JSON.
#[derive(JsonSchema)]
struct Noise {
    text: String,
}

/// JSON of no type that the dialect knows.
#[derive(JsonSchema)]
struct Unknown {
    line: Value,
}

/// What a host says.
#[derive(JsonSchema)]
struct Input {
    input: String,
}
