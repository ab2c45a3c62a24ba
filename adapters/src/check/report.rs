//! What is found, and where.

use std::collections::BTreeMap;

use super::{Finding, Level, Rule, Summary};
use crate::json::Pointers;

/// A place in a log.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) line: u64,
    /// The byte within the line, counted from 1.
    pub(super) byte: u64,
    pub(super) pointer: Option<String>,
}

/// The line that is read.
#[derive(Debug)]
pub(super) struct Line<'t> {
    text: &'t str,
    number: u64,
    /// Where the text begins in its line.
    at: usize,
    pointers: Pointers<'t>,
    /// How often a place was asked for that lies before the last one: each costs a walk.
    back: u32,
    last: usize,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) ready: Vec<Finding>,
    /// What may come on any line, counted: where it was found first.
    folded: BTreeMap<(Rule, String), Finding>,
    pub(super) summary: Summary,
    /// A line of this turn could not be read: what follows from that is no error of its own.
    pub(super) damaged: bool,
    /// The worst of this line.
    pub(super) worst: Option<Level>,
}

/// A log made of nothing but unknown names must not fill the memory.
const MOST_FOLDED: usize = 10_000;
/// Places that lie before the last one are no longer looked for then.
const MOST_BACK: u32 = 64;

impl<'t> Line<'t> {
    pub(super) const fn new(text: &'t str, number: u64, at: usize) -> Self {
        Self {
            text,
            number,
            at,
            pointers: Pointers::new(text),
            back: 0,
            last: 0,
        }
    }

    /// No line.
    pub(super) const fn none(number: u64) -> Self {
        Self::new("", number, 0)
    }

    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Whether it is no JSON: a text, of which what it says with escapes is no part.
    pub(super) fn is_plain(&self) -> bool {
        !self.text.is_empty() && !self.text.starts_with(['{', '['])
    }

    /// Whether this is a part of the line.
    pub(super) fn holds(&self, part: &str) -> bool {
        (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize) < self.text.len()
    }

    /// Where a part of the line stands.
    pub(super) fn place(&mut self, part: &str) -> Place {
        if !self.holds(part) {
            return self.whole();
        }
        let from = part.as_ptr() as usize - self.text.as_ptr() as usize;
        self.back += u32::from(from < self.last);
        self.last = from;
        let pointer = if self.back < MOST_BACK { self.pointers.at(from) } else { None };
        Place {
            line: self.number,
            byte: (self.at + from) as u64 + 1,
            pointer,
        }
    }

    /// The line itself.
    pub(super) const fn whole(&self) -> Place {
        Place {
            line: self.number,
            byte: self.at as u64 + 1,
            pointer: None,
        }
    }
}

impl Report {
    pub(super) fn find(&mut self, rule: Rule, place: Place, message: impl Into<String>) {
        self.find_as(rule, rule.level(), place, message);
    }

    pub(super) fn find_as(&mut self, rule: Rule, level: Level, place: Place, message: impl Into<String>) {
        let level = if self.damaged && rule.follows_from_damage() {
            level.min(Level::Warning)
        } else {
            level
        };
        let finding = self.finding(rule, level, place, message.into());
        self.ready.push(finding);
    }

    /// Counts what may come on any line.
    pub(super) fn fold(&mut self, rule: Rule, place: impl FnOnce() -> Place, message: String) {
        let full = self.folded.len() >= MOST_FOLDED;
        let mut key = (rule, message);
        if full && !self.folded.contains_key(&key) {
            key.1 = "(others)".to_owned();
        }
        if let Some(finding) = self.folded.get_mut(&key) {
            finding.count += 1;
            return;
        }
        let finding = self.finding(rule, rule.level(), place(), key.1.clone());
        self.folded.insert(key, finding);
    }

    fn finding(&mut self, rule: Rule, level: Level, place: Place, message: String) -> Finding {
        self.worst = self.worst.max(Some(level));
        match level {
            Level::Error => self.summary.errors += 1,
            Level::Warning => self.summary.warnings += 1,
            Level::Note => self.summary.notes += 1,
        }
        Finding {
            rule,
            level,
            line: place.line,
            byte: place.byte,
            pointer: place.pointer,
            message,
            count: 1,
        }
    }

    /// The log is over.
    pub(super) fn end(&mut self) {
        self.ready.extend(std::mem::take(&mut self.folded).into_values());
    }
}
