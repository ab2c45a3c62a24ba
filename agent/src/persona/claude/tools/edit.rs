//! `Edit`.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{CURRENT, MODIFIED, UNREAD, say};
use crate::tools::diff::Diff;
use crate::tools::edit::{Change, EditFault, Edited, Unfit, edit, preview};
use crate::tools::seen::Seen;
use crate::tools::text::with_plain_ends;
use crate::tools::work::blocking;
use crate::tools::write::{Put, create, write};
use crate::tools::{Access, Cx, Given, Spec, Tool};
use crate::workspace::{Fault, Place, Stamp, Wall};
use agentglot_adapters::event::{DetailShape, ToolKind};

#[derive(Debug)]
pub(super) struct Edit {
    spec: Spec,
    seen: Rc<Seen>,
}

impl Edit {
    pub(super) fn new(seen: Rc<Seen>) -> Self {
        let spec = Spec {
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
            reads_only: false,
        };
        Self { spec, seen }
    }
}

/// What a call asks for.
struct Asked {
    path: String,
    change: Change,
}

impl Asked {
    fn of(arguments: &Value) -> Self {
        Self {
            path: say::text(arguments, "file_path").to_owned(),
            change: Change {
                old: say::text(arguments, "old_string").to_owned(),
                new: say::text(arguments, "new_string").to_owned(),
                all: arguments["replace_all"] == true,
            },
        }
    }
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
        let Asked { path, change } = Asked::of(&say::arguments(&self.spec, input).ok()?);
        blocking(cx, move |wall, _| preview(&wall.locate(path)?, &[change])).await.ok()
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let Asked { path, change } = match say::arguments(&self.spec, input) {
            Ok(arguments) => Asked::of(&arguments),
            Err(given) => return given,
        };
        let wall = &cx.world.wall;
        if change.old == change.new {
            return say::refused("No changes to make: old_string and new_string are exactly the same.");
        }
        let place = match wall.locate(&path) {
            Ok(place) => place,
            Err(fault) => return say::fault(&fault, wall),
        };
        let seen = self.seen.get(place.path());
        let (at, asked) = (place.clone(), change.clone());
        let done = blocking(cx, move |_, _| {
            if asked.old.is_empty() {
                return made(&at, &asked.new, seen.as_ref());
            }
            if at.stat_if_there()?.is_none() {
                return Err(Fault::Missing(at.named().to_owned()).into());
            }
            match seen {
                Some(seen) => edit(&at, &[asked], Some(&seen)).map(Outcome::Edited),
                None => Ok(Outcome::Unread),
            }
        });
        let edited = match done.await {
            Ok(Outcome::Edited(edited)) => edited,
            Ok(Outcome::Unread) => return say::refused(UNREAD),
            Ok(Outcome::Exists) => return say::refused("Cannot create new file - file already exists."),
            Err(fault) => return wrong(&fault, &change, wall),
        };
        let named = place.named().display().to_string();
        let new_file = change.old.is_empty();
        let detail = json!({
            "filePath": named,
            "oldString": change.old,
            "newString": change.new,
            "originalFile": if new_file && edited.before.is_empty() { Value::Null } else { edited.before.as_str().into() },
            "structuredPatch": Diff::of(&edited.before, &edited.after).structured(),
            "userModified": false,
            "replaceAll": change.all,
        });
        self.seen.put(place.path(), edited.stamp);
        let text = if change.all {
            format!("The file {named} has been updated. All occurrences were successfully replaced. {CURRENT}")
        } else {
            format!("The file {named} has been updated successfully. {CURRENT}")
        };
        Given::text(text).with(DetailShape::Claude, detail)
    }
}

enum Outcome {
    Edited(Edited),
    Unread,
    Exists,
}

/// An empty old text: a new file, or an empty one that is filled.
fn made(place: &Place, text: &str, seen: Option<&Stamp>) -> Result<Outcome, EditFault> {
    let written = match place.stat_if_there()? {
        None => create(place, text)?,
        Some(stat) if stat.size == 0 => write(place, text, Put::Instead, seen)?,
        Some(_) => return Ok(Outcome::Exists),
    };
    Ok(Outcome::Edited(Edited {
        before: String::new(),
        after: with_plain_ends(text),
        count: 1,
        stamp: written.stamp,
    }))
}

/// Why nothing was replaced, as the real program says it.
pub(super) fn wrong(fault: &EditFault, change: &Change, wall: &Wall) -> Given {
    match fault {
        EditFault::File(Fault::Changed(_)) => say::refused(MODIFIED),
        EditFault::File(Fault::Missing(_)) => say::refused(&say::missing(wall)),
        EditFault::File(fault) => say::fault(fault, wall),
        EditFault::NotText => say::refused("The file is not a text file and cannot be edited."),
        EditFault::Change { why: Unfit::NotFound, .. } => say::refused(&format!("String to replace not found in file.\nString: {}", change.old)),
        EditFault::Change {
            why: Unfit::Several(count), ..
        } => say::refused(&format!(
            "Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. \
             To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: {}",
            change.old
        )),
        EditFault::Change { why: Unfit::Same, .. } => say::refused("No changes to make: old_string and new_string are exactly the same."),
        EditFault::Change { why: Unfit::Empty, .. } => say::refused("Cannot create new file - file already exists."),
    }
}
