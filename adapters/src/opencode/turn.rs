//! What another dialect said, as rounds of parts.

use super::GOES_ON;
use super::decode::why;
use super::encode::Encoder;
use super::own::completed;
use crate::codec::Dialect;
use crate::event::{
    Block, Content, Count, DetailShape, Event, Fatal, Kind, Limit, Media, Origin, Outcome, OutcomeKind, Place, Reply, StopKind, ToolCall, ToolResult,
    Usage,
};
use crate::ids;
use crate::json::{Out, Raw, Str};
use crate::tools;
use crate::waiting::Waiting;

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    round: Option<Round>,
    /// Calls that wait for their results, by their ids; one may outlast its round.
    calls: Waiting<Call>,
    /// How many calls there were.
    called: usize,
    /// It was told that it failed.
    failed: bool,
    /// The last text, as the body of a JSON string.
    last: Option<String>,
    /// It has a round.
    begun: bool,
    /// The turn before it has no line that ends it: an error alone would be that.
    behind: bool,
}

/// The round that is being written. That it is over is said when the next one begins: calls have their results before.
#[derive(Debug, Default)]
struct Round {
    called: bool,
    ended: Option<Ended>,
}

#[derive(Debug)]
struct Call {
    order: usize,
    name: String,
    input: String,
}

/// How a round ended.
#[derive(Debug)]
struct Ended {
    stop: Option<StopKind>,
    usage: Option<Usage<'static>>,
}

/// What follows a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    Round,
    /// The turn is over.
    Success,
    /// The turn has failed.
    Failure,
    /// The log is over.
    Nothing,
}

impl Encoder {
    pub(super) fn foreign(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(_) => {
                if let Some(id) = event.origin.session {
                    out.hold(&mut self.named, id.as_escaped());
                }
            }
            Kind::RoundStart(start) => self.begin_round(start.id, event.origin, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::RoundEnd(end) => {
                if let Some(round) = &mut self.turn.round {
                    round.ended = Some(Ended {
                        stop: end.stop.map(|stop| stop.kind),
                        usage: end.usage.map(|usage| usage.detached()),
                    });
                    out.carried();
                }
            }
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            _ => {}
        }
    }

    /// An id as the program makes them: they stand in the order of time.
    pub(super) fn next_id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        let time = u64::try_from(self.time.unwrap_or(0)).unwrap_or(0);
        let order = time.wrapping_mul(0x1000).wrapping_add(self.ids) & 0xffff_ffff_ffff;
        let random = ids::hash(&format!("{}{}", self.session, self.style.at + self.ids)) & 0xff_ffff_ffff_ffff;
        format!("{prefix}_{order:012x}{random:014x}")
    }

    /// Sees to it that the session has an id.
    pub(super) fn name_session(&mut self, out: &mut Out) {
        if self.session.is_empty() {
            self.session = self.next_id("ses");
            out.invented("/sessionID", "the source names no session");
            out.invented("/part/sessionID", "the source names no session");
        }
        out.release(&mut self.named);
    }

    fn begin_line(&mut self, kind: &str, origin: Origin<'_>, out: &mut Out) {
        self.name_session(out);
        out.lit("{\"type\":\"");
        out.lit(kind);
        out.lit("\",\"timestamp\":");
        self.time_of(origin, "/timestamp", out);
        out.lit(",\"sessionID\":\"");
        out.lit(&self.session);
        out.lit("\"");
        if let Some(id) = origin.session {
            out.used(id.as_escaped());
        }
    }

    /// The time of the event, or the last one that is known.
    fn time_of(&self, origin: Origin<'_>, pointer: &'static str, out: &mut Out) {
        match origin.time {
            _ if !out.traced() => {}
            Some(time) if time.millis().is_some() => out.used(time.source()),
            _ => out.invented(pointer, "the source does not say when"),
        }
        out.number(self.time.unwrap_or(0));
    }

    /// A part's id.
    fn part_id(&mut self, out: &mut Out) {
        let id = self.next_id("prt");
        out.invented("/part/id", "parts have no ids elsewhere");
        quoted("\"id\"", &id, out);
    }

    /// Which message it is a part of.
    fn message_and_session(&self, out: &mut Out) {
        quoted(",\"messageID\"", &self.message, out);
        quoted(",\"sessionID\"", &self.session, out);
    }

    fn begin_round(&mut self, id: Option<Str<'_>>, origin: Origin<'_>, out: &mut Out) {
        self.end_round(Behind::Round, out);
        self.begin_line("step_start", origin, out);
        match id.filter(|id| !id.is_empty() && !self.makes_ids) {
            Some(id) => {
                id.as_escaped().clone_into(&mut self.message);
                out.used(id.as_escaped());
            }
            None => {
                self.message = self.next_id("msg");
                out.invented("/part/messageID", "the source does not name the reply");
            }
        }
        out.lit(",\"part\":{");
        self.part_id(out);
        self.message_and_session(out);
        out.lit(",\"type\":\"step-start\"}}\n");
        self.turn.round = Some(Round::default());
        self.turn.begun = true;
    }

    /// Makes sure that a round is open: that of this reply, or any.
    fn need_round(&mut self, id: Option<Str<'_>>, origin: Origin<'_>, out: &mut Out) {
        if let Some(id) = id.filter(|id| id.as_escaped() == self.message) {
            out.used(id.as_escaped());
        }
        if self.turn.round.is_none() {
            self.begin_round(id, origin, out);
        }
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        self.need_round(reply.id, event.origin, out);
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => self.said("text", *text, event.origin, out),
                Block::Thinking(_) if self.style.hides_thoughts => {}
                Block::Thinking(thinking) => self.said("reasoning", thinking.text, event.origin, out),
                Block::Call(call) => self.call(call, out),
                Block::Media(media) if self.keeps_files && media.picture().is_some() => self.shown(media, event.origin, out),
                // Sealed thoughts have no place.
                _ => {}
            }
        }
    }

    /// What the model shows.
    fn shown(&mut self, media: &Media<'_>, origin: Origin<'_>, out: &mut Out) {
        let message = self.message.clone();
        self.begin_line("file", origin, out);
        out.lit(",\"part\":");
        out.invented("/part/id", "parts have no ids elsewhere");
        out.beside(media.kind.as_escaped());
        self.file(media, &message, out);
        out.lit("}\n");
    }

    fn said(&mut self, kind: &str, text: Str<'_>, origin: Origin<'_>, out: &mut Out) {
        if text.is_empty() {
            return out.used(text.as_escaped());
        }
        if kind == "text" {
            self.turn.last = Some(text.as_escaped().to_owned());
        }
        self.begin_line(kind, origin, out);
        out.lit(",\"part\":{");
        self.part_id(out);
        self.message_and_session(out);
        out.lit(",\"type\":\"");
        out.lit(kind);
        out.lit("\",\"text\":");
        out.str(text);
        self.span("/part/time", out);
        out.lit("}}\n");
    }

    /// When something began and ended.
    fn span(&self, pointer: &'static str, out: &mut Out) {
        let time = self.time.unwrap_or(0);
        out.lit(",\"time\":{\"start\":");
        out.number(time);
        out.lit(",\"end\":");
        out.number(time);
        out.lit("}");
        out.invented(pointer, "the source does not say when it began");
    }

    /// A call stands in one line with its result.
    fn call(&mut self, call: &ToolCall<'_>, out: &mut Out) {
        for part in [call.id.as_escaped(), call.name.as_escaped(), call.input.as_str()] {
            out.used(part);
        }
        out.carried();
        let Some(round) = &mut self.turn.round else { return };
        round.called = true;
        let waiting = Call {
            order: self.turn.called,
            name: call.name.as_escaped().to_owned(),
            input: call.object(out).into_owned(),
        };
        self.turn.called += 1;
        self.turn.calls.add(call.id.as_escaped(), waiting);
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.need_round(None, event.origin, out);
        let id = result.call.as_escaped();
        let held = self.turn.calls.take(id);
        let called = match (&held, &result.of) {
            // Its result may know better what it is.
            (_, Some(of)) => ToolCall { id: result.call, ..*of },
            (Some(held), None) => bare(result.call, &held.name, &held.input),
            (None, None) => return,
        };
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        self.tool(&called, Some(result), event.origin, out);
    }

    /// The images that came with a result.
    fn attachments(&mut self, content: Content<'_>, out: &mut Out) {
        let Content::Blocks(blocks) = content else { return };
        let message = self.message.clone();
        let mut before = ",\"attachments\":[";
        for block in blocks {
            if let Block::Media(media) = block
                && media.picture().is_some()
            {
                out.lit(before);
                out.invented("/part/state/attachments/0/id", "parts have no ids elsewhere");
                out.beside(media.kind.as_escaped());
                self.file(media, &message, out);
                before = ",";
            }
        }
        out.lit(if before == "," { "]" } else { "" });
    }

    /// A part that is an image, of a message.
    pub(super) fn file(&mut self, media: &Media<'_>, message: &str, out: &mut Out) {
        let Some(picture) = media.picture() else { return };
        out.lit("{\"id\":\"");
        out.lit(&self.next_id("prt"));
        quoted("\",\"sessionID\"", &self.session, out);
        quoted(",\"messageID\"", message, out);
        out.lit(",\"type\":\"file\",\"mime\":");
        out.str(
            picture
                .mime
                .unwrap_or(Str::trusted(if picture.is_document { "application/pdf" } else { "image/*" })),
        );
        out.lit(",\"url\":");
        picture.write_address(out);
        out.lit("}");
    }

    fn tool(&mut self, call: &ToolCall<'_>, result: Option<&ToolResult<'_>>, origin: Origin<'_>, out: &mut Out) {
        self.begin_line("tool_use", origin, out);
        out.lit(",\"part\":{\"type\":\"tool\",\"tool\":");
        out.str(call.name);
        out.lit(",\"callID\":");
        out.str(call.id);
        out.lit(",\"state\":{\"status\":");
        match result {
            None => {
                out.lit("\"running\",\"input\":");
                out.unchecked(call.input);
                let time = self.time.unwrap_or(0);
                out.lit(",\"time\":{\"start\":");
                out.number(time);
                out.lit("}");
                out.invented("/part/state/time", "the source does not say when it began");
            }
            Some(result) => {
                let is_own = |shape| shape == DetailShape::Opencode;
                let detail = result.detail.filter(|detail| is_own(detail.shape));
                let done = ToolResult { detail, ..*result };
                let completed = completed(call, &done);
                out.lit(if completed { "\"completed\",\"input\":" } else { "\"error\",\"input\":" });
                call.write_object(out);
                out.lit(if completed { ",\"output\":\"" } else { ",\"error\":\"" });
                result.content.as_one().for_each(|text| out.body(text));
                out.lit("\"");
                if completed {
                    out.lit(",\"metadata\":");
                    match detail {
                        Some(detail) => out.unchecked(detail.raw),
                        None => {
                            out.lit("{}");
                            out.invented("/part/state/metadata", "the source knows no more than the text");
                        }
                    }
                    out.lit(",\"title\":");
                    title(call, out);
                }
                self.span("/part/state/time", out);
                self.attachments(result.content, out);
            }
        }
        out.lit("},");
        self.part_id(out);
        quoted(",\"sessionID\"", &self.session, out);
        quoted(",\"messageID\"", &self.message, out);
        out.lit("}}\n");
    }

    /// Ends the round, if one is open, and with it perhaps the turn.
    pub(super) fn end_round(&mut self, behind: Behind, out: &mut Out) {
        let Some(round) = self.turn.round.take() else { return };
        if behind != Behind::Round {
            let mut held: Vec<(String, Call)> = std::mem::take(&mut self.turn.calls).into_all().collect();
            held.sort_by_key(|(_, call)| call.order);
            for (id, call) in held {
                self.tool(&bare(Str::trusted(&id), &call.name, &call.input), None, Origin::default(), out);
            }
        }
        let Some(Ended { stop, usage }) = round.ended else { return };
        // One that broke off has no end.
        if behind == Behind::Failure && stop.is_none() && usage.is_none() {
            return;
        }
        let done = behind == Behind::Success;
        let reason = match stop {
            Some(StopKind::Tools) if !done => "tool-calls",
            _ if behind == Behind::Round && round.called => "tool-calls",
            // Any other word would be the end of the turn.
            _ if behind == Behind::Round => {
                out.invented("/part/reason", "the turn goes on behind a round that called nothing");
                GOES_ON
            }
            Some(StopKind::Length) => "length",
            Some(StopKind::Refusal) => "content-filter",
            Some(StopKind::Error) => "error",
            Some(StopKind::Done | StopKind::Sequence) => "stop",
            stop => {
                out.invented("/part/reason", "the source does not say why the round is over");
                match (round.called && !done, stop) {
                    (true, _) => "tool-calls",
                    (false, Some(StopKind::Pause | StopKind::Other)) if !done => "other",
                    _ => "stop",
                }
            }
        };
        self.begin_line("step_finish", Origin::default(), out);
        out.lit(",\"part\":{");
        self.part_id(out);
        quoted(",\"reason\"", reason, out);
        self.message_and_session(out);
        out.lit(",\"type\":\"step-finish\",");
        tokens(usage.as_ref(), out);
        out.invented("/part/cost", "the source does not say what a round cost");
        out.lit(",\"cost\":0}}\n");
    }

    fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if self.turn.failed {
            out.merged("the error was told already");
        } else {
            if !outcome.is_error {
                self.answer(outcome.answer(out), event.origin, out);
            }
            let behind = if outcome.is_error { Behind::Failure } else { Behind::Success };
            let length = self.turn.round.as_ref().and_then(|round| round.ended.as_ref()?.stop) == Some(StopKind::Length);
            self.end_round(behind, out);
            let text = outcome.error.or(outcome.text).filter(|text| !text.is_empty());
            let said = length && outcome.kind == OutcomeKind::Limit(Limit::Tokens) && text.is_none();
            if outcome.is_error && !said {
                let name = error_name(outcome.kind);
                let read = |message: &str| why(Str::trusted(name), Some(Str::trusted(message)));
                let message = outcome.kind.message(text, outcome.kind.prefix(), read, "/error/data", out);
                self.fail(name, Str::trusted(&message), event.origin, out);
            }
            out.carried();
        }
        self.turn = Turn {
            behind: !outcome.is_error,
            ..Turn::default()
        };
    }

    /// The answer is the last text of the turn, or what the program said where the model said nothing.
    fn answer(&mut self, text: Option<Str<'_>>, origin: Origin<'_>, out: &mut Out) {
        let text = text.filter(|text| !text.is_empty());
        if !self.turn.begun || text.is_some() && self.turn.last.is_none() {
            self.need_round(None, origin, out);
        }
        match (text, &self.turn.last) {
            (Some(text), None) => self.said("text", text, origin, out),
            (Some(text), Some(last)) if Str::trusted(last).unescape().contains(&*text.unescape()) => out.used(text.as_escaped()),
            _ => {}
        }
        // Of a turn without a model call the round is made up as well.
        if let Some(round) = &mut self.turn.round {
            round.ended.get_or_insert(Ended {
                stop: Some(StopKind::Done),
                usage: None,
            });
        }
    }

    /// The program itself ends with an error; an outcome may follow, and then says nothing new.
    fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        let kind = OutcomeKind::Failed(Place::Backend);
        self.end_round(Behind::Failure, out);
        self.fail(error_name(kind), fatal.message, event.origin, out);
        self.turn.failed = true;
    }

    fn fail(&mut self, name: &str, message: Str<'_>, origin: Origin<'_>, out: &mut Out) {
        if self.turn.behind && !self.turn.begun {
            self.begin_round(None, origin, out);
            self.turn.round = None;
        }
        self.begin_line("error", origin, out);
        out.lit(",\"error\":{\"name\":\"");
        out.lit(name);
        out.invented("/error/name", "the source does not say it in this dialect's words");
        out.lit("\",\"data\":{\"message\":");
        out.str(message);
        // Without these the program does not read it again.
        let (pointer, more) = match name {
            "APIError" => ("/error/data/isRetryable", ",\"isRetryable\":false"),
            "StructuredOutputError" => ("/error/data/retries", ",\"retries\":0"),
            _ => ("", ""),
        };
        out.lit(more);
        if !more.is_empty() {
            out.invented(pointer, "the source does not say it");
        }
        out.lit("}}}\n");
    }
}

fn quoted(name: &str, text: &str, out: &mut Out) {
    out.lit(name);
    out.lit(":\"");
    out.lit(text);
    out.lit("\"");
}

fn bare<'a>(id: Str<'a>, name: &'a str, input: &'a str) -> ToolCall<'a> {
    let name = Str::trusted(name);
    ToolCall {
        id,
        name,
        kind: tools::kind_of(Dialect::Opencode, name),
        input: Raw::trusted(input),
        fields: &[],
    }
}

/// What people see of a call: what it is about, or the tool's name.
fn title(call: &ToolCall<'_>, out: &mut Out) {
    let about = ["description", "filePath", "command", "pattern", "url", "query"];
    let found = about.iter().find_map(|name| call.input.get(name)?.string());
    out.str(found.unwrap_or(call.name));
    out.invented("/part/state/title", "people are shown what the call is about");
}

/// The tokens of a round. The input is what the cache neither answered nor took.
fn tokens(usage: Option<&Usage<'static>>, out: &mut Out) {
    let usage = usage.copied().unwrap_or_default();
    if usage.input.is_none() {
        out.invented("/part/tokens", "the source says nothing of tokens");
    }
    let number = |count: Option<Count<'_>>| count.map_or(0, |count| count.value);
    let input = usage.fresh_tokens().unwrap_or(0);
    let (read, write) = (number(usage.cache_read), number(usage.cache_write));
    let (output, thought) = (usage.answer_tokens().unwrap_or(0), usage.reasoning_tokens());
    let sum = [input, output, thought.unwrap_or(0), read, write]
        .into_iter()
        .fold(0, u64::saturating_add);
    let total = usage.total.map_or(sum, |count| count.value);
    for (name, value) in [
        ("\"tokens\":{\"total\":", total),
        (",\"input\":", input),
        (",\"output\":", output),
        (",\"reasoning\":", thought.unwrap_or(0)),
        (",\"cache\":{\"write\":", write),
        (",\"read\":", read),
    ] {
        out.lit(name);
        out.number(value);
    }
    out.lit("}}");
    out.invented("/part/tokens/total", "a sum");
    if thought.is_none() {
        out.invented("/part/tokens/reasoning", "the source counts it with the output");
    }
}

/// What the program calls the error of a turn that ended so.
const fn error_name(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Cancelled => "MessageAbortedError",
        OutcomeKind::Refused => "ContentFilterError",
        OutcomeKind::Limit(Limit::Tokens) => "MessageOutputLengthError",
        OutcomeKind::Limit(Limit::Retries) => "StructuredOutputError",
        OutcomeKind::Failed(Place::Model) => "APIError",
        _ => "UnknownError",
    }
}
