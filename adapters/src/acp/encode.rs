//! Events to messages: who writes what.

use std::collections::BTreeSet;

use bumpalo::Bump;

use super::calls::Calls;
use super::own;
use super::turn::Turn;
use crate::codec::{Dialect, Encode, Style, TellsEnd, Want};
use crate::event::{
    ControlKind, Event, Input, InputKind, Kind, Origin, Piece, Request, Response, ResultStatus, Session, ToolCall, ToolKind, ToolResult, Topic, Usage,
};
use crate::ids;
use crate::json::{Out, Raw, Shape, Str, alike};
use crate::trace::Kept;
use crate::unique::Unique;

/// Writes a conversation in version 1, both directions.
///
/// Lines of this dialect that were stored are kept beside their events where they are spelled otherwise, so its own events are written like all
/// others; besides, there go what only this dialect says.
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    /// The session's id, escaped; empty until it is known or made up.
    pub(super) session: String,
    /// The facts of the session that were said, escaped.
    said: Said,
    /// Both sides have introduced themselves, and the session is open.
    introduced: bool,
    /// The number of the host's next request.
    ids: u64,
    /// The prompt that waits for its answer.
    pub(super) prompt: Option<u64>,
    /// What the agent asks, by the source's ids.
    asked: BTreeSet<String>,
    /// The calls that were spoken of.
    pub(super) heard: BTreeSet<String>,
    /// No two of a session have the same id.
    unique: Unique,
    /// Those that were shown as a plan, and those that showed a change: their results are not shown in place of it.
    pub(super) plans: BTreeSet<String>,
    pub(super) diffs: BTreeSet<String>,
    /// What the messages written of the protocol's own events have said of calls: what follows from that is not said.
    pub(super) calls: Calls,
    pub(super) turn: Turn,
    /// The usage of all turns so far, from sources that count so.
    pub(super) total: Usage<'static>,
}

/// What was said of a session.
#[derive(Debug, Default)]
struct Said {
    cwd: String,
    model: String,
    mode: String,
    version: String,
    commands: String,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            session: String::new(),
            said: Said::default(),
            introduced: false,
            ids: 0,
            prompt: None,
            asked: BTreeSet::new(),
            heard: BTreeSet::new(),
            unique: Unique::default(),
            plans: BTreeSet::new(),
            diffs: BTreeSet::new(),
            calls: Calls::default(),
            turn: Turn::default(),
            total: Usage::default(),
        }
    }

    /// Whether the events are of this dialect.
    pub(super) fn is_own(&self) -> bool {
        self.style.source == Dialect::Acp
    }

    /// Whether what is written is heard by a host that says its own part of the conversation, and is answered elsewhere ([`super::server`]).
    pub(super) const fn is_live(&self) -> bool {
        self.style.agent
    }

    pub(super) const fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids - 1
    }

    fn meet(&mut self, origin: &Origin<'_>) {
        if let Some(session) = origin.session.filter(|id| !alike(id.as_escaped(), &self.session) && !id.is_empty()) {
            session.as_escaped().clone_into(&mut self.session);
        }
    }

    /// Both sides introduce themselves and a session is opened, if that has not been done. A host says all this before its first prompt.
    pub(super) fn introduce(&mut self, session: &Session<'_>, out: &mut Out) {
        if std::mem::replace(&mut self.introduced, true) || self.is_own() || self.is_live() {
            return;
        }
        if self.session.is_empty() {
            self.session = ids::uuid("", self.style.at);
            out.invented("/result/sessionId", "the source names no session");
        }
        out.invented("/params", "the host's part of the conversation, which the source does not have");
        let id = self.request("initialize", out);
        out.lit("\"protocolVersion\":1,\"clientCapabilities\":{}}}\n");
        answer(id, out);
        out.lit("\"protocolVersion\":1,\"agentCapabilities\":{},\"authMethods\":[]");
        if let Some(version) = session.version {
            version.as_escaped().clone_into(&mut self.said.version);
            out.lit(",\"agentInfo\":{\"name\":\"");
            out.lit(self.style.source.name());
            out.lit("\",\"version\":");
            out.str(version);
            out.lit("}");
        }
        out.lit("}}\n");
        let id = self.request("session/new", out);
        out.lit("\"cwd\":");
        match session.cwd {
            Some(cwd) => {
                cwd.as_escaped().clone_into(&mut self.said.cwd);
                out.str(cwd);
            }
            None => {
                out.lit("\"/\"");
                out.invented("/params/cwd", "the source does not say it; a session needs one");
            }
        }
        out.lit(",\"mcpServers\":[]}}\n");
        answer(id, out);
        out.lit("\"sessionId\":\"");
        out.lit(&self.session);
        out.lit("\"");
        if let Some(mode) = session.permission_mode {
            mode.as_escaped().clone_into(&mut self.said.mode);
            out.lit(",\"modes\":{\"currentModeId\":");
            out.str(mode);
            out.lit(",\"availableModes\":[{\"id\":");
            out.str(mode);
            out.lit(",\"name\":");
            out.str(mode);
            out.lit("}]}");
        }
        if let Some(model) = session.model {
            model.as_escaped().clone_into(&mut self.said.model);
            out.lit(",\"models\":{\"currentModelId\":");
            out.str(model);
            out.lit(",\"availableModels\":[{\"modelId\":");
            out.str(model);
            out.lit(",\"name\":");
            out.str(model);
            out.lit("}]}");
        }
        out.lit("}}\n");
    }

    /// Begins a request of the host's, up to its own parameters; returns its number.
    pub(super) fn request(&mut self, method: &str, out: &mut Out) -> u64 {
        let id = self.next_id();
        out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
        out.number(id);
        out.lit(",\"method\":\"");
        out.lit(method);
        out.lit("\",\"params\":{");
        id
    }

    /// Begins a notification of what is new, up to its own members.
    pub(super) fn begin_update(&self, kind: &str, out: &mut Out) {
        out.lit("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"");
        out.lit(&self.session);
        out.lit("\",\"update\":{\"sessionUpdate\":\"");
        out.lit(kind);
        out.lit("\"");
    }

    /// The session's facts: all at its beginning, later what has changed.
    fn session_facts(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        if let Some(id) = event.origin.session {
            out.used(id.as_escaped());
        }
        if self.is_live() {
            return;
        }
        let again = self.introduced && !self.is_own();
        self.introduce(session, out);
        out.carried();
        if again {
            let said = &self.said;
            for (fact, said) in [
                (session.cwd, &said.cwd),
                (session.model, &said.model),
                (session.permission_mode, &said.mode),
                (session.version, &said.version),
            ] {
                if let Some(fact) = fact.filter(|fact| fact.as_escaped() == said) {
                    out.used(fact.as_escaped());
                }
            }
            if let Some(mode) = session.permission_mode.filter(|mode| mode.as_escaped() != said.mode) {
                mode.as_escaped().clone_into(&mut self.said.mode);
                self.begin_update("current_mode_update", out);
                out.lit(",\"currentModeId\":");
                out.str(mode);
                out.lit("}}}\n");
            }
        }
        if let Some(commands) = session.slash_commands.filter(|list| list.shape() == Some(Shape::Array) && !self.is_own()) {
            if commands.as_str() == self.said.commands {
                return out.used(commands.as_str());
            }
            commands.as_str().clone_into(&mut self.said.commands);
            self.begin_update("available_commands_update", out);
            out.lit(",\"availableCommands\":[");
            out.invented(
                "/params/update/availableCommands/0/description",
                "the source says no more than their names",
            );
            for (n, name) in commands.strings().enumerate() {
                out.lit(if n > 0 { ",{\"name\":" } else { "{\"name\":" });
                out.str(name);
                out.lit(",\"description\":\"\"}");
            }
            out.lit("]}}}\n");
        }
    }

    /// What the agent wants to be allowed.
    fn permission(&mut self, request: &Request<'_>, out: &mut Out) {
        let Some(permission) = request.permission else { return };
        self.introduce(&Session::default(), out);
        if let Some(call) = permission.call.filter(|call| !self.heard.contains(call.as_escaped())) {
            let call = ToolCall {
                id: call,
                name: permission.name,
                kind: ToolKind::Other,
                input: permission.input.unwrap_or(Raw::trusted("{}")),
                fields: &[],
            };
            self.call(&call, out);
        }
        if self.is_live() {
            return;
        }
        out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
        match request.id {
            Some(id) => {
                self.asked.insert(id.as_escaped().to_owned());
                own::id(Some(id), out);
            }
            None => out.lit("\"permission\""),
        }
        out.lit(",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"");
        out.lit(&self.session);
        out.lit("\",\"toolCall\":{\"toolCallId\":");
        match permission.call {
            Some(call) => out.str(call),
            None => {
                out.str(request.id.unwrap_or_default());
                out.invented("/params/toolCall/toolCallId", "the source does not name the call");
            }
        }
        out.unchecked_if(",\"rawInput\":", permission.input);
        out.lit(",\"name\":");
        out.str(permission.name);
        out.lit(",\"status\":\"pending\"},\"options\":[{\"optionId\":\"allow\",\"name\":\"Allow\",\"kind\":\"allow_once\"},");
        out.lit("{\"optionId\":\"reject\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}\n");
        out.invented("/params/options", "the source permits or refuses");
        out.used(request.subtype.as_escaped());
    }

    /// The host says whether a call may run.
    fn permits(&self, response: &Response<'_>, out: &mut Out) {
        let Some(id) = response.id.filter(|id| self.asked.contains(id.as_escaped())) else {
            return;
        };
        out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
        own::id(Some(id), out);
        let behavior = response.body.and_then(|body| body.get("behavior"));
        let allows = behavior
            .and_then(|word| word.string())
            .is_some_and(|word| word.is("allow") || word.is("approve"));
        match response.error {
            Some(error) => {
                let message = error.string().or_else(|| error.get("message")?.string());
                out.lit(",\"error\":{\"code\":-32603,\"message\":");
                out.invented("/error/code", "an error needs a number");
                out.str(message.unwrap_or(Str::trusted("unknown")));
                out.lit("}}\n");
            }
            None => {
                let stops = response
                    .body
                    .and_then(|body| body.get("interrupt"))
                    .filter(|flag| flag.bool() == Some(true));
                out.used_raw(stops);
                out.lit(match (allows, stops) {
                    (true, _) => ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"allow\"}}}\n",
                    (false, None) => ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"reject\"}}}\n",
                    (false, Some(_)) => ",\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}\n",
                });
                if let Some(behavior) = behavior {
                    out.renamed(behavior.as_str(), "the target's own word");
                }
            }
        }
    }

    fn cancel(&self, out: &mut Out) {
        out.lit("{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"");
        out.lit(&self.session);
        out.lit("\"}}\n");
    }
}

impl Encode for Encoder {
    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        match result.status {
            ResultStatus::Canceled => TellsEnd::Lost("a call that was stopped: it has failed in acp, and only the end of its turn may say why"),
            _ => TellsEnd::Itself,
        }
    }

    fn want(&self) -> Want {
        Want::BOTH.without_inputs().without_models()
    }

    #[inline]
    fn more(&mut self, piece: Piece<'_>, out: &mut Out) -> bool {
        self.piece(piece, out);
        true
    }

    fn takes_fields(&self) -> bool {
        self.is_own()
    }

    fn sums_usage(&self) -> bool {
        true
    }

    fn round_tokens(&mut self, tokens: Kept) {
        self.turn.tokens.append(tokens);
    }

    fn called(&self, call: &str) -> Option<&str> {
        self.unique.called(call)
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        let is_met = session.is_none_or(|id| alike(id.as_escaped(), &self.session));
        is_met && !self.is_own() && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.meet(&event.origin);
        if self.is_own() && self.own(event, out) {
            return;
        }
        let arena = Bump::new();
        let renamed = self.unique.event(event, "/params/update/toolCallId", &arena, out);
        let event = renamed.as_ref().unwrap_or(event);
        match event.kind {
            Kind::Session(session) => self.session_facts(event, session, out),
            Kind::Request(request) => self.permission(request, out),
            Kind::Withdraw(withdraw) => {
                if let Some(id) = withdraw.id.filter(|id| self.asked.contains(id.as_escaped())) {
                    out.lit("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":");
                    own::id(Some(id), out);
                    out.lit("}}\n");
                }
            }
            _ => self.conversation(event, out),
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        self.meet(&input.origin);
        if self.is_own() {
            return self.own_input(input, out);
        }
        match input.kind {
            InputKind::Prompt(prompt) => self.ask_for(prompt.content, out),
            InputKind::Chat(chat) => self.chat(chat, out),
            InputKind::Response(response) => self.permits(response, out),
            InputKind::Request(request) if request.kind == ControlKind::Interrupt => {
                out.used(request.subtype.as_escaped());
                self.cancel(out);
            }
            InputKind::Cancel { reason } => {
                out.used(reason.unwrap_or_default().as_escaped());
                self.cancel(out);
                out.carried();
            }
            // What else hosts say is not said here.
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out) {
        out.drop_held(&mut self.turn.tokens, super::turn::NO_TOKENS);
    }
}

/// Begins the answer to a request, up to its own members.
pub(super) fn answer(id: u64, out: &mut Out) {
    out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
    out.number(id);
    out.lit(",\"result\":{");
}
