//! One thread of a turn: the main one or a subagent's.

use super::{Desk, PLAIN_END};
use crate::event::{
    Block, BlockHead, BlockStart, BlockStop, Delta, Event, Kind, Origin, Piece, Reply, RoundEnd, RoundStart, RoundStop, Stop, Thinking, ToolCall, Usage,
};
use crate::json::{Raw, Str};

/// What is half said in a thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The tool call whose subagent this is; empty for the main thread.
    pub(super) parent: String,
    round: Round,
    blocks: Vec<Pending>,
    /// Pieces of a reply that was given up; they may come again under another id.
    ghosts: Vec<Pending>,
    next_index: u32,
    resulted: bool,
}

#[derive(Debug, Default)]
struct Round {
    open: bool,
    /// The source said that it began, so it will say that it ends.
    declared: bool,
    id: String,
    model: String,
    stop: Option<String>,
    usage: Option<Usage<'static>>,
}

/// A block that deltas build up, or a snapshot that was passed on.
#[derive(Debug, Default)]
struct Pending {
    /// The source's index.
    source: u32,
    /// The target's index.
    index: u32,
    kind: BlockKind,
    id: String,
    name: String,
    /// The pieces put together, still escaped.
    body: String,
    /// Where each piece of a call's arguments ends in `body`.
    ends: Vec<usize>,
    signature: Option<String>,
    subject: Option<String>,
    /// The block's start went on.
    started: bool,
    /// The block's stop went on.
    closed: bool,
    /// The whole block went on (or nobody wants it).
    shown: bool,
    /// A snapshot of the source has confirmed it.
    confirmed: bool,
    /// The source says that it is complete.
    complete: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BlockKind {
    #[default]
    Text,
    Thinking,
    Call,
    Other,
}

impl Thread {
    pub(super) fn of(parent: Str<'_>) -> Self {
        Self { parent: parent.as_escaped().to_owned(), ..Self::default() }
    }

    pub(super) fn round_start(&mut self, event: &Event<'_>, start: RoundStart<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        self.settle(event.origin, &mut desk);
        self.end_round(event.origin, &mut desk);
        self.open_round(start.id, start.model, start.usage);
        self.round.declared = true;
        desk.emit(event);
    }

    pub(super) fn block_start(&mut self, event: &Event<'_>, start: BlockStart<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        self.begin_block(event, start, &mut desk);
        if !desk.want.deltas {
            desk.down.out.merged("deltas of a block that goes over whole");
        }
    }

    #[inline]
    pub(super) fn delta(&mut self, event: &Event<'_>, delta: Delta<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        let at = match self.blocks.iter().rposition(|b| b.source == delta.index && !b.complete) {
            Some(at) => at,
            None => {
                let head = match delta.piece {
                    Piece::Thinking(_) | Piece::Signature(_) | Piece::Subject(_) => BlockHead::Thinking,
                    Piece::Input(_) => BlockHead::Call { id: Str::EMPTY, name: Str::EMPTY },
                    Piece::Text(_) | Piece::Other(_) => BlockHead::Text,
                };
                self.begin_block(event, BlockStart { index: delta.index, head }, &mut desk)
            }
        };
        let block = &mut self.blocks[at];
        match delta.piece {
            Piece::Text(text) | Piece::Thinking(text) => block.body.push_str(text.as_escaped()),
            Piece::Signature(text) => block.signature.get_or_insert_default().push_str(text.as_escaped()),
            Piece::Subject(text) => block.subject.get_or_insert_default().push_str(text.as_escaped()),
            Piece::Input(text) => {
                // Held until the call is whole: what the source finally calls its arguments may differ from these pieces.
                block.body.push_str(text.as_escaped());
                block.ends.push(block.body.len());
                desk.down.out.used(text.as_escaped());
                desk.down.out.carried();
                return;
            }
            Piece::Other(_) => {}
        }
        if desk.want.deltas {
            let index = block.index;
            if index == delta.index {
                desk.emit(event);
            } else {
                desk.emit(&Event { kind: Kind::Delta(Delta { index, ..delta }), ..*event });
            }
        } else {
            desk.down.out.merged("deltas of a block that goes over whole");
        }
    }

    pub(super) fn block_stop(&mut self, event: &Event<'_>, stop: BlockStop, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        if let Some(block) = self.blocks.iter_mut().rfind(|b| b.source == stop.index && !b.complete) {
            block.complete = true;
            if desk.want.deltas && block.started && !block.closed && (block.shown || !desk.want.snapshots) {
                block.closed = true;
                let kind = Kind::BlockStop(BlockStop { index: block.index });
                desk.emit(&Event { kind, ..*event });
            }
        }
        desk.down.out.merged("the end of a block that goes over whole");
    }

    pub(super) fn round_stop(&mut self, event: &Event<'_>, stop: RoundStop<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        if let Some(stop) = stop.stop {
            self.round.stop = Some(stop.word.as_escaped().to_owned());
            desk.down.out.used(stop.word.as_escaped());
        }
        if let Some(usage) = &stop.usage {
            merge(&mut self.round.usage, usage);
            usage.sources().for_each(|s| desk.down.out.used(s));
        }
        desk.down.out.carried();
    }

    pub(super) fn round_end(&mut self, event: &Event<'_>, end: RoundEnd<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            return desk.emit(event);
        }
        if let Some(stop) = end.stop {
            self.round.stop = Some(stop.word.as_escaped().to_owned());
            desk.down.out.used(stop.word.as_escaped());
        }
        if let Some(usage) = &end.usage {
            merge(&mut self.round.usage, usage);
            usage.sources().for_each(|s| desk.down.out.used(s));
        }
        if let Some(from) = end.abandoned_from {
            let (gone, kept) = std::mem::take(&mut self.blocks).into_iter().partition(|b| b.source >= from && !b.confirmed);
            self.blocks = kept;
            self.ghosts = gone;
            for ghost in &mut self.ghosts {
                if ghost.started && !ghost.closed {
                    ghost.closed = true;
                    desk.emit(&Event { kind: Kind::BlockStop(BlockStop { index: ghost.index }), ..*event });
                }
            }
        }
        self.settle(event.origin, &mut desk);
        self.close_round(event, end.abandoned_from, &mut desk);
        desk.down.out.carried();
    }

    pub(super) fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, mut desk: Desk<'_, '_, '_>) {
        if desk.want.as_is {
            for block in reply.blocks {
                if let Block::Call(call) = block {
                    desk.calls.add(call);
                }
            }
            return desk.emit(event);
        }
        let known: Vec<Option<usize>> = self.matches(reply, &desk);
        if known.iter().any(Option::is_none) || reply.blocks.is_empty() {
            self.enter_round(event, reply, &mut desk);
        } else if self.round.id.is_empty() && !reply.last {
            reply.id.map_or("", Str::as_escaped).clone_into(&mut self.round.id);
        }
        if let Some(usage) = &reply.usage {
            merge(&mut self.round.usage, usage);
            usage.sources().for_each(|s| desk.down.out.used(s));
        }
        if let Some(stop) = reply.stop {
            self.round.stop = Some(stop.word.as_escaped().to_owned());
            desk.down.out.used(stop.word.as_escaped());
        }
        // Entering a round may have cleared the blocks; what was matched before it then cannot be meant.
        let whole = !desk.want.deltas && desk.tools.is_none() && known.iter().all(|k| k.is_none_or(|at| !self.blocks[at].shown));
        if whole && desk.want.snapshots {
            for (block, known) in reply.blocks.iter().zip(&known) {
                self.note_block(block, *known, &mut desk);
            }
            desk.emit(event);
        } else {
            for (block, known) in reply.blocks.iter().zip(&known) {
                self.one_block(event, reply, block, *known, &mut desk);
            }
            if reply.blocks.is_empty() && desk.want.snapshots {
                desk.emit(event);
            }
        }
        if reply.last && self.round.open {
            self.settle(event.origin, &mut desk);
            self.close_round(&Event::new(event.origin, Kind::RoundEnd(PLAIN_END)), None, &mut desk);
        }
    }

    /// A tool result comes: a round that nobody will end is over with it.
    pub(super) fn result(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        self.resulted = true;
        if !desk.ids_name_rounds && self.round.open && !self.round.declared {
            self.settle(origin, desk);
            self.end_round(origin, desk);
        }
    }

    /// Brings everything that is held up to and including the call `id` to its end.
    pub(super) fn settle_call(&mut self, id: Str<'_>, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        let Some(at) = self.blocks.iter().position(|b| b.kind == BlockKind::Call && !b.shown && b.id == id.as_escaped()) else { return };
        for index in 0..=at {
            self.settle_block(index, origin, desk);
        }
    }

    /// Brings everything that is held to its end.
    pub(super) fn settle(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        for index in 0..self.blocks.len() {
            self.settle_block(index, origin, desk);
        }
    }

    /// Ends the round, if one is open.
    pub(super) fn end_round(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        if self.round.open {
            let parent = std::mem::take(&mut self.parent);
            let origin = in_thread(origin, &parent);
            self.close_round(&Event::new(origin, Kind::RoundEnd(PLAIN_END)), None, desk);
            self.parent = parent;
        }
    }

    fn open_round(&mut self, id: Option<Str<'_>>, model: Option<Str<'_>>, usage: Option<Usage<'_>>) {
        self.blocks.clear();
        self.next_index = 0;
        self.resulted = false;
        self.round = Round {
            open: true,
            declared: false,
            id: id.map_or_else(String::new, |s| s.as_escaped().to_owned()),
            model: model.map_or_else(String::new, |s| s.as_escaped().to_owned()),
            stop: None,
            usage: usage.map(|u| u.detached()),
        };
    }

    fn close_round(&mut self, event: &Event<'_>, abandoned_from: Option<u32>, desk: &mut Desk<'_, '_, '_>) {
        if !self.round.open {
            return;
        }
        self.round.open = false;
        let stop = self.round.stop.take();
        let end = RoundEnd { stop: stop.as_deref().map(|w| Stop::read(Str::trusted(w))), usage: self.round.usage.take(), abandoned_from };
        desk.emit(&Event { kind: Kind::RoundEnd(end), ..*event });
    }

    /// A snapshot with something new comes: it belongs to the open round, or begins one.
    fn enter_round(&mut self, event: &Event<'_>, reply: &Reply<'_>, desk: &mut Desk<'_, '_, '_>) {
        let id = reply.id.map_or("", Str::as_escaped);
        let another = match (id.is_empty(), self.round.id.is_empty()) {
            _ if !desk.ids_name_rounds => false,
            (false, false) => id != self.round.id,
            // A reply without an id, behind a result, is another one.
            _ => self.resulted,
        };
        if self.round.open && !another {
            if self.round.id.is_empty() && desk.ids_name_rounds {
                id.clone_into(&mut self.round.id);
            }
            return;
        }
        self.settle(event.origin, desk);
        self.end_round(event.origin, desk);
        self.open_round(reply.id, reply.model, None);
        let start = RoundStart { id: reply.id, model: reply.model, usage: reply.usage, number: None };
        desk.emit(&Event { kind: Kind::RoundStart(start), fields: &[], ..*event });
    }

    /// For each block of a snapshot: which pending block says the same.
    fn matches(&self, reply: &Reply<'_>, desk: &Desk<'_, '_, '_>) -> Vec<Option<usize>> {
        let id = reply.id.map_or("", Str::as_escaped);
        let other_round = desk.ids_name_rounds && !id.is_empty() && !self.round.id.is_empty() && id != self.round.id;
        let same_id = desk.ids_name_rounds && !id.is_empty() && id == self.round.id;
        let mut taken = vec![false; self.blocks.len()];
        let find = |block: &Block<'_>| {
            if other_round {
                return None;
            }
            let at = self.blocks.iter().enumerate().position(|(at, pending)| !taken[at] && !pending.confirmed && pending.says(block, same_id))?;
            taken[at] = true;
            Some(at)
        };
        reply.blocks.iter().map(find).collect()
    }

    /// A block begins in pieces; returns its place in `blocks`.
    fn begin_block(&mut self, event: &Event<'_>, start: BlockStart<'_>, desk: &mut Desk<'_, '_, '_>) -> usize {
        if !self.round.open || (self.resulted && !self.round.declared) {
            self.settle(event.origin, desk);
            self.end_round(event.origin, desk);
            self.open_round(None, None, None);
            desk.emit(&Event { kind: Kind::RoundStart(RoundStart::default()), fields: &[], ..*event });
        }
        let mut block = Pending { source: start.index, ..Pending::default() };
        match start.head {
            BlockHead::Text => {}
            BlockHead::Thinking => block.kind = BlockKind::Thinking,
            BlockHead::Call { id, name } => {
                block.kind = BlockKind::Call;
                block.id.push_str(id.as_escaped());
                block.name.push_str(name.as_escaped());
                desk.down.out.used(id.as_escaped());
                desk.down.out.used(name.as_escaped());
                desk.down.out.carried();
            }
            BlockHead::Redacted { .. } | BlockHead::Other { .. } => {
                block.kind = BlockKind::Other;
                block.shown = true;
            }
        }
        if block.kind != BlockKind::Call && desk.want.deltas {
            self.close_others(event.origin, desk);
            block.index = self.next_index;
            self.next_index += 1;
            block.started = true;
            let kind = Kind::BlockStart(BlockStart { index: block.index, head: start.head });
            desk.emit(&Event { kind, ..*event });
        }
        self.blocks.push(block);
        self.blocks.len() - 1
    }

    /// Blocks do not overlap: whatever is open is brought to its end before the next one begins.
    fn close_others(&mut self, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        for at in 0..self.blocks.len() {
            if self.blocks[at].started && !self.blocks[at].closed {
                self.settle_block(at, origin, desk);
            }
        }
    }

    /// Remembers a block of a snapshot that goes on as part of its whole line.
    fn note_block(&mut self, block: &Block<'_>, known: Option<usize>, desk: &mut Desk<'_, '_, '_>) {
        if let Block::Call(call) = block {
            desk.calls.add(call);
        }
        match known {
            Some(at) => {
                self.blocks[at].shown = true;
                self.blocks[at].confirmed = true;
            }
            None => self.blocks.push(Pending::shown(block)),
        }
    }

    /// Passes on one block of a snapshot, as far as it has not gone on yet.
    fn one_block(&mut self, event: &Event<'_>, reply: &Reply<'_>, block: &Block<'_>, known: Option<usize>, desk: &mut Desk<'_, '_, '_>) {
        if let Block::Call(call) = block {
            desk.calls.add(call);
        }
        let at = known.unwrap_or_else(|| {
            let mut fresh = Pending::shown(block);
            fresh.shown = false;
            fresh.complete = true;
            self.blocks.push(fresh);
            self.blocks.len() - 1
        });
        self.blocks[at].confirmed = true;
        if self.blocks[at].shown {
            desk.down.out.merged("a snapshot of what went over in pieces");
            return;
        }
        let translated = self.translate(block, desk);
        let block = translated.as_ref().unwrap_or(block);
        if desk.want.deltas {
            self.emit_pieces(at, known.is_none(), block, translated.is_some(), event, desk);
        }
        if desk.want.snapshots {
            let single = Reply { blocks: std::slice::from_ref(block), ..*reply };
            desk.emit(&Event { kind: Kind::Reply(&single), ..*event });
        }
        let pending = &mut self.blocks[at];
        pending.shown = true;
        if desk.want.deltas && pending.complete && pending.started && !pending.closed {
            pending.closed = true;
            let kind = Kind::BlockStop(BlockStop { index: pending.index });
            desk.emit(&Event { kind, fields: &[], ..*event });
        }
        if !desk.want.snapshots {
            desk.down.out.carried();
        }
    }

    fn translate<'b, 'a: 'b>(&self, block: &Block<'b>, desk: &mut Desk<'_, '_, 'a>) -> Option<Block<'b>> {
        let (Block::Call(call), Some(tools)) = (block, desk.tools) else { return None };
        let arena: &'b bumpalo::Bump = desk.down.cx.arena;
        let translated = tools.call(call, arena)?;
        if desk.down.out.traced() {
            desk.down.out.renamed(call.name.as_escaped(), "the target's own tool name");
            if call.input != translated.input {
                desk.down.out.renamed(call.input.as_str(), "the target's own arguments");
            }
        }
        Some(Block::Call(translated))
    }

    /// The pieces of a block of a snapshot: those that came, if they say the same; else what they lack, or the whole.
    fn emit_pieces(&mut self, at: usize, fresh: bool, block: &Block<'_>, translated: bool, event: &Event<'_>, desk: &mut Desk<'_, '_, '_>) {
        let plain = Event { fields: &[], ..*event };
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        let held = std::mem::take(&mut self.blocks[at].body);
        let mut escaped = String::new();
        match block {
            Block::Text { text, .. } | Block::Thinking(Thinking { text, .. }) => {
                let thinking = matches!(block, Block::Thinking(_));
                let piece = if thinking { Piece::Thinking as fn(_) -> _ } else { Piece::Text as fn(_) -> _ };
                let said = match fresh {
                    true => self.ghost_of(block, desk).unwrap_or_default(),
                    false => held.clone(),
                };
                match text.as_escaped().strip_prefix(said.as_str()) {
                    Some("") if fresh && said.is_empty() => {}
                    Some("") => desk.down.out.used(text.as_escaped()),
                    Some(rest) => {
                        if !fresh {
                            desk.down.out.note(crate::event::Fate::Merged, "", "the snapshot says more than its deltas: the rest follows as one");
                        }
                        desk.down.out.used(text.as_escaped());
                        pieces.push(piece(Str::trusted(rest)));
                    }
                    None => {
                        if !text.same_text(Str::trusted(&said)) {
                            desk.down.out.note(crate::event::Fate::Dropped, "", "the snapshot differs from its deltas; the deltas went over");
                        }
                        desk.down.out.used(text.as_escaped());
                    }
                }
                if let Block::Thinking(thinking) = block {
                    if let Some(signature) = thinking.signature.filter(|s| !s.is_empty() && self.blocks[at].signature.is_none()) {
                        pieces.push(Piece::Signature(signature));
                    }
                    if let Some(subject) = thinking.subject.filter(|s| !s.is_empty() && self.blocks[at].subject.is_none()) {
                        pieces.push(Piece::Subject(subject));
                    }
                }
            }
            Block::Call(call) => {
                desk.down.out.used(call.input.as_str());
                let same = !translated && !held.is_empty() && says_json(&held, call.input);
                if same {
                    let mut from = 0;
                    for &end in &self.blocks[at].ends {
                        pieces.push(Piece::Input(Str::trusted(&held[from..end])));
                        from = end;
                    }
                } else {
                    if !held.is_empty() && !translated {
                        desk.down.out.note(crate::event::Fate::Merged, "", "the arguments differ from their deltas; the final ones went over");
                    }
                    Str::escape(call.input.as_str(), &mut escaped);
                    pieces.push(Piece::Input(Str::trusted(&escaped)));
                }
            }
            Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => {}
        }
        if !self.blocks[at].started && !(fresh && pieces.is_empty() && self.skips_empty(block)) {
            self.close_others(event.origin, desk);
            self.blocks[at].index = self.next_index;
            self.next_index += 1;
            self.blocks[at].started = true;
            let head = match *block {
                Block::Text { .. } => BlockHead::Text,
                Block::Thinking(_) => BlockHead::Thinking,
                Block::Call(call) => BlockHead::Call { id: call.id, name: call.name },
                Block::Redacted { data, .. } => BlockHead::Redacted { data },
                Block::Media(media) => BlockHead::Other { kind: media.kind, raw: media.raw },
                Block::Other { kind, raw } => BlockHead::Other { kind, raw },
            };
            let kind = Kind::BlockStart(BlockStart { index: self.blocks[at].index, head });
            desk.emit(&Event { kind, ..plain });
        }
        let index = self.blocks[at].index;
        for piece in pieces {
            desk.emit(&Event { kind: Kind::Delta(Delta { index, piece }), ..plain });
        }
        self.blocks[at].body = held;
    }

    /// An empty text that comes as a snapshot is not worth a block of its own unless snapshots are wanted.
    const fn skips_empty(&self, block: &Block<'_>) -> bool {
        matches!(block, Block::Text { .. })
    }

    /// What of this block was said before its reply was given up, if a target cannot take it back.
    fn ghost_of(&mut self, block: &Block<'_>, desk: &Desk<'_, '_, '_>) -> Option<String> {
        if desk.want.snapshots {
            return None;
        }
        let at = self.ghosts.iter().position(|ghost| match block {
            Block::Text { .. } => ghost.kind == BlockKind::Text,
            Block::Thinking(_) => ghost.kind == BlockKind::Thinking,
            _ => false,
        })?;
        let ghost = self.ghosts.remove(at);
        let text = match block {
            Block::Text { text, .. } | Block::Thinking(Thinking { text, .. }) => *text,
            _ => return None,
        };
        if text.as_escaped().starts_with(&ghost.body) {
            return Some(ghost.body);
        }
        desk.down.out.note(crate::event::Fate::Dropped, "", "a retraction: the pieces that were given up stay in the target");
        None
    }

    /// Brings one held block to its end: its call, its snapshot, its stop.
    fn settle_block(&mut self, at: usize, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        let want = desk.want;
        if self.blocks[at].shown && (!want.deltas || !self.blocks[at].started || self.blocks[at].closed) {
            return;
        }
        let block = std::mem::take(&mut self.blocks[at]);
        let parent = std::mem::take(&mut self.parent);
        let origin = in_thread(origin, &parent);
        let model = std::mem::take(&mut self.round.model);
        let id = std::mem::take(&mut self.round.id);
        let reply_of = |blocks| Reply { id: some(&id), model: some(&model), blocks, ..Reply::default() };
        let mut index = block.index;
        if block.kind == BlockKind::Call {
            let text = Str::trusted(&block.body).unescape();
            let mut quoted = String::new();
            let input = match text.trim() {
                "" => "{}",
                text if Raw::trusted(text).check().is_ok() && is_one_value(text) => text,
                text => {
                    // Arguments that are no JSON go on as a text.
                    quoted.push('"');
                    Str::escape(text, &mut quoted);
                    quoted.push('"');
                    &quoted
                }
            };
            let name = Str::trusted(&block.name);
            let kind = desk.tools.map_or_else(Default::default, |tools| crate::tools::kind_of(tools.from, name));
            let call = ToolCall { id: Str::trusted(&block.id), name, kind, input: Raw::trusted(input), fields: &[] };
            desk.calls.add(&call);
            let arena = bumpalo::Bump::new();
            let translated = desk.tools.and_then(|tools| tools.call(&call, &arena));
            let shown = translated.unwrap_or(call);
            if want.deltas {
                index = self.next_index;
                self.next_index += 1;
                let head = BlockHead::Call { id: shown.id, name: shown.name };
                desk.emit(&Event::new(origin, Kind::BlockStart(BlockStart { index, head })));
                let mut from = 0;
                let mut escaped = String::new();
                let ends = if translated.is_some() { &[][..] } else { &block.ends[..] };
                for &end in ends {
                    let piece = Piece::Input(Str::trusted(&block.body[from..end]));
                    desk.emit(&Event::new(origin, Kind::Delta(Delta { index, piece })));
                    from = end;
                }
                if ends.is_empty() {
                    Str::escape(shown.input.as_str(), &mut escaped);
                    let piece = Piece::Input(Str::trusted(&escaped));
                    desk.emit(&Event::new(origin, Kind::Delta(Delta { index, piece })));
                }
            }
            if want.snapshots {
                let blocks = [Block::Call(shown)];
                desk.emit(&Event::new(origin, Kind::Reply(&reply_of(&blocks))));
            }
        } else if want.snapshots && !block.shown && (!block.body.is_empty() || block.signature.is_some() || block.started) {
            let text = Str::trusted(&block.body);
            let whole = match block.kind {
                BlockKind::Thinking => Block::Thinking(Thinking {
                    text,
                    signature: block.signature.as_deref().map(Str::trusted),
                    subject: block.subject.as_deref().map(Str::trusted),
                    fields: &[],
                }),
                _ => Block::Text { text, fields: &[] },
            };
            let blocks = [whole];
            desk.emit(&Event::new(origin, Kind::Reply(&reply_of(&blocks))));
        }
        if want.deltas && !block.closed && (block.started || block.kind == BlockKind::Call) {
            desk.emit(&Event::new(origin, Kind::BlockStop(BlockStop { index })));
        }
        self.blocks[at] = Pending { shown: true, started: true, closed: true, index, ..block };
        self.parent = parent;
        self.round.model = model;
        self.round.id = id;
    }
}

impl Pending {
    /// A block that a snapshot said.
    fn shown(block: &Block<'_>) -> Self {
        let mut pending = Self { shown: true, confirmed: true, complete: true, ..Self::default() };
        match block {
            Block::Text { .. } => {}
            Block::Thinking(_) => pending.kind = BlockKind::Thinking,
            Block::Call(call) => {
                pending.kind = BlockKind::Call;
                call.id.as_escaped().clone_into(&mut pending.id);
            }
            _ => pending.kind = BlockKind::Other,
        }
        pending
    }

    /// Whether this block is what a block of a snapshot says. With the same reply id the kind and the order decide;
    /// without one the text must agree as far as it goes.
    fn says(&self, block: &Block<'_>, same_id: bool) -> bool {
        match (block, self.kind) {
            (Block::Text { text, .. }, BlockKind::Text) | (Block::Thinking(Thinking { text, .. }), BlockKind::Thinking) => {
                same_id || text.as_escaped().starts_with(&self.body) || text.same_text(Str::trusted(&self.body))
            }
            (Block::Call(call), BlockKind::Call) => self.id == call.id.as_escaped() || self.id.is_empty(),
            (Block::Redacted { .. } | Block::Media(_) | Block::Other { .. }, BlockKind::Other) => same_id,
            _ => false,
        }
    }
}

/// The origin of something that the thread says by itself.
fn in_thread<'o>(origin: Origin<'o>, parent: &'o str) -> Origin<'o> {
    Origin { session: origin.session, parent: some(parent), ..Origin::default() }
}

fn some(text: &str) -> Option<Str<'_>> {
    (!text.is_empty()).then(|| Str::trusted(text))
}

/// Per number the last value said wins.
fn merge(into: &mut Option<Usage<'static>>, new: &Usage<'_>) {
    let new = new.detached();
    match into {
        None => *into = Some(new),
        Some(old) => {
            old.input = new.input.or(old.input);
            old.output = new.output.or(old.output);
            old.cache_read = new.cache_read.or(old.cache_read);
            old.cache_write = new.cache_write.or(old.cache_write);
            old.total = new.total.or(old.total);
            old.inclusive = new.inclusive;
        }
    }
}

/// Whether pieces of a call's arguments, put together, say the same as the arguments.
fn says_json(escaped: &str, input: Raw<'_>) -> bool {
    let text = Str::trusted(escaped).unescape();
    is_one_value(&text) && Raw::trusted(text.trim()).same_value(input)
}

fn is_one_value(text: &str) -> bool {
    let mut at = crate::json::Cursor::new(text);
    at.raw().is_ok() && at.at_end()
}
