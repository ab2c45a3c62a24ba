//! Ids that a target gives once, where sources give them again.

use std::collections::BTreeMap;

use bumpalo::Bump;

use crate::event::{Block, Event, Kind, Permission, Reply, Request, ToolCall, ToolProgress, ToolResult};
use crate::ids::hash;
use crate::json::{Out, Str};
use crate::waiting::Waiting;

/// More are forgotten, all at once: an id that comes again that much later is taken for a new one.
const MOST: usize = 1 << 14;

/// Ids of which none is given twice, and what calls are called that had to get another one.
#[derive(Debug, Default)]
pub(crate) struct Unique {
    /// Hashes of the ids that were asked for.
    given: BTreeMap<u64, Given>,
    /// What calls are called whose ids came twice, by their own ids, until they have their results.
    renamed: Waiting<String>,
}

/// There are very many.
#[derive(Clone, Copy, Debug)]
struct Given {
    /// The number that comes next behind the id.
    next: u32,
    /// With which calls it was given first, by [`Waiting::made`].
    made: u32,
}

impl Unique {
    /// An id like this that nothing else has.
    pub(crate) fn named(&mut self, wanted: &str) -> String {
        self.fresh(wanted).unwrap_or_else(|| wanted.to_owned())
    }

    /// The same; `None` if that is this one.
    fn fresh(&mut self, wanted: &str) -> Option<String> {
        if !self.is_given(wanted) {
            if self.given.len() == MOST {
                self.given.clear();
            }
            let made = self.renamed.made();
            self.given.insert(hash(wanted), Given { next: 2, made });
            return None;
        }
        let mut given = self.given.get(&hash(wanted)).copied().unwrap_or(Given { next: 2, made: u32::MAX });
        let mut made = (given.next..).map(|n| (n, format!("{wanted}-{n}")));
        let (n, id) = made.find(|(_, id)| !self.given.contains_key(&hash(id)))?;
        given.next = n.saturating_add(1);
        self.given.insert(hash(wanted), given);
        Some(id)
    }

    /// Whether an id was asked for, or made of one that was.
    pub(crate) fn is_given(&self, id: &str) -> bool {
        let made_of = |(base, n): (&str, &str)| {
            let given = self.given.get(&hash(base))?;
            Some(n.parse::<u32>().is_ok_and(|n| n >= 2 && n < given.next))
        };
        self.given.contains_key(&hash(id)) || id.rsplit_once('-').and_then(made_of) == Some(true)
    }

    /// A call of this id is made. What it is called instead, if another one has the id, or if that is none.
    pub(crate) fn call(&mut self, id: &str) -> Option<String> {
        let fresh = match id {
            "" => self.named("call"),
            id => self.fresh(id)?,
        };
        // The one that has the id itself was made together with this one: the first result is its own.
        let first = self.given.get(&hash(id)).filter(|_| !id.is_empty());
        if first.is_some_and(|given| given.made == self.renamed.made()) && self.renamed.get(id).is_none() {
            self.renamed.add(id, id.to_owned());
        }
        self.renamed.add(id, fresh.clone());
        Some(fresh)
    }

    /// What the call of this id is called that waits for the next result.
    pub(crate) fn called(&self, id: &str) -> Option<&str> {
        self.renamed.get(id).map(String::as_str)
    }

    /// The event with the ids that its calls are given, where those are other ones; `at` is where the output says the id of a call.
    #[inline]
    pub(crate) fn event<'b>(&mut self, event: &Event<'b>, at: &'static str, arena: &'b Bump, out: &Out) -> Option<Event<'b>> {
        let any = self.renamed.len() > 0;
        match event.kind {
            Kind::Reply(reply) if reply.blocks.iter().any(|block| matches!(block, Block::Call(_))) => self.other(event, at, arena, out),
            Kind::ToolResult(_) | Kind::ToolProgress(_) | Kind::Request(_) if any => self.other(event, at, arena, out),
            // What is called from here on was not made together with what came before.
            Kind::ToolResult(_) | Kind::Outcome(_) => {
                self.renamed.next_round();
                None
            }
            _ => None,
        }
    }

    fn other<'b>(&mut self, event: &Event<'b>, at: &'static str, arena: &'b Bump, out: &Out) -> Option<Event<'b>> {
        let kind = match event.kind {
            Kind::Reply(reply) => {
                let mut blocks = None;
                for (n, block) in reply.blocks.iter().enumerate() {
                    let Block::Call(call) = block else { continue };
                    let Some(id) = self.call(call.id.as_escaped()) else { continue };
                    out.used(call.id.as_escaped());
                    out.invented(at, "another call of the session has its id");
                    let id = Str::trusted(arena.alloc_str(&id));
                    let all = blocks.get_or_insert_with(|| bumpalo::collections::Vec::from_iter_in(reply.blocks.iter().copied(), arena));
                    all[n] = Block::Call(ToolCall { id, ..*call });
                }
                let blocks = blocks?.into_bump_slice();
                Kind::Reply(arena.alloc(Reply { blocks, ..*reply }))
            }
            Kind::ToolResult(result) => {
                let id = self.answered(result.call.as_escaped()).filter(|id| *id != result.call.as_escaped())?;
                out.used(result.call.as_escaped());
                let call = Str::trusted(arena.alloc_str(&id));
                Kind::ToolResult(arena.alloc(ToolResult { call, ..*result }))
            }
            Kind::ToolProgress(progress) => {
                let id = self.called(progress.call.as_escaped()).filter(|id| *id != progress.call.as_escaped())?;
                out.used(progress.call.as_escaped());
                let call = Str::trusted(arena.alloc_str(id));
                Kind::ToolProgress(arena.alloc(ToolProgress { call, ..*progress }))
            }
            Kind::Request(request) => {
                let permission = request.permission?;
                let call = permission.call?;
                let id = self.called(call.as_escaped()).filter(|id| *id != call.as_escaped())?;
                out.used(call.as_escaped());
                let call = Some(Str::trusted(arena.alloc_str(id)));
                let permission = Some(&*arena.alloc(Permission { call, ..*permission }));
                Kind::Request(arena.alloc(Request { permission, ..*request }))
            }
            _ => return None,
        };
        Some(Event { kind, ..*event })
    }

    /// The call has its result. What it was called instead.
    pub(crate) fn answered(&mut self, id: &str) -> Option<String> {
        self.renamed.take(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_is_given_twice() {
        let mut ids = Unique::default();
        let mut all: Vec<String> = Vec::new();
        for wanted in ["a", "a", "a-3", "a", "a-2", "b", "a-2", "a"] {
            all.push(ids.named(wanted));
        }
        assert_eq!(all[..4], ["a", "a-2", "a-3", "a-4"]);
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }

    #[test]
    fn a_result_is_of_the_call_that_waits() {
        let mut ids = Unique::default();
        assert_eq!(ids.call("a"), None);
        assert_eq!(ids.answered("a"), None);
        assert_eq!(ids.call("a"), Some("a-2".to_owned()));
        assert_eq!(ids.called("a"), Some("a-2"));
        assert_eq!((ids.call(""), ids.answered("")), (Some("call".to_owned()), Some("call".to_owned())));
        assert_eq!((ids.answered("a"), ids.answered("a")), (Some("a-2".to_owned()), None));
    }

    #[test]
    fn results_of_calls_that_were_made_together_have_their_order() {
        let mut ids = Unique::default();
        let named = |id: &str| Some(id.to_owned());
        assert_eq!((ids.call("a"), ids.call("a"), ids.call("a")), (None, named("a-2"), named("a-3")));
        assert_eq!(
            (ids.answered("a"), ids.answered("a"), ids.answered("a"), ids.answered("a")),
            (named("a"), named("a-2"), named("a-3"), None)
        );
    }

    #[test]
    fn memory_has_an_end() {
        let mut ids = Unique::default();
        for n in 0..3 * MOST {
            assert_eq!(ids.fresh(&format!("call {n}")), None);
        }
        assert!(ids.given.len() <= MOST);
    }
}
