//! One thread of a turn: the main one or a subagent's.

use std::collections::VecDeque;

use super::blocks::Blocks;
use super::pending::{BlockKind, NO_PLACE, Pending, in_thread};
use super::pieces::piece_of;
use super::results::Results;
use super::round::Round;
use super::spent::Spent;
use super::waiting::Waiting;
use super::{Desk, Down, EMPTY_REPLY};
use crate::codec::{Encode, Tools};
use crate::event::{
    Agent, Block, BlockHead, BlockStart, BlockStop, Delta, Event, Kind, Origin, Outcome, Piece, Reply, RoundEnd, RoundStart, RoundStop, Stop, Time,
};
use crate::json::{Str, alike};

/// With so many blocks of one round those are forgotten of which nothing is left to say.
const MOST_SAID: usize = 1024;

/// What is half said in a thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The tool call whose subagent this is; empty for the main thread.
    pub(super) parent: String,
    /// Who that subagent is, as far as it was said: its id, its kind and what it was asked to do. Known where a target may say it with every line.
    pub(super) speaker: [String; 3],
    pub(super) round: Round,
    pub(super) spent: Spent,
    pub(super) blocks: Blocks,
    /// Pieces of a reply that was given up; they may come again under another id.
    pub(super) ghosts: VecDeque<Pending>,
    /// How many blocks were left when those were forgotten of which nothing was left to say.
    unsaid: usize,
    pub(super) next_index: u32,
    /// The block that has begun to go on in pieces and has not ended, if there is one: blocks do not overlap.
    pub(super) open: Option<usize>,
    /// What the blocks wait for.
    pub(super) waiting: Waiting,
    pub(super) resulted: bool,
    /// Whole calls that wait for a result.
    pub(super) waiting_calls: usize,
    /// Results that are told when the round has ended.
    pub(super) results: Results,
    /// For each block of a snapshot: which pending block says the same. Kept for its memory, as is a text that is being escaped.
    known: Vec<Option<usize>>,
    pub(super) escaped: Vec<u8>,
}

impl Thread {
    pub(super) fn of(parent: Str<'_>) -> Self {
        Self {
            parent: parent.as_escaped().to_owned(),
            ..Self::default()
        }
    }

    /// A line says who speaks here.
    pub(super) fn is_of(&mut self, agent: &Agent<'_>) {
        for (known, said) in self.speaker.iter_mut().zip([agent.id, agent.name, agent.task]) {
            if let Some(said) = said.filter(|said| !alike(said.as_escaped(), known)) {
                said.as_escaped().clone_into(known);
            }
        }
    }

    pub(super) fn round_start(&mut self, event: &Event<'_>, start: &RoundStart<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        self.settle(event.origin, &mut desk);
        self.end_round(event.origin, &mut desk);
        self.open_round(start.id, start.model);
        if let Some(usage) = &start.usage {
            self.round.counts(usage, &mut desk);
        }
        self.round.declared = true;
        desk.emit(event);
        if let (Some(model), Some(trace)) = (start.model.filter(|_| desk.want.snapshots), desk.down.cx.trace) {
            trace.hold_model(&mut self.round.unsaid_model, model.as_escaped());
        }
    }

    pub(super) fn block_start(&mut self, event: &Event<'_>, start: BlockStart<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        let at = self.begin_block(event, start, &mut desk);
        match start.head {
            BlockHead::Call { .. } if desk.want.tools == Tools::Nothing => desk.down.out.left_out(NO_PLACE),
            _ if desk.want.deltas => {}
            // Its name may go over, and its arguments do not.
            BlockHead::Call { .. } if desk.want.tools == Tools::Names => {
                if let Some(trace) = desk.down.cx.trace {
                    trace.carried_apart();
                }
            }
            // Whether what it says has a place is told when it goes over, or by the whole block.
            BlockHead::Redacted { .. } | BlockHead::Other { .. } => {
                desk.down.out.merged_with(&self.blocks[at].kept, "deltas of a block that goes over whole");
            }
            _ => desk.down.out.merged("deltas of a block that goes over whole"),
        }
    }

    /// Returns the place of the block that it was a piece of, if that is known.
    #[inline]
    pub(super) fn delta(&mut self, event: &Event<'_>, delta: Delta<'_>, mut desk: Desk<'_, '_, '_>) -> Option<usize> {
        if desk.want.as_is {
            desk.emit(event);
            return None;
        }
        let stopped = self.stopped(delta);
        let unclosed = stopped.filter(|&at| !self.blocks[at].closed && !self.blocks[at].shown);
        let known = self.waiting.growing(&self.blocks, delta.index).or(unclosed);
        let at = match known.filter(|&at| !self.blocks[at].has_gone()) {
            Some(at) => at,
            None => {
                if let Some(gone) = known.map(|at| &mut self.blocks[at]) {
                    if gone.kind == BlockKind::Call {
                        desk.down.out.left_out("the call went over before this piece of its arguments came");
                        return None;
                    }
                    // The rest of it is a block of its own.
                    gone.complete = true;
                }
                let head = match delta.piece {
                    Piece::Thinking(_) | Piece::Signature(_) | Piece::Subject(_) => BlockHead::Thinking,
                    Piece::Input(_) => BlockHead::Call {
                        id: Str::EMPTY,
                        name: Str::EMPTY,
                    },
                    Piece::Text(_) | Piece::Other(_) => BlockHead::Text,
                };
                let at = self.begin_block(event, BlockStart { index: delta.index, head }, &mut desk);
                if let (Some(stopped), false) = (stopped.filter(|stopped| stopped + 1 == at), desk.want.snapshots) {
                    // In the target it is another block. The whole one that follows says both.
                    self.blocks[stopped].confirmed = true;
                    self.blocks[at].body = self.blocks[stopped].body.clone();
                }
                if let (Piece::Input(_), Some(parent), Some(trace)) = (delta.piece, event.origin.parent, desk.down.cx.trace) {
                    trace.hold_unsaid(&mut self.blocks[at].facts[2], parent.as_escaped());
                }
                at
            }
        };
        let block = &mut self.blocks[at];
        block.grow(delta.piece);
        if let Piece::Input(text) = delta.piece {
            // Held until the call is whole: what the source finally calls its arguments may differ from these pieces.
            desk.down.out.hold(&mut block.kept, text.as_escaped());
            desk.down.out.carried();
            return Some(at);
        }
        if desk.want.deltas {
            let index = block.index;
            if index == delta.index {
                desk.emit(event);
            } else {
                desk.emit(&Event {
                    kind: Kind::Delta(Delta { index, ..delta }),
                    ..*event
                });
            }
        } else if matches!(delta.piece, Piece::Other(_)) && !desk.want.served {
            desk.down.out.left_out(NO_PLACE);
        } else {
            if let Piece::Text(text) | Piece::Thinking(text) | Piece::Signature(text) | Piece::Subject(text) = delta.piece {
                desk.down.out.hold(&mut block.kept, text.as_escaped());
            }
            desk.down.out.merged_with(&block.kept, "deltas of a block that goes over whole");
        }
        Some(at)
    }

    /// The block that has stopped and that this is a piece of: a text that was cut off may go on when the model is called again.
    #[inline]
    fn stopped(&self, delta: Delta<'_>) -> Option<usize> {
        let last = self.blocks.last()?;
        let kind = match delta.piece {
            Piece::Text(_) => BlockKind::Text,
            Piece::Thinking(_) | Piece::Signature(_) | Piece::Subject(_) => BlockKind::Thinking,
            Piece::Input(_) | Piece::Other(_) => return None,
        };
        let goes_on = self.round.open && last.complete && !last.confirmed && last.source == delta.index && last.kind == kind;
        goes_on.then(|| self.blocks.len() - 1)
    }

    pub(super) fn block_stop(&mut self, event: &Event<'_>, stop: BlockStop, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        let at = self.waiting.growing(&self.blocks, stop.index);
        let is_call = at.is_some_and(|at| self.blocks[at].kind == BlockKind::Call);
        if let Some(at) = at {
            let block = &mut self.blocks[at];
            block.complete = true;
            let now = event.origin.time.and_then(Time::millis);
            // That a call ends is often told by what follows it only.
            block.time = if block.kind == BlockKind::Call {
                block.time.or(now)
            } else {
                now.or(block.time)
            };
            if let Some(id) = event.origin.id.filter(|_| desk.want.line_ids) {
                id.as_escaped().clone_into(&mut block.line);
            }
            if desk.want.deltas && block.started && !block.closed && (block.shown || !desk.want.snapshots) {
                block.closed = true;
                let kind = Kind::BlockStop(BlockStop { index: block.index });
                desk.emit(&Event { kind, ..*event });
            }
        }
        match desk.want.tools {
            Tools::Names if is_call => {}
            Tools::Nothing if is_call => desk.down.out.left_out(NO_PLACE),
            _ => desk.down.out.merged("the end of a block that goes over whole"),
        }
        if let (Some(at), true) = (at, desk.duties.whole_at_stop) {
            self.settle_whole(at, event.origin, &mut desk);
        }
    }

    pub(super) fn round_stop(&mut self, event: &Event<'_>, stop: &RoundStop<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        if self.round.open && self.round.id.is_empty() {
            stop.id.unwrap_or_default().as_escaped().clone_into(&mut self.round.id);
        }
        self.round.stops(stop.stop, desk.down.out);
        if let Some(usage) = &stop.usage {
            self.round.counts(usage, &mut desk);
        }
        desk.down.out.carried();
    }

    pub(super) fn round_end(&mut self, event: &Event<'_>, end: &RoundEnd<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        self.round.stops(end.stop, desk.down.out);
        // Of a round that is over already nobody hears any more.
        if let Some(usage) = end.usage.as_ref().filter(|_| self.round.open) {
            self.round.counts(usage, &mut desk);
        }
        if let Some(from) = end.abandoned_from {
            let gone = self.blocks.take_out(|block| block.source >= from && !block.confirmed);
            self.waiting.clear();
            self.open = self.blocks.iter().position(|block| block.started && !block.closed);
            self.ghosts = VecDeque::from(gone);
            for ghost in &mut self.ghosts {
                desk.down.out.drop_held(&mut ghost.kept, "a block that was given up");
                desk.down.out.drop_held(&mut ghost.named, "a block that was given up");
                if ghost.started && !ghost.closed {
                    ghost.closed = true;
                    desk.emit(&Event {
                        kind: Kind::BlockStop(BlockStop { index: ghost.index }),
                        ..*event
                    });
                }
            }
        }
        self.settle(event.origin, &mut desk);
        if end.abandoned_from.is_some() || !self.waits_for_tokens(event.origin, &desk) {
            self.close_round(event, end.abandoned_from, &mut desk);
        }
        desk.down.out.carried();
    }

    pub(super) fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            for block in reply.blocks {
                if let Block::Call(call) = block {
                    desk.calls.add_new(call, desk.down.cx);
                }
            }
            return desk.emit(event);
        }
        let mut known = std::mem::take(&mut self.known);
        self.matches(reply, &desk, &mut known);
        if known.iter().any(Option::is_none) || reply.blocks.is_empty() {
            if self.enter_round(event, reply, &mut desk) {
                known.fill(None);
            }
        } else if self.round.id.is_empty() && !reply.last {
            reply.id.map_or("", Str::as_escaped).clone_into(&mut self.round.id);
        }
        if let Some(usage) = &reply.usage {
            self.round.counts(usage, &mut desk);
        }
        self.settle_before(&known, event.origin, &mut desk);
        let whole = !desk.want.deltas && desk.tools().is_none() && known.iter().all(|k| k.is_none_or(|at| !self.blocks[at].shown));
        if whole && desk.want.snapshots {
            for (block, known) in reply.blocks.iter().zip(&known) {
                self.note_block(block, *known, &mut desk);
            }
            desk.emit(event);
        } else {
            for (n, block) in reply.blocks.iter().enumerate() {
                self.one_block(event, reply, block, known[n], &mut desk);
                if self.blocks.len() > MOST_SAID + 2 * self.unsaid && known[n + 1..].iter().all(Option::is_none) {
                    self.forget_said();
                }
            }
            if reply.blocks.is_empty() && desk.want.snapshots {
                desk.emit(event);
            } else if !desk.want.snapshots && event.origin.time.is_some() && known.iter().any(Option::is_some) {
                // Nothing of it goes over but when it was said.
                let kind = Kind::Reply(&EMPTY_REPLY);
                desk.emit(&Event { kind, fields: &[], ..*event });
            }
        }
        self.known = known;
        self.round.stops(reply.stop, desk.down.out);
        if reply.last && self.round.open {
            self.settle(event.origin, &mut desk);
            if !self.waits_for_tokens(event.origin, &desk) {
                let end = piece_of(event, desk.want);
                self.close_round(&end, None, &mut desk);
            }
        }
    }

    /// A tool result comes: a round that nobody will end is over with it, unless its tokens are still to come.
    pub(super) fn result(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        self.resulted = true;
        if !desk.ids_name_rounds && self.round.open && !self.round.declared {
            self.settle(origin, desk);
            if !desk.tokens_behind {
                self.end_round(origin, desk);
            }
        }
        self.settle_said(origin, desk);
    }

    /// Whether a result waits for the round's end.
    pub(super) const fn holds_results(&self, desk: &Desk<'_, '_, '_>) -> bool {
        let goes_on = desk.want.whole_replies && desk.ids_name_rounds && !self.round.id.is_empty() && !desk.duties.live && !desk.duties.watch;
        (desk.tokens_behind && desk.want.results_last || goes_on) && self.round.open && !self.results.is_full()
    }

    /// The turn ends: its last round says what it has used, where the target asks rounds alone.
    pub(super) fn spends_rest(&mut self, session: Option<Str<'_>>, outcome: &Outcome<'_>, down: &Down<'_, '_>) {
        if self.round.open && down.encoder.asks_rounds() {
            let session = session.map_or("", Str::as_escaped);
            let rest = self.spent.last(session, self.round.usage.as_ref(), outcome, down.out);
            self.round.usage = rest.or(self.round.usage.take());
        }
    }

    /// The round is over: it goes on for the outcome alone if that may be the first to say its tokens.
    fn waits_for_tokens(&mut self, origin: Origin<'_>, desk: &Desk<'_, '_, '_>) -> bool {
        let may = origin.parent.is_none() && self.round.open && self.round.usage.is_none() && self.spent.is_none();
        self.round.waits = may && !desk.duties.live && !desk.duties.watch && desk.down.encoder.asks_rounds();
        self.round.waits
    }

    /// Ends the round, if one is open.
    pub(super) fn end_round(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        if self.round.open {
            let parent = std::mem::take(&mut self.parent);
            let origin = in_thread(origin, &parent);
            self.close_round(&Event::new(origin, Kind::RoundEnd(&RoundEnd::PLAIN)), None, desk);
            self.parent = parent;
        }
    }

    fn open_round(&mut self, id: Option<Str<'_>>, model: Option<Str<'_>>) {
        self.forget_blocks();
        self.round.clear();
        let round = &mut self.round;
        round.open = true;
        round.id.push_str(id.unwrap_or_default().as_escaped());
        round.model.push_str(model.unwrap_or_default().as_escaped());
    }

    fn forget_blocks(&mut self) {
        self.open = None;
        self.waiting.clear();
        self.blocks.clear();
        self.unsaid = 0;
        self.next_index = 0;
        self.resulted = false;
        self.waiting_calls = 0;
    }

    /// Forgets blocks of which nothing is left to say.
    #[cold]
    fn forget_said(&mut self) {
        self.blocks.take_out(|block| block.is_said());
        self.waiting.clear();
        self.open = self.blocks.iter().position(|block| block.started && !block.closed);
        self.unsaid = self.blocks.len();
    }

    /// The turn is over: forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.forget_blocks();
        self.round.clear();
        self.spent.clear();
        self.ghosts.clear();
    }

    fn close_round(&mut self, event: &Event<'_>, abandoned_from: Option<u32>, desk: &mut Desk<'_, '_, '_>) {
        if !self.round.open {
            return;
        }
        (self.round.open, self.round.waits) = (false, false);
        let stop = self.round.stop.take();
        let mut kept = std::mem::take(&mut self.round.kept);
        if let Some(stop) = stop.as_deref().filter(|_| !kept.is_empty()) {
            desk.down.out.tells(stop, &kept);
        }
        let end = RoundEnd {
            stop: stop.as_deref().map(|w| Stop::read(Str::trusted(w))),
            usage: self.round.usage.take(),
            abandoned_from,
        };
        self.spent.round(end.usage.as_ref());
        desk.emit(&Event {
            kind: Kind::RoundEnd(&end),
            ..*event
        });
        desk.down.out.drop_held(
            &mut self.round.unsaid_model,
            "no place in the target: nothing that says a model is said in this reply",
        );
        self.results.tell(desk.down);
        let mut tokens = std::mem::take(&mut self.round.tokens);
        if event.origin.parent.is_some() {
            // What is summed up is what the turn itself took.
            desk.down
                .out
                .drop_held(&mut tokens, "the tokens of a subagent have no place of their own");
        } else if !tokens.is_empty() {
            desk.down.encoder.round_tokens(tokens);
        }
        if self.round.means {
            desk.down.out.release(&mut kept);
        } else if !kept.is_empty() {
            desk.down.out.told(&mut kept, stop.as_deref().unwrap_or_default());
        }
    }

    /// A snapshot with something new comes: it belongs to the open round, or begins one. Returns whether it begins one.
    fn enter_round(&mut self, event: &Event<'_>, reply: &Reply<'_>, desk: &mut Desk<'_, '_, '_>) -> bool {
        let id = reply.id.map_or("", Str::as_escaped);
        let another = match (id.is_empty(), self.round.id.is_empty()) {
            _ if !desk.ids_name_rounds => desk.tokens_behind && self.resulted && !self.round.declared,
            (false, false) => id != self.round.id,
            // A reply without an id, behind a result, is another one.
            _ => self.resulted,
        };
        if self.round.open && !another {
            if self.round.id.is_empty() && desk.ids_name_rounds {
                id.clone_into(&mut self.round.id);
            }
            return false;
        }
        self.settle(event.origin, desk);
        self.end_round(event.origin, desk);
        self.open_round(reply.id, reply.model);
        let start = RoundStart {
            id: reply.id,
            model: reply.model,
            usage: reply.usage,
            number: None,
        };
        desk.emit(&Event {
            kind: Kind::RoundStart(&start),
            ..piece_of(event, desk.want)
        });
        true
    }

    /// For each block of a snapshot: which pending block says the same. That one is taken until [`Self::settle_before`].
    fn matches(&mut self, reply: &Reply<'_>, desk: &Desk<'_, '_, '_>, known: &mut Vec<Option<usize>>) {
        known.clear();
        let id = reply.id.map_or("", Str::as_escaped);
        let named = desk.ids_name_rounds && !id.is_empty();
        let same_id = named && id == self.round.id;
        if named && !same_id && !self.round.id.is_empty() && self.round.declared {
            // Another round. Pieces of one that nothing began may be the first that is heard of it.
            return known.resize(reply.blocks.len(), None);
        }
        for block in reply.blocks {
            let at = self.waiting.unconfirmed(&self.blocks, |pending| pending.says(block, same_id));
            if let Some(at) = at {
                self.blocks[at].taken = true;
            }
            known.push(at);
        }
    }

    /// A block begins in pieces; returns its place in `blocks`.
    fn begin_block(&mut self, event: &Event<'_>, start: BlockStart<'_>, desk: &mut Desk<'_, '_, '_>) -> usize {
        if !self.round.open || (self.resulted && !self.round.declared) {
            self.settle(event.origin, desk);
            self.end_round(event.origin, desk);
            self.open_round(None, None);
            desk.emit(&Event {
                kind: Kind::RoundStart(&RoundStart::default()),
                fields: &[],
                ..*event
            });
        }
        if desk.want.deltas && !matches!(start.head, BlockHead::Call { .. }) {
            self.settle_calls_before(event.origin, desk);
        }
        let at = self.blocks.len();
        let hold = (!desk.want.deltas).then_some(&*desk.down.out);
        let block = self.blocks.fresh();
        block.source = start.index;
        block.time = event.origin.time.and_then(Time::millis);
        match start.head {
            BlockHead::Text => {}
            BlockHead::Thinking => block.kind = BlockKind::Thinking,
            BlockHead::Call { id, name } => {
                block.kind = BlockKind::Call;
                block.id.push_str(id.as_escaped());
                block.name.push_str(name.as_escaped());
                if desk.want.tools == Tools::Calls {
                    desk.down.out.used(id.as_escaped());
                }
                desk.down.out.hold(&mut block.named, name.as_escaped());
                desk.down.out.carried();
            }
            BlockHead::Redacted { data } => block.begin_whole(BlockKind::Redacted, data.as_escaped(), hold),
            BlockHead::Other { raw, .. } => block.begin_whole(BlockKind::Other, raw.as_str(), hold),
        }
        if block.kind != BlockKind::Call && desk.want.deltas {
            self.close_others(event.origin, desk);
            let index = self.next_index;
            self.next_index += 1;
            self.blocks[at].index = index;
            self.blocks[at].started = true;
            self.open = Some(at);
            let head = start.head;
            let kind = Kind::BlockStart(BlockStart { index, head });
            desk.emit(&Event { kind, ..*event });
        }
        at
    }

    /// Blocks do not overlap: whatever is open is brought to its end before the next one begins.
    pub(super) fn close_others(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        let Some(at) = self.open.take() else { return };
        if self.blocks.get(at).is_some_and(|block| block.started && !block.closed) {
            self.settle_block(at, origin, desk);
        }
    }
}
