//! `opencode:export`: a session as `opencode export` prints it and `opencode import` takes it (docs/opencode.md).
//!
//! One document: what is known of the session, and its messages, each with its parts. Of a message's parts the texts, thoughts, calls and
//! ends of rounds are those of a run. The server gives the messages alone, as an array; that is read too.

mod decode;
mod encode;
mod fields;
mod message;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::event::At;
use crate::store::Store;

/// Its mode.
pub(super) const MODE: Mode = Mode::new("export", Layout::Session);

/// What it says of itself.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: fields::KNOWN,
    subagents: None,
    chain: None,
};

/// Where a session, or a message, has what is known of it.
const INFO: At<'static> = At::Part("/info");
