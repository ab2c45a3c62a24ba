//! What model APIs stream: the data of each event.

use schemars::JsonSchema;

use super::parts::{Object, PIECES};
use super::{Line, line};

pub(super) const ANTHROPIC: &[Line] = PIECES;

pub(super) const OPENAI: &[Line] = &[line::<Chunk>(&[("choices", "")]), line::<Failure>(&[("error", "")])];

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
