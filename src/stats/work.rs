//! What one turn has used.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use agentglot_adapters::events::{ResultStatus, Time};
use agentglot_adapters::session::{Block, Call, Round, Subagent, Thread, Turn};

use super::Tokens;

/// What one turn has used so far. A reply is looked at once, and need not be held any longer.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// In the main thread, by the model that answered.
    pub(super) main: Models,
    /// In those of subagents.
    pub(super) subagents: Models,
    /// Replies of the main thread that have ids.
    pub(super) with_ids: u64,
    /// Those of them that were counted before.
    pub(super) copied: u64,
    /// The model that answered last in the main thread.
    pub(super) model: Option<String>,
    /// The log says what some reply of the main thread has used.
    pub(super) says_usage: bool,
    /// What the replies without ids say.
    text: u64,
    /// The first prompt.
    prompt: Option<u64>,
    /// Calls that are counted and whose results may still come.
    open: HashSet<u64>,
}

/// What was used, by the model that answered, if that is known.
pub(super) type Models = BTreeMap<Option<String>, Used>;

/// What replies of one model have used.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) rounds: u64,
    pub(super) tokens: Tokens,
    /// Replies that have used tokens.
    pub(super) replies: u64,
    /// By the name of the tool.
    pub(super) calls: BTreeMap<String, Calls>,
}

/// Calls of one tool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) ms: u64,
}

/// The replies that were counted, by the hashes of their ids.
#[derive(Debug, Default)]
pub(super) struct Seen {
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl Work {
    /// Takes the replies of a turn that goes on to which nothing more belongs, and lets them go.
    pub(super) fn settle(&mut self, turn: &mut Turn, seen: &mut Seen) {
        let last = turn.thread.rounds.len().saturating_sub(1);
        let settled = (0..last).take_while(|round| !turn.waits_for(*round)).count();
        if settled == 0 {
            return;
        }
        self.prompt(turn, seen);
        for round in &turn.thread.rounds[..settled] {
            self.round(round, seen);
            for block in &round.blocks {
                if let Block::Call(call) = block
                    && call.result.is_none()
                {
                    self.open.insert(seen.hash(&call.id));
                }
            }
        }
        let asides = turn.asides.iter().take_while(|aside| aside.round < settled).count();
        turn.let_go(settled, asides);
    }

    /// Takes the rest of a turn that has ended.
    pub(super) fn end(&mut self, turn: &Turn, seen: &mut Seen) {
        for round in &turn.thread.rounds {
            self.round(round, seen);
        }
        for stray in &turn.strays {
            self.subagent(stray, seen);
        }
        if self.with_ids == 0 {
            self.prompt(turn, seen);
        }
    }

    /// What tells a turn from others whose replies have no ids.
    pub(super) const fn said(&self) -> (u64, Option<u64>) {
        (self.text, self.prompt)
    }

    fn prompt(&mut self, turn: &Turn, seen: &Seen) {
        let first = turn.thread.prompts.first();
        self.prompt = self.prompt.or_else(|| first.map(|prompt| seen.hash(prompt.content.text())));
    }

    fn round(&mut self, round: &Round, seen: &mut Seen) {
        if round.model.is_some() {
            self.model.clone_from(&round.model);
        }
        self.says_usage |= round.usage.is_some();
        let mut is_new = true;
        if let Some(id) = &round.id {
            self.with_ids += 1;
            is_new = seen.insert(("reply", id));
            self.copied += u64::from(!is_new);
        } else {
            for block in &round.blocks {
                if let Block::Text(text) = block {
                    self.text = seen.hash((self.text, text));
                }
            }
        }
        if is_new {
            add(&mut self.main, round, |call| self.open.remove(&seen.hash(&call.id)));
        }
        self.within(round, seen);
    }

    /// Takes what subagents did in calls of a reply.
    fn within(&mut self, round: &Round, seen: &mut Seen) {
        for block in &round.blocks {
            if let Block::Call(call) = block
                && let Some(subagent) = &call.subagent
            {
                self.subagent(subagent, seen);
            }
        }
    }

    fn subagent(
        &mut self,
        Subagent {
            thread: Thread { rounds, .. },
            ..
        }: &Subagent,
        seen: &mut Seen,
    ) {
        for round in rounds {
            if round.id.as_ref().is_none_or(|id| seen.insert(("reply", id))) {
                add(&mut self.subagents, round, |_| false);
            }
            self.within(round, seen);
        }
    }
}

impl Seen {
    /// Notes something; returns whether it is new.
    pub(super) fn insert(&mut self, what: impl std::hash::Hash) -> bool {
        let hash = self.hash(what);
        self.seen.insert(hash)
    }

    /// A number for something.
    pub(super) fn hash(&self, what: impl std::hash::Hash) -> u64 {
        self.hasher.hash_one(what)
    }
}

/// Counts a reply that was not counted before, but not the calls again that were.
fn add(models: &mut Models, round: &Round, mut was_counted: impl FnMut(&Call) -> bool) {
    if !models.contains_key(&round.model) {
        models.insert(round.model.clone(), Used::default());
    }
    let used = models.get_mut(&round.model).expect("it was there, or has just been put there");
    used.rounds += 1;
    if let Some(usage) = &round.usage {
        let tokens = Tokens::of(usage);
        used.replies += u64::from(!tokens.is_empty());
        used.tokens.add(&tokens);
    }
    for block in &round.blocks {
        let Block::Call(call) = block else { continue };
        if !used.calls.contains_key(&call.name) {
            used.calls.insert(call.name.clone(), Calls::default());
        }
        let calls = used.calls.get_mut(&call.name).expect("it was there, or has just been put there");
        calls.calls += u64::from(!was_counted(call));
        calls.failed += u64::from(call.result.as_ref().is_some_and(|result| result.status != ResultStatus::Success));
        calls.ms += took(call).unwrap_or(0);
    }
}

/// Milliseconds between a call and its result.
fn took(call: &Call) -> Option<u64> {
    let millis = |time: &Option<Time>| time.as_ref().and_then(Time::millis);
    u64::try_from(millis(&call.answered)?.checked_sub(millis(&call.asked)?)?).ok()
}
