//! A small session inside the program, to try everything with no key and no network.

use super::replay::{Asked, Live, Pace, Replay, ScriptError};
use crate::adapters::raw::codec::Dialect;

/// Text, thinking, a tool call that asks for permission, a subagent, an error: three turns, as Claude Code would write them.
const LOG: &[u8] = include_bytes!("demo.jsonl");

/// The same, if the permission is not given.
const DENIED: &[u8] = include_bytes!("demo-denied.jsonl");

/// The demonstration.
///
/// # Errors
/// None that a build does not show: the log is part of the program.
pub fn demo(live: &Live) -> Result<Replay, ScriptError> {
    let read = |log| Replay::new(Dialect::Claude, log, &Asked::default(), live, Pace::Full);
    Ok(read(LOG)?.or_if_denied(read(DENIED)?))
}
