//! Reads a log for its faults: what is damaged, what is unknown, which turns never ended.

use std::collections::BTreeMap;

use crate::codec::{Decoder, Format};
use crate::event::{At, Event, Field, Fields, Input, InputKind, Kind, Sink};
use crate::json::{Cursor, Error, Raw};
use crate::reader::{Consumer, Damaged, Framing, Reader, Source};

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: u64,
    /// The byte within the line, counted from 1.
    pub byte: u64,
    /// The JSON pointer of the value that holds the byte, where there is one.
    pub pointer: Option<String>,
    /// What is wrong.
    pub reason: String,
}

/// How often something was seen, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The line of the first one, counted from 1.
    pub first: u64,
}

/// What there is to say about a log, besides its faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Lines, or messages of a `json` format.
    pub lines: u64,
    /// Faults.
    pub faults: u64,
    /// Lines that are no JSON.
    pub noise: Option<Tally>,
    /// Types of line that the dialect does not know, by `type` (and `subtype`).
    pub unknown_types: BTreeMap<String, Tally>,
    /// Members that the dialect does not know, by JSON pointer (`*` for any element of a list).
    pub unknown_fields: BTreeMap<String, Tally>,
    /// Turns that ended.
    pub outcomes: u64,
    /// The lines in which turns began that never ended.
    pub unended: Vec<u64>,
}

/// Reads a log piece by piece.
#[derive(Debug)]
pub struct Checker {
    reader: Reader,
    found: Found,
}

#[derive(Debug, Default)]
struct Found {
    session: String,
    /// The line in which the turn began that has not ended yet.
    turn: Option<u64>,
    /// The line that is read.
    line: u64,
    faults: Vec<Fault>,
    summary: Summary,
}

impl Checker {
    /// Ready for the first byte of a log.
    pub fn new(format: Format, max_line: usize) -> Self {
        Self {
            reader: Reader::new(Framing::of(format.mode.layout, max_line), max_line, Decoder::new(format.dialect)),
            found: Found::default(),
        }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, input: &[u8]) {
        self.reader.feed(input, &mut self.found);
    }

    /// Takes the faults found since the last call.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.found.faults)
    }

    /// The input is over.
    pub fn finish(mut self) -> (Vec<Fault>, Summary) {
        let Self { reader, found } = &mut self;
        reader.finish(found);
        found.summary.lines = reader.lines();
        found.summary.unended.extend(found.turn.take());
        (self.found.faults, self.found.summary)
    }
}

impl Consumer for Found {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        self.line = source.line;
        let used = source.tell(text, self)?;
        // Decoders check what they need; here the rest is checked too.
        if text.starts_with('{') {
            Cursor::new(text).raw()?;
        }
        Ok(used)
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        self.summary.faults += 1;
        self.faults.push(Fault {
            line: damaged.line,
            byte: damaged.byte,
            pointer: damaged.pointer.clone(),
            reason: damaged.why.clone(),
        });
    }
}

impl<'a> Sink<'a> for Found {
    fn event(&mut self, event: &Event<'a>) {
        if let Some(id) = event.origin.session.filter(|id| !id.is_empty() && id.as_escaped() != self.session) {
            id.as_escaped().clone_into(&mut self.session);
            self.summary.unended.extend(self.turn.take());
        }
        self.fields(event.fields);
        match event.kind {
            Kind::Noise(_) => self.noise(),
            Kind::Unknown(raw) => self.unknown(raw),
            Kind::Outcome(_) | Kind::Fatal(_) => {
                self.summary.outcomes += 1;
                self.turn = None;
            }
            Kind::Session(session) if session.opens_turn => self.summary.unended.extend(self.turn.replace(self.line)),
            Kind::RoundStart(_) | Kind::Reply(_) | Kind::Delta(_) | Kind::ToolResult(_) if event.origin.parent.is_none() => {
                self.turn.get_or_insert(self.line);
            }
            _ => {}
        }
    }

    fn input(&mut self, input: &Input<'a>) {
        self.fields(input.fields);
        match input.kind {
            InputKind::Noise(_) => self.noise(),
            InputKind::Unknown(raw) => self.unknown(raw),
            _ => {}
        }
    }
}

impl Found {
    fn noise(&mut self) {
        let tally = self.summary.noise.get_or_insert(Tally { count: 0, first: self.line });
        tally.count += 1;
    }

    fn unknown(&mut self, raw: Raw<'_>) {
        let word = |key| raw.get(key).and_then(Raw::string).map(|s| s.unescape().into_owned());
        let name = match (word("type"), word("subtype")) {
            (Some(kind), Some(subtype)) => format!("{kind}/{subtype}"),
            (Some(kind), None) => kind,
            (None, _) if raw.as_str().starts_with('{') => "an object without type".to_owned(),
            (None, _) if raw.as_str().starts_with('[') => "an array".to_owned(),
            (None, _) => "a scalar".to_owned(),
        };
        add(&mut self.summary.unknown_types, name, self.line);
    }

    fn fields(&mut self, fields: Fields<'_>) {
        for Field { at, key, .. } in fields.iter().filter(|f| !f.known) {
            let name = key.unescape();
            let place = match at {
                At::Line => format!("/{name}"),
                At::Part(part) => format!("{part}/{name}"),
                At::Block(_) => format!("/*/{name}"),
            };
            add(&mut self.summary.unknown_fields, place, self.line);
        }
    }
}

/// A log made of nothing but unknown names must not fill the memory.
fn add(tallies: &mut BTreeMap<String, Tally>, name: String, line: u64) {
    const MOST: usize = 10_000;
    let name = if tallies.len() >= MOST && !tallies.contains_key(&name) {
        "(others)".to_owned()
    } else {
        name
    };
    tallies.entry(name).or_insert(Tally { count: 0, first: line }).count += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_is_named_and_the_rest_is_read() {
        let mut checker = Checker::new("claude".parse().unwrap(), 100);
        let long = format!("{{\"type\":\"system\",\"x\":\"{}\"}}\n", "x".repeat(100));
        for piece in ["\u{feff}{\"type\":\"keep_alive\"}\nplain\n", &long, "[1,2]\n"] {
            checker.feed(piece.as_bytes());
        }
        checker.feed(b"\xff\n");
        let (faults, summary) = checker.finish();
        let lines: Vec<_> = faults.iter().map(|f| (f.line, f.reason.split(' ').next().unwrap())).collect();
        assert_eq!(lines, [(3, "a"), (5, "invalid")]);
        assert_eq!(summary.lines, 5);
    }
}
