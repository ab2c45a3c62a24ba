//! What the host says: prompts and control lines.

use super::control::Side;
use super::init::MODES;
use super::{Core, pen};
use crate::blocks::MESSAGE;
use crate::event::{At, Block, ChatRequest, Content, ControlKind, Field, Input, InputKind, Prompt, Request, Response};
use crate::json::{Out, Raw, Shape, Str};

/// The questions that the program answers, beside those that other programs know as well.
const REQUESTS: &[&str] = &[
    "initialize",
    "interrupt",
    "set_model",
    "set_permission_mode",
    "set_effort",
    "supported_commands",
    "get_context_usage",
    "get_available_models",
    "get_usage_info",
    "mcp_server_status",
    "continue_last_turn",
    "can_use_tool",
];

/// The same questions by other names.
const SAME: &[(&str, &str)] = &[("mcp_status", "mcp_server_status")];

impl Core {
    pub(super) fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        self.pen.session(input.origin.session.filter(|id| !id.is_empty()));
        match input.kind {
            InputKind::Prompt(prompt) => self.host_prompt(input, prompt, out),
            InputKind::Chat(chat) => self.chat(input, chat, out),
            InputKind::Request(request) if self.own => self.ask(request, input.fields, Side::Host, out),
            InputKind::Request(request) => self.foreign_request(input, request, out),
            InputKind::Response(response) if self.own => self.response(response, input.fields, out),
            InputKind::Response(response) => self.foreign_response(input, response, out),
            InputKind::Withdraw(withdraw) => self.withdraw(&withdraw, input.fields, out),
            InputKind::Cancel { .. } => {
                self.pen.open("control_request", out);
                self.request_id(None, out);
                out.lit(",\"request\":{\"subtype\":\"interrupt\"}");
                self.pen.close(out);
            }
            InputKind::Noise(text) if self.own => out.copied_line(text),
            InputKind::Unknown(raw) if self.own => self.pen.line(raw, out),
            InputKind::Hint(_)
            | InputKind::HintCancel
            | InputKind::Heartbeat { .. }
            | InputKind::KeepAlive
            | InputKind::Environment(_)
            | InputKind::Noise(_)
            | InputKind::Unknown(_) => {}
        }
    }

    fn host_prompt(&mut self, input: &Input<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        let writer = self.writer.0;
        let blocks = match prompt.content {
            Content::Text(_) => &[][..],
            Content::Blocks(blocks) => blocks,
        };
        if !self.own && prompt.content.has_other_than_text() && !blocks.iter().any(|block| matches!(block, Block::Text { .. })) {
            return;
        }
        self.pen.open("user", out);
        out.str_if(",\"uuid\":", input.origin.id);
        out.str_if(",\"session_id\":", input.origin.session.or((!self.own).then_some(Str::EMPTY)));
        out.lit(",\"message\":{\"role\":\"user\",\"content\":");
        self.content(prompt.content, out);
        writer.fields(out, input.fields, At::Part(MESSAGE));
        out.lit("}");
        match input.origin.parent {
            Some(parent) => {
                out.lit(",\"parent_tool_use_id\":");
                out.str(parent);
            }
            // Hosts write both of them or neither.
            None if self.own && input.origin.session.is_none() => {}
            None => out.lit(",\"parent_tool_use_id\":null"),
        }
        writer.fields(out, input.fields, At::Line);
        self.pen.close(out);
    }

    /// The RFC's request: its text parts, or its command as it is typed.
    fn chat(&mut self, input: &Input<'_>, chat: &ChatRequest<'_>, out: &mut Out) {
        let text = |part: Raw<'_>| matches!(part.get("type").and_then(Raw::string), Some(kind) if kind.is("text") || kind.is("instruction"));
        let mut found = false;
        let written = out.apart(|out| {
            for part in chat.parts.into_iter().flat_map(Raw::elements).filter(|part| text(*part)) {
                if let Some(text) = part.get("text").and_then(Raw::string) {
                    // The program joins texts with a line feed.
                    out.lit(if std::mem::replace(&mut found, true) { "\\n" } else { "" });
                    out.body(text);
                }
            }
            let last = chat
                .messages
                .into_iter()
                .flat_map(Raw::elements)
                .filter(|m| m.get("role").and_then(Raw::string).is_some_and(|role| role.is("user")));
            if let Some(text) = last
                .last()
                .and_then(|message| message.get("content"))
                .and_then(Raw::string)
                .filter(|_| !found)
            {
                found = true;
                out.body(text);
            }
            if let Some(command) = chat.command.filter(|_| !found) {
                found = typed(command, out);
            }
        });
        if found {
            self.pen.open("user", out);
            out.lit(",\"session_id\":");
            out.str(input.origin.session.unwrap_or_default());
            out.lit(",\"message\":{\"role\":\"user\",\"content\":\"");
            out.bytes(&written);
            out.lit("\"},\"parent_tool_use_id\":null");
            self.pen.close(out);
        }
    }

    fn foreign_request(&mut self, input: &Input<'_>, request: &Request<'_>, out: &mut Out) {
        let subtype = request.subtype.as_escaped();
        let ours = SAME.iter().find(|(theirs, _)| *theirs == subtype).map_or(subtype, |(_, ours)| ours);
        if !REQUESTS.contains(&ours) {
            return;
        }
        if !matches!(request.kind, ControlKind::Initialize | ControlKind::SetMode) {
            if ours != subtype {
                out.renamed(subtype, "this dialect's word for the question");
                return self.ask(
                    &Request {
                        subtype: Str::trusted(ours),
                        ..*request
                    },
                    input.fields,
                    Side::Host,
                    out,
                );
            }
            return self.ask(request, input.fields, Side::Host, out);
        }
        self.pen.open("control_request", out);
        self.request_id(request.id, out);
        out.lit(",\"request\":{\"subtype\":");
        out.str(request.subtype);
        for field in input.fields.iter().filter(|field| field.at == At::Part(super::super::REQUEST)) {
            match (request.kind, field.key.as_escaped()) {
                (ControlKind::SetMode, "mode") => mode(field, out),
                (ControlKind::Initialize, "sdkMcpServers") => servers(field, out),
                (ControlKind::Initialize, "agents") => agents(field, out),
                (ControlKind::Initialize, "timeout" | "mcpServers" | "effort") => pen::member(field, out),
                _ => {}
            }
        }
        out.lit("}");
        self.pen.close(out);
    }

    /// The RFC's `approve` is this dialect's `allow`.
    fn foreign_response(&mut self, input: &Input<'_>, response: &Response<'_>, out: &mut Out) {
        let approved = |body: &Raw<'_>| body.get("behavior").and_then(Raw::string).is_some_and(|word| word.is("approve"));
        let Some(body) = response.body.filter(approved) else {
            return self.response(response, input.fields, out);
        };
        let mut text = String::from("{\"behavior\":\"allow\"");
        for (key, value) in body.members().filter(|(key, _)| !key.is("behavior")) {
            text.push_str(",\"");
            text.push_str(key.as_escaped());
            text.push_str("\":");
            text.push_str(value.as_str());
        }
        text.push('}');
        out.renamed(body.as_str(), "this dialect's word for permission");
        self.response(
            &Response {
                body: Some(Raw::trusted(&text)),
                ..*response
            },
            input.fields,
            out,
        );
    }
}

/// A command as it is typed: `/path args`.
fn typed(command: Raw<'_>, out: &mut Out) -> bool {
    let path: Vec<Str<'_>> = match command.get("path") {
        Some(path) if path.shape() == Some(Shape::String) => path.string().into_iter().collect(),
        Some(path) => path.elements().filter_map(Raw::string).collect(),
        None => Vec::new(),
    };
    for (n, part) in path.iter().enumerate() {
        out.lit(if n > 0 {
            " "
        } else if part.as_escaped().starts_with('/') {
            ""
        } else {
            "/"
        });
        out.body(*part);
    }
    if let Some(args) = command
        .get("args")
        .and_then(Raw::string)
        .filter(|args| !path.is_empty() && !args.is_empty())
    {
        out.lit(" ");
        out.body(args);
    }
    !path.is_empty()
}

/// The permission mode in this dialect's words.
fn mode(field: &Field<'_>, out: &mut Out) {
    let ours = field.value.string().and_then(|mode| MODES.iter().find(|(theirs, _)| mode.is(theirs)));
    match ours {
        Some((_, ours)) => {
            out.renamed(field.value.as_str(), "this dialect's word for the mode");
            out.lit(",\"mode\":");
            out.text(ours);
        }
        None => pen::member(field, out),
    }
}

/// A list of names is an object of servers here.
fn servers(field: &Field<'_>, out: &mut Out) {
    if field.value.shape() != Some(Shape::Array) {
        return pen::member(field, out);
    }
    out.lit(",\"sdkMcpServers\":{");
    for (n, name) in field.value.elements().filter_map(Raw::string).enumerate() {
        out.lit(if n > 0 { "," } else { "" });
        out.str(name);
        out.lit(":{\"type\":\"sdk\",\"name\":");
        out.str(name);
        out.lit("}");
    }
    out.lit("}");
}

/// An object of agents by name is a list here.
fn agents(field: &Field<'_>, out: &mut Out) {
    if field.value.shape() != Some(Shape::Object) {
        return pen::member(field, out);
    }
    out.lit(",\"agents\":[");
    for (n, (name, definition)) in field.value.members().enumerate() {
        out.lit(if n > 0 { ",{\"name\":" } else { "{\"name\":" });
        out.str(name);
        for (key, value) in definition.members() {
            pen::member(
                &Field {
                    at: At::Line,
                    key,
                    value,
                    known: true,
                },
                out,
            );
        }
        out.lit("}");
    }
    out.lit("]");
}
