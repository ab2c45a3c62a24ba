//! How a program of the RFC behaves towards its host: docs/qwen.md.

use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, Request};
use crate::json::Raw;

/// So many characters of a line that makes no sense are said again.
const SHOWN: usize = 80;

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

    /// A prompt that cannot be read is a turn that fails; anything else that makes no sense is told.
    fn damaged(&self, line: &Misread<'_>) -> Damage {
        let shown: String = line.text.trim().chars().take(SHOWN).collect();
        let more = if line.text.trim().len() > shown.len() { "…" } else { "" };
        let why = format!("QWEN_INVALID_REQUEST: {}: {shown}{more}", line.why);
        let is_prompt = |json: Raw<'_>| json.get("type").is_none() && (json.get("input").is_some() || json.get("messages").is_some());
        if line.json.is_some_and(is_prompt) {
            Damage::FailedTurn(why.into())
        } else {
            Damage::Told(why)
        }
    }

    fn tells_faults(&self) -> bool {
        true
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
