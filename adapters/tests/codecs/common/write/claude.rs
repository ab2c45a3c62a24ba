//! Claude's and Qwen Code's lines.

use crate::common::Chance;
use crate::common::json::quoted;
use crate::common::story::{Round, Story, pieces};

/// Passes a stream event on: its object, what follows it on the line, and where it goes.
type Stream<'a> = dyn FnMut(String, &mut dyn FnMut() -> String, &mut String) + 'a;

/// Claude's and Qwen Code's lines.
pub fn shaped(story: &Story, qwen: bool, mut chance: Option<&mut Chance>) -> String {
    let mut log = String::new();
    let mut count = 0;
    let mut tail = |session: &str| {
        count += 1;
        format!("\"session_id\":\"{session}\",\"uuid\":\"00000000-0000-4000-8000-{count:012}\"")
    };
    let session = &story.session;
    let mode = if qwen { "permission_mode" } else { "permissionMode" };
    for (number, turn) in story.turns.iter().enumerate() {
        log += &format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/home/ada\",\"tools\":[],\"mcp_servers\":[],\"model\":\"loom-1\",\"{mode}\":\"default\",{}}}\n",
            tail(session)
        );
        let mut answer = "";
        for round in &turn.rounds {
            answer = round.text.as_deref().unwrap_or(answer);
            shaped_round(round, qwen, &mut chance, &mut || tail(session), &mut log);
            for call in &round.calls {
                let block = format!(
                    "{{\"tool_use_id\":\"{}\",\"type\":\"tool_result\",\"is_error\":{},\"content\":{}}}",
                    call.id,
                    !call.ok,
                    quoted(&call.result)
                );
                let line = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[";
                log += &format!("{line}{block}]}},\"parent_tool_use_id\":null,{}}}\n", tail(session));
            }
        }
        let numbers = format!(
            "\"duration_ms\":{},\"duration_api_ms\":12,\"num_turns\":{}",
            1000 + number,
            turn.rounds.len()
        );
        log += &match turn.ok {
            true => format!(
                "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,{numbers},\"result\":{},\"total_cost_usd\":0.5,{}}}\n",
                quoted(answer),
                tail(session)
            ),
            false => format!(
                "{{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,{numbers},\"total_cost_usd\":0.5,{}}}\n",
                tail(session)
            ),
        };
    }
    log
}

/// One reply, message by message, and piece by piece when there is chance to cut it.
fn shaped_round(round: &Round, qwen: bool, chance: &mut Option<&mut Chance>, tail: &mut dyn FnMut() -> String, log: &mut String) {
    // Head, pieces (type and key of the delta), the whole block.
    let mut blocks: Vec<(String, [&str; 2], String, String)> = Vec::new();
    if let Some(thought) = &round.thought {
        let whole = |text: &str| format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"\"}}", quoted(text));
        blocks.push((whole(""), ["thinking_delta", "thinking"], thought.clone(), whole(thought)));
    }
    if let Some(text) = &round.text {
        let whole = |text: &str| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text));
        blocks.push((whole(""), ["text_delta", "text"], text.clone(), whole(text)));
    }
    for call in &round.calls {
        let whole = |input: &str| {
            format!(
                "{{\"type\":\"tool_use\",\"id\":\"{}\",\"name\":\"{}\",\"input\":{input}}}",
                call.id, call.name
            )
        };
        blocks.push((whole("{}"), ["input_json_delta", "partial_json"], call.input.clone(), whole(&call.input)));
    }
    let usage = "\"usage\":{\"input_tokens\":7,\"output_tokens\":3}";
    let streaming = chance.is_some();
    let mut stream = |event: String, tail: &mut dyn FnMut() -> String, log: &mut String| {
        if streaming {
            *log += &format!("{{\"type\":\"stream_event\",\"event\":{event},\"parent_tool_use_id\":null,{}}}\n", tail());
        }
    };
    let message = |content: &str, id: &str, stop: &str| {
        let head = format!("\"id\":\"{id}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"loom-1\",\"content\":[{content}]");
        format!("{{{head},\"stop_reason\":{stop},{usage}}}")
    };
    stream(
        format!("{{\"type\":\"message_start\",\"message\":{}}}", message("", &round.id, "null")),
        tail,
        log,
    );
    let count = blocks.len();
    for (index, (head, [kind, key], body, whole)) in blocks.into_iter().enumerate() {
        stream(
            format!("{{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{head}}}"),
            tail,
            log,
        );
        for piece in chance.as_deref_mut().map(|chance| pieces(&body, chance)).unwrap_or_default() {
            let delta = format!("{{\"type\":\"{kind}\",\"{key}\":{}}}", quoted(&piece));
            stream(
                format!("{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{delta}}}"),
                tail,
                log,
            );
        }
        // Each of Qwen Code's messages has an id of its own, and only the last one of a reply has usage.
        let id = if qwen { format!("{}-{index}", round.id) } else { round.id.clone() };
        let mut line = message(&whole, &id, "null");
        if qwen && index + 1 < count {
            line = line.replace(usage, "\"usage\":{\"input_tokens\":0,\"output_tokens\":0}");
        }
        let stop = |log: &mut String, tail: &mut dyn FnMut() -> String, stream: &mut Stream<'_>| {
            stream(format!("{{\"type\":\"content_block_stop\",\"index\":{index}}}"), tail, log);
        };
        // Claude writes a block's message before the block's stop, Qwen Code behind it.
        if qwen {
            stop(log, tail, &mut stream);
        }
        *log += &format!("{{\"type\":\"assistant\",\"message\":{line},\"parent_tool_use_id\":null,{}}}\n", tail());
        if !qwen {
            stop(log, tail, &mut stream);
        }
    }
    if !qwen {
        let why = if round.calls.is_empty() { "end_turn" } else { "tool_use" };
        let delta = format!("\"delta\":{{\"stop_reason\":\"{why}\",\"stop_sequence\":null}},\"usage\":{{\"input_tokens\":7,\"output_tokens\":9}}");
        stream(format!("{{\"type\":\"message_delta\",{delta}}}"), tail, log);
    }
    stream("{\"type\":\"message_stop\"}".to_owned(), tail, log);
}
