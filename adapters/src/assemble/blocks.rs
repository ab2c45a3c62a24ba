//! The blocks of a round.

use std::ops::{Deref, DerefMut};

use super::pending::Pending;

/// The blocks of a round, in their order; those of earlier rounds are kept behind them for their memory.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    all: Vec<Pending>,
    used: usize,
}

/// How many blocks are kept for their memory.
const SPARE: usize = 8;

impl Blocks {
    /// One more block, of which nothing is known yet.
    pub(super) fn fresh(&mut self) -> &mut Pending {
        if self.used == self.all.len() {
            self.all.push(Pending::default());
        }
        self.used += 1;
        &mut self.all[self.used - 1]
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.all.truncate(SPARE);
        let used = self.used.min(SPARE);
        self.all[..used].iter_mut().for_each(Pending::clear);
        self.used = 0;
    }

    /// Takes out those that are `gone`; returns them.
    pub(super) fn take_out(&mut self, gone: impl FnMut(&mut Pending) -> bool) -> Vec<Pending> {
        let taken: Vec<_> = self.all.extract_if(..self.used, gone).collect();
        self.used -= taken.len();
        taken
    }
}

impl Deref for Blocks {
    type Target = [Pending];

    #[inline]
    fn deref(&self) -> &[Pending] {
        &self.all[..self.used]
    }
}

impl DerefMut for Blocks {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Pending] {
        &mut self.all[..self.used]
    }
}
