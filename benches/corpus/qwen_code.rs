//! Qwen Code `stream-json`: Claude-shaped, but with one kind of block a message, block indices that restart, a tool's whole
//! input in one delta, and a usage that counts over the session.

use super::Dialect;
use super::conversation::{Round, Session, Turn, Usage};
use super::json::{Style, Text, pieces, put};
use super::qwen_tools as tools;
use super::rng::Rng;

pub(super) struct QwenCode {
    partial: bool,
    rng: Rng,
    /// Of the session so far.
    used: Usage,
}

impl QwenCode {
    pub(super) fn new(seed: u64, partial: bool) -> Self {
        Self {
            partial,
            rng: Rng::at(&[seed, 0x9E2C]),
            used: Usage::default(),
        }
    }
}

impl Dialect for QwenCode {
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
        if turn.number == 0 {
            self.used = Usage::default();
        }
        init(session, out);
        if turn.number == 0 {
            self.event(
                session,
                r#"{"type":"goal_state","goal_state":{"v":2,"goal":null,"activity":"idle"}}"#,
                out,
            );
        }
        for round in &turn.rounds {
            self.reply(session, round, out);
            for call in &round.calls {
                let failed = if call.action.failed() { "true" } else { "false" };
                self.head("user", session, out);
                put!(out;
                    r#","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_"#,
                    call.id);
                let content = tools::content(session, &call.action);
                put!(out; r#"","is_error":"#, failed, r#","content":"#, Text(&content), "}]}}\n");
            }
        }
        self.used = self.used + turn.usage();
        put!(out; r#"{"type":"result","subtype":"success","uuid":""#, self.rng.uuid(),
            r#"","session_id":""#, session.id);
        put!(out; r#"","is_error":false,"duration_ms":"#, turn.duration_ms,
            r#","duration_api_ms":"#, turn.duration_ms - 90);
        put!(out; r#","num_turns":"#, turn.rounds.len(), r#","result":"#, Text(turn.answer()),
            r#","usage":"#);
        usage(&self.used, out);
        put!(out; r#","permission_denials":[]}"#, "\n");
    }
}

impl QwenCode {
    /// The lines of one model call: for each kind of block its events, then an assistant line, then message_stop.
    fn reply(&mut self, session: &Session, round: &Round, out: &mut Vec<u8>) {
        let first = self.rng.uuid();
        let mut ids = std::iter::once(first.clone());
        if self.partial {
            let start = format!(
                r#"{{"type":"message_start","message":{{"id":"{first}","role":"assistant","model":"{}","content":[]}}}}"#,
                session.model
            );
            self.event(session, &start, out);
        }
        let mut kinds: Vec<Kind> = Vec::new();
        if !round.thinking.is_empty() {
            kinds.push(Kind::Thinking);
        }
        if !round.text.is_empty() {
            kinds.push(Kind::Text);
        }
        if !round.calls.is_empty() {
            kinds.push(Kind::Calls);
        }
        let last = kinds.len() - 1;
        for (n, kind) in kinds.into_iter().enumerate() {
            let id = ids.next().unwrap_or_else(|| self.rng.uuid());
            let mut blocks = Vec::new();
            match kind {
                Kind::Thinking => self.streamed(session, "thinking", &round.thinking, &mut blocks, out),
                Kind::Text => self.streamed(session, "text", &round.text, &mut blocks, out),
                Kind::Calls => self.calls(session, round, &mut blocks, out),
            }
            put!(out; r#"{"type":"assistant","uuid":""#, id, r#"","session_id":""#, session.id);
            put!(out; r#"","parent_tool_use_id":null,"message":{"id":""#, id,
                r#"","type":"message","role":"assistant","model":""#);
            put!(out; session.model, r#"","content":["#);
            out.append(&mut blocks);
            put!(out; r#"],"stop_reason":"#,
                if matches!(kind, Kind::Calls) { "\"tool_use\"" } else { "null" }, r#","usage":"#);
            if n == last {
                usage(&round.usage, out);
            } else {
                put!(out; r#"{"input_tokens":0,"output_tokens":0}"#);
            }
            put!(out; "}}\n");
        }
        if self.partial {
            self.event(session, r#"{"type":"message_stop"}"#, out);
        }
    }

    /// The events of one text or thinking block; the block itself goes into `block`.
    fn streamed(&mut self, session: &Session, kind: &str, text: &str, block: &mut Vec<u8>, out: &mut Vec<u8>) {
        let signature = if kind == "thinking" { r#","signature":"""# } else { "" };
        put!(block; r#"{"type":""#, kind, r#"",""#, kind, r#"":"#, Text(text), signature, "}");
        if !self.partial {
            return;
        }
        let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"{kind}","{kind}":""{signature}}}}}"#);
        self.event(session, &start, out);
        for piece in pieces(&mut self.rng, text, 6, 60) {
            self.head("stream_event", session, out);
            put!(out; r#","event":{"type":"content_block_delta","index":0,"delta":{"type":""#, kind,
                r#"_delta",""#);
            put!(out; kind, r#"":"#, Text(piece), "}}}\n");
        }
        self.event(session, r#"{"type":"content_block_stop","index":0}"#, out);
    }

    fn calls(&mut self, session: &Session, round: &Round, blocks: &mut Vec<u8>, out: &mut Vec<u8>) {
        for (index, call) in round.calls.iter().enumerate() {
            let name = tools::name(&call.action);
            let input = tools::arguments(session, &call.action).text(Style::COMPACT);
            put!(blocks; if index > 0 { "," } else { "" }, r#"{"type":"tool_use","id":"call_"#,
                call.id);
            put!(blocks; r#"","name":""#, name, r#"","input":"#, input, "}");
            if self.partial {
                self.head("stream_event", session, out);
                put!(out; r#","event":{"type":"content_block_start","index":"#, index,
                    r#","content_block":{"type":"tool_use","#);
                put!(out; r#""id":"call_"#, call.id, r#"","name":""#, name, r#"","input":{}}}}"#,
                    "\n");
                self.head("stream_event", session, out);
                put!(out; r#","event":{"type":"content_block_delta","index":"#, index);
                put!(out; r#","delta":{"type":"input_json_delta","partial_json":"#, Text(&input),
                    "}}}\n");
                self.event(session, &format!(r#"{{"type":"content_block_stop","index":{index}}}"#), out);
            }
        }
    }

    fn event(&mut self, session: &Session, event: &str, out: &mut Vec<u8>) {
        self.head("stream_event", session, out);
        put!(out; r#","event":"#, event, "}\n");
    }

    /// The beginning of a line, without the comma that follows it.
    fn head(&mut self, kind: &str, session: &Session, out: &mut Vec<u8>) {
        put!(out; r#"{"type":""#, kind, r#"","uuid":""#, self.rng.uuid(), r#"","session_id":""#,
            session.id);
        put!(out; r#"","parent_tool_use_id":null"#);
    }
}

enum Kind {
    Thinking,
    Text,
    Calls,
}

fn usage(usage: &Usage, out: &mut Vec<u8>) {
    put!(out; r#"{"input_tokens":"#, usage.prompt(), r#","output_tokens":"#, usage.output);
    put!(out; r#","cache_read_input_tokens":"#, usage.cache_read);
    put!(out; r#","total_tokens":"#, usage.prompt() + usage.output, "}");
}

fn init(session: &Session, out: &mut Vec<u8>) {
    put!(out; r#"{"type":"system","subtype":"init","uuid":""#, session.id, r#"","session_id":""#,
        session.id);
    put!(out; r#"","cwd":""#, session.cwd,
        r#"","tools":["agent","edit","glob","grep_search","read_file","run_shell_command","#);
    put!(out; r#""todo_write","web_fetch","write_file"],"mcp_servers":[],"model":""#,
        session.model);
    put!(out;
        r#"","permission_mode":"yolo","slash_commands":["clear","compress","context","diff","doctor","model","stats"],"#);
    put!(out; r#""qwen_code_version":"0.24.4","agents":["general-purpose","Explore"]}"#, "\n");
}
