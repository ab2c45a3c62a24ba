//! Signs of Cursor's print mode (docs/cursor.md).

use crate::codec::Dialect::Cursor;
use crate::codec::Mode;
use crate::detect::{Evidence, FAINT, HINT, Opened, PROOF, STRONG};

/// What the line says for Cursor.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let foreign = line.has_any(&["uuid", "parent_tool_use_id"]);
    let evidence = |weight, why| Some(Evidence::new(Cursor, weight, why));
    match (line.kind, line.word("subtype")) {
        _ if foreign => None,
        ("system", "init") if line.has_all(&["apiKeySource", "permissionMode"]) && !line.has_any(&["tools", "claude_code_version"]) => {
            evidence(PROOF, "system/init with apiKeySource and no tools")
        }
        ("system", "init") if line.has("model") && !line.has_any(&["tools", "permission_mode"]) => evidence(HINT, "system/init without tools"),
        ("tool_call", "started" | "completed" | "progress") if line.has("tool_call") => evidence(PROOF, "tool_call/started or completed"),
        ("thinking", "delta" | "completed") => evidence(PROOF, "thinking/delta or completed"),
        ("interaction_query", _) => evidence(PROOF, "interaction_query"),
        ("connection" | "retry", subtype) if !subtype.is_empty() => evidence(STRONG, "connection or retry"),
        ("assistant", _) if line.has_any(&["model_call_id", "timestamp_ms"]) => evidence(STRONG, "assistant with model_call_id or timestamp_ms"),
        ("assistant", _) if line.has_all(&["message", "session_id"]) && line.find(&["message", "id"]).is_none() => {
            evidence(HINT + FAINT, "assistant without a message id")
        }
        ("user", _) if line.has_all(&["message", "session_id"]) => evidence(HINT, "user without parent_tool_use_id"),
        ("result", _) if line.has_any(&["num_turns", "total_cost_usd"]) => None,
        ("result", _) if line.has_all(&["duration_api_ms", "session_id"]) || line.find(&["usage", "inputTokens"]).is_some() => {
            // The document has is_error before the durations, the stream behind them.
            let document = line.place("is_error") < line.place("duration_ms");
            evidence(PROOF, "result without num_turns").map(|e| if document { e.mode(Mode::JSON) } else { e })
        }
        _ => None,
    }
}
