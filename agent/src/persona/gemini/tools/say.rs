//! How Gemini CLI says things: what the model reads, and what people see of it, which is all that a host is told of a call that went well.

use serde_json::json;

use crate::persona::shared::ajv;
use crate::persona::shared::args::Wrong;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::DetailShape;

/// What an error is called whose call makes no sense.
pub(super) const INVALID: &str = "invalid_tool_params";

/// It went well, and people see nothing of it in words.
pub(super) fn unseen(text: impl Into<String>) -> Given {
    Given::text(text).with(DetailShape::Gemini, json!({}))
}

/// It went well, and people see this.
pub(super) fn said(text: impl Into<String>, shown: &str) -> Given {
    Given::text(text).with(DetailShape::Gemini, json!({"output": shown}))
}

/// It failed: what people see, and what the error is called.
pub(super) fn failed(text: &str, shown: &str, error: &str) -> Given {
    Given::error(text).with(DetailShape::Gemini, json!({"output": shown, "error": error}))
}

/// The same where people see what the model reads.
pub(super) fn refused(text: &str, error: &str) -> Given {
    failed(text, text, error)
}

/// The result of a call whose arguments do not fit.
pub(super) fn invalid(_: &Spec, wrong: &[Wrong]) -> Given {
    refused(&ajv::first(wrong), INVALID)
}

/// A file operation that failed.
pub(super) fn fault(fault: &Fault, cx: &Cx<'_>) -> Given {
    match fault {
        Fault::Missing(path) => failed(&format!("File not found: {}", path.display()), "File not found.", "file_not_found"),
        Fault::Folder(path) => failed(
            &format!("Path is a directory, not a file: {}", path.display()),
            "Path is a directory.",
            "target_is_directory",
        ),
        Fault::Outside { path, .. } => outside(&path.display().to_string(), cx),
        Fault::Denied(path) => failed(
            &format!("Permission denied: {}", path.display()),
            "Error: Permission denied.",
            "permission_denied",
        ),
        Fault::Full(path) => failed(
            &format!("No space left on device: {}", path.display()),
            "Error: No space left on device.",
            "no_space_left",
        ),
        other => failed(&other.to_string(), &format!("Error: {other}"), "unhandled_exception"),
    }
}

fn outside(path: &str, cx: &Cx<'_>) -> Given {
    let folders: Vec<String> = cx.world.wall.folders().iter().map(|folder| folder.display().to_string()).collect();
    let text = format!(
        "Path not in workspace: Attempted path \"{path}\" resolves outside the allowed workspace directories: {}",
        folders.join(", ")
    );
    refused(&text, INVALID)
}
