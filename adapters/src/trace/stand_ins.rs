//! Texts that say what the source says, found by their addresses.

use std::collections::BTreeMap;

use super::Span;

/// Texts that say the same as parts of the line, found by their addresses.
#[derive(Default, Debug)]
pub(super) struct StandIns {
    /// By the first byte; of several that begin with one byte, in the order in which they were told.
    all: BTreeMap<(usize, usize), StandIn>,
    longest: usize,
}

#[derive(Debug)]
struct StandIn {
    to: usize,
    source: Span,
    copy: bool,
}

impl StandIn {
    /// What of the source a part touches.
    fn touched(&self, begin: usize, (from, to): Span) -> Span {
        let at = |address: usize| self.source.0 + address.clamp(begin, self.to) - begin;
        if self.copy { (at(from), at(to)) } else { self.source }
    }
}

impl StandIns {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.longest = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets all but those that were told first.
    pub(super) fn truncate(&mut self, len: usize) {
        self.all.retain(|&(_, at), _| at < len);
    }

    /// A `copy` says byte for byte what its source does: what touches a part of it touches that part of the source.
    pub(super) fn add(&mut self, (from, to): Span, source: Span, copy: bool) {
        self.all.insert((from, self.all.len()), StandIn { to, source, copy });
        self.longest = self.longest.max(to - from);
    }

    /// Those that share a byte with a part, and what they stand for.
    pub(super) fn touching(&self, (from, to): Span) -> impl Iterator<Item = (Span, Span)> {
        let near = self.all.range((from.saturating_sub(self.longest), 0)..(to, 0));
        near.filter(move |(_, stand_in)| from < stand_in.to)
            .map(move |(&(begin, _), stand_in)| ((begin, stand_in.to), stand_in.touched(begin, (from, to))))
    }
}
