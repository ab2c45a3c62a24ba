//! What came of each log: the summary that people read, and the report as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agentglot_adapters::convert::{Damage, Silent};
use serde::Serialize;

use super::plan::Log;

/// What came of a log.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    /// What it is called.
    pub(super) log: String,
    /// What it is written in, if that could be told.
    pub(super) from: Option<String>,
    /// Where its conversion went; nothing is standard output.
    pub(super) output: Option<String>,
    pub(super) lines: u64,
    /// Lines that the target has no place for.
    pub(super) lost: u64,
    /// Lines of which others of the output say the same.
    pub(super) merged: u64,
    pub(super) damaged: u64,
    /// The first of what is damaged.
    pub(super) damage: Vec<Place>,
    /// Why it was not converted, or not to its end.
    pub(super) error: Option<String>,
}

/// Something damaged.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    /// The file of a subagent, where it is not the log itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u64,
    byte: u64,
    pointer: Option<String>,
    reason: String,
}

/// So much of what is damaged stands in the report of a log; all of it is on standard error.
const MOST_PLACES: usize = 1000;

impl Entry {
    /// Nothing has come of it yet.
    pub(super) fn new(log: &Log) -> Self {
        Self {
            log: log.name.clone(),
            from: log.is_told.then(|| log.options.from.to_string()),
            output: log.output.as_ref().map(|output| output.path().display().to_string()),
            lines: 0,
            lost: 0,
            merged: 0,
            damaged: 0,
            damage: Vec::new(),
            error: None,
        }
    }

    pub(super) fn note_damage(&mut self, damage: &Damage, lines_before: u64, file: Option<&str>) {
        self.damaged += 1;
        if self.damage.len() < MOST_PLACES {
            self.damage.push(Place {
                file: file.map(str::to_owned),
                line: damage.line + lines_before,
                byte: damage.byte,
                pointer: damage.pointer.clone(),
                reason: damage.reason.clone(),
            });
        }
    }
}

/// What came of all logs.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    to: String,
    logs: Vec<Entry>,
}

#[derive(Debug, Default, Serialize)]
struct Totals {
    logs: u64,
    converted: u64,
    by_format: BTreeMap<String, u64>,
    lines: u64,
    damaged: u64,
    lost: u64,
    merged: u64,
}

impl Report {
    pub(super) fn new(to: String) -> Self {
        Self { to, logs: Vec::new() }
    }

    /// The next log begins.
    pub(super) fn begin(&mut self, next: Entry) {
        self.logs.push(next);
    }

    /// The log that is being written.
    ///
    /// # Panics
    /// Before the first one has begun.
    pub(super) fn current(&mut self) -> &mut Entry {
        self.logs.last_mut().expect("a log begins before anything comes of it")
    }

    /// All lines that gave no output. Of a log that failed there may be no output at all, and its failure is what counts.
    pub(super) fn silent(&self) -> Silent {
        let mut silent = Silent::default();
        for log in self.logs.iter().filter(|log| log.error.is_none()) {
            silent.lost += log.lost;
            silent.merged += log.merged;
        }
        silent
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for log in &self.logs {
            totals.logs += 1;
            totals.converted += u64::from(log.error.is_none());
            if let Some(from) = &log.from {
                *totals.by_format.entry(from.clone()).or_default() += 1;
            }
            totals.lines += log.lines;
            totals.damaged += log.damaged;
            totals.lost += log.lost;
            totals.merged += log.merged;
        }
        totals
    }

    /// What there is to say about several logs; nothing about one.
    pub(super) fn summary(&self) -> Option<String> {
        let totals = self.totals();
        if totals.logs < 2 {
            return None;
        }
        let mut text = count(totals.logs, "log");
        let formats: Vec<_> = totals.by_format.iter().map(|(name, n)| format!("{n} {name}")).collect();
        if !formats.is_empty() {
            // A `String` takes everything.
            let _ = write!(text, " ({})", formats.join(", "));
        }
        let _ = write!(text, ", {}, {} damaged", count(totals.lines, "line"), totals.damaged);
        if totals.converted < totals.logs {
            let _ = write!(text, "; {} not converted", totals.logs - totals.converted);
        }
        Some(text)
    }

    /// As one JSON object.
    pub(super) fn json(&self) -> String {
        #[derive(Serialize)]
        struct Whole<'r> {
            to: &'r str,
            totals: Totals,
            logs: &'r [Entry],
        }
        let whole = Whole {
            to: &self.to,
            totals: self.totals(),
            logs: &self.logs,
        };
        let mut text = serde_json::to_string_pretty(&whole).expect("strings, numbers and lists are JSON");
        text.push('\n');
        text
    }
}

/// What a person is told of lines that gave no output.
pub(super) fn told(silent: Silent) -> Option<String> {
    let merged = |n| format!("{} merged into others of the output", are(n));
    match silent {
        Silent { lost: 0, merged: 0, .. } => None,
        Silent { lost: 0, merged: n, .. } => Some(merged(n)),
        Silent { lost, merged: 0, .. } => Some(format!("{} no place in the target; --ledger FILE lists what was left out", have(lost))),
        Silent { lost, merged: n, .. } => Some(format!(
            "{} no place in the target (--ledger FILE lists what was left out), {}",
            have(lost),
            merged(n)
        )),
    }
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn are(n: u64) -> String {
    format!("{} {}", count(n, "line"), if n == 1 { "is" } else { "are" })
}

fn have(n: u64) -> String {
    format!("{} {}", count(n, "line"), if n == 1 { "has" } else { "have" })
}
