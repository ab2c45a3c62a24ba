//! The OpenAI-style RFC of Qwen Code: `chat.completion` and `chat.completion.chunk` lines with annotations (docs/qwen.md).
//!
//! Two texts describe it and no program ever wrote it. Every spelling of both texts, and of the lines that the program ships in
//! its place, is read; one is written: the one that docs/qwen.md decides on, with two complete logs as examples.
//!
//! A log of somebody else's may lack the summary that ends a turn. Then the last reply's `finish_reason` is the outcome, as
//! soon as something shows that the turn does not go on: the end of the log, another session, a receipt, a request of the host.

mod annotations;
mod answer;
mod chunk;
mod completion;
mod decode;
mod display;
mod encode;
mod encode_annotation;
mod encode_chunk;
mod encode_input;
mod encode_piece;
mod encode_reply;
mod encode_side;
mod facts;
pub(crate) mod fields;
mod finish;
mod input;
mod learnt;
mod line;
mod metadata;
mod own;
mod program;
mod read_display;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;
mod side;
mod tasks;
mod teller;
#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::snake_tools;
use crate::vendor::{Facts, Logs, Vendor};

/// Replies piece by piece.
const STREAM_CHUNK_JSON: Mode = Mode::new("stream-chunk-json", Layout::Pieces);

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "qwen",
    about: "the OpenAI-style RFC of Qwen Code (chat.completion, chat.completion.chunk)",
    modes: &[Mode::STREAM_JSON, STREAM_CHUNK_JSON, Mode::TEXT],
    decoder: |_| Decoder::default().into(),
    host_decoder: Some(|| Decoder::of_host().into()),
    encoder: Some(|style| Encoder::new(style).into()),
    stores: &[],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: crate::launch::shared_flags::PERMISSION_MODES,
    tools: Some(&snake_tools::TOOLS),
    detail: Some(&read_display::DETAIL),
    logs: Logs {
        arguments_at: "/choices/0/message/tool_calls/0/function/arguments",
        facts: Facts::Usual,
        host_answers: true,
        usage_at: &["/usage"],
        ..Logs::USUAL
    },
};
