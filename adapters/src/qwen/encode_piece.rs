//! Writing the chunks of one block's pieces: the lines look alike, but for their text.

use super::encode::Encoder;
use crate::event::{Delta, Event, Piece};
use crate::json::{Digits, Out, Str};

/// The line of the last piece, around its text: the next piece of the same block looks alike.
#[derive(Debug, Default)]
pub(super) struct Hot {
    pub(super) kind: Option<HotKind>,
    block: u32,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HotKind {
    Text,
    Thought,
    Input,
}

pub(super) const CONTENT: &str = "[{\"index\":0,\"delta\":{\"content\":\"";
pub(super) const REASONING: &str = "[{\"index\":0,\"delta\":{\"reasoning_content\":\"";
const THOUGHT: &str = "\",\"annotations\":[{\"type\":\"x-qwen-thought\",\"subject\":\"\",\"description\":\"";
const GOES_ON: &str = "},\"finish_reason\":null}]}\n";

/// No line is longer before its text, as a rule.
const USUAL: usize = 256;

impl Hot {
    #[inline]
    fn write(&self, kind: HotKind, text: Str<'_>, out: &mut Out) {
        out.bytes(&self.before);
        out.body(text);
        if kind == HotKind::Thought {
            out.lit(THOUGHT);
            out.body(text);
        }
        out.bytes(&self.after);
    }
}

impl Encoder {
    /// Writes a piece that looks like the one before. Returns false when it takes the general way.
    #[inline]
    pub(super) fn repeats(&mut self, event: &Event<'_>, delta: Delta<'_>, out: &mut Out) -> bool {
        let (kind, text) = match delta.piece {
            Piece::Text(text) => (HotKind::Text, text),
            Piece::Thinking(text) => (HotKind::Thought, text),
            Piece::Input(text) => (HotKind::Input, text),
            _ => return false,
        };
        let hot = &self.chunks.hot;
        if hot.kind != Some(kind) || hot.block != delta.index || event.origin.parent.is_some() || self.own && !event.fields.is_empty() {
            return false;
        }
        if let Some(time) = event.origin.time {
            self.frame.set_time(time);
            if self.frame.is_stale() {
                return false;
            }
            out.beside(time.source());
        }
        if text.is_empty() && !self.own {
            out.merged("an empty piece");
            return true;
        }
        self.frame.admit(out);
        self.chunks.hot.write(kind, text, out);
        true
    }

    /// Writes one more piece of the block whose line was the last.
    #[inline]
    pub(super) fn grows(&self, piece: Piece<'_>, out: &mut Out) -> bool {
        let (kind, text) = match piece {
            Piece::Text(text) => (HotKind::Text, text),
            Piece::Thinking(text) => (HotKind::Thought, text),
            _ => return false,
        };
        let hot = &self.chunks.hot;
        let alike = hot.kind == Some(kind) && !text.is_empty() && !self.own;
        if alike {
            hot.write(kind, text, out);
        }
        alike
    }

    /// Remembers the line of a piece around its text.
    pub(super) fn warm(&mut self, kind: HotKind, block: u32) {
        let mut before = std::mem::take(&mut self.chunks.hot.before);
        let mut after = std::mem::take(&mut self.chunks.hot.after);
        before.clear();
        before.reserve(USUAL);
        before.extend_from_slice(self.frame.line());
        after.clear();
        after.reserve(GOES_ON.len() + 32);
        match kind {
            HotKind::Text => {
                before.extend_from_slice(CONTENT.as_bytes());
                after.extend_from_slice(b"\"");
            }
            HotKind::Thought => {
                before.extend_from_slice(REASONING.as_bytes());
                let number = self.thought_number();
                after.extend_from_slice(b"\",\"index\":");
                after.extend_from_slice(Digits::of(number.into()).as_bytes());
                after.extend_from_slice(b"}]");
            }
            HotKind::Input => {
                let number = self.number(block);
                before.extend_from_slice(b"[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":");
                before.extend_from_slice(Digits::of(number.into()).as_bytes());
                before.extend_from_slice(b",\"function\":{\"arguments\":\"");
                after.extend_from_slice(b"\"}}]");
            }
        }
        after.extend_from_slice(GOES_ON.as_bytes());
        self.chunks.hot = Hot {
            kind: Some(kind),
            block,
            before,
            after,
        };
    }
}
