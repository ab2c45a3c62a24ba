//! Reading one dialect and writing another: decode, assemble, encode, and keep the ledger.

mod core;
mod options;
mod pipe;

use core::Core;
pub use options::{Options, ToolNames};

use crate::codec::Mode;
use crate::event::Entry;
use crate::frame::{Lines, Sse, Values};
use crate::ledger::Ledger;

/// A line, or a part of one, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, counted from 1.
    pub line: u64,
    /// The byte within the line, counted from 1. In a `json` format that is written over several lines: within the message,
    /// without the white space between its tokens.
    pub byte: u64,
    /// What is wrong.
    pub reason: String,
}

/// Reads one log and writes another. Feed it the input in pieces of any size; where they are cut changes nothing.
#[derive(Debug)]
pub struct Converter {
    framing: Framing,
    core: Core,
    stopped: bool,
}

#[derive(Debug)]
enum Framing {
    Lines(Lines),
    Values { finder: Values, buffer: Vec<u8> },
    Events(Sse),
}

impl Converter {
    /// Ready for the first byte.
    pub fn new(options: Options) -> Self {
        let whole = options.from.mode == Mode::Json;
        let framing = if options.from.mode == Mode::Sse {
            Framing::Events(Sse::new(options.max_line))
        } else if whole && options.from != options.to {
            Framing::Values {
                finder: Values::default(),
                buffer: Vec::new(),
            }
        } else {
            Framing::Lines(Lines::new(options.max_line))
        };
        Self {
            framing,
            core: Core::new(options),
            stopped: false,
        }
    }

    /// Takes the next piece of the input and appends what it gives to `out`. After [`Self::stopped`] nothing is taken.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) {
        if self.stopped {
            return;
        }
        let Self { framing, core, stopped } = self;
        core.out.swap(out);
        match framing {
            Framing::Lines(lines) => *stopped = !core.lines(input, lines),
            Framing::Events(events) => events.feed(input, |frame| {
                *stopped = !core.frame(frame);
                !*stopped
            }),
            Framing::Values { finder, buffer } => {
                buffer.extend_from_slice(input);
                while let Some(end) = finder.end(buffer) {
                    let rest = buffer.split_off(end);
                    let value = std::mem::replace(buffer, rest);
                    *stopped = !core.value(&value);
                    if *stopped {
                        break;
                    }
                }
            }
        }
        core.out.swap(out);
    }

    /// The same as [`Self::feed`] for a piece that is known to be UTF-8: it is not checked again. It pays where another thread
    /// has looked at it, and where most pieces end with a line feed.
    pub fn feed_text(&mut self, input: &str, out: &mut Vec<u8>) {
        match &mut self.framing {
            Framing::Lines(lines) if !self.stopped => {
                self.core.out.swap(out);
                self.stopped = !self.core.text_lines(input, lines);
                self.core.out.swap(out);
            }
            _ => self.feed(input.as_bytes(), out),
        }
    }

    /// The input is over: appends what was still held.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let Self { framing, core, stopped } = self;
        core.out.swap(out);
        if !*stopped {
            match framing {
                Framing::Lines(lines) => lines.finish(|line| {
                    *stopped = !core.line(line);
                    !*stopped
                }),
                Framing::Events(events) => events.finish(|frame| {
                    *stopped = !core.frame(frame);
                    !*stopped
                }),
                Framing::Values { buffer, .. } => {
                    let value = std::mem::take(buffer);
                    *stopped = !value.is_empty() && !core.value(&value);
                }
            }
        }
        core.finish();
        core.out.swap(out);
    }

    /// Whether `strict` has ended the run; the last [`Damage`] says why.
    pub const fn stopped(&self) -> bool {
        self.stopped
    }

    /// Takes the damage found since the last call.
    pub fn take_damage(&mut self) -> Vec<Damage> {
        std::mem::take(&mut self.core.damage)
    }

    /// How many damaged lines or parts there were.
    pub const fn damaged(&self) -> u64 {
        self.core.damaged
    }

    /// How many lines gave no output of their own: the target has no place for them, or other lines say the same. Only the
    /// ledger knows which. Counted without a ledger too.
    pub const fn dropped(&self) -> u64 {
        self.core.dropped
    }

    /// How many lines were read.
    pub const fn lines(&self) -> u64 {
        self.core.line
    }

    /// How many of the [`Options::prompts`] have been used up.
    pub const fn prompts_used(&self) -> usize {
        self.core.assembler.prompts_used()
    }

    /// Takes the finished entries of the ledger. When they come depends on the lines alone, not on how the input was cut.
    pub fn take_entries(&mut self) -> Vec<LedgerEntry> {
        self.core.ledger.as_mut().map(Ledger::take_entries).unwrap_or_default()
    }

    /// Takes the finished entries of the ledger, as JSON lines.
    pub fn take_ledger(&mut self) -> String {
        self.core.ledger.as_mut().map(Ledger::take).unwrap_or_default()
    }
}

/// Entries of a ledger, for those who want to look at them rather than to store them.
pub type LedgerEntry = Entry;

#[cfg(test)]
mod tests;
