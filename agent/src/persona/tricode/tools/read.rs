//! `read_file`

use std::time::SystemTime;

use chrono::{DateTime, Local, Timelike};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::args::{decode, dumps, given, int, is_set, split_lines, whole, whole_end};
use super::place::{MOST, errno, place};
use crate::tools::Given;
use crate::workspace::{Fault, Wall};

const NOTE: &str = "NOTE: Requested end_line exceeds file length; this is all available content.\n";

pub(super) fn read(input: &Value, wall: &Wall) -> Result<Given, Given> {
    let place = place(input, "path", wall)?;
    let path = place.path().display().to_string();
    let failed = |why: String| Given::error(format!("Read failed: {why}"));
    let (bytes, stamp) = place.read(MOST).map_err(|fault| match fault {
        Fault::Missing(_) => Given::error(format!("File not found: {path}")),
        other => failed(errno(&other, &path)),
    })?;
    let content = decode(bytes).map_err(failed)?;
    let window = Window::read(input).map_err(failed)?;
    let mut content = window.of(&content);
    if let Some(most) = given(input, "max_bytes").and_then(whole).and_then(|most| usize::try_from(most).ok()) {
        content = content.first(most);
    }
    let text = content.numbered();
    if !is_set(input, "with_metadata", false) {
        return Ok(Given::text(text));
    }
    let report = json!({
        "path": path,
        "total_lines": text.matches('\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n')),
        "mtime": stamp.stat.modified.map(local_time),
        "sha256": sha256(&text),
        "content": text,
    });
    Ok(Given::text(dumps(&report)))
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A time as `datetime.isoformat()` prints it: local, with microseconds where there are some.
fn local_time(time: SystemTime) -> String {
    let time = DateTime::<Local>::from(time);
    let seconds = time.format("%Y-%m-%dT%H:%M:%S");
    match time.nanosecond() / 1000 {
        0 => seconds.to_string(),
        micros => format!("{seconds}.{micros:06}"),
    }
}

/// Which lines are wanted, counted from 1; the end counts only with a beginning.
struct Window {
    start: Option<usize>,
    end: Option<i64>,
}

/// A part of a file.
struct Part<'t> {
    text: &'t str,
    /// The number of its first line.
    start: usize,
    /// More lines were wanted than there are.
    noted: bool,
}

impl Window {
    fn read(input: &Value) -> Result<Self, String> {
        let number = |name| given(input, name).map(int).transpose();
        let start = number("start_line")?.map(|start| usize::try_from(start).unwrap_or(0).max(1));
        let end = if start.is_some() { number("end_line")? } else { None };
        Ok(Self { start, end })
    }

    fn of<'t>(&self, text: &'t str) -> Part<'t> {
        let Some(start) = self.start else {
            return Part {
                text,
                start: 1,
                noted: false,
            };
        };
        // Where each line begins, and where the text ends.
        let mut bounds: Vec<usize> = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        if bounds.last() != Some(&text.len()) {
            bounds.push(text.len());
        }
        let total = bounds.len() - 1;
        let end = self.end.map_or(total, |end| usize::try_from(end).unwrap_or(0).min(total)).max(start);
        let (from, to) = (bounds[(start - 1).min(total)], bounds[end.min(total)]);
        Part {
            text: &text[from..to],
            start,
            noted: self.end.is_some_and(|end| end > total as i64),
        }
    }
}

impl<'t> Part<'t> {
    /// At most so many bytes of it; half a character is left out.
    fn first(self, most: usize) -> Self {
        let text = &self.text[..whole_end(self.text, most)];
        Self { text, ..self }
    }

    fn numbered(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + self.text.len() / 8);
        for (at, line) in split_lines(self.text).into_iter().enumerate() {
            text.push_str(&format!("{}: {line}", self.start + at));
        }
        if self.noted {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(NOTE);
        }
        text
    }
}
