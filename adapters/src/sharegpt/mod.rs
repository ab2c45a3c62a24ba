//! ShareGPT: a session as a list of what people and the model said, as LLaMA-Factory and axolotl read it (docs/sharegpt.md).
//!
//! What is said has a text and nothing else: calls are JSON in one, and thoughts stand in marks. A file is a session a line, or an array
//! of them.

mod decode;
mod encode;
pub(crate) mod fields;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;

#[cfg(test)]
mod tests;

pub use decode::Decoder;

/// Writes a session when it is over.
pub type Encoder = crate::talk::Encoder<encode::Conversations>;

use crate::codec::{Layout, Mode};
use crate::vendor::{Ends, Facts, Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "sharegpt",
    about: "sessions as lists of what was said, as LLaMA-Factory and axolotl train on them",
    modes: &[Mode::new("conversations", Layout::Session)],
    decoder: |_| Decoder::default().into(),
    host_decoder: None,
    encoder: Some(|style| Encoder::new(style).into()),
    stores: &[],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: None,
    permission_modes: &[],
    tools: None,
    detail: None,
    logs: Logs {
        facts: Facts::Usual,
        ends: Ends::Unsaid,
        ..Logs::USUAL
    },
};

/// The marks around a thought, in front of a text or of a call.
const THOUGHT: [&str; 2] = ["<think>", "</think>"];
/// The marks around calls that stand behind a text.
const CALLS: [&str; 2] = ["<tool_call>", "</tool_call>"];
/// The marks around the result of a call.
const RESULT: [&str; 2] = ["<tool_response>", "</tool_response>"];

/// A text, as the body of a string, without the blanks and line feeds around it.
fn trimmed(mut body: &str) -> &str {
    loop {
        let bare = body.trim_ascii();
        let bare = without_line_feed(bare.strip_prefix("\\n").unwrap_or(bare));
        if bare.len() == body.len() {
            return body;
        }
        body = bare;
    }
}

/// A text without the line feed that it ends with.
fn without_line_feed(body: &str) -> &str {
    // The `n` of a line feed, unless its backslash is one that is escaped.
    let shorter = body.strip_suffix("\\n");
    let shorter = shorter.filter(|rest| rest.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0);
    shorter.unwrap_or(body)
}
