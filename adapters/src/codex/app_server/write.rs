//! What another dialect said, as the notifications of a thread.

use super::encode::Encoder;
use super::given_up::GivenUp;
use crate::codex::failure;
use crate::codex::items::{addressed, answered};
use crate::codex::turn::structured;
use crate::event::{
    Block, BlockHead, Event, Fatal, Kind, Notice, Outcome, OutcomeKind, Piece, Prompt, PromptSource, Reply, Request, Scope, Session, Time, Topic,
    Usage,
};
use crate::ids;
use crate::json::{Out, Raw, Str};
use crate::waiting::Waiting;

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    id: String,
    /// When, in milliseconds since 1970, if that is known.
    began: Option<i64>,
    pub(super) open: bool,
    failed: bool,
    prompted: bool,
    /// The item of the text or thought that goes on, and whether it is a thought.
    pub(super) said: Option<(u64, bool)>,
    /// Its pieces so far, as the body of a JSON string.
    pub(super) pieces: String,
    /// That item is of a reply that was given up.
    pub(super) given_up: Option<GivenUp>,
    pub(super) calls: Waiting<(String, String)>,
    /// The last text, as the body of a JSON string.
    last: Option<String>,
    /// The id of its item.
    last_id: String,
    /// Its rounds have said what they used.
    counted: bool,
}

impl Encoder {
    pub(super) fn foreign(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(session) => self.session(event, session, out),
            Kind::Prompt(prompt) => self.prompt(event, prompt, out),
            Kind::BlockStart(start) => match start.head {
                BlockHead::Text => self.block(event, false, out),
                BlockHead::Thinking => self.block(event, true, out),
                _ => {}
            },
            Kind::Delta(delta) => match delta.piece {
                Piece::Text(text) if !self.holds(event, text, out) => self.piece(event, false, text, out),
                Piece::Thinking(text) if !self.holds(event, text, out) => self.piece(event, true, text, out),
                _ => {}
            },
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolProgress(progress) => self.progress(event, progress, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::RoundEnd(end) => {
                if let Some(usage) = end.usage.filter(|_| self.turn.said.is_some()) {
                    // The reply was given up; what is said of it may go on.
                    usage.parts().for_each(|source| out.used(source));
                    Usage::add(&mut self.total, &usage.with_cache());
                    out.carried();
                } else if let Some(usage) = end.usage.filter(|_| self.turn.open) {
                    self.turn.counted = true;
                    self.tokens(event, &usage, out);
                }
                if end.abandoned_from.is_some() {
                    self.give_up(event, out);
                }
            }
            Kind::Request(request) => self.ask(event, request, out),
            Kind::Notice(notice) => self.notice(event, notice, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            _ => {}
        }
    }

    fn session(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        if !self.started {
            let facts = [session.cwd, session.model, event.origin.session];
            self.facts.hear(facts.into_iter().flatten().map(Str::as_escaped), out);
            out.carried();
        }
        let keep = |fact: Option<Str<'_>>, kept: &mut Option<String>| {
            if let Some(fact) = fact {
                *kept = Some(fact.as_escaped().to_owned());
            }
        };
        keep(session.cwd, &mut self.cwd);
        keep(session.model, &mut self.model);
        if session.opens_turn {
            self.begin(event, out);
        }
    }

    /// Begins the turn, if that has not been done yet, and the thread before it.
    pub(super) fn begin(&mut self, event: &Event<'_>, out: &mut Out) {
        if std::mem::replace(&mut self.turn.open, true) {
            return;
        }
        if self.thread.is_empty() {
            self.thread = ids::uuid("", self.style.at);
            out.invented("/params/threadId", "the source names no session");
        }
        out.used(event.origin.session.map_or("", Str::as_escaped));
        if !std::mem::replace(&mut self.started, true) {
            out.lit("{\"method\":\"thread/started\",\"params\":{\"thread\":{\"id\":\"");
            out.lit(&self.thread);
            out.lit("\",\"preview\":\"\"");
            member("model", self.model.as_deref(), out);
            member("cwd", self.cwd.as_deref(), out);
            out.lit(",\"status\":{\"type\":\"idle\"},\"turns\":[]}}");
            self.close(event, out);
            self.facts.said(out);
        }
        self.turns += 1;
        self.turn.began = self.time(event);
        match event.origin.turn.filter(|_| self.style.agent) {
            Some(id) => id.as_escaped().clone_into(&mut self.turn.id),
            None => {
                self.turn.id = ids::uuid(&self.thread, self.turns);
                out.invented("/params/turnId", "turns get ids");
                out.invented("/params/turn/id", "turns get ids");
            }
        }
        self.status(event, "{\"type\":\"active\",\"activeFlags\":[]}", out);
        self.open("turn/started", out);
        self.turn_object(event, "inProgress", None, None, out);
        self.close(event, out);
    }

    /// The status of a thread that lives.
    fn status(&self, event: &Event<'_>, status: &str, out: &mut Out) {
        if self.style.agent {
            self.open("thread/status/changed", out);
            out.lit(",\"status\":");
            out.lit(status);
            out.lit("}");
            self.close(event, out);
        }
    }

    /// When an event was, in milliseconds since 1970: what a session that lives says now.
    fn time(&self, event: &Event<'_>) -> Option<i64> {
        event.origin.time.and_then(Time::millis).or(self.now)
    }

    /// Ends a message, with its time if it is known.
    pub(super) fn close(&self, event: &Event<'_>, out: &mut Out) {
        if let Some(millis) = self.time(event) {
            out.lit(",\"emittedAtMs\":");
            out.number(millis);
            out.used(event.origin.time.map_or("", Time::source));
        }
        out.lit("}\n");
    }

    /// Ends a message about an item, and the item.
    pub(super) fn close_item(&self, event: &Event<'_>, whole: bool, out: &mut Out) {
        out.lit("}");
        if let Some(millis) = self.time(event).filter(|_| self.style.agent) {
            out.lit(if whole { ",\"completedAtMs\":" } else { ",\"startedAtMs\":" });
            out.number(millis);
        }
        out.lit("}");
        self.close(event, out);
    }

    /// A notification of the turn, up to what it says besides.
    fn open(&self, method: &str, out: &mut Out) {
        out.lit("{\"method\":\"");
        out.lit(method);
        out.lit("\",\"params\":{\"threadId\":\"");
        out.lit(&self.thread);
        out.lit("\"");
    }

    /// The same of an item.
    pub(super) fn open_in_turn(&self, method: &str, out: &mut Out) {
        self.open(method, out);
        out.lit(",\"turnId\":\"");
        out.lit(&self.turn.id);
        out.lit("\"");
    }

    fn turn_object(&self, event: &Event<'_>, status: &str, error: Option<Str<'_>>, took: Option<Raw<'_>>, out: &mut Out) {
        out.lit(",\"turn\":{\"id\":\"");
        out.lit(&self.turn.id);
        // A host that is there reads the answer where the turn ends, too.
        match self.turn.last.as_deref().filter(|_| self.style.agent && status == "completed") {
            Some(last) => {
                out.lit("\",\"items\":[{\"type\":\"agentMessage\",\"id\":\"");
                out.lit(&self.turn.last_id);
                out.lit("\",\"text\":");
                out.str(Str::trusted(last));
                out.lit(",\"phase\":null,\"memoryCitation\":null}],\"itemsView\":\"summary\",\"status\":\"");
            }
            None => out.lit("\",\"items\":[],\"itemsView\":\"notLoaded\",\"status\":\""),
        }
        out.lit(status);
        out.lit("\",\"error\":");
        error_object(error, "/params/turn/error/codexErrorInfo", out);
        let began = self.turn.began.filter(|_| self.style.agent);
        let ended = began.and(self.time(event)).filter(|_| status != "inProgress");
        for (name, millis) in [(",\"startedAt\":", began), (",\"completedAt\":", ended)] {
            out.lit(name);
            number(millis.map(|millis| millis / 1000), out);
        }
        out.lit(",\"durationMs\":");
        match (took, began.zip(ended)) {
            (Some(took), _) => out.unchecked(took),
            (None, times) => number(times.map(|(began, ended)| ended - began), out),
        }
        out.lit("}}");
    }

    /// A message about an item, up to the item's members behind its type.
    pub(super) fn item(&self, whole: bool, kind: &str, id: &str, out: &mut Out) {
        self.open_in_turn(if whole { "item/completed" } else { "item/started" }, out);
        out.lit(",\"item\":{\"type\":\"");
        out.lit(kind);
        out.lit("\",\"id\":\"");
        out.lit(id);
        out.lit("\"");
    }

    fn next_item(&mut self, out: &Out) -> u64 {
        out.invented("/params/item/id", "items are counted");
        self.items += 1;
        self.items - 1
    }

    /// The id of what was said: of a thread that lives, one that no other process has given.
    pub(super) fn said_id(&self, item: u64) -> String {
        if self.style.agent {
            ids::uuid(&self.turn.id, item)
        } else {
            format!("said_{item}")
        }
    }

    fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        if matches!(prompt.source, PromptSource::Parent | PromptSource::Agent) {
            return;
        }
        self.begin(event, out);
        self.turn.prompted = true;
        let item = self.next_item(out);
        let id = self.said_id(item);
        for whole in [false, true] {
            self.item(whole, "userMessage", &id, out);
            out.lit(",\"clientId\":null,\"content\":[");
            let words = [r#"{"type":"text","text":"#, r#","text_elements":[]}"#, r#"{"type":"image","url":"#];
            addressed(prompt.content, words, out);
            out.lit("]");
            self.close_item(event, whole, out);
        }
    }

    pub(super) fn block(&mut self, event: &Event<'_>, thinks: bool, out: &mut Out) {
        if self.turn.given_up.is_some() && self.turn.said.is_some_and(|(_, thought)| thought == thinks) {
            // It may be the same that begins again.
            return;
        }
        self.end_given_up(event, out);
        self.begin(event, out);
        let item = self.next_item(out);
        self.turn.said = Some((item, thinks));
        self.turn.pieces.clear();
        let id = self.said_id(item);
        self.text(event, (false, thinks), &id, Str::EMPTY, out);
        if thinks {
            self.open_in_turn("item/reasoning/summaryPartAdded", out);
            out.lit(",\"itemId\":\"");
            out.lit(&id);
            out.lit("\",\"summaryIndex\":0}");
            self.close(event, out);
        }
    }

    pub(super) fn text(&self, event: &Event<'_>, (whole, thinks): (bool, bool), id: &str, text: Str<'_>, out: &mut Out) {
        self.item(whole, if thinks { "reasoning" } else { "agentMessage" }, id, out);
        out.lit(match (thinks, whole) {
            (false, _) => ",\"text\":",
            (true, true) => ",\"summary\":[",
            (true, false) => ",\"summary\":[",
        });
        if whole || !thinks {
            out.str(text);
        }
        out.lit(if thinks {
            "],\"content\":[]"
        } else {
            ",\"phase\":null,\"memoryCitation\":null"
        });
        self.close_item(event, whole, out);
    }

    pub(super) fn piece(&mut self, event: &Event<'_>, thinks: bool, text: Str<'_>, out: &mut Out) {
        let Some((item, _)) = self.turn.said else { return };
        self.turn.pieces.push_str(text.as_escaped());
        let method = if thinks {
            "item/reasoning/summaryTextDelta"
        } else {
            "item/agentMessage/delta"
        };
        self.open_in_turn(method, out);
        out.lit(",\"itemId\":\"");
        out.lit(&self.said_id(item));
        out.lit("\",\"delta\":");
        out.str(text);
        out.lit(if thinks { ",\"summaryIndex\":0}" } else { "}" });
        self.close(event, out);
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        // Why there is no reply is said by the turn's outcome, and is nothing that the agent says.
        if self.style.agent && reply.error.is_some() {
            return;
        }
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => self.said(event, false, *text, out),
                Block::Thinking(thinking) => self.said(event, true, thinking.text, out),
                Block::Call(call) => self.call(event, call, out),
                // Media and sealed thoughts have no place.
                _ => {}
            }
        }
    }

    fn said(&mut self, event: &Event<'_>, thinks: bool, text: Str<'_>, out: &mut Out) {
        if text.is_empty() && self.turn.said.is_none() {
            out.used(text.as_escaped());
            return;
        }
        self.decide(event, text, out);
        if self.turn.said.is_none() {
            // Nobody has said it in pieces: it is one.
            self.block(event, thinks, out);
            self.piece(event, thinks, text, out);
        }
        let Some((item, _)) = self.turn.said.take() else { return };
        let id = self.said_id(item);
        self.text(event, (true, thinks), &id, text, out);
        if !thinks {
            self.turn.last = Some(text.as_escaped().to_owned());
            self.turn.last_id = id;
        }
    }

    fn ask(&mut self, event: &Event<'_>, request: &Request<'_>, out: &mut Out) {
        let Some((permission, call)) = request.permission.and_then(|permission| Some((permission, permission.call?))) else {
            return;
        };
        let what = match permission.name.as_escaped() {
            "command_execution" => "commandExecution",
            "file_change" => "fileChange",
            _ => return,
        };
        self.begin(event, out);
        self.open_in_turn(&format!("item/{what}/requestApproval"), out);
        out.lit(",\"itemId\":");
        out.str(call);
        out.lit(",\"reason\":null");
        out.unchecked_if(",\"command\":", permission.input.and_then(|input| input.get("command")));
        out.used(permission.name.as_escaped());
        out.used_raw(permission.input);
        out.lit("},\"id\":");
        out.number(self.asked);
        self.asked += 1;
        out.renamed(request.id.map_or("", Str::as_escaped), "requests are counted");
        out.lit("}\n");
    }

    /// The conversation was made shorter, or an attempt is made again.
    fn notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        if notice.topic == Topic::Compaction && self.turn.open {
            let item = self.next_item(out);
            let id = self.said_id(item);
            for whole in [false, true] {
                self.item(whole, "contextCompaction", &id, out);
                self.close_item(event, whole, out);
            }
            return;
        }
        let Some(message) = notice.message.filter(|_| notice.topic == Topic::Retry && self.turn.open) else {
            return;
        };
        self.error(event, message, true, out);
    }

    fn error(&self, event: &Event<'_>, message: Str<'_>, again: bool, out: &mut Out) {
        self.open_in_turn("error", out);
        out.lit(",\"error\":");
        error_object(Some(message), "/params/error/codexErrorInfo", out);
        out.lit(if again { ",\"willRetry\":true}" } else { ",\"willRetry\":false}" });
        self.close(event, out);
    }

    fn tokens(&mut self, event: &Event<'_>, usage: &Usage<'_>, out: &mut Out) {
        let last = match usage.scope {
            Scope::Session => usage.of_turn(self.total.get_or_insert_default()),
            _ => {
                Usage::add(&mut self.total, &usage.with_cache());
                *usage
            }
        };
        // The sum is made anew.
        usage.parts().for_each(|source| out.used(source));
        self.open_in_turn("thread/tokenUsage/updated", out);
        out.lit(",\"tokenUsage\":{\"total\":");
        counts(&self.total.unwrap_or_default(), out);
        out.lit(",\"last\":");
        counts(&last, out);
        out.lit(",\"modelContextWindow\":null}}");
        if last.reasoning_tokens().is_none() {
            out.invented("/params/tokenUsage/last/reasoningOutputTokens", "the source does not say it");
        }
        self.close(event, out);
    }

    fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if self.turn.failed {
            out.merged("the error was told already");
        } else {
            self.begin(event, out);
            self.end_given_up(event, out);
            if let Some(answer) = structured(outcome).filter(|_| self.style.agent) {
                // The program's last message is the answer in the form that was asked for.
                if self.turn.last.as_deref() != Some(&*answer) {
                    self.said(event, false, Str::trusted(&answer), out);
                }
            } else if let Some(text) = outcome.answer(out).filter(|_| !outcome.is_error) {
                match &self.turn.last {
                    None => self.said(event, false, text, out),
                    Some(last) => answered(last, text, out),
                }
            }
            if let Some(usage) = outcome.usage.filter(|usage| !usage.is_blank()) {
                if self.turn.counted {
                    usage.parts().for_each(|source| out.used(source));
                } else {
                    self.tokens(event, &usage, out);
                }
            }
            let words;
            let (word, error) = match outcome.kind {
                OutcomeKind::Cancelled => (
                    "interrupted",
                    outcome.error.or(outcome.text).filter(|text| outcome.is_error && !text.is_empty()),
                ),
                _ if !outcome.is_error => ("completed", None),
                _ => {
                    words = failure::words(outcome, "/params/turn/error/message", out);
                    ("failed", Some(Str::trusted(&words)))
                }
            };
            self.end(event, word, error, outcome.duration_ms, out);
        }
        self.late = std::mem::take(&mut self.turn).calls;
    }

    fn end(&self, event: &Event<'_>, word: &str, error: Option<Str<'_>>, took: Option<Raw<'_>>, out: &mut Out) {
        if let Some(error) = error.filter(|_| word == "failed") {
            self.error(event, error, false, out);
        }
        self.status(event, "{\"type\":\"idle\"}", out);
        self.open("turn/completed", out);
        self.turn_object(event, word, error, took, out);
        self.close(event, out);
    }

    /// The program itself ends with an error; an outcome may follow, and then says nothing new.
    fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        self.begin(event, out);
        self.end(event, "failed", Some(fatal.message), None, out);
        self.turn.failed = true;
    }
}

fn number(number: Option<i64>, out: &mut Out) {
    match number {
        Some(number) => out.number(number),
        None => out.lit("null"),
    }
}

fn member(name: &str, value: Option<&str>, out: &mut Out) {
    if let Some(value) = value {
        out.lit(",\"");
        out.lit(name);
        out.lit("\":\"");
        out.lit(value);
        out.lit("\"");
    }
}

/// `info`: where its word for that stands.
fn error_object(error: Option<Str<'_>>, info: &'static str, out: &mut Out) {
    match error {
        Some(error) => {
            out.lit("{\"message\":");
            out.str(error);
            out.lit(",\"codexErrorInfo\":");
            out.lit(&failure::info(error));
            out.lit(",\"additionalDetails\":null}");
            out.invented(info, "as far as the words of the failure tell");
        }
        None => out.lit("null"),
    }
}

fn counts(usage: &Usage<'_>, out: &mut Out) {
    let value = |count: Option<crate::event::Count<'_>>| count.map_or(0, |count| count.value);
    let (input, output) = (usage.prompt_tokens().unwrap_or(0), usage.written_tokens().unwrap_or(0));
    let numbers = [
        ("{\"totalTokens\":", input.saturating_add(output)),
        (",\"inputTokens\":", input),
        (",\"cachedInputTokens\":", value(usage.cache_read)),
        (",\"cacheWriteInputTokens\":", value(usage.cache_write)),
        (",\"outputTokens\":", output),
        (",\"reasoningOutputTokens\":", usage.reasoning_tokens().unwrap_or(0)),
    ];
    for (name, number) in numbers {
        out.lit(name);
        out.number(number);
    }
    out.lit("}");
}
