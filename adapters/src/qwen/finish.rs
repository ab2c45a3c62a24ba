//! Which `finish_reason` stands where.

use crate::event::{Limit, Outcome, OutcomeKind, StopKind};

/// On a turn's last line: `stop`, `length` or `error`. Without usage there is no closing chunk, and the word alone tells a reader
/// whether the turn failed.
pub(super) fn of_turn(outcome: &Outcome<'_>, has_usage: bool) -> &'static str {
    let long = outcome.kind == OutcomeKind::Limit(Limit::Tokens) || outcome.stop.is_some_and(|s| s.kind == StopKind::Length);
    match (long, outcome.is_error) {
        (true, is_error) if !is_error || has_usage => "length",
        (_, true) => "error",
        _ => "stop",
    }
}

/// On a `chat.completion` without a reply: a turn that shows results goes on.
pub(super) const fn of_line(is_result: bool) -> &'static str {
    if is_result { "tool_calls" } else { "stop" }
}
