use super::members::Writer;
use super::{parts, spelling};
use crate::codec::{Dialect, Encode, Format, Style, Want};
use crate::event::{Block, Event, Fields, Input, Kind, Origin, Outcome, Piece, Prompt, PromptSource, Request, Response};
use crate::json::Out;

/// Writes the canonical events.
#[derive(Debug)]
pub struct Encoder {
    source: Format,
    /// At which byte of its log the session begins.
    at: u64,
    begun: bool,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            source: style.source_format(),
            at: style.at,
            begun: false,
        }
    }

    /// Behind the header.
    pub(super) fn without_header() -> Self {
        Self {
            source: Dialect::Agentglot.into(),
            at: 0,
            begun: true,
        }
    }

    /// The header goes before the first line, once a session.
    fn begin(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.begun, true) {
            out.lit(&super::header(self.source, self.at));
        }
    }
}

impl Encode for Encoder {
    fn want(&self) -> Want {
        Want::AS_IS
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.begin(out);
        let mut w = Writer { out };
        match &event.kind {
            Kind::Delta(delta) => {
                w.begin("delta", &event.origin);
                w.number("index", Some(delta.index.into()));
                match delta.piece {
                    Piece::Text(text) => w.str("text", Some(text)),
                    Piece::Thinking(text) => w.str("thinking", Some(text)),
                    Piece::Signature(text) => w.str("signature", Some(text)),
                    Piece::Subject(text) => w.str("subject", Some(text)),
                    Piece::Input(text) => w.str("input", Some(text)),
                    Piece::Other(raw) => w.unchecked("other", Some(raw)),
                }
            }
            Kind::BlockStart(start) => {
                w.begin("block_start", &event.origin);
                w.number("index", Some(start.index.into()));
                w.head(&start.head);
            }
            Kind::BlockStop(stop) => {
                w.begin("block_stop", &event.origin);
                w.number("index", Some(stop.index.into()));
            }
            Kind::RoundStart(start) => {
                w.begin("round_start", &event.origin);
                w.str("round", start.id);
                w.str("model", start.model);
                w.usage(start.usage.as_ref());
                w.number("number", start.number);
            }
            Kind::RoundStop(stop) => {
                w.begin("round_stop", &event.origin);
                w.str("round", stop.id);
                w.stop(stop.stop);
                w.usage(stop.usage.as_ref());
            }
            Kind::RoundEnd(end) => {
                w.begin("round_end", &event.origin);
                w.stop(end.stop);
                w.usage(end.usage.as_ref());
                w.number("abandoned_from", end.abandoned_from.map(Into::into));
            }
            Kind::Reply(reply) => {
                w.begin("reply", &event.origin);
                w.str("round", reply.id);
                w.str("model", reply.model);
                w.list("blocks", reply.blocks, |w, block| w.block(block));
                w.stop(reply.stop);
                w.usage(reply.usage.as_ref());
                w.str("error", reply.error);
                w.flag("last", reply.last);
            }
            Kind::ToolResult(result) => {
                w.begin("tool_result", &event.origin);
                w.str("call", Some(result.call));
                w.str("name", result.name);
                w.word("status", parts::status(result.status));
                w.content(result.content);
                w.bool("is_error", result.is_error);
                w.detail(result.detail);
                if !result.fields.is_empty() {
                    w.object("result", |w| {
                        w.out.lit("{\"type\":\"tool_result\"");
                        w.fields(result.fields);
                        w.out.lit("}");
                    });
                }
                if let Some(of) = result.of {
                    w.object("of", |w| w.block(&Block::Call(of)));
                }
            }
            Kind::ToolProgress(progress) => {
                w.begin("tool_progress", &event.origin);
                w.str("call", Some(progress.call));
                w.str("status", progress.status);
                w.unchecked("content", progress.content);
                w.unchecked("confirmation", progress.confirmation);
            }
            Kind::Session(session) => {
                w.begin("session", &event.origin);
                w.str("cwd", session.cwd);
                w.str("model", session.model);
                w.unchecked("tools", session.tools);
                w.str("permission_mode", session.permission_mode);
                w.str("version", session.version);
                w.str("api_key_source", session.api_key_source);
                w.unchecked("mcp_servers", session.mcp_servers);
                w.unchecked("slash_commands", session.slash_commands);
                w.unchecked("agents", session.agents);
                w.unchecked("protocol_version", session.protocol_version);
                w.unchecked("capabilities", session.capabilities);
                w.flag("resumed", session.resumed);
                w.flag("opens_turn", session.opens_turn);
            }
            Kind::Notice(notice) => {
                w.begin("notice", &event.origin);
                w.str("name", Some(notice.name));
                w.word("topic", parts::topic(notice.topic));
                w.str("message", notice.message);
                w.unchecked("data", notice.data);
            }
            Kind::Prompt(prompt) => {
                w.begin("prompt", &event.origin);
                w.prompt(prompt);
            }
            Kind::Terminal(terminal) => {
                w.begin("terminal", &event.origin);
                w.str("text", terminal.text);
                w.str("channel", terminal.channel);
                w.str("source", terminal.source);
                w.unchecked("spans", terminal.spans);
                w.unchecked("ansi", terminal.ansi);
                w.str("level", terminal.level);
                w.unchecked("exit_code", terminal.exit_code);
                w.str("raw_ansi", terminal.raw_ansi);
            }
            Kind::Request(request) => {
                w.begin("request", &event.origin);
                w.request(request);
            }
            Kind::Response(response) => {
                w.begin("response", &event.origin);
                w.response(response);
            }
            Kind::Withdraw(withdraw) => {
                w.begin("withdraw", &event.origin);
                w.str("request_id", withdraw.id);
            }
            Kind::Command(command) => {
                w.begin("command", &event.origin);
                w.unchecked("command", command.command);
                w.unchecked("result", command.result);
            }
            Kind::Hint(hint) => {
                w.begin("hint", &event.origin);
                w.str("trigger", hint.trigger);
                w.str("status", hint.status);
                w.unchecked("suggestions", hint.suggestions);
                w.unchecked("metadata", hint.metadata);
                w.str("message", hint.message);
            }
            Kind::Heartbeat(heartbeat) => {
                w.begin("heartbeat", &event.origin);
                w.str("status", heartbeat.status);
                w.unchecked("ts", heartbeat.ts);
            }
            Kind::CancelResult(cancel) => {
                w.begin("cancel_result", &event.origin);
                w.str("status", cancel.status);
                w.str("message", cancel.message);
            }
            Kind::Outcome(outcome) => {
                w.begin("outcome", &event.origin);
                w.outcome(outcome);
            }
            Kind::Fatal(fatal) => {
                w.begin("fatal", &event.origin);
                w.str("message", Some(fatal.message));
                w.str("kind", fatal.kind);
                w.unchecked("param", fatal.param);
                w.unchecked("code", fatal.code);
            }
            Kind::Noise(text) => {
                w.noise(text, |w| w.begin("noise", &event.origin));
            }
            Kind::Unknown(raw) => {
                w.begin("unknown", &event.origin);
                w.unchecked("line", Some(*raw));
            }
        }
        w.end(event.fields);
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        self.begin(out);
        let mut w = Writer { out };
        w.input(input);
        w.end(input.fields);
    }

    fn spelled(&self, line: &[u8], format: Format, from: usize, out: &mut Out) {
        spelling::write(line, format, from, out);
    }
}

impl Writer<'_> {
    pub(super) fn begin(&mut self, event: &str, origin: &Origin<'_>) {
        self.out.lit("{\"event\":\"");
        self.out.lit(event);
        self.out.lit("\"");
        self.origin(origin);
    }

    pub(super) fn end(&mut self, fields: Fields<'_>) {
        self.fields(fields);
        self.out.lit("}\n");
    }

    /// Text that is no value. What was put together of several lines is several again.
    pub(super) fn noise(&mut self, text: &str, mut begin: impl FnMut(&mut Self)) {
        self.out.used(text);
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                self.end(&[]);
            }
            begin(self);
            self.text("text", line);
        }
    }

    pub(super) fn prompt(&mut self, prompt: &Prompt<'_>) {
        self.word("source", source(prompt.source));
        self.content(prompt.content);
    }

    pub(super) fn request(&mut self, request: &Request<'_>) {
        self.str("request_id", request.id);
        self.str("subtype", Some(request.subtype));
        if let Some(permission) = request.permission {
            self.object("permission", |w| {
                w.out.lit("{\"name\":");
                w.out.str(permission.name);
                w.str("call", permission.call);
                w.raw("input", permission.input);
                w.unchecked("suggestions", permission.suggestions);
                w.out.lit("}");
            });
        }
    }

    pub(super) fn response(&mut self, response: &Response<'_>) {
        self.str("request_id", response.id);
        self.bool("ok", Some(response.ok));
        self.unchecked("body", response.body);
        self.unchecked("error", response.error);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        self.word("outcome", outcome.kind.as_str());
        self.bool("is_error", Some(outcome.is_error));
        self.flag("synthetic", outcome.synthetic);
        self.str("text", outcome.text);
        self.str("error", outcome.error);
        self.str("word", outcome.word);
        self.unchecked("duration_ms", outcome.duration_ms);
        self.unchecked("duration_api_ms", outcome.duration_api_ms);
        self.num_turns(outcome.num_turns);
        self.unchecked("cost_usd", outcome.cost_usd);
        if outcome.cost_usd.is_some() {
            self.word("cost_scope", parts::scope(outcome.cost_scope));
        }
        self.usage(outcome.usage.as_ref());
        self.stop(outcome.stop);
        self.unchecked("denials", outcome.denials);
        self.unchecked("structured", outcome.structured);
        self.str("request_id", outcome.request_id);
    }
}

pub(super) const fn source(source: PromptSource) -> &'static str {
    match source {
        PromptSource::Host => "host",
        PromptSource::Echo => "echo",
        PromptSource::Agent => "agent",
        PromptSource::Parent => "parent",
    }
}
