//! What the program says of a turn that failed, and what that means.

use std::borrow::Cow;

use crate::blocks::api_error::named_status;
use crate::event::{Limit, Outcome, OutcomeKind, Place, StopKind};
use crate::json::{Out, Str};

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

/// The app-server's word for what went wrong (`codexErrorInfo`), as JSON, as far as the words of the failure tell.
pub(super) fn info(message: Str<'_>) -> Cow<'static, str> {
    if message.as_escaped().starts_with(FULL) {
        return Cow::Borrowed("\"contextWindowExceeded\"");
    }
    match named_status(&message.unescape()) {
        None | Some(400) => Cow::Borrowed("\"other\""),
        Some(500) => Cow::Borrowed("\"internalServerError\""),
        Some(503 | 529) => Cow::Borrowed("\"serverOverloaded\""),
        Some(429) => Cow::Borrowed("{\"responseTooManyFailedAttempts\":{\"httpStatusCode\":429}}"),
        Some(status) => Cow::Owned(format!("{{\"httpConnectionFailed\":{{\"httpStatusCode\":{status}}}}}")),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As codex-cli 0.171.0 has it for these words.
    #[test]
    fn what_went_wrong_is_told_by_a_word() {
        for (message, word) in [
            ("{\\\"error\\\": {\\\"message\\\": \\\"scripted bad request\\\"}}", "\"other\""),
            (
                "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1:1/v1/responses",
                "{\"httpConnectionFailed\":{\"httpStatusCode\":401}}",
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                "{\"responseTooManyFailedAttempts\":{\"httpStatusCode\":429}}",
            ),
            (
                "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
                "\"contextWindowExceeded\"",
            ),
            ("stream disconnected before completion: scripted failure", "\"other\""),
            ("Incomplete response returned, reason: max_output_tokens", "\"other\""),
            ("API Error: 500 boom", "\"internalServerError\""),
        ] {
            assert_eq!(info(Str::trusted(message)), word, "{message}");
        }
    }
}
