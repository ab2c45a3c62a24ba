//! A session, as a JSON Schema.

// The types say what sessions have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[line::<Session>(&[("conversations", "")])],
        tags: &["conversations"],
    },
    host: None,
};

/// A session.
#[derive(JsonSchema)]
struct Session {
    id: Option<String>,
    conversations: Vec<Said>,
    system: Option<String>,
    tools: Option<Tools>,
    images: Option<Vec<String>>,
}

/// What somebody says.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Said {
    Named {
        /// `human`, `gpt`, `function_call`, `observation`, `tool` or `system`.
        from: String,
        value: Option<String>,
    },
    /// The same in OpenAI's words.
    InRoles { role: String, content: Option<String> },
}

/// JSON in a text, or a list.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Tools {
    Text(String),
    List(Vec<Object>),
}
