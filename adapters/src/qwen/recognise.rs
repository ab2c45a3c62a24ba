//! Signs of the OpenAI-style RFC (docs/qwen.md), in either mode, of both sides.

use super::STREAM_CHUNK_JSON;
use crate::codec::Dialect::Qwen;
use crate::detect::{Evidence, HINT, Opened, PROOF, STRONG, word};

/// What the line says for the RFC.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Qwen, weight, why));
    match (line.word("object"), line.kind) {
        ("chat.completion.chunk", _) => return evidence(PROOF, "object chat.completion.chunk").map(|e| e.mode(STREAM_CHUNK_JSON)),
        ("chat.completion", _) => return evidence(PROOF, "object chat.completion"),
        (_, "result/command" | "result/command_hint" | "result/heartbeat" | "result/cancel") => return evidence(PROOF, "a result/… line"),
        (_, "x-qwen-session-event") => return evidence(PROOF, "x-qwen-session-event"),
        (_, "command_hint_request" | "command_hint_cancel" | "heartbeat_request" | "control/cancel") => {
            return evidence(STRONG, "a side request of the RFC");
        }
        (_, "control_request") => return control(line),
        (_, "control_response") if line.has("request_id") => return evidence(STRONG, "control_response with request_id at the top"),
        (_, "") => {}
        _ => return None,
    }
    let origin = line.find(&["input", "origin"]);
    match () {
        () if origin.is_some() || line.find(&["input", "parts"]).is_some() => evidence(PROOF, "a Chat Request"),
        () if line.has_all(&["session_id", "input"]) => evidence(STRONG, "a Chat Request"),
        () if line.get("messages").is_some_and(|m| m.as_str().starts_with('[')) && line.has("model") => {
            evidence(STRONG, "a request with model and messages")
        }
        () if line
            .get("choices")
            .and_then(|c| c.elements().next())
            .is_some_and(|c| c.get("delta").is_some()) =>
        {
            evidence(STRONG, "choices with delta").map(|e| e.mode(STREAM_CHUNK_JSON))
        }
        () if line.get("choices").is_some_and(|c| c.as_str().starts_with('[')) => evidence(STRONG, "choices"),
        () if line.find(&["error", "code"]).map_or("", word).starts_with("QWEN_") => evidence(PROOF, "an error object with a code of the RFC"),
        () if line.find(&["error", "message"]).is_some() => evidence(HINT, "a bare error object"),
        () => None,
    }
}

fn control(line: &Opened<'_>) -> Option<Evidence> {
    let request = line.get("request");
    let nested = |key| request.and_then(|r| r.get(key));
    let subtype = nested("subtype").map_or_else(|| line.word("subtype"), word);
    let why = match subtype {
        "confirm_shell_commands" | "confirm_action" | "quit_confirmation" => "control_request of the RFC",
        _ if line.has("subtype") && line.has_any(&["tool", "session_id", "metadata"]) => "control_request, flat",
        _ if nested("tool").is_some() => "control_request with a tool object",
        _ => return None,
    };
    Some(Evidence::new(Qwen, STRONG, why))
}
