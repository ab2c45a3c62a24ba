//! Replacing texts in a file.

use super::diff::Diff;
use super::text::{Encoding, decode, with_plain_ends};
use super::write::{LARGEST_CHANGED, not_utf8};
use crate::workspace::{Fault, Guard, Place, Stamp};

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is replaced, exactly; `\n` is also the `\r\n` of a file that has those.
    pub old: String,
    /// What it is replaced by; `\n` becomes what the file has at that place.
    pub new: String,
    /// Every occurrence; else there has to be exactly one.
    pub all: bool,
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its text before, with `\n` at the ends of its lines.
    pub before: String,
    /// Its text now, with `\n` at the ends of its lines.
    pub after: String,
    /// How many times something was replaced.
    pub count: usize,
    /// How the file looks now.
    pub stamp: Stamp,
}

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// The file.
    #[error(transparent)]
    File(#[from] Fault),
    /// It is no text.
    #[error("not a text file")]
    NotText,
    /// A replacement could not be made. It is its number, from 0.
    #[error("edit {}: {why}", at + 1)]
    Change {
        /// Which, from 0.
        at: usize,
        /// Why.
        why: Unfit,
    },
}

/// Why a replacement cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// What is to be replaced is not there.
    #[error("the text was not found")]
    NotFound,
    /// It is there more than once: how often.
    #[error("the text was found {0} times")]
    Several(usize),
    /// It is replaced by itself.
    #[error("the new text is the old one")]
    Same,
    /// It is empty.
    #[error("the text is empty")]
    Empty,
    /// The file would become larger than [`LARGEST_CHANGED`]: so many bytes.
    #[error("the file would have {0} bytes, more than {LARGEST_CHANGED}")]
    TooBig(u64),
}

/// What a file is going to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The file's text before, as it is written in the file.
    pub before: String,
    /// Its text afterwards.
    pub after: String,
    /// How many times something is replaced.
    pub count: usize,
    encoding: Encoding,
    stamp: Stamp,
}

/// Works out what replacing texts makes of a file, one after the other, all or none. `seen` is how the file has to look.
///
/// # Errors
/// As for [`edit`].
pub fn plan(place: &Place, changes: &[Change], seen: Option<&Stamp>) -> Result<Plan, EditFault> {
    let (bytes, stamp) = place.read(LARGEST_CHANGED)?;
    if seen.is_some_and(|seen| !same(seen, &stamp)) {
        return Err(Fault::Changed(place.named().to_owned()).into());
    }
    let decoded = decode(&bytes).ok_or(EditFault::NotText)?;
    if decoded.lossy {
        return Err(not_utf8(place).into());
    }
    let (mut text, mut count) = (decoded.text.clone(), 0);
    for (at, change) in changes.iter().enumerate() {
        let (changed, times) = replaced(&text, change).map_err(|why| EditFault::Change { at, why })?;
        text = changed;
        count += times;
    }
    Ok(Plan {
        before: decoded.text,
        after: text,
        count,
        encoding: decoded.encoding,
        stamp,
    })
}

/// Replaces texts in a file, one after the other, all or none. `seen` is how the file has to look.
///
/// # Errors
/// The file is then what it was.
pub fn edit(place: &Place, changes: &[Change], seen: Option<&Stamp>) -> Result<Edited, EditFault> {
    let plan = plan(place, changes, seen)?;
    let stamp = place.write(&plan.encoding.encode(&plan.after), Guard::Same(&plan.stamp))?;
    Ok(Edited {
        before: with_plain_ends(&plan.before),
        after: with_plain_ends(&plan.after),
        count: plan.count,
        stamp,
    })
}

/// What replacing texts would change, as a unified diff. A single change of an empty text makes a new file.
///
/// # Errors
/// As for [`edit`].
pub fn preview(place: &Place, changes: &[Change]) -> Result<String, EditFault> {
    if let [change] = changes
        && change.old.is_empty()
    {
        return Ok(super::write::preview(place, &change.new)?);
    }
    let plan = plan(place, changes, None)?;
    let named = place.named().display().to_string();
    Ok(Diff::of(&plan.before, &plan.after).unified(&named, &named))
}

/// The content tells, where it is known of both; a new time alone is no change.
fn same(seen: &Stamp, now: &Stamp) -> bool {
    match (seen.hash, now.hash) {
        (Some(seen), Some(now)) => seen == now,
        _ => seen.stat == now.stat,
    }
}

/// A text with a replacement made, and how many times. When a text is replaced by nothing and a line is what it leaves empty, the line goes
/// too.
///
/// # Errors
/// When it cannot be made.
pub fn replaced(text: &str, change: &Change) -> Result<(String, usize), Unfit> {
    let (old, new) = (with_plain_ends(&change.old), with_plain_ends(&change.new));
    if old.is_empty() {
        return Err(Unfit::Empty);
    }
    if old == new {
        return Err(Unfit::Same);
    }
    // Searched without the `\r` of its line ends; the places of those tell where a find lies in the file's own text.
    let plain = with_plain_ends(text);
    let returns: Vec<usize> = memchr::memmem::find_iter(text.as_bytes(), b"\r\n")
        .enumerate()
        .map(|(n, at)| at - n)
        .collect();
    let own = |at: usize| at + returns.partition_point(|&end| end < at);
    // Before anything is made: a short text that is there often may be replaced by a long one.
    let wide = memchr::memchr_iter(b'\n', new.as_bytes()).count() * usize::from(!returns.is_empty());
    let times = plain.matches(&old).count() as u64;
    let grown = times
        .saturating_mul((new.len() + wide).saturating_sub(old.len()) as u64)
        .saturating_add(text.len() as u64);
    match times {
        0 => return Err(Unfit::NotFound),
        2.. if !change.all => return Err(Unfit::Several(usize::try_from(times).unwrap_or(usize::MAX))),
        _ if grown > LARGEST_CHANGED => return Err(Unfit::TooBig(grown)),
        _ => {}
    }
    let mut made = String::with_capacity(text.len());
    let (mut done, mut count) = (0, 0);
    for (start, found) in plain.match_indices(&old) {
        count += 1;
        let mut end = start + found.len();
        if new.is_empty() && !old.ends_with('\n') && plain[end..].starts_with('\n') {
            end += 1;
        }
        let wide = wide_ends(text, own(start), own(end), &returns);
        made.push_str(&text[done..own(start)]);
        if wide {
            made.push_str(&new.replace('\n', "\r\n"));
        } else {
            made.push_str(&new);
        }
        done = own(end);
    }
    made.push_str(&text[done..]);
    Ok((made, count))
}

/// Whether lines end in `\r\n` at a place: by the ends in what is replaced, else by the next one, else by the last one.
fn wide_ends(text: &str, start: usize, end: usize, returns: &[usize]) -> bool {
    if returns.is_empty() {
        return false;
    }
    let bytes = text.as_bytes();
    let near = memchr::memchr(b'\n', &bytes[start..end])
        .map(|at| start + at)
        .or_else(|| memchr::memchr(b'\n', &bytes[end..]).map(|at| end + at))
        .or_else(|| memchr::memrchr(b'\n', &bytes[..start]));
    near.is_some_and(|at| at > 0 && bytes[at - 1] == b'\r')
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
