//! Writing `chat.completion.chunk` lines.

use super::encode::Encoder;
use super::encode_piece::{CONTENT, Hot, HotKind, REASONING};
use super::own::{self, Kept};
use super::{facts, finish};
use crate::chat::write_usage;
use crate::event::{BlockHead, BlockStart, BlockStop, Delta, Event, Fields, Outcome, Piece, RoundEnd, RoundStart, RoundStop, StopKind};
use crate::json::{Out, Str};

/// What is open of the reply that goes out in pieces.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// The role of the reply has gone out, its finish reason has not.
    open: bool,
    /// Calls of the reply since its role went out.
    calls: u32,
    /// Blocks that have begun and not ended.
    blocks: u32,
    /// The numbers of the calls, by block.
    numbers: Vec<(u32, u32)>,
    /// The number of the thought's annotation.
    thought: Option<u32>,
    /// A thought's subject that goes with its next piece.
    subject: String,
    /// A call's beginning that goes with its first piece: the block, and the line up to the arguments.
    head: Option<(u32, Vec<u8>)>,
    /// The memory of the last such beginning.
    spare: Vec<u8>,
    /// A reply without calls is over; what follows decides how.
    end: Option<End>,
    pub(super) hot: Hot,
}

#[derive(Debug)]
struct End {
    /// Its finish reason, if it is the RFC's own.
    word: Option<String>,
    created: String,
    kept: Kept,
}

impl Encoder {
    /// A piece that does not look like the one before.
    pub(super) fn piece(&mut self, event: &Event<'_>, delta: Delta<'_>, out: &mut Out) {
        let fields = self.own_fields(event.fields);
        let (kind, text) = match delta.piece {
            Piece::Text(text) => (HotKind::Text, text),
            Piece::Thinking(text) => (HotKind::Thought, text),
            Piece::Input(text) => (HotKind::Input, text),
            Piece::Subject(text) if self.own => {
                out.used(text.as_escaped());
                text.as_escaped().clone_into(&mut self.chunks.subject);
                return out.carried();
            }
            // A stream of thoughts has no headline, and nobody but its vendor reads a seal.
            Piece::Subject(_) | Piece::Signature(_) | Piece::Other(_) => return,
        };
        if text.is_empty() && !self.own {
            return out.merged("an empty piece");
        }
        self.open_reply(out);
        if kind == HotKind::Input {
            match self.chunks.head.take() {
                Some((block, head)) if block == delta.index => return self.first_piece(head, text, fields, out),
                head => self.chunks.head = head,
            }
        }
        self.flush_head(out);
        if !fields.is_empty() || kind == HotKind::Text && !self.waiting.is_empty() || kind == HotKind::Thought && !self.chunks.subject.is_empty() {
            return self.rare_piece(kind, delta.index, text, fields, out);
        }
        self.warm(kind, delta.index);
        self.repeats(event, delta, out);
    }

    /// A piece with a headline, with annotations or with fields of the RFC's own.
    fn rare_piece(&mut self, kind: HotKind, block: u32, text: Str<'_>, fields: Fields<'_>, out: &mut Out) {
        self.chunks.hot.kind = None;
        self.frame.begin(out);
        let mut listed = false;
        match kind {
            HotKind::Text => {
                out.lit(CONTENT);
                out.body(text);
                out.lit("\"");
            }
            HotKind::Thought => {
                out.lit(REASONING);
                out.body(text);
                out.lit("\",\"annotations\":[{\"type\":\"x-qwen-thought\",\"subject\":\"");
                out.lit(&self.chunks.subject);
                out.lit("\",\"description\":\"");
                out.body(text);
                out.lit("\"");
                own::write(own::in_blocks(fields), out);
                let number = self.thought_number();
                out.lit(",\"index\":");
                out.number(number);
                out.lit("}");
                self.chunks.subject.clear();
                listed = true;
            }
            HotKind::Input => {
                let number = self.number(block);
                out.lit("[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":");
                out.number(number);
                out.lit(",\"function\":{\"arguments\":\"");
                out.body(text);
                out.lit("\"}");
                own::write(own::in_blocks(fields), out);
                out.lit("}]");
            }
        }
        self.more_annotations(listed, fields, out);
        self.end_delta(fields, "null", out);
    }

    /// Writes the annotations that go with the rest of a delta, and the end of their list. `open`: one stands there already.
    fn more_annotations(&mut self, mut open: bool, fields: Fields<'_>, out: &mut Out) {
        let mut separator = if open { "," } else { ",\"annotations\":[" };
        if !self.waiting.is_empty() {
            out.lit(separator);
            let waiting = std::mem::take(&mut self.waiting);
            out.bytes(&waiting);
            self.end_annotation(out);
            (open, separator) = (true, ",");
        }
        for raw in own::annotations(fields) {
            out.lit(separator);
            out.unchecked(raw);
            (open, separator) = (true, ",");
        }
        if open {
            out.lit("]");
        }
    }

    /// Writes the number of an annotation, and closes it.
    pub(super) fn end_annotation(&mut self, out: &mut Out) {
        out.lit(",\"index\":");
        out.number(self.turn.annotations);
        out.lit("}");
        self.turn.annotations += 1;
    }

    /// Ends a chunk behind the members of its delta.
    pub(super) fn end_delta(&self, fields: Fields<'_>, finish: &str, out: &mut Out) {
        if fields.is_empty() {
            out.lit("},\"finish_reason\":");
            out.lit(finish);
            return out.lit("}]}\n");
        }
        own::write(own::at(fields, &own::BODIES), out);
        out.lit("},\"finish_reason\":");
        match own::finish_reason(fields) {
            Some(word) => out.str(word),
            None => out.lit(finish),
        }
        own::end_choice(fields, out);
        own::metadata(fields, out);
        own::end_line(fields, out);
    }

    pub(super) fn start_round(&mut self, start: &RoundStart<'_>, fields: Fields<'_>, out: &mut Out) {
        self.look_model(start.model, out);
        self.flush_head(out);
        self.end_held(None, out);
        self.role(fields, out);
    }

    fn role(&mut self, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        self.chunks.hot.kind = None;
        self.chunks.open = true;
        self.chunks.calls = 0;
        self.chunks.blocks = 0;
        self.chunks.numbers.clear();
        self.chunks.thought = None;
        self.frame.begin(out);
        out.lit("[{\"index\":0,\"delta\":{\"role\":\"assistant\"");
        self.more_annotations(false, fields, out);
        self.end_delta(fields, "null", out);
    }

    /// Something of a reply is about to go out: its role stands before it.
    fn open_reply(&mut self, out: &mut Out) {
        if self.chunks.open {
            return;
        }
        self.end_held(None, out);
        if self.own {
            self.begin(out);
            self.chunks.open = true;
        } else {
            self.role(&[], out);
        }
    }

    pub(super) fn start_block(&mut self, start: BlockStart<'_>, out: &mut Out) {
        self.flush_head(out);
        self.open_reply(out);
        self.chunks.blocks += 1;
        self.chunks.hot.kind = None;
        match start.head {
            BlockHead::Text => out.carried(),
            BlockHead::Thinking => {
                self.chunks.thought = None;
                out.carried();
            }
            BlockHead::Call { id, name } => {
                let number = self.turn.calls;
                self.turn.calls += 1;
                self.chunks.calls += 1;
                self.chunks.numbers.push((start.index, number));
                out.used(id.as_escaped());
                out.used(name.as_escaped());
                out.carried();
                if !self.own {
                    self.frame.begin(out);
                    call_head(number, id, name, out);
                    return self.end_head(&[], out);
                }
                let mut line = Out::default();
                line.swap(&mut self.chunks.spare);
                line.bytes(self.frame.line());
                call_head(number, id, name, &mut line);
                let mut head = Vec::new();
                line.swap(&mut head);
                self.chunks.head = Some((start.index, head));
            }
            // Redacted thoughts, images and the like have no place in a stream of the RFC.
            BlockHead::Redacted { .. } | BlockHead::Other { .. } => {}
        }
    }

    /// A call's beginning together with the first piece of its arguments, as its line had them.
    fn first_piece(&mut self, mut head: Vec<u8>, text: Str<'_>, fields: Fields<'_>, out: &mut Out) {
        self.frame.admit(out);
        out.bytes(&head);
        head.clear();
        self.chunks.spare = head;
        out.body(text);
        self.end_head(fields, out);
    }

    /// Ends a line that a call begins with, behind its arguments.
    fn end_head(&self, fields: Fields<'_>, out: &mut Out) {
        out.lit("\"}");
        own::write(own::in_blocks(fields), out);
        out.lit("}]");
        self.end_delta(fields, "null", out);
    }

    /// Writes a call's beginning that waits for its first piece.
    pub(super) fn flush_head(&mut self, out: &mut Out) {
        if let Some((_, head)) = self.chunks.head.take() {
            self.first_piece(head, Str::EMPTY, &[], out);
        }
    }

    pub(super) fn stop_block(&mut self, stop: BlockStop, out: &mut Out) {
        self.flush_head(out);
        self.chunks.hot.kind = None;
        self.chunks.blocks = self.chunks.blocks.saturating_sub(1);
        self.chunks.numbers.retain(|(block, _)| *block != stop.index);
        out.carried();
    }

    /// A chunk that says nothing new, or tokens in mid-turn.
    pub(super) fn empty_chunk(&mut self, stop: &RoundStop<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        self.frame.begin(out);
        match stop.usage {
            Some(usage) => {
                out.lit("[],\"usage\":");
                write_usage(&usage, out);
                own::metadata(fields, out);
                own::end_line(fields, out);
            }
            None => {
                out.lit("[{\"index\":0,\"delta\":{");
                self.end_delta(fields, "null", out);
            }
        }
    }

    pub(super) fn end_round(&mut self, end: &RoundEnd<'_>, fields: Fields<'_>, out: &mut Out) {
        self.flush_head(out);
        out.carried();
        let word = end.stop.map(|stop| stop.word).filter(|_| self.own);
        if !self.chunks.open && word.is_none() {
            return;
        }
        self.chunks.hot.kind = None;
        let calls = match word {
            Some(_) => end.stop.is_some_and(|stop| stop.kind == StopKind::Tools),
            None => self.chunks.calls > 0,
        };
        if calls {
            self.finish_line("tool_calls", fields, out);
            return;
        }
        self.chunks.open = false;
        if let Some(word) = word {
            out.used(word.as_escaped());
        }
        let kept = Kept::of(fields, out);
        self.chunks.end = Some(End {
            word: word.map(|w| w.as_escaped().to_owned()),
            created: self.frame.time().to_owned(),
            kept,
        });
    }

    /// A result or a question about a call is about to go out: the reply that made the call ends before it, unless a block of it
    /// is open. What the reply says later begins with a role again.
    pub(super) fn end_calls(&mut self, out: &mut Out) {
        self.flush_head(out);
        if self.chunks.open && self.chunks.calls > 0 && self.chunks.blocks == 0 && !self.own {
            self.finish_line("tool_calls", &[], out);
        }
    }

    fn finish_line(&mut self, word: &str, fields: Fields<'_>, out: &mut Out) {
        self.chunks.open = false;
        self.chunks.hot.kind = None;
        self.begin(out);
        self.frame.begin(out);
        out.lit("[{\"index\":0,\"delta\":{");
        own::write(own::at(fields, &own::BODIES), out);
        out.lit("},\"finish_reason\":\"");
        out.lit(word);
        out.lit("\"");
        own::end_choice(fields, out);
        own::metadata(fields, out);
        own::end_line(fields, out);
    }

    /// A reply without calls was held; the turn goes on, or the log ends.
    fn end_held(&mut self, over: Option<&str>, out: &mut Out) {
        let Some(mut end) = self.chunks.end.take() else { return };
        self.held_time(&mut end.created);
        self.frame.begin(out);
        out.lit("[{\"index\":0,\"delta\":{},\"finish_reason\":\"");
        out.lit(match (end.word.as_deref(), over) {
            // Inside a turn a reply ends so, whether it called anything or not.
            (None | Some("stop"), None) => "tool_calls",
            (Some(word), _) | (None, Some(word)) => word,
        });
        out.lit("\"");
        end.kept.end_choice(out);
        if let Some(members) = end.kept.metadata().strip_prefix(',') {
            out.lit(",\"metadata\":{");
            out.lit(members);
            out.lit("}");
        }
        end.kept.end_line(out);
        self.held_time(&mut end.created);
    }

    /// Exchanges the envelope's time for that of a line that was held.
    fn held_time(&mut self, created: &mut String) {
        if !created.is_empty() {
            self.frame.swap_time(created);
        }
    }

    /// The turn is over: the last reply's finish reason, then tokens and summary. Without tokens the summary rides on the
    /// finish reason.
    pub(super) fn end_chunks(&mut self, outcome: &Outcome<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        self.flush_head(out);
        self.chunks.hot.kind = None;
        self.chunks.open = false;
        let mut end = self.chunks.end.take().unwrap_or_else(|| End {
            word: None,
            created: String::new(),
            kept: Kept::default(),
        });
        let word = end.word.take();
        let derived = finish::of_turn(outcome, outcome.usage.is_some());
        let word = word.as_deref().unwrap_or(derived);
        self.held_time(&mut end.created);
        self.frame.begin(out);
        out.lit("[{\"index\":0,\"delta\":{},\"finish_reason\":\"");
        out.lit(word);
        out.lit("\"");
        end.kept.end_choice(out);
        if let Some(usage) = outcome.usage {
            if word == "error" {
                facts::write_error(outcome, word, ",\"metadata\":{", out);
                out.lit(end.kept.metadata());
                out.lit("}");
            }
            end.kept.end_line(out);
            self.held_time(&mut end.created);
            self.frame.begin(out);
            out.lit("[],\"usage\":");
            write_usage(&usage, out);
            facts::write_summary(outcome, self.own, word, out);
            own::write(own::at(fields, &[own::METADATA]), out);
            out.lit("}");
            own::end_line(fields, out);
        } else {
            facts::write_summary(outcome, self.own, word, out);
            out.lit(end.kept.metadata());
            own::write(own::at(fields, &[own::METADATA]), out);
            out.lit("}");
            out.lit(end.kept.line());
            own::end_line(fields, out);
            self.held_time(&mut end.created);
        }
    }

    /// The program ends in mid-turn.
    pub(super) fn break_chunks(&mut self, out: &mut Out) {
        self.flush_head(out);
        self.end_held(None, out);
    }

    pub(super) fn finish_chunks(&mut self, out: &mut Out) {
        self.flush_waiting(out);
        self.flush_head(out);
        self.end_held(Some("stop"), out);
    }

    /// The number of the call that a block is.
    pub(super) fn number(&mut self, block: u32) -> u32 {
        let known = self.chunks.numbers.iter().rfind(|(b, _)| *b == block).map(|(_, number)| *number);
        known.unwrap_or_else(|| self.turn.calls.saturating_sub(1))
    }

    /// The number of the annotation of the thought that grows.
    pub(super) fn thought_number(&mut self) -> u32 {
        let turn = &mut self.turn;
        *self.chunks.thought.get_or_insert_with(|| {
            turn.annotations += 1;
            turn.annotations - 1
        })
    }
}

/// A call's beginning, up to its arguments.
fn call_head(number: u32, id: Str<'_>, name: Str<'_>, out: &mut Out) {
    out.lit("[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":");
    out.number(number);
    out.lit(",\"id\":");
    out.str(id);
    out.lit(",\"type\":\"function\",\"function\":{\"name\":");
    out.str(name);
    out.lit(",\"arguments\":\"");
}
