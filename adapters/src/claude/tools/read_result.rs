//! `tool_use_result`, read: an object by tool (docs/claude.md, "tool_use_result shapes recorded").

use bumpalo::Bump;
use bumpalo::collections::{String as BumpString, Vec as BumpVec};

use super::SILENCE;
use crate::event::{ResultStatus, ToolKind};
use crate::json::{Raw, Str};
use crate::tools::args::{Args, Todos};
use crate::tools::json::{array, escaped, members, optional, plain, whole};
use crate::tools::lines;
use crate::tools::output::{FileChange, FileRead, Hunks, ShellRun, SubagentRun, ToolOutput};
use crate::tools::table::Typed;
use crate::tools::texts::together;

pub(super) fn read<'a>(typed: &Typed<'_, 'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let &Typed {
        kind,
        args,
        detail,
        text,
        status,
    } = typed;
    match kind {
        ToolKind::Read => file(detail),
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit => change(detail, arena),
        ToolKind::Shell => shell(args, detail, text, status, arena),
        ToolKind::Todo => todos(detail, arena),
        ToolKind::Subagent => task(detail, text),
        ToolKind::Glob => files(detail, arena),
        ToolKind::ExitPlan => plan(args, detail, text),
        _ => None,
    }
}

fn file(detail: Raw<'_>) -> Option<ToolOutput<'_>> {
    let [kind, file] = members(detail, ["type", "file"])?;
    // Images, notebooks and documents have other types.
    if !kind?.string()?.is("text") {
        return None;
    }
    let [path, content, start, total] = members(file?, ["filePath", "content", "startLine", "totalLines"])?;
    Some(ToolOutput::Read(FileRead {
        path: optional(path, Raw::string)?,
        content: content?.string()?,
        start: optional(start, whole)?.unwrap_or(1),
        total: optional(total, whole)?,
    }))
}

fn change<'a>(detail: Raw<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [path, kind, content, old, new, patch, original, all, modified] = members(
        detail,
        [
            "filePath",
            "type",
            "content",
            "oldString",
            "newString",
            "structuredPatch",
            "originalFile",
            "replaceAll",
            "userModified",
        ],
    )?;
    let mut change = FileChange::of(path?.string()?);
    change.before = optional(original, Raw::string)?;
    change.hunks = patch.and_then(array).map_or(Hunks::Unknown, Hunks::Structured);
    if let (Some(old), Some(new)) = (optional(old, Raw::string)?, optional(new, Raw::string)?) {
        change.replaced = Some((old, new));
        // What the user made of it is in the patch only.
        if modified.and_then(Raw::bool) != Some(true) {
            change.after = change
                .before
                .and_then(|before| replaced(before, old, new, all.and_then(Raw::bool) == Some(true), arena));
        }
        if old.is_empty() && change.before.is_none() {
            (change.created, change.after) = (Some(true), Some(new));
        } else {
            change.created = change.before.map(|_| false);
        }
        return Some(ToolOutput::Edited(change));
    }
    change.after = Some(content?.string()?);
    change.created = optional(kind, Raw::string)?.map(|kind| kind.is("create"));
    Some(ToolOutput::Wrote(change))
}

/// A text with a part of it replaced; `None` when the part is not in it.
fn replaced<'a>(before: Str<'a>, old: Str<'a>, new: Str<'a>, all: bool, arena: &'a Bump) -> Option<Str<'a>> {
    if let Some(after) = replaced_as_spelled(before, old, new, all, arena) {
        return Some(after);
    }
    let (before, old, new) = (plain(before)?, plain(old)?, plain(new)?);
    let at = memchr::memmem::find(before.as_bytes(), old.as_bytes())?;
    let after = if all {
        before.replace(&*old, &new)
    } else {
        [&before[..at], &new, &before[at + old.len()..]].concat()
    };
    Some(escaped(&after, arena))
}

/// The same without a look at the texts, where each of them has one spelling; `None` where that is not sure, or nothing is found.
fn replaced_as_spelled<'a>(before: Str<'a>, old: Str<'a>, new: Str<'a>, all: bool, arena: &'a Bump) -> Option<Str<'a>> {
    if all || old.is_empty() || ![before, old, new].iter().all(|text| text.is_plainly_escaped()) {
        return None;
    }
    let (before, old, new) = (before.as_escaped(), old.as_escaped(), new.as_escaped());
    let at = before.find(old)?;
    // In the middle of an escape nothing begins.
    let backslashes = before[..at].bytes().rev().take_while(|&byte| byte == b'\\').count();
    if backslashes % 2 == 1 {
        return None;
    }
    let mut after = BumpString::with_capacity_in(before.len() - old.len() + new.len(), arena);
    [&before[..at], new, &before[at + old.len()..]]
        .iter()
        .for_each(|part| after.push_str(part));
    Some(Str::trusted(after.into_bump_str()))
}

/// The object has no exit code: it is 0 unless the result is an error, whose text then begins with it.
fn shell<'a>(args: Option<&Args<'a>>, detail: Raw<'a>, text: Str<'a>, status: ResultStatus, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [stdout, stderr, interrupted, background] = members(detail, ["stdout", "stderr", "interrupted", "backgroundTaskId"])?;
    let command = match args {
        Some(Args::Shell(shell)) => Some(shell.command),
        _ => None,
    };
    let interrupted = interrupted.and_then(Raw::bool) == Some(true);
    let (stdout, stderr) = (stdout?.string()?, optional(stderr, Raw::string)?.unwrap_or_default());
    // Of an output that is too long the model sees its beginning, in a wrapper.
    let text = if text.begins("<persisted-output>") || text.is(SILENCE) {
        together(stdout, stderr, arena)
    } else {
        text
    };
    let (exit, output) = match lines::exit_code(text) {
        Some((code, rest)) if status != ResultStatus::Success => (Some(code), rest),
        _ => (
            (status == ResultStatus::Success && !interrupted && background.is_none()).then_some(0),
            text,
        ),
    };
    Some(ToolOutput::Shell(ShellRun {
        command,
        stdout,
        stderr,
        output,
        exit,
        interrupted,
    }))
}

fn todos<'a>(detail: Raw<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [todos] = members(detail, ["newTodos"])?;
    Some(ToolOutput::Todos(Todos::read(todos?, arena)?))
}

fn task<'a>(detail: Raw<'a>, text: Str<'a>) -> Option<ToolOutput<'a>> {
    let [id, name, prompt, duration, content] = members(detail, ["agentId", "agentType", "prompt", "totalDurationMs", "content"])?;
    // The last block is what the agent said; those before it name the tools that it used.
    let said = content.and_then(|content| content.elements().last()?.get("text")?.string());
    Some(ToolOutput::Subagent(SubagentRun {
        id: optional(id, Raw::string)?,
        name: optional(name, Raw::string)?,
        prompt: optional(prompt, Raw::string)?,
        text: said.unwrap_or(text),
        milliseconds: optional(duration, whole)?,
    }))
}

fn files<'a>(detail: Raw<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [names] = members(detail, ["filenames"])?;
    let mut files = BumpVec::new_in(arena);
    for name in array(names?)?.elements() {
        files.push(name.string()?);
    }
    Some(ToolOutput::Files(files.into_bump_slice()))
}

fn plan<'a>(args: Option<&Args<'a>>, detail: Raw<'a>, text: Str<'a>) -> Option<ToolOutput<'a>> {
    let [plan] = members(detail, ["plan"])?;
    let asked = match args {
        Some(Args::Plan { plan }) => *plan,
        _ => None,
    };
    Some(ToolOutput::Plan {
        message: text,
        plan: optional(plan, Raw::string)?.or(asked),
    })
}
