//! Echo's lines, as a JSON Schema.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[
            line::<Say>(&[("echo", "say")]),
            line::<Call>(&[("echo", "call")]),
            line::<CallResult>(&[("echo", "result")]),
            line::<End>(&[("echo", "end")]),
        ],
        tags: &["echo"],
    },
    host: None,
};

/// Text of the agent's.
#[derive(JsonSchema)]
struct Say {
    session: Option<String>,
    text: String,
}

/// The agent calls a tool.
#[derive(JsonSchema)]
struct Call {
    session: Option<String>,
    id: String,
    tool: String,
    input: Object,
}

/// What came of it.
#[derive(JsonSchema)]
struct CallResult {
    session: Option<String>,
    /// The call's.
    id: String,
    ok: bool,
    text: String,
}

/// A turn is over.
#[derive(JsonSchema)]
struct End {
    session: Option<String>,
    ok: bool,
    text: Option<String>,
    mood: Option<String>,
}
