//! `edit_file`: a whole file, or hunks that find their place by an anchor.

use std::time::{Duration, Instant};

use fancy_regex::RegexBuilder;
use serde_json::{Map, Value, json};

use super::args::{decode, dumps, given, is_set, universal, whole};
use super::difflib::unified;
use super::place::{MOST, errno, place};
use super::read::sha256;
use tokio_util::sync::CancellationToken;

use crate::tools::{Given, work};
use crate::workspace::{Fault, Guard, Place, Stamp, Wall};

/// How many characters of what an anchor matched are told.
const SNIPPET: usize = 120;

/// Steps that a pattern may go back; more are an error.
const BACKTRACKS: usize = 1_000_000;

/// So many hunks may a call have, and so long may it take to find their places.
const MOST_HUNKS: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn edit(input: &Value, wall: &Wall) -> Result<Given, Given> {
    let edit = Edit::work_out(input, wall, is_set(input, "dry_run", false))?;
    Ok(Given::text(dumps(&Value::Object(edit.apply()?))))
}

/// What a call would change.
pub(super) fn preview(input: &Value, wall: &Wall) -> Option<String> {
    let edit = Edit::work_out(input, wall, true).ok()?;
    Some(edit.diff()).filter(|diff| !diff.is_empty())
}

fn failed(why: impl std::fmt::Display) -> Given {
    Given::error(format!("Edit failed: {why}"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Overwrite,
    Append,
    Prepend,
    Patch,
}

impl Mode {
    fn read(input: &Value) -> Result<Self, Given> {
        let word = match given(input, "mode") {
            None => "",
            Some(Value::String(word)) => word.trim(),
            Some(_) => return Err(failed("mode must be a string")),
        };
        match word.to_lowercase().as_str() {
            "" | "patch" => Ok(Self::Patch),
            "overwrite" => Ok(Self::Overwrite),
            "append" => Ok(Self::Append),
            "prepend" => Ok(Self::Prepend),
            other => Err(Given::error(format!("Unsupported mode: {other}"))),
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Overwrite => "overwrite",
            Self::Append => "append",
            Self::Prepend => "prepend",
            Self::Patch => "patch",
        }
    }
}

/// A file as it was read.
struct Before {
    text: String,
    /// Its lines end with CR LF. The text has line feeds alone, and the ends go back when it is written.
    crlf: bool,
    stamp: Option<Stamp>,
}

impl Before {
    fn read(place: &Place) -> Result<Self, Given> {
        let path = place.path().display().to_string();
        match place.read(MOST) {
            Ok((bytes, stamp)) => {
                let (newlines, pairs) = (
                    memchr::memchr_iter(b'\n', &bytes).count(),
                    memchr::memmem::find_iter(&bytes, b"\r\n").count(),
                );
                let returns = memchr::memchr_iter(b'\r', &bytes).count();
                let crlf = pairs > 0 && pairs == newlines && pairs == returns;
                let text = if crlf {
                    decode(bytes).map_err(failed)?
                } else {
                    String::from_utf8(bytes).map_err(|error| failed(decode(error.into_bytes()).unwrap_err()))?
                };
                Ok(Self {
                    text,
                    crlf,
                    stamp: Some(stamp),
                })
            }
            Err(Fault::Missing(_)) => Ok(Self {
                text: String::new(),
                crlf: false,
                stamp: None,
            }),
            Err(fault) => Err(failed(errno(&fault, &path))),
        }
    }

    /// A text as it goes into the file.
    fn on_disk(&self, text: &str) -> String {
        if self.crlf {
            universal(text.to_owned()).replace('\n', "\r\n")
        } else {
            text.to_owned()
        }
    }
}

/// A change that is worked out and not made.
struct Edit {
    place: Place,
    mode: Mode,
    before: Before,
    after: String,
    /// For patches: what each hunk matched.
    matches: Vec<Value>,
    dry_run: bool,
}

impl Edit {
    fn work_out(input: &Value, wall: &Wall, dry_run: bool) -> Result<Self, Given> {
        let place = place(input, "path", wall)?;
        let mode = Mode::read(input)?;
        let mut before = Before::read(&place)?;
        if before.stamp.is_none() && mode != Mode::Overwrite && !dry_run {
            return Err(Given::error(format!("File not found: {}", place.path().display())));
        }
        let wanted = given(input, "precondition").and_then(|condition| given(condition, "file_sha256"));
        let same = |wanted: &Value| {
            let hashes = [sha256(&before.text), sha256(&before.on_disk(&before.text))];
            hashes
                .iter()
                .any(|hash| wanted.as_str().is_some_and(|wanted| wanted.eq_ignore_ascii_case(hash)))
        };
        if wanted.is_some_and(|wanted| wanted != "" && !same(wanted)) {
            return Err(Given::error("Precondition failed: file sha256 mismatch"));
        }
        let mut matches = Vec::new();
        let after = if mode == Mode::Patch {
            patch(&before.text, given(input, "hunks"), &mut matches)?
        } else {
            let content = match given(input, "content") {
                Some(Value::String(content)) => content,
                Some(_) => return Err(failed("content must be a string")),
                None => return Err(Given::error("Content required for simple modes")),
            };
            match mode {
                Mode::Append => format!("{}{content}", before.text),
                Mode::Prepend => format!("{content}{}", before.text),
                _ => content.clone(),
            }
        };
        // A file that is written as a whole gets the line ends that it was given.
        if mode == Mode::Overwrite && before.crlf {
            before.text = before.text.replace('\n', "\r\n");
            before.crlf = false;
        }
        Ok(Self {
            place,
            mode,
            before,
            after,
            matches,
            dry_run,
        })
    }

    fn diff(&self) -> String {
        let name = self.place.path().file_name().unwrap_or_default().to_string_lossy();
        unified(&self.before.text, &self.after, &name)
    }

    /// Writes the file, unless it is only a try, and tells what was done.
    fn apply(self) -> Result<Map<String, Value>, Given> {
        let path = self.place.path().display().to_string();
        let content = self.before.on_disk(&self.after);
        let mut report = Map::new();
        let mut tell = |key: &str, value: Value| report.insert(key.to_owned(), value);
        tell("success", json!(true));
        tell("path", json!(path));
        tell("applied", json!(!self.dry_run));
        tell("mode", json!(self.mode.word()));
        if self.mode == Mode::Patch {
            tell("hunks_applied", json!(self.matches.len()));
            tell("matches", json!(self.matches));
        }
        if self.dry_run {
            if self.mode != Mode::Patch {
                tell("bytes_new", json!(content.len()));
            }
            tell("diff", json!(self.diff()));
            return Ok(report);
        }
        let guard = self.before.stamp.as_ref().map_or(Guard::New, Guard::Same);
        self.place
            .write(content.as_bytes(), guard)
            .map_err(|fault| failed(errno(&fault, &path)))?;
        tell("sha256_before", json!(sha256(&self.before.on_disk(&self.before.text))));
        tell("sha256_after", json!(sha256(&content)));
        if self.mode != Mode::Patch {
            tell("bytes_written", json!(content.len()));
        }
        tell("diff", json!(self.diff()));
        if self.mode != Mode::Patch {
            tell("created", json!(self.before.stamp.is_none()));
        }
        Ok(report)
    }
}

/// Applies hunks one after the other, each to what the one before has left.
fn patch(original: &str, hunks: Option<&Value>, matches: &mut Vec<Value>) -> Result<String, Given> {
    let hunks = match hunks {
        None => &[][..],
        Some(Value::Array(hunks)) => hunks,
        Some(_) => return Err(failed("hunks must be a list of objects")),
    };
    if hunks.is_empty() {
        return Err(Given::error("Missing hunks for patch mode"));
    }
    if hunks.len() > MOST_HUNKS {
        return Err(failed(format_args!(
            "{} hunks are more than {MOST_HUNKS}: make several calls",
            hunks.len()
        )));
    }
    let end_of_time = Instant::now() + PATIENCE;
    let mut text = original.to_owned();
    for hunk in hunks {
        if !hunk.is_object() {
            return Err(failed("hunks must be a list of objects"));
        }
        let op = given(hunk, "op").and_then(Value::as_str).unwrap_or("None");
        let content = match given(hunk, "content") {
            None => "",
            Some(Value::String(content)) => content,
            Some(_) => return Err(failed("content of a hunk must be a string")),
        };
        let none = json!({});
        let anchor = given(hunk, "anchor").unwrap_or(&none);
        let (start, end) = find(&text, anchor, op, is_set(hunk, "must_unique", false), end_of_time)?;
        let last = if end > start { end - 1 } else { start };
        let line = |at: usize| memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1;
        // What stands in the original text where the match is in the text by now: as the program tells it.
        let (from, to) = (text[..start].chars().count(), text[..end].chars().count());
        let long = original.chars().count();
        let snippet = if from < long && to <= long {
            original.chars().skip(from).take((to - from).min(SNIPPET)).collect()
        } else {
            String::new()
        };
        matches.push(json!({"op": op, "start_line": line(start), "end_line": line(last), "anchor_snippet": snippet}));
        let grown = text.len() + content.len();
        if grown as u64 > MOST {
            return Err(failed(format_args!("the file would have {grown} bytes, more than {MOST}")));
        }
        match op {
            "replace" => text.replace_range(start..end, content),
            "insert_before" => text.insert_str(start, content),
            "insert_after" => text.insert_str(end, content),
            "delete" => text.replace_range(start..end, ""),
            other => return Err(Given::error(format!("Unsupported op: {other}"))),
        }
    }
    Ok(text)
}

/// The place that an anchor means: from where to where, in bytes.
fn find(text: &str, anchor: &Value, op: &str, unique: bool, until: Instant) -> Result<(usize, usize), Given> {
    let places = places(text, anchor, until).map_err(failed)?;
    if places.is_empty() {
        let pattern = given(anchor, "pattern").and_then(Value::as_str).unwrap_or("");
        let mut hint = String::new();
        if anchor.get("type").is_some_and(|kind| kind == "regex") && pattern.contains(".*") && !is_set(anchor, "dotall", false) {
            hint.push_str(" Consider setting anchor.dotall=true or using [\\s\\S]*? for multi-line matches.");
        }
        if is_set(anchor, "range", false) {
            hint.push_str(" Verify that anchor.range covers the intended lines.");
        }
        return Err(Given::error(format!("Anchor not found for op={op}.{hint}")));
    }
    let nth = match given(anchor, "nth") {
        None => None,
        Some(nth) => Some(whole(nth).ok_or_else(|| failed("anchor.nth must be an integer"))?),
    };
    let last = anchor.get("occurrence").is_some_and(|word| word == "last");
    if unique && nth.is_none() && !last && places.len() != 1 {
        return Err(Given::error(format!(
            "Anchor ambiguous: {} matches. Specify anchor.nth or anchor.occurrence, or set must_unique=false.",
            places.len()
        )));
    }
    let at = match nth {
        Some(nth) => usize::try_from(nth).ok().and_then(|nth| nth.checked_sub(1)),
        None if last => Some(places.len() - 1),
        None => Some(0),
    };
    at.and_then(|at| places.get(at))
        .copied()
        .ok_or_else(|| Given::error("Requested occurrence not found"))
}

/// All places that an anchor matches.
fn places(text: &str, anchor: &Value, until: Instant) -> Result<Vec<(usize, usize)>, String> {
    if Instant::now() > until {
        return Err(late());
    }
    let pattern = match given(anchor, "pattern") {
        None => "",
        Some(Value::String(pattern)) => pattern,
        Some(_) => return Err("anchor.pattern must be a string".to_owned()),
    };
    let (from, to) = window(text, given(anchor, "range"));
    let part = &text[from..to];
    match given(anchor, "type").and_then(Value::as_str) {
        Some("exact") if pattern.is_empty() => {
            let starts = part.char_indices().map(|(at, _)| at).chain([part.len()]);
            Ok(starts.map(|at| (from + at, from + at)).collect())
        }
        Some("exact") => Ok(part
            .match_indices(pattern)
            .map(|(at, found)| (from + at, from + at + found.len()))
            .collect()),
        Some("regex") => {
            let regex = RegexBuilder::new(pattern)
                .multi_line(true)
                .dot_matches_new_line(is_set(anchor, "dotall", false))
                .case_insensitive(is_set(anchor, "ignorecase", false))
                .backtrack_limit(BACKTRACKS)
                .build()
                .map_err(|error| format!("Invalid regex: {error}"))?;
            let (part, left) = (part.to_owned(), until.saturating_duration_since(Instant::now()));
            let all = work::in_time(left, &CancellationToken::new(), move || {
                let found = regex.find_iter(&part).map(|found| {
                    if Instant::now() > until {
                        return Err(late());
                    }
                    let found = found.map_err(|error| format!("Invalid regex: {error}"))?;
                    Ok((from + found.start(), from + found.end()))
                });
                found.collect()
            });
            // The last search gets the time that those before have left.
            all.unwrap_or_else(|fault| Err(if Instant::now() >= until { late() } else { fault.to_string() }))
        }
        _ => Err("Unsupported anchor.type; use 'exact' or 'regex'".to_owned()),
    }
}

fn late() -> String {
    format!(
        "the places of the hunks were not found within {} s: make several calls",
        PATIENCE.as_secs()
    )
}

/// Where the lines of a range are, the end of the last one included. A range that is none is the whole text.
fn window(text: &str, range: Option<&Value>) -> (usize, usize) {
    let all = (0, text.len());
    let Some([first, last]) = range.and_then(Value::as_array).map(Vec::as_slice) else {
        return all;
    };
    let (Some(first), Some(last)) = (whole(first), whole(last)) else {
        return all;
    };
    if first < 1 || last < first {
        return all;
    }
    // Where the line with this number, counted from 1, begins.
    let start = |line: i64| match usize::try_from(line - 1).unwrap_or(usize::MAX) {
        0 => Some(0),
        before => memchr::memchr_iter(b'\n', text.as_bytes()).nth(before - 1).map(|at| at + 1),
    };
    let from = start(first).unwrap_or(text.len());
    (from, start(last.saturating_add(1)).unwrap_or(text.len()))
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
