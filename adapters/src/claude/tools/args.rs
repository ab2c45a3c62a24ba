//! Arguments. Most are in the shape that several agents share ([`crate::snake_tools`]).

use bumpalo::Bump;

use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::snake_tools::{LONGEST, changes, common, grep, mcp_name, replacement, write_common};
use crate::tools::args::{Args, Grep, Read, Shell, Todo};
use crate::tools::json::{Json, members, number, optional, whole};

const CHANGE: [&str; 3] = ["old_string", "new_string", "replace_all"];

pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    match kind {
        ToolKind::Read => {
            let [path, offset, limit, pages] = members(input, ["file_path", "offset", "limit", "pages"])?;
            Some(Args::Read(Read {
                path: path?.string()?,
                start: optional(offset, whole)?.map(|line| line.max(1)),
                count: optional(limit, whole)?,
                pages: optional(pages, Raw::string)?,
                capped: false,
            }))
        }
        // Older than any recording.
        ToolKind::MultiEdit => {
            let [path, edits] = members(input, ["file_path", "edits"])?;
            let changes = changes(edits?, CHANGE, arena)?;
            Some(Args::MultiEdit {
                path: path?.string()?,
                changes,
            })
        }
        ToolKind::Shell => {
            let [command, timeout, description, background] = members(input, ["command", "timeout", "description", "run_in_background"])?;
            Some(Args::Shell(Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                directory: None,
            }))
        }
        ToolKind::Grep => {
            let [mode, case, context, long, limit] = members(input, ["output_mode", "-i", "-C", "context", "head_limit"])?;
            let [before, after, numbers, only] = members(input, ["-B", "-A", "-n", "-o"])?;
            Some(Args::Grep(Grep {
                mode: optional(mode, Raw::string)?,
                ignore_case: optional(case, Raw::bool)?,
                context: optional(context.or(long), number)?,
                limit: optional(limit, number)?,
                // These have no counterpart that is known, so nobody minds what they are.
                before: before.and_then(number),
                after: after.and_then(number),
                numbers: numbers.and_then(Raw::bool),
                only: only.and_then(Raw::bool),
                ..grep(input)?
            }))
        }
        kind => common(kind, input, arena),
    }
}

/// Deleting is done by a command; a list of things to do that only adds to the one before has no counterpart.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    json.mark('{');
    match *args {
        Args::Read(read) => {
            json.key("file_path").str(read.path).maybe_number("offset", read.start);
            json.maybe_number("limit", read.count).maybe_str("pages", read.pages);
        }
        Args::MultiEdit { path, changes } => {
            json.key("file_path").str(path).key("edits").mark('[');
            for change in changes {
                json.item().mark('{');
                replacement(&mut json, *change, CHANGE);
                json.mark('}');
            }
            json.mark(']');
        }
        Args::Shell(shell) => {
            json.key("command").str(shell.command).maybe_number("timeout", shell.limit(LONGEST));
            json.maybe_str("description", shell.description);
            json.maybe_bool("run_in_background", shell.background.filter(|background| *background));
        }
        Args::Grep(grep) => {
            json.key("pattern")
                .str(grep.pattern)
                .maybe_str("path", grep.path)
                .maybe_str("glob", grep.glob);
            let mode = grep.mode.filter(|mode| MODES.contains(&mode.as_escaped()));
            json.maybe_str("output_mode", mode).maybe_bool("-i", grep.ignore_case);
            json.maybe_raw("-C", grep.context).maybe_str("type", grep.file_type);
            json.maybe_raw("head_limit", grep.limit).maybe_raw("offset", grep.offset);
            json.maybe_bool("multiline", grep.multiline);
        }
        Args::Todos { list, merge: false } => {
            json.key("todos").mark('[');
            for todo in list.going_on() {
                json.item();
                write_todo(&mut json, &todo);
            }
            json.mark(']');
        }
        Args::Subagent(call) => {
            write_common(args, &mut json)?;
            json.maybe_str("model", call.model.filter(|model| MODELS.contains(&model.as_escaped())));
        }
        Args::Mcp { server, tool, args } => return Some((mcp_name(server, tool, arena), args)),
        ref args => write_common(args, &mut json)?,
    }
    json.mark('}');
    Some((name(args)?, json.done()))
}

fn name(args: &Args<'_>) -> Option<Str<'static>> {
    Some(Str::trusted(super::TOOLS.name(args.kind())?))
}

/// What a search may show.
const MODES: [&str; 3] = ["content", "files_with_matches", "count"];
/// The models that a subagent may be.
const MODELS: [&str; 4] = ["sonnet", "opus", "haiku", "fable"];

/// `activeForm` is the content when the source has none.
pub(super) fn write_todo(json: &mut Json<'_>, todo: &Todo<'_>) {
    json.mark('{').key("content").str(todo.content).key("status").plain(todo.status.word());
    json.key("activeForm").str(todo.active.unwrap_or(todo.content)).mark('}');
}
