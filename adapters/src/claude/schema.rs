//! Claude Code's lines.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::{
    Assistant, ControlCancel, ControlRequest, ControlResponse, HostRequest, McpServer, Object, Prompt, StreamEvent, System, Usage, User,
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
    line::<ApiRetry>(&[("type", "system"), ("subtype", "api_retry")]),
    line::<CompactBoundary>(&[("type", "system"), ("subtype", "compact_boundary")]),
    line::<HookStarted>(&[("type", "system"), ("subtype", "hook_started")]),
    line::<HookResponse>(&[("type", "system"), ("subtype", "hook_response")]),
    line::<Status>(&[("type", "system"), ("subtype", "status")]),
    line::<StateChanged>(&[("type", "system"), ("subtype", "session_state_changed")]),
    line::<Task>(&[("type", "system"), ("subtype", "task_started")]),
    line::<Task>(&[("type", "system"), ("subtype", "task_progress")]),
    line::<Task>(&[("type", "system"), ("subtype", "task_updated")]),
    line::<Task>(&[("type", "system"), ("subtype", "task_notification")]),
    line::<PermissionDenied>(&[("type", "system"), ("subtype", "permission_denied")]),
    line::<Informational>(&[("type", "system"), ("subtype", "informational")]),
    line::<ThinkingTokens>(&[("type", "system"), ("subtype", "thinking_tokens")]),
    line::<Outcome>(&[("type", "result")]),
    line::<StreamEvent>(&[("type", "stream_event")]),
    line::<ControlRequest>(&[("type", "control_request")]),
    line::<ControlResponse>(&[("type", "control_response")]),
    line::<ControlCancel>(&[("type", "control_cancel_request")]),
    line::<TranscriptMirror>(&[("type", "transcript_mirror")]),
    line::<CommandLifecycle>(&[("type", "command_lifecycle")]),
];

const HOST: &[Line] = &[
    line::<Prompt>(&[("type", "user")]),
    line::<HostRequest>(&[("type", "control_request")]),
    line::<ControlResponse>(&[("type", "control_response")]),
    line::<ControlCancel>(&[("type", "control_cancel_request")]),
    line::<Environment>(&[("type", "update_environment_variables")]),
];

/// A turn begins: the session's facts.
#[derive(JsonSchema)]
struct Init {
    cwd: String,
    session_id: String,
    model: String,
    tools: Vec<String>,
    mcp_servers: Option<Vec<McpServer>>,
    #[schemars(rename = "permissionMode")]
    permission_mode: Option<String>,
    slash_commands: Option<Vec<String>>,
    #[schemars(rename = "apiKeySource")]
    api_key_source: Option<String>,
    claude_code_version: Option<String>,
    agents: Option<Vec<Value>>,
}

/// A model call failed and is tried again.
#[derive(JsonSchema)]
struct ApiRetry {
    attempt: u64,
    max_retries: u64,
    retry_delay_ms: f64,
    error_status: Option<u64>,
    error: Option<String>,
}

/// The conversation was made shorter.
#[derive(JsonSchema)]
struct CompactBoundary {
    compact_metadata: Object,
}

/// A hook begins.
#[derive(JsonSchema)]
struct HookStarted {
    hook_id: String,
    hook_name: String,
    hook_event: String,
}

/// A hook has run.
#[derive(JsonSchema)]
struct HookResponse {
    hook_id: String,
    hook_name: String,
    hook_event: String,
    output: Option<String>,
    stdout: Option<String>,
    stderr: Option<String>,
    exit_code: Option<i64>,
    outcome: Option<String>,
}

/// What the program does now; `null` when it is done with it.
#[derive(JsonSchema)]
struct Status {
    status: Option<String>,
}

/// The session is idle, runs, or waits.
#[derive(JsonSchema)]
struct StateChanged {
    state: String,
}

/// A subagent or a command in the background.
#[derive(JsonSchema)]
struct Task {
    task_id: String,
    tool_use_id: Option<String>,
    status: Option<String>,
    description: Option<String>,
}

/// A call was refused without a question.
#[derive(JsonSchema)]
struct PermissionDenied {
    tool_name: String,
    tool_use_id: String,
    message: Option<String>,
}

/// A text for people.
#[derive(JsonSchema)]
struct Informational {
    content: String,
    level: Option<String>,
}

/// How much the model has thought so far.
#[derive(JsonSchema)]
struct ThinkingTokens {
    estimated_tokens: u64,
    estimated_tokens_delta: u64,
}

/// How a turn ended.
#[derive(JsonSchema)]
struct Outcome {
    subtype: String,
    is_error: bool,
    session_id: String,
    duration_ms: Option<f64>,
    duration_api_ms: Option<f64>,
    num_turns: Option<u64>,
    result: Option<String>,
    errors: Option<Vec<String>>,
    stop_reason: Option<String>,
    total_cost_usd: Option<f64>,
    usage: Option<Usage>,
    #[schemars(rename = "modelUsage")]
    model_usage: Option<Object>,
    permission_denials: Option<Vec<Value>>,
    structured_output: Option<Value>,
}

/// What was written to the transcript.
#[derive(JsonSchema)]
struct TranscriptMirror {
    #[schemars(rename = "filePath")]
    file_path: String,
    entries: Vec<Value>,
}

/// How far a command of the user's is.
#[derive(JsonSchema)]
struct CommandLifecycle {
    command_uuid: String,
    state: String,
}

/// Variables that commands get from now on.
#[derive(JsonSchema)]
struct Environment {
    variables: BTreeMap<String, String>,
}
