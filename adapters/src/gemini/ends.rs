//! How runs end: what the program calls their errors, and with which code it exits.

use std::borrow::Cow;

use super::{CANCELLED, FATAL, FATAL_TOOL, TURN_LIMIT, UNKNOWN};
use crate::blocks::api_error;
use crate::event::{Limit, OutcomeKind, Place};
use crate::json::{Out, Str};

/// The exit code of a run that took too many rounds.
const TURNS: u16 = 53;
/// That of one that a tool ended.
const TOOL: u16 = 54;
/// That of one that somebody stopped.
const STOPPED: u16 = 130;

/// What the program calls the error of a run that ended so.
pub(super) const fn error_type(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Limit(Limit::Turns) => TURN_LIMIT,
        OutcomeKind::Cancelled => CANCELLED,
        OutcomeKind::Failed(Place::Tool) => FATAL_TOOL,
        OutcomeKind::Failed(Place::Backend) => FATAL,
        _ => UNKNOWN,
    }
}

/// The code of an error: the exit code that stands for it, or the HTTP status that its text names.
pub(super) fn error_code(kind: OutcomeKind, error: Option<Str<'_>>) -> u16 {
    let status = || error.and_then(|error| api_error::named_status(&error.unescape()));
    code_of(kind, status)
}

/// The same as the program exits with it: of a status eight bits are left, and a run whose reader gets text says none.
pub(super) fn exit_code(kind: OutcomeKind, status: Option<u16>, is_text: bool) -> u8 {
    let [_, low] = code_of(kind, || status.filter(|_| !is_text)).to_be_bytes();
    low
}

fn code_of(kind: OutcomeKind, status: impl FnOnce() -> Option<u16>) -> u16 {
    match kind {
        OutcomeKind::Limit(Limit::Turns) => TURNS,
        OutcomeKind::Failed(Place::Tool) => TOOL,
        OutcomeKind::Cancelled => STOPPED,
        _ => status().unwrap_or(1),
    }
}

/// What the program tells people of a turn that ended so, and keeps with its session. Of each kind the first is written.
const TOLD: [(OutcomeKind, &str); 10] = [
    (OutcomeKind::Refused, "Response stopped due to safety reasons."),
    (OutcomeKind::Refused, "Response stopped due to recitation policy."),
    (OutcomeKind::Refused, "Response stopped due to forbidden terms."),
    (OutcomeKind::Refused, "Response stopped due to prohibited content."),
    (
        OutcomeKind::Refused,
        "Response stopped due to sensitive personally identifiable information.",
    ),
    (OutcomeKind::Refused, "Response stopped due to image safety violations."),
    (OutcomeKind::Refused, "Response stopped due to prohibited image content."),
    (OutcomeKind::Limit(Limit::Tokens), "Response truncated due to token limits."),
    (OutcomeKind::Cancelled, "Request cancelled."),
    (OutcomeKind::Cancelled, "User cancelled the request."),
];
/// The same of the limit of turns, which is named behind it.
const TURNS_TOLD: &str = "The session has reached the maximum number of turns";

/// How a turn ended of which people are told this.
pub(super) fn told(text: &str) -> Option<OutcomeKind> {
    if text.starts_with(TURNS_TOLD) {
        return Some(OutcomeKind::Limit(Limit::Turns));
    }
    let is_told = |words: &str| text.ends_with(words) || text.starts_with(words);
    TOLD.iter().find(|(_, words)| is_told(words)).map(|(kind, _)| *kind)
}

/// What the error of a run means.
pub(super) fn why(kind: &str, message: &str) -> OutcomeKind {
    match kind {
        TURN_LIMIT => OutcomeKind::Limit(Limit::Turns),
        CANCELLED => OutcomeKind::Cancelled,
        FATAL_TOOL => OutcomeKind::Failed(Place::Tool),
        // Authentication, input, sandbox, settings, an untrusted folder.
        fatal if fatal.starts_with("Fatal") => OutcomeKind::Failed(Place::Backend),
        _ => told(message)
            .or_else(|| OutcomeKind::named(message))
            .unwrap_or(OutcomeKind::Failed(Place::Model)),
    }
}

/// What is said of a run that ended so, for who reads it in an error of the type for it. An agent of ours says what the program says.
pub(super) fn message<'t>(kind: OutcomeKind, text: Option<Str<'t>>, agent: bool, out: &Out) -> Cow<'t, str> {
    let own = telling(kind).or(kind.prefix()).filter(|_| !agent || text.is_none());
    kind.message(text, own, |message| why(error_type(kind), message), "/error/message", out)
}

/// What people are told of it, where the program has words for that.
pub(super) fn telling(kind: OutcomeKind) -> Option<&'static str> {
    match kind {
        OutcomeKind::Limit(Limit::Turns) => Some(TURNS_TOLD),
        _ => TOLD.iter().find(|(of, _)| *of == kind).map(|(_, words)| *words),
    }
}
