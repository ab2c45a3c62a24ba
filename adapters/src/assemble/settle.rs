//! Which blocks are brought to their end, and when.

use super::pending::{BlockKind, Pending, Wait, is_one_value};
use super::thread::Thread;
use super::{Answered, Desk};
use crate::event::{Origin, ToolResult};
use crate::json::Str;

impl Thread {
    /// Brings everything that is held up to and including the call `id` to its end, but for other calls that wait for their results;
    /// behind it those whose turn it is then.
    pub(super) fn settle_call(&mut self, id: Str<'_>, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        let Some(at) = self.held_call(id) else { return };
        if self.blocks[at].wait == Wait::Nothing {
            for before in self.waiting.unsettled(&self.blocks, at + 1, self.open) {
                let block = &self.blocks[before];
                // The arguments of another call may be on their way yet.
                if before == at || block.kind != BlockKind::Call || block.complete {
                    self.settle_block(before, origin, desk);
                }
            }
            return;
        }
        self.settle_block(at, origin, desk);
        for at in self.waiting.unsettled(&self.blocks, self.blocks.len(), None) {
            match self.blocks[at].wait {
                Wait::Nothing => {}
                Wait::Turn => self.settle_block(at, origin, desk),
                Wait::Result => break,
            }
        }
    }

    /// The same for the call of a result, which may have waited for it: then returns what the two are in the target's words.
    pub(super) fn settle_answered<'a>(&mut self, origin: Origin<'_>, result: &ToolResult<'a>, desk: &mut Desk<'_, '_, 'a>) -> Option<Answered<'a>> {
        let waits = self.waiting_calls > 0 && self.held_call(result.call).is_some_and(|at| self.blocks[at].wait == Wait::Result);
        let answered = if waits { desk.in_answer(result) } else { None };
        desk.answered = answered.and_then(|(call, _)| Some((call?, *result)));
        self.settle_call(result.call, origin, desk);
        answered
    }

    /// Whether the call has not gone over yet.
    pub(super) fn holds(&mut self, id: Str<'_>) -> bool {
        self.held_call(id).is_some()
    }

    fn held_call(&mut self, id: Str<'_>) -> Option<usize> {
        let wanted = |block: &Pending| block.kind == BlockKind::Call && block.id == id.as_escaped();
        self.waiting.unshown(&self.blocks, wanted)
    }

    /// The agent asks something: calls whose arguments are whole are what it asks about, and are said first.
    pub(super) fn settle_whole_calls(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        let mut end = 0;
        for at in self.waiting.unsettled(&self.blocks, self.blocks.len(), None) {
            let block = &self.blocks[at];
            if block.kind != BlockKind::Call || block.shown {
                continue;
            }
            if !is_one_value(&Str::trusted(&block.body).unescape()) {
                break;
            }
            end = at + 1;
        }
        self.settle_to(end, origin, desk);
    }

    /// Blocks come whole: what came in pieces before them, and is not said again with them, is said first. Calls whose
    /// arguments are still on their way wait.
    pub(super) fn settle_before(&mut self, again: &[Option<usize>], origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        // A block that nobody has heard of stands behind all others.
        let last = again.iter().map(|known| known.unwrap_or(self.blocks.len())).max().unwrap_or(0);
        for at in self.waiting.unsettled(&self.blocks, last, None) {
            let block = &self.blocks[at];
            if !block.shown && (block.kind != BlockKind::Call || block.complete) && !block.taken && block.wait == Wait::Nothing {
                self.settle_block(at, origin, desk);
            }
        }
        again.iter().flatten().for_each(|&at| self.blocks[at].taken = false);
    }

    /// Brings everything that is held to its end.
    pub(super) fn settle(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        self.settle_to(self.blocks.len(), origin, desk);
    }

    /// Brings what is held of the blocks before `end` to its end.
    fn settle_to(&mut self, end: usize, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        for at in self.waiting.unsettled(&self.blocks, end, self.open) {
            self.settle_block(at, origin, desk);
        }
    }

    /// The block `at` is whole: it is said, and what is whole before it, unless something before that is still on its way.
    pub(super) fn settle_whole(&mut self, at: usize, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        for at in self.waiting.unsettled(&self.blocks, at + 1, None) {
            let block = &self.blocks[at];
            if !block.complete || block.wait != Wait::Nothing {
                return;
            }
            self.settle_block(at, origin, desk);
        }
    }

    /// A result comes: what was said before it stands before it.
    pub(super) fn settle_said(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        for at in self.waiting.unsettled(&self.blocks, self.blocks.len(), None) {
            let block = &self.blocks[at];
            if !block.shown && block.complete && block.kind != BlockKind::Call {
                self.settle_block(at, origin, desk);
            }
        }
    }

    /// Something else begins: calls before it whose arguments are whole, and that wait for no result, are said first.
    pub(super) fn settle_calls_before(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        for at in self.waiting.unsettled(&self.blocks, self.blocks.len(), None) {
            let block = &self.blocks[at];
            if block.kind != BlockKind::Call || block.shown {
                continue;
            }
            if block.wait != Wait::Nothing || !block.complete && !is_one_value(&Str::trusted(&block.body).unescape()) {
                return;
            }
            self.settle_block(at, origin, desk);
        }
    }
}
