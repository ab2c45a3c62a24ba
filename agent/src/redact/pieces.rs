//! Secrets that a stream tells a few letters a line. Of each text that comes in pieces the end is held back that could be the beginning of one.
//!
//! Texts may come by turns, as the arguments of calls side by side do: each is put together for itself, by what its lines say of whose it is.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// The members that say to which of several texts side by side a piece belongs: a block, a call, a subagent.
const OWNERS: [&[u8]; 18] = [
    b"index",
    b"parent",
    b"parent_tool_use_id",
    b"call",
    b"call_id",
    b"callId",
    b"tool_call_id",
    b"toolCallId",
    b"tool_use_id",
    b"item_id",
    b"itemId",
    b"message_id",
    b"messageId",
    b"partID",
    b"session",
    b"session_id",
    b"sessionId",
    b"sessionID",
];

/// So much of what went before is looked at with what comes: the name of a secret stands before it.
const BEFORE: usize = 512;

/// Lines without a piece behind which no other piece is waited for: a block has ended.
const PAUSE: usize = 2;

/// The same while texts come by turns, for one of them may begin or end between two pieces of another.
const PAUSE_OF_MANY: usize = 64;

/// More lines, bytes or texts are not held.
const MOST_LINES: usize = 8192;
const MOST_BYTES: usize = 1 << 20;
const MOST_TEXTS: usize = 1024;

/// Redacts the texts of a stream of lines across their pieces, behind a [`Redactor`](super::Redactor) that has seen to each line.
#[derive(Debug, Default)]
pub struct Pieces {
    /// A line whose end has not come.
    begun: Vec<u8>,
    held: VecDeque<Line>,
    /// How many lines are gone.
    gone: usize,
    bytes: usize,
    texts: Vec<Text>,
    /// How many lines since the last one with a piece.
    pause: usize,
    /// How many secrets there were.
    pub count: u64,
}

/// What stands in a line, with the text that it is a piece of.
#[derive(Debug, Default)]
struct Line(Vec<(Option<usize>, Vec<u8>)>);

/// A text that comes in pieces.
#[derive(Debug)]
struct Text {
    member: usize,
    /// Whose it is; the same for all of which that is not said.
    owner: u64,
    /// The end of what needs no other look.
    before: Vec<u8>,
    /// The first line that waits for what comes.
    waits: Option<usize>,
    /// The line of its newest piece, which has been looked at.
    newest: usize,
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
        let (mut texts, mut from) = (Vec::new(), 0);
        for piece in pieces {
            let text = self.text(piece.member, piece.owner);
            parts.push((None, bytes[from..piece.start].to_vec()));
            parts.push((Some(text), bytes[piece.start..piece.end].to_vec()));
            from = piece.end;
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        parts.push((None, bytes[from..].to_vec()));
        self.bytes += bytes.len();
        self.held.push_back(Line(parts));
        for text in texts {
            self.look(secrets, text, false);
        }
        let pause = if self.come_by_turns() { PAUSE_OF_MANY } else { PAUSE };
        if self.pause >= pause || self.held.len() > MOST_LINES || self.bytes > MOST_BYTES || self.texts.len() > MOST_TEXTS {
            return self.let_all_go(secrets, out);
        }
        let waits = self.texts.iter().filter_map(|text| text.waits).min();
        self.let_go(waits.map_or(self.held.len(), |line| line - self.gone), out);
    }

    /// The place of a text, from now on if it is a new one.
    fn text(&mut self, member: usize, owner: u64) -> usize {
        let known = self.texts.iter().position(|text| text.member == member && text.owner == owner);
        known.unwrap_or_else(|| {
            self.texts.push(Text {
                member,
                owner,
                before: Vec::new(),
                waits: None,
                newest: 0,
            });
            self.texts.len() - 1
        })
    }

    /// Whether a piece of another text of the same kind has come since one waits.
    fn come_by_turns(&self) -> bool {
        let mut waiting = self.texts.iter().filter_map(|text| Some((text, text.waits?)));
        let by_others = |text: &Text, line: usize| {
            let is_later = |other: &Text| other.member == text.member && other.owner != text.owner && other.newest > line;
            self.texts.iter().any(is_later)
        };
        waiting.any(|(text, line)| by_others(text, line))
    }

    /// Takes secrets out of what is held of a text, and finds from where on it has to wait for what comes, unless this is its last.
    fn look(&mut self, secrets: &Secrets, text: usize, last: bool) {
        let newest = self.gone + self.held.len().saturating_sub(1);
        let first = self.texts[text].waits.unwrap_or(newest) - self.gone;
        let is_of = |of: Option<usize>| of == Some(text);
        let mut whole = std::mem::take(&mut self.texts[text].before);
        let gone = whole.len();
        for piece in self.held.range(first..).flat_map(|line| &line.0).filter(|(of, _)| is_of(*of)) {
            whole.extend_from_slice(&piece.1);
        }
        let mut places = secrets.places(&whole);
        let mut unsure = if last { whole.len() } else { secrets.unsure(&whole) };
        // What ends with the text may go on.
        if let Some((from, _)) = places.pop_if(|(_, to)| !last && *to == whole.len()) {
            unsure = unsure.min(from);
        }
        let (mut before, mut start, mut waits) = (whole[..gone].to_vec(), gone, None);
        for (at, line) in self.held.iter_mut().enumerate().skip(first) {
            let sure = before.len();
            for (_, piece) in line.0.iter_mut().filter(|(of, _)| is_of(*of)) {
                let end = start + piece.len();
                for (from, to) in places.iter().rev().filter(|(from, to)| *from < end && *to > start) {
                    // What stands for it stands where it begins, or in the first piece that is still here.
                    let begins = (start..end).contains(from) || (start == gone && *from < gone);
                    let gap = from.saturating_sub(start)..(to - start).min(end - start);
                    piece.splice(gap, if begins { REDACTED } else { b"" }.iter().copied());
                    self.count += u64::from(begins);
                }
                waits = waits.or((end > unsure).then_some(self.gone + at));
                start = end;
                before.extend_from_slice(piece);
            }
            if waits.is_some() {
                before.truncate(sure);
            }
        }
        before.drain(..before.len().saturating_sub(BEFORE));
        let text = &mut self.texts[text];
        (text.before, text.waits, text.newest) = (before, waits, newest);
    }

    fn let_all_go(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        for text in 0..self.texts.len() {
            if self.texts[text].waits.is_some() {
                self.look(secrets, text, true);
            }
        }
        self.let_go(self.held.len(), out);
        self.texts.clear();
        self.pause = 0;
    }

    fn let_go(&mut self, lines: usize, out: &mut Vec<u8>) {
        for (_, part) in self.held.drain(..lines).flat_map(|line| line.0) {
            out.extend_from_slice(&part);
            // What stands for a secret may be longer than it was.
            self.bytes = self.bytes.saturating_sub(part.len());
        }
        if self.held.is_empty() {
            self.bytes = 0;
        }
        self.gone += lines;
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

/// A piece of a text in a line.
struct Piece {
    member: usize,
    owner: u64,
    start: usize,
    end: usize,
}

/// The pieces of texts in a line of JSON.
fn pieces(line: &[u8]) -> Vec<Piece> {
    let (mut found, mut objects) = (Vec::new(), vec![Object::default()]);
    if !line.starts_with(b"{") {
        return found;
    }
    // The objects that have begun and not ended.
    let mut open = vec![0];
    let mut at = 0;
    while let Some(next) = line.get(at..).and_then(|rest| rest.iter().position(|byte| b"{}\"".contains(byte))) {
        at += next;
        let inner = open.last().copied().unwrap_or_default();
        match line[at] {
            b'{' => {
                open.push(objects.len());
                objects.push(Object { outer: inner, owner: 0 });
                at += 1;
            }
            b'}' => {
                open.pop();
                at += 1;
            }
            _ => {
                let Some((start, end)) = string(line, at) else { break };
                at = end + 1;
                let colon = blank(line, at);
                if line.get(colon) != Some(&b':') {
                    continue;
                }
                let (name, value) = (&line[start..end], blank(line, colon + 1));
                let text = line.get(value).filter(|byte| **byte == b'"').and_then(|_| string(line, value));
                if OWNERS.contains(&name) {
                    let (from, to) = text.unwrap_or_else(|| (value, value + number(line, value)));
                    objects[inner].owner ^= hash(name, &line[from..to]);
                }
                if let Some((from, to)) = text {
                    let member = MEMBERS.iter().position(|member| *member == name).filter(|_| from < to);
                    found.extend(member.map(|member| Piece {
                        member,
                        owner: inner as u64,
                        start: from,
                        end: to,
                    }));
                    at = to + 1;
                }
            }
        }
    }
    // What says whose a piece is may stand behind it.
    for piece in &mut found {
        let mut object = usize::try_from(piece.owner).unwrap_or_default();
        piece.owner = objects[object].owner;
        while object != 0 {
            object = objects[object].outer;
            piece.owner = piece.owner.rotate_left(1) ^ objects[object].owner;
        }
    }
    found
}

/// An object of a line, the line itself being the outermost.
#[derive(Default)]
struct Object {
    outer: usize,
    /// What its members say of whose it is.
    owner: u64,
}

/// Whose the pieces are, in a number.
fn hash(name: &[u8], value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, value).hash(&mut hasher);
    hasher.finish()
}

fn number(line: &[u8], from: usize) -> usize {
    line[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
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
