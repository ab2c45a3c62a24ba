//! Lines of results in the order of their calls, as the program writes them, whichever call is done first.

use crate::json::{Out, Str};

/// The calls of a round that are not told of to their end.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Their ids, escaped, in their order, and the lines of those that were answered before an earlier one.
    waiting: Vec<(String, Option<Vec<u8>>)>,
}

impl Results {
    /// Another call. Behind results it is one of the next round.
    pub(super) fn called(&mut self, id: Str<'_>, out: &mut Out) {
        if self.waiting.iter().any(|(_, line)| line.is_some()) {
            self.all(out);
        }
        self.waiting.push((id.as_escaped().to_owned(), None));
    }

    /// The line of a result was written from here on: it waits for those of earlier calls.
    pub(super) fn answered(&mut self, id: Str<'_>, from: usize, out: &mut Out) {
        let Some(at) = self.waiting.iter().position(|(known, line)| known == id.as_escaped() && line.is_none()) else {
            return;
        };
        if at > 0 {
            self.waiting[at].1 = Some(out.take_from(from));
            return;
        }
        self.waiting.remove(0);
        let ready = self.waiting.iter().take_while(|(_, line)| line.is_some()).count();
        for (_, line) in self.waiting.drain(..ready) {
            out.bytes(&line.unwrap_or_default());
        }
    }

    /// What comes now comes behind all results; a call that has none gets none.
    pub(super) fn all(&mut self, out: &mut Out) {
        for (_, line) in self.waiting.drain(..) {
            out.bytes(&line.unwrap_or_default());
        }
    }
}
