//! Signs of Gemini CLI's lines.

use crate::codec::Dialect::Gemini;
use crate::codec::Mode;
use crate::detect::{Evidence, HINT, Opened, PROOF, STRONG};

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Gemini, weight, why));
    let kept = |weight, why| Some(Evidence::new(Gemini, weight, why).mode(super::chat::MODE));
    match line.kind {
        "" if line.has_all(&["sessionId", "projectHash"]) => kept(PROOF, "the header of a chat file, with a projectHash"),
        "" if line.has("$rewindTo") => kept(STRONG, "a message of a chat file is taken back"),
        "" if line.find(&["$set", "lastUpdated"]).is_some() => kept(STRONG, "a chat file's header changes"),
        "gemini" if line.has_all(&["id", "timestamp", "content"]) => kept(PROOF, "a reply of type gemini"),
        "user" if line.has_all(&["id", "timestamp", "content"]) && !line.has_any(&["message", "uuid"]) => {
            kept(HINT, "a user's message with id, timestamp and content")
        }
        "init" if line.has_all(&["timestamp", "session_id", "model"]) => evidence(PROOF, "init with a session_id and a model"),
        "message" if line.has_all(&["timestamp", "role", "content"]) => evidence(PROOF, "message with a role and a timestamp"),
        "tool_use" if line.has_all(&["tool_name", "tool_id"]) => evidence(PROOF, "tool_use with tool_name and tool_id"),
        "tool_result" if line.has_all(&["tool_id", "status"]) => evidence(PROOF, "tool_result with tool_id and status"),
        "error" if line.has_all(&["timestamp", "severity", "message"]) => evidence(PROOF, "error with a severity"),
        "result" if line.has_all(&["timestamp", "status"]) => evidence(PROOF, "result with a status and a timestamp"),
        "" if line.has_all(&["session_id", "response", "stats"]) => {
            evidence(PROOF, "session_id, response and stats").map(|found| found.mode(Mode::JSON))
        }
        "" if line.has_all(&["session_id", "response"]) => evidence(STRONG, "session_id and response").map(|found| found.mode(Mode::JSON)),
        "" if line.has("session_id") && line.find(&["error", "code"]).is_some() => {
            evidence(STRONG, "session_id and an error with a code").map(|found| found.mode(Mode::JSON))
        }
        _ => None,
    }
}
