//! The protocol's own events written back as the messages that they were read from.

use bumpalo::Bump;

use super::calls::Known;
use super::encode::Encoder;
use super::lines;
use super::{MODELS, MODES, PARAMS, RECORDED, RESULT, TOOL_CALL, UPDATE};
use crate::chat::Members;
use crate::codec::Cx;
use crate::event::{
    At, Block, Content, Event, Fields, Input, InputKind, Kind, Notice, Origin, Outcome, Permission, Piece, Prompt, PromptSource, Request, Response,
    ResultStatus, Session, ToolResult,
};
use crate::json::{Out, Raw, Shape, Str};

const ERROR: At<'static> = At::Part("/error");
const SUBJECT: At<'static> = At::Part("/params/subject");
/// What is said with the kind of news, and not once more.
const WORD: &[&str] = &["sessionUpdate"];

impl Encoder {
    /// Writes it; false for what no line said.
    pub(super) fn own(&mut self, event: &Event<'_>, out: &mut Out) -> bool {
        let fields = event.fields;
        match event.kind {
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            // Facts that changed follow from what was granted.
            Kind::Session(_) if fields.is_empty() => {}
            Kind::Session(session) => opened(session, fields, out),
            // What is no word of the model's came as one all the same.
            Kind::Reply(reply) if reply.error.is_some() && matches!(reply.blocks, [Block::Text { .. }]) => {
                begin_news(event.origin, "agent_message_chunk", fields, out);
                out.lit(",\"content\":");
                blocks(Content::Blocks(reply.blocks), out);
                end_news(fields, &[], out);
            }
            Kind::Prompt(prompt) => self.own_prompt(event.origin, prompt, fields, out),
            Kind::Delta(delta) => {
                let (word, text) = match delta.piece {
                    Piece::Text(text) => ("agent_message_chunk", text),
                    Piece::Thinking(text) => ("agent_thought_chunk", text),
                    _ => return true,
                };
                begin_news(event.origin, word, fields, out);
                chunk(text, fields, out);
                end_news(fields, &[], out);
            }
            Kind::RoundStop(_) => {
                begin_news(event.origin, "agent_message_chunk", fields, out);
                chunk(Str::EMPTY, fields, out);
                end_news(fields, &[], out);
            }
            Kind::Reply(reply) => self.own_reply(event.origin, reply.blocks, fields, out),
            Kind::ToolProgress(progress) => {
                self.begin_own_call(event.origin, progress.call, fields, out);
                out.str_if(",\"status\":", progress.status);
                end_news(fields, WORD, out);
            }
            Kind::ToolResult(result) => self.own_result(event.origin, result, fields, out),
            Kind::Outcome(outcome) => {
                self.calls.end_turn();
                // Of turns that were only said again nobody says how they ended.
                if outcome.word.is_none() && fields.is_empty() {
                    return outcome.synthetic && !outcome.is_error;
                }
                ended(event.origin, outcome, fields, out);
            }
            Kind::Notice(notice) => told(event.origin, notice, fields, out),
            Kind::Request(request) => self.asked(event.origin, request, false, fields, out),
            Kind::Response(response) => answered(response, false, fields, out),
            Kind::Withdraw(withdraw) => {
                begin(false, fields, out);
                out.lit(",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":");
                id(withdraw.id, out);
                members(fields, PARAMS, &[], out);
                out.lit("}");
                end(fields, out);
            }
            _ => {}
        }
        true
    }

    pub(super) fn own_input(&mut self, input: &Input<'_>, out: &mut Out) {
        let fields = input.fields;
        match input.kind {
            InputKind::Request(request) => {
                if request.subtype.is("initialize") {
                    self.calls.clear();
                }
                self.asked(input.origin, request, true, fields, out);
            }
            InputKind::Response(response) => answered(response, true, fields, out),
            InputKind::Cancel { .. } => {
                begin(true, fields, out);
                out.lit(",\"method\":\"session/cancel\"");
                params(input.origin, fields, out);
                end(fields, out);
            }
            InputKind::Withdraw(withdraw) => {
                begin(true, fields, out);
                out.lit(",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":");
                id(withdraw.id, out);
                members(fields, PARAMS, &[], out);
                out.lit("}");
                end(fields, out);
            }
            InputKind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            _ => {}
        }
    }

    fn own_prompt(&self, origin: Origin<'_>, prompt: &Prompt<'_>, fields: Fields<'_>, out: &mut Out) {
        if prompt.source == PromptSource::Host {
            begin(true, fields, out);
            out.lit(",\"method\":\"session/prompt\",\"params\":{");
            if session(origin, out) {
                out.lit(",");
            }
            out.lit("\"prompt\":[");
            blocks(prompt.content, out);
            out.lit("]");
            members(fields, PARAMS, &[], out);
            out.lit("}");
            return end(fields, out);
        }
        match prompt.content {
            Content::Text(text) => {
                begin_news(origin, "user_message_chunk", fields, out);
                chunk(text, fields, out);
            }
            content @ Content::Blocks(_) => {
                begin_news(origin, "user_message", fields, out);
                out.lit(",\"content\":[");
                blocks(content, out);
                out.lit("]");
            }
        }
        end_news(fields, &[], out);
    }

    fn own_reply(&mut self, origin: Origin<'_>, list: &[Block<'_>], fields: Fields<'_>, out: &mut Out) {
        match list {
            [Block::Call(call)] if call.name.is("plan") && call.id.as_escaped().starts_with("plan_") => {
                let newer = field(fields, UPDATE, "plan").is_some();
                begin_news(origin, if newer { "plan_update" } else { "plan" }, fields, out);
                if !newer {
                    out.unchecked_if(",\"entries\":", call.input.get("todos"));
                }
                end_news(fields, &[], out);
            }
            // A message about something else shows that it has begun.
            [Block::Call(_)] if fields.is_empty() => {}
            [Block::Call(call)] => {
                self.begin_own_call(origin, call.id, fields, out);
                if self.calls.input(call.id) != call.input.as_str() {
                    out.unchecked_if(",\"rawInput\":", Some(call.input));
                    self.calls.hear_input(call.id, call.input);
                }
                end_news(fields, WORD, out);
            }
            [Block::Text { .. } | Block::Thinking(_), ..] => {
                let thinks = matches!(list, [Block::Thinking(_), ..]);
                begin_news(origin, if thinks { "agent_thought" } else { "agent_message" }, fields, out);
                out.lit(",\"content\":[");
                blocks(Content::Blocks(list), out);
                out.lit("]");
                end_news(fields, &[], out);
            }
            [Block::Media(crate::event::Media { raw, .. }) | Block::Other { raw, .. }] => {
                begin_news(origin, "agent_message_chunk", fields, out);
                out.unchecked_if(",\"content\":", Some(*raw));
                end_news(fields, &[], out);
            }
            _ => {}
        }
    }

    /// Begins what is new of a call, up to its id; the first time it is called a call. Returns what was known of it.
    fn begin_own_call(&mut self, origin: Origin<'_>, call: Str<'_>, fields: Fields<'_>, out: &mut Out) -> Known {
        let usual = if self.calls.knows(call) { "tool_call_update" } else { "tool_call" };
        let word = field(fields, UPDATE, "sessionUpdate").and_then(Raw::string);
        let word = word.map_or(usual, Str::as_escaped);
        if word == "tool_call" {
            self.calls.call(call);
        }
        begin_news(origin, word, fields, out);
        out.str_if(",\"toolCallId\":", Some(call));
        self.hear(call, fields, UPDATE)
    }

    /// What is said of a call. Returns what was known of it.
    fn hear(&mut self, call: Str<'_>, fields: Fields<'_>, at: At<'_>) -> Known {
        let arena = Bump::new();
        let mut said = Members::new(&Cx::new(&arena));
        for field in fields.iter().filter(|field| field.at == at) {
            said.push(field.key, field.value);
        }
        let before = self.calls.known(call);
        self.calls.hear(call, &said);
        before
    }

    fn own_result(&mut self, origin: Origin<'_>, result: &ToolResult<'_>, fields: Fields<'_>, out: &mut Out) {
        // A plan is its own result.
        if result.name.is_some_and(|name| name.is("plan")) && result.call.as_escaped().starts_with("plan_") {
            return;
        }
        let before = self.begin_own_call(origin, result.call, fields, out);
        if field(fields, UPDATE, "status").is_none() {
            out.lit(match result.status {
                ResultStatus::Success => ",\"status\":\"completed\"",
                ResultStatus::Error | ResultStatus::Denied => ",\"status\":\"failed\"",
                ResultStatus::Canceled => ",\"status\":\"cancelled\"",
            });
        }
        let said: String = result.content.texts().map(Str::as_escaped).collect();
        let (shown, output) = (field(fields, UPDATE, "content"), field(fields, UPDATE, "rawOutput"));
        let shows = shown.map(lines::shown).filter(|text| !text.is_empty());
        let known = match (output.and_then(Raw::string).filter(|text| !text.is_empty()), &shows) {
            (Some(text), _) => text.as_escaped(),
            (None, Some(text)) => text.as_str(),
            (None, None) => self.calls.unsaid(result.call, &before, output),
        };
        match (shown, output) {
            _ if known == said => {}
            (Some(_), None) => {
                out.lit(",\"rawOutput\":\"");
                result.content.texts().for_each(|text| out.body(text));
                out.lit("\"");
            }
            (None, _) => {
                out.lit(",\"content\":[");
                lines::blocks(result.content, "{\"type\":\"content\",\"content\":", "}", out);
                out.lit("]");
            }
            (Some(_), Some(_)) => {}
        }
        self.calls.ended(result.call);
        end_news(fields, WORD, out);
    }

    fn asked(&mut self, origin: Origin<'_>, request: &Request<'_>, by_host: bool, fields: Fields<'_>, out: &mut Out) {
        begin_with_id(request.id, by_host, fields, out);
        out.str_if(",\"method\":", Some(request.subtype));
        match request.permission {
            None => params(origin, fields, out),
            Some(permission) => {
                out.lit(",\"params\":");
                object(out, |out| {
                    out.str_if(",\"sessionId\":", origin.session);
                    let newer = fields.iter().any(|field| field.at == SUBJECT);
                    if newer {
                        out.lit(",\"subject\":");
                        object(out, |out| {
                            members(fields, SUBJECT, &[], out);
                            self.wanted(permission, fields, out);
                        });
                    } else {
                        self.wanted(permission, fields, out);
                    }
                    members(fields, PARAMS, &[], out);
                });
            }
        }
        end(fields, out);
    }

    /// The call that is to be permitted.
    fn wanted(&mut self, permission: &Permission<'_>, fields: Fields<'_>, out: &mut Out) {
        let Some(call) = permission.call else { return };
        out.lit(",\"toolCall\":{\"toolCallId\":");
        out.str(call);
        self.hear(call, fields, TOOL_CALL);
        if let Some(input) = permission.input.filter(|input| self.calls.input(call) != input.as_str()) {
            out.unchecked_if(",\"rawInput\":", Some(input));
            self.calls.hear_input(call, input);
        }
        members(fields, TOOL_CALL, &[], out);
        out.lit("}");
    }
}

/// A field.
fn field<'a>(fields: Fields<'a>, at: At<'_>, name: &str) -> Option<Raw<'a>> {
    fields.iter().find(|field| field.at == at && field.key.is(name)).map(|field| field.value)
}

/// Writes the fields of an object, each behind a comma, but for those that stand elsewhere.
fn members(fields: Fields<'_>, at: At<'_>, but: &[&str], out: &mut Out) {
    for field in fields.iter().filter(|field| field.at == at && !but.iter().any(|name| field.key.is(name))) {
        field.write_next(out);
    }
}

/// The members of an object that has others: the first comma is taken back.
fn object(out: &mut Out, write: impl FnOnce(&mut Out)) {
    out.lit("{");
    let written = out.apart(write);
    out.bytes(written.strip_prefix(b",").unwrap_or(&written));
    out.lit("}");
}

/// Begins a message: what a recorder wrapped around it, the version, the id.
fn begin(by_host: bool, fields: Fields<'_>, out: &mut Out) {
    if fields.iter().any(|field| field.at == RECORDED) {
        out.lit(if by_host { "{\"dir\":\"c2a\"" } else { "{\"dir\":\"a2c\"" });
        members(fields, RECORDED, &[], out);
        out.lit(",\"msg\":");
    }
    out.lit("{\"jsonrpc\":\"2.0\"");
    members(fields, At::Line, &["jsonrpc"], out);
}

/// Ends it.
fn end(fields: Fields<'_>, out: &mut Out) {
    out.lit("}");
    if fields.iter().any(|field| field.at == RECORDED) {
        out.lit("}");
    }
    out.lit("\n");
}

fn session(origin: Origin<'_>, out: &mut Out) -> bool {
    out.str_if("\"sessionId\":", origin.session);
    origin.session.is_some()
}

fn begin_news(origin: Origin<'_>, word: &str, fields: Fields<'_>, out: &mut Out) {
    begin(false, fields, out);
    out.lit(",\"method\":\"session/update\",\"params\":{");
    if session(origin, out) {
        out.lit(",");
    }
    out.lit("\"update\":{\"sessionUpdate\":\"");
    out.lit(word);
    out.lit("\"");
}

fn end_news(fields: Fields<'_>, but: &[&str], out: &mut Out) {
    members(fields, UPDATE, but, out);
    out.lit("}");
    members(fields, PARAMS, &[], out);
    out.lit("}");
    end(fields, out);
}

fn chunk(text: Str<'_>, fields: Fields<'_>, out: &mut Out) {
    out.lit(",\"content\":{\"type\":\"text\",\"text\":");
    out.str(text);
    members(fields, At::Block(0), &[], out);
    out.lit("}");
}

/// Blocks as they were.
fn blocks(content: Content<'_>, out: &mut Out) {
    let one;
    let list = match content {
        Content::Text(text) => {
            one = [Block::Text { text, fields: &[] }];
            &one[..]
        }
        Content::Blocks(list) => list,
    };
    for (n, block) in list.iter().enumerate() {
        out.lit(if n > 0 { "," } else { "" });
        match block {
            Block::Text { text, fields } | Block::Thinking(crate::event::Thinking { text, fields, .. }) => {
                out.lit("{\"type\":\"text\",\"text\":");
                out.str(*text);
                fields.iter().for_each(|field| field.write_next(out));
                out.lit("}");
            }
            Block::Media(crate::event::Media { raw, .. }) | Block::Other { raw, .. } => out.unchecked(*raw),
            _ => out.lit("{}"),
        }
    }
}

/// Writes an id; most are numbers.
pub(super) fn id(id: Option<Str<'_>>, out: &mut Out) {
    match id {
        Some(id) if id.as_escaped().parse::<u32>().is_ok_and(|n| n.to_string() == id.as_escaped()) => {
            out.used(id.as_escaped());
            out.lit(id.as_escaped());
        }
        id => out.str_or_null(id),
    }
}

fn begin_with_id(of: Option<Str<'_>>, by_host: bool, fields: Fields<'_>, out: &mut Out) {
    begin(by_host, fields, out);
    if field(fields, At::Line, "id").is_none() {
        out.lit(",\"id\":");
        id(of, out);
    }
}

fn opened(facts: &Session<'_>, fields: Fields<'_>, out: &mut Out) {
    begin(false, fields, out);
    out.lit(",\"result\":");
    object(out, |out| {
        out.unchecked_if(",\"sessionId\":", field(fields, RESULT, "sessionId"));
        for (name, key, value, at) in [
            (",\"modes\":", ",\"currentModeId\":", facts.permission_mode, MODES),
            (",\"models\":", ",\"currentModelId\":", facts.model, MODELS),
        ] {
            if fields.iter().any(|field| field.at == at) {
                out.lit(name);
                object(out, |out| {
                    out.str_if(key, value);
                    members(fields, at, &[], out);
                });
            }
        }
        members(fields, RESULT, &["sessionId"], out);
    });
    end(fields, out);
}

fn params(origin: Origin<'_>, fields: Fields<'_>, out: &mut Out) {
    let says = fields.iter().any(|field| field.at == PARAMS);
    if field(fields, At::Line, "params").is_some() || origin.session.is_none() && !says {
        return;
    }
    out.lit(",\"params\":");
    object(out, |out| {
        out.str_if(",\"sessionId\":", origin.session);
        members(fields, PARAMS, &[], out);
    });
}

fn told(origin: Origin<'_>, notice: &Notice<'_>, fields: Fields<'_>, out: &mut Out) {
    begin(false, fields, out);
    match notice.data {
        Some(update) => {
            out.lit(",\"method\":\"session/update\",\"params\":{");
            if session(origin, out) {
                out.lit(",");
            }
            out.lit("\"update\":");
            out.unchecked(update);
            members(fields, PARAMS, &[], out);
            out.lit("}");
        }
        None => {
            out.str_if(",\"method\":", Some(notice.name));
            params(origin, fields, out);
        }
    }
    end(fields, out);
}

fn answered(response: &Response<'_>, by_host: bool, fields: Fields<'_>, out: &mut Out) {
    begin_with_id(response.id, by_host, fields, out);
    match response.error {
        Some(error) => out.unchecked_if(",\"error\":", Some(error)),
        None if fields.iter().any(|field| field.at == RESULT) => {
            out.lit(",\"result\":");
            object(out, |out| members(fields, RESULT, &[], out));
        }
        None => out.unchecked_if(",\"result\":", Some(response.body.unwrap_or(Raw::NULL))),
    }
    end(fields, out);
}

/// How a turn ended: in the answer to its prompt, or as a state.
fn ended(origin: Origin<'_>, outcome: &Outcome<'_>, fields: Fields<'_>, out: &mut Out) {
    let usage = |out: &mut Out| {
        let raw = outcome.usage.and_then(|usage| usage.raw).filter(|raw| raw.shape() == Some(Shape::Object));
        out.unchecked_if(",\"usage\":", raw.filter(|_| outcome.word.is_some()));
    };
    let failed = fields.iter().any(|field| field.at == ERROR);
    let error = |out: &mut Out| {
        out.lit(",\"error\":");
        object(out, |out| {
            let code = fields.iter().filter(|field| field.at == ERROR && field.key.is("code"));
            code.for_each(|field| field.write_next(out));
            if field(fields, ERROR, "message").is_none() {
                out.str_if(",\"message\":", outcome.error);
            }
            members(fields, ERROR, &["code"], out);
        });
    };
    if field(fields, UPDATE, "state").is_some() {
        begin_news(origin, "state_update", fields, out);
        out.str_if(",\"stopReason\":", outcome.word);
        usage(out);
        if failed {
            error(out);
        }
        return end_news(fields, &[], out);
    }
    begin(false, fields, out);
    if failed {
        error(out);
    } else {
        out.lit(",\"result\":");
        object(out, |out| {
            out.str_if(",\"stopReason\":", outcome.word);
            usage(out);
            members(fields, RESULT, &[], out);
        });
    }
    end(fields, out);
}
