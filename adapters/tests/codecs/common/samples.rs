//! Lines of every make that there is in the logs, and short logs with lines like them.

use std::collections::{BTreeMap, BTreeSet};

use agentglot_adapters::raw::codec::Format;

use super::siblings::{Dictionary, Site, siblings, sites};
use super::{Chance, Log, events, goldens, quick, recordings, rounds};

/// What there is of a dialect: one line of each make, and what stands under its keys.
#[derive(Debug, Default)]
pub struct Samples {
    pub all: Vec<Sample>,
    pub dictionary: Dictionary,
}

/// A line of a log, and what stands around it.
#[derive(Debug)]
pub struct Sample {
    pub name: String,
    pub format: Format,
    before: Vec<String>,
    line: String,
    behind: Option<String>,
}

/// The samples of each dialect.
pub fn samples() -> Vec<Samples> {
    let mut dialects: BTreeMap<&'static str, Samples> = BTreeMap::new();
    let mut makes = BTreeSet::new();
    let mut add = |log: &Log| {
        let dialect = log.format.dialect.name();
        let Samples { all, dictionary } = dialects.entry(dialect).or_default();
        let text = String::from_utf8_lossy(&log.bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        for (n, line) in lines.iter().enumerate().filter(|(_, line)| line.len() < 8000) {
            let sites = sites(line);
            if sites.is_empty() || !makes.insert((dialect, make(&sites))) {
                continue;
            }
            dictionary.add(&sites);
            all.push(Sample {
                name: format!("{} line {}", log.name, n + 1),
                format: log.format,
                before: lines[..n.min(1)]
                    .iter()
                    .chain(&lines[n.saturating_sub(3).max(1).min(n)..n])
                    .map(|&line| line.to_owned())
                    .collect(),
                line: (*line).to_owned(),
                behind: lines.get(n + 1).map(|&line| line.to_owned()),
            });
        }
    };
    let mut logs = goldens();
    if rounds(1) > 1 {
        logs.extend(recordings());
    }
    for log in logs.iter().filter(|log| log.is_plain() && log.bytes.len() < 100_000) {
        add(log);
        add(&Log {
            format: events(),
            name: format!("{} as events", log.name),
            bytes: quick(log.format, events(), &log.bytes).out,
            ..log.clone()
        });
    }
    dialects.into_values().filter(|samples| !samples.all.is_empty()).collect()
}

impl Samples {
    /// A line, and a short log with lines like it.
    pub fn log(&self, chance: &mut Chance) -> (&Sample, Vec<Vec<u8>>) {
        let sample = chance.pick(&self.all);
        (sample, sample.log(&self.dictionary, chance))
    }
}

impl Sample {
    /// A short log with lines that differ from this one, and from one another, in one value.
    fn log(&self, dictionary: &Dictionary, chance: &mut Chance) -> Vec<Vec<u8>> {
        let count = 2 + chance.below(5);
        let mut alike = siblings(&self.line, count, dictionary, chance);
        if chance.below(3) == 0 {
            alike = alike.into_iter().flat_map(|line| [line.clone(), line]).collect();
        }
        let mut log = self.before.clone();
        log.append(&mut alike);
        if chance.below(2) == 0 {
            log.insert(self.before.len() + 1 + chance.below(count), self.line.clone());
        }
        log.extend(self.behind.clone());
        log.into_iter().map(String::into_bytes).collect()
    }
}

/// The keys of a line, the types of their values, and what it says that it is.
fn make(sites: &[Site<'_>]) -> String {
    let mut make = String::new();
    for site in sites {
        let key = site.key.unwrap_or_default();
        let is_word = matches!(key, "type" | "subtype" | "object" | "event" | "kind");
        make.push_str(key);
        make.push_str(if is_word { site.value } else { &site.value[..1] });
    }
    make
}
