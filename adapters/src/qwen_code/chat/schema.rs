//! The lines of a chat file.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, line};

pub(super) static SIDE: Side = Side {
    lines: &[
        line::<Said>(&[("type", "user")]),
        line::<Reply>(&[("type", "assistant")]),
        line::<ToolResult>(&[("type", "tool_result")]),
        line::<System>(&[("type", "system")]),
    ],
    tags: &["type"],
};

/// What every line has. Without `uuid`, `parentUuid` and `sessionId`, and `cwd` on the first line, the program does not go on with it.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Chained {
    uuid: Option<String>,
    /// The line before it; `null` for the first.
    parent_uuid: Option<String>,
    session_id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    version: Option<String>,
    /// Whose words they are: `real_user`, `assistant_output`, `tool_result` or `system`.
    provenance: Option<String>,
    /// The line is a subagent's.
    is_sidechain: Option<bool>,
    agent_id: Option<String>,
    agent_name: Option<String>,
}

/// A prompt; with the subtype `notification`, what came of a task in the background.
#[derive(JsonSchema)]
struct Said {
    message: Message,
    subtype: Option<String>,
    #[serde(flatten)]
    line: Chained,
}

/// A message, in the parts of the model's API.
#[derive(JsonSchema)]
struct Message {
    role: Option<String>,
    parts: Vec<Object>,
}

/// A whole reply.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Reply {
    message: Message,
    model: Option<String>,
    usage_metadata: Option<Usage>,
    #[serde(flatten)]
    line: Chained,
}

/// Tokens of a reply.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Usage {
    /// With those from the cache.
    prompt_token_count: Option<u64>,
    /// With those that were thought.
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    total_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
}

/// What came of a call.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    /// What the model sees.
    message: Message,
    /// What people see.
    tool_call_result: Option<CallResult>,
    #[serde(flatten)]
    line: Chained,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    call_id: Option<String>,
    /// `success`, `error` or `cancelled`.
    status: Option<String>,
    result_display: Option<serde_json::Value>,
}

/// A measurement, or what the program keeps for itself.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct System {
    subtype: String,
    system_payload: Option<Object>,
    #[serde(flatten)]
    line: Chained,
}
