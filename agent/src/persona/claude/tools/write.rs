//! `Write`.

use serde_json::json;

use super::{CURRENT, MODIFIED, UNREAD, say};
use crate::persona::shared::native::plain;
use crate::tools::diff::Diff;
use crate::tools::files::{Unchanged, write_file};
use crate::tools::seen::Seen;
use crate::tools::text::with_plain_ends;
use crate::tools::{Cx, Given, Spec};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::json::Str;

pub(super) fn spec() -> Spec {
    Spec {
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
        ..Spec::default()
    }
}

pub(super) async fn run(path: Str<'_>, content: Str<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let content = plain(content);
    let (place, written) = match write_file(&plain(path), &content, seen, cx).await {
        Ok(written) => written,
        Err(Unchanged::Nowhere(fault) | Unchanged::Fault(fault)) => return say::fault(&fault, &cx.world.wall),
        Err(Unchanged::Modified) => return say::refused(MODIFIED),
        Err(_) => return say::refused(UNREAD),
    };
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
