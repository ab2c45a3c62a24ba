//! What the API streams, the data of each event; and sessions as lists of messages.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[
            line::<Chunk>(&[("choices", "")]),
            line::<Failure>(&[("error", "")]),
            line::<Session>(&[("messages", "")]),
        ],
        tags: &["choices", "error", "messages"],
    },
    host: None,
};

/// A chunk of a reply.
#[derive(JsonSchema)]
struct Chunk {
    id: Option<String>,
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Object>,
}

/// One of the replies.
#[derive(JsonSchema)]
struct Choice {
    index: Option<u64>,
    delta: Option<Object>,
    finish_reason: Option<String>,
}

/// The API failed.
#[derive(JsonSchema)]
struct Failure {
    error: Option<Object>,
}

/// A session.
#[derive(JsonSchema)]
struct Session {
    messages: Vec<Message>,
    /// Functions, as the API takes them.
    tools: Option<Vec<Object>>,
    parallel_tool_calls: Option<bool>,
    model: Option<String>,
}

/// What somebody says.
#[derive(JsonSchema)]
struct Message {
    /// `system`, `developer`, `user`, `assistant`, `tool` or `function`.
    role: String,
    content: Option<Content>,
    /// What the model thought.
    reasoning_content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
    /// Of a tool: the call's.
    tool_call_id: Option<String>,
    name: Option<String>,
    weight: Option<u64>,
}

/// A text, or parts.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Object>),
}

/// A tool is called.
#[derive(JsonSchema)]
struct Call {
    id: Option<String>,
    r#type: Option<String>,
    function: Option<Object>,
}
