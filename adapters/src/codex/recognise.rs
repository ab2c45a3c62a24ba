//! Signs of Codex's lines (docs/codex.md).

use crate::codec::Dialect::Codex;
use crate::detect::{Evidence, FAINT, HINT, Opened, PROOF, STRONG};

/// What the line says for Codex.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Codex, weight, why));
    match line.kind {
        "thread.started" if line.has("thread_id") => evidence(PROOF, "thread.started with thread_id"),
        "item.started" | "item.updated" | "item.completed" if line.find(&["item", "type"]).is_some() => evidence(PROOF, "an item with a type"),
        "turn.completed" if line.find(&["usage", "cached_input_tokens"]).is_some() => evidence(PROOF, "turn.completed with usage"),
        "turn.failed" if line.find(&["error", "message"]).is_some() => evidence(STRONG, "turn.failed with an error"),
        "turn.started" | "turn.completed" => evidence(HINT, "a turn's start or end"),
        "error" if line.has("message") && !line.has("error") => evidence(FAINT, "an error with a message"),
        _ => None,
    }
}
