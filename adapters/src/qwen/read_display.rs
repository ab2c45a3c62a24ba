//! The `result_display` of a result, read.

use bumpalo::Bump;

use crate::event::DetailShape;
use crate::json::Raw;
use crate::tools::args::Todos;
use crate::tools::diff::DiffStyle;
use crate::tools::json::{members, optional};
use crate::tools::output::{FileChange, Hunks, SubagentRun, ToolOutput};
use crate::tools::table::{DetailReader, Typed};

/// `result_display`.
pub(super) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Qwen,
    complete: |_| false,
    read,
};

fn read<'a>(typed: &Typed<'_, 'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let (display, text) = (typed.detail, typed.text);
    let [kind] = members(display, ["kind"])?;
    match kind?.string()?.as_escaped() {
        "file_diff" => {
            let [path, diff, original, modified] = members(display, ["file_name", "diff", "original", "modified"])?;
            let mut change = FileChange::of(path?.string()?);
            change.before = optional(original, Raw::string)?;
            change.after = optional(modified, Raw::string)?;
            change.hunks = optional(diff, Raw::string)?.map_or(Hunks::Unknown, |diff| Hunks::Unified(diff, DiffStyle::Git));
            Some(ToolOutput::Edited(change))
        }
        "todo_list" => {
            let [todos] = members(display, ["todos"])?;
            Some(ToolOutput::Todos(Todos::read(todos?, arena)?))
        }
        "plan_summary" => {
            let [message, plan] = members(display, ["message", "plan_markdown"])?;
            Some(ToolOutput::Plan {
                message: optional(message, Raw::string)?.unwrap_or(text),
                plan: optional(plan, Raw::string)?,
            })
        }
        "task_execution" => {
            let [name, prompt] = members(display, ["subagentName", "taskPrompt"])?;
            let (name, prompt) = (optional(name, Raw::string)?, optional(prompt, Raw::string)?);
            Some(ToolOutput::Subagent(SubagentRun {
                id: None,
                name,
                prompt,
                text,
                milliseconds: None,
            }))
        }
        // `string` says no more than the text does.
        _ => None,
    }
}
