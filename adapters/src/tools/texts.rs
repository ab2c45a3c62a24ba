//! Results that are texts only.

use bumpalo::Bump;
use bumpalo::collections::String as BumpString;

use super::args::{Args, Read};
use super::lines::{self, Numbered};
use super::output::{FileChange, FileRead, ShellRun, ToolOutput};
use super::table::{Texts, Tools};
use crate::event::{Content, ToolKind};
use crate::json::Str;

/// The texts of a result one after the other.
pub(crate) fn joined<'a>(content: Content<'a>, arena: &'a Bump) -> Str<'a> {
    let mut texts = content.as_one();
    let Some(first) = texts.next() else { return Str::EMPTY };
    let Some(second) = texts.next() else { return first };
    let mut all = BumpString::from_str_in(first.as_escaped(), arena);
    for text in std::iter::once(second).chain(texts) {
        all.push_str(text.as_escaped());
    }
    Str::trusted(all.into_bump_str())
}

/// What a text shows that answers a call. `from` is whose it is, if that is known.
pub(super) fn read<'a>(
    kind: ToolKind,
    args: Option<&Args<'a>>,
    from: Option<&'static Tools>,
    text: Str<'a>,
    success: bool,
    arena: &'a Bump,
) -> Option<ToolOutput<'a>> {
    if kind == ToolKind::Todo
        && success
        && let Some(list) = Tools::all().find_map(|tools| (tools.texts.todos)(text, arena))
    {
        return Some(list);
    }
    let said = || Tools::all().find_map(|tools| (tools.texts.change)(text, arena));
    // An edit that has no name elsewhere shows its diff all the same.
    if args.is_none()
        && success
        && matches!(kind, ToolKind::Write | ToolKind::Edit)
        && let Some(change) = said()
    {
        return Some(ToolOutput::Edited(change));
    }
    Some(match args? {
        Args::Shell(shell) => return command(Some(shell.command), from, text, success, arena),
        _ if !success => return None,
        Args::Read(read) => {
            let texts = from.map_or(&Texts::PLAIN, |tools| &tools.texts);
            ToolOutput::Read((texts.file)(read, text, arena)?)
        }
        Args::Write { path, content } => {
            let mut change = said().unwrap_or(FileChange::of(*path));
            change.after = Some(*content);
            change.created = change
                .created
                .or_else(|| Tools::all().find_map(|tools| (tools.texts.created)(text.as_escaped())));
            ToolOutput::Wrote(change)
        }
        Args::Edit { path, change: asked } => {
            let mut change = said().unwrap_or(FileChange::of(*path));
            change.replaced = asked.old.map(|old| (old, asked.new));
            ToolOutput::Edited(change)
        }
        Args::MultiEdit { path, .. } => ToolOutput::Edited(said().unwrap_or(FileChange::of(*path))),
        Args::Todos { list, merge: false } => ToolOutput::Todos(*list),
        Args::Plan { plan } => ToolOutput::Plan { message: text, plan: *plan },
        _ => return None,
    })
}

/// A file whose lines were numbered.
pub(crate) fn numbered_file<'a>(read: &Read<'a>, numbered: Numbered<'a>) -> Option<FileRead<'a>> {
    Some(FileRead::of(read, numbered.content, numbered.start))
}

/// A text without the escapes that colour it; `None` if there are none.
pub(crate) fn uncoloured<'a>(text: Str<'a>, arena: &'a Bump) -> Option<Str<'a>> {
    const ESCAPE: &str = "\\u001b[";
    if !text.has_escapes() {
        return None;
    }
    let mut rest = text.as_escaped();
    let mut plain = BumpString::new_in(arena);
    while let Some(at) = rest.find(ESCAPE) {
        let code = &rest[at + ESCAPE.len()..];
        let end = code.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(code.len());
        let colours = code[end..].starts_with('m');
        let kept = if colours { at } else { at + ESCAPE.len() };
        plain.push_str(&rest[..kept]);
        rest = if colours { &code[end + 1..] } else { code };
    }
    if rest.len() == text.as_escaped().len() {
        return None;
    }
    plain.push_str(rest);
    Some(Str::trusted(plain.into_bump_str()))
}

pub(crate) fn without_last_end(text: Str<'_>) -> Str<'_> {
    let body = text.as_escaped();
    Str::trusted(&body[..body.len() - lines::last_end(text)])
}

/// Both streams of a command one after the other, each on lines of its own.
pub(crate) fn together<'a>(stdout: Str<'a>, stderr: Str<'a>, arena: &'a Bump) -> Str<'a> {
    match (stdout.is_empty(), stderr.is_empty()) {
        (_, true) => stdout,
        (true, _) => stderr,
        _ => {
            let end = if lines::ends_line(stdout) { "" } else { "\\n" };
            Str::trusted(bumpalo::format!(in arena, "{}{}{}", stdout.as_escaped(), end, stderr.as_escaped()).into_bump_str())
        }
    }
}

/// A command's output: some write a report of it, others put `Exit code N` before that of one that failed.
fn command<'a>(command: Option<Str<'a>>, from: Option<&'static Tools>, text: Str<'a>, success: bool, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let run = |stdout, stderr, output, exit| {
        Some(ToolOutput::Shell(ShellRun {
            command,
            stdout,
            stderr,
            output,
            exit,
            interrupted: false,
        }))
    };
    let report = match from {
        Some(tools) => (tools.texts.report)(text),
        None => Tools::all().find_map(|tools| (tools.texts.report)(text)),
    };
    if let Some((stdout, stderr, exit)) = report {
        return run(stdout, stderr, together(stdout, stderr, arena), exit);
    }
    let both = |text: Str<'a>, exit| {
        let silent = from.is_some_and(|tools| text.is(tools.shell.silence));
        let (stdout, stderr) = match from {
            _ if silent => (Str::EMPTY, Str::EMPTY),
            Some(tools) => (tools.texts.streams)(text),
            None => (text, Str::EMPTY),
        };
        run(stdout, stderr, together(stdout, stderr, arena), exit)
    };
    match lines::exit_code(text) {
        Some((code, rest)) if !success => both(rest, Some(code)),
        _ if success => both(text, Some(0)),
        // It did not run, or nobody says how it ended.
        _ => None,
    }
}
