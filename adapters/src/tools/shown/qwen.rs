//! The RFC's `result_display`.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::{FileChange, Hunks, Shown, TaskRun};
use crate::json::{Raw, Str};
use crate::tools::args::read_todo;
use crate::tools::diff::Reader;
use crate::tools::json::{array, members, optional};

pub(super) fn read<'a>(display: Raw<'a>, text: Str<'a>, arena: &'a Bump) -> Option<Shown<'a>> {
    let [kind] = members(display, ["kind"])?;
    match kind?.string()?.as_escaped() {
        "file_diff" => {
            let [path, diff, original, modified] = members(display, ["file_name", "diff", "original", "modified"])?;
            let mut change = FileChange::of(path?.string()?);
            change.before = optional(original, Raw::string)?;
            change.after = optional(modified, Raw::string)?;
            change.hunks = optional(diff, Raw::string)?.map_or(Hunks::Unknown, |diff| Hunks::Unified(diff, Reader::Everyone));
            Some(Shown::Edited(change))
        }
        "todo_list" => {
            let [todos] = members(display, ["todos"])?;
            let mut list = BumpVec::new_in(arena);
            for todo in array(todos?)?.elements() {
                list.push(read_todo(todo)?);
            }
            Some(Shown::Todos(list.into_bump_slice()))
        }
        "plan_summary" => {
            let [message, plan] = members(display, ["message", "plan_markdown"])?;
            Some(Shown::Plan {
                message: optional(message, Raw::string)?.unwrap_or(text),
                plan: optional(plan, Raw::string)?,
            })
        }
        "task_execution" => {
            let [name, prompt] = members(display, ["subagentName", "taskPrompt"])?;
            let (name, prompt) = (optional(name, Raw::string)?, optional(prompt, Raw::string)?);
            Some(Shown::Task(TaskRun {
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
