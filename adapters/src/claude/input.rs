//! What the host says.

use crate::blocks::member;
use crate::codec::Dialect;
use crate::event::{At, ChatRequest, ControlKind, Field, Input, InputKind, Prompt, Request};
use crate::json::{Out, Raw, Shape, Str};

use super::REQUEST;
use super::encode::{Encoder, LINE};
use super::encode_control::named;
use super::encode_system::mode;

/// Control requests that only the host sends, besides the handshake, the interrupt and the settings of model and mode.
pub(super) const HOST_REQUESTS: &[&str] = &[
    "apply_flag_settings",
    "background_tasks",
    "cancel_async_message",
    "end_session",
    "file_suggestions",
    "generate_session_title",
    "get_binary_version",
    "get_context_usage",
    "get_hooks_listing",
    "get_session_cost",
    "get_settings",
    "get_task_output",
    "get_usage",
    "list_models",
    "list_permission_rules",
    "mcp_call",
    "mcp_read_resource",
    "mcp_reconnect",
    "mcp_set_servers",
    "mcp_status",
    "mcp_toggle",
    "read_file",
    "register_repo_root",
    "reload_output_styles",
    "reload_plugins",
    "reload_skills",
    "rename_session",
    "rewind_files",
    "seed_read_state",
    "set_color",
    "set_has_subscribers",
    "set_max_thinking_tokens",
    "side_question",
    "stop_task",
    "update_settings",
];

impl Encoder {
    /// Writes what the host says as Claude Code reads it.
    pub(super) fn say(&mut self, input: &Input<'_>, out: &mut Out) {
        match input.kind {
            InputKind::Prompt(prompt) => self.user(input, prompt, out),
            InputKind::Chat(chat) => self.chat(input, chat, out),
            InputKind::Request(request) if self.own() => self.own_request(&input.origin, input.fields, request, out),
            InputKind::Request(request) => self.ask(input, request, out),
            InputKind::Response(response) => self.response(&input.origin, input.fields, response, out),
            InputKind::Withdraw(withdraw) => self.withdraw(&input.origin, input.fields, withdraw, out),
            InputKind::Cancel { reason } => {
                out.used(reason.map_or("", Str::as_escaped));
                out.lit("{\"type\":\"control_request\",\"request_id\":");
                self.made_up_request(out);
                out.lit(",\"request\":{\"subtype\":\"interrupt\"}}\n");
                out.carried();
            }
            InputKind::KeepAlive => {
                out.lit("{\"type\":\"keep_alive\"");
                self.own_tail(out, &input.origin);
                self.writer.fields(out, input.fields, LINE);
                out.lit("}\n");
            }
            InputKind::Environment(variables) => {
                out.lit("{\"type\":\"update_environment_variables\",\"variables\":");
                out.raw(variables);
                self.own_tail(out, &input.origin);
                self.writer.fields(out, input.fields, LINE);
                out.lit("}\n");
            }
            InputKind::Noise(text) if self.own() => out.copied_line(text),
            InputKind::Unknown(raw) if self.own() => out.copied_line(raw.as_str()),
            // Command hints and heartbeats are the RFC's.
            InputKind::Hint(_) | InputKind::HintCancel | InputKind::Heartbeat { .. } | InputKind::Noise(_) | InputKind::Unknown(_) => {}
        }
    }

    fn user(&self, input: &Input<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        self.writer.content(out, prompt.content);
        self.writer.fields(out, input.fields, At::Part(crate::blocks::MESSAGE));
        self.user_end(input, out);
    }

    /// Writes what stands behind the content of a host's `user` line.
    fn user_end(&self, input: &Input<'_>, out: &mut Out) {
        out.lit("}");
        if !self.own() && input.origin.session.is_none() {
            out.lit(",\"session_id\":\"default\"");
        }
        self.own_tail(out, &input.origin);
        // Read again it is a field, which stands behind what is known.
        if !self.own() && input.origin.parent.is_none() {
            out.lit(",\"parent_tool_use_id\":null");
        }
        self.writer.fields(out, input.fields, LINE);
        out.lit("}\n");
    }

    /// A Chat Request: its texts as text blocks; a tool's answer as a result.
    fn chat(&self, input: &Input<'_>, chat: &ChatRequest<'_>, out: &mut Out) {
        let last = chat.messages.and_then(|messages| {
            messages
                .elements()
                .filter(|m| m.get("role").and_then(Raw::string).is_some_and(|r| r.is("user")))
                .last()
        });
        let content = last.and_then(|message| message.get("content"));
        let texts: Vec<Str<'_>> = match (chat.parts, content) {
            (Some(parts), _) => parts.elements().filter_map(text_of).collect(),
            (None, Some(content)) => match content.string() {
                Some(text) => vec![text],
                None => content.elements().filter_map(text_of).collect(),
            },
            (None, None) => Vec::new(),
        };
        if texts.is_empty() {
            return;
        }
        out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        match (chat.tool_call, texts.as_slice()) {
            (Some(call), texts) => {
                out.lit("[{\"type\":\"tool_result\",\"tool_use_id\":");
                out.str(call);
                out.lit(",\"content\":[");
                text_blocks(texts, out);
                out.lit("]}]");
            }
            (None, [text]) => out.str(*text),
            (None, texts) => {
                out.lit("[");
                text_blocks(texts, out);
                out.lit("]");
            }
        }
        self.user_end(input, out);
    }

    /// What another dialect's host asks, where Claude Code knows the question.
    fn ask(&mut self, input: &Input<'_>, request: &Request<'_>, out: &mut Out) {
        match request.kind {
            ControlKind::Interrupt => self.request_head(request, "interrupt", out),
            ControlKind::Initialize => {
                self.request_head(request, "initialize", out);
                for field in input.fields.iter().filter(|field| matches!(field.at, At::Part(REQUEST) | At::Line)) {
                    match field.key.as_escaped() {
                        "sdkMcpServers" => servers(field, out),
                        "agents" => agents(field, out),
                        _ => {}
                    }
                }
            }
            ControlKind::SetModel => {
                self.request_head(request, "set_model", out);
                named(input.fields, &["model"], out);
            }
            ControlKind::SetMode => {
                self.request_head(request, "set_permission_mode", out);
                let is_mode = |at| matches!(at, At::Part(REQUEST) | At::Line);
                if let Some(field) = input.fields.iter().find(|field| is_mode(field.at) && field.key.is("mode")) {
                    out.lit(",\"mode\":");
                    match field.value.string() {
                        Some(word) if mode(word.as_escaped()) == word.as_escaped() => out.str(word),
                        Some(word) => {
                            out.renamed(word.as_escaped(), "the target's own word");
                            out.text(mode(word.as_escaped()));
                        }
                        None => out.unchecked(field.value),
                    }
                }
            }
            ControlKind::Mcp => {
                self.request_head(request, "mcp_message", out);
                named(input.fields, &["server_name", "message"], out);
            }
            // A server that holds sessions asks in the words of the program inside.
            ControlKind::Other if self.style.source == Dialect::CANONICAL && HOST_REQUESTS.iter().any(|known| request.subtype.is(known)) => {
                self.request_head(request, request.subtype.as_escaped(), out);
                let is_own = |field: &&Field<'_>| matches!(field.at, At::Part(REQUEST) | At::Line);
                input.fields.iter().filter(is_own).for_each(|field| member(out, field));
            }
            ControlKind::CanUseTool | ControlKind::Hook | ControlKind::Confirm | ControlKind::Other => return,
        }
        out.lit("}}\n");
    }
}

/// The host's own MCP servers are a list of names here; Qwen Code's hosts give an object of servers.
fn servers(field: &Field<'_>, out: &mut Out) {
    if field.value.shape() != Some(Shape::Object) {
        return member(out, field);
    }
    out.lit(",\"sdkMcpServers\":[");
    for (n, (name, _)) in field.value.members().enumerate() {
        out.lit(if n > 0 { "," } else { "" });
        out.str(name);
    }
    out.lit("]");
}

/// A list of agents is an object of them by name here.
fn agents(field: &Field<'_>, out: &mut Out) {
    if field.value.shape() != Some(Shape::Array) {
        return member(out, field);
    }
    out.lit(",\"agents\":{");
    let named = field
        .value
        .elements()
        .filter_map(|agent| Some((agent, agent.get("name").and_then(Raw::string)?)));
    for (n, (agent, name)) in named.enumerate() {
        out.lit(if n > 0 { "," } else { "" });
        out.str(name);
        out.lit(":{");
        let mut first = true;
        for (key, value) in agent.members().filter(|(key, _)| !key.is("name")) {
            out.lit(if std::mem::replace(&mut first, false) { "" } else { "," });
            out.str(Str::trusted(match key.as_escaped() {
                "systemPrompt" => "prompt",
                key => key,
            }));
            out.lit(":");
            out.unchecked(value);
        }
        out.lit("}");
    }
    out.lit("}");
}

fn text_of(part: Raw<'_>) -> Option<Str<'_>> {
    part.get("text").and_then(Raw::string)
}

fn text_blocks(texts: &[Str<'_>], out: &mut Out) {
    for (n, text) in texts.iter().enumerate() {
        out.lit(if n == 0 {
            "{\"type\":\"text\",\"text\":"
        } else {
            ",{\"type\":\"text\",\"text\":"
        });
        out.str(*text);
        out.lit("}");
    }
}
