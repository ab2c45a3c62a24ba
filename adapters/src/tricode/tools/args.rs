//! Arguments: `path`, lines by their numbers, changes as hunks.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::snake_tools::{common, grep, mcp_name};
use crate::tools::args::{Args, Change, Grep, Read, Shell, Todo, TodoStatus, Todos};
use crate::tools::json::{Json, array, members, optional, whole};

pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    Some(match kind {
        // `end_line` is ignored without `start_line`, as recorded.
        ToolKind::Read => {
            let [path, start, end, cap] = members(input, ["path", "start_line", "end_line", "max_bytes"])?;
            let start = optional(start, whole)?.map(|line| line.max(1));
            // A part that ends before it begins has no lines, which nobody else can ask for.
            let count = match (start, optional(end, whole)?) {
                (Some(start), Some(end)) if end >= start => Some((end - start).checked_add(1)?),
                _ => None,
            };
            Args::Read(Read {
                path: path?.string()?,
                start,
                count,
                pages: None,
                capped: cap.is_some(),
            })
        }
        ToolKind::Write => {
            let [path, content] = members(input, ["path", "content"])?;
            Args::Write {
                path: path?.string()?,
                content: content?.string()?,
            }
        }
        ToolKind::Edit => return edit(input, arena),
        // Without a path, the working directory.
        ToolKind::List => {
            let [path, ignore] = members(input, ["path", "ignore"])?;
            Args::List {
                path: path.map_or(Some(Str::trusted(".")), Raw::string)?,
                ignore: optional(ignore, array)?,
            }
        }
        ToolKind::Delete => {
            let [path] = members(input, ["path"])?;
            Args::Delete { path: path?.string()? }
        }
        ToolKind::Shell => {
            let [command, timeout] = members(input, ["command", "timeout"])?;
            Args::Shell(Shell {
                command: command?.string()?,
                timeout: optional(timeout, milliseconds)?,
                ..Shell::default()
            })
        }
        ToolKind::Grep => {
            let grep = grep(input)?;
            let any_case = grep.pattern.as_escaped().strip_prefix(ANY_CASE);
            Args::Grep(Grep {
                pattern: any_case.map_or(grep.pattern, Str::trusted),
                ignore_case: any_case.map(|_| true),
                ..grep
            })
        }
        ToolKind::Todo => {
            let [action, tasks] = members(input, ["action", "tasks"])?;
            if !action?.string()?.is("create") {
                return None;
            }
            Args::Todos {
                list: Todos::made(plan(tasks?, arena)?),
                merge: false,
            }
        }
        kind => return common(kind, input, arena),
    })
}

/// What a pattern begins with that takes small and capital letters for the same.
const ANY_CASE: &str = "(?i)";

/// `{"action":"update","task_id":1,"status":"completed"}`.
pub(super) fn progress(name: &str, input: Raw<'_>) -> Option<(u64, TodoStatus)> {
    if name != "plan" {
        return None;
    }
    let [action, task, status] = members(input, ["action", "task_id", "status"])?;
    let status = status?.string()?;
    (action?.string()?.is("update")).then_some((whole(task?)?, TodoStatus::read(status)?))
}

/// The tasks of a new plan: strings; the document of an older version shows objects with `id` and `desc`.
fn plan<'a>(tasks: Raw<'a>, arena: &'a Bump) -> Option<&'a [Todo<'a>]> {
    let mut list = BumpVec::new_in(arena);
    for task in array(tasks)?.elements() {
        list.push(Todo {
            id: None,
            content: match task.string() {
                Some(text) => text,
                None => task.get("desc")?.string()?,
            },
            status: TodoStatus::Pending,
            active: None,
        });
    }
    Some(list.into_bump_slice())
}

/// Seconds, whole or not, as milliseconds.
fn milliseconds(seconds: Raw<'_>) -> Option<u64> {
    let value = (seconds.f64()? * 1000.0).round();
    // Up to 2^53 every whole number is a double.
    (0.0..=9_007_199_254_740_992.0).contains(&value).then_some(value as u64)
}

/// Whole-file mode `overwrite` is a write; replacements of exact, unique texts are edits. Appending, prepending, anchors by
/// pattern or by number, insertions and deletions, and dry runs have no equivalent anywhere.
fn edit<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
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

/// The list of things to do is kept by the encoder, which knows the list so far.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    json.mark('{');
    match *args {
        // `end_line` counts only beside `start_line`.
        Args::Read(read) => {
            let start = read.start.or(read.count.map(|_| 1));
            let end = match (start, read.count) {
                (Some(start), Some(count)) => Some(start.checked_add(count.checked_sub(1)?)?),
                _ => None,
            };
            json.key("path")
                .str(read.path)
                .maybe_number("start_line", start)
                .maybe_number("end_line", end);
        }
        // It refuses a file that is there. Only the result tells whether it was: see `answered`.
        Args::Write { path, content } => {
            json.key("path").str(path).key("content").str(content);
        }
        Args::Edit { path, change } => hunks(&mut json, path, &[change])?,
        Args::MultiEdit { changes: [], .. } => return None,
        Args::MultiEdit { path, changes } => {
            hunks(&mut json, path, changes)?;
            json.mark('}');
            return Some((Str::trusted("edit_file"), json.done()));
        }
        Args::List { path, .. } | Args::Delete { path } => {
            json.key("path").str(path);
        }
        Args::Shell(shell) => {
            json.key("command").str(shell.command);
            // Whole seconds.
            json.maybe_number("timeout", shell.timeout.map(|timeout| timeout.div_ceil(1000)));
        }
        Args::Grep(grep) => {
            json.key("pattern");
            if grep.ignore_case == Some(true) {
                json.str(Str::trusted(
                    bumpalo::format!(in arena, "{ANY_CASE}{}", grep.pattern.as_escaped()).into_bump_str(),
                ));
            } else {
                json.str(grep.pattern);
            }
            json.maybe_str("path", grep.path);
        }
        Args::Fetch { url, .. } => {
            json.key("url").str(url);
        }
        Args::WebSearch { query } => {
            json.key("query").str(query);
        }
        // Of another agent's log, which may have such tools.
        Args::Mcp { server, tool, args } => return Some((mcp_name(server, tool, arena), args)),
        Args::NotebookEdit(_) | Args::Glob { .. } | Args::Todos { .. } | Args::Subagent(_) | Args::Ask { .. } | Args::Plan { .. } => return None,
    }
    json.mark('}');
    Some((Str::trusted(super::TOOLS.name(args.kind())?), json.done()))
}

/// `None` when the old text is not known or when every occurrence is meant: an exact anchor has to match once.
fn hunks(json: &mut Json<'_>, path: Str<'_>, changes: &[Change<'_>]) -> Option<()> {
    json.key("path").str(path).key("hunks").mark('[');
    for change in changes {
        let old = change.old.filter(|old| !old.is_empty() && change.all != Some(true))?;
        json.item().mark('{').key("op").lit("\"replace\"").key("anchor").mark('{');
        json.key("type").lit("\"exact\"").key("pattern").str(old).mark('}');
        json.key("content").str(change.new).mark('}');
    }
    json.mark(']');
    Some(())
}

/// The other way to write a file: over one that is there.
pub(super) fn overwrite<'a>(path: Str<'_>, content: Str<'_>, arena: &'a Bump) -> (Str<'a>, Raw<'a>) {
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
