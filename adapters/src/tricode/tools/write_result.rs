//! Results: texts only. Files have their lines numbered `N: `, edits answer with a JSON text.

use bumpalo::Bump;

use super::args::overwrite;
use crate::event::{ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::Str;
use crate::tools::args::Args;
use crate::tools::diff::DiffStyle;
use crate::tools::json::{Json, escaped};
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
        (ToolOutput::Shell(run), Args::Shell(_)) => Some(output(answer, &run)),
        _ => None,
    }
}

/// stdout, then stderr behind a line that says so, where the source keeps them apart.
fn output<'a>(answer: &Answer<'_, 'a>, run: &ShellRun<'a>) -> Str<'a> {
    let [stdout, stderr] = [run.stdout, run.stderr].map(|text| answer.printed(text));
    if stderr.is_empty() {
        return answer.report(run, answer.printed(run.output));
    }
    let mut text = bumpalo::collections::String::new_in(answer.arena);
    if !stdout.is_empty() {
        text.push_str(stdout.as_escaped());
        text.push_str("\\n");
    }
    text.push_str("[stderr]\\n");
    text.push_str(stderr.as_escaped());
    answer.report(run, Str::trusted(text.into_bump_str()))
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
    let overwritten = match *args {
        Args::Write { content, .. } if change.created == Some(false) => Some(content),
        Args::Write { .. } => return None,
        _ => None,
    };
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
    match (overwritten, args) {
        (Some(content), _) => json.lit("\"overwrite\"").key("bytes_written").number(content.utf8_len()? as u64),
        (_, Args::MultiEdit { changes, .. }) => json.lit("\"patch\"").key("hunks_applied").number(changes.len() as u64),
        _ => json.lit("\"patch\"").key("hunks_applied").lit("1"),
    };
    let name = change.path.unescape();
    let name = name.rsplit('/').next().unwrap_or(&name);
    json.key("diff")
        .plain(&patch.unified(&format!("a/{name}"), &format!("b/{name}"), DiffStyle::Difflib));
    if overwritten.is_some() {
        json.key("created").lit("false");
    }
    json.mark('}');
    Some(escaped(json.done().as_str(), answer.arena))
}

/// The call in Tricode's words, with what its result tells about it: there is another way to write a file that is there.
pub(super) fn answered<'a>(call: &ToolCall<'a>, args: &Args<'a>, output: ToolOutput<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
    match (output, *args) {
        (ToolOutput::Wrote(change) | ToolOutput::Edited(change), Args::Write { path, content }) if change.created == Some(false) => {
            let (name, input) = overwrite(path, content, arena);
            let kind = ToolKind::Write;
            Some(ToolCall { name, input, kind, ..*call })
        }
        _ => None,
    }
}
