//! The lines of the RFC.

use crate::common::Chance;
use crate::common::json::quoted;
use crate::common::story::{Call, Story, Turn, pieces};

fn envelope(story: &Story, object: &str, rest: &str) -> String {
    format!(
        "{{\"id\":\"chatcmpl-{}\",\"object\":\"{object}\",\"created\":1788000000,\"model\":\"loom-1\",{rest}}}\n",
        story.session
    )
}

const RECEIPT: &str =
    "\"metadata\":{\"protocol_version\":\"1\",\"input_format\":\"text\",\"output_format\":\"stream-json\",\"capabilities\":\"heartbeat\"}";

fn summary(turn: &Turn) -> String {
    let (outcome, is_error) = if turn.ok { ("success", "false") } else { ("failed_model", "true") };
    format!(
        "\"metadata\":{{\"summary\":\"true\",\"outcome\":\"{outcome}\",\"is_error\":\"{is_error}\",\"num_turns\":\"{}\",\"duration_ms\":\"1000\"}}",
        turn.rounds.len()
    )
}

const USAGE: &str = "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":9,\"total_tokens\":16}";

fn display(call: &Call, index: Option<usize>) -> String {
    let status = if call.ok { "success" } else { "error" };
    let index = index.map_or(String::new(), |n| format!(",\"index\":{n}"));
    format!(
        "{{\"type\":\"x-qwen-tool-display\",\"tool_call_id\":\"{}\",\"status\":\"{status}\",\"result_display\":{{\"kind\":\"string\",\"text\":{}}}{index}}}",
        call.id,
        quoted(&call.result)
    )
}

/// The RFC's `stream-json`.
pub fn completions(story: &Story) -> String {
    let line = |message: &str, finish: &str, rest: &str| {
        let choice = format!("\"choices\":[{{\"index\":0,\"message\":{message},\"finish_reason\":\"{finish}\"}}]{rest}");
        envelope(story, "chat.completion", &choice)
    };
    let empty = "{\"role\":\"assistant\",\"content\":\"\"}";
    let mut log = line(empty, "stop", &format!(",{RECEIPT}"));
    for turn in &story.turns {
        for round in &turn.rounds {
            let mut message = format!(
                "\"role\":\"assistant\",\"content\":{}",
                round.text.as_deref().map_or("null".to_owned(), quoted)
            );
            if let Some(thought) = &round.thought {
                let thought = quoted(thought);
                message += &format!(
                    ",\"reasoning_content\":{thought},\"annotations\":[{{\"type\":\"x-qwen-thought\",\"subject\":\"\",\"description\":{thought}}}]"
                );
            }
            if !round.calls.is_empty() {
                let call = |call: &Call| {
                    let function = format!("{{\"name\":\"{}\",\"arguments\":{}}}", call.name, quoted(&call.input));
                    format!("{{\"id\":\"{}\",\"type\":\"function\",\"function\":{function}}}", call.id)
                };
                message += &format!(",\"tool_calls\":[{}]", round.calls.iter().map(call).collect::<Vec<_>>().join(","));
            }
            let finish = if round.calls.is_empty() { "stop" } else { "tool_calls" };
            log += &line(&format!("{{{message}}}"), finish, &format!(",{USAGE}"));
            for call in &round.calls {
                log += &line(
                    &format!("{{\"role\":\"assistant\",\"content\":null,\"annotations\":[{}]}}", display(call, None)),
                    "tool_calls",
                    "",
                );
            }
        }
        log += &line(empty, if turn.ok { "stop" } else { "error" }, &format!(",{USAGE},{}", summary(turn)));
    }
    log
}

/// The RFC's `stream-chunk-json`. Pieces of parallel calls come mixed, as chance has it.
pub fn chunks(story: &Story, chance: &mut Chance) -> String {
    let line = |delta: &str, finish: &str, rest: &str| {
        let choice = format!("\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]{rest}");
        envelope(story, "chat.completion.chunk", &choice)
    };
    let role = "{\"role\":\"assistant\"}";
    let mut log = line(role, "null", &format!(",{RECEIPT}"));
    for turn in &story.turns {
        let (mut calls, mut notes) = (0, 0);
        for round in &turn.rounds {
            log += &line(role, "null", "");
            if let Some(thought) = &round.thought {
                for piece in pieces(thought, chance) {
                    let piece = quoted(&piece);
                    let note = format!("{{\"type\":\"x-qwen-thought\",\"subject\":\"\",\"description\":{piece},\"index\":{notes}}}");
                    log += &line(&format!("{{\"reasoning_content\":{piece},\"annotations\":[{note}]}}"), "null", "");
                }
                notes += 1;
            }
            for piece in round.text.iter().flat_map(|text| pieces(text, chance)) {
                log += &line(&format!("{{\"content\":{}}}", quoted(&piece)), "null", "");
            }
            let mut parts: Vec<(usize, std::vec::IntoIter<String>)> = Vec::new();
            let mut waiting = round.calls.iter();
            loop {
                // The next call begins, or one that has begun goes on.
                if waiting.len() > 0 && (parts.is_empty() || chance.below(2) == 0) {
                    let call = waiting.next().expect("one was left");
                    let head = format!(
                        "\"id\":\"{}\",\"type\":\"function\",\"function\":{{\"name\":\"{}\",\"arguments\":\"\"}}",
                        call.id, call.name
                    );
                    log += &line(&format!("{{\"tool_calls\":[{{\"index\":{calls},{head}}}]}}"), "null", "");
                    parts.push((calls, pieces(&call.input, chance).into_iter()));
                    calls += 1;
                    continue;
                }
                if parts.is_empty() {
                    break;
                }
                let at = chance.below(parts.len());
                match parts[at].1.next() {
                    Some(piece) => {
                        let call = format!("{{\"index\":{},\"function\":{{\"arguments\":{}}}}}", parts[at].0, quoted(&piece));
                        log += &line(&format!("{{\"tool_calls\":[{call}]}}"), "null", "");
                    }
                    None => {
                        parts.remove(at);
                    }
                }
            }
            let finish = match round.calls.is_empty() {
                false => "\"tool_calls\"",
                true if turn.ok => "\"stop\"",
                true => "\"error\"",
            };
            log += &line("{}", finish, "");
            for call in &round.calls {
                log += &line(&format!("{{\"annotations\":[{}]}}", display(call, Some(notes))), "null", "");
                notes += 1;
            }
        }
        log += &envelope(story, "chat.completion.chunk", &format!("\"choices\":[],{USAGE},{}", summary(turn)));
    }
    log
}
