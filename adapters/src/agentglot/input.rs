//! What the host says, as events.

use super::encode::source;
use super::members::{Members, Writer};
use crate::codec::Cx;
use crate::event::{
    ChatRequest, ControlKind, HintRequest, Input, InputKind, InputOrigin, Origin, Permission, Prompt, PromptSource, Request, Response, Withdraw,
};
use crate::json::{Raw, Str};

impl Writer<'_> {
    fn begin_input(&mut self, name: &str, origin: &Origin<'_>) {
        self.out.lit("{\"input\":\"");
        self.out.lit(name);
        self.out.lit("\"");
        self.origin(origin);
    }

    pub(super) fn input(&mut self, input: &Input<'_>) {
        let mut begin = |name: &str| self.begin_input(name, &input.origin);
        match &input.kind {
            InputKind::Prompt(prompt) => {
                begin("prompt");
                self.prompt(prompt);
            }
            InputKind::Chat(chat) => {
                begin("chat");
                self.str("model", chat.model);
                if let Some(from) = chat.origin {
                    self.word("from", words(from));
                }
                self.unchecked("parts", chat.parts);
                self.unchecked("command", chat.command);
                self.str("tool_call", chat.tool_call);
                self.unchecked("options", chat.options);
                self.unchecked("tools", chat.tools);
                self.unchecked("messages", chat.messages);
                self.unchecked("protocol_version", chat.protocol_version);
            }
            InputKind::Request(request) => {
                begin("request");
                self.request(request);
            }
            InputKind::Response(response) => {
                begin("response");
                self.response(response);
            }
            InputKind::Withdraw(withdraw) => {
                begin("withdraw");
                self.str("request_id", withdraw.id);
            }
            InputKind::Hint(hint) => {
                begin("hint");
                self.str("trigger", hint.trigger);
                self.str("text", hint.text);
                self.unchecked("cursor", hint.cursor);
                self.unchecked("context", hint.context);
            }
            InputKind::HintCancel => begin("hint_cancel"),
            InputKind::Heartbeat { interval_ms } => {
                begin("heartbeat");
                self.unchecked("interval_ms", *interval_ms);
            }
            InputKind::Cancel { reason } => {
                begin("cancel");
                self.str("reason", *reason);
            }
            InputKind::KeepAlive => begin("keep_alive"),
            InputKind::Environment(variables) => {
                begin("environment");
                self.unchecked("variables", Some(*variables));
            }
            InputKind::Noise(text) => {
                self.noise(text, |w| w.begin_input("noise", &input.origin));
            }
            InputKind::Unknown(raw) => {
                begin("unknown");
                self.unchecked("line", Some(*raw));
            }
        }
    }
}

impl<'a> Members<'a, '_> {
    pub(super) fn prompt(&mut self, cx: &Cx<'a>) -> Option<&'a Prompt<'a>> {
        let from = self.word("source").map_or("", Str::as_escaped);
        let kinds = [PromptSource::Host, PromptSource::Echo, PromptSource::Agent, PromptSource::Parent];
        let source = kinds.into_iter().find(|kind| source(*kind) == from).unwrap_or(PromptSource::Host);
        Some(cx.keep(Prompt {
            content: self.content(cx)?,
            source,
        }))
    }

    pub(super) fn request(&mut self, cx: &Cx<'a>) -> Option<&'a Request<'a>> {
        let id = self.str("request_id");
        let subtype = self.str("subtype")?;
        let permission = self.part("permission").map(|raw| {
            let mut part = Members::of(raw, cx);
            let name = part.str("name").unwrap_or_default();
            cx.keep(Permission {
                name,
                call: part.str("call"),
                input: part.part("input"),
                suggestions: part.part("suggestions"),
            })
        });
        Some(cx.keep(Request {
            id,
            subtype,
            // A question about a tool is one whatever a protocol calls it.
            kind: match ControlKind::read(subtype) {
                ControlKind::Other if permission.is_some() => ControlKind::CanUseTool,
                kind => kind,
            },
            permission,
        }))
    }

    pub(super) fn response(&mut self, cx: &Cx<'a>) -> &'a Response<'a> {
        let (id, ok) = (self.str("request_id"), self.flag("ok").unwrap_or(true));
        cx.keep(Response {
            id,
            ok,
            body: self.part("body"),
            error: self.part("error"),
        })
    }

    /// Text that is no JSON: no more than a line of it. A carriage return ends none.
    pub(super) fn noise(&mut self, cx: &Cx<'a>) -> Option<&'a str> {
        let text = self.str("text")?.unescape();
        (!text.contains('\n')).then(|| &*cx.arena.alloc_str(&text))
    }

    /// What the host says; `None` for a name that this version does not know.
    pub(super) fn input(&mut self, name: &str, line: Raw<'a>, cx: &Cx<'a>) -> Option<InputKind<'a>> {
        Some(match name {
            "prompt" => InputKind::Prompt(self.prompt(cx)?),
            "chat" => {
                let from = self.word("from").map_or("", Str::as_escaped);
                let origins = [InputOrigin::User, InputOrigin::ToolResponse, InputOrigin::System];
                InputKind::Chat(cx.keep(ChatRequest {
                    model: self.str("model"),
                    origin: origins.into_iter().find(|o| words(*o) == from),
                    parts: self.part("parts"),
                    command: self.part("command"),
                    tool_call: self.str("tool_call"),
                    options: self.part("options"),
                    tools: self.part("tools"),
                    messages: self.part("messages"),
                    protocol_version: self.part("protocol_version"),
                }))
            }
            "request" => InputKind::Request(self.request(cx)?),
            "response" => InputKind::Response(self.response(cx)),
            "withdraw" => InputKind::Withdraw(Withdraw { id: self.str("request_id") }),
            "hint" => InputKind::Hint(cx.keep(HintRequest {
                trigger: self.str("trigger"),
                text: self.str("text"),
                cursor: self.part("cursor"),
                context: self.part("context"),
            })),
            "hint_cancel" => InputKind::HintCancel,
            "heartbeat" => InputKind::Heartbeat {
                interval_ms: self.part("interval_ms"),
            },
            "cancel" => InputKind::Cancel { reason: self.str("reason") },
            "keep_alive" => InputKind::KeepAlive,
            "environment" => InputKind::Environment(self.part("variables").unwrap_or(Raw::NULL)),
            "noise" => InputKind::Noise(self.noise(cx)?),
            "unknown" => InputKind::Unknown(self.part("line").unwrap_or(line)),
            _ => return None,
        })
    }
}

const fn words(origin: InputOrigin) -> &'static str {
    match origin {
        InputOrigin::User => "user",
        InputOrigin::ToolResponse => "tool_response",
        InputOrigin::System => "system",
    }
}
