//! Tells a story in each dialect, as its real program would. Written for tests alone, without the library.

use super::Chance;
use super::json::quoted;
use super::story::{Room, Round, Story, Turn, pieces};

/// Passes a stream event on: its object, what follows it on the line, and where it goes.
type Stream<'a> = dyn FnMut(String, &mut dyn FnMut() -> String, &mut String) + 'a;

/// How a story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    Claude,
    ClaudePartial,
    QwenCode,
    QwenCodePartial,
    Qwen,
    QwenChunks,
    Cursor,
    CursorPartial,
    Gemini,
    Tricode,
    Codex,
    Acp,
    Opencode,
}

impl Telling {
    pub const ALL: [Self; 13] = [
        Self::Claude,
        Self::ClaudePartial,
        Self::QwenCode,
        Self::QwenCodePartial,
        Self::Qwen,
        Self::QwenChunks,
        Self::Cursor,
        Self::CursorPartial,
        Self::Gemini,
        Self::Tricode,
        Self::Codex,
        Self::Acp,
        Self::Opencode,
    ];

    /// The format's name.
    pub const fn format(self) -> &'static str {
        match self {
            Self::Claude | Self::ClaudePartial => "claude",
            Self::QwenCode | Self::QwenCodePartial => "qwen-code",
            Self::Qwen => "qwen",
            Self::QwenChunks => "qwen:stream-chunk-json",
            Self::Cursor | Self::CursorPartial => "cursor",
            Self::Gemini => "gemini",
            Self::Tricode => "tricode",
            Self::Codex => "codex",
            Self::Acp => "acp",
            Self::Opencode => "opencode",
        }
    }

    /// What its log can hold.
    pub const fn room(self) -> Room {
        let all = Room {
            thoughts: true,
            text_with_calls: true,
            call_ids: true,
            results: true,
            failures: true,
            pairs: false,
        };
        match self {
            Self::Cursor | Self::CursorPartial => Room {
                results: false,
                failures: false,
                ..all
            },
            Self::Gemini => Room { thoughts: false, ..all },
            Self::Tricode => Room {
                thoughts: false,
                text_with_calls: false,
                call_ids: false,
                pairs: true,
                ..all
            },
            Self::Codex => Room { call_ids: false, ..all },
            Self::Opencode => Room { pairs: true, ..all },
            _ => all,
        }
    }

    /// The story as a log; chance cuts the pieces.
    pub fn tell(self, story: &Story, chance: &mut Chance) -> String {
        match self {
            Self::Claude | Self::QwenCode => shaped(story, self == Self::QwenCode, None),
            Self::ClaudePartial | Self::QwenCodePartial => shaped(story, self == Self::QwenCodePartial, Some(chance)),
            Self::Qwen => completions(story),
            Self::QwenChunks => chunks(story, chance),
            Self::Cursor => cursor(story, None),
            Self::CursorPartial => cursor(story, Some(chance)),
            Self::Gemini => gemini(story, chance),
            Self::Tricode => tricode(story),
            Self::Codex => codex(story),
            Self::Acp => acp(story, chance),
            Self::Opencode => opencode(story),
        }
    }
}

/// What a log that goes from one dialect to another can still say. An end that the source has no line for is made up.
pub fn common(a: Room, b: Room) -> Room {
    Room {
        thoughts: a.thoughts && b.thoughts,
        text_with_calls: a.text_with_calls && b.text_with_calls,
        call_ids: a.call_ids && b.call_ids,
        results: a.results && b.results,
        failures: b.failures,
        pairs: a.pairs || b.pairs,
    }
}

/// Claude's and Qwen Code's lines.
fn shaped(story: &Story, qwen: bool, mut chance: Option<&mut Chance>) -> String {
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

fn display(call: &super::story::Call, index: Option<usize>) -> String {
    let status = if call.ok { "success" } else { "error" };
    let index = index.map_or(String::new(), |n| format!(",\"index\":{n}"));
    format!(
        "{{\"type\":\"x-qwen-tool-display\",\"tool_call_id\":\"{}\",\"status\":\"{status}\",\"result_display\":{{\"kind\":\"string\",\"text\":{}}}{index}}}",
        call.id,
        quoted(&call.result)
    )
}

/// The RFC's `stream-json`.
fn completions(story: &Story) -> String {
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
                let call = |call: &super::story::Call| {
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
fn chunks(story: &Story, chance: &mut Chance) -> String {
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

/// Cursor's current generation; with chance, also its partial output.
fn cursor(story: &Story, mut chance: Option<&mut Chance>) -> String {
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

/// Gemini CLI: a run for each turn; calls first, then their results.
fn gemini(story: &Story, chance: &mut Chance) -> String {
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

/// Codex's `exec --json`, a process a turn. The story's tools have no items of their own.
fn codex(story: &Story) -> String {
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
            let calls: Vec<(usize, &super::story::Call)> = round.calls.iter().map(|call| (next(), call)).collect();
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

/// The Agent Client Protocol, with bare messages. Ids of prompts and of the agent's questions collide.
fn acp(story: &Story, chance: &mut Chance) -> String {
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
            for call in &round.calls {
                let rest = format!(
                    "\"toolCallId\":\"{}\",\"title\":\"a call\",\"name\":\"{}\",\"kind\":\"other\",\"status\":\"in_progress\",\"rawInput\":{}",
                    call.id, call.name, call.input
                );
                log += &update("tool_call", &rest);
            }
            for call in &round.calls {
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

/// OpenCode's `run --format json`: whole parts, each call with its result.
fn opencode(story: &Story) -> String {
    let mut log = String::new();
    let mut count = 0;
    let mut line = |kind: &str, round: &str, part: &str| {
        count += 1;
        let places = format!("\"id\":\"prt_{count}\",\"messageID\":\"{round}\",\"sessionID\":\"{}\"", story.session);
        let head = format!(
            "\"type\":\"{kind}\",\"timestamp\":{},\"sessionID\":\"{}\"",
            1_795_244_716_000_u64 + count,
            story.session
        );
        format!("{{{head},\"part\":{{{places},{part}}}}}\n")
    };
    for turn in &story.turns {
        for (number, round) in turn.rounds.iter().enumerate() {
            log += &line("step_start", &round.id, "\"type\":\"step-start\"");
            for (kind, text) in [("reasoning", &round.thought), ("text", &round.text)] {
                if let Some(text) = text {
                    let part = format!("\"type\":\"{kind}\",\"text\":{},\"time\":{{\"start\":1,\"end\":2}}", quoted(text));
                    log += &line(kind, &round.id, &part);
                }
            }
            for call in &round.calls {
                let (status, said) = if call.ok { ("completed", "output") } else { ("error", "error") };
                let state = format!("\"status\":\"{status}\",\"input\":{},\"{said}\":{}", call.input, quoted(&call.result));
                let part = format!(
                    "\"type\":\"tool\",\"tool\":\"{}\",\"callID\":\"{}\",\"state\":{{{state},\"time\":{{\"start\":1,\"end\":2}}}}",
                    call.name, call.id
                );
                log += &line("tool_use", &round.id, &part);
            }
            let last = number + 1 == turn.rounds.len();
            if last && !turn.ok {
                continue;
            }
            let reason = if last { "stop" } else { "tool-calls" };
            let tokens = "\"tokens\":{\"total\":16,\"input\":7,\"output\":9,\"reasoning\":0,\"cache\":{\"write\":0,\"read\":0}},\"cost\":0.5";
            log += &line(
                "step_finish",
                &round.id,
                &format!("\"reason\":\"{reason}\",\"type\":\"step-finish\",{tokens}"),
            );
        }
        if !turn.ok {
            let error = "\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"terminated\"}}";
            log += &format!(
                "{{\"type\":\"error\",\"timestamp\":1795244717000,\"sessionID\":\"{}\",{error}}}\n",
                story.session
            );
        }
    }
    log
}

/// Tricode. The story's arguments are told as they are, so their spelling is not Python's.
fn tricode(story: &Story) -> String {
    let mut log = String::new();
    for turn in &story.turns {
        log += &format!("{{\"type\": \"system\", \"message\": \"Session ID: {}\"}}\n", &story.session[..8]);
        for (number, round) in turn.rounds.iter().enumerate() {
            log += &format!("{{\"type\": \"round\", \"number\": {}}}\n", number + 1);
            for call in &round.calls {
                let name = quoted(&call.name);
                log += &format!(
                    "{{\"type\": \"tool_call\", \"name\": {name}, \"arguments\": {}, \"formatted\": \"{}(...)\"}}\n",
                    call.input,
                    call.name.to_uppercase()
                );
                let result = quoted(&call.result);
                log += &format!(
                    "{{\"type\": \"tool_result\", \"name\": {name}, \"success\": {}, \"result\": {result}, \"formatted\": {result}}}\n",
                    call.ok
                );
            }
            if round.calls.is_empty() {
                log += &match (turn.ok, &round.text) {
                    (true, Some(text)) => format!("{{\"type\": \"final\", \"content\": {}}}\n", quoted(text)),
                    _ => "OpenAI API error: Error code: 401 - Incorrect API key provided\n".to_owned(),
                };
            }
        }
    }
    log
}
