//! How Qwen Code says things: what the model reads, and the short form for whoever looks on (the RFC's `result_display`).
//!
//! The host of Qwen Code reads the short form where it is a text that is not empty, else what the model reads (recorded: `parallel_tools`,
//! where a search is told as `Found 1 matching file(s)`).

use serde_json::{Value, json};

use crate::persona::shared::ajv;
use crate::persona::shared::args::Wrong;
use crate::tools::diff::Diff;
use crate::tools::{Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::DetailShape;

/// A result with a short form in words.
pub(super) fn said(text: impl Into<String>, shown: &str) -> Given {
    let given = Given::text(text);
    if shown.is_empty() {
        given
    } else {
        given.with(DetailShape::Qwen, string(shown))
    }
}

/// A call that failed.
pub(super) fn failed(text: &str, shown: &str) -> Given {
    Given::error(text).with(DetailShape::Qwen, string(shown))
}

fn string(text: &str) -> Value {
    json!({"kind": "string", "text": text})
}

/// A file operation that failed.
pub(super) fn fault(fault: &Fault) -> Given {
    match fault {
        Fault::Missing(path) => failed(&format!("File not found: {}", path.display()), "File not found."),
        Fault::Folder(path) => failed(
            &format!("Path is a directory, not a file: {}", path.display()),
            "Error: Path is a directory.",
        ),
        Fault::Denied(path) => failed(
            &format!("Permission denied writing to file: {} (EACCES)", path.display()),
            "Error: Permission denied.",
        ),
        Fault::Full(path) => failed(
            &format!("No space left on device: {} (ENOSPC)", path.display()),
            "Error: No space left on device.",
        ),
        other => failed(&other.to_string(), &format!("Error: {other}")),
    }
}

/// What was changed in a file, as it is shown.
pub(super) fn file_diff(named: &str, before: Option<&str>, after: &str, words: (&str, &str)) -> Value {
    let name = named.rsplit('/').next().unwrap_or(named);
    let diff = Diff::of(before.unwrap_or_default(), after);
    let (from, to) = (format!("{name}\t{}", words.0), format!("{name}\t{}", words.1));
    let patch = format!("Index: {name}\n{}\n{}", "=".repeat(67), diff.unified(&from, &to));
    json!({
        "kind": "file_diff",
        "file_name": name,
        "diff": patch,
        "original": before,
        "modified": after,
        "stat": {
            "ai_added_lines": diff.added,
            "ai_removed_lines": diff.removed,
            "user_added_lines": 0,
            "user_removed_lines": 0,
        },
    })
}

/// The result of a call whose arguments do not fit: the first thing that is wrong, in ajv's words (recorded: `tool_bad_args`).
pub(super) fn invalid(_: &Spec, wrong: &[Wrong]) -> Given {
    let text = ajv::first(wrong);
    failed(&text, &text)
}
