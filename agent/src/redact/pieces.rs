//! Secrets that a stream tells a few letters a line. Of each text that comes in pieces the end is held back that could be the beginning of one.

use std::collections::VecDeque;

use super::{LONGEST, REDACTED, Secrets};

/// The members in which texts come in pieces.
const MEMBERS: [&[u8]; 10] = [
    b"text",
    b"thinking",
    b"partial_json",
    b"content",
    b"reasoning_content",
    b"reasoning",
    b"arguments",
    b"input",
    b"delta",
    b"data",
];

/// So much of what went before is looked at with what comes: the name of a secret stands before it.
const BEFORE: usize = 512;

/// Lines without a piece behind which no other piece is waited for: a block has ended.
const PAUSE: usize = 2;

/// More lines, or bytes, are not held.
const MOST_LINES: usize = 8192;
const MOST_BYTES: usize = 1 << 20;

/// Redacts the texts of a stream of lines across their pieces, behind a [`Redactor`](super::Redactor) that has seen to each line.
#[derive(Debug, Default)]
pub struct Pieces {
    /// A line whose end has not come.
    begun: Vec<u8>,
    held: VecDeque<Line>,
    bytes: usize,
    texts: [Text; MEMBERS.len()],
    /// How many lines since the last one with a piece.
    pause: usize,
    /// How many secrets there were.
    pub count: u64,
}

/// What stands in a line, with the member that it is a piece of.
#[derive(Debug, Default)]
struct Line(Vec<(Option<usize>, Vec<u8>)>);

/// One of the texts.
#[derive(Debug, Default)]
struct Text {
    /// The end of what is gone.
    before: Vec<u8>,
    /// The first held line that waits for what comes.
    waits: Option<usize>,
}

impl Pieces {
    /// Takes what comes next; appends what may go to `out`.
    pub fn feed(&mut self, secrets: &Secrets, bytes: &[u8], out: &mut Vec<u8>) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") || self.begun.len() > MOST_BYTES {
                let line = std::mem::take(&mut self.begun);
                self.line(secrets, line, out);
            }
        }
    }

    /// Nothing follows.
    pub fn finish(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        self.let_all_go(secrets, out);
        out.append(&mut self.begun);
    }

    fn line(&mut self, secrets: &Secrets, bytes: Vec<u8>, out: &mut Vec<u8>) {
        let pieces = pieces(&bytes);
        if pieces.is_empty() && self.held.is_empty() {
            out.extend_from_slice(&bytes);
            return;
        }
        self.pause = if pieces.is_empty() { self.pause + 1 } else { 0 };
        let mut parts = Vec::with_capacity(2 * pieces.len() + 1);
        let (mut members, mut from) = (Vec::new(), 0);
        for (member, start, end) in pieces {
            parts.push((None, bytes[from..start].to_vec()));
            parts.push((Some(member), bytes[start..end].to_vec()));
            from = end;
            if !members.contains(&member) {
                members.push(member);
            }
        }
        parts.push((None, bytes[from..].to_vec()));
        self.bytes += bytes.len();
        self.held.push_back(Line(parts));
        if self.pause >= PAUSE || self.held.len() > MOST_LINES || self.bytes > MOST_BYTES {
            return self.let_all_go(secrets, out);
        }
        for member in members {
            self.look(secrets, member, false);
        }
        let free = self.texts.iter().filter_map(|text| text.waits).min();
        self.let_go(free.unwrap_or(self.held.len()), out);
    }

    /// Takes secrets out of what is held of a text, and finds from where on it has to wait for what comes, unless this is its last.
    fn look(&mut self, secrets: &Secrets, member: usize, last: bool) {
        let mut whole = self.texts[member].before.clone();
        let gone = whole.len();
        for piece in self.held.iter().flat_map(|line| &line.0).filter(|(of, _)| *of == Some(member)) {
            whole.extend_from_slice(&piece.1);
        }
        let mut places = secrets.places(&whole);
        let mut unsure = if last { whole.len() } else { secrets.unsure(&whole) };
        // What ends with the text may go on.
        if let Some((from, _)) = places.pop_if(|(_, to)| !last && *to == whole.len()) {
            unsure = unsure.min(from);
        }
        let (mut start, mut waits) = (gone, None);
        for (at, line) in self.held.iter_mut().enumerate() {
            for (_, piece) in line.0.iter_mut().filter(|(of, _)| *of == Some(member)) {
                let end = start + piece.len();
                for (from, to) in places.iter().rev().filter(|(from, to)| *from < end && *to > start) {
                    // What stands for it stands where it begins, or in the first piece that is still here.
                    let begins = (start..end).contains(from) || (start == gone && *from < gone);
                    let gap = from.saturating_sub(start)..(to - start).min(end - start);
                    piece.splice(gap, if begins { REDACTED } else { b"" }.iter().copied());
                    self.count += u64::from(begins);
                }
                waits = waits.or((end > unsure).then_some(at));
                start = end;
            }
        }
        self.texts[member].waits = waits;
    }

    fn let_all_go(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        for member in 0..MEMBERS.len() {
            self.look(secrets, member, true);
        }
        self.let_go(self.held.len(), out);
        self.texts = Default::default();
        self.pause = 0;
    }

    fn let_go(&mut self, lines: usize, out: &mut Vec<u8>) {
        for (member, part) in self.held.drain(..lines).flat_map(|line| line.0) {
            out.extend_from_slice(&part);
            if let Some(member) = member {
                let before = &mut self.texts[member].before;
                before.extend_from_slice(&part);
                before.drain(..before.len().saturating_sub(BEFORE));
            }
        }
        for text in &mut self.texts {
            text.waits = text.waits.map(|line| line.saturating_sub(lines));
        }
        self.bytes = self.held.iter().flat_map(|line| &line.0).map(|(_, part)| part.len()).sum();
    }
}

impl Secrets {
    /// Where in a text something begins that may become a secret with what follows.
    fn unsure(&self, text: &[u8]) -> usize {
        let word = text.iter().rev().take(LONGEST).take_while(|byte| is_of_word(**byte)).count();
        let spaced = self
            .0
            .iter()
            .map(|finder| finder.needle())
            .filter(|needle| !needle.iter().all(|byte| is_of_word(*byte)));
        let begun = spaced.filter_map(|needle| (1..needle.len()).rev().find(|length| text.ends_with(&needle[..*length])));
        text.len() - begun.max().unwrap_or(0).max(word)
    }
}

/// Whether a key, or an address with a password, may hold it.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`\\<>|(){}[],;".contains(&byte)
}

/// The pieces of texts in a line of JSON: which member, from where, to where.
fn pieces(line: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    if !line.starts_with(b"{") {
        return found;
    }
    let mut at = 0;
    while let Some((start, end)) = string(line, at) {
        at = end + 1;
        let colon = blank(line, at);
        if line.get(colon) != Some(&b':') {
            continue;
        }
        let value = blank(line, colon + 1);
        let member = MEMBERS.iter().position(|member| *member == &line[start..end]);
        if let (Some(member), Some(b'"')) = (member, line.get(value))
            && let Some((start, end)) = string(line, value)
        {
            found.extend((start < end).then_some((member, start, end)));
            at = end + 1;
        }
    }
    found
}

/// The next text in quotes, without them.
fn string(line: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = from + memchr::memchr(b'"', line.get(from..)?)? + 1;
    let mut at = start;
    loop {
        at += memchr::memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[at] == b'"' {
            return Some((start, at));
        }
        at += 2;
    }
}

fn blank(line: &[u8], from: usize) -> usize {
    from + line
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}
