//! What another dialect said, as runs of one turn each: init, prompt, thoughts, segments, tool calls, result.

use super::encode::Encoder;
use super::lines::{ASSISTANT, THINKING, THOUGHT, name, raw_member, tool};
use super::members::is_kind;
use crate::codec::{Dialect, Layout};
use crate::event::{
    Block, Content, DetailShape, Event, Kind, Notice, Outcome, Piece, Prompt, PromptSource, Reply, ResultStatus, RoundStart, Session, Time, ToolCall,
    ToolResult, Topic, Usage,
};
use crate::ids;
use crate::json::{Digits, Out, Str};
use crate::trace::Kept;
use crate::waiting::Waiting;

/// What the ledger says of the error, and of what was said where nothing else is written.
const NO_RESULT: &str = "a turn that failed has no result line; its error goes to stderr";

/// Of so many calls that wait for their results it is known when they began, and in which round.
const MOST_CALLS: usize = 1 << 14;

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its init line is written.
    pub(super) open: bool,
    /// A thought is being written in pieces.
    pub(super) thinking: bool,
    /// Prompts that came before the turn began: the contents of their lines.
    prompts: Vec<String>,
    /// All segments one after the other, escaped: what `result` says.
    pub(super) said: String,
    /// The last segment, which waits for what follows: the last one of a turn is marked otherwise than one before a tool.
    held: Option<Held>,
    round: Round,
    rounds: u64,
    /// Where the source says the id of the model call, until a line says it here.
    names: Kept,
    /// The id of the request whose model calls these are, if one had to be made up.
    pub(super) request: String,
    calls: Waiting<Call>,
    /// The usage of its rounds so far, and where the source says it.
    pub(super) usage: Option<Usage<'static>>,
    pub(super) tokens: Kept,
}

#[derive(Debug)]
struct Held {
    /// Where in `said` it begins.
    from: usize,
    round: Round,
    time: Option<i64>,
    said: Kept,
}

/// A model call's id, escaped.
#[derive(Clone, Debug, Default)]
struct Round {
    id: String,
    made_up: bool,
}

/// A tool call that waits for its result.
#[derive(Debug)]
struct Call {
    round: Round,
    started: Option<i64>,
}

impl Encoder {
    pub(super) fn foreign(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(session) => self.session_facts(event, session, out),
            Kind::Prompt(prompt) => self.prompt(prompt, out),
            Kind::Notice(notice) => self.notice(event, notice, out),
            Kind::RoundStart(start) => self.round(start, out),
            Kind::RoundEnd(end) => {
                if let Some(usage) = &end.usage {
                    Usage::add(&mut self.turn.usage, usage);
                    out.carried();
                }
            }
            Kind::Delta(delta) => self.piece(delta.piece, event.origin.time, out),
            Kind::BlockStop(_) => self.block_stop(event.origin.time, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolResult(result) => self.tool_result(event, result, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            _ => {}
        }
    }

    /// Begins the turn, if that has not been done yet.
    pub(super) fn begin(&mut self, out: &mut Out) {
        if std::mem::replace(&mut self.turn.open, true) {
            return;
        }
        self.turns += 1;
        self.need_session(out);
        if !self.is_stream() {
            return;
        }
        self.init(out);
        for content in std::mem::take(&mut self.turn.prompts) {
            self.user(&content, out);
        }
    }

    /// Writes the segment that waits. `last`: nothing of the turn follows it.
    pub(super) fn flush(&mut self, last: bool, out: &mut Out) {
        let Some(mut held) = self.turn.held.take() else {
            return;
        };
        out.lit(ASSISTANT);
        out.lit("\"");
        out.lit(&self.turn.said[held.from..]);
        out.lit("\"}]}");
        out.bytes(&self.tail);
        if last {
            out.drop_held(&mut held.said, "the last segment of a turn has no time of its own");
        } else {
            held.round.write(out);
            out.release(&mut self.turn.names);
            Self::stamp_kept(held.time, out);
            out.release(&mut held.said);
        }
        out.lit("}\n");
    }

    /// Another model call begins, or none follows: where no line has said the id of this one, the ledger does.
    pub(super) fn end_round(&mut self, out: &Out) {
        out.drop_held(&mut self.turn.names, "no place in cursor: the last segment of a turn names no model call");
    }

    /// What is known of the session was not said, for no turn has begun.
    pub(super) fn unsaid_facts(&mut self, out: &Out) {
        self.facts.kept.drop(out);
    }

    fn session_facts(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        if self.is_stream() {
            let facts = [session.api_key_source, session.cwd, session.model, event.origin.session];
            self.facts.kept.hear(facts.into_iter().flatten().map(Str::as_escaped), out);
        }
        let keep = |fact: &mut Option<String>, said: Option<Str<'_>>| {
            if let Some(said) = said {
                *fact = Some(said.as_escaped().to_owned());
            }
        };
        keep(&mut self.facts.api_key_source, session.api_key_source);
        keep(&mut self.facts.cwd, session.cwd);
        keep(&mut self.facts.model, session.model);
        if let Some(mode) = session.permission_mode {
            self.facts.asks_permission = mode.is("default");
            if self.facts.asks_permission && self.is_stream() {
                out.used(mode.as_escaped());
            }
        }
        if self.is_stream() {
            out.carried();
        }
        // A turn that begins before the outcome of the one before is told with that: an end would be said of neither.
        if session.opens_turn && !self.turn.open {
            self.end_turn(true, out);
            self.begin(out);
        }
    }

    fn init(&mut self, out: &mut Out) {
        self.facts.kept.said(out);
        let fact = |key: &str, value: Option<&String>, otherwise: &str, pointer: &'static str, out: &mut Out| {
            name(key, out);
            out.lit("\"");
            out.lit(value.map_or(otherwise, String::as_str));
            out.lit("\"");
            if value.is_none() {
                out.invented(pointer, "the source does not say it");
            }
        };
        out.lit("{\"type\":\"system\",\"subtype\":\"init\"");
        fact("apiKeySource", self.facts.api_key_source.as_ref(), "login", "/apiKeySource", out);
        fact("cwd", self.facts.cwd.as_ref(), "", "/cwd", out);
        out.bytes(&self.tail);
        // The display name of a model that somebody else chose.
        fact("model", self.facts.model.as_ref(), "Auto", "/model", out);
        // In every recording, whatever the mode is.
        out.lit(",\"permissionMode\":\"default\"}\n");
        if !self.facts.asks_permission {
            out.invented("/permissionMode", "always default");
        }
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, out: &mut Out) {
        if !matches!(prompt.source, PromptSource::Host | PromptSource::Echo) || !self.is_stream() {
            return;
        }
        let mut content = String::new();
        for text in prompt.content.texts() {
            content.push_str(if content.is_empty() { "[" } else { "," });
            content.push_str("{\"type\":\"text\",\"text\":\"");
            content.push_str(text.as_escaped());
            content.push_str("\"}");
            out.used(text.as_escaped());
        }
        if content.is_empty() {
            return;
        }
        content.push(']');
        out.carried();
        if self.turn.open {
            self.flush(false, out);
            self.user(&content, out);
        } else {
            self.turn.prompts.push(content);
        }
    }

    fn user(&self, content: &str, out: &mut Out) {
        out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        out.lit(content);
        out.lit("}");
        out.bytes(&self.tail);
        out.lit("}\n");
    }

    /// A model call that is tried again has a line here; nothing else that is no part of the conversation has.
    fn notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        let attempt = event
            .fields
            .iter()
            .find(|field| field.key.is("attempt"))
            .filter(|field| field.value.u64().is_some());
        let (Topic::Retry, Some(attempt), true) = (notice.topic, attempt, self.turn.open && self.is_stream()) else {
            return;
        };
        self.flush(false, out);
        out.lit("{\"type\":\"retry\",\"subtype\":\"starting\"");
        out.bytes(&self.tail);
        self.stamp(event.origin.time, out);
        raw_member("attempt", Some(attempt.value), out);
        out.lit(",\"is_resume\":false}\n");
        out.invented("/is_resume", "the source does not say it");
    }

    fn round(&mut self, start: &RoundStart<'_>, out: &mut Out) {
        self.begin(out);
        self.flush(false, out);
        self.end_round(out);
        self.turn.rounds += 1;
        self.turn.round.made_up = false;
        self.turn.round.id.clear();
        if let Some(id) = start.id.filter(|_| self.is_stream()) {
            self.turn.round.id.push_str(id.as_escaped());
            out.hold(&mut self.turn.names, id.as_escaped());
        }
        out.carried();
    }

    /// The id of the model call that a reply belongs to: the reply's own, or one of the form `<request>-<n>-<four>`.
    fn round_of(&mut self, reply: Option<Str<'_>>, out: &Out) -> Round {
        match reply.filter(|id| !id.is_empty()) {
            Some(id) => {
                let round = &mut self.turn.round;
                if round.made_up || round.id != id.as_escaped() {
                    id.as_escaped().clone_into(&mut round.id);
                    round.made_up = false;
                    self.end_round(out);
                }
                out.hold(&mut self.turn.names, id.as_escaped());
            }
            None if self.turn.round.id.is_empty() => self.make_up_round(),
            None => {}
        }
        self.turn.round.clone()
    }

    /// Sees to it that the turn's request has an id.
    pub(super) fn make_up_request(&mut self) {
        if self.turn.request.is_empty() {
            self.turn.request = ids::uuid(self.session(), self.turns);
        }
    }

    #[cold]
    fn make_up_round(&mut self) {
        self.make_up_request();
        let number = self.turn.rounds.saturating_sub(1);
        let letters = ids::fnv(self.turn.request.as_bytes(), number ^ ids::FNV_SEED) >> 40 & 0xffff;
        let round = &mut self.turn.round;
        round.made_up = true;
        round.id.clear();
        round.id.push_str(&self.turn.request);
        round.id.push('-');
        round.id.push_str(Digits::of(number.into()).as_str());
        round.id.push('-');
        round.id.extend(ids::digits(letters as u32)[4..].iter().map(|&digit| char::from(digit)));
    }

    #[inline]
    pub(super) fn piece(&mut self, piece: Piece<'_>, time: Option<Time<'_>>, out: &mut Out) {
        let (head, text, close) = match piece {
            Piece::Text(text) => (ASSISTANT, text, "}]}"),
            Piece::Thinking(text) => (THINKING, text, ""),
            Piece::Signature(_) | Piece::Subject(_) | Piece::Input(_) | Piece::Other(_) => return,
        };
        self.begin(out);
        self.flush(false, out);
        self.turn.thinking = matches!(piece, Piece::Thinking(_));
        out.lit(head);
        out.str(text);
        out.lit(close);
        out.bytes(&self.tail);
        match piece {
            Piece::Text(_) => self.stamp_piece(time, out),
            _ => self.stamp(time, out),
        }
        out.lit("}\n");
    }

    fn block_stop(&mut self, time: Option<Time<'_>>, out: &mut Out) {
        if std::mem::take(&mut self.turn.thinking) {
            out.lit(THOUGHT);
            out.bytes(&self.tail);
            self.stamp(time, out);
            out.lit("}\n");
        }
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        self.begin(out);
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => self.text(*text, reply.id, event.origin.time, out),
                Block::Thinking(thinking) => {
                    if !self.is_stream() || self.style.partial || thinking.text.is_empty() {
                        // Said in pieces, or nothing is said.
                        if self.is_stream() {
                            out.used(thinking.text.as_escaped());
                            out.carried();
                        }
                        continue;
                    }
                    self.piece(Piece::Thinking(thinking.text), event.origin.time, out);
                    self.block_stop(event.origin.time, out);
                }
                Block::Call(call) => self.call(event, call, reply.id, out),
                Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => {}
            }
        }
    }

    fn text(&mut self, text: Str<'_>, reply: Option<Str<'_>>, time: Option<Time<'_>>, out: &mut Out) {
        if !self.is_stream() {
            return self.answer.say(text, out);
        }
        out.used(text.as_escaped());
        out.carried();
        if text.is_empty() {
            return;
        }
        self.flush(false, out);
        let round = self.round_of(reply, out);
        let mut said = Kept::default();
        if let Some(time) = time {
            out.hold(&mut said, time.source());
        }
        let held = Held {
            from: self.turn.said.len(),
            round,
            time: self.known_time(time),
            said,
        };
        self.turn.said.push_str(text.as_escaped());
        self.turn.held = Some(held);
    }

    fn call(&mut self, event: &Event<'_>, call: &ToolCall<'_>, reply: Option<Str<'_>>, out: &mut Out) {
        if !self.is_stream() {
            return self.skip_to_answer(out);
        }
        self.flush(false, out);
        let round = self.round_of(reply, out);
        let started = self.known_time(event.origin.time);
        out.lit("{\"type\":\"tool_call\",\"subtype\":\"started\",\"call_id\":");
        out.str(call.id);
        out.lit(",\"tool_call\":{");
        tool(self.is_native(call.name), call.name, Some(call.input), out);
        out.lit("}");
        siblings(call.id, started, None, out);
        out.lit("}");
        round.write(out);
        out.release(&mut self.turn.names);
        out.bytes(&self.tail);
        self.stamp(event.origin.time, out);
        out.lit("}\n");
        // Of those beyond, the results say no more than their own.
        if self.turn.calls.len() < MOST_CALLS {
            self.turn.calls.add(call.id.as_escaped(), Call { round, started });
        }
    }

    fn tool_result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.begin(out);
        if !self.is_stream() {
            self.tool_line(result, out);
            return self.skip_to_answer(out);
        }
        self.flush(false, out);
        let Call { round, started } = match self.turn.calls.take(result.call.as_escaped()) {
            Some(call) => call,
            None => {
                let round = self.round_of(None, out);
                out.release(&mut self.turn.names);
                Call { round, started: None }
            }
        };
        let name = result.of.map(|call| call.name).or(result.name).unwrap_or(Str::trusted("unknown"));
        // A call that was not allowed is not said again.
        let input = result.of.map(|call| call.input).filter(|_| result.status != ResultStatus::Denied);
        out.lit("{\"type\":\"tool_call\",\"subtype\":\"completed\",\"call_id\":");
        out.str(result.call);
        out.lit(",\"tool_call\":{");
        if tool(self.is_native(name), name, input, out) {
            out.lit(",");
        }
        out.lit("\"result\":");
        typed(name, result, out);
        out.lit("}");
        siblings(result.call, started, self.known_time(event.origin.time), out);
        out.lit("}");
        round.write(out);
        out.bytes(&self.tail);
        self.stamp(event.origin.time, out);
        out.lit("}\n");
    }

    fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if outcome.is_error {
            if !self.turn.prompts.is_empty() {
                self.begin(out);
            }
            self.flush(true, out);
            self.answer.lose(NO_RESULT, out);
            // What the session has used goes on, whether a line says it or not.
            self.turn_usage(outcome);
            if !outcome.synthetic {
                out.left_out(NO_RESULT);
            }
        } else {
            self.begin(out);
            self.flush(true, out);
            self.result(event, outcome, out);
        }
        self.end_turn(false, out);
    }

    /// The turn is over. Prompts that wait for the next one stay, if it has not begun.
    fn end_turn(&mut self, keep_prompts: bool, out: &Out) {
        self.end_round(out);
        out.drop_held(
            &mut self.turn.tokens,
            "no place in cursor: a turn that succeeds says its tokens, a model call does not",
        );
        let prompts = if keep_prompts {
            std::mem::take(&mut self.turn.prompts)
        } else {
            Vec::new()
        };
        self.turn = Turn { prompts, ..Turn::default() };
    }

    /// A tool was called: what was said so far is not the answer that text gives.
    fn skip_to_answer(&mut self, out: &Out) {
        if self.style.mode.layout == Layout::Text {
            self.answer.take_back(out);
        }
    }

    /// Whether a tool has a kind of its own here. Other dialects' names are names of functions, whatever they end in.
    fn is_native(&self, name: Str<'_>) -> bool {
        let own_names = self.style.native_tools || matches!(self.style.source, Dialect::Cursor | Dialect::Agentglot);
        own_names && is_kind(&name.unescape())
    }
}

impl Round {
    fn write(&self, out: &mut Out) {
        out.lit(",\"model_call_id\":\"");
        out.lit(&self.id);
        out.lit("\"");
        if self.made_up {
            out.invented("/model_call_id", "the source names no model call");
        }
    }
}

/// What stands beside the kind since mid-2026.
fn siblings(id: Str<'_>, started: Option<i64>, completed: Option<i64>, out: &mut Out) {
    out.lit(",\"hookAdditionalContexts\":[],\"toolCallId\":");
    out.str(id);
    for (key, time) in [("startedAtMs", started), ("completedAtMs", completed)] {
        if let Some(time) = time {
            name(key, out);
            out.lit("\"");
            out.number(time);
            out.lit("\"");
        }
    }
}

/// The result in the form of its tool where it has one, else its text under a word that says how it went.
fn typed(tool: Str<'_>, result: &ToolResult<'_>, out: &mut Out) {
    if let Some(detail) = result.detail.filter(|detail| detail.shape == DetailShape::Cursor) {
        return out.unchecked(detail.raw);
    }
    let (word, key) = match result.status {
        ResultStatus::Success if tool.is("shellToolCall") => ("success", "stdout"),
        ResultStatus::Success => ("success", "content"),
        ResultStatus::Denied => ("rejected", "reason"),
        ResultStatus::Error | ResultStatus::Canceled => ("error", "errorMessage"),
    };
    out.lit("{\"");
    out.lit(word);
    out.lit("\":{\"");
    out.lit(key);
    out.lit("\":\"");
    match result.content {
        Content::Text(text) => out.body(text),
        blocks @ Content::Blocks(_) => blocks.as_one().for_each(|text| out.body(text)),
    }
    out.lit("\"}}");
}
