//! What a session has told, for events that list it once more.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::ids::{FNV_SEED, fnv, hash};
use crate::json::{Raw, Str};

/// What may be told once more in a list of all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    Message,
    Call,
    Result,
    Seal,
}

/// Messages, calls and results that were told, by their ids, each with a print of what it said.
#[derive(Debug, Default)]
pub(super) struct Told(BTreeMap<(Seen, u64), u64>);

/// The print of nothing.
pub(super) const NOTHING: u64 = FNV_SEED;

/// The print of what was said and of one more piece.
pub(super) fn more(said: u64, piece: Str<'_>) -> u64 {
    fnv(piece.unescape().as_bytes(), said)
}

/// The print of a value as it came: a string counts as what it says.
pub(super) fn print(value: Raw<'_>) -> u64 {
    match value.string() {
        Some(text) => more(NOTHING, text),
        None => fnv(value.as_str().as_bytes(), NOTHING),
    }
}

impl Told {
    /// Something is told; whether it was not before.
    pub(super) fn see(&mut self, what: Seen, id: Str<'_>) -> bool {
        match self.0.entry((what, hash(id.as_escaped()))) {
            Entry::Vacant(place) => {
                place.insert(NOTHING);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    pub(super) fn knows(&self, what: Seen, id: Str<'_>) -> bool {
        self.0.contains_key(&(what, hash(id.as_escaped())))
    }

    /// What it says, all in all.
    pub(super) fn says(&mut self, what: Seen, id: Str<'_>, print: u64) {
        self.0.insert((what, hash(id.as_escaped())), print);
    }

    /// Whether it was told and said this.
    pub(super) fn said(&self, what: Seen, id: Str<'_>, value: Raw<'_>) -> bool {
        self.0.get(&(what, hash(id.as_escaped()))) == Some(&print(value))
    }
}
