//! What the API streams: the data of each event.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[line::<Chunk>(&[("choices", "")]), line::<Failure>(&[("error", "")])],
        tags: &["choices", "error"],
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
