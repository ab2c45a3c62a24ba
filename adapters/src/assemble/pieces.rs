//! How blocks go on: as they come, from their pieces, from their snapshot, or at the end of what is known.

use super::Desk;
use super::pending::{BlockKind, KEEP, NO_PLACE, Pending, Wait, in_thread, is_one_value, says_json, some, tell_kept, tell_waited};
use super::thread::Thread;
use crate::codec::{Tools, Want};
use crate::event::{Agent, At, Block, BlockHead, BlockStart, BlockStop, Delta, Event, Field, Kind, Origin, Piece, Reply, Thinking, Time, ToolCall};
use crate::json::{Raw, Str, escape_json, on_one_line};

/// So many bytes of a call's arguments are a piece at most.
const MOST_ESCAPED: usize = 1 << 20;

/// So many calls of a round wait for their results.
const MOST_WAITING: usize = 1 << 12;

impl Thread {
    /// Remembers a block of a snapshot that goes on as part of its whole line.
    pub(super) fn note_block(&mut self, block: &Block<'_>, known: Option<usize>, desk: &mut Desk<'_, '_, '_>) {
        if let Block::Call(call) = block {
            desk.says(call, known);
        }
        // Of one that has not come in pieces nothing is left to say.
        let Some(at) = known else {
            return desk.leaves_out(block);
        };
        let pending = &mut self.blocks[at];
        pending.shown = true;
        pending.confirmed = true;
        pending.tell_pieces(block, desk.became(block, false), desk.down.out);
    }

    /// Passes on one block of a snapshot, as far as it has not gone on yet.
    pub(super) fn one_block(&mut self, event: &Event<'_>, reply: &Reply<'_>, block: &Block<'_>, known: Option<usize>, desk: &mut Desk<'_, '_, '_>) {
        if let Block::Call(call) = block {
            desk.says(call, known);
        }
        let at = known.unwrap_or_else(|| {
            self.blocks.fresh().say(block);
            self.blocks.len() - 1
        });
        self.blocks[at].confirmed = true;
        if self.blocks[at].shown {
            self.blocks[at].tell_whole(block, desk.down.out);
            return;
        }
        if self.waiting_calls >= MOST_WAITING {
            self.settle(event.origin, desk);
        }
        if let Block::Call(call) = block
            && known.is_none()
            && let Some(wait) = self.waits(call, desk)
        {
            return self.hold(at, call, wait, (event, reply), desk);
        }
        let translated = self.translate(block, desk);
        if known.is_none() {
            desk.leaves_out(block);
        }
        self.blocks[at].tell_pieces(block, desk.became(block, translated.is_some()), desk.down.out);
        let block = translated.as_ref().unwrap_or(block);
        if desk.want.deltas {
            self.emit_pieces(at, known.is_none(), block, translated.is_some(), event, desk);
        }
        if desk.want.snapshots {
            let single = Reply {
                blocks: std::slice::from_ref(block),
                ..*reply
            };
            desk.emit(&Event {
                kind: Kind::Reply(&single),
                ..*event
            });
        }
        let pending = &mut self.blocks[at];
        pending.shown = true;
        if desk.want.deltas && pending.complete && pending.started && !pending.closed {
            pending.closed = true;
            let kind = Kind::BlockStop(BlockStop { index: pending.index });
            desk.emit(&Event {
                kind,
                ..piece_of(event, desk.want)
            });
        }
        if !desk.want.snapshots {
            desk.down.out.carried();
        }
    }

    /// What a whole call has to wait for, if it has to: its result, or a call before it that waits.
    fn waits(&self, call: &ToolCall<'_>, desk: &Desk<'_, '_, '_>) -> Option<Wait> {
        let whole = desk.tools().filter(|_| desk.want.tools == Tools::Calls);
        let waits = whole.is_some_and(|tools| tools.waits(call, desk.down.cx.arena));
        let turn = (self.waiting_calls > 0).then_some(Wait::Turn);
        if waits { Some(Wait::Result) } else { turn }
    }

    /// Keeps a whole call until its result is there.
    fn hold<'b>(&mut self, at: usize, call: &ToolCall<'b>, wait: Wait, (event, reply): (&Event<'_>, &Reply<'_>), desk: &mut Desk<'_, '_, '_>) {
        let block = &mut self.blocks[at];
        if wait == Wait::Result {
            desk.down.out.hold(&mut block.named, call.name.as_escaped());
            block.hold_input(call.input, desk.down.out);
        } else if desk.down.out.traced() {
            let arena = bumpalo::Bump::new();
            let guess = desk.tools().and_then(|tools| Some((tools, tools.call(call, &arena)?)));
            match guess {
                Some((tools, guess)) => tools.tell(call, &guess, None, desk.down.out),
                None => {
                    desk.down.out.used(call.name.as_escaped());
                    desk.down.out.used(call.input.as_str());
                }
            }
        }
        match desk.want.call_ids {
            true => desk.down.out.used(call.id.as_escaped()),
            false => desk.down.out.lost_here(call.id.as_escaped(), NO_PLACE),
        }
        event
            .origin
            .parent
            .into_iter()
            .for_each(|parent| desk.down.out.beside(parent.as_escaped()));
        desk.down.out.carried();
        call.name.as_escaped().clone_into(&mut block.name);
        Str::escape(call.input.as_str(), &mut block.body);
        block.time = event.origin.time.and_then(Time::millis);
        if let Some(id) = event.origin.id.filter(|_| desk.want.line_ids) {
            id.as_escaped().clone_into(&mut block.line);
        }
        let facts = [event.origin.time.map(Time::source), reply.id.map(Str::as_escaped)];
        for (kept, fact) in block.facts.iter_mut().zip(facts) {
            fact.into_iter().for_each(|fact| desk.down.out.hold(kept, fact));
        }
        block.wait = wait;
        self.waiting_calls += 1;
    }

    fn translate<'b, 'a: 'b>(&self, block: &Block<'b>, desk: &mut Desk<'_, '_, 'a>) -> Option<Block<'b>> {
        let (Block::Call(call), Some(tools)) = (block, desk.tools()) else {
            return None;
        };
        let arena: &'b bumpalo::Bump = desk.down.cx.arena;
        let translated = tools.call(call, arena)?;
        let out = &desk.down.out;
        if desk.want.tools != Tools::Calls {
            if let Some(trace) = desk.down.cx.trace {
                let [server, tool] = tools.in_name(call, arena).unwrap_or_default();
                trace.says_all(translated.name.as_escaped(), &[call.name, server, tool]);
            }
            return Some(Block::Call(translated));
        }
        match tools.results_say(call).filter(|_| out.traced()) {
            Some(_) => tools.tell_but(call, &translated, &mut |part, _| desk.calls.leave_unsaid(call.id, part, out), out),
            None => tools.tell(call, &translated, None, out),
        }
        Some(Block::Call(translated))
    }

    /// The pieces of a block of a snapshot: those that came, if they say the same; else what they lack, or the whole.
    fn emit_pieces(&mut self, at: usize, fresh: bool, block: &Block<'_>, translated: bool, event: &Event<'_>, desk: &mut Desk<'_, '_, '_>) {
        let plain = piece_of(event, desk.want);
        // A subject, which is the headline of what follows, a text, a signature; or the pieces of a call as they came.
        let mut pieces = [None; 3];
        let mut as_they_came = false;
        // The arguments of a call, of which none has gone over.
        let mut arguments = "";
        let held = std::mem::take(&mut self.blocks[at].body);
        let mut escaped = std::mem::take(&mut self.escaped);
        escaped.clear();
        match block {
            Block::Text { text, .. } | Block::Thinking(Thinking { text, .. }) => {
                let thinking = matches!(block, Block::Thinking(_));
                let piece = if thinking {
                    Piece::Thinking as fn(_) -> _
                } else {
                    Piece::Text as fn(_) -> _
                };
                let ghost = if fresh { self.ghost_of(block, desk) } else { None };
                let said = if fresh { ghost.as_deref().unwrap_or_default() } else { &held };
                let goes_over = !thinking || desk.want.thoughts;
                // No comparison with nothing: see [`crate::json::alike`].
                let rest = if said.is_empty() {
                    Some(text.as_escaped())
                } else {
                    text.as_escaped().strip_prefix(said)
                };
                match rest {
                    Some("") if fresh && said.is_empty() => {}
                    Some("") if goes_over => desk.down.out.used(text.as_escaped()),
                    Some("") => {}
                    Some(rest) => {
                        if !fresh {
                            let note = "the snapshot says more than its deltas: the rest follows as one";
                            desk.down.out.reshaped(text.as_escaped(), note);
                        }
                        if !said.is_empty() && goes_over {
                            desk.down.out.used(text.as_escaped());
                        }
                        pieces[1] = Some(piece(Str::trusted(rest)));
                    }
                    None => {
                        if text.same_text(Str::trusted(said)) {
                            desk.down.out.used(text.as_escaped());
                        } else {
                            desk.down
                                .out
                                .lost(text.as_escaped(), None, "the snapshot differs from its deltas; the deltas went over");
                        }
                    }
                }
                if let Block::Thinking(thinking) = block {
                    if let Some(subject) = thinking.subject.filter(|s| !s.is_empty() && self.blocks[at].subject.is_none()) {
                        pieces[0] = Some(Piece::Subject(subject));
                    }
                    if let Some(signature) = thinking.signature.filter(|s| !s.is_empty() && self.blocks[at].signature.is_none()) {
                        pieces[2] = Some(Piece::Signature(signature));
                    }
                }
            }
            Block::Call(call) => {
                if desk.want.inputs {
                    desk.down.out.goes_in_words(call.input.as_str());
                }
                // The ledger tells whether the pieces say the same even where nobody wants them.
                let compared = desk.want.inputs || desk.down.out.traced();
                as_they_came = compared && !translated && !held.is_empty() && says_json(&held, call.input);
                if compared && !as_they_came {
                    arguments = call.input.as_str();
                }
            }
            Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => {}
        }
        let nothing = fresh && pieces.iter().all(Option::is_none) && self.skips_empty(block);
        if !self.blocks[at].started && !nothing {
            self.close_others(event.origin, desk);
            self.blocks[at].index = self.next_index;
            self.next_index += 1;
            self.blocks[at].started = true;
            self.open = Some(at);
            let head = match *block {
                Block::Text { .. } => BlockHead::Text,
                Block::Thinking(_) => BlockHead::Thinking,
                Block::Call(call) => BlockHead::Call {
                    id: call.id,
                    name: call.name,
                },
                Block::Redacted { data, .. } => BlockHead::Redacted { data },
                Block::Media(media) => BlockHead::Other {
                    kind: media.kind,
                    raw: media.raw,
                },
                Block::Other { kind, raw } => BlockHead::Other { kind, raw },
            };
            let kind = Kind::BlockStart(BlockStart {
                index: self.blocks[at].index,
                head,
            });
            desk.emit(&Event { kind, ..plain });
        }
        let index = self.blocks[at].index;
        let mut go_on = |piece: Piece<'_>| {
            desk.emit(&Event {
                kind: Kind::Delta(Delta { index, piece }),
                ..plain
            });
        };
        if as_they_came {
            let mut from = 0;
            for &end in &self.blocks[at].ends {
                go_on(Piece::Input(Str::trusted(&held[std::mem::replace(&mut from, end)..end])));
            }
        }
        for piece in pieces.iter().flatten() {
            go_on(*piece);
        }
        while !arguments.is_empty() {
            let (some, rest) = arguments.split_at(arguments.floor_char_boundary(MOST_ESCAPED));
            arguments = rest;
            escaped.clear();
            escape_json(some, &mut escaped);
            // To escape ASCII characters breaks no others.
            let text = simdutf8::basic::from_utf8(&escaped).unwrap_or_default();
            go_on(Piece::Input(Str::trusted(text)));
        }
        self.blocks[at].body = held;
        if escaped.capacity() <= KEEP {
            self.escaped = escaped;
        }
    }

    /// An empty text that comes as a snapshot is not worth a block of its own unless snapshots are wanted.
    const fn skips_empty(&self, block: &Block<'_>) -> bool {
        matches!(block, Block::Text { .. })
    }

    /// What of this block was said before its reply was given up, if a target cannot take it back.
    fn ghost_of(&mut self, block: &Block<'_>, desk: &Desk<'_, '_, '_>) -> Option<String> {
        let at = self.ghosts.iter().position(|ghost| match block {
            Block::Text { .. } => ghost.kind == BlockKind::Text,
            Block::Thinking(_) => ghost.kind == BlockKind::Thinking,
            _ => false,
        })?;
        let ghost = self.ghosts.remove(at)?;
        let text = match block {
            Block::Text { text, .. } | Block::Thinking(Thinking { text, .. }) => *text,
            _ => return None,
        };
        // What is taken back is said anew, unless nothing has changed.
        let again = if desk.want.retracts {
            text.as_escaped() == ghost.body
        } else {
            text.as_escaped().starts_with(&ghost.body)
        };
        if again {
            return Some(ghost.body);
        }
        if desk.want.retracts {
            return None;
        }
        desk.down.out.note(
            crate::event::Fate::Dropped,
            "",
            "a retraction: the pieces that were given up stay in the target",
        );
        None
    }

    /// Brings one held block to its end: its call, its snapshot, its stop.
    pub(super) fn settle_block(&mut self, at: usize, origin: Origin<'_>, desk: &mut Desk<'_, '_, '_>) {
        let want = desk.want;
        if self.blocks[at].shown && (!want.deltas || !self.blocks[at].started || self.blocks[at].closed) {
            return;
        }
        if want.deltas && self.blocks[at].kind == BlockKind::Call && self.open != Some(at) {
            self.close_others(origin, desk);
        }
        let mut block = std::mem::take(&mut self.blocks[at]);
        let wait = std::mem::take(&mut block.wait);
        let waited = wait != Wait::Nothing;
        self.waiting_calls -= usize::from(waited);
        let mut kept = std::mem::take(&mut block.kept);
        let mut named = std::mem::take(&mut block.named);
        let parent = std::mem::take(&mut self.parent);
        let speaker = std::mem::take(&mut self.speaker);
        let [id, name, task] = [0, 1, 2].map(|of| some(&speaker[of]));
        let agent = Agent { id, name, task };
        let mut origin = in_thread(origin, &parent);
        origin.agent = (agent != Agent::default()).then_some(&agent);
        let mut millis: &str = "";
        if let Some(time) = block.time {
            millis = desk.down.cx.arena.alloc_str(&time.to_string());
            origin.time = Some(Time::Millis(Raw::trusted(millis)));
        }
        let mut facts = std::mem::take(&mut block.facts);
        let line = std::mem::take(&mut block.line);
        let line = Origin { id: some(&line), ..origin };
        let model = std::mem::take(&mut self.round.model);
        let id = std::mem::take(&mut self.round.id);
        let reply_of = |blocks| Reply {
            id: some(&id),
            model: some(&model),
            blocks,
            ..Reply::default()
        };
        let mut index = block.index;
        let whose: &str = &parent;
        if !self.round.unsaid_model.is_empty() {
            desk.down.out.tells(&model, &self.round.unsaid_model);
        }
        for (fact, kept) in [millis, &id, whose].into_iter().zip(&facts).filter(|(_, kept)| !kept.is_empty()) {
            desk.down.out.tells(fact, kept);
        }
        if block.kind == BlockKind::Call && !block.shown {
            let text = Str::trusted(&block.body).unescape();
            let (mut quoted, flat);
            let input = match text.trim() {
                "" => "{}",
                text if is_one_value(text) => {
                    flat = on_one_line(text);
                    &flat
                }
                text => {
                    // Arguments that are no JSON go on as a text.
                    quoted = String::from('"');
                    Str::escape(text, &mut quoted);
                    quoted.push('"');
                    &quoted
                }
            };
            let name = Str::trusted(&block.name);
            let kind = desk
                .tools()
                .map_or_else(Default::default, |tools| crate::tools::kind_of(tools.from, name));
            let call = ToolCall {
                id: Str::trusted(&block.id),
                name,
                kind,
                input: Raw::trusted(input),
                fields: &[],
            };
            desk.calls.add_new(&call, desk.down.cx);
            let arena = bumpalo::Bump::new();
            let answered = desk.answered.filter(|(answered, _)| waited && answered.id == call.id);
            let translated = answered
                .map(|(call, _)| call)
                .or_else(|| desk.tools().and_then(|tools| tools.call(&call, &arena)));
            let shown = translated.unwrap_or(call);
            if let (Some(tools), Some(made), false, Tools::Calls) = (desk.tools(), &translated, waited, want.tools) {
                tools.tell(&call, made, Some(&kept), desk.down.out);
            }
            if wait == Wait::Result {
                let result = answered.map(|(_, result)| result);
                tell_waited((&mut named, &mut kept), (&call, &shown, result), desk.tools(), desk.down.out);
            }
            match translated {
                Some(made) if input.starts_with('"') && !made.input.as_str().contains(input) => {
                    desk.down
                        .out
                        .drop_held(&mut kept, "arguments that are no JSON have no place in the target's own");
                }
                _ => tell_kept(&mut kept, desk.became(&Block::Call(call), translated.is_some()), desk.down.out),
            }
            if want.tools == Tools::Nothing {
                desk.down.out.drop_held(&mut named, NO_PLACE);
            }
            if want.deltas {
                index = self.next_index;
                self.next_index += 1;
                let head = BlockHead::Call {
                    id: shown.id,
                    name: shown.name,
                };
                desk.emit(&Event::new(origin, Kind::BlockStart(BlockStart { index, head })));
                let mut from = 0;
                let mut escaped = String::new();
                let ends = if translated.is_some() || !want.inputs {
                    &[][..]
                } else {
                    &block.ends[..]
                };
                for &end in ends {
                    let piece = Piece::Input(Str::trusted(&block.body[from..end]));
                    desk.emit(&Event::new(origin, Kind::Delta(Delta { index, piece })));
                    from = end;
                }
                if ends.is_empty() && want.inputs {
                    Str::escape(shown.input.as_str(), &mut escaped);
                    let piece = Piece::Input(Str::trusted(&escaped));
                    desk.emit(&Event::new(origin, Kind::Delta(Delta { index, piece })));
                }
            }
            if want.snapshots {
                let blocks = [Block::Call(shown)];
                if want.tools == Tools::Names && !named.is_empty() {
                    desk.down.out.tells(shown.name.as_escaped(), &named);
                }
                desk.emit(&Event::new(line, Kind::Reply(&reply_of(&blocks))));
                if want.tools == Tools::Names && !named.is_empty() {
                    desk.down.out.told(&mut named, shown.name.as_escaped());
                }
            }
        } else if want.snapshots && !block.shown && block.says_something() {
            let text = Str::trusted(&block.body);
            let raw = block.whole_raw();
            let citations = block.citations();
            let fields: Vec<_> = citations
                .as_deref()
                .map(|list| Field {
                    at: At::Block(0),
                    key: Str::trusted("citations"),
                    value: Raw::trusted(list),
                    known: true,
                })
                .into_iter()
                .collect();
            let begun: &str = match block.kind {
                BlockKind::Redacted => &block.name,
                BlockKind::Other => &raw,
                _ => &block.body,
            };
            let whole = match block.kind {
                BlockKind::Thinking => Block::Thinking(Thinking {
                    text,
                    signature: block.signature.as_deref().map(Str::trusted),
                    subject: block.subject.as_deref().map(Str::trusted),
                    fields: &[],
                }),
                BlockKind::Redacted => Block::Redacted {
                    data: Str::trusted(&block.name),
                    fields: &[],
                },
                BlockKind::Other => {
                    let raw = Raw::trusted(&raw);
                    Block::as_written(raw.get("type").and_then(Raw::string).unwrap_or_default(), raw)
                }
                _ => Block::Text { text, fields: &fields },
            };
            let blocks = [whole];
            if !kept.is_empty() {
                desk.down.out.tells(begun, &kept);
            }
            desk.emit(&Event::new(line, Kind::Reply(&reply_of(&blocks))));
            desk.down.out.told(&mut kept, begun);
        }
        desk.down.out.release(&mut named);
        if want.deltas && !block.closed && (block.started || block.kind == BlockKind::Call) {
            desk.emit(&Event::new(origin, Kind::BlockStop(BlockStop { index })));
        }
        for (kept, fact) in facts.iter_mut().zip([millis, &id, whose]) {
            desk.down.out.told(kept, fact);
        }
        desk.down.out.told_if_said(&mut self.round.unsaid_model, &model);
        self.blocks[at] = Pending {
            shown: true,
            started: true,
            closed: true,
            index,
            ..block
        };
        self.parent = parent;
        self.speaker = speaker;
        self.round.model = model;
        self.round.id = id;
    }
}

/// A piece of a whole block: the block has the id of its line, if it follows.
pub(super) fn piece_of<'e>(whole: &Event<'e>, want: Want) -> Event<'e> {
    let id = whole.origin.id.filter(|_| !want.snapshots);
    Event {
        origin: Origin { id, ..whole.origin },
        fields: &[],
        ..*whole
    }
}
