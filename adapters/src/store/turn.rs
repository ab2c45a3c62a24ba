//! How the turns of a store end.

use crate::codec::Cx;
use crate::event::{Block, Cost, Event, Fate, Kind, Limit, Origin, Outcome, OutcomeKind, Place, Provenance, Reply, Scope, Sink, StopKind, Usage};
use crate::ids::hash;
use crate::json::Str;
use crate::trace::Kept;

/// The turn that a store is in, as far as it is needed to work out how the turn ended. Only what the main thread says is told.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    open: bool,
    last: Last,
    /// What else has ended it.
    ended: Option<OutcomeKind>,
    /// What went wrong, as the body of a JSON string.
    error: Option<String>,
    /// Where the source says that, for the ledger.
    kept: Kept,
    /// Which reply has the usage that was counted last.
    round: Option<u64>,
    usage: Usage<'static>,
    /// The tokens of the replies before.
    spent: Option<Usage<'static>>,
    cost: Cost,
}

/// What the ledger says of an outcome that was worked out.
pub(crate) const DERIVED: &str = "what a program keeps of a session does not say how a turn ended: that was worked out from what was said last";

/// What was said last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// The prompt, or a result: a reply would follow.
    #[default]
    Open,
    /// A reply that calls tools.
    Calls,
    /// A reply that calls none, and why it stopped.
    Reply(StopKind),
    /// The program answered itself.
    Local,
}

impl Turn {
    /// Whether it has begun and has not ended.
    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// The model, or the program in its place, has said this.
    pub(crate) fn reply(&mut self, reply: &Reply<'_>) {
        self.open = true;
        self.ended = None;
        self.count(reply);
        let text = reply.blocks.iter().rev().find_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_escaped().to_owned()),
            _ => None,
        });
        self.error = reply.error.map(|word| text.unwrap_or_else(|| word.as_escaped().to_owned()));
        let calls = reply.blocks.iter().any(|block| matches!(block, Block::Call(_)));
        self.last = match reply.stop.map(|stop| stop.kind) {
            // A call may be left behind by a turn that says that it is done.
            Some(StopKind::Done) => Last::Reply(StopKind::Done),
            _ if calls => Last::Calls,
            Some(StopKind::Tools) => Last::Open,
            stop => Last::Reply(stop.unwrap_or(StopKind::Done)),
        };
    }

    /// A tool has run, or something that the model has still to answer was said.
    pub(crate) const fn goes_on(&mut self) {
        self.open = true;
        self.last = Last::Open;
    }

    /// The program answered the prompt itself, without the model.
    pub(crate) fn answered(&mut self) {
        if self.open && self.last == Last::Open {
            self.last = Last::Local;
        }
    }

    /// The model could not be asked.
    pub(crate) fn failed(&mut self, error: Str<'_>) {
        if self.open {
            self.error = Some(error.as_escaped().to_owned());
        }
    }

    /// The line that says so has been told. What went wrong goes over with the outcome, where it has not by now.
    pub(crate) fn keeps(&mut self, error: Str<'_>, cx: &Cx<'_>) {
        if let Some(trace) = cx.trace.filter(|_| self.open) {
            trace.tell_held(&mut self.kept, Fate::Dropped, "another error followed");
            trace.hold_unsaid(&mut self.kept, error.as_escaped());
        }
    }

    /// The outcome has been told: whether it says what went wrong.
    pub(crate) fn told(&mut self, outcome: &Outcome<'_>, cx: &Cx<'_>) {
        if let Some(trace) = cx.trace {
            trace.told(
                &mut self.kept,
                outcome.error.unwrap_or_default().as_escaped(),
                "the outcome does not say it",
            );
        }
    }

    /// It ended so, whatever was said last.
    pub(crate) fn ends_as(&mut self, kind: OutcomeKind) {
        if self.open {
            self.ended = Some(kind);
        }
    }

    fn count(&mut self, reply: &Reply<'_>) {
        if let Some(usage) = &reply.usage {
            self.add(usage, reply.id.map(|id| hash(id.as_escaped())));
        }
    }

    /// A model call has used this.
    pub(crate) fn used(&mut self, usage: &Usage<'_>) {
        if self.open {
            self.add(usage, None);
        }
    }

    /// A reply has cost this.
    pub(crate) fn cost(&mut self, cost: Option<f64>) {
        self.cost.add(cost);
    }

    fn add(&mut self, usage: &Usage<'_>, round: Option<u64>) {
        if self.round.is_some() && (round.is_none() || round != self.round) {
            Usage::add(&mut self.spent, &self.usage);
        }
        self.round = Some(round.unwrap_or_default());
        self.usage = usage.detached();
    }

    /// Tells how it ended, if it is open; the next one may begin.
    pub(crate) fn end<'a>(&mut self, session: &str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(outcome) = self.outcome(cx) else { return };
        if let Some(trace) = cx.trace {
            trace.note(Fate::Invented, "", DERIVED);
        }
        let origin = Origin {
            session: (!session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(session))),
            ..Origin::default()
        };
        sink.event(&Event::new(origin, Kind::Outcome(&*cx.arena.alloc(outcome))));
        self.told(&outcome, cx);
    }

    /// How it ended, if it is open; the next one may begin. [`Self::told`] ends it.
    pub(crate) fn outcome<'a>(&mut self, cx: &Cx<'a>) -> Option<Outcome<'a>> {
        if !self.open {
            return None;
        }
        let turn = std::mem::take(self);
        let kind = turn.kind();
        let error = match (&turn.error, kind) {
            (Some(error), _) => Some(Str::trusted(cx.arena.alloc_str(error))),
            (None, OutcomeKind::Failed(_)) => Some(Str::trusted(Outcome::FILE_CUT_OFF)),
            _ => None,
        };
        if let (Some(trace), Some(error)) = (cx.trace, error.filter(|_| turn.error.is_some())) {
            trace.watch(error.as_escaped(), &turn.kept);
        }
        self.kept = turn.kept;
        let usage = turn.round.map(|_| {
            let mut usage = turn.spent;
            Usage::add(&mut usage, &turn.usage);
            Usage {
                scope: Scope::Turn,
                provenance: Provenance::Derived,
                ..usage.unwrap_or_default()
            }
        });
        Some(Outcome {
            synthetic: true,
            error: error.filter(|_| kind != OutcomeKind::Success),
            usage,
            cost_usd: turn.cost.said(cx.arena),
            cost_scope: Scope::Turn,
            ..Outcome::new(kind)
        })
    }

    fn kind(&self) -> OutcomeKind {
        match (self.ended, self.last) {
            (Some(kind), _) => kind,
            _ if self.error.is_some() => OutcomeKind::Failed(Place::Model),
            (_, Last::Reply(StopKind::Refusal)) => OutcomeKind::Refused,
            (_, Last::Reply(StopKind::Length)) => OutcomeKind::Limit(Limit::Tokens),
            (_, Last::Reply(_) | Last::Local) => OutcomeKind::Success,
            (_, Last::Open | Last::Calls) => OutcomeKind::Failed(Place::Protocol),
        }
    }
}
