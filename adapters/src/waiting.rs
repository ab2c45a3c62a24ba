//! Calls that wait for their results. Ids may come twice: of calls that were made together, before any result, the first one waits for the
//! first result under their id; what was made before them and still waits will hardly get one.

use std::collections::BTreeMap;

/// So many calls wait under one id. Those before them never got a result.
const MOST: usize = 16;

/// What is kept of each call, by its id.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    calls: BTreeMap<String, Vec<Waits<T>>>,
    len: usize,
    /// Calls that have this number were made together, with those that come now.
    made: u32,
}

#[derive(Debug)]
struct Waits<T> {
    made: u32,
    call: T,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self {
            calls: BTreeMap::new(),
            len: 0,
            made: 0,
        }
    }
}

impl<T> Waiting<T> {
    pub(crate) fn add(&mut self, id: &str, call: T) {
        // Very many calls may wait, and hardly ever two under one id.
        let calls = self.calls.entry(id.to_owned()).or_insert_with(|| Vec::with_capacity(1));
        if calls.len() == MOST {
            calls.remove(0);
            self.len -= 1;
        }
        calls.push(Waits { made: self.made, call });
        self.len += 1;
    }

    /// The call that a result under this id is of.
    pub(crate) fn take(&mut self, id: &str) -> Option<T> {
        self.next_round();
        let calls = self.calls.get_mut(id)?;
        let call = next(calls).map(|at| calls.remove(at).call);
        if calls.is_empty() {
            self.calls.remove(id);
        }
        self.len -= usize::from(call.is_some());
        call
    }

    /// The same, while it waits.
    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        let calls = self.calls.get(id)?;
        next(calls).map(|at| &calls[at].call)
    }

    /// Calls that come now are not made together with what waits.
    pub(crate) const fn next_round(&mut self) {
        self.made = self.made.wrapping_add(1);
    }

    /// The number of those that are made together now.
    pub(crate) const fn made(&self) -> u32 {
        self.made
    }

    /// How many wait.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// All that wait, by their ids.
    pub(crate) fn into_all(self) -> impl Iterator<Item = (String, T)> {
        self.calls
            .into_iter()
            .flat_map(|(id, calls)| calls.into_iter().map(move |waits| (id.clone(), waits.call)))
    }
}

/// Where the call is that gets the next result.
fn next<T>(calls: &[Waits<T>]) -> Option<usize> {
    let last = calls.last()?.made;
    calls.iter().position(|waits| waits.made == last)
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn a_result_is_of_the_first_call_of_those_that_were_made_together() {
        let mut calls = Waiting::default();
        for (n, id) in ["a", "b", "a"].into_iter().enumerate() {
            calls.add(id, n);
        }
        assert_eq!((calls.len(), calls.get("a")), (3, Some(&0)));
        assert_eq!((calls.take("a"), calls.take("a"), calls.take("a")), (Some(0), Some(2), None));
        assert_eq!(calls.len(), 1);
        assert_eq!(calls.into_all().collect::<Vec<_>>(), [("b".to_owned(), 1)]);
    }

    #[test]
    fn what_was_left_without_a_result_gets_none_of_later_calls() {
        let mut calls = Waiting::default();
        calls.add("a", 0);
        calls.add("b", 1);
        assert_eq!(calls.take("b"), Some(1));
        calls.add("a", 2);
        calls.add("a", 3);
        assert_eq!((calls.take("a"), calls.take("a"), calls.take("a")), (Some(2), Some(3), Some(0)));
    }
}
