//! Sessions that one connection serves at the same time: what belongs to another one than that of which a turn is going on waits until that
//! turn is over.

use bumpalo::Bump;

use super::core::Core;
use crate::codec::{Decode, Decoder};
use crate::json::Error;
use crate::reader::{Source, Stand};

/// A line that waits.
#[derive(Debug)]
struct Waits {
    line: u64,
    /// How much was read before it.
    read: u64,
    text: Box<str>,
}

/// Lines that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// Those that were read leave their places empty.
    lines: Vec<Option<Waits>>,
    bytes: usize,
    /// The line that is read may be set aside.
    pub(super) takes: bool,
}

/// When so many bytes wait, the turn that is going on is taken for one that was cut off.
const MOST: usize = 64 << 20;

impl Core {
    /// Reads a value of a log of many sessions, if nothing comes before it.
    pub(super) fn read_of_many<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        let Source { decoder, arena, .. } = source;
        let source = Source {
            decoder: &mut *decoder,
            ..source
        };
        self.aside.takes = true;
        let used = self.read(text, source);
        self.aside.takes = false;
        if used.is_ok() && (!decoder.is_in_turn() || self.aside.bytes > MOST) {
            self.read_aside(decoder, arena, self.aside.bytes > MOST);
        }
        used
    }

    /// A line that its decoder has not told is read later.
    #[cold]
    pub(super) fn set_aside(&mut self, line: u64, read: u64, value: &str) {
        let text = value.into();
        self.aside.lines.push(Some(Waits { line, read, text }));
        self.aside.bytes += value.len();
    }

    /// Reads what has waited and waits for nothing any more; `all`: whatever it waits for.
    pub(super) fn read_aside(&mut self, decoder: &mut Decoder, arena: &Bump, all: bool) {
        let mut at = 0;
        self.begin_aside();
        while let Some(place) = self.aside.lines.get_mut(at) {
            at += 1;
            let waits = |text: &str, decoder: &mut Decoder| !all && decoder.is_in_turn() && decoder.is_others(text);
            let Some(Waits { line, read, text }) = place.take_if(|place| !waits(&place.text, decoder)) else {
                continue;
            };
            self.aside.bytes -= text.len();
            let text = &*arena.alloc_str(&text);
            let source = Source {
                decoder: &mut *decoder,
                arena,
                line,
                held: None,
                stand: Stand { at: 0, line: "" },
                read,
                part: None,
            };
            if let Err(error) = self.read(text, source) {
                self.damage(error.at, error.pointer(text), error.why.to_string());
            }
            if !decoder.is_in_turn() && !all {
                at = 0;
                self.begin_aside();
            }
        }
        self.aside.lines.retain(Option::is_some);
    }

    /// Lines are read that stand before the last one.
    fn begin_aside(&mut self) {
        self.aside.lines.retain(Option::is_some);
        if let Some(ledger) = self.ledger.as_mut().filter(|_| !self.aside.lines.is_empty()) {
            ledger.close();
        }
    }
}
