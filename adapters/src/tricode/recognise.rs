//! Signs of Tricode's STDIO lines (docs/tricode.md).

use crate::codec::Dialect::Tricode;
use crate::detect::{Evidence, HINT, Opened, PROOF, STRONG};

/// Plain sentences with which a run ends that never got to its first line of JSON.
const SENTENCES: &[&str] = &[
    "OpenAI API error: ",
    "Error: API key not configured for provider ",
    "❌ Agent terminated: ",
];

/// What the line says for Tricode.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Tricode, weight, why));
    if !line.is_object() {
        // A question to the user may stand before the JSON, glued to it.
        return match line.text {
            text if text.contains("{\"type\": \"tool_result\", \"name\": \"") => evidence(PROOF, "a tool_result behind other text"),
            text if SENTENCES.iter().any(|s| text.starts_with(s)) => evidence(STRONG, "one of Tricode's sentences"),
            text if text.starts_with("Error: Session ") && text.ends_with(" not found") => evidence(STRONG, "one of Tricode's sentences"),
            text if text.starts_with("Your choice [1/2/3/4]:") => evidence(HINT, "Tricode's question for permission"),
            _ => None,
        };
    }
    match line.kind {
        "system" if line.has("subtype") => None,
        "system" => {
            let message = line.word("message");
            let known = message.starts_with("Session ID: ") || message.starts_with("Resumed session ");
            if known {
                evidence(PROOF, "system with the session's id in its message")
            } else {
                None
            }
        }
        "round" if line.has("number") => evidence(PROOF, "round with a number"),
        "tool_call" if line.has_all(&["name", "arguments"]) => evidence(PROOF, "tool_call with name and arguments"),
        "tool_result" if line.has_all(&["name", "success"]) => evidence(PROOF, "tool_result with name and success"),
        "reminder" if line.has("message") => evidence(STRONG, "reminder"),
        "final" if line.has("content") => evidence(PROOF, "final with content"),
        _ => None,
    }
}
