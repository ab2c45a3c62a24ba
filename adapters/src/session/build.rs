//! Turns out of whole events.

use std::collections::VecDeque;

use super::{Aside, AsideKind, Block, Call, Permission, Round, Subagent, Thread, Turn};
use crate::events::mirror::Mirror;
use crate::events::{
    self, Event, InputKind, Kind, Outcome, OutcomeKind, Place, Provenance, Reply, Request, Response, RoundEnd, Scope, SessionFacts, Time, ToolKind,
    ToolResult, Topic, Usage,
};
use crate::tools::any_kind;

/// Puts turns together, event by event.
#[derive(Debug, Default)]
pub(super) struct Builder {
    session: Option<String>,
    facts: Option<SessionFacts>,
    /// How many turns of the session have begun.
    number: u64,
    turn: Option<Turn>,
    ended: VecDeque<Turn>,
    /// What belongs to no turn so far.
    between: Vec<Event>,
    /// The tokens of the session up to the turn.
    before: crate::event::Usage<'static>,
    /// Where what is taken stands.
    pub(super) place: u64,
}

impl Builder {
    /// Takes an event.
    pub(super) fn take(&mut self, event: Event) {
        let other = event.origin.session.as_ref().is_some_and(|id| Some(id) != self.session.as_ref());
        if other {
            self.finish();
            *self = Self {
                session: event.origin.session.clone(),
                between: std::mem::take(&mut self.between),
                ended: std::mem::take(&mut self.ended),
                place: self.place,
                ..Self::default()
            };
        }
        // A log of the host's side knows no outcomes.
        if matches!(event.kind, Kind::Input(ref kind) if matches!(**kind, InputKind::Prompt(_) | InputKind::Chat(_)))
            && self
                .turn
                .as_ref()
                .is_some_and(|turn| turn.thread.rounds.is_empty() && (turn.gone.prompted || !turn.thread.prompts.is_empty()))
        {
            self.finish();
        }
        if let Kind::Session(facts) = &event.kind {
            self.facts = Some((**facts).clone());
        }
        if self.turn.is_none() {
            if !begins_a_turn(&event) {
                if !matches!(event.kind, Kind::Session(_)) {
                    self.between.push(event);
                }
                return;
            }
            self.number += 1;
            let others = std::mem::take(&mut self.between);
            let aside = Aside {
                round: 0,
                block: 0,
                what: AsideKind::Other,
            };
            self.turn = Some(Turn {
                session: self.session.clone(),
                number: self.number,
                asides: vec![aside; others.len()],
                others,
                places: (self.place, self.place),
                ..Turn::default()
            });
        }
        let Some(turn) = &mut self.turn else { return };
        if event.origin.time.is_some() {
            turn.ended.clone_from(&event.origin.time);
            if turn.started.is_none() {
                turn.started.clone_from(&event.origin.time);
            }
        }
        turn.places.1 = self.place;
        if turn.take(event, self.place) {
            self.finish();
        }
    }

    /// Ends the turn that goes on.
    pub(super) fn finish(&mut self) {
        if let Some(mut turn) = self.turn.take() {
            turn.facts.clone_from(&self.facts);
            turn.fail();
            turn.count_tokens(&mut self.before);
            self.ended.push_back(turn);
        }
    }

    /// The next turn that has ended.
    pub(super) fn next(&mut self) -> Option<Turn> {
        self.ended.pop_front()
    }

    /// The turn that has not ended.
    pub(super) fn going_on(&mut self) -> Option<&mut Turn> {
        let turn = self.turn.as_mut()?;
        if turn.facts.is_none() {
            turn.facts.clone_from(&self.facts);
        }
        Some(turn)
    }

    pub(super) fn rest(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.between)
    }
}

/// Whether an event is part of a turn, so that it begins one when none goes on.
fn begins_a_turn(event: &Event) -> bool {
    match &event.kind {
        Kind::Session(facts) => facts.opens_turn,
        Kind::Input(kind) => matches!(**kind, InputKind::Prompt(_) | InputKind::Chat(_)),
        Kind::Request(request) => request.permission.is_some(),
        Kind::Prompt(_)
        | Kind::RoundStart(_)
        | Kind::RoundEnd(_)
        | Kind::Reply(_)
        | Kind::ToolResult(_)
        | Kind::ToolProgress(_)
        | Kind::Outcome(_)
        | Kind::Fatal(_) => true,
        _ => false,
    }
}

impl Turn {
    /// Takes an event and notes where it stands; returns whether it was the last one.
    fn take(&mut self, event: Event, place: u64) -> bool {
        let before = self.beside();
        let is_last = self.put(event, place);
        let after = self.beside();
        let kinds = [
            AsideKind::Prompt,
            AsideKind::Permission,
            AsideKind::Retry,
            AsideKind::Compaction,
            AsideKind::Other,
        ];
        for (what, _) in kinds
            .into_iter()
            .zip(before.into_iter().zip(after))
            .filter(|(_, (before, after))| before != after)
        {
            let last = self.thread.rounds.last();
            self.asides.push(Aside {
                round: self.thread.rounds.len().saturating_sub(1),
                block: last.map_or(0, |round| round.blocks.len()),
                what,
            });
        }
        is_last
    }

    /// How many things there are of each [`AsideKind`].
    const fn beside(&self) -> [usize; 5] {
        [
            self.thread.prompts.len(),
            self.permissions.len(),
            self.retries.len(),
            self.compactions.len(),
            self.others.len(),
        ]
    }

    fn put(&mut self, event: Event, place: u64) -> bool {
        let time = event.origin.time.clone();
        match event.kind {
            Kind::Session(_) => {}
            Kind::Prompt(prompt) => self.thread_of(&event.origin).prompt(*prompt, place),
            Kind::RoundStart(start) => {
                let round = self.thread_of(&event.origin).begin(start.id, place);
                round.model = start.model.or(round.model.take());
                round.usage = start.usage.or(round.usage.take());
                round.time = round.time.take().or(time);
            }
            Kind::Reply(reply) => {
                let round = self.thread_of(&event.origin).round(reply.id.clone(), place);
                round.time = round.time.take().or_else(|| time.clone());
                round.add(*reply, time.as_ref(), place);
            }
            Kind::RoundEnd(end) => {
                if let Some(round) = self.thread_of(&event.origin).rounds.last_mut() {
                    round.end(*end);
                }
            }
            Kind::ToolResult(result) => self.result(&event.origin, *result, place),
            Kind::ToolProgress(progress) => match self.call(&progress.call) {
                Some(call) => call.progress.push(*progress),
                None => self.others.push(Event {
                    kind: Kind::ToolProgress(progress),
                    ..event
                }),
            },
            Kind::Request(request) if request.permission.is_some() => self.asks(*request),
            Kind::Notice(notice) if notice.topic == Topic::Retry => self.retries.push(*notice),
            Kind::Notice(notice) if notice.topic == Topic::Compaction => self.compactions.push(*notice),
            Kind::Outcome(outcome) => {
                self.outcome = Some(*outcome);
                return true;
            }
            Kind::Withdraw(ref withdraw) => match self.permission(withdraw.id.as_deref()) {
                Some(permission) => permission.withdrawn = true,
                None => self.others.push(event),
            },
            Kind::Input(ref kind) => match &**kind {
                InputKind::Prompt(prompt) => self.thread.prompt((**prompt).clone(), place),
                InputKind::Response(answer) => {
                    if !self.answered(answer) {
                        self.others.push(event);
                    }
                }
                _ => self.others.push(event),
            },
            _ => self.others.push(event),
        }
        false
    }

    /// The thread that an event belongs to.
    fn thread_of(&mut self, origin: &events::Origin) -> &mut Thread {
        let Some(parent) = &origin.parent else { return &mut self.thread };
        let known = self.thread.call(parent).is_some();
        let subagent = if known {
            let call = self.thread.call(parent).expect("it was just found");
            call.subagent.get_or_insert_with(|| Subagent::of(parent))
        } else {
            let at = self.strays.iter().position(|stray| stray.call == *parent).unwrap_or_else(|| {
                self.strays.push(Subagent::of(parent));
                self.strays.len() - 1
            });
            &mut self.strays[at]
        };
        if let (None, Some(agent)) = (&subagent.agent, &origin.agent) {
            subagent.agent = Some((**agent).clone());
        }
        &mut subagent.thread
    }

    /// The call with that id, in whichever thread.
    fn call(&mut self, id: &str) -> Option<&mut Call> {
        let Self { thread, strays, .. } = self;
        thread
            .call(id)
            .or_else(|| strays.iter_mut().rev().find_map(|stray| stray.thread.call(id)))
    }

    /// The call that a result under that id is of.
    fn answers(&mut self, origin: &events::Origin, id: &str) -> Option<&mut Call> {
        let parent = origin.parent.as_deref();
        let inside = |turn: &mut Self| {
            let subagent = turn.call(parent?)?.subagent.as_mut()?;
            subagent.thread.answers(id).map(|_| ())
        };
        if inside(self).is_some() {
            return self.call(parent?)?.subagent.as_mut()?.thread.answers(id);
        }
        let Self { thread, strays, .. } = self;
        thread
            .answers(id)
            .or_else(|| strays.iter_mut().rev().find_map(|stray| stray.thread.answers(id)))
    }

    fn result(&mut self, origin: &events::Origin, mut result: ToolResult, place: u64) {
        let of = result.of.take();
        if self.answers(origin, &result.call).is_none() {
            let made = of.unwrap_or_else(|| events::ToolCall::new(&result.call, result.name.as_deref().unwrap_or_default(), events::Json::default()));
            self.thread_of(origin)
                .round(None, place)
                .blocks
                .push(Block::Call(Box::new(Call::new(made))));
        }
        if let Some(call) = self.answers(origin, &result.call) {
            call.answered.clone_from(&origin.time);
            call.places.1 = place;
            call.result = Some(result);
        }
    }

    fn asks(&mut self, request: Request) {
        let permission = Permission {
            id: request.id,
            asked: request.permission.map(|asked| *asked).unwrap_or_default(),
            ..Permission::default()
        };
        let id = permission.asked.call.clone().unwrap_or_default();
        match self.call(&id).filter(|call| call.permission.is_none()) {
            Some(call) => call.permission = Some(permission),
            None => self.permissions.push(permission),
        }
    }

    /// The request for permission with that id.
    fn permission(&mut self, id: Option<&str>) -> Option<&mut Permission> {
        let Self {
            thread, strays, permissions, ..
        } = self;
        let named = |permission: &&mut Permission| permission.id.as_deref() == id;
        permissions
            .iter_mut()
            .find(named)
            .or_else(|| thread.permission(id))
            .or_else(|| strays.iter_mut().find_map(|stray| stray.thread.permission(id)))
    }

    fn answered(&mut self, answer: &Response) -> bool {
        let permission = self.permission(answer.id.as_deref());
        permission.map(|permission| permission.answer = Some(answer.clone())).is_some()
    }

    /// A program that ends with an error leaves its turn without an outcome.
    fn fail(&mut self) {
        let mut others = self.others.iter();
        let fatal = || {
            others.find_map(|event| {
                if let Kind::Fatal(fatal) = &event.kind {
                    Some(fatal.message.clone())
                } else {
                    None
                }
            })
        };
        let fatal = self.gone.fatal.take().or_else(fatal);
        // That the log ends there says less.
        let unsaid = self.outcome.as_ref().is_none_or(|outcome| outcome.synthetic && outcome.is_error);
        if let Some(fatal) = fatal.filter(|_| unsaid) {
            let mut outcome = Outcome::new(OutcomeKind::Failed(Place::Backend));
            outcome.synthetic = true;
            outcome.error = Some(fatal);
            self.outcome = Some(outcome);
        }
    }

    /// Settles what the turn has cost; `before` is the session's sum before it, and becomes the one behind it.
    fn count_tokens(&mut self, before: &mut crate::event::Usage<'static>) {
        match self.outcome.as_ref().and_then(|outcome: &Outcome| outcome.usage.clone()) {
            Some(usage) if usage.scope == Scope::Session => {
                let arena = bumpalo::Bump::new();
                let mut turn: Usage = Mirror::own(&usage.borrow(&arena).of_turn(before));
                turn.provenance = Provenance::Derived;
                self.usage = Some(turn);
                self.session_usage = Some(usage);
            }
            Some(usage) => self.usage = Some(usage),
            None => {
                self.usage = {
                    let rounds = self.thread.rounds.iter().filter_map(|round| round.usage.as_ref());
                    sum(self.gone.usage.iter().chain(rounds))
                }
            }
        }
    }
}

/// The sum of what rounds have cost.
pub(super) fn sum<'u>(rounds: impl Iterator<Item = &'u Usage>) -> Option<Usage> {
    let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (one, other) => one.or(other),
    };
    rounds.fold(None, |sum, round| {
        let sum = sum.unwrap_or_default();
        Some(Usage {
            input: add(sum.input, round.input),
            output: add(sum.output, round.output),
            reasoning: add(sum.reasoning, round.reasoning),
            cache_read: add(sum.cache_read, round.cache_read),
            cache_write: add(sum.cache_write, round.cache_write),
            total: add(sum.total, round.total),
            inclusive: round.inclusive,
            reasoning_beside: round.reasoning_beside,
            scope: Scope::Turn,
            provenance: Provenance::Derived,
            raw: None,
        })
    })
}

impl Thread {
    fn prompt(&mut self, prompt: events::Prompt, place: u64) {
        self.prompts.push(prompt);
        self.prompt_places.push(place);
    }

    /// Begins a round, unless the last one has just begun.
    fn begin(&mut self, id: Option<String>, place: u64) -> &mut Round {
        let fresh = self
            .rounds
            .last()
            .is_some_and(|round| !round.over && round.blocks.is_empty() && (round.id.is_none() || round.id == id));
        if !fresh {
            self.rounds.push(Round { place, ..Round::default() });
        }
        let round = self.rounds.last_mut().expect("one was just put in");
        round.id = round.id.take().or(id);
        round
    }

    /// The round that a reply with that id is part of.
    fn round(&mut self, id: Option<String>, place: u64) -> &mut Round {
        let goes_on = self.rounds.last().is_some_and(|round| match (&round.id, &id) {
            (Some(round_id), Some(id)) => round_id == id,
            _ => !round.over,
        });
        if !goes_on {
            return self.begin(id, place);
        }
        let round = self.rounds.last_mut().expect("there is a last one");
        round.id = round.id.take().or(id);
        round
    }

    /// The call with that id, here or in a subagent; what is asked for has mostly just been said.
    fn call(&mut self, id: &str) -> Option<&mut Call> {
        let blocks = self.rounds.iter_mut().rev().flat_map(|round| round.blocks.iter_mut().rev());
        for block in blocks {
            let Block::Call(call) = block else { continue };
            if call.id == id {
                return Some(call);
            }
            if let Some(found) = call.subagent.as_mut().and_then(|subagent| subagent.thread.call(id)) {
                return Some(found);
            }
        }
        None
    }

    /// The call that a result under that id is of: in the last round that has any, the first one that has none yet.
    fn answers(&mut self, id: &str) -> Option<&mut Call> {
        let is = |block: &Block| matches!(block, Block::Call(call) if call.id == id);
        let waits = |block: &Block| matches!(block, Block::Call(call) if call.id == id && call.result.is_none());
        self.rounds.iter_mut().rev().find_map(|round| {
            if let Some(last) = round.blocks.iter().rposition(is) {
                let first = round.blocks[..last].iter().position(waits);
                return match &mut round.blocks[first.unwrap_or(last)] {
                    Block::Call(call) => Some(&mut **call),
                    _ => None,
                };
            }
            round.blocks.iter_mut().rev().find_map(|block| match block {
                Block::Call(call) => call.subagent.as_mut()?.thread.answers(id),
                _ => None,
            })
        })
    }

    fn permission(&mut self, id: Option<&str>) -> Option<&mut Permission> {
        let blocks = self.rounds.iter_mut().rev().flat_map(|round| round.blocks.iter_mut().rev());
        for block in blocks {
            let Block::Call(call) = block else { continue };
            let Call { permission, subagent, .. } = &mut **call;
            if let Some(permission) = permission.as_mut().filter(|permission| permission.id.as_deref() == id) {
                return Some(permission);
            }
            if let Some(found) = subagent.as_mut().and_then(|subagent| subagent.thread.permission(id)) {
                return Some(found);
            }
        }
        None
    }
}

impl Round {
    fn add(&mut self, reply: Reply, time: Option<&Time>, place: u64) {
        self.model = reply.model.or(self.model.take());
        self.stop = reply.stop.or(self.stop.take());
        self.usage = reply.usage.or(self.usage.take());
        self.error = reply.error.or(self.error.take());
        self.blocks.extend(reply.blocks.into_iter().map(|block| match block {
            events::Block::Text { text, .. } => Block::Text(text),
            events::Block::Thinking(thinking) => Block::Thinking(thinking),
            events::Block::Call(call) => {
                let mut call = Box::new(Call::new(call));
                call.asked = time.cloned();
                call.places.0 = place;
                Block::Call(call)
            }
            other => Block::Other(other),
        }));
        self.over |= reply.last;
    }

    fn end(&mut self, end: RoundEnd) {
        self.stop = end.stop.or(self.stop.take());
        self.usage = end.usage.or(self.usage.take());
        if let Some(from) = end.abandoned_from {
            self.retracted = self.blocks.split_off(self.blocks.len().min(from as usize));
        }
        self.over = true;
    }
}

impl Call {
    fn new(call: events::ToolCall) -> Self {
        Self {
            id: call.id,
            // The canonical events call tools as any dialect does.
            kind: match call.kind {
                ToolKind::Other => any_kind(&call.name),
                kind => kind,
            },
            name: call.name,
            input: call.input,
            asked: None,
            answered: None,
            permission: None,
            progress: Vec::new(),
            result: None,
            subagent: None,
            places: (0, 0),
        }
    }
}

impl Subagent {
    fn of(call: &str) -> Self {
        Self {
            call: call.to_owned(),
            ..Self::default()
        }
    }
}
