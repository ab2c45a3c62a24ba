//! Results: a text that the model sees, and `metadata`.

use bumpalo::Bump;

use crate::event::{ResultStatus, ToolKind};
use crate::json::{Raw, Str};
use crate::tools::args::{Args, Todos};
use crate::tools::diff::DiffStyle;
use crate::tools::json::{escaped, members, optional, plain, whole};
use crate::tools::lines;
use crate::tools::output::{FileChange, FileRead, Hunks, ShellRun, SubagentRun, ToolOutput};
use crate::tools::table::Typed;
use crate::tools::texts::without_last_end;

pub(super) fn read<'a>(typed: &Typed<'_, 'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    match (typed.kind, typed.args) {
        (ToolKind::Read, args) => {
            let file = shown(typed.detail).or_else(|| file(typed.text, arena))?;
            let path = match args {
                Some(Args::Read(read)) => Some(read.path),
                _ => None,
            };
            Some(ToolOutput::Read(FileRead {
                path: path.or(file.path),
                ..file
            }))
        }
        (ToolKind::Shell, args) => shell(typed, args),
        (ToolKind::Write, Some(Args::Write { path, content })) if typed.status == ResultStatus::Success => {
            let [exists] = members(typed.detail, ["exists"])?;
            Some(ToolOutput::Wrote(FileChange {
                created: optional(exists, Raw::bool)?.map(|exists| !exists),
                after: Some(*content),
                ..FileChange::of(*path)
            }))
        }
        (ToolKind::Edit | ToolKind::MultiEdit, Some(args)) if typed.status == ResultStatus::Success => edit(typed.detail, args, arena),
        (ToolKind::Todo, _) => {
            let [todos] = members(typed.detail, ["todos"])?;
            Some(ToolOutput::Todos(Todos::read(todos?, arena)?))
        }
        (ToolKind::Subagent, _) => {
            let [id] = members(typed.detail, ["sessionId"])?;
            Some(ToolOutput::Subagent(SubagentRun {
                id: optional(id, Raw::string)?,
                name: None,
                prompt: None,
                text: answer(typed.text)?,
                milliseconds: None,
            }))
        }
        _ => None,
    }
}

/// What people are shown of a file is what the model is shown, without the numbers of its lines.
fn shown(metadata: Raw<'_>) -> Option<FileRead<'_>> {
    let [display] = members(metadata, ["display"])?;
    let [kind, text, start, total] = members(display?, ["type", "text", "lineStart", "totalLines"])?;
    kind?.string()?.is("file").then_some(())?;
    Some(FileRead {
        path: None,
        content: text?.string()?,
        start: optional(start, whole)?.unwrap_or(1),
        total: optional(total, whole)?,
    })
}

/// `<content>`, lines behind their numbers, an empty one, and what there is to say of the rest of the file.
pub(super) fn file<'a>(text: Str<'a>, arena: &'a Bump) -> Option<FileRead<'a>> {
    let (_, body) = text.as_escaped().split_once("<content>\\n")?;
    let end = body.rfind("\\n\\n(")?;
    let notice = body[end..].strip_suffix("\\n</content>")?;
    let numbered = lines::strip(Str::trusted(&body[..end + 2]), arena)?;
    let total = notice
        .strip_prefix("\\n\\n(End of file - total ")
        .and_then(|rest| rest.split(' ').next()?.parse().ok());
    Some(FileRead {
        path: None,
        content: without_last_end(numbered.content),
        start: numbered.start,
        total,
    })
}

fn shell<'a>(typed: &Typed<'_, 'a>, args: Option<&Args<'a>>) -> Option<ToolOutput<'a>> {
    let [exit] = members(typed.detail, ["exit"])?;
    let text = if typed.text.is(super::TOOLS.shell.silence) {
        Str::EMPTY
    } else {
        typed.text
    };
    Some(ToolOutput::Shell(ShellRun {
        command: match args {
            Some(Args::Shell(shell)) => Some(shell.command),
            _ => None,
        },
        stdout: text,
        stderr: Str::EMPTY,
        output: text,
        // Without one it was stopped.
        exit: Some(exit?.i64()?),
        interrupted: false,
    }))
}

/// The diff begins with `Index:` and a line of `=`.
fn edit<'a>(metadata: Raw<'a>, args: &Args<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [diff] = members(metadata, ["diff"])?;
    let (path, replaced) = match *args {
        Args::Edit { path, change } => (path, change.old.map(|old| (old, change.new))),
        Args::MultiEdit { path, .. } => (path, None),
        _ => return None,
    };
    let diff = plain(diff?.string()?)?;
    let hunks = diff
        .find("--- ")
        .map_or(Hunks::Unknown, |at| Hunks::Unified(escaped(&diff[at..], arena), DiffStyle::Git));
    Some(ToolOutput::Edited(FileChange {
        replaced,
        hunks,
        ..FileChange::of(path)
    }))
}

/// What a subagent said, out of the tags that stand around it.
pub(super) fn answer(text: Str<'_>) -> Option<Str<'_>> {
    let (_, rest) = text.as_escaped().split_once("<task_result>\\n")?;
    let (said, _) = rest.rsplit_once("\\n</task_result>")?;
    Some(Str::trusted(said))
}
