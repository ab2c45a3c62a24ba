//! Signs of ShareGPT.

use crate::codec::Dialect::Sharegpt;
use crate::detect::{Evidence, Opened, PROOF};

/// What the value says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let first = line.get("conversations")?.elements().next()?;
    let is_one = first.get("from").is_some() && first.get("value").is_some();
    is_one.then(|| Evidence::new(Sharegpt, PROOF, "conversations with from and value"))
}
