//! Reading `chat.completion.chunk` lines: rounds, blocks and pieces.

use std::collections::{BTreeMap, BTreeSet};

use super::annotations::AnnotationKind;
use super::completion::{keep_finish, thoughts};
use super::decode::Decoder;
use super::learnt::spelled_piece;
use super::line::{End, Line};
use super::teller::Teller;
use crate::chat::{CallPiece, Choice, FieldList, inner};
use crate::event::{BlockHead, BlockStart, BlockStop, Delta, Kind, Piece, RoundEnd, RoundStart, RoundStop, Scope, Stop, StopKind, Usage};
use crate::ids;
use crate::json::Str;

/// What is open of the reply that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Round {
    open: bool,
    /// Something of it was said.
    said: bool,
    next: u32,
    /// The text or thought that grows.
    current: Option<(u32, Voice)>,
    calls: OpenCalls,
}

/// Calls stay open until the reply ends: their pieces may come in turns.
#[derive(Debug, Default)]
struct OpenCalls {
    /// By their block.
    all: BTreeMap<u32, OpenCall>,
    /// The block by the index on the wire.
    by_wire: BTreeMap<u64, u32>,
    /// The blocks by a hash of the call's id, which is the same in every run.
    by_id: BTreeSet<(u64, u32)>,
}

/// What comes in pieces, besides calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Thought,
}

#[derive(Debug)]
struct OpenCall {
    /// The index on the wire.
    wire: Option<u64>,
    id: String,
}

impl OpenCalls {
    fn by_wire(&self, wire: u64) -> Option<u32> {
        match self.all.last_key_value() {
            Some((&last, call)) if call.wire == Some(wire) => Some(last),
            _ => self.by_wire.get(&wire).copied(),
        }
    }

    /// The last one with this id.
    fn by_id(&self, id: &str) -> Option<u32> {
        let hash = ids::hash(id);
        let alike = self.by_id.range((hash, 0)..=(hash, u32::MAX)).rev();
        alike
            .map(|&(_, block)| block)
            .find(|block| self.all.get(block).is_some_and(|call| call.id == id))
    }

    fn add(&mut self, block: u32, call: OpenCall) {
        if let Some(wire) = call.wire {
            self.by_wire.insert(wire, block);
        }
        if !call.id.is_empty() {
            self.by_id.insert((ids::hash(&call.id), block));
        }
        self.all.insert(block, call);
    }

    fn remove(&mut self, block: u32) {
        let Some(call) = self.all.remove(&block) else { return };
        if let Some(wire) = call.wire {
            self.by_wire.remove(&wire);
        }
        self.by_id.remove(&(ids::hash(&call.id), block));
    }
}

impl Round {
    /// A reply begins.
    pub(super) fn start<'a>(&mut self, model: Option<Str<'a>>, teller: &mut Teller<'_, '_, 'a>) {
        self.open = true;
        self.said = false;
        self.next = 0;
        teller.tell(Kind::RoundStart(teller.cx.keep(RoundStart {
            model,
            ..RoundStart::default()
        })));
    }

    /// Opens the text or thought that a piece belongs to, unless it is open.
    pub(super) fn grow(&mut self, what: Voice, teller: &mut Teller<'_, '_, '_>) -> u32 {
        match self.current {
            Some((index, grows)) if grows == what => return index,
            _ => self.close_current(teller),
        }
        let index = self.open_block(if what == Voice::Text { BlockHead::Text } else { BlockHead::Thinking }, teller);
        self.current = Some((index, what));
        index
    }

    fn open_block<'a>(&mut self, head: BlockHead<'a>, teller: &mut Teller<'_, '_, 'a>) -> u32 {
        let index = self.next;
        self.next += 1;
        self.open = true;
        self.said = true;
        teller.tell(Kind::BlockStart(BlockStart { index, head }));
        index
    }

    fn close_current(&mut self, teller: &mut Teller<'_, '_, '_>) {
        if let Some((index, _)) = self.current.take() {
            teller.tell(Kind::BlockStop(BlockStop { index }));
        }
    }

    /// The block of a piece of a call. A piece without index goes by its id, or belongs to the call before; a known index with
    /// another id is another call.
    pub(super) fn call<'a>(&mut self, piece: &CallPiece<'a>, teller: &mut Teller<'_, '_, 'a>) -> u32 {
        self.close_current(teller);
        let id = piece.id.filter(|id| !id.is_empty());
        let at = match (piece.index, id) {
            (Some(wire), _) => self.calls.by_wire(wire),
            (None, Some(id)) => self.calls.by_id(id.as_escaped()),
            (None, None) => self.calls.all.last_key_value().map(|(&last, _)| last),
        };
        if let Some((index, known)) = at.and_then(|at| Some((at, self.calls.all.get(&at)?))) {
            if id.is_none_or(|id| known.id.is_empty() || known.id == id.as_escaped()) {
                if let Some(id) = id {
                    teller.cx.took(id.as_escaped());
                }
                if let Some(name) = piece.name {
                    teller.cx.took(name.as_escaped());
                }
                return index;
            }
            self.calls.remove(index);
            teller.tell(Kind::BlockStop(BlockStop { index }));
        }
        let head = BlockHead::Call {
            id: id.unwrap_or_default(),
            name: piece.name.unwrap_or_default(),
        };
        let index = self.open_block(head, teller);
        let open = OpenCall {
            wire: piece.index,
            id: id.map_or_else(String::new, |id| id.as_escaped().to_owned()),
        };
        self.calls.add(index, open);
        index
    }

    fn end<'a>(&mut self, end: RoundEnd<'a>, teller: &mut Teller<'_, '_, 'a>) {
        self.close_current(teller);
        for &index in std::mem::take(&mut self.calls).all.keys() {
            teller.tell(Kind::BlockStop(BlockStop { index }));
        }
        self.open = false;
        teller.tell(Kind::RoundEnd(teller.cx.keep(end)));
    }
}

impl Decoder {
    /// Reads a chunk that is no receipt.
    pub(super) fn chunk<'a>(&mut self, text: &'a str, mut line: Line<'a>, teller: &mut Teller<'_, '_, 'a>) {
        let cx = teller.cx;
        let terminals = line.terminals();
        let choice = line.choice();
        let told = teller.told;
        let ends_turn = line.meta.is_summary() || line.envelope.choice.is_none() && line.envelope.usage.is_some() && self.end.is_some();
        let starts = self.starts_reply(&line, &choice, !terminals.is_empty());
        let model = if starts { self.new_model(&mut line) } else { None };
        self.settle_model(&mut line, cx);
        if let Some(content) = choice.content.filter(|c| c.is_empty()) {
            cx.took(content.as_escaped());
        }
        let mut fields = line.take_fields(cx);
        let mut finish = choice.finish;
        let shows = !terminals.is_empty()
            || line
                .notes
                .list
                .iter()
                .any(|a| matches!(a.kind, AnnotationKind::Display(_) | AnnotationKind::Notice(_)));
        if let Some(word) = finish.filter(|_| shows && !self.round.open && !starts && !ends_turn && choice.says_nothing()) {
            // It ends no reply, for none is open.
            keep_finish(word, "", &mut fields, cx);
            finish = None;
        }
        if !ends_turn {
            line.meta.pour_copy(&mut fields);
        }
        let plain = fields.is_empty() && terminals.is_empty() && finish.is_none() && line.envelope.usage.is_none() && line.meta.is_empty();
        teller.fields = fields.into_bump_slice();
        if starts {
            if self.round.open {
                self.round.end(RoundEnd::default(), teller);
            }
            self.end = None;
            self.round.start(model, teller);
        }
        for terminal in terminals {
            teller.terminal(terminal);
        }
        let only = self.pieces(&line, &choice, teller);
        self.annotations(&line.notes.list, teller);
        if let Some(word) = finish {
            let stop = Stop::read(word);
            let usage = line.envelope.usage.filter(|_| !ends_turn);
            self.end = (stop.kind != StopKind::Tools).then(|| End {
                word: word.as_escaped().to_owned(),
                error: line.meta.error().and_then(inner).map(|e| e.as_escaped().to_owned()),
                usage: usage.map(|u| Usage {
                    scope: Scope::Turn,
                    ..u.detached()
                }),
            });
            self.round.end(
                RoundEnd {
                    stop: Some(stop),
                    usage,
                    abandoned_from: None,
                },
                teller,
            );
        }
        if ends_turn {
            self.outcome(line, teller);
            return;
        }
        if finish.is_none() && line.envelope.usage.is_some() || teller.told == told {
            // Tokens in mid-turn, or a line that says nothing (new).
            teller.tell(Kind::RoundStop(teller.cx.keep(RoundStop {
                usage: line.envelope.usage,
                ..RoundStop::default()
            })));
        }
        // A role begins a reply unless one is open.
        if let Some(piece) = only.filter(|_| plain && choice.role.is_none() && cx.trace.is_none())
            && let Some(spelled) = spelled_piece(text, piece, &choice, &line.notes.list, cx)
        {
            self.learn(text, teller, &[], spelled);
        }
    }

    /// Whether a reply begins. Its role says so, unless the server repeats the role with every piece; an empty delta at the
    /// beginning means the same (the English text says so).
    fn starts_reply(&self, line: &Line<'_>, choice: &Choice<'_>, shows: bool) -> bool {
        let bare = choice.says_nothing() && choice.finish.is_none() && line.notes.list.is_empty() && !shows;
        match choice.role {
            Some(_) if self.round.open => self.round.said && bare,
            Some(_) => bare || !choice.says_nothing(),
            None => bare && !self.round.open && self.end.is_none() && line.envelope.choice.is_some() && line.meta.is_empty(),
        }
    }

    /// Tells the pieces. If there was exactly one that others may look like, which.
    fn pieces<'a>(&mut self, line: &Line<'a>, choice: &Choice<'a>, teller: &mut Teller<'_, '_, 'a>) -> Option<Piece<'a>> {
        let mut only = None;
        let mut count = 0;
        let cx = teller.cx;
        thoughts(&line.notes.list, choice.reasoning, cx, |thinking| {
            let index = self.round.grow(Voice::Thought, teller);
            if let Some(subject) = thinking.subject {
                count += 1;
                teller.tell(Kind::Delta(Delta {
                    index,
                    piece: Piece::Subject(subject),
                }));
            }
            count += 1;
            teller.tell_with(
                Kind::Delta(Delta {
                    index,
                    piece: Piece::Thinking(thinking.text),
                }),
                thinking.fields,
            );
            only = choice.reasoning.filter(|_| thinking.fields.is_empty()).map(Piece::Thinking);
        });
        let grows = self.round.current.is_some_and(|(_, grows)| grows == Voice::Text);
        if let Some(text) = choice.content.filter(|c| !c.is_empty() || grows && count == 0) {
            count += 1;
            let index = self.round.grow(Voice::Text, teller);
            teller.tell(Kind::Delta(Delta {
                index,
                piece: Piece::Text(text),
            }));
            only = Some(Piece::Text(text));
        }
        for call in choice.calls {
            count += 1;
            let index = self.round.call(call, teller);
            if let Some(arguments) = call.arguments {
                teller.tell_with(
                    Kind::Delta(Delta {
                        index,
                        piece: Piece::Input(arguments),
                    }),
                    call.fields,
                );
            }
            let begins_or_goes_on = call.id.is_some() == call.name.is_some() && call.fields.is_empty();
            only = call.arguments.filter(|_| begins_or_goes_on).map(Piece::Input);
        }
        only.filter(|_| count == 1)
    }

    fn outcome<'a>(&mut self, mut line: Line<'a>, teller: &mut Teller<'_, '_, 'a>) {
        let cx = teller.cx;
        let end = self.end.take();
        let keep = |text: &str| Str::trusted(cx.arena.alloc_str(text));
        let finish = end.as_ref().map(|end| keep(&end.word));
        let mut outcome = self.summary(&mut line, finish, cx);
        // A summary's word is what the end means that is told without one.
        outcome.word = outcome.word.or(Some(Str::trusted(outcome.kind.as_str())));
        if let Some(end) = end {
            outcome.usage = outcome.usage.or(end.usage);
            if outcome.is_error && outcome.error.is_none() {
                outcome.error = end.error.as_deref().map(keep);
            }
        }
        let mut fields = FieldList::new_in(cx.arena);
        line.meta.pour(&mut fields);
        teller.tell_with(Kind::Outcome(cx.keep(outcome)), fields.into_bump_slice());
    }
}
