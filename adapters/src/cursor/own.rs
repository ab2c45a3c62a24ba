//! Lines of this dialect, written as they were read: with all of their members and none that they did not have.

use super::encode::Encoder;
use super::lines::{ASSISTANT, THINKING, THOUGHT, fields, member, name, raw_member, tool};
use super::members::is_kind;
use crate::event::{At, Block, BlockHead, Content, Event, Field, Kind, Notice, Outcome, Piece, Reply, Session, Time, ToolCall, ToolResult};
use crate::json::{Out, Raw, Str};

impl Encoder {
    pub(super) fn own(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(session) => {
                self.turn.open = true;
                init(event, session, out);
            }
            Kind::Notice(notice) => self::notice(event, notice, out),
            Kind::Prompt(prompt) => user(event, prompt.content, out),
            // Only the assembler says it: what was read holds no lines of its own (the `json` format).
            Kind::RoundStart(_) => self.begin(out),
            Kind::BlockStart(start) => self.turn.thinking = matches!(start.head, BlockHead::Thinking),
            Kind::Delta(delta) => match delta.piece {
                Piece::Text(text) => segment(event, &[Block::Text { text, fields: &[] }], None, out),
                Piece::Thinking(text) => thought(event, Some(text), out),
                _ => {}
            },
            Kind::BlockStop(_) => self.block_end(event, out),
            Kind::Reply(reply) => self::reply(event, reply, out),
            Kind::ToolResult(result) => completed(event, result, out),
            Kind::ToolProgress(progress) => {
                out.lit("{\"type\":\"tool_call\",\"subtype\":\"progress\",\"call_id\":");
                out.str(progress.call);
                raw_member("tool_call", progress.content, out);
                let round = of_line(event, "model_call_id");
                raw_member("model_call_id", round.map(|field| field.value), out);
                end_but(event, round, out);
            }
            Kind::Outcome(outcome) => {
                self.turn = super::turn::Turn::default();
                if !outcome.synthetic {
                    result(event, outcome, out);
                }
            }
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            _ => {}
        }
    }
}

impl Encoder {
    /// Only a thought's end has a line.
    fn block_end(&mut self, event: &Event<'_>, out: &mut Out) {
        if std::mem::take(&mut self.turn.thinking) {
            thought(event, None, out);
        }
    }
}

fn init(event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
    out.lit("{\"type\":\"system\",\"subtype\":\"init\"");
    member("apiKeySource", session.api_key_source, out);
    member("cwd", session.cwd, out);
    member("session_id", event.origin.session, out);
    member("model", session.model, out);
    member("permissionMode", session.permission_mode, out);
    raw_member("tools", session.tools, out);
    raw_member("mcp_servers", session.mcp_servers, out);
    time(event, out);
    close(event, out);
}

/// `type` and `subtype` stand in the notice's name.
fn notice(event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
    let (kind, subtype) = match notice.name.as_escaped().split_once('/') {
        Some((kind, subtype)) => (kind, Some(subtype)),
        None => (notice.name.as_escaped(), None),
    };
    out.used(notice.name.as_escaped());
    out.lit("{\"type\":\"");
    out.lit(kind);
    out.lit("\"");
    member("subtype", subtype.map(Str::trusted), out);
    let query_type = of_line(event, "query_type");
    raw_member("query_type", query_type.map(|field| field.value), out);
    if let Some(data) = notice.data {
        name(if subtype == Some("response") { "response" } else { "query" }, out);
        out.unchecked(data);
    }
    end_but(event, query_type, out);
}

fn user(event: &Event<'_>, content: Content<'_>, out: &mut Out) {
    out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[");
    match content {
        Content::Text(text) => blocks(&[Block::Text { text, fields: &[] }], event, out),
        Content::Blocks(all) => blocks(all, event, out),
    }
    out.lit("]");
    fields(event.fields, At::Part("/message"), out);
    out.lit("}");
    end(event, out);
}

fn thought(event: &Event<'_>, text: Option<Str<'_>>, out: &mut Out) {
    match text {
        Some(text) => {
            out.lit(THINKING);
            out.str(text);
        }
        None => out.lit(THOUGHT),
    }
    end(event, out);
}

/// A reply's texts stand in one line, each of its calls in one of its own.
fn reply(event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
    if reply.blocks.is_empty() {
        return segment(event, &[], reply.id, out);
    }
    for run in reply.blocks.chunk_by(|a, b| !matches!(a, Block::Call(_)) && !matches!(b, Block::Call(_))) {
        match run {
            [Block::Call(call)] => started(event, call, reply.id, out),
            texts => segment(event, texts, reply.id, out),
        }
    }
}

fn segment(event: &Event<'_>, all: &[Block<'_>], id: Option<Str<'_>>, out: &mut Out) {
    out.lit(ASSISTANT.split_at(ASSISTANT.len() - "{\"type\":\"text\",\"text\":".len()).0);
    blocks(all, event, out);
    out.lit("]");
    fields(event.fields, At::Part("/message"), out);
    out.lit("}");
    member("session_id", event.origin.session, out);
    member("model_call_id", id, out);
    time(event, out);
    close(event, out);
}

fn blocks(all: &[Block<'_>], event: &Event<'_>, out: &mut Out) {
    for (block, n) in all.iter().zip(0..) {
        if n > 0 {
            out.lit(",");
        }
        match block {
            Block::Text { text, fields: own } => {
                out.lit("{\"type\":\"text\",\"text\":");
                out.str(*text);
                fields(own, At::Block(0), out);
                fields(event.fields, At::Block(n), out);
                out.lit("}");
            }
            Block::Media(media) => out.raw(media.raw),
            Block::Other { raw, .. } => out.raw(*raw),
            // Not in a message of this dialect.
            Block::Thinking(_) | Block::Redacted { .. } | Block::Call(_) => out.lit("{}"),
        }
    }
}

fn started(event: &Event<'_>, call: &ToolCall<'_>, id: Option<Str<'_>>, out: &mut Out) {
    out.lit("{\"type\":\"tool_call\",\"subtype\":\"started\",\"call_id\":");
    out.str(call.id);
    out.lit(",\"tool_call\":{");
    object(event, call.name, Some(call.input), None, out);
    out.lit("}");
    member("model_call_id", id, out);
    end(event, out);
}

fn completed(event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
    out.lit("{\"type\":\"tool_call\",\"subtype\":\"completed\",\"call_id\":");
    out.str(result.call);
    out.lit(",\"tool_call\":{");
    let tool = result.name.or(result.of.map(|call| call.name)).unwrap_or(Str::trusted("unknown"));
    object(event, tool, result.of.map(|call| call.input), result.detail.map(|detail| detail.raw), out);
    out.lit("}");
    let round = of_line(event, "model_call_id");
    raw_member("model_call_id", round.map(|field| field.value), out);
    end_but(event, round, out);
}

/// What is inside `tool_call`.
fn object(event: &Event<'_>, called: Str<'_>, input: Option<Raw<'_>>, result: Option<Raw<'_>>, out: &mut Out) {
    let mut filled = tool(is_kind(&called.unescape()), called, input, out);
    let mut comma = |out: &mut Out| {
        if std::mem::replace(&mut filled, true) {
            out.lit(",");
        }
    };
    if let Some(result) = result {
        comma(out);
        out.lit("\"result\":");
        out.unchecked(result);
    }
    let inside = |field: &&Field<'_>| matches!(field.at, At::Part(at) if at.starts_with("/tool_call/"));
    for field in event.fields.iter().filter(inside) {
        comma(out);
        field.write(out);
    }
    out.lit("}");
    fields(event.fields, At::Part("/tool_call"), out);
}

fn result(event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
    out.lit("{\"type\":\"result\"");
    member("subtype", outcome.word, out);
    raw_member("duration_ms", outcome.duration_ms, out);
    raw_member("duration_api_ms", outcome.duration_api_ms, out);
    name("is_error", out);
    out.lit(if outcome.is_error { "true" } else { "false" });
    out.carried();
    // All that was said in the turn, where that is more than the answer.
    let whole = of_line(event, "result");
    match whole {
        Some(whole) => {
            name("result", out);
            out.unchecked(whole.value);
        }
        None => member("result", outcome.text, out),
    }
    member("session_id", event.origin.session, out);
    member("request_id", outcome.request_id, out);
    raw_member("usage", outcome.usage.and_then(|usage| usage.raw), out);
    time(event, out);
    rest_but(event, whole, out);
}

/// A field of the line that has its place in the middle.
fn of_line<'e, 'a>(event: &'e Event<'a>, key: &str) -> Option<&'e Field<'a>> {
    event.fields.iter().find(|field| field.at == At::Line && field.key.is(key))
}

/// Session, time, the line's fields, and the end of the line.
fn end(event: &Event<'_>, out: &mut Out) {
    end_but(event, None, out);
}

/// [`end`] without a field that was written already.
fn end_but(event: &Event<'_>, written: Option<&Field<'_>>, out: &mut Out) {
    member("session_id", event.origin.session, out);
    time(event, out);
    rest_but(event, written, out);
}

/// The line's fields without one that was written already, and the end of the line.
fn rest_but(event: &Event<'_>, written: Option<&Field<'_>>, out: &mut Out) {
    for field in event
        .fields
        .iter()
        .filter(|field| !written.is_some_and(|written| std::ptr::eq(*field, written)))
    {
        fields(std::slice::from_ref(field), At::Line, out);
    }
    out.lit("}\n");
}

fn close(event: &Event<'_>, out: &mut Out) {
    fields(event.fields, At::Line, out);
    out.lit("}\n");
}

fn time(event: &Event<'_>, out: &mut Out) {
    if let Some(Time::Millis(millis)) = event.origin.time {
        name("timestamp_ms", out);
        out.raw(millis);
    }
}
