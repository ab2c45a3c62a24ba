//! `result`, read: `{"success":{…typed…}}`, `{"failure":{…}}`, `{"rejected":{…}}` … (docs/cursor.md, "Tool kinds").

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::event::ToolKind;
use crate::json::{Raw, Shape, Str};
use crate::tools::args::{Args, Todos};
use crate::tools::diff::DiffStyle;
use crate::tools::json::{array, escaped, members, optional, plain, whole};
use crate::tools::lines;
use crate::tools::output::{FileChange, FileRead, Hunks, ShellRun, SubagentRun, ToolOutput};
use crate::tools::table::Typed;
use crate::tools::texts::without_last_end;

/// The variant of a result and what it holds. Siblings (`isBackground`) may stand beside it.
fn outcome(result: Raw<'_>) -> Option<(Str<'_>, Raw<'_>)> {
    let objects = || result.members().filter(|(_, value)| value.shape() == Some(Shape::Object));
    objects().find(|(key, _)| key.is("success")).or_else(|| objects().next())
}

pub(super) fn read<'a>(typed: &Typed<'_, 'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let &Typed { kind, args, text, .. } = typed;
    let (key, inner) = outcome(typed.detail)?;
    let command = match args {
        Some(Args::Shell(shell)) => Some(shell.command),
        _ => None,
    };
    if kind == ToolKind::Shell && (key.is("success") || key.is("failure")) {
        return shell(command, inner, text);
    }
    if !key.is("success") {
        return None;
    }
    match kind {
        ToolKind::Read => file(args, inner),
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit => change(args, inner, arena),
        ToolKind::Todo => todos(inner, arena),
        ToolKind::Subagent => task(args, inner, text),
        ToolKind::Glob => files(inner, arena),
        ToolKind::ExitPlan => match args {
            Some(Args::Plan { plan }) => Some(ToolOutput::Plan { message: text, plan: *plan }),
            _ => None,
        },
        _ => None,
    }
}

fn shell<'a>(command: Option<Str<'a>>, inner: Raw<'a>, text: Str<'a>) -> Option<ToolOutput<'a>> {
    let [ran, code, stdout, stderr, both, aborted] = members(inner, ["command", "exitCode", "stdout", "stderr", "interleavedOutput", "aborted"])?;
    Some(ToolOutput::Shell(ShellRun {
        command: command.or(optional(ran, Raw::string)?),
        stdout: optional(stdout, Raw::string)?.unwrap_or_default(),
        stderr: optional(stderr, Raw::string)?.unwrap_or_default(),
        output: optional(both, Raw::string)?
            .filter(|both| !both.is_empty())
            .unwrap_or_else(|| lines::exit_code(text).map_or(text, |(_, output)| output)),
        exit: optional(code, Raw::i64)?,
        interrupted: aborted.and_then(Raw::bool) == Some(true),
    }))
}

fn file<'a>(args: Option<&Args<'a>>, inner: Raw<'a>) -> Option<ToolOutput<'a>> {
    let [content, path, range, total] = members(inner, ["content", "path", "readRange", "totalLines"])?;
    let asked = match args {
        Some(Args::Read(read)) => Some(read),
        _ => None,
    };
    let of_range = |name| range.and_then(|range| range.get(name)).and_then(whole);
    let (start, end) = (of_range("startLine"), of_range("endLine"));
    let content = content?.string()?;
    // Of a part that ends before the file does, the last line end belongs to what follows.
    let shown = start.zip(end).map(|(start, end)| end.saturating_add(1).saturating_sub(start));
    let content = match shown {
        Some(shown) if shown < lines::count(content) => without_last_end(content),
        _ => content,
    };
    Some(ToolOutput::Read(FileRead {
        path: optional(path, Raw::string)?.or(asked.map(|read| read.path)),
        content,
        start: start.or(asked.and_then(|read| read.start)).unwrap_or(1).max(1),
        total: optional(total, whole)?,
    }))
}

/// A file that is new has no `beforeFullFileContent`; that of an older version has `linesCreated`.
fn change<'a>(args: Option<&Args<'a>>, inner: Raw<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [path, before, after, diff, made] = members(
        inner,
        ["path", "beforeFullFileContent", "afterFullFileContent", "diffString", "linesCreated"],
    )?;
    let mut change = FileChange::of(path?.string()?);
    change.before = optional(before, Raw::string)?;
    change.after = optional(after, Raw::string)?;
    if let Some(diff) = optional(diff, Raw::string)? {
        change.hunks = Hunks::Unified(diff, DiffStyle::Bare);
        change.created = if change.before.is_some() {
            Some(false)
        } else {
            diff.as_escaped().starts_with("--- /dev/null").then_some(true)
        };
    }
    match args {
        Some(Args::Write { content, .. }) => change.after = change.after.or(Some(*content)),
        Some(Args::Edit { change: asked, .. }) => {
            let old = asked.old.or_else(|| gone(change.before?, change.after?, asked.new, arena));
            change.replaced = old.map(|old| (old, asked.new));
        }
        _ => {}
    }
    Some(if made.is_some() || change.created == Some(true) {
        ToolOutput::Wrote(change)
    } else {
        ToolOutput::Edited(change)
    })
}

/// What stood where the new text stands now: what is left of the text before when all around the new text is taken away.
fn gone<'a>(before: Str<'a>, after: Str<'a>, new: Str<'a>, arena: &'a Bump) -> Option<Str<'a>> {
    let (before, after, new) = (plain(before)?, plain(after)?, plain(new)?);
    let at = after.match_indices(&*new).map(|(at, _)| at).find(|at| {
        let rest = after.len() - at - new.len();
        at + rest <= before.len() && before.starts_with(&after[..*at]) && before.ends_with(&after[at + new.len()..])
    })?;
    let end = before.len() - (after.len() - at - new.len());
    Some(escaped(&before[at..end], arena))
}

fn todos<'a>(inner: Raw<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [todos] = members(inner, ["todos"])?;
    Some(ToolOutput::Todos(Todos::read(todos?, arena)?))
}

fn task<'a>(args: Option<&Args<'a>>, inner: Raw<'a>, text: Str<'a>) -> Option<ToolOutput<'a>> {
    let [id, duration] = members(inner, ["agentId", "durationMs"])?;
    let asked = match args {
        Some(Args::Subagent(asked)) => Some(asked),
        _ => None,
    };
    Some(ToolOutput::Subagent(SubagentRun {
        id: optional(id, Raw::string)?,
        name: asked.and_then(|asked| asked.agent),
        prompt: asked.map(|asked| asked.prompt),
        text,
        // Written as a string.
        milliseconds: optional(duration, Raw::u64)?,
    }))
}

fn files<'a>(inner: Raw<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let [names] = members(inner, ["files"])?;
    let mut files = BumpVec::new_in(arena);
    for name in array(names?)?.elements() {
        files.push(name.string()?);
    }
    Some(ToolOutput::Files(files.into_bump_slice()))
}
