//! Very long lines are told in parts: what comes of many small elements needs many times their memory.

use super::blanks::Stand;
use super::{Consumer, Damaged, Source, Stage};
use crate::codec::{Decode, List, Part};
use crate::json::{Cursor, Raw};

/// A line of so many bytes may be told in parts.
pub(super) const LONG: usize = 1 << 20;
/// So many bytes of the list make a part, and no more may stand around the list.
const PART: usize = 1 << 16;
/// Elements that have more bytes than this, one with another, are not very many.
const SMALL: usize = 1 << 12;

impl Stage {
    /// Tells a line in parts, if it holds a list whose elements may stand apart; returns whether to go on. What is damaged is told as a
    /// whole.
    pub(super) fn in_parts(&mut self, text: &str, to: &mut impl Consumer) -> Option<bool> {
        let List { at: span, pointer } = self.decoder.list(text)?;
        let around = text.len() - span.len();
        let mut whole = Cursor::new(text);
        whole.raw().ok()?;
        if around > PART || !whole.at_end() {
            return None;
        }
        Raw::trusted(&text[span.clone()]).elements().nth(span.len() / SMALL)?;
        let mut at = Cursor::starting(text, span.start);
        let mut array = at.array().ok()?;
        let mut line = String::with_capacity(2 * PART);
        // Of the part that is gathered: where it begins, and the place of its first element in the list.
        let (mut begin, mut first, mut end) = (at.position(), 0, at.position());
        for n in 0.. {
            let more = array.more(&mut at).ok()?;
            if n > first && (!more || end - begin >= PART) {
                line.clear();
                for piece in [&text[..span.start], "[", &text[begin..end], "]", &text[span.end..]] {
                    line.push_str(piece);
                }
                let shift = begin - span.start - 1;
                if !self.part(&line, Part { list: pointer, first }, shift, to) {
                    return Some(false);
                }
                (begin, first) = (at.position(), n);
            }
            if !more {
                break;
            }
            at.skip().ok()?;
            end = at.position();
        }
        Some(true)
    }

    /// Tells a part, whose elements stand `shift` bytes further on in their line.
    fn part(&mut self, line: &str, part: Part, shift: usize, to: &mut impl Consumer) -> bool {
        let source = Source {
            read: self.read,
            decoder: &mut self.decoder,
            arena: &self.arena,
            line: self.line,
            held: None,
            stand: Stand { at: 0, line },
            part: Some(part),
        };
        let read = to.value(line, source);
        self.arena.reset();
        if let Err(error) = read {
            let pointer = error.pointer(line);
            let is_of_list = pointer.as_ref().is_some_and(|pointer| pointer.starts_with(part.list));
            to.damaged(&Damaged {
                line: self.line,
                byte: (error.at + if is_of_list { shift } else { 0 }) as u64 + 1,
                pointer: pointer.and_then(|pointer| part.placed(pointer)),
                why: error.why.to_string(),
                bytes: line.as_bytes(),
            });
        }
        to.goes_on()
    }
}
