//! Turns that begin before the outcome of the one before, which its program holds back while subagents work.

use std::collections::VecDeque;

use crate::event::{Block, Origin, Outcome, Reply};

/// Turns that have begun and have no outcome yet, the oldest first: what was said last in each that began before the outcome of another,
/// as the body of a JSON string.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    begun: VecDeque<Option<String>>,
    /// Something was said since the last outcome.
    said: bool,
}

/// How many are remembered.
const MOST: usize = 64;

impl Ahead {
    /// A turn begins.
    pub(super) fn begin(&mut self) {
        if self.begun.len() == MOST {
            self.begun.clear();
        }
        self.begun.push_back(None);
    }

    /// The agent says something.
    pub(super) fn reply(&mut self, origin: Origin<'_>, reply: &Reply<'_>) {
        if origin.parent.is_some() {
            return;
        }
        let last = reply.blocks.iter().rev().find_map(|block| match block {
            Block::Text { text, .. } if !text.is_empty() => Some(text.as_escaped()),
            _ => None,
        });
        let Some(last) = last else { return };
        self.said = true;
        if self.begun.len() > 1
            && let Some(turn) = self.begun.back_mut()
        {
            last.clone_into(turn.get_or_insert_default());
        }
    }

    /// An outcome comes. Whether the answer that it says was said before the outcome of another turn.
    pub(super) fn end(&mut self, outcome: &Outcome<'_>) -> bool {
        let turn = self.begun.pop_front().flatten();
        let said = std::mem::take(&mut self.said);
        let answer = outcome.text.filter(|_| !outcome.is_error && !said);
        turn.is_some_and(|turn| answer.is_some_and(|answer| answer.as_escaped() == turn))
    }
}
