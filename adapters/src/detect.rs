//! Which dialect a log is written in, and how that can be told.
//!
//! Each dialect's folder has a `recognise` that weighs one line; the [`Detector`] adds the weights up until one dialect is
//! sure. It is given what has been read so far, again and again, so a live pipe is decided with its first telling line.

mod elsewhere;
mod layout;
mod opened;
mod wrapped;

use std::fmt;

use layout::{Layout, is_single, layout, line_start, valid};
pub(crate) use opened::{Opened, word};
pub use wrapped::{How, Wrapped, wrapped};

use crate::codec::{self, Dialect, Format, Mode};
use crate::json::Cursor;

/// Only this dialect writes such a line.
pub(crate) const PROOF: u32 = 1000;
/// No other dialect has been seen to write such a line.
pub(crate) const STRONG: u32 = 100;
/// This dialect writes such lines more often than others do.
pub(crate) const HINT: u32 = 10;
/// Fits the dialect, and others too.
pub(crate) const FAINT: u32 = 1;

/// What one line says about the dialect of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Which dialect, and as far as the line can tell which of its modes.
    pub format: Format,
    /// How much it counts.
    pub weight: u32,
    /// What was seen, in a few words.
    pub why: &'static str,
}

impl Evidence {
    pub(crate) fn new(dialect: Dialect, weight: u32, why: &'static str) -> Self {
        Self {
            format: dialect.into(),
            weight,
            why,
        }
    }

    pub(crate) const fn mode(self, mode: Mode) -> Self {
        Self {
            format: Format {
                dialect: self.format.dialect,
                mode,
            },
            ..self
        }
    }
}

/// A dialect that was told from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The dialect and its mode.
    pub format: Format,
    /// What told: `line 1: system/init with claude_code_version`.
    pub why: String,
}

/// No dialect could be told from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// The dialects that it may be, the likeliest first, and what speaks for each.
    pub candidates: Vec<Found>,
    /// How many lines were looked at.
    pub lines: u64,
    /// The log is of another kind that is known (compressed, UTF-16, a format of another program), and which.
    pub kind: Option<&'static str>,
    /// Its lines are a dialect's but for what another program has put around them.
    pub wrapped: Option<Box<Wrapped>>,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = match self.lines {
            1 => "1 line".to_owned(),
            n => format!("{n} lines"),
        };
        if let Some(kind) = self.kind {
            return write!(f, "this is {kind}, which cannot be read here");
        }
        if let Some(wrapped) = &self.wrapped {
            return write!(f, "{seen} read and no dialect recognised, but {wrapped}");
        }
        if self.candidates.is_empty() {
            let known: Vec<_> = Dialect::readable().map(Dialect::name).collect();
            return write!(
                f,
                "{seen} read and no dialect recognised; name it with --from (there are {})",
                known.join(", ")
            );
        }
        write!(f, "{seen} read and the dialect is not clear; name it with --from. It may be ")?;
        for (n, candidate) in self.candidates.iter().enumerate() {
            let separator = if n == 0 { "" } else { ", or " };
            write!(f, "{separator}{} ({})", candidate.format, candidate.why)?;
        }
        Ok(())
    }
}

impl std::error::Error for Unclear {}

/// What a [`Detector`] says about what it has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not sure yet: show more.
    More,
    /// The input is over and held nothing but white space.
    Empty,
    /// This one.
    Found(Found),
    /// All has been seen, or enough to give up.
    Unclear(Unclear),
}

/// Finds out the dialect of a log.
#[derive(Debug, Default)]
pub struct Detector {
    json_name: bool,
    layout: Option<Layout>,
    at: usize,
    seen: u64,
    marks: Vec<Mark>,
    /// It is a format that others write.
    elsewhere: Option<&'static str>,
    /// What the first message is, if it alone is a session, and how many marks are of it: what follows may be anything.
    row: Option<(Format, usize)>,
}

#[derive(Debug)]
struct Mark {
    format: Format,
    score: u64,
    /// The heaviest evidence, and where it was seen.
    best: (u32, String),
}

impl Detector {
    /// After so many bytes the decision is made with what there is.
    pub const ENOUGH_BYTES: usize = 1 << 20;
    /// After so many lines the decision is made with what there is.
    pub const ENOUGH_LINES: u64 = 200;

    /// A detector for a log. `json_name`: it is called `.json`, so a single object is meant as a document of its own.
    pub fn new(json_name: bool) -> Self {
        Self {
            json_name,
            ..Self::default()
        }
    }

    /// Looks at `prefix`: everything read from the beginning of the log up to now. `over`: nothing follows.
    pub fn look(&mut self, prefix: &[u8], over: bool) -> Answer {
        let start = if prefix.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let Some(first) = prefix[start..].iter().position(|b| !b.is_ascii_whitespace()).map(|at| start + at) else {
            return match over {
                true => Answer::Empty,
                false if prefix.len() >= Self::ENOUGH_BYTES => self.give_up(None, prefix),
                false => Answer::More,
            };
        };
        if let Some(kind) = elsewhere::bytes(&prefix[first..]) {
            return self.give_up(Some(kind), prefix);
        }
        let layout = match self.layout {
            Some(layout) => layout,
            None => match layout(&prefix[first..], over) {
                Some(layout) => layout,
                None if prefix.len() >= Self::ENOUGH_BYTES => Layout::Document,
                None => return Answer::More,
            },
        };
        self.layout = Some(layout);
        let last_look = over || prefix.len() >= Self::ENOUGH_BYTES;
        match layout {
            Layout::Lines => self.lines(prefix, first, last_look),
            Layout::Document => self.document(&prefix[first..]),
        }
        if let Some(mark) = self.proven() {
            // A single object that holds the whole log can only be told from a stream when the next line, or none, comes.
            let single = layout == Layout::Lines && self.seen <= 1 && self.json_name;
            if !single || last_look {
                let format = self.settle(mark.format, prefix, over);
                return Answer::Found(Found {
                    format,
                    why: mark.best.1.clone(),
                });
            }
        }
        if self.elsewhere.is_some() {
            return self.give_up(self.elsewhere, prefix);
        }
        if last_look || self.seen >= Self::ENOUGH_LINES {
            self.decide(prefix, over)
        } else {
            Answer::More
        }
    }

    fn lines(&mut self, prefix: &[u8], first: usize, last_look: bool) {
        self.at = self.at.max(if self.seen == 0 { line_start(prefix, first) } else { 0 });
        if self.seen == 0 {
            self.seen = memchr::memchr_iter(b'\n', &prefix[..self.at]).count() as u64;
        }
        while self.at < prefix.len() && self.seen < Self::ENOUGH_LINES {
            let end = memchr::memchr(b'\n', &prefix[self.at..]).map(|n| self.at + n + 1);
            if end.is_none() && !last_look {
                return;
            }
            let line = &prefix[self.at..end.unwrap_or(prefix.len())];
            self.at += line.len();
            self.seen += 1;
            self.weigh(valid(line).trim_start_matches('\u{feff}').trim(), "line");
            if self.sure() {
                return;
            }
        }
    }

    /// Looks at the elements of arrays and at objects, wherever they stand. Always from the beginning: what was cut off in
    /// an earlier look may be whole now.
    fn document(&mut self, text: &[u8]) {
        self.marks.clear();
        self.elsewhere = None;
        self.row = None;
        self.seen = 0;
        let mut at = Cursor::new(valid(text));
        while let Some(first) = at.peek() {
            if first == b'[' {
                let Ok(mut array) = at.array() else { return };
                while let Ok(true) = array.more(&mut at) {
                    if !self.element(&mut at) {
                        return;
                    }
                }
            } else if !self.element(&mut at) {
                return;
            }
        }
    }

    fn element(&mut self, at: &mut Cursor<'_>) -> bool {
        let rest = at.rest().trim_ascii_start();
        let (text, whole) = match at.skip() {
            Ok(value) => (value.as_str(), true),
            Err(_) => (rest, false),
        };
        self.seen += 1;
        self.weigh(text, "message");
        whole && !self.sure() && self.seen < Self::ENOUGH_LINES
    }

    fn weigh(&mut self, text: &str, unit: &str) {
        if text.is_empty() {
            return;
        }
        let line = Opened::new(text);
        self.elsewhere = self.elsewhere.or_else(|| elsewhere::name_of(&line));
        let row = if self.marks.is_empty() { row(&line) } else { None };
        for evidence in recognise(&line) {
            let why = || format!("{unit} {}: {}", self.seen, evidence.why);
            match self.marks.iter_mut().find(|m| m.format == evidence.format) {
                Some(mark) => {
                    mark.score += u64::from(evidence.weight);
                    if evidence.weight > mark.best.0 {
                        mark.best = (evidence.weight, why());
                    }
                }
                None => {
                    let best = (evidence.weight, why());
                    self.marks.push(Mark {
                        format: evidence.format,
                        score: evidence.weight.into(),
                        best,
                    });
                }
            }
        }
        self.row = self.row.or_else(|| row.map(|sign| (sign.format, self.marks.len())));
    }

    /// What there is a proof of; a session that stood alone before it is read first.
    fn proven(&self) -> Option<&Mark> {
        let at = self.marks.iter().position(|mark| mark.best.0 >= PROOF)?;
        let first = self.row.filter(|(_, marks)| at >= *marks);
        let row = first.and_then(|(row, _)| self.marks.iter().find(|mark| mark.format == row));
        Some(row.unwrap_or(&self.marks[at]))
    }

    fn sure(&self) -> bool {
        self.elsewhere.is_some() || self.marks.iter().any(|m| m.best.0 >= PROOF)
    }

    /// The dialects with their scores, the best first.
    fn ranking(&self) -> Vec<(u64, &Mark)> {
        let mut ranking: Vec<(u64, &Mark)> = Vec::new();
        for dialect in Dialect::readable() {
            let own = || self.marks.iter().filter(move |m| m.format.dialect == dialect);
            if let Some(best) = own().max_by_key(|m| m.score) {
                ranking.push((own().map(|m| m.score).sum(), best));
            }
        }
        ranking.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        ranking
    }

    fn decide(&self, prefix: &[u8], over: bool) -> Answer {
        let ranking = self.ranking();
        let Some((best, mark)) = ranking.first() else {
            return self.give_up(None, prefix);
        };
        let second = ranking.get(1).map_or(0, |(score, _)| *score);
        if *best < second + u64::from(HINT) {
            return self.give_up(None, prefix);
        }
        Answer::Found(Found {
            format: self.settle(mark.format, prefix, over),
            why: mark.best.1.clone(),
        })
    }

    /// The mode, which the layout of the file decides as well as its lines.
    fn settle(&self, format: Format, prefix: &[u8], over: bool) -> Format {
        let dialect = format.dialect;
        let document = dialect
            .modes()
            .iter()
            .find(|mode| mode.layout == codec::Layout::Document && !format.mode.apart);
        let Some(document) = document.map(|&mode| Format { dialect, mode }) else {
            return format;
        };
        match self.layout {
            Some(Layout::Document) => document,
            // A stream of one line is the same text as a document of one object; the name of the file decides.
            _ if self.json_name && is_single(prefix, over) => document,
            _ if format == document && !is_single(prefix, over) => dialect.into(),
            _ => format,
        }
    }

    fn give_up(&self, kind: Option<&'static str>, prefix: &[u8]) -> Answer {
        let candidates = self
            .ranking()
            .into_iter()
            .map(|(_, mark)| Found {
                format: mark.format,
                why: mark.best.1.clone(),
            })
            .collect();
        Answer::Unclear(Unclear {
            candidates,
            lines: self.seen,
            kind,
            wrapped: if kind.is_none() { wrapped::look(prefix).map(Box::new) } else { None },
        })
    }
}

/// Whether nothing speaks for another dialect more than for this one in lines that follow each other, and something for it.
pub(crate) fn may_be<'l>(dialect: Dialect, lines: impl Iterator<Item = &'l [u8]>) -> bool {
    let mut detector = Detector::new(false);
    for line in lines {
        detector.weigh(valid(line).trim_start_matches('\u{feff}').trim(), "line");
    }
    let ranking = detector.ranking();
    let best = ranking.first().map_or(0, |(score, _)| *score);
    ranking.iter().any(|(score, mark)| *score == best && mark.format.dialect == dialect)
}

/// The proof in one line that it is another dialect's than `dialect`, if it is one dialect's alone; or the sign that it is a session by
/// itself, where `dialect` knows no such line.
pub(crate) fn proof_of_another(dialect: Dialect, text: &str) -> Option<Evidence> {
    let line = Opened::new(text);
    let own = (dialect.vendor().recognise)(&line);
    let proof = |of: Dialect| (of.vendor().recognise)(&line).filter(|sign| sign.weight >= PROOF);
    // As a rule a line is what it is read as. Nothing weighs more than a proof.
    if own.is_some_and(|sign| sign.weight >= PROOF) {
        return None;
    }
    let mut others = Dialect::readable().filter(|&other| other != dialect).filter_map(proof);
    match others.next() {
        Some(found) => others.next().is_none().then_some(found),
        None if own.is_some() => None,
        None => row(&line).filter(|row| row.format.dialect != dialect),
    }
}

/// The sign that a line is a session by itself, where little speaks for anything else.
fn row(line: &Opened<'_>) -> Option<Evidence> {
    let is_rows = |mode: &Mode| mode.layout == codec::Layout::Rows;
    let has_rows = Dialect::readable().filter(|dialect| dialect.modes().iter().any(is_rows));
    let found = has_rows
        .filter_map(|dialect| (dialect.vendor().recognise)(line))
        .find(|sign| is_rows(&sign.format.mode) && sign.weight >= STRONG)?;
    let others = recognise(line).filter(|sign| sign.format.dialect != found.format.dialect);
    (others.map(|sign| sign.weight).max().unwrap_or(0) + HINT <= found.weight).then_some(found)
}

/// What each dialect says about a line.
fn recognise<'a, 'l>(line: &'a Opened<'l>) -> impl Iterator<Item = Evidence> + use<'a, 'l> {
    Dialect::readable().filter_map(move |dialect| (dialect.vendor().recognise)(line))
}

#[cfg(test)]
mod tests;
