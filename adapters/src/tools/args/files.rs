//! Files: read, write, edit, list, delete.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::{Args, Change, Read};
use crate::json::{Raw, Str};
use crate::tools::Family;
use crate::tools::json::{Json, array, members, optional, whole};

/// Lines are counted from 1 everywhere but in Qwen, whose `offset` begins at 0 (as its own description says; its program takes
/// an offset without a limit, though the description asks for both). Tricode names the last line instead of a number of
/// lines, and ignores `end_line` without `start_line`, as recorded.
pub(super) fn read<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let read = match from {
        Family::Claude => {
            let [path, offset, limit, pages] = members(input, ["file_path", "offset", "limit", "pages"])?;
            Read {
                path: path?.string()?,
                start: optional(offset, whole)?.map(|line| line.max(1)),
                count: optional(limit, whole)?,
                pages: optional(pages, Raw::string)?,
                capped: false,
            }
        }
        Family::Qwen => {
            // `absolute_path` is the name of older versions, `path` that of the RFC's examples.
            let [path, old, short, offset, limit, pages] = members(input, ["file_path", "absolute_path", "path", "offset", "limit", "pages"])?;
            Read {
                path: path.or(old).or(short)?.string()?,
                start: optional(offset, |line| whole(line)?.checked_add(1))?,
                count: optional(limit, whole)?,
                pages: optional(pages, Raw::string)?,
                capped: false,
            }
        }
        Family::Cursor => {
            let [path, offset, limit] = members(input, ["path", "offset", "limit"])?;
            Read {
                path: path?.string()?,
                start: optional(offset, whole)?.map(|line| line.max(1)),
                count: optional(limit, whole)?,
                pages: None,
                capped: false,
            }
        }
        Family::Tricode => {
            let [path, start, end, cap] = members(input, ["path", "start_line", "end_line", "max_bytes"])?;
            let start = optional(start, whole)?.map(|line| line.max(1));
            let count = match (start, optional(end, whole)?) {
                (Some(start), Some(end)) => Some(end.checked_sub(start)?.checked_add(1)?),
                _ => None,
            };
            Read {
                path: path?.string()?,
                start,
                count,
                pages: None,
                capped: cap.is_some(),
            }
        }
    };
    Some(Args::Read(read))
}

pub(super) fn write_read<'a>(read: Read<'_>, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    let name = match to {
        Family::Claude => {
            json.mark('{')
                .key("file_path")
                .str(read.path)
                .maybe_number("offset", read.start)
                .maybe_number("limit", read.count);
            json.maybe_str("pages", read.pages);
            "Read"
        }
        Family::Qwen => {
            json.mark('{')
                .key("file_path")
                .str(read.path)
                .maybe_number("offset", read.start.map(|line| line.saturating_sub(1)));
            json.maybe_number("limit", read.count).maybe_str("pages", read.pages);
            "read_file"
        }
        Family::Cursor => {
            json.mark('{')
                .key("path")
                .str(read.path)
                .maybe_number("offset", read.start)
                .maybe_number("limit", read.count);
            "readToolCall"
        }
        Family::Tricode => {
            // `end_line` counts only beside `start_line`.
            let start = read.start.or(read.count.map(|_| 1));
            let end = match (start, read.count) {
                (Some(start), Some(count)) => Some(start.checked_add(count.checked_sub(1)?)?),
                _ => None,
            };
            json.mark('{')
                .key("path")
                .str(read.path)
                .maybe_number("start_line", start)
                .maybe_number("end_line", end);
            "read_file"
        }
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn write<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let (path, content) = match from {
        Family::Claude | Family::Qwen => {
            let [path, content] = members(input, ["file_path", "content"])?;
            (path, content)
        }
        Family::Cursor => {
            let [path, content, other] = members(input, ["path", "fileText", "content"])?;
            (path, content.or(other))
        }
        Family::Tricode => {
            let [path, content] = members(input, ["path", "content"])?;
            (path, content)
        }
    };
    Some(Args::Write {
        path: path?.string()?,
        content: content?.string()?,
    })
}

/// Tricode has two: `create_file`, which refuses a file that is there, and `edit_file` in mode `overwrite`. Only the result tells
/// which it was: see [`super::super::Translate::answered`].
pub(super) fn write_write<'a>(path: Str<'_>, content: Str<'_>, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let (name, path_key, content_key) = match to {
        Family::Claude => ("Write", "file_path", "content"),
        Family::Qwen => ("write_file", "file_path", "content"),
        Family::Cursor => ("editToolCall", "path", "streamContent"),
        Family::Tricode => ("create_file", "path", "content"),
    };
    let mut json = Json::new(arena);
    json.mark('{').key(path_key).str(path).key(content_key).str(content).mark('}');
    Some((Str::trusted(name), json.done()))
}

/// Tricode's other way to write a file: over one that is there.
pub(in crate::tools) fn overwrite<'a>(path: Str<'_>, content: Str<'_>, arena: &'a Bump) -> (Str<'a>, Raw<'a>) {
    let mut json = Json::new(arena);
    json.mark('{')
        .key("path")
        .str(path)
        .key("mode")
        .lit("\"overwrite\"")
        .key("content")
        .str(content)
        .mark('}');
    (Str::trusted("edit_file"), json.done())
}

pub(super) fn edit<'a>(from: Family, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    match from {
        Family::Claude | Family::Qwen => {
            let [path] = members(input, ["file_path"])?;
            Some(Args::Edit {
                path: path?.string()?,
                change: change(input, ["old_string", "new_string", "replace_all"])?,
            })
        }
        Family::Cursor => cursor_edit(input, arena),
        Family::Tricode => tricode_edit(input, arena),
    }
}

/// One replacement, by the names of its three members.
fn change<'a>(value: Raw<'a>, names: [&str; 3]) -> Option<Change<'a>> {
    let [old, new, all] = members(value, names)?;
    Some(Change {
        old: optional(old, Raw::string)?,
        new: new?.string()?,
        all: optional(all, Raw::bool)?,
    })
}

fn changes<'a>(list: Raw<'a>, names: [&str; 3], arena: &'a Bump) -> Option<&'a [Change<'a>]> {
    let mut changes = BumpVec::new_in(arena);
    for value in array(list)?.elements() {
        changes.push(change(value, names)?);
    }
    Some(changes.into_bump_slice())
}

/// Cursor says only the new text, of the place or of the whole file: nothing tells which. In 2025 it said more.
fn cursor_edit<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    const NAMES: [&str; 3] = ["oldText", "newText", "replaceAll"];
    let [path, stream, one, several, new] = members(input, ["path", "streamContent", "strReplace", "multiStrReplace", "newText"])?;
    let path = path?.string()?;
    if let Some(new) = stream {
        return Some(Args::Edit {
            path,
            change: Change {
                old: None,
                new: new.string()?,
                all: None,
            },
        });
    }
    if let Some(several) = several {
        let [edits] = members(several, ["edits"])?;
        return Some(Args::MultiEdit {
            path,
            changes: changes(edits?, NAMES, arena)?,
        });
    }
    let change = match (one, new) {
        (Some(one), _) => change(one, NAMES)?,
        (None, Some(_)) => change(input, NAMES)?,
        _ => return None,
    };
    Some(Args::Edit { path, change })
}

/// Whole-file mode `overwrite` is a write; replacements of exact, unique texts are edits. Appending, prepending, anchors by
/// pattern or by number, insertions and deletions, and dry runs have no equivalent anywhere.
fn tricode_edit<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let [path, mode, content, hunks, dry] = members(input, ["path", "mode", "content", "hunks", "dry_run"])?;
    let path = path?.string()?;
    if optional(dry, Raw::bool)? == Some(true) {
        return None;
    }
    match optional(mode, Raw::string)? {
        Some(mode) if mode.is("overwrite") => {
            return Some(Args::Write {
                path,
                content: content?.string()?,
            });
        }
        Some(mode) if !mode.is("patch") => return None,
        _ => {}
    }
    let mut changes = BumpVec::new_in(arena);
    for hunk in array(hunks?)?.elements() {
        let [op, anchor, content] = members(hunk, ["op", "anchor", "content"])?;
        let [kind, pattern, nth, occurrence] = members(anchor?, ["type", "pattern", "nth", "occurrence"])?;
        let first = optional(occurrence, Raw::string)?.is_none_or(|which| which.is("first"));
        if !op?.string()?.is("replace") || !kind?.string()?.is("exact") || nth.is_some() || !first {
            return None;
        }
        changes.push(Change {
            old: Some(pattern?.string()?),
            new: content?.string()?,
            all: None,
        });
    }
    match changes.into_bump_slice() {
        [] => None,
        &[change] => Some(Args::Edit { path, change }),
        changes => Some(Args::MultiEdit { path, changes }),
    }
}

pub(super) fn write_edit<'a>(path: Str<'_>, change: Change<'_>, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    let name = match to {
        Family::Claude | Family::Qwen => {
            json.mark('{').key("file_path").str(path);
            replacement(&mut json, change, ["old_string", "new_string", "replace_all"]);
            json.mark('}');
            if to == Family::Claude { "Edit" } else { "edit" }
        }
        // The current generation has no place for the old text.
        Family::Cursor => {
            json.mark('{').key("path").str(path).key("streamContent").str(change.new).mark('}');
            "editToolCall"
        }
        // An edit without old text makes the file.
        Family::Tricode if change.old.is_some_and(Str::is_empty) => return write_write(path, change.new, to, arena),
        Family::Tricode => return hunks(path, &[change], arena),
    };
    Some((Str::trusted(name), json.done()))
}

fn replacement(json: &mut Json<'_>, change: Change<'_>, [old, new, all]: [&str; 3]) {
    json.maybe_str(old, change.old).key(new).str(change.new).maybe_bool(all, change.all);
}

/// `None` when the old text is not known or when every occurrence is meant: an exact anchor has to match once.
fn hunks<'a>(path: Str<'_>, changes: &[Change<'_>], arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').key("path").str(path).key("hunks").mark('[');
    for change in changes {
        let old = change.old.filter(|old| !old.is_empty() && change.all != Some(true))?;
        json.item().mark('{').key("op").lit("\"replace\"").key("anchor").mark('{');
        json.key("type")
            .lit("\"exact\"")
            .key("pattern")
            .str(old)
            .mark('}')
            .key("content")
            .str(change.new)
            .mark('}');
    }
    json.mark(']').mark('}');
    Some((Str::trusted("edit_file"), json.done()))
}

/// Claude's `MultiEdit` is older than any recording; Qwen has none.
pub(super) fn multi_edit<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let [path, edits] = members(input, ["file_path", "edits"])?;
    let changes = changes(edits?, ["old_string", "new_string", "replace_all"], arena)?;
    Some(Args::MultiEdit {
        path: path?.string()?,
        changes,
    })
}

pub(super) fn write_multi_edit<'a>(path: Str<'_>, changes: &[Change<'_>], to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let (name, names) = match to {
        Family::Claude => ("MultiEdit", ["old_string", "new_string", "replace_all"]),
        Family::Cursor => ("editToolCall", ["oldText", "newText", "replaceAll"]),
        Family::Tricode if changes.is_empty() => return None,
        Family::Tricode => return hunks(path, changes, arena),
        Family::Qwen => return None,
    };
    let mut json = Json::new(arena);
    match to {
        Family::Claude => json.mark('{').key("file_path").str(path).key("edits").mark('['),
        _ => json
            .mark('{')
            .key("path")
            .str(path)
            .key("multiStrReplace")
            .mark('{')
            .key("edits")
            .mark('['),
    };
    for change in changes {
        json.item().mark('{');
        replacement(&mut json, *change, names);
        json.mark('}');
    }
    json.mark(']').mark('}');
    if to == Family::Cursor {
        json.mark('}');
    }
    Some((Str::trusted(name), json.done()))
}

/// Tricode lists the working directory when no path is given.
pub(super) fn list<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let [path, ignore] = members(input, ["path", "ignore"])?;
    let path = match path {
        None if from == Family::Tricode => Str::trusted("."),
        path => path?.string()?,
    };
    Some(Args::List {
        path,
        ignore: optional(ignore, array)?,
    })
}

pub(super) fn write_list<'a>(path: Str<'_>, ignore: Option<Raw<'_>>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').key("path").str(path);
    let name = match to {
        Family::Claude => "LS",
        Family::Qwen | Family::Tricode => "list_directory",
        Family::Cursor => "lsToolCall",
    };
    match to {
        Family::Tricode => &mut json,
        // Cursor writes the list even when it is empty.
        Family::Cursor => json.key("ignore").raw(ignore.unwrap_or(Raw::trusted("[]"))).key("toolCallId").str(id),
        Family::Claude | Family::Qwen => json.maybe_raw("ignore", ignore),
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn delete<'a>(input: Raw<'a>) -> Option<Args<'a>> {
    let [path] = members(input, ["path"])?;
    Some(Args::Delete { path: path?.string()? })
}

/// Only Cursor and Tricode delete otherwise than by a command.
pub(super) fn write_delete<'a>(path: Str<'_>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').key("path").str(path);
    let name = match to {
        Family::Cursor => {
            json.key("toolCallId").str(id);
            "deleteToolCall"
        }
        Family::Tricode => "delete_file",
        Family::Claude | Family::Qwen => return None,
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}
