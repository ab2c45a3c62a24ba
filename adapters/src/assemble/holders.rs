//! In which thread a call stands that has not gone over, where there are too many threads to look through all of them.

use std::collections::BTreeMap;

use super::pending::BlockKind;
use super::thread::Thread;
use crate::event::{Block, BlockHead, Event, Kind};
use crate::ids::hash;
use crate::json::Str;
use crate::threads::Threads;

/// So many subagents are looked through one by one.
const FEW: usize = 32;

/// Which thread was given a call first.
#[derive(Debug, Default)]
pub(super) struct Holders {
    /// The numbers of threads, by the hashes of calls' ids; nothing while there are few subagents.
    known: Option<BTreeMap<u64, u64>>,
}

impl Holders {
    /// The thread that holds a call.
    pub(super) fn of<'t>(&mut self, call: Str<'_>, threads: &'t mut Threads<Thread>) -> Option<&'t mut Thread> {
        if self.are_few(threads) {
            return threads.all().find_map(|thread| thread.holds(call).then_some(thread));
        }
        let known = self.known.get_or_insert_with(|| all_held(threads));
        let thread = match *known.get(&hash(call.as_escaped()))? {
            0 => &mut threads.main,
            number => threads.numbered(number)?,
        };
        thread.holds(call).then_some(thread)
    }

    /// A thread is given the calls of this event.
    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>, threads: &mut Threads<Thread>) {
        if self.known.is_some() && !self.are_few(threads) {
            self.add(event, threads);
        }
    }

    fn are_few(&mut self, threads: &Threads<Thread>) -> bool {
        let few = threads.len() <= FEW;
        if few {
            self.known = None;
        }
        few
    }

    #[cold]
    fn add(&mut self, event: &Event<'_>, threads: &mut Threads<Thread>) {
        let Some(known) = &mut self.known else { return };
        let (blocks, begun) = match event.kind {
            Kind::Reply(reply) => (reply.blocks, None),
            Kind::BlockStart(start) => match start.head {
                BlockHead::Call { id, .. } => (&[][..], Some(id)),
                _ => return,
            },
            _ => return,
        };
        let number = event.origin.parent.map_or(0, |parent| {
            threads.subagent(parent.as_escaped(), |_| Thread::of(parent));
            threads.number(parent.as_escaped()).unwrap_or_default()
        });
        let whole = blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call.id),
            _ => None,
        });
        for id in whole.chain(begun) {
            known.entry(hash(id.as_escaped())).or_insert(number);
        }
    }
}

fn all_held(threads: &Threads<Thread>) -> BTreeMap<u64, u64> {
    let mut known = BTreeMap::new();
    for (number, thread) in threads.all_numbered() {
        let held = thread.blocks.iter().filter(|block| block.kind == BlockKind::Call && !block.shown);
        held.for_each(|block| _ = known.entry(hash(&block.id)).or_insert(number));
    }
    known
}
