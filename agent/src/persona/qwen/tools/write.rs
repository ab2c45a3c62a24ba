//! `write_file`.

use serde_json::json;

use super::{say, unchanged};
use crate::persona::shared::native::plain;
use crate::tools::files::write_file;
use crate::tools::seen::Seen;
use crate::tools::{Cx, Given, Spec};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::json::Str;

pub(super) fn spec() -> Spec {
    Spec {
        name: "write_file".into(),
        description: "Writes a file of the workspace as a whole. A file that is there is replaced, and has to have been read before. \
                      Missing folders are made."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The absolute path of the file"},
                "content": {"type": "string", "description": "What the file is to hold"},
            },
            "required": ["file_path", "content"],
        }),
        kind: ToolKind::Write,
        ..Spec::default()
    }
}

pub(super) async fn run(path: Str<'_>, content: Str<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let content = plain(content);
    let (place, written) = match write_file(&plain(path), &content, seen, cx).await {
        Ok(written) => written,
        Err(why) => return unchanged(&why, path, "overwriting", cx),
    };
    let named = place.named().display().to_string();
    let text = if written.created {
        format!("Successfully created and wrote to new file: {named}.")
    } else {
        format!("Successfully overwrote file: {named}.")
    };
    let before = written.before.unwrap_or_default();
    let diff = say::file_diff(&named, Some(&before), &content, ("Original", "Written"));
    Given::text(text).with(DetailShape::Qwen, diff)
}
