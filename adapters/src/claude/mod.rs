//! Claude Code: `stream-json`, `json` and `text`, as CLI 2.1.329 writes them (docs/claude.md).

pub mod args;
pub mod conduct;
mod control;
mod decode;
mod decode_result;
mod decode_system;
mod encode;
mod encode_control;
mod encode_result;
mod encode_stream;
mod encode_system;
mod encode_turn;
pub(crate) mod fields;
mod frames;
mod input;
mod line;
pub(crate) mod recognise;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::blocks::{Signature, StartForm, UsageForm, Vocabulary};
use crate::codec::Dialect;

/// How Claude Code uses Anthropic's vocabulary: as the API does.
static WORDS: Vocabulary = Vocabulary {
    dialect: Dialect::Claude,
    signature: Signature::Seal,
    usage: UsageForm::Split,
    start: StartForm::Full,
    knows: fields::knows,
};

/// Where a control request has its body.
const REQUEST: &str = "/request";
/// Where a control response has its body.
const RESPONSE: &str = "/response";
