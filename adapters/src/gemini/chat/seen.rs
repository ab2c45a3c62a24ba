//! Which messages, calls and results of a session were told: an index, not what they say.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::event::{Block, Thinking};
use crate::ids::{FNV_SEED, fnv, hash};

/// More ids are forgotten.
const MOST: usize = 1 << 20;

/// What was told.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The messages, with what they said.
    messages: HashMap<u64, Said, AsIs>,
    calls: Ids,
    results: Ids,
    /// The calls whose results were told by lines of their own.
    own_results: Ids,
    /// The messages that the conversation has now.
    live: Ids,
}

/// Hashes of ids.
type Ids = HashSet<u64, AsIs>;
type AsIs = BuildHasherDefault<Hash>;

/// What is a hash already.
#[derive(Debug, Default)]
struct Hash(u64);

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = fnv(bytes, self.0);
    }
}

/// What was told of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// A hash of its text; zero for none.
    pub(super) text: u64,
    pub(super) thoughts: Thoughts,
    /// Its tokens were told.
    pub(super) usage: bool,
    /// A hash of its model; zero for none.
    pub(super) model: u64,
}

/// The thoughts of a message: how many, and a hash of what they say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Thoughts {
    count: usize,
    text: u64,
}

impl Thoughts {
    pub(super) fn of(thoughts: &[Block<'_>]) -> Self {
        let text = |so_far, thought: &Block<'_>| match thought {
            Block::Thinking(Thinking { text, subject, .. }) => {
                let subject = subject.unwrap_or_default();
                fnv(text.as_escaped().as_bytes(), fnv(subject.as_escaped().as_bytes(), so_far ^ FNV_SEED) ^ 1)
            }
            _ => so_far,
        };
        Self {
            count: thoughts.len(),
            text: thoughts.iter().fold(0, text),
        }
    }

    /// How many of these are the ones that there were; none if one of them says something else now.
    pub(super) fn known(self, thoughts: &[Block<'_>]) -> Option<usize> {
        let first = &thoughts[..self.count.min(thoughts.len())];
        (first.len() < self.count || Self::of(first) == self).then_some(first.len())
    }
}

/// A hash of a text, piece by piece; zero if all are empty.
pub(super) fn text_hash<'t>(mut pieces: impl Iterator<Item = &'t str>) -> u64 {
    let first = pieces.find(|piece| !piece.is_empty());
    let (Some(first), next) = (first, pieces.find(|piece| !piece.is_empty())) else {
        return 0;
    };
    let Some(next) = next else { return hash(first).max(1) };
    let mut whole = first.to_owned() + next;
    pieces.for_each(|piece| whole.push_str(piece));
    hash(&whole).max(1)
}

impl Seen {
    /// What was told of the message of this id, if it was seen.
    pub(super) fn message(&self, id: &str) -> Option<Said> {
        self.messages.get(&hash(id)).copied()
    }

    /// The message of this id has said this. What was told of it before, if it was seen.
    pub(super) fn said(&mut self, id: &str, said: Said) -> Option<Said> {
        let id = hash(id);
        let before = self.messages.get(&id).copied();
        if self.messages.len() == MOST {
            self.messages.clear();
        }
        self.messages.insert(id, said);
        insert(&mut self.live, id);
        before
    }

    /// Whether the call of this message is told for the first time. Ids are the model's server's: one that counts them anew in each reply gives
    /// the same to calls of several messages, each with a result of its own.
    pub(super) fn call(&mut self, message: &str, id: &str) -> bool {
        let first = insert(&mut self.calls, fnv(id.as_bytes(), hash(message)));
        let id = hash(id);
        if first && !insert(&mut self.calls, id) {
            self.results.remove(&id);
            self.own_results.remove(&id);
        }
        first
    }

    /// Whether the call's result is told for the first time.
    pub(super) fn result(&mut self, id: &str) -> bool {
        insert(&mut self.results, hash(id))
    }

    /// Whether the call's result was told.
    pub(super) fn has_result(&self, id: &str) -> bool {
        self.results.contains(&hash(id))
    }

    /// The call's result is told by a line of its own.
    pub(super) fn own_result(&mut self, id: &str) {
        let id = hash(id);
        insert(&mut self.results, id);
        insert(&mut self.own_results, id);
    }

    /// Whether the call's result was told by a line of its own.
    pub(super) fn has_own_result(&self, id: &str) -> bool {
        self.own_results.contains(&hash(id))
    }

    /// The session is opened once more: its messages come anew.
    pub(super) fn reopened(&mut self) {
        self.live.clear();
    }

    /// The conversation is this one now. Returns whether a message was left out.
    pub(super) fn now<'i>(&mut self, ids: impl Iterator<Item = &'i str>) -> bool {
        let now: Ids = ids.map(hash).collect();
        let left_out = self.live.iter().any(|id| !now.contains(id));
        self.live = now;
        left_out
    }
}

fn insert(ids: &mut Ids, id: u64) -> bool {
    if ids.len() == MOST {
        ids.clear();
    }
    ids.insert(id)
}
