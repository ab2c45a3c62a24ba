//! What the built-in agent does, as spans of OpenTelemetry: a turn, its rounds with the model, its tools.
//!
//! Spans are sent where `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT` says; without either there are none. Nothing
//! waits for that but the end of the agent, and that no longer than [`LAST`]; what cannot be sent, and what is too much, is lost. No span
//! holds a prompt, an answer, an argument, or a result.
//!
//! `TRACEPARENT` (W3C Trace Context) is the parent of turns. Commands get it as a variable and models as a header, with the span that they
//! belong to; without an exporter, or when the parent is not sampled, it is handed on as it came.

use std::fmt::Write as _;
use std::time::Duration;

#[cfg(feature = "traces")]
mod spans;

#[cfg(not(feature = "traces"))]
#[path = "telemetry/none.rs"]
mod spans;

pub use spans::{Span, flush, traceparent};

/// How long the end of the agent waits for the last spans.
pub const LAST: Duration = Duration::from_secs(1);

/// The name of a kind of error as attributes have it: `TooLong` is `too_long`.
pub fn word(kind: &impl std::fmt::Debug) -> String {
    let mut word = String::new();
    for letter in format!("{kind:?}").chars().take_while(|letter| letter.is_alphanumeric()) {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        let _ = write!(word, "{}", letter.to_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_words() {
        #[derive(Debug)]
        #[allow(dead_code, reason = "it is there to be printed")]
        enum Kind {
            TooLong,
            Failed(u8),
        }
        assert_eq!((word(&Kind::TooLong).as_str(), word(&Kind::Failed(1)).as_str()), ("too_long", "failed"));
    }
}
