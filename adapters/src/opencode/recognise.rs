//! Signs of OpenCode's lines (docs/opencode.md).

use crate::codec::Dialect::Opencode;
use crate::detect::{Evidence, Opened, PROOF, STRONG};

/// What the line says for OpenCode.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Opencode, weight, why));
    let of_run = line.has_all(&["timestamp", "sessionID"]);
    match line.kind {
        "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" if of_run && line.has("part") => {
            evidence(PROOF, "a part with a timestamp and a sessionID")
        }
        "error" if of_run && line.has("error") => evidence(PROOF, "an error with a timestamp and a sessionID"),
        "done" if of_run => evidence(STRONG, "done with a timestamp and a sessionID"),
        _ => None,
    }
}
