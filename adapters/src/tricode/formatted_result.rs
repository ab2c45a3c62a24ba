//! `formatted` of a `tool_result`: the result in one line for people.
//!
//! The table is in docs/tricode.md; the recorded strings are the oracle of its test. What only the program's code says
//! (`fetch_url`, `web_search`: no success of theirs was ever recorded) follows the code.

use super::formatted_call::{pick, truthy};
use super::repr::paste;
use crate::json::python::{self, Piece, Put, put_char};
use crate::json::{Raw, Shape, Str};

/// What a result looks like.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    /// The tool's name.
    pub(super) name: Str<'a>,
    /// The arguments of its call, if they are known.
    pub(super) arguments: Option<Raw<'a>>,
    /// Whether it succeeded.
    pub(super) success: bool,
    /// What it says.
    pub(super) result: Str<'a>,
}

/// Writes the body of the string.
pub(super) fn write(shown: Shown<'_>, to: &mut impl Put) {
    let Shown {
        name,
        arguments,
        success,
        result,
    } = shown;
    if !success {
        to.put(b"[FAIL] ");
        return python::text(result, to);
    }
    // Without arguments (an empty text) nothing is found in them.
    let argument = |key| arguments.and_then(|arguments| pick(arguments, [key])[0]);
    match name.as_escaped() {
        "plan" | "delete_file" | "delete_path" | "mkdir" | "start_session" | "send_input" | "close_session" => python::text(result, to),
        "read_file" => {
            let total = argument("with_metadata").filter(|&meta| truthy(meta)).and_then(|_| {
                let json = plain(result);
                Raw::trusted(&json).get("total_lines").and_then(Raw::u64)
            });
            let (count, ended) = python::newlines(result);
            let lines = count as u64 + u64::from(!ended && !result.is_empty());
            counted("[OK] read ", total.unwrap_or(lines), " lines", to);
        }
        "create_file" => match argument("content").and_then(Raw::string) {
            Some(content) => counted("[OK] created ", python::newlines(content).0 as u64 + 1, " lines", to),
            None => to.put(b"[OK] created with content"),
        },
        "edit_file" => {
            let mode = argument("mode").filter(|mode| mode.string().is_none_or(|mode| !mode.is("patch")));
            edit(mode, argument("dry_run").is_some_and(truthy), result, to);
        }
        "search_context" if holds(result, "No matches found") => to.put(b"[OK] 0 results"),
        "search_context" => counted("[OK] ", python::newlines(result).0 as u64, " results", to),
        "list_directory" if holds(result, "Empty directory") => to.put(b"[OK] 0 items"),
        "list_directory" => counted("[OK] ", lines(result), " items", to),
        // Both also say `[no output…]` in words, without a newline.
        "run_command" | "read_output" => match python::newlines(result).0 {
            0 => to.put(b"[OK] no output"),
            count => counted("[OK] ", count as u64, " lines output", to),
        },
        "list_sessions" if holds(result, "No active sessions") => to.put(b"[OK] 0 sessions"),
        "list_sessions" => counted("[OK] ", lines(result), " sessions", to),
        "fetch_url" => {
            counted("[OK] fetched ", result.chars() as u64, " chars (", to);
            counted("", lines(result), " lines): ", to);
            preview(result, 200, to);
            to.put(b"...");
        }
        "web_search" if holds(result, "No results found") => to.put(b"[OK] 0 results"),
        "web_search" => {
            let brackets = |piece| match piece {
                Piece::Plain(run) => memchr::memchr_iter(b'[', run.as_bytes()).count(),
                piece => usize::from(piece == Piece::Char('[')),
            };
            counted("[OK] found ", python::pieces(result).map(brackets).sum::<usize>() as u64, " results", to);
        }
        _ => {
            to.put(b"[OK] ");
            preview(result, 100, to);
        }
    }
}

fn counted(before: &str, count: u64, after: &str, to: &mut impl Put) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = count;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    to.put(before.as_bytes());
    to.put(&digits[at..]);
    to.put(after.as_bytes());
}

/// Newlines and one; a text without anything in it has no lines.
fn lines(result: Str<'_>) -> u64 {
    if result.is_empty() { 0 } else { python::newlines(result).0 as u64 + 1 }
}

fn holds(result: Str<'_>, words: &str) -> bool {
    memchr::memmem::find(result.as_escaped().as_bytes(), words.as_bytes()).is_some()
}

/// The first characters, newlines as blanks.
fn preview(result: Str<'_>, mut count: usize, to: &mut impl Put) {
    for piece in python::pieces(result) {
        match piece {
            _ if count == 0 => return,
            Piece::Plain(run) => {
                let end = run.char_indices().nth(count).map_or(run.len(), |(at, _)| at);
                to.put(&run.as_bytes()[..end]);
                count -= run[..end].chars().count();
                continue;
            }
            Piece::Char('\n') => to.put(b" "),
            Piece::Char(c) => put_char(c, to),
            Piece::Lone(unit) => to.put(format!("\\u{unit:04x}").as_bytes()),
        }
        count -= 1;
    }
}

/// The result of an edit is a JSON object as text: `{"success": true, "path": …, "diff": …}`.
fn edit(mode: Option<Raw<'_>>, dry_run: bool, result: Str<'_>, to: &mut impl Put) {
    let json = plain(result);
    let report = Raw::trusted(&json);
    if report.shape() != Some(Shape::Object) || report.check().is_err() {
        return to.put(b"[OK] edited successfully");
    }
    let [diff, written, applied] = pick(report, ["diff", "bytes_written", "applied"]);
    if let Some(mode) = mode {
        to.put(b"[OK] ");
        paste(mode, to);
        return match written.and_then(Raw::u64) {
            _ if dry_run || applied.is_some_and(|applied| !truthy(applied)) => to.put(b" dry-run"),
            None | Some(0) => to.put(b" done"),
            Some(bytes) => counted(" ", bytes, " bytes", to),
        };
    }
    match diff.and_then(Raw::string).map(changes) {
        Some((added, removed)) if added + removed > 0 => {
            counted("[OK] edited (+", added, " / -", to);
            counted("", removed, ") lines", to);
        }
        _ => to.put(b"[OK] edited successfully"),
    }
}

/// How many lines a unified diff adds and removes.
fn changes(diff: Str<'_>) -> (u64, u64) {
    let (mut added, mut removed, mut started) = (0, 0, false);
    let mut line = diff.as_escaped();
    loop {
        if line.starts_with("@@") {
            started = true;
        } else if started && line.starts_with('+') && !line.starts_with("+++") {
            added += 1;
        } else if started && line.starts_with('-') && !line.starts_with("---") {
            removed += 1;
        }
        match newline_end(line) {
            Some(end) => line = &line[end..],
            None => return (added, removed),
        }
    }
}

/// Behind the first newline of a string's body. Only the short spelling of a newline is looked for: a program writes it.
fn newline_end(body: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr(b'\\', &bytes[at..])? + 2;
        if *bytes.get(at - 1)? == b'n' {
            return Some(at);
        }
    }
}

/// The text of a string's body.
fn plain(body: Str<'_>) -> std::borrow::Cow<'_, str> {
    if !body.has_escapes() {
        return body.as_escaped().into();
    }
    let mut text = String::with_capacity(body.as_escaped().len());
    for piece in python::pieces(body) {
        match piece {
            Piece::Plain(run) => text.push_str(run),
            Piece::Char(c) => text.push(c),
            Piece::Lone(_) => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    text.into()
}

/// Compares what is put with what is there.
pub(super) struct Same<'a> {
    rest: &'a [u8],
    so_far: bool,
}

impl Same<'_> {
    /// Whether `body` is exactly what `write` puts.
    pub(super) fn is(body: Str<'_>, write: impl FnOnce(&mut Same<'_>)) -> bool {
        let rest = body.as_escaped().as_bytes();
        let mut same = Same { rest, so_far: true };
        write(&mut same);
        same.so_far && same.rest.is_empty()
    }
}

impl Put for Same<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        match self.rest.strip_prefix(bytes) {
            Some(rest) if self.so_far => self.rest = rest,
            _ => self.so_far = false,
        }
    }
}
