//! What was let go of a turn that goes on.

use super::{AsideKind, Block, Turn};
use crate::events::{Kind, Usage};

/// What is still known of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Gone {
    /// The tokens of its rounds.
    pub(super) usage: Option<Usage>,
    /// There was a prompt.
    pub(super) prompted: bool,
    /// The program ended with this error.
    pub(super) fatal: Option<String>,
}

/// So many replies later nobody waits for the result of a call any more.
const PATIENCE: usize = 256;

impl Turn {
    /// Whether a call of that round of the main thread, counted from 0, has no result and is worth waiting for: the result of most calls is
    /// there before the next reply, that of some never comes.
    pub fn waits_for(&self, round: usize) -> bool {
        let rounds = &self.thread.rounds;
        let is_open = |block: &Block| matches!(block, Block::Call(call) if call.result.is_none());
        rounds.len() - round.min(rounds.len()) <= PATIENCE && rounds.get(round).is_some_and(|round| round.blocks.iter().any(is_open))
    }

    /// Lets the first rounds of the main thread go, with the first asides and what they stand for; the rounds that asides name are
    /// counted from the ones that are left. The last round stays: more may belong to it. Who has shown what is settled of a turn need not
    /// hold it; tokens and outcome are in the end what they would have been.
    pub fn let_go(&mut self, rounds: usize, asides: usize) {
        let rounds = rounds.min(self.thread.rounds.len().saturating_sub(1));
        let gone = self.thread.rounds.drain(..rounds);
        let usages: Vec<Usage> = self.gone.usage.take().into_iter().chain(gone.filter_map(|round| round.usage)).collect();
        self.gone.usage = super::build::sum(usages.iter());
        let asides: Vec<AsideKind> = self.asides.drain(..asides.min(self.asides.len())).map(|aside| aside.what).collect();
        for aside in &mut self.asides {
            aside.round = aside.round.saturating_sub(rounds);
        }
        let many = |kind: AsideKind, of: usize| asides.iter().filter(|what| **what == kind).count().min(of);
        let prompts = many(AsideKind::Prompt, self.thread.prompts.len());
        self.gone.prompted |= prompts > 0;
        self.thread.prompts.drain(..prompts);
        self.thread.prompt_places.drain(..prompts.min(self.thread.prompt_places.len()));
        self.permissions.drain(..many(AsideKind::Permission, self.permissions.len()));
        self.retries.drain(..many(AsideKind::Retry, self.retries.len()));
        self.compactions.drain(..many(AsideKind::Compaction, self.compactions.len()));
        for event in self.others.drain(..many(AsideKind::Other, self.others.len())) {
            if let Kind::Fatal(fatal) = event.kind {
                self.gone.fatal.get_or_insert(fatal.message);
            }
        }
    }
}
