//! `MultiEdit` and `LS`, which versions of 2025 have.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::edit::wrong;
use super::{UNREAD, say};
use crate::adapters::event::{DetailShape, ToolKind};
use crate::agent::tool::{Access, Cx, Given, Spec, Tool};
use crate::agent::tools::diff::Diff;
use crate::agent::tools::edit::{Change, EditFault, edit, preview};
use crate::agent::tools::list::{Asked, list};
use crate::agent::tools::seen::Seen;
use crate::agent::tools::work::blocking;
use crate::agent::wall::{Fault, Kind};

/// The most entries of a list.
const MOST: usize = 1000;

#[derive(Debug)]
pub(super) struct MultiEdit {
    spec: Spec,
    seen: Rc<Seen>,
}

impl MultiEdit {
    pub(super) fn new(seen: Rc<Seen>) -> Self {
        let spec = Spec {
            name: "MultiEdit".into(),
            description: "Replaces several texts in one file of the workspace, one after the other, all or none. The file has to have been \
                          read before. What is said of Edit holds of each."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "The absolute path of the file"},
                    "edits": {
                        "type": "array",
                        "description": "The replacements, in order",
                        "items": {
                            "type": "object",
                            "properties": {
                                "old_string": {"type": "string", "description": "The text that is replaced"},
                                "new_string": {"type": "string", "description": "The text that takes its place"},
                                "replace_all": {"type": "boolean", "description": "Replace every occurrence", "default": false},
                            },
                            "required": ["old_string", "new_string"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["file_path", "edits"],
                "additionalProperties": false,
            }),
            kind: ToolKind::MultiEdit,
            reads_only: false,
        };
        Self { spec, seen }
    }
}

fn changes(arguments: &Value) -> Vec<Change> {
    let edits = arguments["edits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let change = |edit: &Value| Change {
        old: say::text(edit, "old_string").to_owned(),
        new: say::text(edit, "new_string").to_owned(),
        all: edit["replace_all"] == true,
    };
    edits.iter().map(change).collect()
}

#[async_trait(?Send)]
impl Tool for MultiEdit {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Write(vec![say::text(input, "file_path").to_owned()])
    }

    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        let arguments = say::arguments(&self.spec, input).ok()?;
        let (path, changes) = (say::text(&arguments, "file_path").to_owned(), changes(&arguments));
        blocking(cx, move |wall, _| preview(&wall.locate(path)?, &changes)).await.ok()
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let arguments = match say::arguments(&self.spec, input) {
            Ok(arguments) => arguments,
            Err(given) => return given,
        };
        let (path, changes) = (say::text(&arguments, "file_path").to_owned(), changes(&arguments));
        let wall = &cx.world.wall;
        let place = match wall.locate(&path) {
            Ok(place) => place,
            Err(fault) => return say::fault(&fault, wall),
        };
        let seen = self.seen.get(place.path());
        let (at, asked) = (place.clone(), changes.clone());
        let done = blocking(cx, move |_, _| {
            if at.stat_if_there()?.is_none() {
                return Err(EditFault::from(Fault::Missing(at.named().to_owned())));
            }
            seen.map(|seen| edit(&at, &asked, Some(&seen))).transpose()
        });
        let edited = match done.await {
            Ok(Some(edited)) => edited,
            Ok(None) => return say::refused(UNREAD),
            Err(fault) => {
                let at = if let EditFault::Change { at, .. } = fault { at } else { 0 };
                let none = Change {
                    old: String::new(),
                    new: String::new(),
                    all: false,
                };
                return wrong(&fault, changes.get(at).unwrap_or(&none), wall);
            }
        };
        self.seen.put(place.path(), edited.stamp);
        let named = place.named().display().to_string();
        let mut text = format!(
            "Applied {} {} to {named}:",
            changes.len(),
            if changes.len() == 1 { "edit" } else { "edits" }
        );
        for (change, n) in changes.iter().zip(1..) {
            text.push_str(&format!("\n{n}. Replaced \"{}\" with \"{}\"", change.old, change.new));
        }
        let detail = json!({
            "filePath": named,
            "edits": arguments["edits"],
            "originalFileContents": edited.before,
            "structuredPatch": Diff::of(&edited.before, &edited.after).structured(),
            "userModified": false,
        });
        Given::text(text).with(DetailShape::Claude, detail)
    }
}

#[derive(Debug)]
pub(super) struct Ls {
    spec: Spec,
}

impl Ls {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "LS".into(),
            description: "Lists what is in a folder of the workspace and below it.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The absolute path of the folder"},
                    "ignore": {"type": "array", "items": {"type": "string"}, "description": "Globs for what is left out"},
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
            kind: ToolKind::List,
            reads_only: true,
        };
        Self { spec }
    }
}

#[async_trait(?Send)]
impl Tool for Ls {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Read(vec![say::text(input, "path").to_owned()])
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let arguments = match say::arguments(&self.spec, input) {
            Ok(arguments) => arguments,
            Err(given) => return given,
        };
        let path = say::text(&arguments, "path").to_owned();
        let without = arguments["ignore"].as_array().map(Vec::as_slice).unwrap_or_default();
        let asked = Asked {
            without: without.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            most: MOST,
            ..Asked::default()
        };
        let done = blocking(cx, move |wall, cancel| {
            let place = wall.locate(path)?;
            Ok((list(&place, &asked, cancel)?, place))
        });
        let wall = &cx.world.wall;
        let (listed, place) = match done.await {
            Ok(done) => done,
            Err(fault) => return super::glob::nowhere(&fault, "Directory", wall),
        };
        let mut text = format!("- {}/\n", place.named().display());
        for entry in &listed.entries {
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
            let slash = if entry.kind == Kind::Folder { "/" } else { "" };
            text.push_str(&format!("{}- {name}{slash}\n", "  ".repeat(entry.depth)));
        }
        if listed.cut {
            text.push_str(&format!("\nThere are more than {MOST} files and folders; these are the first of them.\n"));
        }
        let detail = Value::from(text.clone());
        Given::text(text).with(DetailShape::Claude, detail)
    }
}
