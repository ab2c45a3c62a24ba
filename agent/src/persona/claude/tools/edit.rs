//! `Edit`.

use serde_json::json;

use super::{CURRENT, MODIFIED, UNREAD, say};
use crate::persona::shared::native::{change, plain};
use crate::tools::diff::Diff;
use crate::tools::edit::{Change, EditFault, Unfit};
use crate::tools::files::{Changed, Unchanged, edit_file};
use crate::tools::seen::Seen;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::{Fault, Wall};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args;

pub(super) fn spec() -> Spec {
    Spec {
        name: "Edit".into(),
        description: "Replaces a text in a file of the workspace. The file has to have been read before. The old text has to stand in \
                      the file exactly so, with its indentation but without the line numbers of Read, and only once, unless \
                      replace_all is set: take more lines around it if it stands there more often. An empty old text makes a new \
                      file."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The absolute path of the file"},
                "old_string": {"type": "string", "description": "The text that is replaced"},
                "new_string": {"type": "string", "description": "The text that takes its place; another one than old_string"},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence of old_string", "default": false},
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": false,
        }),
        kind: ToolKind::Edit,
        ..Spec::default()
    }
}

pub(super) async fn run(path: Str<'_>, asked: &args::Change<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let change = change(asked);
    if change.old == change.new {
        return say::refused(SAME);
    }
    let Changed { place, before, after } = match edit_file(&plain(path), change.clone(), true, seen, cx).await {
        Ok(changed) => changed,
        Err(why) => return wrong(&why, &change, &cx.world.wall),
    };
    let named = place.named().display().to_string();
    let detail = json!({
        "filePath": named,
        "oldString": change.old,
        "newString": change.new,
        "originalFile": before,
        "structuredPatch": Diff::of(before.as_deref().unwrap_or_default(), &after).structured(),
        "userModified": false,
        "replaceAll": change.all,
    });
    let text = if change.all {
        format!("The file {named} has been updated. All occurrences were successfully replaced. {CURRENT}")
    } else {
        format!("The file {named} has been updated successfully. {CURRENT}")
    };
    Given::text(text).with(DetailShape::Claude, detail)
}

const SAME: &str = "No changes to make: old_string and new_string are exactly the same.";
const EXISTS: &str = "Cannot create new file - file already exists.";

/// Why nothing was replaced, as the real program says it.
fn wrong(why: &Unchanged, change: &Change, wall: &Wall) -> Given {
    match why {
        Unchanged::Unread => say::refused(UNREAD),
        Unchanged::Modified => say::refused(MODIFIED),
        Unchanged::Exists => say::refused(EXISTS),
        Unchanged::Fault(Fault::Missing(path)) => say::refused(&say::missing(path, wall)),
        Unchanged::Nowhere(fault) | Unchanged::Fault(fault) | Unchanged::Unfit(EditFault::File(fault)) => say::fault(fault, wall),
        Unchanged::Unfit(EditFault::NotText) => say::refused("The file is not a text file and cannot be edited."),
        Unchanged::Unfit(EditFault::Change { why, .. }) => say::refused(&match why {
            Unfit::NotFound => format!("String to replace not found in file.\nString: {}", change.old),
            Unfit::Several(count) => format!(
                "Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to \
                 true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: {}",
                change.old
            ),
            Unfit::Same => SAME.to_owned(),
            Unfit::Empty => EXISTS.to_owned(),
            Unfit::TooBig(_) => why.to_string(),
        }),
    }
}
