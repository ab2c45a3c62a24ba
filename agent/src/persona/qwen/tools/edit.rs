//! `edit`.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{modified, say, unread};
use crate::tools::edit::{Change, EditFault, Unfit, edit, preview};
use crate::tools::seen::Seen;
use crate::tools::text::with_plain_ends;
use crate::tools::work::blocking;
use crate::tools::write::create;
use crate::tools::{Access, Cx, Given, Spec, Tool};
use crate::workspace::{Fault, Stamp};
use agentglot_adapters::event::{DetailShape, ToolKind};

/// Lines around a change that are shown with it.
const AROUND: usize = 4;
/// A change of more lines is not shown.
const SHOWN: usize = 1000;

#[derive(Debug)]
pub(super) struct Edit {
    spec: Spec,
    seen: Rc<Seen>,
}

impl Edit {
    pub(super) fn new(seen: Rc<Seen>) -> Self {
        let spec = Spec {
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
            reads_only: false,
        };
        Self { spec, seen }
    }
}

fn asked(arguments: &Value) -> (String, Change) {
    let change = Change {
        old: say::text(arguments, "old_string").to_owned(),
        new: say::text(arguments, "new_string").to_owned(),
        all: arguments["replace_all"] == true,
    };
    (say::text(arguments, "file_path").to_owned(), change)
}

#[async_trait(?Send)]
impl Tool for Edit {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Write(vec![say::text(input, "file_path").to_owned()])
    }

    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        let (path, change) = asked(&say::arguments(&self.spec, input).ok()?);
        blocking(cx, move |wall, _| preview(&wall.locate(path)?, &[change])).await.ok()
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let (path, change) = match say::arguments(&self.spec, input) {
            Ok(arguments) => asked(&arguments),
            Err(given) => return given,
        };
        let place = match cx.world.wall.locate(&path) {
            Ok(place) => place,
            Err(fault) => return say::fault(&fault),
        };
        let named = place.named().display().to_string();
        let seen = self.seen.get(place.path());
        let at = place.clone();
        let done = blocking(cx, move |_, _| match (at.stat_if_there()?, change.old.is_empty(), seen) {
            (None, true, _) => {
                let stamp = create(&at, &change.new)?.stamp;
                Ok(Outcome::Changed(None, with_plain_ends(&change.new), stamp))
            }
            (None, false, _) => Err(Fault::Missing(at.named().to_owned()).into()),
            (Some(_), true, _) => Ok(Outcome::Exists),
            (Some(_), false, None) => Ok(Outcome::Unread),
            (Some(_), false, Some(seen)) => {
                let edited = edit(&at, &[change], Some(&seen))?;
                Ok(Outcome::Changed(Some(edited.before), edited.after, edited.stamp))
            }
        });
        let (before, after, stamp) = match done.await {
            Ok(Outcome::Changed(before, after, stamp)) => (before, after, stamp),
            Ok(Outcome::Unread) => return unread(&named, "editing"),
            Ok(Outcome::Exists) => {
                return say::failed(
                    &format!("File already exists, cannot create: {named}"),
                    "Error: Failed to edit. Attempted to create a file that already exists.",
                );
            }
            Err(fault) => return wrong(&fault, &named),
        };
        self.seen.put(place.path(), stamp);
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
}

enum Outcome {
    Changed(Option<String>, String, Stamp),
    Unread,
    Exists,
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

fn wrong(fault: &EditFault, named: &str) -> Given {
    match fault {
        EditFault::File(Fault::Changed(_)) => modified(named, "editing"),
        EditFault::File(fault @ Fault::Missing(_)) => {
            let mut given = say::fault(fault);
            let words = "Error: File not found. Cannot apply edit. Use an empty old_string to create a new file.";
            given.detail = say::failed("", words).detail;
            given
        }
        EditFault::File(fault) => say::fault(fault),
        EditFault::NotText => say::failed(&format!("File {named} is not a text file."), "Error: not a text file."),
        EditFault::Change { why: Unfit::Same, .. } => say::failed(
            &format!("No changes to apply. The old_string and new_string are identical in file: {named}"),
            "Error: No changes to apply. The old_string and new_string are identical.",
        ),
        EditFault::Change {
            why: Unfit::Several(count), ..
        } => say::failed(
            &format!("Failed to edit. Found {count} occurrences for old_string in {named} but replace_all was not enabled."),
            "Error: Failed to edit because the text matches multiple locations. Provide more context or set replace_all to true.",
        ),
        EditFault::Change { .. } => say::failed(
            &format!(
                "Failed to edit, 0 occurrences found for old_string in {named}. No edits made. The exact text in old_string was not found. \
                 Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. Use read_file tool to verify."
            ),
            "Error: Failed to edit, could not find the string to replace.",
        ),
    }
}
