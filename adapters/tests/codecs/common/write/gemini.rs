//! Gemini CLI's lines.

use crate::common::Chance;
use crate::common::json::quoted;
use crate::common::story::{Story, pieces};

/// Gemini CLI: a run for each turn; calls first, then their results.
pub fn gemini(story: &Story, chance: &mut Chance) -> String {
    let mut log = String::new();
    let mut clock = 0;
    let mut line = |kind: &str, rest: &str| {
        clock += 1;
        log += &format!(
            "{{\"type\":\"{kind}\",\"timestamp\":\"2026-11-21T07:00:{:02}.{:03}Z\",{rest}}}\n",
            clock / 1000 % 60,
            clock % 1000
        );
    };
    for turn in &story.turns {
        line("init", &format!("\"session_id\":\"{}\",\"model\":\"loom-1\"", story.session));
        line("message", &format!("\"role\":\"user\",\"content\":{}", quoted(&turn.prompt)));
        for round in &turn.rounds {
            for piece in round.text.iter().flat_map(|text| pieces(text, chance)) {
                line(
                    "message",
                    &format!("\"role\":\"assistant\",\"content\":{},\"delta\":true", quoted(&piece)),
                );
            }
            for call in &round.calls {
                let names = format!("\"tool_name\":\"{}\",\"tool_id\":\"{}\"", call.name, call.id);
                line("tool_use", &format!("{names},\"parameters\":{}", call.input));
            }
            for call in &round.calls {
                let (status, result) = (if call.ok { "success" } else { "error" }, quoted(&call.result));
                let error = format!(",\"error\":{{\"type\":\"execution_failed\",\"message\":{result}}}");
                let error = if call.ok { "" } else { &error };
                line(
                    "tool_result",
                    &format!("\"tool_id\":\"{}\",\"status\":\"{status}\",\"output\":{result}{error}", call.id),
                );
            }
        }
        let tokens = "\"total_tokens\":16,\"input_tokens\":7,\"output_tokens\":9,\"cached\":0,\"input\":7";
        let stats = format!("\"stats\":{{{tokens},\"duration_ms\":1000,\"tool_calls\":0,\"models\":{{\"loom-1\":{{{tokens}}}}}}}");
        let error = "\"status\":\"error\",\"error\":{\"type\":\"unknown\",\"message\":\"[API Error: terminated]\"}";
        line("result", &format!("{},{stats}", if turn.ok { "\"status\":\"success\"" } else { error }));
    }
    log
}
