//! Events to Gemini CLI's lines: who writes what.

use super::NO_TIME;
use super::lines::{OUTPUT, close, error, error_of, member, texts};
use super::stats::Taken;
use super::tool_stats::Names;
use super::turn::Turn;
use super::unrun::tells_end;
use crate::answer::Answer;
use crate::codec::{Dialect, Encode, Layout, Style, TellsEnd, Tools, Want};
use crate::event::{
    Block, Content, Counted, Event, Fields, Input, Kind, Origin, Outcome, Piece, Reply, ResultStatus, Time, ToolResult, Topic, Usage, iso,
};
use crate::ids;
use crate::json::{Out, Str, alike};
use crate::trace::Kept;
use crate::unsaid::Unsaid;

/// Writes `stream-json`, `json` and `text`.
///
/// Lines that were read in this dialect go back as they were. Everything else becomes runs of one turn each (`turn`).
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    /// The session's id, escaped; empty until it is known or made up.
    pub(super) session: String,
    pub(super) model: Option<String>,
    /// Where the source says session and model, until a line says them here.
    pub(super) facts: Unsaid,
    /// The same of what the last document says.
    pub(super) said: Unsaid,
    /// The last time that the source said, as it is written; in a session that lives, what time it is.
    time: String,
    lives: bool,
    pub(super) turn: Turn,
    /// The answer of a document.
    pub(super) answer: Answer,
    /// Where the source says the tools of the last one.
    pub(super) tools: Names,
    /// The usage of all turns so far, from sources that count so.
    pub(super) total: Usage<'static>,
    /// What an own text said in pieces.
    pieces: String,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            session: String::new(),
            model: None,
            facts: Unsaid::default(),
            said: Unsaid::default(),
            time: String::new(),
            lives: false,
            turn: Turn::default(),
            answer: Answer::of_last_turn(true),
            tools: Names::default(),
            total: Usage::default(),
            pieces: String::new(),
        }
    }

    /// Whether one object is written at the end, not lines.
    pub(super) const fn is_document(&self) -> bool {
        matches!(self.style.mode.layout, Layout::Document)
    }

    /// Whether each event has its line.
    pub(super) const fn is_stream(&self) -> bool {
        matches!(self.style.mode.layout, Layout::Lines)
    }

    /// Whether events are to be written as the lines that they were read from.
    fn is_own(&self) -> bool {
        self.style.is_own(Dialect::Gemini) && self.is_stream()
    }

    /// Makes sure that there is a session's id to write.
    pub(super) fn need_session(&mut self, out: &Out) {
        if self.session.is_empty() {
            self.session = ids::uuid("", self.style.at);
            out.invented("/session_id", "the source names no session");
        }
    }

    /// Begins a line, with its time: that of the event, or the last one that is known.
    pub(super) fn begin_line(&self, kind: &str, time: Option<Time<'_>>, out: &mut Out) {
        out.lit("{\"type\":\"");
        out.lit(kind);
        out.lit("\",\"timestamp\":\"");
        match time.map(|time| (time, if let Time::Iso(_) = time { None } else { time.millis() })) {
            Some((Time::Iso(text), _)) => out.body(text),
            Some((time, Some(millis))) => {
                out.used(time.source());
                out.bytes(&iso(millis));
            }
            _ => {
                let known = (self.lives || !self.is_own()) && !self.time.is_empty();
                out.lit(if known { &self.time } else { NO_TIME });
                let note = if known {
                    "the last time that the source said"
                } else {
                    "the source says no time"
                };
                out.invented("/timestamp", note);
            }
        }
        out.lit("\"");
    }

    fn note_origin(&mut self, origin: &Origin<'_>, out: &Out) {
        if let Some(session) = origin.session.filter(|id| !alike(id.as_escaped(), &self.session) && !id.is_empty()) {
            session.as_escaped().clone_into(&mut self.session);
            if self.turn.is_open() {
                out.renamed(session.as_escaped(), "a run has one session id, which its first line says");
            }
        }
        match origin.time {
            Some(Time::Iso(text)) => text.as_escaped().clone_into(&mut self.time),
            Some(time) => time.millis().into_iter().for_each(|millis| self.set_time(millis)),
            None => {}
        }
    }

    fn set_time(&mut self, millis: i64) {
        self.time.clear();
        self.time.extend(iso(millis).map(char::from));
    }

    fn own(&mut self, event: &Event<'_>, out: &mut Out) {
        let (time, fields) = (event.origin.time, event.fields);
        match event.kind {
            Kind::Session(session) => {
                self.begin_line("init", time, out);
                out.str_if(",\"session_id\":", event.origin.session);
                out.str_if(",\"model\":", session.model);
                close(fields, out);
            }
            Kind::Prompt(prompt) => {
                self.begin_line("message", time, out);
                out.lit(",\"role\":\"user\"");
                texts("content", prompt.content.texts(), out);
                close(fields, out);
            }
            Kind::BlockStart(_) | Kind::BlockStop(_) => self.pieces.clear(),
            Kind::Delta(delta) => {
                if let Piece::Text(text) = delta.piece {
                    self.pieces.push_str(text.as_escaped());
                    self.piece(text, time, fields, out);
                }
            }
            Kind::Reply(reply) => self.own_reply(reply, time, fields, out),
            Kind::ToolResult(result) => {
                self.begin_line("tool_result", time, out);
                result_of(result, fields, out);
                close(fields, out);
            }
            Kind::Notice(notice) => {
                self.begin_line("error", time, out);
                let (before, behind) = fields.split_at(fields.iter().take_while(|field| field.key.is("severity")).count());
                before.iter().for_each(|field| {
                    out.lit(",\"severity\":");
                    out.unchecked(field.value);
                });
                member("message", notice.message.unwrap_or_default(), out);
                close(behind, out);
            }
            Kind::Outcome(outcome) => self.own_outcome(outcome, time, fields, out),
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            _ => {}
        }
    }

    fn own_reply(&mut self, reply: &Reply<'_>, time: Option<Time<'_>>, fields: Fields<'_>, out: &mut Out) {
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } if *text == Str::trusted(&self.pieces) && !text.is_empty() => out.used(text.as_escaped()),
                Block::Text { text, .. } => {
                    self.begin_line("message", time, out);
                    out.lit(",\"role\":\"assistant\"");
                    member("content", *text, out);
                    close(fields, out);
                }
                Block::Call(call) => {
                    self.begin_line("tool_use", time, out);
                    member("tool_name", call.name, out);
                    member("tool_id", call.id, out);
                    out.lit(",\"parameters\":");
                    out.unchecked(call.input);
                    close(fields, out);
                }
                _ => {}
            }
        }
    }

    fn own_outcome(&self, outcome: &Outcome<'_>, time: Option<Time<'_>>, fields: Fields<'_>, out: &mut Out) {
        self.begin_line("result", time, out);
        match outcome.word {
            Some(word) => member("status", word, out),
            None => status(!outcome.is_error, out),
        }
        // An error without a type was said by a line of its own, or is ours.
        if !error(outcome.error.into_iter(), fields, out) && outcome.word.is_none() && outcome.error.is_some() {
            error_of(super::UNKNOWN, outcome.error.into_iter(), out);
        }
        let taken = Taken {
            usage: outcome.usage,
            outcome,
            tool_stats: &self.turn.tool_stats,
            rounds: 0,
            model: None,
            document: false,
        };
        taken.write(out);
        self.end_result(outcome, out);
        close(fields, out);
    }

    /// A piece of what the model says.
    pub(super) fn piece(&self, text: Str<'_>, time: Option<Time<'_>>, fields: Fields<'_>, out: &mut Out) {
        self.begin_line("message", time, out);
        out.lit(",\"role\":\"assistant\"");
        member("content", text, out);
        out.lit(",\"delta\":true");
        close(fields, out);
    }

    /// Marks an outcome that was made up.
    pub(super) fn end_result(&self, outcome: &Outcome<'_>, out: &mut Out) {
        if outcome.synthetic {
            out.lit(",\"synthetic\":true");
        }
    }
}

impl Encode for Encoder {
    fn counts_usage(&self) -> Counted {
        Counted::WITH_INPUT
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        match result.status {
            ResultStatus::Canceled => tells_end(result, "/error/message"),
            // The error's type says the rest.
            _ => TellsEnd::Itself,
        }
    }

    fn want(&self) -> Want {
        if self.is_document() {
            Want::SNAPSHOTS.without_thoughts().with_tools(Tools::Names)
        } else if self.style.mode.layout == Layout::Text {
            Want::BOTH.without_inputs().without_thoughts().with_tools(Tools::Nothing)
        } else {
            Want::BOTH.without_inputs().without_thoughts()
        }
    }

    #[inline]
    fn more(&mut self, piece: Piece<'_>, out: &mut Out) -> bool {
        let foreign = !self.is_own();
        if foreign {
            self.foreign_piece(piece, Origin::default(), out);
        }
        foreign
    }

    fn takes_fields(&self) -> bool {
        self.style.is_own(Dialect::Gemini)
    }

    fn sums_usage(&self) -> bool {
        true
    }

    fn takes_usage(&self) -> bool {
        self.style.mode.layout != Layout::Text
    }

    fn round_tokens(&mut self, tokens: Kept) {
        self.turn.tokens.append(tokens);
    }

    fn passes_over(&self, topic: Topic, _: Option<Str<'_>>) -> bool {
        self.style.source != Dialect::Gemini && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.note_origin(&event.origin, out);
        if self.is_own() {
            self.own(event, out);
        } else {
            self.foreign(event, out);
        }
    }

    fn now(&mut self, millis: i64) {
        self.lives = true;
        self.set_time(millis);
    }

    // A run takes its prompt from the command line; there is no line that a host could write.
    fn input(&mut self, _: &Input<'_>, _: &mut Out) {}

    fn given(&mut self) -> Kept {
        let mut given = self.answer.given();
        given.append(self.said.take());
        given.append(self.tools.stays());
        given
    }

    fn finish(&mut self, out: &mut Out) {
        self.unsaid_facts(out);
        self.tools.end(out);
    }
}

/// Writes how it went.
pub(super) fn status(success: bool, out: &mut Out) {
    out.lit(if success { ",\"status\":\"success\"" } else { ",\"status\":\"error\"" });
    // A word of the source's stands for it.
    out.carried();
}

/// Writes what came of a call that was read in this dialect.
fn result_of(result: &ToolResult<'_>, fields: Fields<'_>, out: &mut Out) {
    member("tool_id", result.call, out);
    let success = result.status == ResultStatus::Success;
    status(success, out);
    let failed = fields.iter().any(|field| field.at == crate::event::At::Part(super::ERROR));
    if let Some(shown) = fields.iter().find(|field| field.key.is(OUTPUT)) {
        out.lit(",\"output\":");
        out.unchecked(shown.value);
    } else if success || !failed {
        output(result.content, out);
    }
    error(result.content.as_one(), fields, out);
}

/// Writes the output of a call, if it has one.
pub(super) fn output(content: Content<'_>, out: &mut Out) {
    if matches!(content, Content::Text(_)) || content.texts().next().is_some() {
        texts("output", content.as_one(), out);
    }
}
