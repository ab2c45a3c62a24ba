//! `Glob`.

use std::time::Instant;

use serde_json::json;

use super::say;
use crate::persona::shared::native::{folder, plain};
use crate::tools::glob::{Asked, Order, glob};
use crate::tools::walk::Tree;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::json::Str;

/// The most files of one call.
const MOST: usize = 100;

pub(super) fn spec() -> Spec {
    Spec {
        name: "Glob".into(),
        description: "Finds files of the workspace by a glob for their paths, such as \"**/*.rs\" or \"src/**/*.{ts,tsx}\": up to 100 of \
                      them, the one that was written last first."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The glob"},
                "path": {"type": "string", "description": "The folder; the working folder if it is left out"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        }),
        kind: ToolKind::Glob,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn run(pattern: Str<'_>, path: Option<Str<'_>>, cx: &Cx<'_>) -> Given {
    let began = Instant::now();
    let asked = Asked {
        pattern: plain(pattern),
        names: true,
        any_case: false,
        tree: Tree {
            hidden: true,
            ignored: true,
            ..Tree::default()
        },
        order: Order::Newest,
        most: MOST,
    };
    let path = folder(path);
    let done = blocking(cx, move |wall, cancel| glob(wall, &wall.locate(path)?, &asked, cancel));
    let wall = &cx.world.wall;
    let found = match done.await {
        Ok(found) => found,
        Err(fault) => return nowhere(&fault, "Directory", wall),
    };
    let names: Vec<String> = found.files.iter().map(|path| wall.shown(path).display().to_string()).collect();
    let truncated = found.total > names.len();
    let mut text = if names.is_empty() {
        "No files found".to_owned()
    } else {
        names.join("\n")
    };
    if truncated {
        text.push_str("\n(Results are truncated. Consider using a more specific path or pattern.)");
    }
    let detail = json!({
        "durationMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "numFiles": names.len(),
        "filenames": names,
        "truncated": truncated,
        "totalMatches": found.total,
        "countIsComplete": true,
    });
    Given::text(text).with(DetailShape::Claude, detail)
}

/// A search in what is not there.
pub(super) fn nowhere(fault: &Fault, what: &str, wall: &crate::workspace::Wall) -> Given {
    match fault {
        Fault::Missing(path) => say::refused(&format!(
            "{what} does not exist: {}. Note: your current working directory is {}.",
            path.display(),
            wall.root().display()
        )),
        Fault::NotFolder(path) => say::refused(&format!("Path is not a directory: {}", path.display())),
        fault => say::fault(fault, wall),
    }
}
