//! The lines of the `qwen` program.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::{
    ControlCancel, ControlRequest, ControlResponse, HostRequest, McpServer, Message, Object, Prompt, Reply, StreamEvent, System, Usage,
};
use crate::schema::{Line, Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: AGENT,
        tags: &["type"],
    },
    host: Some(Side {
        lines: HOST,
        tags: &["type"],
    }),
};

const AGENT: &[Line] = &[
    line::<Assistant>(&[("type", "assistant")]),
    line::<User>(&[("type", "user")]),
    line::<System>(&[("type", "system")]),
    line::<Init>(&[("type", "system"), ("subtype", "init")]),
    line::<Data>(&[("type", "system"), ("subtype", "retry")]),
    line::<Data>(&[("type", "system"), ("subtype", "task_started")]),
    line::<Data>(&[("type", "system"), ("subtype", "task_notification")]),
    line::<Outcome>(&[("type", "result")]),
    line::<StreamEvent>(&[("type", "stream_event")]),
    line::<ControlRequest>(&[("type", "control_request")]),
    line::<ControlResponse>(&[("type", "control_response")]),
    line::<ControlCancel>(&[("type", "control_cancel_request")]),
];

const HOST: &[Line] = &[
    line::<Prompt>(&[("type", "user")]),
    line::<HostRequest>(&[("type", "control_request")]),
    line::<ControlResponse>(&[("type", "control_response")]),
    line::<ControlCancel>(&[("type", "control_cancel_request")]),
];

/// What the model says: a whole reply, or some blocks of it.
#[derive(JsonSchema)]
struct Assistant {
    message: Reply,
    session_id: Option<String>,
    uuid: Option<String>,
    /// The call whose subagent speaks.
    parent_tool_use_id: Option<String>,
    error: Option<Value>,
}

/// The user's side: prompts that are said again, results of tools.
#[derive(JsonSchema)]
struct User {
    message: Message,
    session_id: Option<String>,
    uuid: Option<String>,
    parent_tool_use_id: Option<String>,
}

/// A turn begins: the session's facts.
#[derive(JsonSchema)]
struct Init {
    session_id: String,
    cwd: Option<String>,
    model: Option<String>,
    tools: Option<Vec<String>>,
    mcp_servers: Option<Vec<McpServer>>,
    permission_mode: Option<String>,
    slash_commands: Option<Vec<String>>,
    qwen_code_version: Option<String>,
    agents: Option<Vec<Value>>,
}

/// Something about the session that has data of its own.
#[derive(JsonSchema)]
struct Data {
    data: Object,
}

/// How a turn ended.
#[derive(JsonSchema)]
struct Outcome {
    subtype: String,
    session_id: String,
    is_error: bool,
    duration_ms: f64,
    duration_api_ms: Option<f64>,
    num_turns: Option<u64>,
    result: Option<String>,
    usage: Option<Usage>,
    permission_denials: Option<Vec<Value>>,
    error: Option<Failure>,
}

/// What went wrong.
#[derive(JsonSchema)]
struct Failure {
    message: String,
}
