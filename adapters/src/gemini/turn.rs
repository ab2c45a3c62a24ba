//! What another dialect said, as runs of one turn each: init, prompt, pieces of text, calls and their results, result.

use super::document::lay_out;
use super::encode::{Encoder, output, status};
use super::ends::{error_code, error_type, message};
use super::lines::{close, error_of, member};
use super::results::Results;
use super::stats::{Taken, plus};
use super::tool_stats::ToolStats;
use super::{FORBIDDEN, TOOL_ERROR, UNKNOWN};
use crate::answer::used_in;
use crate::codec::Layout;
use crate::event::{
    Block, DetailShape, Event, Fatal, Kind, Origin, Outcome, OutcomeKind, Piece, Place, Prompt, PromptSource, Reply, ResultStatus, Scope, Session,
    ToolCall, ToolResult, Usage,
};
use crate::json::{Out, Raw, Str};
use crate::trace::Kept;

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its init line is written.
    open: bool,
    /// Prompts that came before the turn began, escaped.
    prompts: Vec<String>,
    /// All that the model said in it, escaped.
    said: String,
    pub(super) tool_stats: ToolStats,
    results: Results,
    /// How often the model was asked.
    rounds: u64,
    /// In text: what was said last has no line end yet.
    open_line: bool,
    /// What its rounds took, and where the source says it.
    usage: Option<Usage<'static>>,
    pub(super) tokens: Kept,
    /// It was told that the turn failed.
    failed: bool,
}

impl Turn {
    /// Whether its first line is written.
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }
}

impl Encoder {
    pub(super) fn foreign(&mut self, event: &Event<'_>, out: &mut Out) {
        let origin = event.origin;
        match event.kind {
            Kind::Session(session) => self.session_facts(event, session, out),
            Kind::Prompt(prompt) => self.prompt(prompt, origin, out),
            Kind::RoundStart(start) => {
                self.note_model(start.model, out);
                self.begin(origin, out);
                out.carried();
            }
            Kind::RoundEnd(end) => {
                self.turn.rounds += 1;
                if let Some(usage) = &end.usage {
                    let sum = self.turn.usage.map_or(usage.detached(), |sum| plus(&sum, &usage.detached()));
                    self.turn.usage = Some(sum);
                    out.carried();
                }
            }
            Kind::Delta(delta) => self.foreign_piece(delta.piece, origin, out),
            Kind::Reply(reply) => self.reply(reply, origin, out),
            Kind::ToolResult(result) => self.tool_result(result, origin, out),
            Kind::Outcome(outcome) => self.outcome(outcome, origin, out),
            Kind::Fatal(fatal) => self.fatal(fatal, origin, out),
            _ => {}
        }
    }

    /// What is known of the session was not said, for no turn has begun.
    pub(super) fn unsaid_facts(&mut self, out: &Out) {
        self.facts.drop(out);
    }

    pub(super) fn foreign_piece(&mut self, piece: Piece<'_>, origin: Origin<'_>, out: &mut Out) {
        let Piece::Text(text) = piece else { return };
        if text.is_empty() {
            return;
        }
        self.begin(origin, out);
        self.tell_results(true, origin, out);
        self.turn.said.push_str(text.as_escaped());
        if self.style.mode.layout == Layout::Text {
            let plain = text.unescape();
            used_in(Layout::Text, text, out);
            self.turn.open_line = !plain.ends_with('\n');
            return out.lit(&plain);
        }
        self.piece(text, origin.time, &[], out);
    }

    /// In text whatever is not said begins on a line of its own.
    fn end_line(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.turn.open_line) {
            out.lit("\n");
        }
    }

    /// Begins the turn, if that has not been done yet.
    fn begin(&mut self, origin: Origin<'_>, out: &mut Out) {
        if std::mem::replace(&mut self.turn.open, true) {
            return;
        }
        self.need_session(out);
        if !self.is_stream() {
            return;
        }
        self.facts.said(out);
        out.used(origin.session.map_or("", Str::as_escaped));
        self.begin_line("init", origin.time, out);
        member("session_id", Str::trusted(&self.session), out);
        if self.model.is_none() {
            out.invented("/model", "the source does not name the model");
        }
        member("model", Str::trusted(self.model.as_deref().unwrap_or(UNKNOWN)), out);
        close(&[], out);
        for prompt in std::mem::take(&mut self.turn.prompts) {
            self.user(&prompt, origin, out);
        }
    }

    fn session_facts(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        if self.turn.open {
            out.merged("the turn has begun already");
            return self.note_model(session.model, out);
        }
        match self.style.mode.layout {
            Layout::Text => {}
            // It is named by its session whatever else is known.
            Layout::Document => {
                event.origin.session.into_iter().for_each(|id| out.used(id.as_escaped()));
                self.facts.hear(session.model.into_iter().map(Str::as_escaped), out);
            }
            _ => {
                let facts = [session.model, event.origin.session];
                self.facts.hear(facts.into_iter().flatten().map(Str::as_escaped), out);
                out.carried();
            }
        }
        self.model = session.model.map(|model| model.as_escaped().to_owned()).or(self.model.take());
        if session.opens_turn {
            self.begin(event.origin, out);
        }
    }

    /// A model's name comes late where no line names the session's.
    fn note_model(&mut self, model: Option<Str<'_>>, out: &Out) {
        if let Some(model) = model.filter(|model| self.model.is_none() && !model.is_empty()) {
            self.model = Some(model.as_escaped().to_owned());
            if self.style.mode.layout != Layout::Text {
                self.facts.add(model.as_escaped(), out);
            }
        }
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, origin: Origin<'_>, out: &mut Out) {
        if !matches!(prompt.source, PromptSource::Host | PromptSource::Echo) || !self.is_stream() {
            return;
        }
        let mut said = String::new();
        for text in prompt.content.texts() {
            said.push_str(text.as_escaped());
            out.used(text.as_escaped());
        }
        if said.is_empty() {
            return;
        }
        out.carried();
        if self.turn.open {
            self.user(&said, origin, out);
        } else {
            self.turn.prompts.push(said);
        }
    }

    fn user(&self, text: &str, origin: Origin<'_>, out: &mut Out) {
        self.begin_line("message", origin.time, out);
        out.lit(",\"role\":\"user\"");
        member("content", Str::trusted(text), out);
        close(&[], out);
    }

    fn reply(&mut self, reply: &Reply<'_>, origin: Origin<'_>, out: &mut Out) {
        self.note_model(reply.model, out);
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } if self.is_document() => {
                    self.answer.say(*text, out);
                    self.turn.said.push_str(text.as_escaped());
                }
                Block::Call(call) => self.call(call, origin, out),
                // It went over in pieces.
                Block::Text { .. } => out.carried(),
                // Thinking and media have no place.
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &ToolCall<'_>, origin: Origin<'_>, out: &mut Out) {
        self.begin(origin, out);
        self.turn.tool_stats.called(call);
        match self.style.mode.layout {
            Layout::Text => return self.end_line(out),
            Layout::Document => return self.turn.tool_stats.names(call, out),
            _ => {}
        }
        if self.style.agent && self.turn.results.called(call.id) {
            self.tell_results(true, origin, out);
            self.turn.results.called(call.id);
        }
        self.begin_line("tool_use", origin.time, out);
        member("tool_name", call.name, out);
        member("tool_id", call.id, out);
        out.lit(",\"parameters\":");
        call.write_object(out);
        close(&[], out);
    }

    fn tool_result(&mut self, result: &ToolResult<'_>, origin: Origin<'_>, out: &mut Out) {
        self.begin(origin, out);
        self.answer.take_back(out);
        self.turn.tool_stats.answered(result);
        if !self.is_stream() {
            return;
        }
        // A log says in which order calls were done; of an agent that lives the program tells results when all are there.
        let in_order = self.style.agent;
        if !in_order {
            self.begin_line("tool_result", origin.time, out);
        }
        let from = out.len();
        member("tool_id", result.call, out);
        // An agent that speaks this dialect alone says what people see.
        let shown = result
            .detail
            .filter(|detail| detail.shape == DetailShape::Gemini)
            .map(|detail| detail.raw);
        let forbidden = result.status == ResultStatus::Denied;
        let success = result.status == ResultStatus::Success || shown.is_some_and(|shown| shown.get("error").is_none() && !forbidden);
        status(success, out);
        match shown {
            Some(shown) => out.str_if(",\"output\":", shown.get("output").and_then(Raw::string)),
            None => output(result.content, out),
        }
        if !success {
            let kind = shown.and_then(|shown| shown.get("error")).and_then(Raw::string).map(Str::as_escaped);
            let usual = if forbidden { FORBIDDEN } else { TOOL_ERROR };
            error_of(kind.unwrap_or(usual), result.content.as_one(), out);
        }
        close(&[], out);
        if in_order {
            let line = out.take_from(from);
            self.turn.results.answered(result.call, line);
            self.tell_results(false, origin, out);
        }
    }

    /// Tells those results for which no earlier call is waited for any more, or all.
    fn tell_results(&mut self, all: bool, origin: Origin<'_>, out: &mut Out) {
        for line in self.turn.results.take(all) {
            self.begin_line("tool_result", origin.time, out);
            out.bytes(&line);
        }
    }

    fn fatal(&mut self, fatal: &Fatal<'_>, origin: Origin<'_>, out: &mut Out) {
        let outcome = Outcome {
            error: Some(fatal.message),
            ..Outcome::new(OutcomeKind::Failed(Place::Backend))
        };
        self.begin(origin, out);
        self.tell_results(true, origin, out);
        self.result(&outcome, origin, out);
        self.turn.failed = true;
    }

    fn outcome(&mut self, outcome: &Outcome<'_>, origin: Origin<'_>, out: &mut Out) {
        if self.turn.failed {
            // What the session has used goes on, whether a line says it or not.
            if let Some(usage) = outcome.usage.filter(|usage| usage.scope == Scope::Session) {
                usage.of_turn(&mut self.total);
            }
            out.merged("the error was told already");
        } else {
            self.begin(origin, out);
            self.tell_results(true, origin, out);
            self.answer(outcome, origin, out);
            self.end_line(out);
            self.result(outcome, origin, out);
        }
        out.drop_held(&mut self.turn.tokens, "no place in gemini: a turn says its tokens, a model call does not");
        self.turn = Turn::default();
    }

    /// The answer that the outcome says again; one that nothing said before is said now.
    fn answer(&mut self, outcome: &Outcome<'_>, origin: Origin<'_>, out: &mut Out) {
        // A document holds the answer of its turn alone.
        let text = if self.is_document() { outcome.text } else { outcome.answer(out) };
        let Some(text) = text.filter(|text| !text.is_empty() && !outcome.is_error) else {
            return;
        };
        let says = |said: &str| said.contains(text.as_escaped()) || Str::trusted(said).unescape().contains(&*text.unescape());
        if says(&self.turn.said) {
            // A document gives no more than the text behind the last result.
            if !self.is_document() || says(self.answer.text()) {
                used_in(self.style.mode.layout, text, out);
            }
            return;
        }
        if self.is_document() {
            self.answer.take_back(out);
            self.answer.say(text, out);
            self.turn.said.push_str(text.as_escaped());
        } else {
            self.foreign_piece(Piece::Text(text), origin, out);
        }
    }

    fn result(&mut self, outcome: &Outcome<'_>, origin: Origin<'_>, out: &mut Out) {
        let error = outcome.error.or(outcome.text).filter(|text| outcome.is_error && !text.is_empty());
        let is_text = self.style.mode.layout == Layout::Text;
        // An error without words says that the model failed.
        let words = (outcome.is_error && !is_text && (error.is_some() || outcome.kind != OutcomeKind::Failed(Place::Model)))
            .then(|| message(outcome.kind, error, self.style.agent, out));
        let error = words.as_deref().map(Str::trusted);
        let usage = match outcome.usage {
            Some(usage) if usage.scope == Scope::Session => Some(usage.of_turn(&mut self.total)),
            Some(usage) => Some(usage),
            None => {
                out.release(&mut self.turn.tokens);
                self.turn.usage
            }
        };
        match self.style.mode.layout {
            // Of a run that failed text says nothing: it goes to standard error.
            Layout::Text => return,
            Layout::Document => return self.document(outcome, usage, error, out),
            _ => {}
        }
        self.begin_line("result", origin.time, out);
        status(!outcome.is_error, out);
        if error.is_some() {
            error_of(error_type(outcome.kind), error.into_iter(), out);
        }
        if self.taken(outcome, usage).write(out) {
            self.facts.said(out);
        }
        self.end_result(outcome, out);
        close(&[], out);
    }

    fn taken<'t>(&'t self, outcome: &'t Outcome<'t>, usage: Option<Usage<'t>>) -> Taken<'t> {
        Taken {
            usage,
            outcome,
            tool_stats: &self.turn.tool_stats,
            rounds: self.turn.rounds,
            model: self.model.as_deref(),
            document: self.is_document(),
        }
    }

    /// The one object at the end. The program writes no line feed behind it; in a log, whose turns may be many, one divides them.
    fn document(&mut self, outcome: &Outcome<'_>, usage: Option<Usage<'_>>, error: Option<Str<'_>>, out: &mut Out) {
        let mut written = false;
        let answer = self.answer.end(outcome.is_error.then(|| error.unwrap_or_default()), out);
        let from = out.len();
        out.lit("{\"session_id\":\"");
        out.lit(&self.session);
        out.lit("\"");
        if outcome.is_error {
            let kind = Some(error_type(outcome.kind)).filter(|kind| *kind != UNKNOWN);
            out.lit(",\"error\":{\"type\":\"");
            out.lit(kind.unwrap_or("Error"));
            out.lit("\"");
            out.invented("/error/type", "the source does not say it in this dialect's words");
            member("message", error.unwrap_or_default(), out);
            out.lit(",\"code\":");
            out.number(u64::from(error_code(outcome.kind, error)));
            out.invented("/error/code", "it follows from how the turn ended");
            out.lit("}");
        } else {
            member("response", Str::trusted(&answer), out);
            written = self.taken(outcome, usage).write(out);
        }
        const LAST: &str = "no place in gemini: the last turn is counted";
        self.said.lose_others(self.model.as_deref().filter(|_| written), LAST, out);
        if written {
            self.said.append(&mut self.facts);
        }
        self.tools.lose(LAST, out);
        self.tools = self.turn.tool_stats.named(written, out);
        self.end_result(outcome, out);
        out.lit("}");
        lay_out(from, out);
        out.lit(if self.style.agent { "" } else { "\n" });
    }
}
