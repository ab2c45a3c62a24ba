//! The protocol's messages, as a JSON Schema. The parameters of most methods are not described.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::{Line, Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: LINES,
        tags: &["method", "result", "error", "msg"],
    },
    host: None,
};

const LINES: &[Line] = &[
    line::<Update>(&[("method", "session/update")]),
    line::<Prompt>(&[("method", "session/prompt")]),
    line::<Permission>(&[("method", "session/request_permission")]),
];

/// Something is new in a session.
#[derive(JsonSchema)]
struct Update {
    params: UpdateParams,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    session_id: String,
    update: News,
}

/// What is new; the other members depend on what it is.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct News {
    session_update: String,
}

/// The host's prompt. In version 1 its answer is the turn's outcome.
#[derive(JsonSchema)]
struct Prompt {
    id: Value,
    params: PromptParams,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PromptParams {
    session_id: String,
    prompt: Vec<Value>,
}

/// The agent asks whether a tool may run.
#[derive(JsonSchema)]
struct Permission {
    id: Value,
    params: PermissionParams,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PermissionParams {
    session_id: String,
    options: Vec<Value>,
}
