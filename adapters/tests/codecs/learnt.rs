//! Decoders learn how lines are spelled and read the next ones by comparing. That changes nothing of what they tell: each line is
//! read by a decoder that learns and by one that does not, because somebody watches it, and both say the same.

use std::fmt::Write as _;

use crate::common::mutate::changed;
use crate::common::samples::samples;
use crate::common::{Chance, Log, events, goldens, parallel, parting, quick, recordings, rounds};
use agentglot_adapters::raw::codec::{Cx, Decode, Decoder, Dialect};
use agentglot_adapters::raw::event::{Event, Input, Sink};
use agentglot_adapters::raw::trace::Trace;
use bumpalo::Bump;

/// What a decoder says, as text.
#[derive(Default)]
struct Told(String);

impl<'a> Sink<'a> for Told {
    fn event(&mut self, event: &Event<'a>) {
        writeln!(self.0, "{event:?}").expect("a String takes everything");
    }

    fn input(&mut self, input: &Input<'a>) {
        writeln!(self.0, "{input:?}").expect("a String takes everything");
    }
}

/// Reads a line, and what stands behind it in the same line.
fn read(decoder: &mut Decoder, line: &str, trace: Option<&Trace>) -> String {
    let mut told = Told::default();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let arena = Bump::new();
        if let Some(trace) = trace {
            trace.begin(rest);
        }
        let used = decoder.line(rest, &Cx { trace, ..Cx::new(&arena) }, &mut told);
        writeln!(told.0, "{used:?}").expect("a String takes everything");
        let Ok(used) = used else { break };
        rest = rest.get(used.max(1)..).unwrap_or("").trim_start();
    }
    told.0
}

/// Reads the same lines twice.
struct Both {
    learning: Decoder,
    general: Decoder,
    trace: Trace,
    name: String,
    lines: usize,
}

impl Both {
    fn new(dialect: Dialect, name: &str) -> Self {
        Self {
            learning: Decoder::new(dialect),
            general: Decoder::new(dialect),
            trace: Trace::default(),
            name: name.to_owned(),
            lines: 0,
        }
    }

    fn line(&mut self, line: &str) {
        if let Err(why) = self.compare(line) {
            panic!("{why}");
        }
    }

    fn compare(&mut self, line: &str) -> Result<(), String> {
        self.lines += 1;
        let learnt = read(&mut self.learning, line, None);
        let general = read(&mut self.general, line, Some(&self.trace));
        if learnt == general {
            return Ok(());
        }
        Err(format!(
            "{} (line {} that was read): {}\nfrom: {line}",
            self.name,
            self.lines,
            parting(learnt.as_bytes(), general.as_bytes())
        ))
    }
}

impl Both {
    /// The lines that follow are those of another session.
    fn next_session(&mut self, id: &str) {
        self.learning.next_session(id);
        self.general.next_session(id);
    }
}

/// A log, and again as three other sessions, whose ids are as long, or not.
fn sessions(dialect: Dialect, name: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(id) = session(&text) else { return };
    let ids = [id.to_owned(), id.chars().rev().collect(), format!("{id}-2"), id.to_owned()];
    let mut both = Both::new(dialect, name);
    for other in ids {
        both.next_session(&other);
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            both.line(&line.replace(id, &other));
        }
    }
}

/// The id that a log's lines name.
fn session(text: &str) -> Option<&str> {
    const BEFORE: [&str; 4] = ["\"session_id\":\"", "\"session\":\"", "\"id\":\"chatcmpl-", "Session ID: "];
    let from = BEFORE.iter().find_map(|before| Some(text.find(before)? + before.len()))?;
    let id = text[from..].split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()?;
    (id.len() > 3).then_some(id)
}

/// Each line as it stands, then each one with changes, between the others.
fn both_ways(dialect: Dialect, name: &str, bytes: &[u8], changes: usize) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut both = Both::new(dialect, name);
    for line in &lines {
        both.line(line);
    }
    let mut chance = Chance::new(bytes.len() as u64);
    for (n, line) in lines.iter().enumerate() {
        if line.len() > 30_000 || !line.starts_with('{') {
            continue;
        }
        for _ in 0..changes {
            both.line(&changed(line, &mut chance));
            both.line(line);
            both.line(lines[(n + 1) % lines.len()]);
        }
    }
}

fn all(logs: &[Log], changes: usize) {
    for log in logs {
        sessions(log.format.dialect, &log.name, &log.bytes);
        both_ways(log.format.dialect, &log.name, &log.bytes, changes);
        if log.format.is_streaming() {
            let stored = quick(log.format, events(), &log.bytes);
            both_ways(Dialect::Agentglot, &format!("{} as events", log.name), &stored.out, changes);
            sessions(Dialect::Agentglot, &format!("{} as events", log.name), &stored.out);
        }
    }
}

#[test]
fn goldens_are_read_alike_both_ways() {
    all(&goldens(), 4);
}

#[test]
fn recordings_are_read_alike_both_ways() {
    all(&recordings(), 1);
}

/// What a line leaves open when it is learnt is nothing that another line like it may mean by: each line comes first with one of its values
/// changed, then with others in that place.
#[test]
fn lines_that_differ_in_one_value_are_read_alike_both_ways() {
    let samples = samples();
    let cases: Vec<u64> = (0..6000 * rounds(1) as u64).collect();
    let wrongs = parallel(&cases, |&case, wrongs| {
        let mut chance = Chance::new(case);
        let of = chance.below(samples.len());
        let (sample, log) = samples[of].log(&mut chance);
        let dialect = sample.format.dialect;
        let mut both = Both::new(dialect, &sample.name);
        wrongs.check();
        let mut lines = log
            .iter()
            .filter_map(|line| Some(std::str::from_utf8(line).ok()?.trim()))
            .filter(|line| !line.is_empty());
        if let Err(why) = lines.try_for_each(|line| both.compare(line)) {
            wrongs.add(dialect.name(), format!("case {case}: {why}"));
        }
    });
    wrongs.finish("lines like it");
}
