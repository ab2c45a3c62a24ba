//! Cursor's lines.

use crate::common::Chance;
use crate::common::json::quoted;
use crate::common::story::{Story, pieces};

/// Cursor's current generation; with chance, also its partial output.
pub fn cursor(story: &Story, mut chance: Option<&mut Chance>) -> String {
    let session = format!("\"session_id\":\"{}\"", story.session);
    let mut log = String::new();
    for (number, turn) in story.turns.iter().enumerate() {
        let clock = 1_788_000_000_000_u64 + 1000 * number as u64;
        log += &format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"apiKeySource\":\"login\",\"cwd\":\"/home/ada\",{session},\"model\":\"Auto\",\"permissionMode\":\"default\"}}\n"
        );
        let user = format!(
            "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            quoted(&turn.prompt)
        );
        log += &format!("{{\"type\":\"user\",\"message\":{user},{session}}}\n");
        let mut answer = String::new();
        for round in &turn.rounds {
            let reply = format!("\"model_call_id\":\"{}\"", round.id);
            if let Some(thought) = &round.thought {
                let parts = chance
                    .as_deref_mut()
                    .map_or_else(|| vec![thought.clone()], |chance| pieces(thought, chance));
                for piece in parts {
                    log += &format!(
                        "{{\"type\":\"thinking\",\"subtype\":\"delta\",\"text\":{},{session},\"timestamp_ms\":{clock}}}\n",
                        quoted(&piece)
                    );
                }
                log += &format!("{{\"type\":\"thinking\",\"subtype\":\"completed\",{session},\"timestamp_ms\":{clock}}}\n");
            }
            if let Some(text) = &round.text {
                let line = |text: &str, rest: &str| {
                    let message = format!("{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quoted(text));
                    format!("{{\"type\":\"assistant\",\"message\":{message},{session}{rest}}}\n")
                };
                for piece in chance.as_deref_mut().map(|chance| pieces(text, chance)).unwrap_or_default() {
                    log += &line(&piece, &format!(",\"timestamp_ms\":{clock}"));
                }
                let last = round.calls.is_empty();
                log += &line(
                    text,
                    &if last {
                        String::new()
                    } else {
                        format!(",{reply},\"timestamp_ms\":{clock}")
                    },
                );
                answer += text;
            }
            for completed in [false, true] {
                for call in &round.calls {
                    let key = if call.ok { "success" } else { "error" };
                    let inner = if call.ok { "content" } else { "errorMessage" };
                    let result = if completed {
                        format!(",\"result\":{{\"{key}\":{{\"{inner}\":{}}}}}", quoted(&call.result))
                    } else {
                        String::new()
                    };
                    let function = format!("{{\"name\":\"{}\",\"arguments\":{}{result}}}", call.name, quoted(&call.input));
                    let subtype = if completed { "completed" } else { "started" };
                    let head = format!("{{\"type\":\"tool_call\",\"subtype\":\"{subtype}\",\"call_id\":\"{}\"", call.id);
                    log += &format!("{head},\"tool_call\":{{\"function\":{function}}},{reply},{session},\"timestamp_ms\":{clock}}}\n");
                }
            }
        }
        if turn.ok {
            let numbers = "\"duration_ms\":1000,\"duration_api_ms\":1000,\"is_error\":false";
            let tail = format!(
                "{session},\"request_id\":\"req-{number}\",\"usage\":{{\"inputTokens\":7,\"outputTokens\":9,\"cacheReadTokens\":0,\"cacheWriteTokens\":0}}"
            );
            log += &format!(
                "{{\"type\":\"result\",\"subtype\":\"success\",{numbers},\"result\":{},{tail}}}\n",
                quoted(&answer)
            );
        }
    }
    log
}
