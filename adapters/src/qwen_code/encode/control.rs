//! Control lines, which carry neither ids of lines nor the session's.

use super::super::{REQUEST, RESPONSE};
use super::{Core, Encoder};
use crate::codec::Layout;
use crate::event::{At, ControlKind, Event, Fate, Fields, Permission, Request, Response, Withdraw};
use crate::json::{Out, Raw, Shape, Str};

impl Encoder {
    /// The agent asks. Of what other agents ask, this one has two: `can_use_tool` and `mcp_message`.
    pub(super) fn request(&mut self, event: &Event<'_>, request: &Request<'_>, out: &mut Out) {
        if self.mode.layout != Layout::Lines {
            return;
        }
        let core = &self.core;
        let has_place = match (request.kind, request.permission) {
            _ if core.own || core.agent => true,
            (ControlKind::CanUseTool, permission) => permission.is_some(),
            (ControlKind::Mcp, _) => ["server_name", "message"]
                .into_iter()
                .all(|name| member(event.fields, name).or_else(|| in_payload(event.fields, name)).is_some()),
            _ => false,
        };
        if has_place {
            self.flush(out);
            self.core.ask(request, event.fields, Side::Agent, out);
        }
    }
}

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Agent,
    Host,
}

impl Core {
    /// Writes a question, in either direction.
    pub(super) fn ask(&mut self, request: &Request<'_>, fields: Fields<'_>, side: Side, out: &mut Out) {
        let writer = self.writer.0;
        self.pen.open("control_request", out);
        self.request_id(request.id, out);
        out.lit(",\"request\":{\"subtype\":");
        match self.own {
            true => out.str(request.subtype),
            false => request.write_subtype(out),
        }
        if let Some(permission) = request.permission {
            self.permission(permission, fields, side, out);
        }
        if self.own {
            writer.fields(out, fields, At::Part(REQUEST));
        } else {
            for field in fields
                .iter()
                .filter(|field| field.at == At::Part(REQUEST) && (self.agent || goes_over(request, side, field.key)))
            {
                super::pen::member(field, out);
            }
            if request.kind == ControlKind::Mcp {
                for (name, value) in ["server_name", "message"]
                    .into_iter()
                    .filter_map(|name| Some((name, in_payload(fields, name)?)))
                {
                    out.lit(",\"");
                    out.lit(name);
                    out.lit("\":");
                    out.unchecked(value);
                }
            }
        }
        out.lit("}");
        writer.fields(out, fields, At::Line);
        self.pen.close(out);
    }

    fn permission(&self, permission: &Permission<'_>, fields: Fields<'_>, side: Side, out: &mut Out) {
        out.lit(",\"tool_name\":");
        out.str(permission.name);
        out.str_if(",\"tool_use_id\":", permission.call);
        match permission.input {
            Some(input) => {
                out.lit(",\"input\":");
                out.unchecked(input);
            }
            // Hosts need one.
            None if !self.own => out.lit(",\"input\":{}"),
            None => {}
        }
        match permission.suggestions.filter(|_| self.own || self.agent) {
            Some(suggestions) => {
                out.lit(",\"permission_suggestions\":");
                out.unchecked(suggestions);
            }
            None if side == Side::Agent && self.own => out.lit(",\"permission_suggestions\":null"),
            None if side == Side::Agent => suggestions(permission, out),
            None => {}
        }
        if side == Side::Agent && !self.writer.0.has(fields, At::Part(REQUEST), "blocked_path") {
            out.lit(",\"blocked_path\":null");
        }
    }

    /// Writes an answer, in either direction.
    pub(super) fn response(&mut self, response: &Response<'_>, fields: Fields<'_>, out: &mut Out) {
        if self.pen.is_array() {
            return;
        }
        let writer = self.writer.0;
        self.pen.open("control_response", out);
        out.lit(if response.ok {
            ",\"response\":{\"subtype\":\"success\""
        } else {
            ",\"response\":{\"subtype\":\"error\""
        });
        out.str_if(",\"request_id\":", response.id);
        out.unchecked_if(",\"response\":", response.body);
        if let Some(error) = response.error {
            out.lit(",\"error\":");
            // An error is a text here; the RFC has an object.
            match error.get("message").filter(|message| !self.own && message.shape() == Some(Shape::String)) {
                Some(message) => out.unchecked(message),
                None => out.unchecked(error),
            }
        } else if !response.ok && !self.own {
            out.lit(",\"error\":\"\"");
            out.invented("/response/error", "the source does not say what went wrong");
        }
        writer.fields(out, fields, At::Part(RESPONSE));
        out.lit("}");
        writer.fields(out, fields, At::Line);
        self.pen.close(out);
    }

    /// A question is taken back.
    pub(super) fn withdraw(&mut self, withdraw: &Withdraw<'_>, fields: Fields<'_>, out: &mut Out) {
        if self.pen.is_array() {
            return;
        }
        self.pen.open("control_cancel_request", out);
        out.str_if(",\"request_id\":", withdraw.id);
        out.carried();
        self.writer.0.fields(out, fields, At::Line);
        self.pen.close(out);
    }

    /// An id for a question; a foreign one without gets one.
    pub(super) fn request_id(&mut self, id: Option<Str<'_>>, out: &mut Out) {
        match id {
            Some(id) => {
                out.lit(",\"request_id\":");
                out.str(id);
            }
            None if self.own => {}
            None => {
                out.lit(",\"request_id\":\"");
                let made = self.pen.made_up();
                out.bytes(&made);
                out.lit("\"");
                out.note(Fate::Invented, "/request_id", "a question without an id gets no answer");
            }
        }
    }
}

/// What the program lets its user choose between. Hosts look for `allow` among them (recorded: `sdk/can_use_tool_allow`,
/// `ctl_perm_shell`; the words of each kind of tool are the program's own).
fn suggestions(permission: &Permission<'_>, out: &mut Out) {
    let text = |name: &str| permission.input.and_then(|input| input.get(name)).and_then(Raw::string);
    let name = permission.name.as_escaped();
    let (label, about, what, denied) = match name {
        "run_shell_command" => (
            "Allow Command",
            "Execute: ",
            text("command").map_or("", |command| command.as_escaped()),
            "Block this command execution",
        ),
        "edit" | "write_file" => (
            "Allow Edit",
            "Edit file: ",
            text("file_path").map_or("", |path| path.as_escaped().rsplit('/').next().unwrap_or_default()),
            "Block this file edit",
        ),
        "exit_plan_mode" => ("Approve Plan", "Execute the proposed plan", "", "Do not execute this plan"),
        _ => match name.strip_prefix("mcp__") {
            Some(tool) => ("Allow MCP Call", "", tool, "Block this MCP server call"),
            None => ("Allow", "", name, "Block this operation"),
        },
    };
    out.lit(",\"permission_suggestions\":[{\"type\":\"allow\",\"label\":\"");
    out.lit(label);
    out.lit("\",\"description\":\"");
    out.lit(about);
    out.bytes(what.as_bytes());
    out.lit("\"},{\"type\":\"deny\",\"label\":\"");
    out.lit(if name == "exit_plan_mode" { "Reject Plan" } else { "Deny" });
    out.lit("\",\"description\":\"");
    out.lit(denied);
    out.lit("\"}]");
    out.invented(
        "/request/permission_suggestions",
        "the target's hosts choose between these; the source's are of another form",
    );
}

/// Whether a member of a foreign question is one of this dialect's too.
fn goes_over(request: &Request<'_>, side: Side, key: Str<'_>) -> bool {
    let name = key.as_escaped();
    match request.kind {
        ControlKind::Mcp => matches!(name, "server_name" | "message"),
        ControlKind::CanUseTool => side == Side::Host,
        ControlKind::SetModel => name == "model",
        ControlKind::SetMode => name == "mode",
        ControlKind::Initialize => matches!(name, "hooks" | "timeout" | "mcpServers" | "effort"),
        _ => super::super::fields::knows(name),
    }
}

fn member<'a>(fields: Fields<'a>, name: &str) -> Option<Raw<'a>> {
    fields
        .iter()
        .find(|field| field.at == At::Part(REQUEST) && field.key.is(name))
        .map(|field| field.value)
}

/// A member of a foreign question's `payload`: where the RFC has what is said to an MCP server.
fn in_payload<'a>(fields: Fields<'a>, name: &str) -> Option<Raw<'a>> {
    member(fields, "payload")?.get(name)
}
