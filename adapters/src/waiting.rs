//! Calls that wait for their results. Ids may come twice: a result is of the last call that waits under its id.

use std::collections::BTreeMap;

/// So many calls wait under one id. Those before them never got a result.
const MOST: usize = 16;

/// What is kept of each call, by its id.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    calls: BTreeMap<String, Vec<T>>,
    len: usize,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self {
            calls: BTreeMap::new(),
            len: 0,
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
        calls.push(call);
        self.len += 1;
    }

    /// The call that a result under this id is of.
    pub(crate) fn take(&mut self, id: &str) -> Option<T> {
        let calls = self.calls.get_mut(id)?;
        let call = calls.pop();
        if calls.is_empty() {
            self.calls.remove(id);
        }
        self.len -= usize::from(call.is_some());
        call
    }

    /// The same, while it waits.
    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.calls.get(id)?.last()
    }

    /// How many wait.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// All that wait, by their ids.
    pub(crate) fn into_all(self) -> impl Iterator<Item = (String, T)> {
        self.calls
            .into_iter()
            .flat_map(|(id, calls)| calls.into_iter().map(move |call| (id.clone(), call)))
    }
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn a_result_is_of_the_last_call_that_waits() {
        let mut calls = Waiting::default();
        for (n, id) in ["a", "b", "a"].into_iter().enumerate() {
            calls.add(id, n);
        }
        assert_eq!((calls.len(), calls.get("a")), (3, Some(&2)));
        assert_eq!((calls.take("a"), calls.take("a"), calls.take("a")), (Some(2), Some(0), None));
        assert_eq!(calls.len(), 1);
        assert_eq!(calls.into_all().collect::<Vec<_>>(), [("b".to_owned(), 1)]);
    }
}
