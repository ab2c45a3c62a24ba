//! Signs of OpenCode's lines (docs/opencode.md).

use super::{bus, export};
use crate::codec::Dialect::Opencode;
use crate::detect::{Evidence, Opened, PROOF, STRONG, word};

/// What the line says for OpenCode.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Opencode, weight, why));
    if let Some(data) = line.text.strip_prefix("data:") {
        return recognise(&Opened::new(data.trim_start()));
    }
    if line.word("id").starts_with("evt_") && line.has_all(&["type", "properties"]) {
        return Some(Evidence::new(Opencode, PROOF, "an id that begins with evt_, and properties").mode(bus::MODE));
    }
    let of_run = line.has_all(&["timestamp", "sessionID"]);
    match line.kind {
        "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" if of_run && line.has("part") => {
            evidence(PROOF, "a part with a timestamp and a sessionID")
        }
        "error" if of_run && line.has("error") => evidence(PROOF, "an error with a timestamp and a sessionID"),
        "done" if of_run => evidence(STRONG, "done with a timestamp and a sessionID"),
        _ if line.has_any(&["messages", "parts"]) || line.place("info") == Some(0) => exported(line),
        _ => None,
    }
}

/// A session that was exported, or one of its messages.
fn exported(line: &Opened<'_>) -> Option<Evidence> {
    let id = |prefix: &str| line.find(&["info", "id"]).is_some_and(|id| word(id).starts_with(prefix));
    let why = match () {
        () if id("ses_") => "an info whose id begins with ses_",
        () if id("msg_") && line.has("parts") => "an info whose id begins with msg_, and parts",
        () => return None,
    };
    Some(Evidence::new(Opencode, PROOF, why).mode(export::MODE))
}
