//! `codex:app-server`: what `codex app-server` and its host say to each other (docs/codex.md).
//!
//! JSON-RPC without `jsonrpc`, one message a line: requests, answers and notifications, in both directions with ids of their own. A log is
//! the program's output as it stands, or a recording of both sides, each message below `msg` with its direction beside it (`dir`, `ms`).
//! What is said is richer than the lines of `exec`: pieces, approvals, plans, diffs; items have the names of `exec` in camel case.

mod calls;
pub(super) mod client;
mod decode;
mod encode;
mod given_up;
mod items;
mod message;
mod requests;
mod said;
pub(super) mod server;
mod write;
mod write_calls;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("app-server", Layout::Lines)
    .with_own_words()
    .of_both_sides()
    .of_many_sessions()
    .with_tokens_behind();

/// The field in which the events of a line keep it: a message says much that has no place in the model.
const LINE: &str = "line";
