//! Reading one dialect and writing another: decode, assemble, encode, and keep the ledger.

mod aside;
mod auto;
mod core;
mod document;
mod options;
mod pipe;
pub(crate) mod sessions;
mod setup;
mod stored;

pub use auto::AutoConverter;
use core::Core;
pub use core::Silent;
pub use options::{Anew, Options, ToolNames};

use crate::codec::{Decode, Decoder, Dialect, Format, Layout};
use crate::event::Entry;
pub use crate::json::Drain;
use crate::ledger::Ledger;
use crate::read::Collector;
use crate::reader::{Framing, Reader};
use crate::store::Child;

/// A line, or a part of one, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The line, counted from 1. In a `json` format: the message.
    pub line: u64,
    /// The byte within the line, counted from 1. In a `json` format that is written over several lines: within the message.
    pub byte: u64,
    /// The JSON pointer of what is wrong, where there is one.
    pub pointer: Option<String>,
    /// What is wrong.
    pub reason: String,
}

/// A log went on in another dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The line that began it, counted from 1.
    pub line: u64,
    /// The dialect.
    pub format: Format,
    /// What told: `system/init with claude_code_version`.
    pub why: &'static str,
}

/// Reads one log and writes another. Feed it the input in pieces of any size; where they are cut changes nothing.
#[derive(Debug)]
pub struct Converter {
    reader: Reader,
    core: Core,
    /// The files of subagents that are read, each in the middle of the one before.
    asides: Vec<Reader>,
}

impl Converter {
    /// Ready for the first byte.
    pub fn new(options: Options) -> Self {
        // Within one format the lines themselves are copied; a session keeps to no lines.
        let layout = match options.from.mode.layout {
            layout if options.from != options.to || layout == Layout::Session => layout,
            _ => Layout::Lines,
        };
        let decoder = Decoder::new(options.from);
        Self {
            reader: Reader::new(Framing::of(layout, options.max_line), options.max_line, decoder),
            core: Core::new(options),
            asides: Vec::new(),
        }
    }

    /// Writes nothing, and collects events of which replies are whole, and each turn has its outcome.
    pub(crate) fn collecting(from: Format, follow: bool) -> Self {
        let options = Options {
            follow,
            ..Options::new(from, Dialect::CANONICAL.into())
        };
        Self {
            reader: Reader::new(Framing::of(from.mode.layout, options.max_line), options.max_line, Decoder::new(from)),
            core: Core::collecting(options),
            asides: Vec::new(),
        }
    }

    /// What [`Self::collecting`] has collected.
    pub(crate) fn collected(&mut self) -> Option<&mut Collector> {
        self.core.collected()
    }

    /// Hands much of what the lines give to `drain` while they are read, each time all that `out` holds that was not handed over before;
    /// `drain` takes what it can. Of very long lines what is written is not held whole then, where the target's own format allows it.
    #[must_use]
    pub fn drained(mut self, drain: Drain) -> Self {
        self.core.out.drain_to(drain);
        self
    }

    /// Takes the next piece of the input and appends what it gives to `out`. After [`Self::stopped`] nothing is taken.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.core.begin(out);
        self.asides.last_mut().unwrap_or(&mut self.reader).feed(input, &mut self.core);
        self.core.pause(out);
    }

    /// What is fed from here on is the file of a subagent, which lies beside that of the session; until [`Self::end_subagent`]. The place
    /// is between two lines, best before the one with the result of the call that the subagent works for.
    pub fn begin_subagent(&mut self, of: &Child) {
        let options = self.core.options();
        let mut decoder = Decoder::new(options.from);
        decoder.subagent(of);
        let framing = Framing::of(options.from.mode.layout, options.max_line);
        self.asides.push(Reader::new(framing, options.max_line, decoder));
        self.core.other_file();
    }

    /// The subagent's file is over: what is fed goes on where it was before.
    pub fn end_subagent(&mut self, out: &mut Vec<u8>) {
        let Some(mut aside) = self.asides.pop() else { return };
        self.core.begin(out);
        aside.rest(&mut self.core);
        self.core.other_file();
        self.core.pause(out);
    }

    /// The same as [`Self::feed`] for a piece that is known to be UTF-8: it is not checked again. It pays where another thread
    /// has looked at it, and where most pieces end with a line feed.
    pub fn feed_text(&mut self, input: &str, out: &mut Vec<u8>) {
        self.core.begin(out);
        self.asides.last_mut().unwrap_or(&mut self.reader).feed_text(input, &mut self.core);
        self.core.pause(out);
    }

    /// The input is over: appends what was still held.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        while !self.asides.is_empty() {
            self.end_subagent(out);
        }
        self.core.begin(out);
        self.reader.finish(&mut self.core);
        self.core.pause(out);
    }

    /// Whether `strict` has ended the run; the last [`Damage`] says why.
    pub fn stopped(&self) -> bool {
        self.reader.stopped() || self.core.has_stopped()
    }

    /// Takes the damage found since the last call.
    pub fn take_damage(&mut self) -> Vec<Damage> {
        std::mem::take(&mut self.core.damage)
    }

    /// Takes what was found since the last call of sessions in other dialects, which [`Options::follow`] follows.
    pub fn take_followed(&mut self) -> Vec<Followed> {
        std::mem::take(&mut self.core.followed)
    }

    /// How many damaged lines or parts there were.
    pub const fn damaged(&self) -> u64 {
        self.core.damaged
    }

    /// How many lines gave no output of their own. Only the ledger knows which, and what of the other lines did not go over; these are
    /// counted without a ledger too.
    pub const fn silent(&self) -> Silent {
        self.core.silent
    }

    /// How many lines were read.
    pub const fn lines(&self) -> u64 {
        self.reader.lines()
    }

    /// How many lines were read of the file that is being read: the log's own, or between [`Self::begin_subagent`] and
    /// [`Self::end_subagent`] that of the subagent.
    pub fn line(&self) -> u64 {
        self.asides.last().unwrap_or(&self.reader).lines()
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
