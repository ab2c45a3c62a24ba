//! Results: texts only. Files have their lines numbered `N: `, edits answer with a JSON text.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::json::{Cursor, Raw, Str};
use crate::tools::args::{Read, Todo, TodoStatus, Todos};
use crate::tools::diff::DiffStyle;
use crate::tools::json::{members, optional};
use crate::tools::lines;
use crate::tools::output::{FileChange, FileRead, Hunks, ToolOutput};
use crate::tools::texts::without_last_end;

/// Before it numbered lines, the text was the content.
pub(super) fn file<'a>(read: &Read<'a>, text: Str<'a>, arena: &'a Bump) -> Option<FileRead<'a>> {
    let part = read.count.is_some();
    if let Some(file) = inner(text, arena).and_then(|json| with_metadata(json, part, arena)) {
        return Some(file);
    }
    let (content, start) = content(text, read.start.unwrap_or(1), part, arena);
    Some(FileRead::of(read, content, start))
}

/// The text without the numbers, and the number of its first line. Of a part that ends before the file does, the last line end
/// belongs to what follows.
fn content<'a>(text: Str<'a>, start: u64, part: bool, arena: &'a Bump) -> (Str<'a>, u64) {
    let (content, start, to_end) = lines::strip(text, arena).map_or((text, start, false), |found| (found.content, found.start, found.note));
    (if part && !to_end { without_last_end(content) } else { content }, start)
}

/// A JSON object that a result holds as its text.
fn inner<'a>(text: Str<'a>, arena: &'a Bump) -> Option<Raw<'a>> {
    if !text.as_escaped().starts_with('{') {
        return None;
    }
    let mut at = Cursor::new(text.plain_in(arena)?.trim_end());
    let raw = at.raw().ok()?;
    at.at_end().then_some(raw)
}

/// `with_metadata`: `{path, total_lines, mtime, sha256, content}`. `total_lines` is that of the part.
fn with_metadata<'a>(json: Raw<'a>, part: bool, arena: &'a Bump) -> Option<FileRead<'a>> {
    let [path, text, hash] = members(json, ["path", "content", "sha256"])?;
    hash?;
    let (content, start) = content(text?.string()?, 1, part, arena);
    Some(FileRead {
        path: optional(path, Raw::string)?,
        content,
        start,
        total: None,
    })
}

/// `edit_file`: `{success, path, applied, mode, …, diff, created?}`. A dry run changes nothing.
pub(super) fn change<'a>(text: Str<'a>, arena: &'a Bump) -> Option<FileChange<'a>> {
    let [path, applied, diff, created] = members(inner(text, arena)?, ["path", "applied", "diff", "created"])?;
    if applied.and_then(Raw::bool) != Some(true) {
        return None;
    }
    let mut change = FileChange::of(path?.string()?);
    change.created = created.and_then(Raw::bool);
    change.hunks = optional(diff, Raw::string)?.map_or(Hunks::Unknown, |diff| Hunks::Unified(diff, DiffStyle::Difflib));
    Some(change)
}

/// stdout, then `[stderr]` on a line of its own and stderr.
pub(super) fn streams(text: Str<'_>) -> (Str<'_>, Str<'_>) {
    const HEAD: &str = "[stderr]\\n";
    let body = text.as_escaped();
    if let Some(stderr) = body.strip_prefix(HEAD) {
        return (Str::EMPTY, Str::trusted(stderr));
    }
    match body.split_once("\\n[stderr]\\n") {
        Some((stdout, stderr)) => (Str::trusted(stdout), Str::trusted(stderr)),
        None => (text, Str::EMPTY),
    }
}

/// The plan as it is printed: a line for each task, coloured by its status (31 pending, 33 in progress, 32 completed).
pub(super) fn plan<'a>(text: Str<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let mut list = BumpVec::new_in(arena);
    for piece in lines::pieces(text) {
        let task = piece.text.strip_prefix("↳ - ").or_else(|| piece.text.strip_prefix("  - "))?;
        let task = task.strip_prefix("\\u001b[")?.strip_suffix("\\u001b[0m")?;
        let (colour, content) = task.split_once('m')?;
        let status = match colour {
            "31" => TodoStatus::Pending,
            "33" => TodoStatus::InProgress,
            "32" => TodoStatus::Completed,
            _ => return None,
        };
        list.push(Todo {
            id: None,
            content: Str::trusted(content),
            status,
            active: None,
        });
    }
    Some(ToolOutput::Todos(Todos::made(list.into_bump_slice())))
}
