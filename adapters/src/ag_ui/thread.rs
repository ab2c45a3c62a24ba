//! What is said by one agent: its rounds, and what of them is open.

use std::collections::BTreeMap;

use super::blocks::What;
use super::told;
use crate::codec::Cx;
use crate::event::{Agent, BlockStop, Event, Kind, Origin, RoundEnd, RoundStart, RoundStop, Sink};
use crate::json::Str;

/// The main agent, or a subagent.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The subagent's id; empty for the main agent.
    pub(super) id: String,
    /// The call that it works for.
    pub(super) call: String,
    pub(super) name: String,
    pub(super) task: String,
    round: Round,
    /// What is open, by what it is and by its id.
    pub(super) texts: BTreeMap<String, Open>,
    pub(super) thoughts: BTreeMap<String, Open>,
    pub(super) calls: BTreeMap<String, Open>,
    /// The span of thoughts that is open, and whether it has a message.
    pub(super) span: Option<(String, bool)>,
    /// A thought that has ended and may yet get its seal.
    pub(super) ended: Option<String>,
}

#[derive(Debug, Default)]
struct Round {
    open: bool,
    /// The step that it is; empty where nothing says that it begins.
    step: String,
    /// Its id is known.
    named: bool,
    resulted: bool,
    next: u32,
}

/// Something that comes in pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) index: u32,
    /// A line says that it begins.
    pub(super) started: bool,
    /// The print of what was said of it.
    pub(super) said: u64,
}

impl Thread {
    /// A subagent.
    pub(super) fn of(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..Self::default()
        }
    }

    /// Where its events belong.
    pub(super) fn origin<'a>(&self, said: Option<Str<'a>>, origin: Origin<'a>, cx: &Cx<'a>) -> Origin<'a> {
        if self.id.is_empty() {
            return origin;
        }
        let text = |text: &str| (!text.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(text)));
        let own = said.or_else(|| text(&self.id));
        Origin {
            parent: text(&self.call).or(own),
            agent: said.map(|id| {
                cx.keep(Agent {
                    id: Some(id),
                    name: text(&self.name),
                    task: text(&self.task),
                })
            }),
            ..origin
        }
    }

    fn is_quiet(&self) -> bool {
        self.texts.is_empty() && self.thoughts.is_empty() && self.calls.is_empty()
    }

    /// Something of a round is about to be told. Nothing but our own steps says where one begins: it does behind results, and where none is open.
    pub(super) fn need_round<'a>(&mut self, id: Option<Str<'a>>, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let another = self.round.resulted && self.round.step.is_empty() && self.is_quiet();
        if self.round.open && !another {
            // Thoughts, which come first, do not know it.
            if let Some(id) = id.filter(|_| !self.round.named && self.round.step.is_empty()) {
                self.round.named = true;
                let stop = cx.keep(RoundStop {
                    id: Some(id),
                    ..RoundStop::default()
                });
                sink.event(&Event::new(origin, Kind::RoundStop(stop)));
            }
            return;
        }
        self.end_implied(origin, sink);
        self.round = Round {
            open: true,
            named: id.is_some(),
            ..Round::default()
        };
        let start = cx.keep(RoundStart { id, ..RoundStart::default() });
        sink.event(&Event::new(origin, Kind::RoundStart(start)));
    }

    /// A step begins that is a round.
    pub(super) fn begin_step<'a>(&mut self, step: &str, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        self.end_implied(origin, sink);
        self.forget();
        self.round = Round {
            open: true,
            step: step.to_owned(),
            ..Round::default()
        };
    }

    /// A step is over; whether it is the round that is open.
    pub(super) fn end_step(&mut self, step: &str) -> bool {
        let ends = self.round.open && self.round.step == step;
        if ends {
            self.round = Round::default();
            self.forget();
        }
        ends
    }

    /// What was open is not open any more: another round begins.
    fn forget(&mut self) {
        self.texts.clear();
        self.thoughts.clear();
        self.calls.clear();
        self.ended = None;
    }

    /// The round is over, if nothing says where it is.
    pub(super) fn end_implied<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        if self.round.open && self.round.step.is_empty() {
            self.round = Round::default();
            sink.event(&Event::new(origin, Kind::RoundEnd(&RoundEnd::PLAIN)));
        }
    }

    /// A result comes: a round is over of which nothing is open.
    pub(super) fn resulted<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        self.round.resulted = true;
        if self.is_quiet() {
            self.end_implied(origin, sink);
        }
    }

    /// One more piece of what is open.
    pub(super) fn says(&mut self, what: What, id: Str<'_>, piece: Str<'_>) {
        if let Some(open) = what.of(self).get_mut(id.as_escaped()) {
            open.said = told::more(open.said, piece);
        }
    }

    /// The index of the next block.
    pub(super) const fn next(&mut self) -> u32 {
        let index = self.round.next;
        self.round.next = index.saturating_add(1);
        index
    }

    /// A thought that has ended gets no seal any more.
    pub(super) fn stop_ended<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        let ended = self.ended.take().and_then(|id| self.thoughts.remove(&id));
        if let Some(Open { index, .. }) = ended {
            sink.event(&Event::new(origin, Kind::BlockStop(BlockStop { index })));
        }
    }
}
