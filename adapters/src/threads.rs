//! What is kept for each thread of a conversation: the main one, and one for each subagent.

use std::collections::BTreeMap;

/// One thing for the main thread, and one for each subagent by the tool call that it runs for. However many there are, none is
/// searched for; they are told in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Threads<T> {
    pub(crate) main: T,
    subagents: BTreeMap<u64, T>,
    /// The number of a subagent by its call. A tree: no choice of ids makes a search long.
    numbers: BTreeMap<String, u64>,
    begun: u64,
}

impl<T> Threads<T> {
    /// What is kept for the subagent of a call, made from its number if it is a new one.
    pub(crate) fn subagent(&mut self, call: &str, new: impl FnOnce(u64) -> T) -> &mut T {
        let number = match self.numbers.get(call) {
            Some(&number) => number,
            None => {
                self.begun += 1;
                self.numbers.insert(call.to_owned(), self.begun);
                self.begun
            }
        };
        self.subagents.entry(number).or_insert_with(|| new(number))
    }

    /// What is kept for the subagent of a call, if there is one.
    pub(crate) fn of(&mut self, call: &str) -> Option<&mut T> {
        self.subagents.get_mut(self.numbers.get(call)?)
    }

    /// Whether a subagent works for this call.
    pub(crate) fn has(&self, call: &str) -> bool {
        self.numbers.contains_key(call)
    }

    /// How many subagents there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of the subagent of a call.
    pub(crate) fn number(&self, call: &str) -> Option<u64> {
        self.numbers.get(call).copied()
    }

    /// What is kept for the subagent of this number, unless it is done. Later ones have greater numbers.
    pub(crate) fn numbered(&mut self, number: u64) -> Option<&mut T> {
        self.subagents.get_mut(&number)
    }

    /// The subagent of a call is done.
    #[inline]
    pub(crate) fn end(&mut self, call: &str) -> Option<T> {
        if self.numbers.is_empty() {
            return None;
        }
        self.numbers.remove(call).and_then(|number| self.subagents.remove(&number))
    }

    /// All subagents are done.
    pub(crate) fn end_all(&mut self) {
        if !self.numbers.is_empty() {
            self.subagents.clear();
            self.numbers.clear();
        }
    }

    /// [`Self::all`] with their numbers; that of the main thread is 0.
    pub(crate) fn all_numbered(&self) -> impl Iterator<Item = (u64, &T)> {
        let subagents = self.subagents.iter().map(|(number, of)| (*number, of));
        std::iter::once((0, &self.main)).chain(subagents)
    }

    /// The main thread, then the subagents in the order in which they began.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        std::iter::once(&mut self.main).chain(self.subagents.values_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subagents_are_told_in_the_order_in_which_they_began() {
        let mut threads = Threads::<Vec<u32>>::default();
        threads.main.push(0);
        for (n, call) in (1..).zip(["z", "a", "m", "a", "z"]) {
            threads.subagent(call, |_| Vec::new()).push(n);
        }
        assert_eq!(threads.end("a"), Some(vec![2, 4]));
        assert_eq!(threads.end("a"), None);
        threads.subagent("a", |number| vec![u32::try_from(number).unwrap()]).push(6);
        assert_eq!(threads.numbered(2), None);
        assert_eq!(threads.numbered(3), Some(&mut vec![3]));
        let all: Vec<_> = threads.all().map(|of| of.clone()).collect();
        assert_eq!(all, [vec![0], vec![1, 5], vec![3], vec![4, 6]]);
        threads.end_all();
        assert_eq!(threads.all().count(), 1);
    }
}
