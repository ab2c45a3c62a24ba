//! Signs of ShareGPT.

use super::decode::keys;
use crate::codec::Dialect::Sharegpt;
use crate::detect::{Evidence, Opened, PROOF};

/// What the value says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let first = line.get("conversations")?.elements().next()?;
    let is_one = keys(first).iter().all(|key| first.get(key).is_some());
    is_one.then(|| Evidence::new(Sharegpt, PROOF, "conversations that say who said what"))
}
