//! The Agent Client Protocol.

use crate::common::Chance;
use crate::common::json::quoted;
use crate::common::story::{Call, Story, pieces};

/// The Agent Client Protocol, with bare messages. Ids of prompts and of the agent's questions collide.
pub fn acp(story: &Story, chance: &mut Chance) -> String {
    let session = &story.session;
    let mut log = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"session/new\",\"params\":{{\"cwd\":\"/home/ada\",\"mcpServers\":[]}}}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"sessionId\":\"{session}\"}}}}\n"
    );
    let update = |kind: &str, rest: &str| {
        let update = format!("{{\"sessionUpdate\":\"{kind}\",{rest}}}");
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{update}}}}}\n")
    };
    let text = |text: &str| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text));
    for (number, turn) in story.turns.iter().enumerate() {
        let id = number + 1;
        log += &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\"prompt\":[{}]}}}}\n",
            text(&turn.prompt)
        );
        for round in &turn.rounds {
            for (kind, said) in [("agent_thought_chunk", &round.thought), ("agent_message_chunk", &round.text)] {
                for piece in said.iter().flat_map(|said| pieces(said, chance)) {
                    log += &update(kind, &format!("\"content\":{}", text(&piece)));
                }
            }
            // Arguments may come with the call, or when others have begun, ended or gone on.
            let mut late = Vec::new();
            for call in &round.calls {
                let comes_late = chance.below(2) == 0;
                let status = if chance.below(2) == 0 { "pending" } else { "in_progress" };
                let rest = format!(
                    "\"toolCallId\":\"{}\",\"title\":\"a call\",\"name\":\"{}\",\"kind\":\"other\",\"status\":\"{status}\",\"rawInput\":{}",
                    call.id,
                    call.name,
                    if comes_late { "{}" } else { &call.input }
                );
                log += &update("tool_call", &rest);
                if comes_late {
                    late.push(call);
                }
            }
            let arguments = |call: &Call| update("tool_call_update", &format!("\"toolCallId\":\"{}\",\"rawInput\":{}", call.id, call.input));
            while late.len() > 1 && chance.below(2) == 0 {
                log += &arguments(late.remove(chance.below(late.len())));
            }
            for call in &round.calls {
                if let Some(at) = late.iter().position(|waits| waits.id == call.id) {
                    log += &arguments(late.remove(at));
                }
                let status = if call.ok { "completed" } else { "failed" };
                let content = format!("[{{\"type\":\"content\",\"content\":{}}}]", text(&call.result));
                let rest = format!("\"toolCallId\":\"{}\",\"status\":\"{status}\",\"content\":{content}", call.id);
                log += &update("tool_call_update", &rest);
            }
        }
        log += &match turn.ok {
            true => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"stopReason\":\"end_turn\"}}}}\n"),
            false => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"The model does not exist\"}}}}\n"),
        };
    }
    log
}
