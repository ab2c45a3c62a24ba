//! Decoders learn how lines are spelled and read the next ones by comparing. That changes nothing of what they tell: each line is
//! read by a decoder that learns and by one that does not, because somebody watches it, and both say the same.

#[path = "common/mod.rs"]
mod common;

use std::fmt::Write as _;

use agentglot_adapters::codec::{Cx, Decode, Decoder, Dialect};
use agentglot_adapters::event::{Event, Input, Sink};
use agentglot_adapters::json::{Raw, Shape};
use agentglot_adapters::trace::Trace;
use bumpalo::Bump;
use common::{Chance, Log, events, goldens, quick, recordings};

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
        let used = decoder.line(rest, &Cx { arena: &arena, trace }, &mut told);
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
        self.lines += 1;
        let learnt = read(&mut self.learning, line, None);
        let general = read(&mut self.general, line, Some(&self.trace));
        assert_eq!(learnt, general, "{} (line {} that was read): {line}", self.name, self.lines);
    }
}

/// The values of a line, however deep, and the keys with their quotes.
fn values<'l>(value: Raw<'l>, into: &mut Vec<&'l str>) {
    into.push(value.as_str());
    match value.shape() {
        Some(Shape::Array) => value.elements().for_each(|element| values(element, into)),
        Some(Shape::Object) => value.members().for_each(|(_, member)| values(member, into)),
        _ => {}
    }
}

/// The line with one of its values changed, gone, or said twice.
fn changed(line: &str, chance: &mut Chance) -> String {
    const OTHERS: &[&str] = &[
        "\"\"",
        "\"x\"",
        "\"a\\n\\\"\\ud83d\"",
        "\"end_turn\"",
        "\"success\"",
        "\"bad\\x\"",
        "0",
        "7",
        "-1.5e3",
        "4294967296",
        "01",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[{\"text\":\"t\",\"type\":\"text\"}]",
        "{\"type\":\"text\",\"text\":\"\",\"id\":\"message\"}",
        "[nonsense]",
    ];
    let mut found = Vec::new();
    values(Raw::trusted(line), &mut found);
    let part = found[chance.below(found.len())];
    let from = part.as_ptr() as usize - line.as_ptr() as usize;
    let (before, behind) = (&line[..from], &line[from + part.len()..]);
    let own = found[chance.below(found.len())];
    match chance.below(8) {
        0 if part.starts_with('"') && part.len() > 2 => format!("{before}{}\"{behind}", &part[..1]),
        0 | 1 if part.starts_with('"') => format!("{before}{}é\\n1\"{behind}", &part[..part.len() - 1]),
        0..=4 => format!("{before}{}{behind}", OTHERS[chance.below(OTHERS.len())]),
        5 => format!("{before}{own}{behind}"),
        6 => format!(
            "{before}{part},\"{}\":{own}{behind}",
            ["id", "type", "text", "new", "index", "uuid"][chance.below(6)]
        ),
        _ => {
            let mut cut = chance.below(line.len());
            while !line.is_char_boundary(cut) {
                cut -= 1;
            }
            line[..cut].to_owned()
        }
    }
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
        both_ways(log.format.dialect, &log.name, &log.bytes, changes);
        if log.format.is_streaming() {
            let stored = quick(log.format, events(), &log.bytes);
            both_ways(Dialect::Agentglot, &format!("{} as events", log.name), &stored.out, changes);
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
