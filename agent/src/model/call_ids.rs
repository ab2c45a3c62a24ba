//! Ids of calls. A result is known by that of its call, so a session has none twice, though some servers count anew in each reply or name
//! all calls alike: hosts would show a result at another call, and other servers refuse such a conversation.

use std::collections::HashMap;

use agentglot_adapters::raw::event::{BlockHead, BlockStart, Event, Kind};
use agentglot_adapters::raw::json::Str;

/// The ids that a session's calls have, each with the last number that was put behind it.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashMap<String, u64>);

impl CallIds {
    /// These calls are known.
    pub(crate) fn know<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        for id in ids {
            if !self.0.contains_key(id) {
                self.0.insert(id.to_owned(), 1);
            }
        }
    }

    /// Hands on an event of a reply. A call whose id is none, or that of another call, has one of its own in it.
    pub(crate) fn told(&mut self, event: &Event<'_>, hear: impl FnOnce(&Event<'_>)) {
        let Kind::BlockStart(BlockStart {
            index,
            head: BlockHead::Call { id: wanted, name },
        }) = event.kind
        else {
            return hear(event);
        };
        let wanted = wanted.unescape();
        let base = if wanted.is_empty() { "call" } else { &wanted };
        let mut own = base.to_owned();
        while self.0.contains_key(&own) {
            let last = self.0.get_mut(base).map_or(1, |last| {
                *last += 1;
                *last
            });
            own = format!("{base}-{last}");
        }
        let mut body = String::new();
        Str::escape(&own, &mut body);
        self.0.insert(own, 1);
        let head = BlockHead::Call {
            id: Str::trusted(&body),
            name,
        };
        let start = BlockStart { index, head };
        let kind = Kind::BlockStart(start);
        hear(&Event { kind, ..*event });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentglot_adapters::raw::event::Origin;

    #[test]
    fn no_two_calls_have_one_id() {
        let mut ids = CallIds::default();
        ids.know(["call_0"].into_iter());
        let mut own = |wanted: &str| {
            let head = BlockHead::Call {
                id: Str::trusted(wanted),
                name: Str::trusted("Read"),
            };
            let kind = Kind::BlockStart(BlockStart { index: 0, head });
            let mut told = String::new();
            ids.told(&Event::new(Origin::default(), kind), |event| {
                if let Kind::BlockStart(start) = event.kind
                    && let BlockHead::Call { id, .. } = start.head
                {
                    told = id.as_escaped().to_owned();
                }
            });
            told
        };
        let told = ["call_1", "call_0", "call_0", "", "", r#"a\"b"#, r#"a\"b"#].map(&mut own);
        assert_eq!(told, ["call_1", "call_0-2", "call_0-3", "call", "call-2", r#"a\"b"#, r#"a\"b-2"#]);
    }
}
