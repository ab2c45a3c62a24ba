//! What the ledger says of lines that no program has written like this: each entry points at a part of its line, and no part is told of
//! twice.

use std::collections::BTreeMap;

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Layout;

use crate::common::json::Json;
use crate::common::lost::{Entry, entries};
use crate::common::mutate::changed;
use crate::common::{Chance, Log, Wrongs, all_targets, convert, parallel, plain_goldens, rounds, with_ledger};

#[test]
fn of_lines_in_disorder() {
    // A row is a session, of which one entry may tell besides those of its parts.
    let logs: Vec<Log> = plain_goldens()
        .into_iter()
        .filter(|log| log.format.mode.layout != Layout::Rows && log.bytes.len() < 40_000)
        .collect();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let alike: Vec<&Log> = logs.iter().filter(|other| other.format == log.format).collect();
        let mut chance = Chance::new(log.bytes.iter().fold(3, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(*byte)));
        for _ in 0..rounds(1) {
            let other = *chance.pick(&alike);
            let lines = upset(log, other, &mut chance);
            for _ in 0..3 {
                let to = *chance.pick(&all_targets(log.format));
                let done = convert(&with_ledger(Options::new(log.format, to)), (lines.join("\n") + "\n").as_bytes());
                wrongs.check();
                if let Some(what) = wrong(&lines, &entries(&done.ledger)) {
                    wrongs.add(format!("{} -> {to}", log.format), format!("{}: {what}", log.name));
                }
            }
        }
    };
    parallel(&logs, over).finish("each part is told of once");
}

/// The lines of a log, some of them twice, gone, in another order, of another log or changed.
fn upset(log: &Log, other: &Log, chance: &mut Chance) -> Vec<String> {
    let of = |log: &Log| -> Vec<String> { String::from_utf8_lossy(&log.bytes).lines().map(str::to_owned).collect() };
    let (mut lines, others) = (of(log), of(other));
    for _ in 0..1 + chance.below(4) {
        let at = chance.below(lines.len());
        match chance.below(6) {
            0 => lines.insert(at, lines[at].clone()),
            1 if lines.len() > 1 => drop(lines.remove(at)),
            2 => {
                let to = chance.below(lines.len());
                lines.swap(at, to);
            }
            3 => lines.insert(at, others[chance.below(others.len())].clone()),
            _ if lines[at].starts_with('{') && Json::read(&lines[at]).is_some() => lines[at] = changed(&lines[at], chance),
            _ => {}
        }
    }
    lines
}

/// What is wrong with a ledger, if anything is.
fn wrong(lines: &[String], entries: &[Entry]) -> Option<String> {
    let mut of_lines: BTreeMap<u64, Vec<&Entry>> = BTreeMap::new();
    // What is invented stands in the output, and what came in pieces is told of them all.
    let here = |entry: &&Entry| entry.fate != "invented" && !entry.note.contains("on lines before this one");
    for entry in entries.iter().filter(here) {
        for line in entry.first..=entry.last {
            of_lines.entry(line).or_default().push(entry);
        }
    }
    of_lines.into_iter().find_map(|(number, told)| {
        // Of what is no value, or not one, or says a thing twice, no pointer tells.
        let line = lines.get(number as usize - 1).map_or("", String::as_str);
        let value = Json::read(line.trim()).filter(|value| !says_twice(value))?;
        let gone: Vec<&&Entry> = told.iter().filter(|entry| matches!(entry.fate.as_str(), "dropped" | "merged")).collect();
        for (n, entry) in gone.iter().enumerate() {
            let Some(part) = part(&value, &entry.pointer) else {
                return Some(format!("line {number} has no such part: {entry:?}"));
            };
            // Each of the parts of a text that is JSON is told where the text stands.
            let is_json = part.text().is_some_and(|text| Json::read(text).is_some());
            let covers = |outer: &str, inner: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let twice = |other: &&&&Entry| match entry.pointer == other.pointer {
                true => !is_json || entry.note == other.note,
                false => covers(&entry.pointer, &other.pointer) || covers(&other.pointer, &entry.pointer),
            };
            if let Some(other) = gone[n + 1..].iter().find(twice) {
                return Some(format!("line {number} is told of twice: {entry:?} {other:?}"));
            }
        }
        None
    })
}

fn says_twice(value: &Json) -> bool {
    let members = value.members();
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    let twice = keys.windows(2).any(|two| two[0] == two[1]);
    twice || members.iter().any(|(_, member)| says_twice(member)) || value.list().iter().any(says_twice)
}

/// The part of a value that a pointer points at.
fn part<'j>(value: &'j Json, pointer: &str) -> Option<&'j Json> {
    pointer.split('/').skip(1).try_fold(value, |value, key| match value {
        Json::List(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(&key.replace("~1", "/").replace("~0", "~")),
    })
}
