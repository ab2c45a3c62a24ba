//! How much of a reply there is by now. What a server packs small may be as long as it likes when it is unpacked.

use std::fmt;

use super::{ModelError, ModelErrorKind};
use agentglot_adapters::raw::event::{BlockHead, Event, Kind, Piece};

/// So many bytes may stand around one byte of a reply: events of a letter each have hundreds.
const AROUND: u64 = 8;
/// A block takes as much as so many bytes, though there be nothing in it.
const BLOCK: usize = 1 << 10;
/// The most calls of a reply.
const MOST_CALLS: usize = 256;
/// The most JSON values of something that is kept as a tree, where each takes many times its bytes.
pub(crate) const MOST_VALUES: usize = 500_000;

/// How much there is of a reply.
#[derive(Debug)]
pub(super) struct Measure {
    /// The most bytes of a reply: its texts, thoughts and arguments together.
    most: usize,
    said: usize,
    calls: usize,
    /// The arguments of all calls.
    values: Values,
    /// Bytes of the answer, unpacked.
    came: u64,
}

impl Measure {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            said: 0,
            calls: 0,
            values: Values::default(),
            came: 0,
        }
    }

    /// Counts an event.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<(), ModelError> {
        let fields = || event.fields.iter().map(|field| field.value.as_str().len()).sum::<usize>();
        self.said += match event.kind {
            Kind::BlockStart(start) => {
                self.calls += usize::from(matches!(start.head, BlockHead::Call { .. }));
                self.values.next();
                BLOCK + fields()
            }
            Kind::Delta(delta) => {
                if let Piece::Input(text) = delta.piece {
                    self.values.feed(&text.unescape());
                }
                fields() + piece(delta.piece)
            }
            _ => 0,
        };
        if self.said > self.most {
            return Err(self.too_large(format_args!("{} bytes", self.most)));
        }
        if self.calls > MOST_CALLS {
            return Err(wrong(format!("the reply has more than {MOST_CALLS} calls of tools")));
        }
        if self.values.count > MOST_VALUES {
            return Err(wrong(format!(
                "the arguments of a reply's calls hold more than {MOST_VALUES} JSON values"
            )));
        }
        Ok(())
    }

    /// Counts what came.
    pub(super) fn bytes(&mut self, more: usize) -> Result<(), ModelError> {
        self.came += more as u64;
        let most = AROUND.saturating_mul(self.most as u64);
        if self.came > most {
            return Err(self.too_large(format_args!("{most} bytes of events")));
        }
        Ok(())
    }

    fn too_large(&self, than: fmt::Arguments<'_>) -> ModelError {
        wrong(format!(
            "the reply is larger than {than} and was cut off; AGENTGLOT_MODEL_MAX_REPLY says how large it may be"
        ))
    }
}

/// An event of a stream has more bytes than any may have.
pub(super) fn event_too_large(most: usize) -> ModelError {
    wrong(format!(
        "an event of the reply is larger than {most} bytes, and the reply was cut off there"
    ))
}

fn wrong(why: String) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, why)
}

const fn piece(piece: Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) | Piece::Thinking(text) | Piece::Signature(text) | Piece::Subject(text) | Piece::Input(text) => text.as_escaped().len(),
        Piece::Other(raw) => raw.as_str().len(),
    }
}

/// Counts the values of JSON texts that come in pieces, by the signs between them. Texts that are no JSON have a count too.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub(crate) count: usize,
    in_string: bool,
    escaped: bool,
}

impl Values {
    /// Those of one text.
    pub(crate) fn of(text: &str) -> usize {
        let mut values = Self::default();
        values.feed(text);
        values.count
    }

    /// Another text begins.
    fn next(&mut self) {
        (self.in_string, self.escaped) = (false, false);
    }

    fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match (self.in_string, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{' | b'[' | b',' | b':') => self.count += 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings_however_the_text_is_cut() {
        let text = r#"{"a[,": [1, 2, {"b\"{": "x,y"}], "c": "\\"}"#;
        assert_eq!(Values::of(text), 9);
        for cut in 0..=text.len() {
            let mut values = Values::default();
            values.feed(&text[..cut]);
            values.feed(&text[cut..]);
            assert_eq!(values.count, 9, "{cut}");
        }
    }
}
