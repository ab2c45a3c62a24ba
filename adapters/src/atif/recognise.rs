//! Signs of ATIF.

use crate::codec::Dialect::Atif;
use crate::detect::{Evidence, Opened, PROOF};

/// What the value says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let is_one = line.word("schema_version").starts_with("ATIF");
    is_one.then(|| Evidence::new(Atif, PROOF, "a schema_version of ATIF"))
}
