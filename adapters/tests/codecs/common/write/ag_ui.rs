//! AG-UI.

use crate::common::Chance;
use crate::common::json::quoted;
use crate::common::story::{Call, Story, pieces};

/// AG-UI as other producers write it: nothing says where a round begins, and arguments of parallel calls come one among the other. `chunks`:
/// nothing says where a text, a thought or a call begins and ends.
pub fn ag_ui(story: &Story, chunks: bool, chance: &mut Chance) -> String {
    let session = quoted(&story.session);
    let mut log = String::new();
    for (number, turn) in story.turns.iter().enumerate() {
        let run = format!("\"threadId\":{session},\"runId\":\"run-{number}\"");
        log += &format!(
            "{{\"type\":\"RUN_STARTED\",{run},\"input\":{{{run},\"messages\":[{{\"id\":\"prompt-{number}\",\"role\":\"user\",\"content\":{}}}]}}}}\n",
            quoted(&turn.prompt)
        );
        for round in &turn.rounds {
            let thought = format!("\"messageId\":\"thought-{}\"", round.id);
            for said in round.thought.iter() {
                let parts = pieces(said, chance);
                log += &message("REASONING", &thought, ",\"role\":\"reasoning\"", &parts, chunks);
            }
            let text = format!("\"messageId\":\"{}\"", round.id);
            for said in round.text.iter() {
                let parts = pieces(said, chance);
                log += &message("TEXT", &text, ",\"role\":\"assistant\"", &parts, chunks);
            }
            log += &if chunks {
                in_chunks(&round.calls, &round.id, chance)
            } else {
                interleaved(&round.calls, &round.id, chance)
            };
            for call in &round.calls {
                let status = if call.ok {
                    ""
                } else {
                    ",\"metadata\":{\"agentglot\":{\"status\":\"error\"}}"
                };
                log += &format!(
                    "{{\"type\":\"TOOL_CALL_RESULT\",\"messageId\":\"result-{}\",\"toolCallId\":\"{}\",\"content\":{}{status}}}\n",
                    call.id,
                    call.id,
                    quoted(&call.result)
                );
            }
        }
        log += &match turn.ok {
            true => format!("{{\"type\":\"RUN_FINISHED\",{run}}}\n"),
            false => "{\"type\":\"RUN_ERROR\",\"message\":\"The model does not exist\"}\n".to_owned(),
        };
    }
    log
}

fn message(of: &str, id: &str, role: &str, parts: &[String], chunks: bool) -> String {
    let span = |word: &str| match of {
        "REASONING" => format!("{{\"type\":\"REASONING_{word}\",{id}}}\n"),
        _ => String::new(),
    };
    let delta = |kind: &str, part: &String| format!("{{\"type\":\"{of}_MESSAGE_{kind}\",{id},\"delta\":{}}}\n", quoted(part));
    if chunks {
        return parts.iter().map(|part| delta("CHUNK", part)).collect();
    }
    let mut log = span("START");
    log += &format!("{{\"type\":\"{of}_MESSAGE_START\",{id}{role}}}\n");
    log += &parts.iter().map(|part| delta("CONTENT", part)).collect::<String>();
    log += &format!("{{\"type\":\"{of}_MESSAGE_END\",{id}}}\n");
    log + &span("END")
}

fn in_chunks(calls: &[Call], round: &str, chance: &mut Chance) -> String {
    let mut log = String::new();
    for call in calls {
        for (n, piece) in pieces(&call.input, chance).iter().enumerate() {
            let head = match n {
                0 => format!(
                    ",\"toolCallId\":\"{}\",\"toolCallName\":\"{}\",\"parentMessageId\":\"{round}\"",
                    call.id, call.name
                ),
                _ => String::new(),
            };
            log += &format!("{{\"type\":\"TOOL_CALL_CHUNK\"{head},\"delta\":{}}}\n", quoted(piece));
        }
    }
    log
}

fn interleaved(calls: &[Call], round: &str, chance: &mut Chance) -> String {
    let mut log = String::new();
    for call in calls {
        log += &format!(
            "{{\"type\":\"TOOL_CALL_START\",\"toolCallId\":\"{}\",\"toolCallName\":\"{}\",\"parentMessageId\":\"{round}\"}}\n",
            call.id, call.name
        );
    }
    let mut left: Vec<(&Call, Vec<String>)> = calls.iter().map(|call| (call, pieces(&call.input, chance))).collect();
    while !left.is_empty() {
        let at = chance.below(left.len());
        let (call, parts) = &mut left[at];
        let piece = parts.remove(0);
        log += &format!(
            "{{\"type\":\"TOOL_CALL_ARGS\",\"toolCallId\":\"{}\",\"delta\":{}}}\n",
            call.id,
            quoted(&piece)
        );
        if parts.is_empty() {
            log += &format!("{{\"type\":\"TOOL_CALL_END\",\"toolCallId\":\"{}\"}}\n", call.id);
            left.remove(at);
        }
    }
    log
}
