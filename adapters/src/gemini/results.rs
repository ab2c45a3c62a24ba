//! Results in the order of their calls, as the program tells them, whichever call is done first.

use crate::json::Str;

/// The calls of a round that are not told of to their end.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Their ids, escaped, in their order, and what is to be written of those that were answered before an earlier one.
    waiting: Vec<(String, Option<Vec<u8>>)>,
    /// What waits for nobody.
    ready: Vec<Vec<u8>>,
}

impl Results {
    /// Another call. Returns whether it is one of the next round: then what waits is to be taken before, and the call told again.
    pub(super) fn called(&mut self, id: Str<'_>) -> bool {
        let next = self.waiting.iter().any(|(_, line)| line.is_some());
        if !next {
            self.waiting.push((id.as_escaped().to_owned(), None));
        }
        next
    }

    /// This is to be written of a call's result.
    pub(super) fn answered(&mut self, id: Str<'_>, line: Vec<u8>) {
        match self.waiting.iter_mut().find(|(known, waits)| known == id.as_escaped() && waits.is_none()) {
            Some((_, waits)) => *waits = Some(line),
            None => self.ready.push(line),
        }
    }

    /// What waits for no earlier call; with `all` everything: a call that has no result gets none.
    pub(super) fn take(&mut self, all: bool) -> Vec<Vec<u8>> {
        let mut ready = std::mem::take(&mut self.ready);
        let count = match all {
            true => self.waiting.len(),
            false => self.waiting.iter().take_while(|(_, line)| line.is_some()).count(),
        };
        ready.extend(self.waiting.drain(..count).filter_map(|(_, line)| line));
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_calls() {
        let mut results = Results::default();
        let id = |text: &'static str| Str::trusted(text);
        for call in ["a", "b", "c"] {
            assert!(!results.called(id(call)));
        }
        results.answered(id("c"), b"c".to_vec());
        assert!(results.take(false).is_empty());
        results.answered(id("nobody's"), b"x".to_vec());
        results.answered(id("a"), b"a".to_vec());
        assert_eq!(results.take(false), [b"x".to_vec(), b"a".to_vec()]);
        // One without a result keeps nobody waiting behind its round.
        assert!(results.called(id("d")));
        assert_eq!(results.take(true), [b"c".to_vec()]);
        assert!(!results.called(id("d")));
    }
}
