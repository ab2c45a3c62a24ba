//! A session of the server, as far as it is told: the main one, or a subagent's.

use std::collections::HashSet;

use crate::ids::hash;

/// What was told of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// Its id.
    pub(super) id: String,
    /// The call that it works for; empty for the main one, and while that is not known.
    pub(super) call: String,
    /// The round that is open, and whether it was refused a permission.
    pub(super) round: String,
    pub(super) denied: bool,
    /// Blocks that go on in pieces: the part, its number, whether it is a thought.
    blocks: Vec<(String, u32, bool)>,
    next: u32,
    /// Messages of the user; rounds, prompts, calls and results that were told.
    told: HashSet<u64>,
}

/// More blocks than this are not open at a time.
const MOST_BLOCKS: usize = 256;
/// More ids are forgotten.
const MOST: usize = 1 << 16;

impl Thread {
    pub(super) fn of(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..Self::default()
        }
    }

    /// Whether this is told for the first time of the part, call or message of this id.
    pub(super) fn first(&mut self, what: &str, id: &str) -> bool {
        if self.told.len() == MOST {
            self.told.clear();
        }
        self.told.insert(hash(what) ^ hash(id))
    }

    /// Whether this was told of it.
    pub(super) fn has(&self, what: &str, id: &str) -> bool {
        self.told.contains(&(hash(what) ^ hash(id)))
    }

    /// A round begins.
    pub(super) fn enter(&mut self, round: &str) {
        round.clone_into(&mut self.round);
        self.denied = false;
        self.blocks.clear();
        self.next = 0;
    }

    /// Whether a block goes on.
    pub(super) const fn is_open(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// The block that a part is, and whether it is a thought, if it goes on.
    pub(super) fn block(&self, part: &str) -> Option<(u32, bool)> {
        let found = self.blocks.iter().find(|(of, ..)| of == part);
        found.map(|&(_, index, thinks)| (index, thinks))
    }

    /// A part begins.
    pub(super) fn begin(&mut self, part: &str, thinks: bool) -> u32 {
        let index = self.next;
        self.next += 1;
        if self.blocks.len() == MOST_BLOCKS {
            self.blocks.remove(0);
        }
        self.blocks.push((part.to_owned(), index, thinks));
        index
    }

    /// A part is whole. Its number, if it went on in pieces.
    pub(super) fn end(&mut self, part: &str) -> Option<u32> {
        let at = self.blocks.iter().position(|(of, ..)| of == part)?;
        Some(self.blocks.remove(at).1)
    }
}
