//! What is shown of a tool's result: the RFC's `result_display`, in the richest kind that the source has something for.

use std::borrow::Cow;

use similar::{ChangeTag, TextDiff};

use super::tasks::{Task, TaskCall};
use crate::chat::is_json;
use crate::event::{Detail, DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Out, Raw, Shape, Str};

/// Writes `result_display`. Every kind has the text that the model saw. `native`: tools carry the RFC's own shapes, so a text that
/// holds a change as JSON (Tricode's) is told as the change; else it stays the text it is.
pub(super) fn write(result: &ToolResult<'_>, task: Option<&Task>, native: bool, out: &mut Out) {
    if let Some(Detail {
        shape: DetailShape::Qwen,
        raw,
    }) = result.detail
    {
        return out.unchecked(raw);
    }
    let succeeded = result.status == ResultStatus::Success;
    let call = result.of;
    let kind = call.map_or(ToolKind::Other, |call| call.kind);
    if let Some(diff) = file_diff(result, native).filter(|_| succeeded) {
        write_diff(&diff, out);
    } else if let Some(todos) = call.filter(|_| succeeded && kind == ToolKind::Todo).and_then(|call| todos(&call)) {
        write_todos(todos, out);
    } else if let Some(plan) = plan(result).filter(|_| kind == ToolKind::ExitPlan) {
        out.lit("{\"kind\":\"plan_summary\",\"message\":");
        write_text(result, out);
        out.lit(",\"plan_markdown\":");
        out.str(plan);
    } else if kind == ToolKind::Subagent || task.is_some_and(|task| !task.calls.is_empty()) {
        write_task(result, call, task, out);
    } else {
        out.lit("{\"kind\":\"string\"");
    }
    out.lit(",\"text\":");
    write_text(result, out);
    out.lit("}");
}

/// What the model saw: the texts of the result, one after the other.
fn write_text(result: &ToolResult<'_>, out: &mut Out) {
    out.lit("\"");
    for text in result.content.texts() {
        out.body(text);
    }
    out.lit("\"");
}

/// A change of a file.
struct FileDiff<'a> {
    /// The file's name, as a string's body.
    name: Str<'a>,
    diff: Cow<'a, str>,
    original: Option<Cow<'a, str>>,
    modified: Option<Cow<'a, str>>,
}

/// The change that a result tells, if its source has one.
fn file_diff<'a>(result: &ToolResult<'a>, native: bool) -> Option<FileDiff<'a>> {
    match result.detail {
        Some(Detail {
            shape: DetailShape::Claude,
            raw,
        }) => claude_diff(raw),
        Some(Detail {
            shape: DetailShape::Cursor,
            raw,
        }) => cursor_diff(raw.get("success")?),
        Some(Detail {
            shape: DetailShape::Qwen, ..
        }) => None,
        None if native => tricode_diff(result),
        None => None,
    }
}

/// Claude's `{filePath,structuredPatch,originalFile,oldString,newString,replaceAll}` and `{type,filePath,content,…}`.
fn claude_diff(raw: Raw<'_>) -> Option<FileDiff<'_>> {
    let patch = raw.get("structuredPatch").filter(|p| p.shape() == Some(Shape::Array))?;
    let name = raw.get("filePath")?.string()?;
    let original = plain(raw.get("originalFile"));
    let content = plain(raw.get("content"));
    let (old, new) = (plain(raw.get("oldString")), plain(raw.get("newString")));
    let modified = match (content, &original, &old, &new) {
        (Some(content), ..) => Some(content),
        (None, Some(original), Some(old), Some(new)) if !old.is_empty() => {
            let all = raw.get("replaceAll").and_then(Raw::bool) == Some(true);
            Some(Cow::Owned(if all {
                original.replace(&**old, new)
            } else {
                original.replacen(&**old, new, 1)
            }))
        }
        _ => None,
    };
    let file = name.unescape();
    let hunks = hunks(patch);
    let diff = match (&modified, hunks.is_empty()) {
        (_, false) => format!("--- a/{file}\n+++ b/{file}\n{hunks}"),
        (Some(modified), true) => unified(original.as_deref(), modified, &file),
        (None, true) => return None,
    };
    Some(FileDiff {
        name,
        diff: Cow::Owned(diff),
        original,
        modified,
    })
}

/// The hunks of a patch as text: `[{oldStart,oldLines,newStart,newLines,lines}]`.
fn hunks(patch: Raw<'_>) -> String {
    let mut text = String::new();
    for hunk in patch.elements() {
        let number = |key| hunk.get(key).and_then(Raw::u64).unwrap_or(0);
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            number("oldStart"),
            number("oldLines"),
            number("newStart"),
            number("newLines")
        ));
        for line in hunk.get("lines").into_iter().flat_map(Raw::elements).filter_map(Raw::string) {
            text.push_str(&line.unescape());
            text.push('\n');
        }
    }
    text
}

/// Cursor's `{path,diffString,beforeFullFileContent,afterFullFileContent,…}`.
fn cursor_diff(success: Raw<'_>) -> Option<FileDiff<'_>> {
    Some(FileDiff {
        name: success.get("path")?.string()?,
        diff: plain(success.get("diffString"))?,
        original: plain(success.get("beforeFullFileContent")),
        modified: plain(success.get("afterFullFileContent")),
    })
}

/// Tricode's result of an edit: the text is a JSON object with `path` and `diff`.
fn tricode_diff<'a>(result: &ToolResult<'a>) -> Option<FileDiff<'a>> {
    let kind = result.of?.kind;
    if !matches!(kind, ToolKind::Edit | ToolKind::MultiEdit | ToolKind::Write) {
        return None;
    }
    let mut texts = result.content.texts();
    let (text, None) = (texts.next()?, texts.next()) else { return None };
    if !text.as_escaped().starts_with('{') {
        return None;
    }
    let json = text.unescape();
    let value = Raw::trusted(&json);
    value.check().ok()?;
    let diff = plain(value.get("diff"))?.into_owned();
    let path = result.of?.input.get("path").or_else(|| result.of?.input.get("file_path"))?.string()?;
    (!diff.is_empty()).then_some(FileDiff {
        name: path,
        diff: Cow::Owned(diff),
        original: None,
        modified: None,
    })
}

fn plain(raw: Option<Raw<'_>>) -> Option<Cow<'_, str>> {
    raw?.string().map(Str::unescape)
}

/// A unified diff of two texts; a file that was not there before has none.
fn unified(original: Option<&str>, modified: &str, file: &str) -> String {
    let (before, after) = (format!("a/{file}"), format!("b/{file}"));
    let before = if original.is_some() { &before } else { "/dev/null" };
    TextDiff::from_lines(original.unwrap_or(""), modified)
        .unified_diff()
        .header(before, &after)
        .to_string()
}

fn write_diff(diff: &FileDiff<'_>, out: &mut Out) {
    out.lit("{\"kind\":\"file_diff\",\"file_name\":");
    out.str(diff.name);
    out.lit(",\"diff\":");
    out.text(&diff.diff);
    for (key, text) in [(",\"original\":", &diff.original), (",\"modified\":", &diff.modified)] {
        if let Some(text) = text {
            out.lit(key);
            out.text(text);
        }
    }
    let (added, removed) = match (&diff.original, &diff.modified) {
        (Some(original), Some(modified)) => changed(original, modified),
        _ => counted(&diff.diff),
    };
    out.lit(",\"stat\":{\"ai_added_lines\":");
    out.number(added);
    out.lit(",\"ai_removed_lines\":");
    out.number(removed);
    out.lit(",\"user_added_lines\":0,\"user_removed_lines\":0}");
}

/// Lines that were added and removed between two texts.
fn changed(original: &str, modified: &str) -> (u64, u64) {
    let diff = TextDiff::from_lines(original, modified);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

/// Lines that were added and removed in a unified diff.
fn counted(diff: &str) -> (u64, u64) {
    let count = |sign: &str, header: &str| diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header)).count() as u64;
    (count("+", "+++ "), count("-", "--- "))
}

/// The list of a call that writes one, if it is whole: `todos` of `{content,status,id?}`.
fn todos<'a>(call: &ToolCall<'a>) -> Option<Raw<'a>> {
    let todos = call.input.get("todos").filter(|list| list.shape() == Some(Shape::Array))?;
    let whole = |todo: Raw<'_>| todo.get("content").and_then(Raw::string).is_some() && todo.get("status").and_then(Raw::string).is_some();
    (todos.elements().next().is_some() && todos.elements().all(whole)).then_some(todos)
}

fn write_todos(todos: Raw<'_>, out: &mut Out) {
    out.lit("{\"kind\":\"todo_list\",\"todos\":[");
    for (n, todo) in todos.elements().enumerate() {
        out.lit(if n == 0 { "{\"id\":\"" } else { ",{\"id\":\"" });
        match todo.get("id").and_then(Raw::string) {
            Some(id) => out.body(id),
            None => out.number(n as u64 + 1),
        }
        out.lit("\",\"content\":");
        out.str(todo.get("content").and_then(Raw::string).unwrap_or_default());
        out.lit(",\"status\":\"");
        let status = todo.get("status").and_then(Raw::string).unwrap_or_default();
        out.used(status.as_escaped());
        // Cursor spells it TODO_STATUS_IN_PROGRESS.
        let word = status.unescape();
        match word.strip_prefix("TODO_STATUS_") {
            Some(word) => out.lit(&word.to_ascii_lowercase()),
            None => out.lit(status.as_escaped()),
        }
        out.lit("\"}");
    }
    out.lit("]");
}

/// The plan that was shown: of the result, or of the call.
fn plan<'a>(result: &ToolResult<'a>) -> Option<Str<'a>> {
    let told = result.detail.and_then(|detail| detail.raw.get("plan"));
    told.or_else(|| result.of?.input.get("plan")).and_then(Raw::string)
}

fn write_task(result: &ToolResult<'_>, call: Option<ToolCall<'_>>, task: Option<&Task>, out: &mut Out) {
    out.lit("{\"kind\":\"task_execution\"");
    let told = |key: &str| call.and_then(|call| call.input.get(key)).and_then(Raw::string);
    match (told("subagent_type"), task.filter(|task| !task.name.is_empty())) {
        (Some(name), _) => {
            out.lit(",\"subagentName\":");
            out.str(name);
        }
        (None, Some(task)) => {
            out.lit(",\"subagentName\":");
            out.str(Str::trusted(&task.name));
        }
        (None, None) => {}
    }
    for (key, name) in [("description", ",\"taskDescription\":"), ("prompt", ",\"taskPrompt\":")] {
        if let Some(text) = told(key) {
            out.lit(name);
            out.str(text);
        }
    }
    out.lit(",\"status\":\"");
    out.lit(match result.status {
        ResultStatus::Success => "completed",
        ResultStatus::Error => "failed",
        ResultStatus::Denied | ResultStatus::Canceled => "cancelled",
    });
    out.lit("\",\"toolCalls\":[");
    for (n, call) in task.iter().flat_map(|task| &task.calls).enumerate() {
        if n > 0 {
            out.lit(",");
        }
        write_task_call(call, out);
    }
    out.lit("]");
}

fn write_task_call(call: &TaskCall, out: &mut Out) {
    out.lit("{\"callId\":");
    out.str(Str::trusted(&call.id));
    out.lit(",\"name\":");
    out.str(Str::trusted(&call.name));
    out.lit(match call.status {
        Some(ResultStatus::Success) => ",\"status\":\"success\"",
        Some(ResultStatus::Error) => ",\"status\":\"failed\"",
        Some(ResultStatus::Denied | ResultStatus::Canceled) => ",\"status\":\"cancelled\"",
        None => ",\"status\":\"executing\"",
    });
    out.lit(",\"args\":");
    let pieces;
    let input = if call.in_pieces {
        pieces = Str::trusted(&call.input).unescape();
        pieces.trim()
    } else {
        call.input.trim()
    };
    match input {
        "" => out.lit("{}"),
        text if is_json(text) => out.lit(text),
        text => out.text(text),
    }
    if call.status.is_some() {
        out.lit(",\"resultDisplay\":");
        out.str(Str::trusted(&call.text));
    }
    out.lit("}");
}
