//! `edit`.

use serde_json::json;

use super::{named, say, unchanged};
use crate::persona::shared::native::{change, plain};
use crate::tools::edit::{EditFault, Unfit};
use crate::tools::files::{Changed, Unchanged, edit_file};
use crate::tools::seen::Seen;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::Change;

/// Lines around a change that are shown with it.
const AROUND: usize = 4;
/// A change of more lines is not shown.
const SHOWN: usize = 1000;

pub(super) fn spec() -> Spec {
    Spec {
        name: "edit".into(),
        description: "Replaces a text in a file of the workspace, which has to have been read before. The old text has to stand in the \
                      file exactly so, with its indentation, and only once, unless replace_all is set: take three lines before and \
                      after it. An empty old text makes a new file."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The absolute path of the file"},
                "old_string": {"type": "string", "description": "The text that is replaced, unescaped"},
                "new_string": {"type": "string", "description": "The text that takes its place, unescaped"},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence of old_string (default false)"},
            },
            "required": ["file_path", "old_string", "new_string"],
        }),
        kind: ToolKind::Edit,
        ..Spec::default()
    }
}

pub(super) async fn run(path: Str<'_>, asked: &Change<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let Changed { place, before, after } = match edit_file(&plain(path), change(asked), false, seen, cx).await {
        Ok(changed) => changed,
        Err(why) => return wrong(&why, path, cx),
    };
    let named = place.named().display().to_string();
    let mut text = match before {
        None => format!("Created new file: {named} with provided content."),
        Some(_) => format!("The file: {named} has been updated."),
    };
    if let Some(snippet) = snippet(before.as_deref(), &after) {
        text.push(' ');
        text.push_str(&snippet);
    }
    let diff = say::file_diff(&named, before.as_deref(), &after, ("Current", "Proposed"));
    Given::text(text).with(DetailShape::Qwen, diff)
}

/// The lines that changed and some around them: from the first that differs to the last.
fn snippet(before: Option<&str>, after: &str) -> Option<String> {
    let new: Vec<&str> = after.split('\n').collect();
    let total = new.len();
    let (start, end) = match before {
        None => (0, total),
        Some(before) => {
            if before == after || after.is_empty() {
                return None;
            }
            let old: Vec<&str> = before.split('\n').collect();
            let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
            let (old, rest) = (&old[same..], &new[same..]);
            let tail = old.iter().rev().zip(rest.iter().rev()).take_while(|(old, new)| old == new).count();
            let end = total - tail;
            if end.saturating_sub(same + 1) > SHOWN {
                return None;
            }
            (same.saturating_sub(AROUND), (end + AROUND).min(total))
        }
    };
    let lines = new.get(start..end)?.join("\n");
    Some(format!(
        "Showing lines {}-{end} of {total} from the edited file:\n\n---\n\n{lines}",
        start + 1
    ))
}

fn wrong(why: &Unchanged, path: Str<'_>, cx: &Cx<'_>) -> Given {
    let named = named(path, cx);
    match why {
        Unchanged::Exists => say::failed(
            &format!("File already exists, cannot create: {named}"),
            "Error: Failed to edit. Attempted to create a file that already exists.",
        ),
        Unchanged::Fault(fault @ Fault::Missing(_)) => {
            let words = "Error: File not found. Cannot apply edit. Use an empty old_string to create a new file.";
            Given {
                detail: say::failed("", words).detail,
                ..say::fault(fault)
            }
        }
        Unchanged::Unfit(EditFault::NotText) => say::failed(&format!("File {named} is not a text file."), "Error: not a text file."),
        Unchanged::Unfit(EditFault::Change { why: Unfit::Same, .. }) => say::failed(
            &format!("No changes to apply. The old_string and new_string are identical in file: {named}"),
            "Error: No changes to apply. The old_string and new_string are identical.",
        ),
        Unchanged::Unfit(EditFault::Change {
            why: Unfit::Several(count), ..
        }) => say::failed(
            &format!("Failed to edit. Found {count} occurrences for old_string in {named} but replace_all was not enabled."),
            "Error: Failed to edit because the text matches multiple locations. Provide more context or set replace_all to true.",
        ),
        Unchanged::Unfit(EditFault::Change {
            why: why @ Unfit::TooBig(_), ..
        }) => say::failed(&format!("Failed to edit {named}: {why}."), &format!("Error: {why}.")),
        Unchanged::Unfit(EditFault::Change { .. }) => say::failed(
            &format!(
                "Failed to edit, 0 occurrences found for old_string in {named}. No edits made. The exact text in old_string was not found. \
                 Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. Use read_file tool to verify."
            ),
            "Error: Failed to edit, could not find the string to replace.",
        ),
        why => unchanged(why, path, "editing", cx),
    }
}
