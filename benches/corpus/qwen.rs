//! The RFC's dialect as this project writes it (docs/qwen.md): `chat.completion.chunk` and `chat.completion` lines with a
//! receipt a session, annotations for thoughts and tool results, and a summary a turn.

use super::Dialect;
use super::conversation::{Action, Call, Round, Session, Turn, Usage};
use super::json::{Style, Text, map, pieces, put};
use super::qwen_tools as tools;
use super::rng::Rng;

/// `stream-chunk-json`.
pub(super) struct Chunks {
    rng: Rng,
    /// Indices count on through the turn.
    next_call: u64,
    next_annotation: u64,
}

impl Chunks {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Rng::at(&[seed, 0xCC41]),
            next_call: 0,
            next_annotation: 0,
        }
    }
}

impl Dialect for Chunks {
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
        (self.next_call, self.next_annotation) = (0, 0);
        if turn.number == 0 {
            chunk(session, turn.start_ms, r#"{"role":"assistant"}"#, "null", out);
            put!(out; r#","metadata":"#);
            receipt(session, "stream-chunk-json", out);
            put!(out; "}\n");
        }
        for round in &turn.rounds {
            self.reply(session, round, out);
            for &place in &round.finished {
                let at = round.start_ms + 2200;
                envelope(session, "chat.completion.chunk", at, out);
                put!(out; r#"[{"index":0,"delta":{"annotations":["#);
                display(session, &round.calls[place], out);
                put!(out; r#","index":"#, self.next_annotation, r#"}]},"finish_reason":null}]}"#,
                    "\n");
                self.next_annotation += 1;
            }
        }
        envelope(session, "chat.completion.chunk", turn.start_ms + turn.duration_ms, out);
        put!(out; r#"[],"usage":"#);
        usage(&turn.usage(), out);
        summary(turn, out);
    }
}

impl Chunks {
    fn reply(&mut self, session: &Session, round: &Round, out: &mut Vec<u8>) {
        let at = round.start_ms + round.ttft_ms;
        let mut delta = Vec::new();
        chunk(session, at, r#"{"role":"assistant"}"#, "null", out);
        put!(out; "}\n");
        for piece in pieces(&mut self.rng, &round.thinking, 12, 70) {
            delta.clear();
            put!(&mut delta; r#"{"reasoning_content":"#, Text(piece),
                r#","annotations":[{"type":"x-qwen-thought","subject":"","#);
            put!(&mut delta; r#""description":"#, Text(piece), r#","index":"#, self.next_annotation,
                "}]}");
            self.piece(session, at, &delta, out);
        }
        self.next_annotation += u64::from(!round.thinking.is_empty());
        for piece in pieces(&mut self.rng, &round.text, 10, 90) {
            delta.clear();
            put!(&mut delta; r#"{"content":"#, Text(piece), "}");
            self.piece(session, at, &delta, out);
        }
        for call in &round.calls {
            delta.clear();
            put!(&mut delta; r#"{"tool_calls":[{"index":"#, self.next_call, r#","id":"call_"#,
                call.id);
            put!(&mut delta; r#"","type":"function","function":{"name":""#,
                tools::name(&call.action));
            put!(&mut delta; r#"","arguments":""}}]}"#);
            self.piece(session, at, &delta, out);
            let arguments = tools::arguments(session, &call.action).text(Style::COMPACT);
            for piece in pieces(&mut self.rng, &arguments, 10, 60) {
                delta.clear();
                put!(&mut delta; r#"{"tool_calls":[{"index":"#, self.next_call,
                    r#","function":{"arguments":"#, Text(piece), "}}]}");
                self.piece(session, at, &delta, out);
            }
            self.next_call += 1;
        }
        let reason = if round.calls.is_empty() { "\"stop\"" } else { "\"tool_calls\"" };
        chunk(session, at + 1800, "{}", reason, out);
        put!(out; "}\n");
    }

    fn piece(&self, session: &Session, at: u64, delta: &[u8], out: &mut Vec<u8>) {
        envelope(session, "chat.completion.chunk", at, out);
        put!(out; r#"[{"index":0,"delta":"#);
        out.extend_from_slice(delta);
        put!(out; r#","finish_reason":null}]}"#, "\n");
    }
}

/// `stream-json`.
pub(super) struct Messages;

impl Dialect for Messages {
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
        if turn.number == 0 {
            empty_message(session, turn.start_ms, out);
            put!(out; r#","metadata":"#);
            receipt(session, "stream-json", out);
            put!(out; "}\n");
        }
        for round in &turn.rounds {
            message(session, round, out);
            for &place in &round.finished {
                let at = round.start_ms + 2200;
                envelope(session, "chat.completion", at, out);
                put!(out;
                    r#"[{"index":0,"message":{"role":"assistant","content":null,"annotations":["#);
                display(session, &round.calls[place], out);
                put!(out; r#","timestamp":"#, at, r#"}]},"finish_reason":"tool_calls"}]}"#, "\n");
            }
        }
        empty_message(session, turn.start_ms + turn.duration_ms, out);
        put!(out; r#","usage":"#);
        usage(&turn.usage(), out);
        summary(turn, out);
    }
}

fn message(session: &Session, round: &Round, out: &mut Vec<u8>) {
    envelope(session, "chat.completion", round.start_ms + 2000, out);
    put!(out; r#"[{"index":0,"message":{"role":"assistant","content":"#, Text(&round.text));
    if !round.thinking.is_empty() {
        put!(out; r#","reasoning_content":"#, Text(&round.thinking));
    }
    if !round.calls.is_empty() {
        put!(out; r#","tool_calls":["#);
        for (n, call) in round.calls.iter().enumerate() {
            let arguments = tools::arguments(session, &call.action).text(Style::COMPACT);
            put!(out; if n > 0 { "," } else { "" }, r#"{"id":"call_"#, call.id,
                r#"","type":"function","function":{"name":""#);
            put!(out; tools::name(&call.action), r#"","arguments":"#, Text(&arguments), "}}");
        }
        put!(out; "]");
    }
    if !round.thinking.is_empty() {
        let subject = round.thinking.split_once('\n').map_or("", |(subject, _)| subject);
        put!(out; r#","annotations":[{"type":"x-qwen-thought","subject":"#, Text(subject),
            r#","description":"#);
        put!(out; Text(&round.thinking), "}]");
    }
    let reason = if round.calls.is_empty() { "stop" } else { "tool_calls" };
    put!(out; r#"},"finish_reason":""#, reason, r#""}],"usage":"#);
    usage(&round.usage, out);
    put!(out; "}\n");
}

/// A line up to its choices.
fn envelope(session: &Session, object: &str, at_ms: u64, out: &mut Vec<u8>) {
    put!(out; r#"{"id":"chatcmpl-"#, session.id, r#"","object":""#, object, r#"","created":"#,
        at_ms / 1000);
    put!(out; r#","model":""#, session.model, r#"","choices":"#);
}

/// A chunk with one choice, without the brace that closes it.
fn chunk(session: &Session, at_ms: u64, delta: &str, finish_reason: &str, out: &mut Vec<u8>) {
    envelope(session, "chat.completion.chunk", at_ms, out);
    put!(out; r#"[{"index":0,"delta":"#, delta, r#","finish_reason":"#, finish_reason, "}]");
}

fn empty_message(session: &Session, at_ms: u64, out: &mut Vec<u8>) {
    envelope(session, "chat.completion", at_ms, out);
    put!(out;
        r#"[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}]"#);
}

fn receipt(session: &Session, format: &str, out: &mut Vec<u8>) {
    put!(out; r#"{"protocol_version":"1","input_format":"text","output_format":""#, format);
    put!(out; r#"","capabilities":"can_use_tool mcp_message","cwd":""#, session.cwd);
    put!(out;
        r#"","tools":"edit glob grep_search read_file run_shell_command todo_write write_file","#);
    put!(out; r#""permission_mode":"default","agent_version":"0.24.4"}"#);
}

/// A tool result as an annotation, without the brace that closes it.
fn display(session: &Session, call: &Call, out: &mut Vec<u8>) {
    let status = if call.action.failed() { "error" } else { "success" };
    put!(out; r#"{"type":"x-qwen-tool-display","tool_call_id":"call_"#, call.id,
        r#"","session_id":""#, session.id);
    put!(out; r#"","status":""#, status, r#"","result_display":"#);
    let text = tools::content(session, &call.action);
    let shown = match &call.action {
        Action::Plan { tasks, done } => {
            map! { "kind" => "todo_list", "todos" => tools::todos(tasks, *done), "text" => text }
        }
        _ => map! { "kind" => "string", "text" => text },
    };
    shown.write(Style::COMPACT, out);
}

fn usage(usage: &Usage, out: &mut Vec<u8>) {
    put!(out; r#"{"prompt_tokens":"#, usage.prompt(), r#","completion_tokens":"#, usage.output);
    put!(out; r#","total_tokens":"#, usage.prompt() + usage.output);
    put!(out; r#","prompt_tokens_details":{"cached_tokens":"#, usage.cache_read, "}}");
}

/// The metadata of a turn's last line, and the end of that line.
fn summary(turn: &Turn, out: &mut Vec<u8>) {
    put!(out;
        r#","metadata":{"summary":"true","outcome":"success","is_error":"false","num_turns":""#);
    put!(out; 1 + turn.calls().count(), r#"","duration_ms":""#, turn.duration_ms,
        r#"","stop_reason":"end_turn"}}"#, "\n");
}
