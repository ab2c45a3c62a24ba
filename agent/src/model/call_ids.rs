//! Ids of calls. A result is known by that of its call, so a session has none twice, though some servers count anew in each reply or name
//! all calls alike: hosts would show a result at another call, and other servers refuse such a conversation.

use std::collections::HashSet;

use agentglot_adapters::raw::event::{BlockHead, BlockStart, Event, Kind};
use agentglot_adapters::raw::json::Str;

/// The ids that a session's calls have.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashSet<String>);

impl CallIds {
    /// These calls are known.
    pub(crate) fn know<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        for id in ids {
            if !self.0.contains(id) {
                self.0.insert(id.to_owned());
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
        let own = std::iter::once(base.to_owned())
            .chain((2..).map(|n| format!("{base}-{n}")))
            .find(|id| !self.0.contains(id))
            .expect("numbers go on");
        let mut body = String::new();
        Str::escape(&own, &mut body);
        self.0.insert(own);
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
