//! The lines of a transcript.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::{Message, Object, Reply};
use crate::schema::{Line, Side, line};

pub(super) static SIDE: Side = Side {
    lines: LINES,
    tags: &["type"],
};

const LINES: &[Line] = &[
    line::<User>(&[("type", "user")]),
    line::<Assistant>(&[("type", "assistant")]),
    line::<System>(&[("type", "system")]),
    line::<Attachment>(&[("type", "attachment")]),
    line::<LastPrompt>(&[("type", "last-prompt")]),
    line::<Summary>(&[("type", "summary")]),
    line::<Title>(&[("type", "custom-title")]),
    line::<Queue>(&[("type", "queue-operation")]),
    line::<Snapshot>(&[("type", "file-history-snapshot")]),
    line::<Cost>(&[("type", "cost-state")]),
    line::<Tools>(&[("type", "tools-used")]),
    line::<Request>(&[("type", "api-request")]),
    line::<RequestBlob>(&[("type", "api-request-blob")]),
    line::<RequestShape>(&[("type", "api-request-shape")]),
];

/// What every line of the conversation has. Without `uuid`, `parentUuid` and `timestamp` the program goes on with none of what stands before it.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Chained {
    uuid: Option<String>,
    /// The line before it in the conversation; `null` for the first.
    parent_uuid: Option<String>,
    timestamp: Option<String>,
    /// The line is a subagent's.
    is_sidechain: Option<bool>,
    session_id: Option<String>,
    cwd: Option<String>,
    version: Option<String>,
    git_branch: Option<String>,
    /// The subagent whose line it is.
    agent_id: Option<String>,
}

/// A prompt, or the result of a call.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct User {
    message: Message,
    prompt_id: Option<String>,
    permission_mode: Option<String>,
    /// Of a result: the tool's own object, or a text that says what failed.
    tool_use_result: Option<Value>,
    /// Of a result: the line of its call.
    #[serde(rename = "sourceToolAssistantUUID")]
    source: Option<String>,
    /// The program's own words.
    is_meta: Option<bool>,
    is_compact_summary: Option<bool>,
    is_visible_in_transcript_only: Option<bool>,
    #[serde(flatten)]
    line: Chained,
}

/// A block of a reply. All lines of a reply have one `message.id`, and its usage each.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Assistant {
    message: Reply,
    request_id: Option<String>,
    /// Which block of the reply it is.
    api_block_index: Option<u64>,
    /// The program's own message about a model call that failed.
    is_api_error_message: Option<bool>,
    api_error_status: Option<u64>,
    #[serde(flatten)]
    line: Chained,
}

/// A notice: `api_error`, `compact_boundary`, `stop_hook_summary`, `informational`, `local_command` …
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct System {
    subtype: String,
    content: Option<String>,
    /// Of a compaction: the line before it, which the chain does not lead to.
    logical_parent_uuid: Option<String>,
    compact_metadata: Option<Object>,
    retry_attempt: Option<u64>,
    max_retries: Option<u64>,
    #[serde(flatten)]
    line: Chained,
}

/// What the model is told beside the conversation.
#[derive(JsonSchema)]
struct Attachment {
    attachment: Typed,
    #[serde(flatten)]
    line: Chained,
}

#[derive(JsonSchema)]
struct Typed {
    r#type: String,
}

/// Which line the conversation goes on from.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LastPrompt {
    last_prompt: Option<String>,
    leaf_uuid: Option<String>,
    session_id: Option<String>,
}

/// What a conversation was about.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    summary: String,
    leaf_uuid: Option<String>,
}

/// The title that the user gave the session.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Title {
    custom_title: String,
    session_id: Option<String>,
}

/// A prompt that waits, or waits no longer.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Queue {
    /// `enqueue`, `dequeue`, `remove` or `popAll`.
    operation: String,
    content: Option<Value>,
    timestamp: Option<String>,
    session_id: Option<String>,
}

/// The files as they were before a prompt.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Snapshot {
    message_id: String,
    snapshot: Object,
    is_snapshot_update: Option<bool>,
}

/// What the session has taken so far.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cost {
    session_id: Option<String>,
    #[serde(rename = "totalCostUSD")]
    total_cost: f64,
    #[serde(rename = "totalAPIDuration")]
    total_api_duration: Option<u64>,
    total_duration: Option<u64>,
    total_lines_added: Option<u64>,
    total_lines_removed: Option<u64>,
    /// What each model took.
    model_usage: Option<Object>,
}

/// The tools that were called so far.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tools {
    tools: Vec<String>,
    session_id: Option<String>,
}

/// A call of the model: the request before it, and what is new.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Request {
    id: String,
    base: Option<String>,
    keep: Option<u64>,
    params: Option<Object>,
    tail: Option<Vec<Value>>,
    shape_hash: Option<String>,
}

/// A message of requests, by its hash.
#[derive(JsonSchema)]
struct RequestBlob {
    hash: String,
    message: Object,
}

/// The system prompt and the tools of requests, by their hash.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RequestShape {
    shape_hash: String,
    shape: Object,
}
