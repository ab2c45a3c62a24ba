//! A turn: its prompt, what is new, and its outcome, which answers the prompt.

use bumpalo::Bump;

use super::encode::Encoder;
use super::lines;
use crate::event::{
    Block, ChatRequest, Content, Event, Fatal, Fate, Kind, Limit, Media, Outcome, OutcomeKind, Piece, Place, Prompt, PromptSource, Reply,
    ResultStatus, Scope, Session, ToolCall, ToolResult, Usage,
};
use crate::json::{Out, Raw, Str};
use crate::tools::Tools;
use crate::tools::args::{Args, TodoStatus};
use crate::trace::Kept;

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// All that the model said in it, escaped.
    said: String,
    /// What its rounds took, and where the source says it.
    usage: Option<Usage<'static>>,
    pub(super) tokens: Kept,
    /// It was told that the turn failed.
    failed: bool,
    /// It fails for want of credentials: [`wants_credentials`].
    unauthorized: bool,
}

/// What becomes of the tokens of rounds.
pub(super) const NO_TOKENS: &str = "no place in acp: a turn says its tokens, a model call does not";

impl Encoder {
    pub(super) fn conversation(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Prompt(prompt) => self.prompt(prompt, out),
            Kind::RoundStart(_) | Kind::BlockStart(_) | Kind::BlockStop(_) => out.carried(),
            Kind::RoundEnd(end) => {
                if let Some(usage) = &end.usage {
                    Usage::add(&mut self.turn.usage, usage);
                    out.carried();
                }
            }
            Kind::Delta(delta) => self.piece(delta.piece, out),
            Kind::Reply(reply) => {
                if event.origin.parent.is_none() {
                    self.turn.unauthorized = wants_credentials(reply);
                    if let Some(word) = reply.error.filter(|_| self.turn.unauthorized) {
                        out.used(word.as_escaped());
                    }
                }
                self.reply(reply, out);
            }
            Kind::ToolResult(result) => self.result(result, out),
            Kind::Outcome(outcome) => self.outcome(outcome, out),
            Kind::Fatal(fatal) => self.fatal(fatal, out),
            _ => {}
        }
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, out: &mut Out) {
        if matches!(prompt.source, PromptSource::Host | PromptSource::Echo) {
            self.ask_for(prompt.content, out);
        }
    }

    /// The host's prompt. While one waits for its answer, what else the user says is told by the agent.
    pub(super) fn ask_for(&mut self, content: Content<'_>, out: &mut Out) {
        self.introduce(&Session::default(), out);
        if self.prompt.is_some() || self.is_live() {
            for text in content.texts() {
                self.begin_update("user_message_chunk", out);
                out.lit(",\"content\":");
                lines::text(text, out);
                out.lit("}}}\n");
            }
            return;
        }
        let id = self.request("session/prompt", out);
        self.prompt = Some(id);
        out.lit("\"sessionId\":\"");
        out.lit(&self.session);
        out.lit("\",\"prompt\":[");
        lines::blocks(content, "", "", out);
        out.lit("]}}\n");
    }

    /// The prompt of a Chat Request.
    pub(super) fn chat(&mut self, chat: &ChatRequest<'_>, out: &mut Out) {
        let is_user = |message: &Raw<'_>| message.get("role").and_then(Raw::string).is_some_and(|role| role.is("user"));
        let last = chat.messages.and_then(|messages| messages.elements().filter(is_user).last());
        let parts = chat.parts.or_else(|| last?.get("content"));
        let Some(parts) = parts.filter(|_| chat.tool_call.is_none()) else {
            return;
        };
        let texts: Vec<Block<'_>> = match parts.string() {
            Some(text) => vec![Block::Text { text, fields: &[] }],
            None => {
                let inner = parts.elements().filter_map(|part| part.get("text")?.string());
                inner.map(|text| Block::Text { text, fields: &[] }).collect()
            }
        };
        if !texts.is_empty() {
            self.ask_for(Content::Blocks(&texts), out);
        }
    }

    pub(super) fn piece(&mut self, piece: Piece<'_>, out: &mut Out) {
        let (kind, text) = match piece {
            Piece::Text(text) => ("agent_message_chunk", text),
            Piece::Thinking(text) => ("agent_thought_chunk", text),
            _ => return,
        };
        if text.is_empty() {
            return out.used(text.as_escaped());
        }
        self.introduce(&Session::default(), out);
        if matches!(piece, Piece::Text(_)) {
            self.turn.said.push_str(text.as_escaped());
        }
        self.begin_update(kind, out);
        out.lit(",\"content\":");
        lines::text(text, out);
        out.lit("}}}\n");
    }

    fn reply(&mut self, reply: &Reply<'_>, out: &mut Out) {
        for block in reply.blocks {
            match block {
                Block::Call(call) => self.call(call, out),
                // They went over in pieces.
                Block::Text { .. } | Block::Thinking(_) => out.carried(),
                Block::Media(media) if lines::placed(media).is_some() => self.shown(*media, out),
                _ => {}
            }
        }
    }

    /// What the model shows.
    fn shown(&mut self, media: Media<'_>, out: &mut Out) {
        self.introduce(&Session::default(), out);
        self.begin_update("agent_message_chunk", out);
        lines::blocks(Content::Blocks(&[Block::Media(media)]), ",\"content\":", "", out);
        out.lit("}}}\n");
    }

    pub(super) fn call(&mut self, call: &ToolCall<'_>, out: &mut Out) {
        self.heard.insert(call.id.as_escaped().to_owned());
        self.introduce(&Session::default(), out);
        if self.is_live() && self.plan(call, out) {
            return;
        }
        self.begin_update("tool_call", out);
        out.lit(",\"toolCallId\":");
        out.str(call.id);
        out.lit(",\"status\":\"pending\"");
        if lines::call(call, self.style.source_format().dialect, out) && self.is_live() {
            self.diffs.insert(call.id.as_escaped().to_owned());
        }
        out.lit("}}}\n");
        self.begin_update("tool_call_update", out);
        out.lit(",\"toolCallId\":");
        out.str(call.id);
        out.lit(",\"status\":\"in_progress\"}}}\n");
    }

    /// A list of things to do, as editors show it.
    fn plan(&mut self, call: &ToolCall<'_>, out: &mut Out) -> bool {
        let arena = Bump::new();
        let tools = Tools::of(self.style.source_format().dialect);
        let Some(Args::Todos { list, .. }) = tools.and_then(|tools| tools.args(call.name, call.input, &arena)) else {
            return false;
        };
        self.plans.insert(call.id.as_escaped().to_owned());
        self.begin_update("plan", out);
        out.lit(",\"entries\":[");
        for (n, todo) in list.iter().enumerate() {
            out.lit(if n > 0 { ",{\"content\":" } else { "{\"content\":" });
            out.str(todo.content);
            out.lit(",\"priority\":\"medium\",\"status\":\"");
            out.lit(match todo.status {
                TodoStatus::Pending => "pending",
                TodoStatus::InProgress => "in_progress",
                TodoStatus::Completed | TodoStatus::Cancelled => "completed",
            });
            out.lit("\"}");
        }
        out.lit("]}}}\n");
        true
    }

    fn result(&mut self, result: &ToolResult<'_>, out: &mut Out) {
        self.introduce(&Session::default(), out);
        if self.is_live() {
            self.heard.remove(result.call.as_escaped());
        }
        if self.plans.remove(result.call.as_escaped()) {
            if result.status != ResultStatus::Success {
                out.note(Fate::Renamed, "", "a call that has not succeeded: the plan does not say so");
            }
            return out.carried();
        }
        self.begin_update("tool_call_update", out);
        out.lit(",\"toolCallId\":");
        out.str(result.call);
        let success = result.status == ResultStatus::Success;
        out.lit(if success {
            ",\"status\":\"completed\""
        } else {
            ",\"status\":\"failed\""
        });
        // A list takes the place of the one before.
        if !(self.diffs.remove(result.call.as_escaped()) && success) {
            out.lit(",\"content\":[");
            lines::blocks(result.content, "{\"type\":\"content\",\"content\":", "}", out);
            out.lit("]");
        }
        if result.status == ResultStatus::Denied && !self.is_live() {
            out.lit(",\"_meta\":{\"claudeCode\":{\"nonExecutionKind\":\"user-rejected\"}}");
            out.invented("/params/update/_meta", "an agent's word for a call that was refused");
        }
        out.lit("}}}\n");
    }

    fn fatal(&mut self, fatal: &Fatal<'_>, out: &mut Out) {
        let outcome = Outcome {
            error: Some(fatal.message),
            ..Outcome::new(OutcomeKind::Failed(Place::Backend))
        };
        self.end(&outcome, out);
        self.turn.failed = true;
    }

    fn outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        if self.turn.failed {
            // What the session has used goes on, whether a line says it or not.
            if let Some(usage) = outcome.usage.filter(|usage| usage.scope == Scope::Session) {
                usage.of_turn(&mut self.total);
            }
            out.merged("the error was told already");
        } else {
            self.answer(outcome, out);
            self.end(outcome, out);
        }
        out.drop_held(&mut self.turn.tokens, NO_TOKENS);
        self.turn = Turn::default();
        let unended = std::mem::take(&mut self.heard);
        if self.is_live() {
            for call in unended.iter().filter(|call| !self.plans.contains(*call)) {
                self.begin_update("tool_call_update", out);
                out.lit(",\"toolCallId\":\"");
                out.lit(call);
                out.lit("\",\"status\":\"failed\"}}}\n");
            }
        }
        self.plans.clear();
        self.diffs.clear();
    }

    /// The answer that the outcome says again; one that nothing said before is said now.
    fn answer(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let Some(text) = outcome.answer(out).filter(|text| !text.is_empty() && !outcome.is_error) else {
            return;
        };
        let said = Str::trusted(&self.turn.said);
        if said.as_escaped().contains(text.as_escaped()) || said.unescape().contains(&*text.unescape()) {
            return out.used(text.as_escaped());
        }
        self.piece(Piece::Text(text), out);
    }

    /// Answers the prompt.
    fn end(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        self.introduce(&Session::default(), out);
        out.carried();
        if self.is_live() {
            return;
        }
        let id = match self.prompt.take() {
            Some(id) => Some(id),
            None if self.is_own() => None,
            None => Some(self.next_id()),
        };
        let usage = match outcome.usage {
            Some(usage) if usage.scope == Scope::Session => Some(usage.of_turn(&mut self.total)),
            Some(usage) => Some(usage),
            None => self.turn.usage,
        };
        if outcome.usage.is_none() {
            out.release(&mut self.turn.tokens);
        }
        let id = id.map_or_else(|| "null".to_owned(), |id| id.to_string());
        ended(&id, outcome, usage.as_ref(), self.turn.unauthorized, out);
    }
}

/// Whether a reply, which is the program's own about a call of the model that failed, says that the credentials for it are missing or wrong.
pub(super) fn wants_credentials(reply: &Reply<'_>) -> bool {
    reply.error.is_some_and(|word| word.is("authentication_failed"))
}

/// Writes how a turn ended, as the answer to the prompt of this number. `unauthorized`: if it failed, for want of credentials.
pub(super) fn ended(id: &str, outcome: &Outcome<'_>, usage: Option<&Usage<'_>>, unauthorized: bool, out: &mut Out) {
    if let OutcomeKind::Failed(place) = outcome.kind {
        let code = if unauthorized { "-32000" } else { "-32603" };
        return failure(id, code, outcome, place, usage, out);
    }
    out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
    out.lit(id);
    out.lit(",\"result\":{\"stopReason\":\"");
    out.lit(stop_reason(outcome.kind));
    out.lit("\"");
    if let Some(usage) = usage {
        out.lit(",\"usage\":");
        tokens(usage, out);
    }
    let plain = !matches!(outcome.kind, OutcomeKind::Limit(Limit::Budget | Limit::Retries | Limit::Time));
    let error = outcome.error.filter(|text| !text.is_empty());
    if !plain || outcome.synthetic || error.is_some() {
        out.lit(",\"_meta\":{");
        marks(outcome, !plain, out);
        if let Some(error) = error {
            out.lit(if !plain || outcome.synthetic { ",\"error\":" } else { "\"error\":" });
            out.str(error);
        }
        out.lit("}");
    }
    out.lit("}}\n");
}

/// An error answers the prompt.
fn failure(id: &str, code: &str, outcome: &Outcome<'_>, place: Place, usage: Option<&Usage<'_>>, out: &mut Out) {
    out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
    out.lit(id);
    out.lit(",\"error\":{\"code\":");
    out.lit(code);
    out.lit(",\"message\":");
    out.invented("/error/code", "an error needs a number");
    match outcome.error.or(outcome.text).filter(|text| !text.is_empty()) {
        Some(message) => out.str(message),
        None => {
            out.lit("\"Internal error\"");
            out.invented("/error/message", "the source does not say what went wrong");
        }
    }
    let usage = usage.filter(|usage| !usage.is_blank());
    let marked = place != Place::Model || outcome.synthetic;
    if marked || usage.is_some() {
        out.lit(",\"data\":{");
        marks(outcome, place != Place::Model, out);
        if let Some(usage) = usage {
            out.lit(if marked { ",\"usage\":" } else { "\"usage\":" });
            tokens(usage, out);
        }
        out.lit("}");
    }
    out.lit("}}\n");
}

/// What no word here says.
fn marks(outcome: &Outcome<'_>, says_kind: bool, out: &mut Out) {
    if says_kind {
        out.lit("\"outcome\":\"");
        out.lit(outcome.kind.as_str());
        out.lit("\"");
    }
    if outcome.synthetic {
        out.lit(if says_kind { ",\"synthetic\":true" } else { "\"synthetic\":true" });
    }
}

const fn stop_reason(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Refused => "refusal",
        OutcomeKind::Limit(Limit::Tokens) => "max_tokens",
        OutcomeKind::Limit(_) => "max_turn_requests",
        OutcomeKind::Cancelled => "cancelled",
        OutcomeKind::Success | OutcomeKind::Failed(_) => "end_turn",
    }
}

/// Writes what a turn took. Sums are needed.
fn tokens(usage: &Usage<'_>, out: &mut Out) {
    usage.sources().for_each(|source| out.used(source));
    let value = |count: Option<crate::event::Count<'_>>| count.map_or(0, |count| count.value);
    let fresh = usage.fresh_tokens().unwrap_or(0);
    let sum = fresh
        .saturating_add(usage.written_tokens().unwrap_or(0))
        .saturating_add(value(usage.cache_read))
        .saturating_add(value(usage.cache_write));
    if usage.input.is_none() || usage.output.is_none() {
        out.invented("/result/usage", "numbers that the source does not say are needed");
    }
    for (name, number) in [
        ("{\"totalTokens\":", Some(usage.total.map_or(sum, |total| total.value))),
        (",\"inputTokens\":", Some(fresh)),
        (",\"outputTokens\":", Some(usage.written_tokens().unwrap_or(0))),
        (",\"thoughtTokens\":", usage.reasoning_tokens()),
        (",\"cachedReadTokens\":", usage.cache_read.map(|count| count.value)),
        (",\"cachedWriteTokens\":", usage.cache_write.map(|count| count.value)),
    ] {
        if let Some(number) = number {
            out.lit(name);
            out.number(number);
        }
    }
    out.lit("}");
}
