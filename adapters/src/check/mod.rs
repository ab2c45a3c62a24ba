//! Holds a log against what its dialect's programs write: what is damaged, what is missing, what contradicts what.
//!
//! One pass, in memory that does not grow with the log. Each [`Finding`] says which [`Rule`] is broken, how bad that is ([`Level`]), and
//! where: line, byte, JSON pointer. `docs/check.md` has an entry for each rule. A rule that cannot be judged in a dialect is silent there.
//!
//! ```
//! use agentglot_adapters::check::{Checker, Level, Rule};
//!
//! let log = r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/tmp","model":"m","tools":[]}
//! {"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c-1","content":"?"}]},"session_id":"s","uuid":"u"}
//! {"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s"}
//! "#;
//! let mut checker = Checker::new("claude".parse()?);
//! checker.feed(log.as_bytes());
//! let (findings, summary) = checker.finish();
//! let finding = &findings[0];
//! assert_eq!((finding.rule, finding.level, finding.line), (Rule::ResultWithoutCall, Level::Error, 2));
//! assert_eq!(finding.pointer.as_deref(), Some("/message/content/0/tool_use_id"));
//! assert_eq!((summary.outcomes, summary.errors), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod calls;
mod core;
mod report;
mod rules;
mod state;
mod tree;
mod turns;
mod usage;

use std::fmt;

use crate::codec::{Decoder, Format};
use crate::convert::Options;
use crate::reader::{Framing, Reader};
use core::Core;

pub use rules::{Level, Rule, UnknownLevel, UnknownRule};

/// Ids that a log has said. Longer logs forget the first ones.
type Seen = crate::seen::Seen<{ 1 << 20 }>;

/// A rule that is broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How bad it is here.
    pub level: Level,
    /// The line, counted from 1. In a `json` format: the message.
    pub line: u64,
    /// The byte within the line, counted from 1.
    pub byte: u64,
    /// The JSON pointer of the value that it is about; `None` if it is about the whole line.
    pub pointer: Option<String>,
    /// What is wrong.
    pub message: String,
    /// How often it was found: what may come on any line is told once, of the first place.
    pub count: u64,
}

/// How often something was seen, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The line of the first one, counted from 1.
    pub first: u64,
}

/// What there is to say about a log, besides its findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Lines, or messages of a `json` format.
    pub lines: u64,
    /// Turns that ended.
    pub outcomes: u64,
    /// Lines that are no JSON.
    pub noise: Option<Tally>,
    /// Findings of each level; what is found again and again counts once.
    pub errors: u64,
    #[allow(missing_docs)]
    pub warnings: u64,
    #[allow(missing_docs)]
    pub notes: u64,
}

/// Knows the schemas of lines (those of the feature `schema`); a library that compares them is the caller's.
pub trait Schemas: fmt::Debug {
    /// What does not fit in a line, if anything.
    fn misfit(&mut self, format: Format, line: &str) -> Option<Misfit>;
}

/// A part of a line that does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Its JSON pointer.
    pub pointer: String,
    /// What is wrong. Lines of which the same is wrong are counted together.
    pub what: String,
}

/// Reads a log piece by piece.
#[derive(Debug)]
pub struct Checker {
    reader: Reader,
    core: Core,
}

/// What a [`Checker`] is to do.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Longer lines are damaged; `None` for the converter's limit.
    pub max_line: Option<usize>,
    /// Goes on in another dialect where a session in one begins. Without it such a session is an error.
    pub follow: bool,
    /// The log is the file of a subagent, beside that of the session that it worked in.
    pub of_subagent: bool,
    /// Whether lines are held against their schemas too.
    pub schemas: Option<Box<dyn Schemas>>,
}

impl Checker {
    /// Ready for the first byte of a log.
    pub fn new(format: Format) -> Self {
        Self::with(format, Settings::default())
    }

    /// The same with settings.
    pub fn with(format: Format, settings: Settings) -> Self {
        let max_line = settings.max_line.unwrap_or_else(|| Options::new(format, format).max_line);
        Self {
            reader: Reader::new(Framing::of(format.mode.layout, max_line), max_line, Decoder::new(format)),
            core: Core::new(format, settings),
        }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, input: &[u8]) {
        self.reader.feed(input, &mut self.core);
    }

    /// Takes what was found since the last call. What only a later line can tell comes with that line.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.core.report.ready)
    }

    /// The input is over: the rest of what was found.
    pub fn finish(mut self) -> (Vec<Finding>, Summary) {
        let Self { reader, core } = &mut self;
        reader.finish(core);
        core.report.summary.lines = reader.lines();
        (self.core.report.ready, self.core.report.summary)
    }
}

#[cfg(test)]
mod tests;
