//! Results: texts only. Files have their lines numbered `N: `, edits answer with a JSON text.

use bumpalo::Bump;

use super::args::{overwrite, write};
use crate::event::{ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::Str;
use crate::tools::args::{Args, Change};
use crate::tools::diff::DiffStyle;
use crate::tools::json::{Json, escaped, plain};
use crate::tools::lines::{Numbering, ends_line, number};
use crate::tools::output::{FileChange, FileRead, ShellRun, ToolOutput};
use crate::tools::result::Answer;

pub(super) fn result<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    answer.with_text(text(answer))
}

fn text<'a>(answer: &Answer<'_, 'a>) -> Option<Str<'a>> {
    match (answer.output, answer.args?) {
        (ToolOutput::Read(file), Args::Read(read)) => Some(numbered(answer, &file, read.count)),
        (ToolOutput::Wrote(change) | ToolOutput::Edited(change), args) if answer.result.status == ResultStatus::Success => {
            edited(answer, &change, args)
        }
        (ToolOutput::Shell(run), Args::Shell(_)) => output(answer, &run),
        _ => answer.with_exit_code(),
    }
}

/// stdout, then stderr behind a line that says so, where the source keeps them apart; `[no output]` for neither.
fn output<'a>(answer: &Answer<'_, 'a>, run: &ShellRun<'a>) -> Option<Str<'a>> {
    let success = answer.result.status == ResultStatus::Success;
    if answer.text.is_empty() && success {
        return Some(Str::trusted("[no output]"));
    }
    if run.stderr.is_empty() || run.output.as_escaped().starts_with("Command: ") {
        return answer.with_exit_code();
    }
    let mut text = bumpalo::collections::String::new_in(answer.arena);
    if let (false, Some(code)) = (success, run.exit) {
        text.push_str(bumpalo::format!(in answer.arena, "Exit code {}\\n", code).as_str());
    }
    if !run.stdout.is_empty() {
        text.push_str(run.stdout.as_escaped());
        text.push_str("\\n");
    }
    text.push_str("[stderr]\\n");
    text.push_str(run.stderr.as_escaped());
    Some(Str::trusted(text.into_bump_str()))
}

/// A part that ends before the file does ends with a line end here.
fn numbered<'a>(answer: &Answer<'_, 'a>, file: &FileRead<'a>, count: Option<u64>) -> Str<'a> {
    let shown = file.lines();
    let more = match file.total {
        Some(total) => file.start.saturating_add(shown) <= total,
        None => count == Some(shown),
    };
    let text = number(file.content, file.start, Numbering::Colon, answer.arena);
    if !more || ends_line(file.content) || file.content.is_empty() {
        return text;
    }
    Str::trusted(bumpalo::format!(in answer.arena, "{}\\n", text.as_escaped()).into_bump_str())
}

/// `{success, path, applied, mode, …, diff, created?}`, as far as it is known: the hashes are left out. `create_file` keeps its
/// text, and so does an edit of which nobody says where it was.
fn edited<'a>(answer: &Answer<'_, 'a>, change: &FileChange<'a>, args: &Args<'a>) -> Option<Str<'a>> {
    let deed = deed(args, change);
    if matches!(deed, Some(Deed::Create(_))) || deed.is_none() && matches!(args, Args::Write { .. }) {
        return None;
    }
    let patch = change.patch()?;
    let mut json = Json::python(answer.arena);
    json.mark('{')
        .key("success")
        .lit("true")
        .key("path")
        .str(change.path)
        .key("applied")
        .lit("true")
        .key("mode");
    match (&deed, args) {
        (Some(Deed::Overwrite(content)), _) => json.lit("\"overwrite\"").key("bytes_written").number(content.utf8_len()? as u64),
        (_, Args::MultiEdit { changes, .. }) => json.lit("\"patch\"").key("hunks_applied").number(changes.len() as u64),
        _ => json.lit("\"patch\"").key("hunks_applied").lit("1"),
    };
    let name = change.path.unescape();
    let name = name.rsplit('/').next().unwrap_or(&name);
    json.key("diff")
        .plain(&patch.unified(&format!("a/{name}"), &format!("b/{name}"), DiffStyle::Difflib));
    if matches!(deed, Some(Deed::Overwrite(_))) {
        json.key("created").lit("false");
    }
    json.mark('}');
    Some(escaped(json.done().as_str(), answer.arena))
}

/// What the result says that a call did.
enum Deed<'a> {
    /// It made a file.
    Create(Str<'a>),
    /// It wrote over one.
    Overwrite(Str<'a>),
    /// It replaced a text.
    Replace(Change<'a>),
}

/// Of a write, the result tells whether the file is new; of an edit by Cursor, what was there before.
fn deed<'a>(args: &Args<'a>, change: &FileChange<'a>) -> Option<Deed<'a>> {
    match *args {
        Args::Write { content, .. } => change
            .created
            .map(|new| if new { Deed::Create(content) } else { Deed::Overwrite(content) }),
        Args::Edit { change: asked, .. } if asked.old.is_none() => {
            if change.created == Some(true) {
                return change.after.map(Deed::Create);
            }
            let unique = |old: Str<'_>| Some(plain(change.before?)?.matches(&*plain(old)?).nth(1).is_none());
            match change.replaced.filter(|(old, _)| !old.is_empty() && unique(*old) == Some(true)) {
                Some((old, new)) => Some(Deed::Replace(Change {
                    old: Some(old),
                    new,
                    all: None,
                })),
                None => change.after.map(Deed::Overwrite),
            }
        }
        _ => None,
    }
}

/// The call in Tricode's words, with what its result tells about it.
pub(super) fn answered<'a>(call: &ToolCall<'a>, args: &Args<'a>, output: ToolOutput<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
    let (ToolOutput::Wrote(change) | ToolOutput::Edited(change)) = output else {
        return None;
    };
    let (Args::Write { path, .. } | Args::Edit { path, .. }) = *args else {
        return None;
    };
    let (kind, (name, input)) = match deed(args, &change)? {
        Deed::Create(content) => (ToolKind::Write, write(&Args::Write { path, content }, call.id, arena)?),
        Deed::Overwrite(content) => (ToolKind::Write, overwrite(path, content, arena)),
        Deed::Replace(change) => (ToolKind::Edit, write(&Args::Edit { path, change }, call.id, arena)?),
    };
    Some(ToolCall { name, input, kind, ..*call })
}
