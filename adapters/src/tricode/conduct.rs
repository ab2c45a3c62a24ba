//! How `tricode` behaves towards its host: docs/tricode.md. It reads a prompt and, where it asks in plain text, a choice.

use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, OutcomeKind, Request};

/// The program itself.
#[derive(Clone, Copy, Debug)]
pub struct Tricode;

impl Conduct for Tricode {
    fn version(&self) -> &'static str {
        "341a160"
    }

    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("no control channel: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, _line: &Misread<'_>) -> Damage {
        Damage::Ignored
    }

    /// A failed model call is told in the stream and exits with 0; only a run that was stopped exits with 1.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.outcome == Some(OutcomeKind::Cancelled))
    }
}
