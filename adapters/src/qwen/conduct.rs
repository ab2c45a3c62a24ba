//! How a program of the RFC behaves towards its host: docs/qwen.md.

use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, Request};

/// The program itself.
#[derive(Clone, Copy, Debug)]
pub struct Rfc;

impl Conduct for Rfc {
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// The RFC's hosts ask nothing over the control channel: they cancel, ask for hints and for signs of life.
    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("Unknown control request subtype: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, _line: &Misread<'_>) -> Damage {
        Damage::Ignored
    }

    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(!ended.interactive && ended.is_error)
    }

    fn can_ask(&self) -> bool {
        true
    }

    fn gives_signs_of_life(&self) -> bool {
        true
    }
}
