//! Writing what the host says: Chat Requests, side requests, control lines.

use super::encode::Encoder;
use super::encode_side::{REQUEST, session_and_turn, write_response};
use super::own;
use crate::event::{At, Block, ChatRequest, Content, ControlKind, Fields, HintRequest, Input, InputKind, InputOrigin, Origin, Prompt, Request};
use crate::json::{Out, Raw, Str};

impl Encoder {
    /// Writes one line of the host, if the RFC has one for it.
    pub(super) fn host(&mut self, input: &Input<'_>, out: &mut Out) {
        let fields = self.own_fields(input.fields);
        let origin = &input.origin;
        match input.kind {
            InputKind::Prompt(prompt) => write_prompt(prompt, origin, out),
            InputKind::Chat(request) => write_chat(request, origin, fields, out),
            InputKind::Request(request) if self.own => write_request(request, origin, fields, out),
            InputKind::Request(request) if request.kind == ControlKind::Interrupt => {
                out.used(request.subtype.as_escaped());
                begin("control/cancel", origin, out);
                out.lit(",\"reason\":\"escape\"");
                out.str_if(",\"request_id\":", request.id);
                out.lit("}\n");
            }
            InputKind::Response(response) => write_response(response, fields, out),
            InputKind::Hint(hint) => write_hint(hint, origin, fields, out),
            InputKind::HintCancel => {
                begin("command_hint_cancel", origin, out);
                own::end_line(fields, out);
            }
            InputKind::Heartbeat { interval_ms } => {
                begin("heartbeat_request", origin, out);
                out.unchecked_if(",\"interval_ms\":", interval_ms);
                own::end_line(fields, out);
            }
            InputKind::Cancel { reason } => {
                begin("control/cancel", origin, out);
                out.str_if(",\"reason\":", reason);
                own::end_line(fields, out);
            }
            InputKind::Noise(noise) if self.own => {
                out.used(noise);
                out.lit(noise);
                out.lit("\n");
            }
            InputKind::Unknown(line) if self.own => {
                out.unchecked(line);
                out.lit("\n");
            }
            // A handshake, another model or mode, a question taken back: the RFC has no line for them.
            InputKind::Request(_)
            | InputKind::Withdraw(_)
            | InputKind::KeepAlive
            | InputKind::Environment(_)
            | InputKind::Noise(_)
            | InputKind::Unknown(_) => {}
        }
    }
}

fn begin(kind: &str, origin: &Origin<'_>, out: &mut Out) {
    out.lit("{\"type\":\"");
    out.lit(kind);
    out.lit("\"");
    session_and_turn(origin, true, out);
}

/// A prompt of another dialect. Its texts are parts; images and files have no place.
fn write_prompt(prompt: &Prompt<'_>, origin: &Origin<'_>, out: &mut Out) {
    out.lit("{");
    if let Some(session) = origin.session.filter(|s| !s.is_empty()) {
        out.lit("\"session_id\":");
        out.str(session);
        out.lit(",");
    }
    if let Some(turn) = origin.turn {
        out.lit("\"prompt_id\":");
        out.str(turn);
        out.lit(",");
    }
    out.lit("\"input\":{\"origin\":\"user\",\"parts\":[");
    let mut before = "";
    for part in texts(&prompt.content) {
        out.lit(before);
        before = ",";
        out.lit("{\"type\":\"text\",\"text\":");
        out.str(part);
        out.lit("}");
    }
    out.lit("]}}\n");
}

fn texts<'a>(content: &Content<'a>) -> Vec<Str<'a>> {
    match *content {
        Content::Text(text) => vec![text],
        Content::Blocks(blocks) => blocks
            .iter()
            .filter_map(|b| if let Block::Text { text, .. } = b { Some(*text) } else { None })
            .collect(),
    }
}

fn write_chat(request: &ChatRequest<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
    // The members that most requests have stand at the end; a comma follows each of the others.
    out.lit("{");
    let text = |key: &str, value: Option<Str<'_>>, out: &mut Out| {
        if let Some(value) = value {
            out.lit(key);
            out.str(value);
            out.lit(",");
        }
    };
    let raw = |key: &str, value: Option<Raw<'_>>, out: &mut Out| {
        if let Some(value) = value {
            out.lit(key);
            out.unchecked(value);
            out.lit(",");
        }
    };
    raw("\"protocol_version\":", request.protocol_version, out);
    text("\"session_id\":", origin.session, out);
    text("\"prompt_id\":", origin.turn, out);
    text("\"tool_call_id\":", request.tool_call, out);
    text("\"model\":", request.model, out);
    raw("\"options\":", request.options, out);
    raw("\"tools\":", request.tools, out);
    for field in own::at(fields, &[At::Line]) {
        field.write(out);
        out.lit(",");
    }
    match request.messages {
        Some(messages) if request.parts.is_none() => {
            out.lit("\"messages\":");
            out.unchecked(messages);
        }
        _ => write_parts(request, fields, out),
    }
    out.lit("}\n");
}

fn write_parts(request: &ChatRequest<'_>, fields: Fields<'_>, out: &mut Out) {
    out.lit("\"input\":{");
    if let Some(origin) = request.origin {
        out.lit(match origin {
            InputOrigin::User => "\"origin\":\"user\",",
            InputOrigin::ToolResponse => "\"origin\":\"tool_response\",",
            InputOrigin::System => "\"origin\":\"system\",",
        });
    }
    out.lit("\"parts\":");
    out.unchecked(request.parts.unwrap_or(Raw::trusted("[]")));
    out.unchecked_if(",\"command\":", request.command);
    own::write(own::at(fields, &[At::Part("/input")]), out);
    out.lit("}");
}

fn write_hint(hint: &HintRequest<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
    begin("command_hint_request", origin, out);
    out.str_if(",\"trigger\":", hint.trigger);
    out.str_if(",\"text\":", hint.text);
    out.unchecked_if(",\"cursor\":", hint.cursor);
    out.unchecked_if(",\"context\":", hint.context);
    own::end_line(fields, out);
}

/// A request of the host's own, in the shape that agents use.
fn write_request(request: &Request<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
    out.lit("{\"type\":\"control_request\"");
    out.str_if(",\"request_id\":", request.id);
    out.lit(",\"request\":{\"subtype\":");
    out.str(request.subtype);
    session_and_turn(origin, true, out);
    own::write(own::at(fields, &[REQUEST]), out);
    out.lit("}");
    own::end_line(fields, out);
}
