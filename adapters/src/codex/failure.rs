//! What the program says of a turn that failed, and what that means.

use std::borrow::Cow;

use crate::event::{Limit, Outcome, OutcomeKind, Place, StopKind};
use crate::json::Out;

/// A filter stopped the reply.
const FILTERED: &str = "Incomplete response returned, reason: content_filter";
/// It became too long.
const CUT: &str = "Incomplete response returned, reason: max_output_tokens";
/// So did the conversation.
const FULL: &str = "Codex ran out of room in the model's context window";

/// What a turn failed of, as far as its words tell.
pub(super) fn why(message: &str) -> OutcomeKind {
    match message {
        _ if [CUT, FULL].iter().any(|words| message.starts_with(words)) => OutcomeKind::Limit(Limit::Tokens),
        _ if message.starts_with(FILTERED) => OutcomeKind::Refused,
        _ if message.starts_with("Missing environment variable") => OutcomeKind::Failed(Place::Backend),
        _ => OutcomeKind::named(message).unwrap_or(OutcomeKind::Failed(Place::Model)),
    }
}

/// What it says of a turn that ended so, as the body of a JSON string that stands at `at`: its own words where it has some for that, then
/// the source's.
pub(super) fn words<'o>(outcome: &Outcome<'o>, at: &'static str, out: &Out) -> Cow<'o, str> {
    let own = match outcome.kind {
        OutcomeKind::Refused => Some(FILTERED),
        OutcomeKind::Limit(Limit::Tokens) if outcome.stop.is_some_and(|stop| stop.kind != StopKind::Length) => Some(FULL),
        OutcomeKind::Limit(Limit::Tokens) => Some(CUT),
        kind => kind.prefix(),
    };
    outcome.kind.message(outcome.error.or(outcome.text), own, why, at, out)
}
