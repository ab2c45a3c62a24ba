//! How `cursor-agent` behaves towards its host: docs/cursor.md. It reads a prompt and nothing else.

use crate::codec::Mode;
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, Request};

/// The program itself.
#[derive(Clone, Copy, Debug)]
pub struct CursorAgent;

impl Conduct for CursorAgent {
    fn version(&self) -> &'static str {
        "2026.09.10-fd3934a"
    }

    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("no control channel: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, _line: &Misread<'_>) -> Damage {
        Damage::Ignored
    }

    /// A run that fails has no result line; the code says it.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.is_error || ended.outcome.is_none())
    }

    /// A failed turn has no line at all.
    fn tells_failures(&self, _mode: Mode) -> bool {
        false
    }

    fn echoes(&self) -> bool {
        true
    }
}
