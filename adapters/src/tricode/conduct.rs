//! How `tricode` behaves towards its host: docs/tricode.md. It reads a prompt and, where it asks in plain text, a choice.

use super::ask::{AGAIN, CLOSED, Choice};
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread, Typed};
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

    fn asks_in_text(&self) -> bool {
        true
    }

    /// Recorded: `perm_deny`, `perm_terminate`, `perm_eof`.
    fn typed(&self, line: Option<&str>, tool: &str) -> Typed {
        match line.map(Choice::read) {
            Some(Some(Choice::Once)) => Typed::Allow,
            Some(Some(Choice::Always)) => Typed::AllowTool,
            Some(Some(Choice::Deny)) => Typed::Deny(format!("User denied {tool} operation")),
            Some(Some(Choice::Stop)) => Typed::Stop {
                prints: "",
                why: format!("User denied {tool} operation and requested termination"),
            },
            Some(None) => Typed::Unclear(AGAIN),
            None => Typed::Stop {
                prints: CLOSED,
                why: format!("User cancelled {tool} operation"),
            },
        }
    }
}
