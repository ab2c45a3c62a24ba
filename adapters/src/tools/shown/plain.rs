//! Results that are texts only: Tricode's, Qwen's, and Claude's where no structured form stands beside them.

use bumpalo::Bump;
use bumpalo::collections::{String as BumpString, Vec as BumpVec};

use super::{FileChange, FileRead, Hunks, ShellRun, Shown};
use crate::event::{Content, ToolKind};
use crate::json::{Raw, Str};
use crate::tools::args::{Args, Read};
use crate::tools::diff::Reader;
use crate::tools::json::{members, optional};
use crate::tools::lines::{self, Piece};
use crate::tools::{Family, Todo, TodoStatus};

/// How many lines Claude reads of a file when nobody says how many: of a file with more, the rest is missing.
const CLAUDE_LINES: u64 = 2000;

/// The texts of a result one after the other.
pub(in crate::tools) fn joined<'a>(content: Content<'a>, arena: &'a Bump) -> Str<'a> {
    let mut texts = content.texts();
    let Some(first) = texts.next() else { return Str::EMPTY };
    let Some(second) = texts.next() else { return first };
    let mut all = BumpString::from_str_in(first.as_escaped(), arena);
    for text in std::iter::once(second).chain(texts) {
        all.push_str(text.as_escaped());
    }
    Str::trusted(all.into_bump_str())
}

pub(super) fn read<'a>(
    kind: ToolKind,
    args: Option<&Args<'a>>,
    from: Option<Family>,
    text: Str<'a>,
    success: bool,
    arena: &'a Bump,
) -> Option<Shown<'a>> {
    if kind == ToolKind::Todo
        && success
        && let Some(list) = plan(text, arena)
    {
        return Some(list);
    }
    // An edit that has no name elsewhere shows its diff all the same.
    if args.is_none()
        && success
        && matches!(kind, ToolKind::Write | ToolKind::Edit)
        && let Some(change) = inner(text, arena).and_then(tricode_change)
    {
        return Some(Shown::Edited(change));
    }
    Some(match args? {
        Args::Shell(shell) => return command(Some(shell.command), from, text, success, arena),
        _ if !success => return None,
        Args::Read(read) => Shown::Read(file(read, from, text, arena)?),
        Args::Write { path, content } => {
            let mut change = inner(text, arena).and_then(tricode_change).unwrap_or(FileChange::of(*path));
            change.after = Some(*content);
            change.created = change.created.or_else(|| created(text));
            Shown::Wrote(change)
        }
        Args::Edit { path, change: asked } => {
            let mut change = inner(text, arena).and_then(tricode_change).unwrap_or(FileChange::of(*path));
            change.replaced = asked.old.map(|old| (old, asked.new));
            Shown::Edited(change)
        }
        Args::MultiEdit { path, .. } => Shown::Edited(inner(text, arena).and_then(tricode_change).unwrap_or(FileChange::of(*path))),
        Args::Todos { list, merge: false } => Shown::Todos(list),
        Args::Plan { plan } => Shown::Plan { message: text, plan: *plan },
        _ => return None,
    })
}

fn file<'a>(read: &Read<'a>, from: Option<Family>, text: Str<'a>, arena: &'a Bump) -> Option<FileRead<'a>> {
    let tricode = from == Some(Family::Tricode);
    if tricode && let Some(file) = inner(text, arena).and_then(|json| with_metadata(json, read.count.is_some(), arena)) {
        return Some(file);
    }
    let (content, start, to_end) = match lines::strip(text, arena) {
        Some(numbered) => (numbered.content, numbered.start, numbered.note),
        // Qwen, and Tricode before it numbered lines: the text is the content, unless it speaks about it.
        None if tricode || from == Some(Family::Qwen) && !is_notice(text) => (text, read.start.unwrap_or(1), false),
        None => return None,
    };
    // Of a part that ends before the file does, the last line end belongs to what follows.
    let part = tricode && read.count.is_some() && !to_end;
    let content = if part { without_last_end(content) } else { content };
    let whole = read.start.is_none() && read.count.is_none() && !read.capped;
    Some(FileRead {
        path: Some(read.path),
        content,
        start,
        total: whole
            .then(|| lines::count(content))
            .filter(|lines| from != Some(Family::Claude) || *lines < CLAUDE_LINES),
    })
}

/// A JSON object that a result holds as its text.
fn inner<'a>(text: Str<'a>, arena: &'a Bump) -> Option<Raw<'a>> {
    if !text.as_escaped().starts_with('{') {
        return None;
    }
    let plain = crate::tools::json::plain(text)?;
    let raw = Raw::trusted(arena.alloc_str(plain.trim_end()));
    let mut at = crate::json::Cursor::new(raw.as_str());
    (at.raw().is_ok() && at.at_end()).then_some(raw)
}

/// Tricode's `with_metadata`: `{path, total_lines, mtime, sha256, content}`. `total_lines` is that of the part.
fn with_metadata<'a>(json: Raw<'a>, part: bool, arena: &'a Bump) -> Option<FileRead<'a>> {
    let [path, content, hash] = members(json, ["path", "content", "sha256"])?;
    hash?;
    let content = content?.string()?;
    let (content, start, to_end) =
        lines::strip(content, arena).map_or((content, 1, false), |numbered| (numbered.content, numbered.start, numbered.note));
    let content = if part && !to_end { without_last_end(content) } else { content };
    Some(FileRead {
        path: optional(path, Raw::string)?,
        content,
        start,
        total: None,
    })
}

/// Tricode's `edit_file`: `{success, path, applied, mode, …, diff, created?}`. A dry run changes nothing.
fn tricode_change(json: Raw<'_>) -> Option<FileChange<'_>> {
    let [path, applied, diff, created] = members(json, ["path", "applied", "diff", "created"])?;
    if applied.and_then(Raw::bool) != Some(true) {
        return None;
    }
    let mut change = FileChange::of(path?.string()?);
    change.created = created.and_then(Raw::bool);
    change.hunks = optional(diff, Raw::string)?.map_or(Hunks::Unknown, |diff| Hunks::Unified(diff, Reader::Tricode));
    Some(change)
}

/// What the programs say when they wrote a file that was not there, or one that was (as recorded).
fn created(text: Str<'_>) -> Option<bool> {
    let text = text.as_escaped();
    if ["File created successfully", "Successfully created ", "Wrote contents to "]
        .iter()
        .any(|new| text.starts_with(new))
    {
        return Some(true);
    }
    (text.starts_with("Successfully overwrote file") || text.starts_with("The file ") && text.contains(" has been updated")).then_some(false)
}

/// Whether Qwen speaks about the file instead of showing it.
fn is_notice(text: Str<'_>) -> bool {
    ["Showing lines ", "[File ", "Read image file", "Cannot display content"]
        .iter()
        .any(|head| text.as_escaped().starts_with(head))
}

pub(super) fn without_last_end(text: Str<'_>) -> Str<'_> {
    let body = text.as_escaped();
    Str::trusted(&body[..body.len() - lines::last_end(text)])
}

/// A command's output. Tricode and Claude put `Exit code N` before that of one that failed; Qwen writes a report of it.
fn command<'a>(command: Option<Str<'a>>, from: Option<Family>, text: Str<'a>, success: bool, arena: &'a Bump) -> Option<Shown<'a>> {
    let run = |stdout, stderr, output, exit| {
        Some(Shown::Shell(ShellRun {
            command,
            stdout,
            stderr,
            output,
            exit,
            interrupted: false,
        }))
    };
    if from.is_none_or(|from| from == Family::Qwen)
        && let Some((stdout, stderr, exit)) = report(text)
    {
        return run(stdout, stderr, text, exit);
    }
    let both = |text: Str<'a>, exit| {
        if from != Some(Family::Tricode) {
            return run(text, Str::EMPTY, text, exit);
        }
        let (stdout, stderr) = streams(text);
        let output = match (stdout.is_empty(), stderr.is_empty()) {
            (_, true) => stdout,
            (true, _) => stderr,
            _ => Str::trusted(bumpalo::format!(in arena, "{}{}", stdout.as_escaped(), stderr.as_escaped()).into_bump_str()),
        };
        run(stdout, stderr, output, exit)
    };
    match lines::exit_code(text) {
        Some((code, rest)) if !success => both(rest, Some(code)),
        _ if success => both(text, Some(0)),
        // It did not run, or nobody says how it ended.
        _ => None,
    }
}

/// Tricode's output: stdout, then `[stderr]` on a line of its own and stderr; `[no output]` when there is none.
fn streams(text: Str<'_>) -> (Str<'_>, Str<'_>) {
    const HEAD: &str = "[stderr]\\n";
    let body = text.as_escaped();
    if body == "[no output]" {
        return (Str::EMPTY, Str::EMPTY);
    }
    if let Some(stderr) = body.strip_prefix(HEAD) {
        return (Str::EMPTY, Str::trusted(stderr));
    }
    match body.split_once("\\n[stderr]\\n") {
        Some((stdout, stderr)) => (Str::trusted(stdout), Str::trusted(stderr)),
        None => (text, Str::EMPTY),
    }
}

/// Qwen's report: `Command: …`, `Directory: …`, `Output: …`, `Error: …`, `Exit Code: …`, `Signal: …`, `Process Group PGID: …`.
fn report(text: Str<'_>) -> Option<(Str<'_>, Str<'_>, Option<i64>)> {
    let body = text.as_escaped();
    if !body.starts_with("Command: ") {
        return None;
    }
    let (mut directory, mut output, mut error, mut code) = (None, None, None, None);
    for piece in lines::pieces(text) {
        // Output may hold anything: the first `Output:` behind the directory begins it, the last lines of a kind end it.
        if directory.is_none() && piece.text.starts_with("Directory: ") {
            directory = Some(piece);
        } else if directory.is_some() && output.is_none() && piece.text.starts_with("Output: ") {
            output = Some(piece);
        } else if output.is_some() && piece.text.starts_with("Error: ") {
            error = Some(piece);
        } else if output.is_some() && piece.text.starts_with("Exit Code: ") {
            code = Some(piece);
        }
    }
    let (output, error, code) = (output?, error?, code?);
    if error.at > code.at {
        return None;
    }
    // From behind the label to before the line end of the piece before.
    let part = |from: Piece<'_>, label: &str, to: Piece<'_>, none: &str| {
        let upto = lines::pieces(text).take_while(|piece| piece.at < to.at).last()?;
        let part = &body[from.at + label.len()..upto.at + upto.text.len()];
        Some(Str::trusted(if part == none { "" } else { part }))
    };
    let stdout = part(output, "Output: ", error, "(empty)")?;
    let stderr = part(error, "Error: ", code, "(none)")?;
    Some((stdout, stderr, code.text["Exit Code: ".len()..].parse().ok()))
}

/// Tricode's plan as it prints it: a line for each task, coloured by its status (31 pending, 33 in progress, 32 completed).
fn plan<'a>(text: Str<'a>, arena: &'a Bump) -> Option<Shown<'a>> {
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
    Some(Shown::Todos(list.into_bump_slice()))
}
