//! What is shown of a tool's result: the RFC's `result_display`, in the richest kind that the source has something for.

use bumpalo::Bump;

use super::tasks::{Task, TaskCall};
use crate::chat::is_json;
use crate::event::{Detail, DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Out, Raw, Str};
use crate::tools::args::Todos;
use crate::tools::reshaped::Made;
use crate::tools::{FileChange, ToolOutput, output};

/// Writes `result_display`. Every kind has the text that the model saw. `native`: tools carry the RFC's own shapes, so what a
/// text alone tells (Tricode's changes and plans) is told in the RFC's kind; else it stays the text it is. `own`: the source is the RFC,
/// whose displays stay as they are. Whether what a subagent did is told in it.
pub(super) fn write(result: &ToolResult<'_>, task: Option<&Task>, native: bool, own: bool, out: &mut Out) -> bool {
    let mut tells_task = false;
    if let Some(Detail {
        shape: DetailShape::Qwen,
        raw,
    }) = result.detail
    {
        match raw.as_str().trim_end().strip_suffix('}') {
            Some(open) if !own && raw.get("kind").is_some() && raw.get("text").is_none() => {
                out.used(raw.as_str());
                out.lit(open);
            }
            _ => {
                out.unchecked(raw);
                return false;
            }
        }
    } else if is_task(result, task) {
        write_task(result, result.of, task, out);
        tells_task = true;
    } else {
        out.pin();
        if !write_rich(result, native, out) {
            out.lit("{\"kind\":\"string\"");
        }
        out.unpin();
    }
    out.lit(",\"text\":\"");
    for text in result.content.as_one() {
        out.body(text);
    }
    out.lit("\"}");
    tells_task
}

fn is_task(result: &ToolResult<'_>, task: Option<&Task>) -> bool {
    result.of.is_some_and(|call| call.kind == ToolKind::Subagent) || task.is_some_and(|task| !task.calls.is_empty())
}

/// Writes another kind that says more than the text, if there is one, without its text and the brace that closes it.
fn write_rich(result: &ToolResult<'_>, native: bool, out: &mut Out) -> bool {
    let kind = result.of.map_or(ToolKind::Other, |call| call.kind);
    let succeeded = result.status == ResultStatus::Success;
    let typed = native || result.detail.is_some();
    let named = |key: &str| result.of.is_some_and(|call| call.input.get(key).is_some());
    let has_a_kind = match kind {
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit => succeeded && typed,
        ToolKind::Todo => succeeded && (typed || named("todos")),
        ToolKind::ExitPlan => true,
        _ => false,
    };
    if !has_a_kind {
        return false;
    }
    // The texts before and after, and the diff.
    let arena = Bump::with_capacity(result.detail.map_or(0, |detail| 2 * detail.raw.as_str().len()));
    match output(result.of.as_ref(), result, &arena) {
        ToolOutput::Wrote(change) | ToolOutput::Edited(change) if succeeded && typed => write_change(&change, result, &arena, out),
        ToolOutput::Todos(todos) if succeeded && (typed || named("todos")) => write_todos(todos, result, out),
        ToolOutput::Plan { message, plan } => {
            let Some(plan) = plan else { return false };
            let begin = out.len();
            out.lit("{\"kind\":\"plan_summary\",\"message\":");
            out.str(message);
            out.lit(",\"plan_markdown\":");
            out.str(plan);
            tell_detail(result, begin, out);
            true
        }
        _ => false,
    }
}

/// Tells the ledger that the structured form of a result went over in the RFC's shape, which was written from `begin` on.
fn tell_detail(result: &ToolResult<'_>, begin: usize, out: &Out) {
    if let Some(detail) = result.detail.filter(|_| out.traced()) {
        let mut texts = vec![out.since(begin)];
        texts.extend(result.content.texts().map(|text| text.as_escaped().as_bytes()));
        Made::of(texts).tell(detail.raw, "the RFC's own form of a result", out);
    }
}

fn write_change<'a>(change: &FileChange<'a>, result: &ToolResult<'_>, arena: &'a Bump, out: &mut Out) -> bool {
    let Some((diff, stat)) = change.diff(arena) else { return false };
    let begin = out.len();
    out.lit("{\"kind\":\"file_diff\",\"file_name\":");
    out.str(change.path);
    out.lit(",\"diff\":");
    out.str(diff);
    for (key, text) in [(",\"original\":", change.before), (",\"modified\":", change.after)] {
        if let Some(text) = text {
            out.lit(key);
            out.str(text);
        }
    }
    if let Some((added, removed)) = stat {
        out.lit(",\"stat\":{\"ai_added_lines\":");
        out.number(added);
        out.lit(",\"ai_removed_lines\":");
        out.number(removed);
        out.lit(",\"user_added_lines\":0,\"user_removed_lines\":0}");
    }
    tell_detail(result, begin, out);
    true
}

fn write_todos(todos: Todos<'_>, result: &ToolResult<'_>, out: &mut Out) -> bool {
    let begin = out.len();
    out.lit("{\"kind\":\"todo_list\",\"todos\":[");
    for (n, todo) in todos.iter().enumerate() {
        out.lit(if n == 0 { "{\"id\":\"" } else { ",{\"id\":\"" });
        match todo.id {
            Some(id) => out.body(id),
            None => out.number(n as u64 + 1),
        }
        out.lit("\",\"content\":");
        out.str(todo.content);
        out.lit(",\"status\":\"");
        out.lit(todo.status.word());
        out.lit("\"}");
    }
    out.lit("]");
    tell_detail(result, begin, out);
    true
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
        (None, None) => {
            // The RFC's shape has it always; a client reads it as a text.
            out.lit(",\"subagentName\":\"unknown\"");
            out.invented(
                "/choices/0/message/annotations/0/result_display/subagentName",
                "the source does not name the subagent",
            );
        }
    }
    for (key, name) in [("description", ",\"taskDescription\":"), ("prompt", ",\"taskPrompt\":")] {
        if let Some(text) = told(key) {
            out.lit(name);
            out.str(text);
        }
    }
    out.lit(",\"status\":\"");
    let in_background = call.and_then(|call| call.input.get("run_in_background")).and_then(Raw::bool) == Some(true);
    out.lit(match result.status {
        // The result says that it was started.
        ResultStatus::Success if in_background => "running",
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
