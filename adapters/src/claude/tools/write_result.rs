//! Results: numbered lines in the text, and `tool_use_result` beside it where the source knows more than the text.

use super::args::write_todo;
use crate::event::{Content, Detail, DetailShape, ResultStatus, ToolResult};
use crate::json::Raw;
use crate::tools::args::{Args, Change};
use crate::tools::diff::Patch;
use crate::tools::json::Json;
use crate::tools::lines::{Numbering, number};
use crate::tools::output::{FileChange, ToolOutput};
use crate::tools::result::Answer;

pub(super) fn result<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    answer.args?;
    let text = match answer.output {
        ToolOutput::Read(file) => Some(number(file.content, file.start, Numbering::Tab, answer.arena)),
        _ => answer.plain_text(),
    };
    let text = text.unwrap_or(answer.text);
    let detail = match answer.result.status {
        ResultStatus::Success => detail(answer),
        // Every error: `Error: ` and the text.
        _ => {
            let error = bumpalo::format!(in answer.arena, "\"Error: {}\"", text.as_escaped());
            Some(Raw::trusted(error.into_bump_str()))
        }
    };
    let content = if text == answer.text {
        answer.result.content
    } else {
        Content::Text(text)
    };
    if detail.is_none() && content == answer.result.content {
        return None;
    }
    Some(ToolResult {
        content,
        detail: detail.map(|raw| Detail {
            shape: DetailShape::Claude,
            raw,
        }),
        ..*answer.result
    })
}

fn detail<'a>(answer: &Answer<'_, 'a>) -> Option<Raw<'a>> {
    if let ToolOutput::Wrote(change) | ToolOutput::Edited(change) = answer.output {
        return changed(answer, &change);
    }
    let mut json = Json::with_room(answer.text.as_escaped().len(), answer.arena);
    match answer.output {
        ToolOutput::Read(file) => {
            json.mark('{')
                .key("type")
                .lit("\"text\"")
                .key("file")
                .mark('{')
                .maybe_str("filePath", file.path)
                .key("content")
                .str(file.content);
            json.key("numLines")
                .number(file.lines())
                .key("startLine")
                .number(file.start)
                .maybe_number("totalLines", file.total);
            json.mark('}').mark('}');
        }
        ToolOutput::Shell(run) => {
            json.mark('{')
                .key("stdout")
                .str(answer.printed(run.stdout))
                .key("stderr")
                .str(answer.printed(run.stderr))
                .key("interrupted")
                .bool(run.interrupted);
            json.key("isImage").lit("false").key("noOutputExpected").lit("false").mark('}');
        }
        ToolOutput::Files(files) => {
            json.mark('{').key("filenames").mark('[');
            files.iter().for_each(|file| {
                json.item().str(*file);
            });
            json.mark(']').key("numFiles").number(files.len() as u64).mark('}');
        }
        // Only of a source that says more about it than what it was called with.
        ToolOutput::Todos(list) if answer.result.detail.is_some() => {
            json.mark('{').key("newTodos").mark('[');
            for todo in list.going_on() {
                json.item();
                write_todo(&mut json, &todo);
            }
            json.mark(']').mark('}');
        }
        ToolOutput::Subagent(task) => {
            json.mark('{')
                .key("status")
                .lit("\"completed\"")
                .maybe_str("prompt", task.prompt)
                .maybe_str("agentId", task.id);
            json.maybe_str("agentType", task.name)
                .key("content")
                .mark('[')
                .mark('{')
                .key("type")
                .lit("\"text\"")
                .key("text")
                .str(task.text);
            json.mark('}').mark(']').maybe_number("totalDurationMs", task.milliseconds).mark('}');
        }
        // The tools of MCP servers give blocks.
        ToolOutput::Text(text) if matches!(answer.args, Some(Args::Mcp { .. })) && !answer.result.content.has_other_than_text() => {
            json.mark('[')
                .mark('{')
                .key("type")
                .lit("\"text\"")
                .key("text")
                .str(text)
                .mark('}')
                .mark(']');
        }
        _ => return None,
    }
    Some(json.done())
}

/// `None` when no more is known than the call says.
fn changed<'a>(answer: &Answer<'_, 'a>, change: &FileChange<'a>) -> Option<Raw<'a>> {
    let patch = change.patch();
    let original = change.before;
    if patch.is_none() && original.is_none() && change.created != Some(true) {
        return None;
    }
    let before = original.map_or(0, |text| text.as_escaped().len());
    let mut json = Json::with_room(2 * before, answer.arena);
    let asked = match answer.args {
        Some(Args::Edit { change, .. }) => Some(*change),
        _ => None,
    };
    // Of an edit by Cursor, the result alone tells what was there before.
    let old = asked.and_then(|asked| asked.old.or(change.replaced.map(|(old, _)| old)));
    match (asked.zip(old), change.after) {
        (Some((Change { new, all, .. }, old)), _) => {
            json.mark('{')
                .key("filePath")
                .str(change.path)
                .key("oldString")
                .str(old)
                .key("newString")
                .str(new);
            json.maybe_str("originalFile", original);
            patches(&mut json, patch.as_ref(), change.created);
            json.key("userModified").lit("false").key("replaceAll").bool(all == Some(true)).mark('}');
        }
        (_, Some(content)) => {
            json.mark('{')
                .key("type")
                .lit(if change.created == Some(true) { "\"create\"" } else { "\"update\"" });
            json.key("filePath").str(change.path).key("content").str(content);
            patches(&mut json, patch.as_ref(), change.created);
            match original {
                None if change.created == Some(true) => json.key("originalFile").lit("null"),
                original => json.maybe_str("originalFile", original),
            };
            json.key("userModified").lit("false").mark('}');
        }
        (None, None) => {
            json.mark('{')
                .key("filePath")
                .str(change.path)
                .maybe_str("newString", asked.map(|asked| asked.new))
                .maybe_str("originalFile", original);
            patches(&mut json, patch.as_ref(), change.created);
            json.key("userModified").lit("false").mark('}');
        }
    }
    Some(json.done())
}

/// A new file has no hunks, as recorded.
fn patches(json: &mut Json<'_>, patch: Option<&Patch>, created: Option<bool>) {
    if created == Some(true) {
        json.key("structuredPatch").lit("[]");
    } else if let Some(patch) = patch {
        json.key("structuredPatch");
        patch.write(json);
    }
}
