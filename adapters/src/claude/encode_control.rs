//! Control lines that the agent writes.

use crate::blocks::member;
use crate::event::{At, ControlKind, Event, Fields, Origin, Request, Response, Withdraw};
use crate::json::{Out, Raw, Shape, Str};

use super::encode::{Encoder, LINE, Line};
use super::{REQUEST, RESPONSE};

/// Calls of these talk with the user: each is answered anew.
const TALKS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

impl Encoder {
    pub(super) fn request(&mut self, event: &Event<'_>, request: &Request<'_>, out: &mut Out) {
        if !self.shows(Line::Side) {
            return;
        }
        if self.speaks() {
            return self.own_request(&event.origin, event.fields, request, out);
        }
        match request.kind {
            ControlKind::CanUseTool if request.permission.is_some() => {
                self.request_head(request, "can_use_tool", out);
                self.permission(request, out);
            }
            ControlKind::Mcp => {
                self.request_head(request, "mcp_message", out);
                unpacked(event.fields, &["server_name", "message"], out);
            }
            ControlKind::Hook => {
                self.request_head(request, "hook_callback", out);
                unpacked(event.fields, &["callback_id", "input", "tool_use_id"], out);
            }
            // Whatever else other agents ask, Claude Code has no such question.
            _ => return,
        }
        out.lit("}}\n");
    }

    /// A request as Claude Code or its host wrote it.
    pub(super) fn own_request(&self, origin: &Origin<'_>, fields: Fields<'_>, request: &Request<'_>, out: &mut Out) {
        out.lit("{\"type\":\"control_request\"");
        out.str_if(",\"request_id\":", request.id);
        out.lit(",\"request\":{\"subtype\":");
        out.str(request.subtype);
        if let Some(permission) = request.permission {
            out.lit(",\"tool_name\":");
            out.str(permission.name);
            let members = [
                (",\"input\":", permission.input),
                (",\"permission_suggestions\":", permission.suggestions),
            ];
            for (key, value) in members {
                if let Some(value) = value {
                    out.lit(key);
                    out.raw(value);
                }
            }
            out.str_if(",\"tool_use_id\":", permission.call);
        }
        self.writer.fields(out, fields, At::Part(REQUEST));
        self.added(out, fields, At::Part(REQUEST));
        out.lit("}");
        if self.style.agent {
            return out.lit("}\n");
        }
        self.own_tail(out, origin);
        self.writer.fields(out, fields, LINE);
        out.lit("}\n");
    }

    /// Writes a request up to and including its subtype.
    pub(super) fn request_head(&mut self, request: &Request<'_>, subtype: &str, out: &mut Out) {
        out.lit("{\"type\":\"control_request\",\"request_id\":");
        match request.id {
            Some(id) => out.str(id),
            None => self.made_up_request(out),
        }
        out.lit(",\"request\":{\"subtype\":\"");
        out.lit(subtype);
        out.lit("\"");
        out.used(request.subtype.as_escaped());
    }

    pub(super) fn made_up_request(&mut self, out: &mut Out) {
        let id = self.fresh_id();
        out.lit("\"");
        out.bytes(&id);
        out.lit("\"");
        out.invented("/request_id", "an answer needs it");
    }

    /// What another agent wants to be allowed. Its suggestions are in a form of its own; in a session that lives the host may allow the tool
    /// for the rest of it, whoever the agent is.
    fn permission(&mut self, request: &Request<'_>, out: &mut Out) {
        let Some(permission) = request.permission else { return };
        out.lit(",\"tool_name\":");
        out.str(permission.name);
        out.lit(",\"input\":");
        match permission.input.filter(|input| input.shape() == Some(Shape::Object)) {
            Some(input) => out.unchecked(input),
            None => {
                out.lit("{}");
                out.invented("/request/input", "the source does not say it; the target's parsers need it");
            }
        }
        if self.lives && !TALKS.contains(&permission.name.as_escaped()) {
            out.lit(",\"permission_suggestions\":[{\"type\":\"addRules\",\"rules\":[{\"toolName\":");
            out.str(permission.name);
            out.lit("}],\"behavior\":\"allow\",\"destination\":\"session\"}]");
            out.invented("/request/permission_suggestions", "the agent suggests none in this form");
        }
        out.lit(",\"tool_use_id\":");
        match permission.call {
            Some(call) => out.str(call),
            None => {
                out.str(request.id.unwrap_or_default());
                out.invented("/request/tool_use_id", "the source does not name the call");
            }
        }
    }

    /// An answer of the agent's, or of the host's.
    pub(super) fn response(&mut self, origin: &Origin<'_>, fields: Fields<'_>, response: &Response<'_>, out: &mut Out) {
        if !self.shows(Line::Side) {
            return;
        }
        out.lit(if response.ok {
            "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\""
        } else {
            "{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\""
        });
        out.str_if(",\"request_id\":", response.id);
        if let Some(body) = response.body {
            out.lit(",\"response\":");
            match self.speaks() {
                true => out.raw(body),
                false => answer(body, out),
            }
        }
        match response.error {
            Some(error) => {
                out.lit(",\"error\":");
                self.refusal(error, out);
                if let Some(code) = error.get("code").filter(|code| !self.own() && code.string().is_some()) {
                    out.lit(",\"error_code\":");
                    out.unchecked(code);
                }
            }
            None if !response.ok && !self.own() => {
                out.lit(",\"error\":\"unknown\"");
                out.invented("/response/error", "the source does not say what went wrong");
            }
            None => {}
        }
        self.writer.fields(out, fields, At::Part(RESPONSE));
        out.lit("}");
        if self.own() {
            self.own_tail(out, origin);
        }
        self.writer.fields(out, fields, LINE);
        out.lit("}\n");
    }

    /// Why there is no answer: a text here, `{message,retryable}` in the RFC, `{message,code}` where a code of ours belongs to it.
    fn refusal(&self, error: Raw<'_>, out: &mut Out) {
        match error.get("message").and_then(Raw::string).filter(|_| !self.own()) {
            Some(message) => out.str(message),
            None => out.unchecked(error),
        }
    }

    pub(super) fn withdraw(&mut self, origin: &Origin<'_>, fields: Fields<'_>, withdraw: Withdraw<'_>, out: &mut Out) {
        // Hosts take back one question by its id, which others may leave out.
        if !self.shows(Line::Side) || withdraw.id.is_none() && !self.own() {
            return;
        }
        out.lit("{\"type\":\"control_cancel_request\"");
        out.str_if(",\"request_id\":", withdraw.id);
        if self.own() {
            self.own_tail(out, origin);
        }
        self.writer.fields(out, fields, LINE);
        out.lit("}\n");
    }
}

/// Writes what is said to an MCP server or a hook; the RFC has it in a `payload`.
fn unpacked(fields: Fields<'_>, names: &[&str], out: &mut Out) {
    let payload = fields.iter().find(|field| field.at == At::Part(REQUEST) && field.key.is("payload"));
    let Some(payload) = payload else { return named(fields, names, out) };
    for name in names {
        if let Some(value) = payload.value.get(name) {
            out.lit(",\"");
            out.lit(name);
            out.lit("\":");
            out.unchecked(value);
        }
    }
}

/// Writes those fields of another dialect that are called the same here.
pub(super) fn named(fields: Fields<'_>, names: &[&str], out: &mut Out) {
    for field in fields {
        if matches!(field.at, At::Part(REQUEST) | At::Line) && names.iter().any(|name| field.key.is(name)) {
            member(out, field);
        }
    }
}

/// The answer of another dialect's host or agent: the RFC says `approve` where Claude Code says `allow`.
fn answer(body: Raw<'_>, out: &mut Out) {
    let approves = |value: Raw<'_>| value.string().is_some_and(|word| word.is("approve"));
    if body.check().is_err() || !body.get("behavior").is_some_and(approves) {
        return out.unchecked(body);
    }
    out.lit("{\"behavior\":\"allow\"");
    for (key, value) in body.members() {
        if key.is("behavior") {
            out.renamed(value.as_str(), "the target's own word");
            continue;
        }
        out.lit(",");
        out.str(Str::trusted(key.as_escaped()));
        out.lit(":");
        out.raw(value);
    }
    out.lit("}");
}
