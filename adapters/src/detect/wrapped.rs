//! Logs that another program has passed on: with something in front of each line, or as values in lines of its own.

use std::fmt;

use super::layout::valid;
use super::{Detector, Opened, STRONG, may_be, recognise};
use crate::codec::{Dialect, Format};
use crate::json::{Cursor, Raw};

/// What stands around the lines of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// The first line that is seen to be a dialect's but for that, counted from 1.
    pub line: u64,
    /// What it is written in.
    pub format: Format,
    /// How it lies in its line.
    pub how: How,
}

/// How a line lies in another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// Behind this: a time, the name of a container, colours.
    Behind(String),
    /// As the value of a member of this name; `text`: as a string.
    Member {
        /// The name.
        name: String,
        /// The line is the text of a string.
        text: bool,
        /// The text has its line end.
        ended: bool,
    },
    /// As the text of a string.
    Text,
}

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is {}", self.line, self.format)?;
        match &self.how {
            How::Behind(before) => {
                // Not every `sed` knows the escape character by a name.
                const COLOURS: &str = r"s/\033\\[[0-9;]*[A-Za-z]//g";
                const REST: &str = "s/^[^{]*//";
                let shown: String = before.chars().take(60).collect();
                let more = if shown.len() < before.len() { "…" } else { "" };
                write!(f, " behind {shown:?}{more}, which another program has put in front")?;
                let is_word = |part: &str| !part.trim_start_matches(|c| "[;0123456789m".contains(c)).is_empty();
                let has_words = before.split('\u{1b}').any(is_word);
                match (before.contains('\u{1b}'), has_words) {
                    _ if before.contains('{') => Ok(()),
                    (true, true) => write!(f, "; sed \"$(printf '{COLOURS}; {REST}')\" takes it away"),
                    (true, false) => write!(f, "; sed \"$(printf '{COLOURS}')\" takes it away"),
                    (false, _) => write!(f, "; sed '{REST}' takes it away"),
                }
            }
            How::Member { name, text, ended } => {
                let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
                let flag = match (text, ended) {
                    (true, true) => "-j",
                    (true, false) => "-r",
                    (false, _) => "-c",
                };
                write!(f, " in the member {name:?} of another program's line")?;
                if plain { write!(f, "; jq {flag} .{name} takes it out") } else { Ok(()) }
            }
            How::Text => write!(f, " as the text of a string; jq -r . takes it out"),
        }
    }
}

/// What stands around the lines of a log that begins so. `None`: nothing that is known, or lines of the dialect that it was said to be are
/// there as they should be.
pub fn wrapped(named: Dialect, beginning: &[u8]) -> Option<Wrapped> {
    let found = look(beginning)?;
    let as_named = may_be(named, lines(beginning).map(str::as_bytes));
    (!as_named).then_some(found)
}

pub(super) fn look(beginning: &[u8]) -> Option<Wrapped> {
    (1..).zip(lines(beginning)).find_map(|(line, text)| {
        let (format, how) = inside(text)?;
        Some(Wrapped { line, format, how })
    })
}

fn lines(beginning: &[u8]) -> impl Iterator<Item = &str> {
    let most = usize::try_from(Detector::ENOUGH_LINES).unwrap_or(usize::MAX);
    let beginning = &beginning[..beginning.len().min(Detector::ENOUGH_BYTES)];
    let lines = beginning.split(|&byte| byte == b'\n').take(most);
    lines.map(|line| valid(line).trim_start_matches('\u{feff}').trim())
}

fn inside(line: &str) -> Option<(Format, How)> {
    match line.as_bytes().first()? {
        b'{' => member(line),
        b'"' => {
            let text = Cursor::new(line).skip().ok()?.string()?.unescape();
            Some((format(&text)?, How::Text))
        }
        _ => behind(line),
    }
}

/// What another program puts in front of a line is not longer than this, and has few brackets.
const LONGEST: usize = 1024;
const BRACKETS: usize = 4;

fn behind(line: &str) -> Option<(Format, How)> {
    let brackets = line.match_indices("{\"").map(|(at, _)| at).take_while(|at| *at <= LONGEST);
    brackets
        .take(BRACKETS)
        .find_map(|at| Some((format(&line[at..])?, How::Behind(line[..at].to_owned()))))
}

fn member(line: &str) -> Option<(Format, How)> {
    let line = Opened::new(line);
    line.members().find_map(|key| {
        let name = key.unescape().into_owned();
        let value = line.get(&name)?;
        let (format, text, ended) = within(value)?;
        Some((format, How::Member { name, text, ended }))
    })
}

/// What a value holds, whether it is the text of a string, and whether that has its line end.
fn within(value: Raw<'_>) -> Option<(Format, bool, bool)> {
    match value.string() {
        Some(text) => {
            let text = text.unescape();
            Some((format(text.trim())?, true, text.ends_with('\n')))
        }
        None => Some((format(value.as_str())?, false, false)),
    }
}

/// What a text is plainly written in.
fn format(text: &str) -> Option<Format> {
    if !text.starts_with('{') {
        return None;
    }
    let line = Opened::new(text);
    recognise(&line)
        .filter(|sign| sign.weight >= STRONG)
        .max_by_key(|sign| sign.weight)
        .map(|sign| sign.format)
}
