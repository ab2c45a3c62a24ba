//! `opencode:bus`: what happens in OpenCode's server, as `GET /event` streams it (docs/opencode.md).
//!
//! One event a line, bare or behind `data:`. Sessions of subagents are told with the others. It is read and never written: it is a server's,
//! not a program's.

mod decode;
mod event;
mod thread;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;

use crate::codec::{Layout, Mode};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("bus", Layout::Lines)
    .with_own_words()
    .of_many_sessions()
    .with_tokens_behind()
    .read_only();

/// The field in which an event keeps its line.
const LINE: &str = "line";
