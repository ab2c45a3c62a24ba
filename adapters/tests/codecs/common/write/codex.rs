//! Codex's `exec --json`.

use crate::common::json::quoted;
use crate::common::story::{Call, Story};

/// Codex's `exec --json`, a process a turn. The story's tools have no items of their own.
pub fn codex(story: &Story) -> String {
    let mut log = String::new();
    for (number, turn) in story.turns.iter().enumerate() {
        log += &format!(
            "{{\"type\":\"thread.started\",\"thread_id\":\"{}\"}}\n{{\"type\":\"turn.started\"}}\n",
            story.session
        );
        let mut items = 0;
        let mut next = || {
            items += 1;
            items - 1
        };
        for round in &turn.rounds {
            for (kind, text) in [("reasoning", &round.thought), ("agent_message", &round.text)] {
                if let Some(text) = text {
                    let item = format!("{{\"id\":\"item_{}\",\"type\":\"{kind}\",\"text\":{}}}", next(), quoted(text));
                    log += &format!("{{\"type\":\"item.completed\",\"item\":{item}}}\n");
                }
            }
            let calls: Vec<(usize, &Call)> = round.calls.iter().map(|call| (next(), call)).collect();
            for (word, done) in [("started", false), ("completed", true)] {
                for (item, call) in &calls {
                    let head = format!("\"id\":\"item_{item}\",\"type\":\"mcp_tool_call\",\"server\":\"builtin\"");
                    let asked = format!("\"tool\":\"{}\",\"arguments\":{}", call.name, call.input);
                    let content = format!(
                        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"structured_content\":null}}",
                        quoted(&call.result)
                    );
                    let (result, status) = match (done, call.ok) {
                        (false, _) => ("null", "in_progress"),
                        (true, true) => (content.as_str(), "completed"),
                        (true, false) => (content.as_str(), "failed"),
                    };
                    log += &format!(
                        "{{\"type\":\"item.{word}\",\"item\":{{{head},{asked},\"result\":{result},\"error\":null,\"status\":\"{status}\"}}}}\n"
                    );
                }
            }
        }
        let sum = 7 * (number + 1);
        log += &match turn.ok {
            true => format!("{{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":{sum},\"cached_input_tokens\":0,\"output_tokens\":{sum}}}}}\n"),
            false => "{\"type\":\"error\",\"message\":\"The model does not exist\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"The model does not exist\"}}\n".to_owned(),
        };
    }
    log
}
