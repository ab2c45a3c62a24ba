//! Ids that were seen, in memory that has an end.

use std::collections::{HashSet, VecDeque};

use crate::ids;
use crate::json::Str;

/// Ids that were seen, as their hashes. More than `MOST` are forgotten, the oldest first: an id that comes again that much later is
/// taken for a new one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen<const MOST: usize> {
    ids: HashSet<u64>,
    order: VecDeque<u64>,
}

impl<const MOST: usize> Seen<MOST> {
    /// Returns whether it is a new one.
    pub(crate) fn add(&mut self, id: Str<'_>) -> bool {
        let hash = ids::hash(id.as_escaped());
        if !self.ids.insert(hash) {
            return false;
        }
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.order.push_back(hash);
        true
    }

    /// It may come again.
    pub(crate) fn forget(&mut self, id: Str<'_>) {
        self.ids.remove(&ids::hash(id.as_escaped()));
    }

    pub(crate) fn has(&self, id: Str<'_>) -> bool {
        self.ids.contains(&ids::hash(id.as_escaped()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether some were forgotten.
    pub(crate) fn is_full(&self) -> bool {
        self.order.len() == MOST
    }
}
