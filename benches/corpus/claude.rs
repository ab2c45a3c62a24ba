//! Claude Code `stream-json`, in the shapes and the order of the recordings (docs/claude.md): an init at each turn, one
//! assistant line a block before its content_block_stop, results in order of completion, sometimes before message_stop.

use super::claude_tools as tools;
use super::conversation::{Call, Round, Session, Turn, Usage};
use super::json::{ClaudeText, Style, pieces, put, timestamp};
use super::rng::Rng;
use super::{Dialect, words};

pub(super) struct Claude {
    /// Stream events too, as with `--include-partial-messages`.
    partial: bool,
    rng: Rng,
}

impl Claude {
    pub(super) fn new(seed: u64, partial: bool) -> Self {
        Self {
            partial,
            rng: Rng::at(&[seed, 0xC1A0]),
        }
    }
}

impl Dialect for Claude {
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
        init(&mut self.rng, session, out);
        for round in &turn.rounds {
            if self.partial {
                put!(out; r#"{"type":"system","subtype":"status","status":"requesting""#);
                self.tail(session, out);
            }
            Reply {
                claude: self,
                session,
                round,
                blocks: 0,
            }
            .write(out);
        }
        result(&mut self.rng, session, turn, out);
    }
}

impl Claude {
    /// The end of a system line.
    fn tail(&mut self, session: &Session, out: &mut Vec<u8>) {
        put!(out; r#","session_id":""#, session.id, r#"","uuid":""#, self.rng.uuid(), "\"}\n");
    }
}

/// One model call: its stream events, its assistant lines and the results of its tools.
struct Reply<'a> {
    claude: &'a mut Claude,
    session: &'a Session,
    round: &'a Round,
    /// How many blocks were begun.
    blocks: u64,
}

impl Reply<'_> {
    fn write(mut self, out: &mut Vec<u8>) {
        let round = self.round;
        if self.claude.partial {
            put!(out; r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":""#,
                round.message_id);
            put!(out; r#"","type":"message","role":"assistant","model":""#, self.session.model);
            put!(out; r#"","content":[],"stop_reason":null,"stop_sequence":null,"usage":"#);
            start_usage(&round.usage, out);
            put!(out; "}}");
            let ttft = format!(r#","ttft_ms":{},"thinking_display":"updates""#, round.ttft_ms);
            self.wrapper(&ttft, out);
        }
        self.thinking(out);
        self.text(out);
        for call in &round.calls {
            self.call(call, out);
        }
        let mut finished = round.finished.iter().map(|&place| &round.calls[place]);
        if self.claude.partial {
            let reason = if round.calls.is_empty() { "end_turn" } else { "tool_use" };
            self.event(r#""message_delta","delta":{"stop_reason":""#, out);
            put!(out; reason, r#"","stop_sequence":null},"usage":{"output_tokens":"#,
                round.usage.output, "}}");
            self.wrapper("", out);
            // A quick tool is done before the reply is.
            if round.ttft_ms.is_multiple_of(4)
                && let Some(call) = finished.next()
            {
                self.result(call, out);
            }
            self.event(r#""message_stop"}"#, out);
            self.wrapper("", out);
        }
        for call in finished {
            self.result(call, out);
        }
    }

    fn thinking(&mut self, out: &mut Vec<u8>) {
        let round = self.round;
        if round.thinking.is_empty() {
            return;
        }
        let display = r#","thinking_display":"updates""#;
        self.start(r#"{"type":"thinking","thinking":"","signature":""}"#, display, out);
        let mut seen = 0;
        for piece in pieces(&mut self.claude.rng, &round.thinking, 12, 90) {
            let tokens = piece.len() as u64 / 4 + 1;
            seen += tokens;
            put!(out; r#"{"type":"system","subtype":"thinking_tokens","estimated_tokens":"#, seen);
            put!(out; r#","estimated_tokens_delta":"#, tokens);
            self.claude.tail(self.session, out);
            self.delta(r#"{"type":"thinking_delta","thinking":"#, piece, display, out);
        }
        self.delta(r#"{"type":"signature_delta","signature":"#, &round.signature, "", out);
        let ends = format!(r#","thinking_duration_ms":{},"thinking_display":"updates""#, round.ttft_ms / 2);
        self.assistant(&ends, out, |out| {
            put!(out; r#"{"type":"thinking","thinking":"#, ClaudeText(&round.thinking));
            put!(out; r#","signature":"#, ClaudeText(&round.signature), "}");
        });
        self.stop(out);
    }

    fn text(&mut self, out: &mut Vec<u8>) {
        let round = self.round;
        if round.text.is_empty() {
            return;
        }
        self.start(r#"{"type":"text","text":""}"#, "", out);
        for piece in pieces(&mut self.claude.rng, &round.text, 10, 110) {
            self.delta(r#"{"type":"text_delta","text":"#, piece, "", out);
        }
        self.assistant("", out, |out| put!(out; r#"{"type":"text","text":"#, ClaudeText(&round.text), "}"));
        self.stop(out);
    }

    fn call(&mut self, call: &Call, out: &mut Vec<u8>) {
        let name = tools::name(&call.action);
        self.start(
            &format!(r#"{{"type":"tool_use","id":"toolu_01{}","name":"{name}","input":{{}}}}"#, call.id),
            "",
            out,
        );
        let input = tools::input(self.session, &call.action).text(Style::SPACED);
        self.delta(r#"{"type":"input_json_delta","partial_json":"#, "", "", out);
        for piece in pieces(&mut self.claude.rng, &input, 10, 90) {
            self.delta(r#"{"type":"input_json_delta","partial_json":"#, piece, "", out);
        }
        let session = self.session;
        self.assistant("", out, |out| {
            put!(out; r#"{"type":"tool_use","id":"toolu_01"#, call.id, r#"","name":""#, name,
                r#"","input":"#);
            tools::filled_input(session, &call.action).write(Style::CLAUDE, out);
            put!(out; "}");
        });
        self.stop(out);
    }

    /// The user line that carries a tool's result; the order of its keys depends on whether the tool failed.
    fn result(&mut self, call: &Call, out: &mut Vec<u8>) {
        let content = tools::content(self.session, &call.action);
        put!(out; r#"{"type":"user","message":{"role":"user","content":[{"#);
        if call.action.failed() {
            put!(out; r#""type":"tool_result","content":"#, ClaudeText(&content));
            put!(out; r#","is_error":true,"tool_use_id":"toolu_01"#, call.id, r#""}]}"#);
        } else {
            put!(out; r#""tool_use_id":"toolu_01"#, call.id, r#"","type":"tool_result","content":"#,
                ClaudeText(&content));
            put!(out; if name_is_shell(call) { r#","is_error":false}]}"# } else { "}]}" });
        }
        put!(out; r#","parent_tool_use_id":null,"session_id":""#, self.session.id, r#"","uuid":""#);
        let at = timestamp(self.round.start_ms + 2200);
        put!(out; self.claude.rng.uuid(), r#"","timestamp":""#, at, r#"","tool_use_result":"#);
        tools::structured(self.session, &call.action).write(Style::CLAUDE, out);
        put!(out; r#","tool_result_meta":[{"id":"toolu_01"#, call.id,
            r#"","permission_decision":"#);
        put!(out; r#"{"decision":"accept","source":"config","reason_type":"rule"}}]}"#, "\n");
    }

    fn start(&mut self, block: &str, extra: &str, out: &mut Vec<u8>) {
        self.blocks += 1;
        if self.claude.partial {
            self.event(r#""content_block_start","index":"#, out);
            put!(out; self.blocks - 1, r#","content_block":"#, block, "}");
            self.wrapper(extra, out);
        }
    }

    /// `head` is the delta up to the value of its last key, `piece` that value.
    fn delta(&mut self, head: &str, piece: &str, extra: &str, out: &mut Vec<u8>) {
        if self.claude.partial {
            self.event(r#""content_block_delta","index":"#, out);
            put!(out; self.blocks - 1, r#","delta":"#, head, ClaudeText(piece), "}}");
            self.wrapper(extra, out);
        }
    }

    fn stop(&mut self, out: &mut Vec<u8>) {
        if self.claude.partial {
            self.event(r#""content_block_stop","index":"#, out);
            put!(out; self.blocks - 1, "}");
            self.wrapper("", out);
        }
    }

    fn event(&self, head: &str, out: &mut Vec<u8>) {
        put!(out; r#"{"type":"stream_event","event":{"type":"#, head);
    }

    /// What follows the event in a stream_event line.
    fn wrapper(&mut self, extra: &str, out: &mut Vec<u8>) {
        put!(out; r#","session_id":""#, self.session.id, r#"","parent_tool_use_id":null,"uuid":""#);
        put!(out; self.claude.rng.uuid(), "\"", extra, r#","api_message_id":""#,
            self.round.message_id, "\"}\n");
    }

    fn assistant(&mut self, extra: &str, out: &mut Vec<u8>, block: impl FnOnce(&mut Vec<u8>)) {
        put!(out; r#"{"type":"assistant","message":{"id":""#, self.round.message_id);
        put!(out; r#"","type":"message","role":"assistant","model":""#, self.session.model,
            r#"","content":["#);
        block(out);
        put!(out; r#"],"stop_reason":null,"stop_sequence":null,"usage":"#);
        start_usage(&self.round.usage, out);
        put!(out; r#","context_management":null},"parent_tool_use_id":null,"session_id":""#,
            self.session.id);
        put!(out; r#"","uuid":""#, self.claude.rng.uuid(), r#"","timestamp":""#,
            timestamp(self.round.start_ms + 2000));
        put!(out; r#"","request_id":"req_01"#, &self.round.message_id[6..], "\"", extra, "}\n");
    }
}

/// An init, one assistant line whose text is `bytes` long as it is written (escapes counted), and a result.
pub(super) fn one_long_line(seed: u64, bytes: u64, out: &mut impl std::io::Write) -> std::io::Result<()> {
    let mut rng = Rng::at(&[seed, 0x1096]);
    let session = Session::new(seed, 0);
    let mut plain = String::new();
    words::code(&mut rng, 40, &mut plain);
    words::prose(&mut rng, 400, &mut plain);
    plain.push('\n');
    let mut block = Vec::new();
    put!(&mut block; ClaudeText(&plain));
    let block = &block[1..block.len() - 1];

    let mut head = Vec::new();
    init(&mut rng, &session, &mut head);
    put!(&mut head; r#"{"type":"assistant","message":{"id":"msg_01"#, rng.ident(22));
    put!(&mut head; r#"","type":"message","role":"assistant","model":""#, session.model);
    put!(&mut head; r#"","content":[{"type":"text","text":""#);
    out.write_all(&head)?;
    let mut left = bytes as usize;
    while left >= block.len() {
        out.write_all(block)?;
        left -= block.len();
    }
    out.write_all("x".repeat(left).as_bytes())?;

    let usage = Usage {
        input: 12,
        cache_write: 700,
        cache_read: 9000,
        output: bytes / 4,
        thinking: 0,
    };
    let mut tail = Vec::new();
    put!(&mut tail; r#""}],"stop_reason":null,"stop_sequence":null,"usage":"#);
    start_usage(&usage, &mut tail);
    put!(&mut tail; r#","context_management":null},"parent_tool_use_id":null,"session_id":""#,
        session.id);
    put!(&mut tail; r#"","uuid":""#, rng.uuid(), r#"","timestamp":"2026-11-21T06:10:00.000Z"}"#,
        "\n");
    result_line(&mut rng, &session, &usage, 600_000, 1, "", &mut tail);
    out.write_all(&tail)
}

fn name_is_shell(call: &Call) -> bool {
    matches!(call.action, super::conversation::Action::Shell { .. })
}

/// The numbers that are known when a reply begins.
fn start_usage(usage: &Usage, out: &mut Vec<u8>) {
    put!(out; r#"{"input_tokens":"#, usage.input, r#","cache_creation_input_tokens":"#,
        usage.cache_write);
    put!(out; r#","cache_read_input_tokens":"#, usage.cache_read,
        r#","output_tokens":1,"service_tier":"standard"}"#);
}

fn init(rng: &mut Rng, session: &Session, out: &mut Vec<u8>) {
    put!(out; r#"{"type":"system","subtype":"init","cwd":""#, session.cwd, r#"","session_id":""#,
        session.id);
    put!(out;
        r#"","tools":["Task","Bash","Edit","Grep","Glob","Read","NotebookEdit","TodoWrite","WebFetch","WebSearch","#);
    put!(out; r#""Write"],"mcp_servers":[{"name":"tracker","status":"connected"}],"model":""#,
        session.model);
    put!(out;
        r#"","permissionMode":"default","slash_commands":["agents","clear","compact","config","context","cost","debug","#);
    put!(out;
        r#""doctor","effort","export","fast","focus","goal","init","insights","login","logout","mcp","memory","model","#);
    put!(out;
        r#""output-style","plan","recap","rename","resume","review","run","security-review","status","tasks","usage","#);
    put!(out;
        r#""verify"],"terminal_slash_commands":["color","doctor","focus"],"apiKeySource":"ANTHROPIC_API_KEY","#);
    put!(out;
        r#""claude_code_version":"2.1.329","output_style":"default","agents":["general-purpose","Explore","Plan"],"#);
    put!(out;
        r#""skills":["debug","verify","run"],"plugins":[{"name":"lint","path":"builtin","source":"lint@builtin"}],"#);
    put!(out;
        r#""capabilities":["interrupt_receipt_v1","interrupt_cancel_queued_v1","interrupt_send_now_v1","#);
    put!(out;
        r#""msg_lifecycle_v1","request_marker_lists_v1","sdk_mcp_manifests","mcp_read_resource_v1"],"#);
    put!(out; r#""analytics_disabled":true,"uuid":""#, rng.uuid(),
        r#"","memory_paths":{"auto":"/home/dev/.claude/memory/"},"#);
    put!(out; r#""original_cwd":""#, session.cwd,
        r#"","additional_directories":[],"fast_mode_state":"off","#);
    put!(out; r#""per_turn_effort_active":true,"view_mode":"default"}"#, "\n");
}

fn result(rng: &mut Rng, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
    let turns = 1 + turn.calls().count() as u64;
    result_line(rng, session, &turn.usage(), turn.duration_ms, turns, turn.answer(), out);
}

fn result_line(rng: &mut Rng, session: &Session, usage: &Usage, duration_ms: u64, turns: u64, answer: &str, out: &mut Vec<u8>) {
    let cost = usage.input * 5 + usage.cache_write * 6 + usage.cache_read / 2 + usage.output * 25;
    let cost = format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000);
    put!(out; r#"{"duration_api_ms":"#, duration_ms - 30,
        r#","stop_reason":"end_turn","session_id":""#, session.id);
    put!(out; r#"","total_cost_usd":"#, cost, r#","usage":{"input_tokens":"#, usage.input);
    put!(out; r#","cache_creation_input_tokens":"#, usage.cache_write,
        r#","cache_read_input_tokens":"#, usage.cache_read);
    put!(out; r#","output_tokens":"#, usage.output,
        r#","output_tokens_details":{"thinking_tokens":"#, usage.thinking);
    put!(out;
        r#"},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","#);
    put!(out; r#""cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":"#,
        usage.cache_write);
    put!(out; r#"},"inference_geo":"","iterations":[],"speed":"standard"},"modelUsage":{""#,
        session.model);
    put!(out; r#"":{"inputTokens":"#, usage.input, r#","outputTokens":"#, usage.output,
        r#","cacheReadInputTokens":"#);
    put!(out; usage.cache_read, r#","cacheCreationInputTokens":"#, usage.cache_write,
        r#","webSearchRequests":0,"costUSD":"#);
    put!(out; cost,
        r#","contextWindow":1000000,"maxOutputTokens":128000}},"permission_denials":[],"#);
    put!(out;
        r#""terminal_reason":"completed","fast_mode_state":"off","subagent_stats":{"spawned":0,"requested":{"#);
    put!(out;
        r#""background":0,"foreground":0,"unset":0},"started_in_background":0,"max_depth":0,"completed":0,"failed":0,"#);
    put!(out; r#""by_type":{}},"safety_stops":0,"is_error":false,"num_turns":"#, turns);
    put!(out; r#","subtype":"success","api_error_status":null,"result":"#, ClaudeText(answer),
        r#","ttft_ms":"#);
    put!(out; duration_ms / 9, r#","type":"result","duration_ms":"#, duration_ms, r#","uuid":""#,
        rng.uuid());
    put!(out; r#"","queued_turn_count":0,"result_index":0}"#, "\n");
}
