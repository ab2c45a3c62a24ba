//! What the blocks of a long round still wait for.

use std::collections::BTreeSet;

use super::pending::Pending;

/// Finds blocks that wait for something without looking at all those that do not. Few blocks are looked at one by one; of more
/// than [`Waiting::FEW`] those are remembered that may wait, until they are looked at and do not: nothing that a block has got
/// is taken from it again.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// How many blocks have been taken up; 0 while there are few.
    seen: usize,
    unshown: BTreeSet<usize>,
    unconfirmed: BTreeSet<usize>,
    /// Blocks that are not complete, each behind the source's index.
    incomplete: BTreeSet<(u32, usize)>,
}

impl Waiting {
    /// So many blocks are looked at one by one.
    const FEW: usize = 32;

    /// The blocks are others now.
    pub(super) fn clear(&mut self) {
        if self.seen > 0 {
            *self = Self::default();
        }
    }

    /// Whether there are too many blocks to look at all of them; then what waits is known.
    #[inline]
    fn knows(&mut self, blocks: &[Pending]) -> bool {
        if blocks.len() <= Self::FEW {
            return false;
        }
        self.take_up(blocks);
        true
    }

    fn take_up(&mut self, blocks: &[Pending]) {
        for (at, block) in blocks.iter().enumerate().skip(self.seen) {
            if !block.shown {
                self.unshown.insert(at);
            }
            if !block.confirmed {
                self.unconfirmed.insert(at);
            }
            if !block.complete {
                self.incomplete.insert((block.source, at));
            }
        }
        self.seen = blocks.len();
    }

    /// The last block of the source's index `source` that is not complete.
    #[inline]
    pub(super) fn growing(&mut self, blocks: &[Pending], source: u32) -> Option<usize> {
        if blocks.last().is_some_and(|last| last.source == source && !last.complete) {
            return Some(blocks.len() - 1);
        }
        if !self.knows(blocks) {
            return blocks.iter().rposition(|block| block.source == source && !block.complete);
        }
        while let Some(&(of, at)) = self.incomplete.range((source, 0)..=(source, usize::MAX)).next_back() {
            if blocks.get(at).is_some_and(|block| !block.complete) {
                return Some(at);
            }
            self.incomplete.remove(&(of, at));
        }
        None
    }

    /// The first block that has not gone on and is wanted.
    pub(super) fn unshown(&mut self, blocks: &[Pending], wanted: impl Fn(&Pending) -> bool) -> Option<usize> {
        if !self.knows(blocks) {
            return blocks.iter().position(|block| !block.shown && wanted(block));
        }
        first(&mut self.unshown, blocks, |block| !block.shown, wanted)
    }

    /// The first block that no snapshot has confirmed or is about to, and that is wanted.
    pub(super) fn unconfirmed(&mut self, blocks: &[Pending], wanted: impl Fn(&Pending) -> bool) -> Option<usize> {
        if !self.knows(blocks) {
            return blocks.iter().position(|block| !block.confirmed && !block.taken && wanted(block));
        }
        first(&mut self.unconfirmed, blocks, |block| !block.confirmed && !block.taken, wanted)
    }

    /// The blocks before `end` that have not gone on, and `open`, which has gone on but has not ended, in their order; of few
    /// blocks all before `end`.
    pub(super) fn unsettled(&mut self, blocks: &[Pending], end: usize, open: Option<usize>) -> Unsettled {
        if !self.knows(blocks) {
            return Unsettled::All(0..end.min(blocks.len()));
        }
        let unshown = &mut self.unshown;
        let found: Vec<usize> = unshown.range(..end).copied().collect();
        let (mut waits, shown): (Vec<usize>, Vec<usize>) = found.into_iter().partition(|&at| blocks.get(at).is_some_and(|block| !block.shown));
        for at in shown {
            unshown.remove(&at);
        }
        if let Some(open) = open.filter(|&open| open < end)
            && let Err(place) = waits.binary_search(&open)
        {
            waits.insert(place, open);
        }
        Unsettled::These(waits.into_iter())
    }
}

/// The first block of a set that is wanted; those that wait no more are taken out of it on the way.
fn first(set: &mut BTreeSet<usize>, blocks: &[Pending], waits: impl Fn(&Pending) -> bool, wanted: impl Fn(&Pending) -> bool) -> Option<usize> {
    let mut gone = Vec::new();
    let found = set.iter().copied().find(|&at| match blocks.get(at) {
        Some(block) if waits(block) => wanted(block),
        _ => {
            gone.push(at);
            false
        }
    });
    for at in gone {
        set.remove(&at);
    }
    found
}

/// Places of blocks, in their order.
pub(super) enum Unsettled {
    All(std::ops::Range<usize>),
    These(std::vec::IntoIter<usize>),
}

impl Iterator for Unsettled {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Self::All(all) => all.next(),
            Self::These(these) => these.next(),
        }
    }
}
