//! Signs of Echo's lines.

use crate::codec::Dialect::Echo;
use crate::detect::{Evidence, Opened, PROOF};

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    matches!(line.word("echo"), "say" | "call" | "result" | "end").then(|| Evidence::new(Echo, PROOF, "an `echo` member"))
}
