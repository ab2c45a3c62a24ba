//! Signs of the canonical events (docs/agentglot.md).

use crate::codec::Dialect::Agentglot;
use crate::detect::{Evidence, HINT, Opened, PROOF};

/// What the line says for the canonical events.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    match () {
        () if line.has("agentglot") => Some(Evidence::new(Agentglot, PROOF, "a line with the member agentglot")),
        () if !line.word("event").is_empty() && line.kind.is_empty() => Some(Evidence::new(Agentglot, HINT, "a line with the member event")),
        () => None,
    }
}
