//! Results in OpenCode's words: what the model sees, and beside it what the program knows.

use crate::event::{Content, Detail, DetailShape, ResultStatus, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::args::Todos;
use crate::tools::json::Json;
use crate::tools::lines::{ends_line, pieces};
use crate::tools::output::{FileChange, FileRead, ToolOutput};
use crate::tools::result::Answer;
use crate::tools::texts::without_last_end;

pub(super) fn write<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    answer.args?;
    let (mut text, mut metadata) = (answer.text, None);
    let success = answer.result.status == ResultStatus::Success;
    match answer.output {
        ToolOutput::Read(file) if success => {
            text = content(answer, &file);
            metadata = Some(read(answer, &file));
        }
        // Whoever was not let run has no exit code.
        ToolOutput::Shell(run) if run.exit.is_some() => {
            let printed = answer.printed(run.output);
            text = if printed.is_empty() {
                Str::trusted(answer.to.shell.silence)
            } else {
                printed
            };
            let mut json = Json::with_room(printed.as_escaped().len(), answer.arena);
            json.mark('{').key("output").str(text).key("exit").number(run.exit.unwrap_or_default());
            json.key("truncated").bool(false).mark('}');
            metadata = Some(json.done());
        }
        ToolOutput::Wrote(change) | ToolOutput::Edited(change) if success => metadata = changed(answer, &change),
        ToolOutput::Todos(list) if success => metadata = Some(todos(answer, list)),
        _ => {}
    }
    if metadata.is_none() && text == answer.text {
        return None;
    }
    Some(ToolResult {
        content: if text == answer.text {
            answer.result.content
        } else {
            Content::Text(text)
        },
        detail: metadata.map(|raw| Detail {
            shape: DetailShape::Opencode,
            raw,
        }),
        ..*answer.result
    })
}

/// The lines with their numbers, between tags.
fn content<'a>(answer: &Answer<'_, 'a>, file: &FileRead<'a>) -> Str<'a> {
    let mut text = bumpalo::collections::String::new_in(answer.arena);
    text.push_str("<path>");
    text.push_str(file.path.unwrap_or_default().as_escaped());
    text.push_str("</path>\\n<type>file</type>\\n<content>");
    let lines = lines(file);
    for (number, line) in (file.start..)
        .zip(pieces(file.content))
        .take(usize::try_from(lines).unwrap_or(usize::MAX))
    {
        text.push_str(&format!("\\n{number}: {}", line.text));
    }
    let last = file.start.saturating_add(lines).saturating_sub(1);
    match file.total {
        Some(total) if file.start.saturating_add(file.lines()) > total => text.push_str(&format!("\\n\\n(End of file - total {last} lines)")),
        _ => text.push_str(&format!(
            "\\n\\n(Showing lines {}-{last}. Use offset={} to continue.)",
            file.start,
            last.saturating_add(1)
        )),
    }
    text.push_str("\\n</content>");
    Str::trusted(text.into_bump_str())
}

/// How many lines are shown. Behind the last line end there is none.
fn lines(file: &FileRead<'_>) -> u64 {
    let ends = ends_line(file.content);
    file.lines().saturating_sub(u64::from(ends || file.content.is_empty()))
}

fn read<'a>(answer: &Answer<'_, 'a>, file: &FileRead<'a>) -> Raw<'a> {
    let mut json = Json::with_room(file.content.as_escaped().len(), answer.arena);
    json.mark('{').key("truncated").bool(false).key("display").mark('{');
    // The end of the last line is none of what is shown.
    let ends = u64::from(ends_line(file.content));
    json.key("type")
        .lit("\"file\"")
        .maybe_str("path", file.path)
        .key("text")
        .str(without_last_end(file.content));
    json.key("lineStart")
        .number(file.start)
        .maybe_number("totalLines", file.total.map(|total| total.saturating_sub(ends)));
    json.mark('}').mark('}');
    json.done()
}

fn changed<'a>(answer: &Answer<'_, 'a>, change: &FileChange<'a>) -> Option<Raw<'a>> {
    let mut json = Json::new(answer.arena);
    json.mark('{');
    if let ToolOutput::Wrote(_) = answer.output {
        let created = change.created?;
        json.key("filepath").str(change.path).key("exists").bool(!created);
    } else {
        let (diff, _) = change.diff(answer.arena)?;
        json.key("diff").str(diff);
    }
    json.mark('}');
    Some(json.done())
}

fn todos<'a>(answer: &Answer<'_, 'a>, list: Todos<'a>) -> Raw<'a> {
    let mut json = Json::new(answer.arena);
    json.mark('{').key("todos").mark('[');
    for todo in list.iter() {
        json.item().mark('{').key("content").str(todo.content);
        json.key("status").plain(todo.status.word()).key("priority").lit("\"medium\"").mark('}');
    }
    json.mark(']').mark('}');
    json.done()
}
