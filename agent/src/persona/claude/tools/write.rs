//! `Write`.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{CURRENT, MODIFIED, UNREAD, say};
use crate::tools::diff::Diff;
use crate::tools::seen::Seen;
use crate::tools::text::with_plain_ends;
use crate::tools::work::blocking;
use crate::tools::write::{Put, create, preview, write};
use crate::tools::{Access, Cx, Given, Spec, Tool};
use crate::workspace::Fault;
use agentglot_adapters::event::{DetailShape, ToolKind};

#[derive(Debug)]
pub(super) struct Write {
    spec: Spec,
    seen: Rc<Seen>,
}

impl Write {
    pub(super) fn new(seen: Rc<Seen>) -> Self {
        let spec = Spec {
            name: "Write".into(),
            description: "Writes a file of the workspace as a whole. A file that is there is replaced, and has to have been read before. To \
                          change a part of a file use Edit. Missing folders are made."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "The absolute path of the file"},
                    "content": {"type": "string", "description": "What the file is to hold"},
                },
                "required": ["file_path", "content"],
                "additionalProperties": false,
            }),
            kind: ToolKind::Write,
            reads_only: false,
        };
        Self { spec, seen }
    }
}

#[async_trait(?Send)]
impl Tool for Write {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Write(vec![say::text(input, "file_path").to_owned()])
    }

    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        let arguments = say::arguments(&self.spec, input).ok()?;
        let (path, content) = (say::text(&arguments, "file_path").to_owned(), say::text(&arguments, "content").to_owned());
        blocking(cx, move |wall, _| preview(&wall.locate(path)?, &content)).await.ok()
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let arguments = match say::arguments(&self.spec, input) {
            Ok(arguments) => arguments,
            Err(given) => return given,
        };
        let (path, content) = (say::text(&arguments, "file_path").to_owned(), say::text(&arguments, "content").to_owned());
        let wall = &cx.world.wall;
        let place = match wall.locate(&path) {
            Ok(place) => place,
            Err(fault) => return say::fault(&fault, wall),
        };
        let seen = self.seen.get(place.path());
        let (at, text) = (place.clone(), content.clone());
        let done = blocking(cx, move |_, _| match (at.stat_if_there()?, seen) {
            (None, _) => create(&at, &text).map(Some),
            (Some(_), None) => Ok(None),
            (Some(_), Some(seen)) => write(&at, &text, Put::Instead, Some(&seen)).map(Some),
        });
        let written = match done.await {
            Ok(Some(written)) => written,
            Ok(None) => return say::refused(UNREAD),
            Err(Fault::Changed(_)) => return say::refused(MODIFIED),
            // Somebody has just made one.
            Err(Fault::Exists(_)) => return say::refused(UNREAD),
            Err(fault) => return say::fault(&fault, wall),
        };
        self.seen.put(place.path(), written.stamp);
        let named = place.named().display().to_string();
        if written.created {
            let detail = json!({
                "type": "create",
                "filePath": named,
                "content": content,
                "structuredPatch": [],
                "originalFile": null,
                "userModified": false,
            });
            return Given::text(format!("File created successfully at: {named} {CURRENT}")).with(DetailShape::Claude, detail);
        }
        let before = written.before.as_deref().map(with_plain_ends);
        let patch = before.as_ref().map_or(json!([]), |before| Diff::of(before, &content).structured());
        let detail = json!({
            "type": "update",
            "filePath": named,
            "content": content,
            "structuredPatch": patch,
            "originalFile": before,
            "userModified": false,
        });
        Given::text(format!("The file {named} has been updated successfully. {CURRENT}")).with(DetailShape::Claude, detail)
    }
}
