//! Calls that wait for their result.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::List;
use crate::event::ToolCall;
use crate::ids;

/// A call without a result.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) line: Vec<u8>,
    /// It writes a list of things to do, which becomes calls of `plan`.
    pub(super) list: Option<Box<List>>,
    /// It was written already, with the question about it.
    pub(super) said: bool,
    /// Its result, which waits for those of calls before it.
    pub(super) answer: Option<Box<Answer>>,
}

/// A result that is still to be written.
#[derive(Debug)]
pub(super) enum Answer {
    /// It stands behind the call's line.
    Written,
    /// That of a list of things to do: what was said if it did not go well.
    List(Box<List>, Option<String>),
}

/// Calls without a result, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct HeldCalls {
    all: BTreeMap<u64, Held>,
    added: u64,
    /// The calls by a hash of their ids, once there are more than [`Self::FEW`]; some of them have their result.
    by_id: BTreeSet<(u64, u64)>,
    /// The first call that is not in `by_id`.
    next: u64,
    /// How long the lines of all of them are.
    bytes: usize,
    /// There were too many of them, and the first were written before their results.
    overflowed: bool,
}

impl HeldCalls {
    /// So many calls are looked at one by one.
    const FEW: usize = 32;
    /// So many calls are held, and so many bytes of their lines, where that are more than a few.
    const MOST: usize = 1 << 12;
    const MOST_BYTES: usize = 16 << 20;

    pub(super) fn add(&mut self, mut held: Held) {
        if self.all.len() > Self::FEW {
            held.line.shrink_to_fit();
        }
        self.bytes += held.line.len();
        self.all.insert(self.added, held);
        self.added += 1;
    }

    /// Takes out the first call, if there are more than are held: it is written before its result is known.
    pub(super) fn take_surplus(&mut self) -> Option<Held> {
        let too_many = self.all.len() > Self::MOST || self.all.len() > Self::FEW && self.bytes > Self::MOST_BYTES;
        too_many.then(|| self.take_first()).flatten()
    }

    /// Takes out the first call, whose result is not known.
    pub(super) fn take_first(&mut self) -> Option<Held> {
        let (_, first) = self.all.pop_first()?;
        self.overflowed = true;
        Some(self.without(first))
    }

    /// Whether a call goes over at once, because no line so long is held.
    pub(super) fn is_too_long(call: &ToolCall<'_>) -> bool {
        call.input.as_str().len() > Self::MOST_BYTES
    }

    /// Whether calls of this turn have gone over before their results.
    pub(super) const fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn without(&mut self, held: Held) -> Held {
        self.bytes = self.bytes.saturating_sub(held.line.len());
        held
    }

    /// The first call with this id.
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Held> {
        self.find(id).and_then(|number| self.all.get_mut(&number))
    }

    /// Takes out the first call with this id.
    pub(super) fn take(&mut self, id: &str) -> Option<Held> {
        let held = self.find(id).and_then(|number| self.all.remove(&number))?;
        Some(self.without(held))
    }

    /// Whether another call was made before the first one with this id, and has not been taken out.
    pub(super) fn is_later(&mut self, id: &str) -> bool {
        self.find(id)
            .is_some_and(|number| self.all.first_key_value().is_some_and(|(first, _)| *first < number))
    }

    /// Takes out the first call of all, if its result is there.
    pub(super) fn take_answered(&mut self) -> Option<(Held, Answer)> {
        let mut first = self.all.first_entry()?;
        let answer = first.get_mut().answer.take()?;
        let first = first.remove();
        Some((self.without(first), *answer))
    }

    /// Takes out all calls.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Held> + use<> {
        std::mem::take(self).all.into_values()
    }

    fn find(&mut self, id: &str) -> Option<u64> {
        if self.all.len() <= Self::FEW {
            return self.all.iter().find(|(_, held)| held.id == id).map(|(&number, _)| number);
        }
        for (&number, held) in self.all.range(self.next..) {
            self.by_id.insert((ids::hash(&held.id), number));
        }
        self.next = self.added;
        let hash = ids::hash(id);
        let mut from = 0;
        while let Some(&(_, number)) = self.by_id.range((hash, from)..=(hash, u64::MAX)).next() {
            match self.all.get(&number) {
                Some(held) if held.id == id => return Some(number),
                Some(_) => {}
                None => _ = self.by_id.remove(&(hash, number)),
            }
            from = number + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_of_an_id_is_taken_out_of_few_and_of_many() {
        let mut calls = HeldCalls::default();
        let mut want: Vec<(String, String)> = Vec::new();
        for n in 0..400_u32 {
            let (id, name) = ((n * 7 % 120).to_string(), n.to_string());
            want.push((id.clone(), name.clone()));
            calls.add(Held { id, name, ..Held::default() });
            let id = (n * 5 % 130).to_string();
            let found = (n % 3 == 0).then(|| want.iter().position(|(of, _)| *of == id)).flatten();
            let wanted = found.map(|at| want.remove(at).1);
            if n % 3 == 0 {
                assert_eq!(calls.get(&id).map(|held| held.name.clone()), wanted);
                assert_eq!(calls.take(&id).map(|held| held.name), wanted);
            }
        }
        assert!(want.len() > 200);
        assert!(calls.take_all().map(|held| held.name).eq(want.into_iter().map(|(_, name)| name)));
        assert_eq!(calls.take_all().count(), 0);
    }
}
