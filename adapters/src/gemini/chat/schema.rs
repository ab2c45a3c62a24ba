//! The lines of a chat file.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Side, line};

pub(super) static SIDE: Side = Side {
    lines: &[
        line::<Header>(&[("projectHash", "")]),
        line::<Change>(&[("$set", "")]),
        line::<Rewind>(&[("$rewindTo", "")]),
        line::<Message>(&[("type", "user")]),
        line::<Reply>(&[("type", "gemini")]),
        line::<Message>(&[("type", "info")]),
        line::<Message>(&[("type", "warning")]),
        line::<Message>(&[("type", "error")]),
    ],
    tags: &["type", "sessionId", "$set", "$rewindTo"],
};

/// The first line of the file, and of each part that was added when the session was opened once more.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Header {
    session_id: String,
    project_hash: String,
    start_time: Option<String>,
    last_updated: Option<String>,
    /// `main` or `subagent`.
    kind: Option<String>,
    directories: Option<Vec<String>>,
}

/// The header changes; `messages` in it is the conversation anew.
#[derive(JsonSchema)]
struct Change {
    #[serde(rename = "$set")]
    set: Object,
}

/// A message and what follows it are taken back.
#[derive(JsonSchema)]
struct Rewind {
    #[serde(rename = "$rewindTo")]
    id: String,
}

/// A message: the user's, or one of the program for its user.
#[derive(JsonSchema)]
struct Message {
    id: String,
    timestamp: String,
    /// A text, or Gemini's parts.
    content: Value,
}

/// What the model said.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Reply {
    id: String,
    timestamp: String,
    content: Value,
    thoughts: Option<Vec<Object>>,
    tokens: Option<Object>,
    model: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

/// A call, with its result.
#[derive(JsonSchema)]
struct Call {
    id: String,
    name: String,
    args: Object,
    result: Option<Value>,
    status: String,
}
