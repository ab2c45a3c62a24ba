//! Anthropic's vocabulary, which Claude Code and Qwen Code share: content blocks, messages, usage, stream events.
//!
//! Nothing here knows a dialect by name; what differs between them is in [`Vocabulary`].
//!
//! * [`Reader`] reads: [`Reader::reply`] and [`Reader::user`] the two kinds of message object, [`Reader::content`] a text or a
//!   list of blocks, [`Reader::usage`] token counts, [`Reader::event`] the `event` object of a `stream_event` line. Each takes
//!   a cursor that stands at the value and leaves it behind the value, reads keys in any order in one walk, and appends what
//!   the model has no place for to a [`FieldList`]. Of a key that comes twice the first one is read, the second is a field.
//! * [`Writer`] writes the same objects. With [`Writer::own`] the events come from the same dialect, and everything that is
//!   only this dialect's (fields, raw usage) is written back; without it, only what the model says.
//!
//! Errors: a block, message or event of a known type that lacks what it needs, or has it in another type, is
//! [`crate::json::Why::Missing`] or [`crate::json::Why::Type`]; an optional member of the wrong type is a field that is not known.

pub(crate) mod api_error;
mod list;
mod message;
mod read;
mod stream;
mod usage;
mod write;
mod write_stream;

#[cfg(test)]
mod tests;

pub(crate) use list::list;
pub(crate) use message::{Part, Said};
pub(crate) use read::{FieldList, Members, Reader, plain, plain_key};
pub(crate) use stream::StreamEvent;
pub(crate) use usage::{COUNTS, thought};
pub(crate) use write::{Writer, member};

use crate::codec::Dialect;

/// What the dialects that use this vocabulary do differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vocabulary {
    /// Whose tools a call names ([`crate::tools::kind_of`]).
    pub(crate) dialect: Dialect,
    /// What stands in `signature`.
    pub(crate) signature: Signature,
    /// Which numbers `usage` holds.
    pub(crate) usage: UsageForm,
    /// Which members the `message` of a `message_start` has.
    pub(crate) start: StartForm,
    /// Whether the dialect's page names a member.
    pub(crate) knows: fn(&str) -> bool,
}

/// What stands in the `signature` of a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    /// The vendor's seal: Claude.
    Seal,
    /// The thought's subject, `""` for none: Qwen Code.
    Subject,
}

/// Which numbers a `usage` object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageForm {
    /// `input_tokens` (without the cache), `cache_creation_input_tokens`, `cache_read_input_tokens`, `output_tokens`.
    Split,
    /// `input_tokens` (with the cache), `output_tokens`, `cache_read_input_tokens`, `total_tokens`.
    Inclusive,
}

/// Which members the `message` of a `message_start` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartForm {
    /// The API's: `id type role model content stop_reason stop_sequence usage`.
    Full,
    /// `id role model content`.
    Bare,
}

/// Where a usage object stands, for what is told of numbers that were made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsagePlace {
    /// In the line itself: `result`.
    Line,
    /// In the message of an `assistant` line.
    Message,
    /// In the message of a `message_start`.
    Start,
}

/// Where a `stream_event` line has its event.
pub(crate) const EVENT: &str = "/event";
/// Where an event has its delta.
pub(crate) const DELTA: &str = "/event/delta";
/// Where an event has the block that begins.
pub(crate) const HEAD: &str = "/event/content_block";
/// Where an event has the message that begins.
pub(crate) const START: &str = "/event/message";
/// Where an `assistant` or `user` line has its message.
pub(crate) const MESSAGE: &str = "/message";
