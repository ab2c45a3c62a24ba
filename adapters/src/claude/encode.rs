use crate::answer::Answer;
use crate::blocks::Writer;
use crate::codec::{Dialect, Encode, Layout, Style, TellsEnd, Tools, Want};
use crate::event::{At, Cost, Counted, Event, Field, Fields, Input, Kind, Origin, Time, ToolResult, Usage, iso};
use crate::ids::Uuids;
use crate::json::{Out, Str, alike};
use crate::trace::Kept;

use super::WORDS;
use super::behind::Behind;
use super::decode::tells_end;
use super::encode_stream::Rounds;
use super::encode_system::Facts;
use super::encode_turn::Turn;
use super::frames::Frames;

/// Writes Claude Code's lines.
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    pub(super) writer: Writer,
    /// The session's id, as the body of a JSON string; empty until it is known.
    pub(super) session: String,
    ids: Uuids,
    /// The id of the source's line that was written last: of several lines that come of one, only the first has its id.
    last_id: String,
    /// Whether the array of `json` with all messages is open.
    array: bool,
    pub(super) facts: Facts,
    pub(super) turn: Turn,
    /// The reply that each thread is at.
    pub(super) rounds: Rounds,
    pub(super) frames: Frames,
    /// The tokens of all turns so far, where the source counts by session.
    pub(super) spent: Usage<'static>,
    /// What all turns so far have cost, where the source says it of each.
    pub(super) cost: Cost,
    pub(super) behind: Behind,
    /// Where no messages are written: what is said instead.
    pub(super) answer: Answer,
    /// The session goes on while it is written.
    pub(super) lives: bool,
}

/// What kind of line is to be written, for the modes that leave some out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Part of the conversation.
    Message,
    /// A piece of a reply.
    Stream,
    /// A control line, or text that is no message: of a stream only.
    Side,
    /// A turn's end.
    Result,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        let own = style.is_own(Dialect::Claude);
        Self {
            writer: Writer { words: &WORDS, own },
            behind: Behind::new(&style, own),
            answer: Answer::of_last_turn(style.mode.layout == Layout::Document),
            style,
            session: String::new(),
            ids: Uuids::new("", style.at + 1),
            last_id: String::new(),
            array: false,
            facts: Facts::default(),
            turn: Turn::default(),
            rounds: Rounds::default(),
            frames: Frames::default(),
            spent: Usage::default(),
            cost: Cost::default(),
            lives: false,
        }
    }

    /// Whether the events are Claude Code's own.
    #[inline]
    pub(super) const fn own(&self) -> bool {
        self.writer.own
    }

    /// Whether questions, answers and lines of no known type are in Claude Code's words.
    pub(super) const fn speaks(&self) -> bool {
        self.own() || self.style.agent
    }

    /// Writes the fields that an agent of ours adds.
    pub(super) fn added(&self, out: &mut Out, fields: Fields<'_>, place: At<'_>) {
        self.added_but(out, fields, place, &[]);
    }

    /// What an agent of ours tells in the place of what would be made up.
    pub(super) fn told<'f, 'a>(&self, fields: &'f [Field<'a>], name: &str) -> Option<&'f Field<'a>> {
        fields.iter().find(|field| self.style.agent && field.at == At::Line && field.key.is(name))
    }

    /// Writes the fields that an agent of ours adds, but for those that stand elsewhere.
    pub(super) fn added_but(&self, out: &mut Out, fields: Fields<'_>, place: At<'_>, written: &[&str]) {
        if self.style.agent {
            let here = |field: &&Field<'_>| field.at == place && !written.iter().any(|name| field.key.is(name));
            for field in fields.iter().filter(here) {
                out.lit(",");
                out.str(field.key);
                out.lit(":");
                out.raw(field.value);
            }
        }
    }

    /// Whether a line of this kind has a place in the mode that is written.
    #[inline]
    pub(super) const fn shows(&self, line: Line) -> bool {
        match self.style.mode.layout {
            Layout::Document if self.style.verbose => matches!(line, Line::Message | Line::Result),
            Layout::Document => matches!(line, Line::Result),
            Layout::Text => false,
            _ => self.style.partial || !matches!(line, Line::Stream),
        }
    }

    /// Begins a line.
    #[inline]
    pub(super) fn begin(&mut self, out: &mut Out, head: &str) {
        if self.style.mode.layout == Layout::Document && self.style.verbose {
            out.lit(if self.array { "," } else { "[" });
            self.array = true;
        }
        out.lit(head);
    }

    /// Ends a line.
    #[inline]
    pub(super) fn end(&self, out: &mut Out) {
        out.lit(if self.array { "}" } else { "}\n" });
    }

    /// Takes the session's id over.
    #[inline]
    fn meet(&mut self, origin: &Origin<'_>) {
        if let Some(id) = origin.session.filter(|id| !alike(id.as_escaped(), &self.session)) {
            id.as_escaped().clone_into(&mut self.session);
            self.ids = self.ids.of(&self.session);
            self.frames.forget_session();
            self.facts.answered(Str::EMPTY);
        }
    }

    /// A made-up id.
    pub(super) fn fresh_id(&mut self) -> [u8; 36] {
        self.ids.next_ascii()
    }

    /// Makes a session's id up if the source has none.
    #[inline]
    pub(super) fn know_session(&mut self, out: &Out) {
        if self.session.is_empty() {
            self.session = self.ids.name_session();
            out.invented("/session_id", "the source names no session");
        }
    }

    /// Writes `"session_id":…`, making one up if the source has none.
    pub(super) fn session_id(&mut self, out: &mut Out) {
        self.know_session(out);
        out.lit(",\"session_id\":\"");
        out.bytes(self.session.as_bytes());
        out.lit("\"");
    }

    /// Writes `"uuid":…`: the line's own id, for one line, else a made-up one.
    pub(super) fn uuid(&mut self, out: &mut Out, id: Option<Str<'_>>) {
        out.lit(",\"uuid\":");
        self.uuid_value(out, id);
    }

    /// Writes a line's id alone.
    pub(super) fn uuid_value(&mut self, out: &mut Out, id: Option<Str<'_>>) {
        match id.filter(|id| self.own() || !alike(id.as_escaped(), &self.last_id)) {
            Some(id) => {
                if !self.own() {
                    id.as_escaped().clone_into(&mut self.last_id);
                }
                out.str(id);
            }
            None => {
                let fresh = self.fresh_id();
                out.lit("\"");
                out.bytes(&fresh);
                out.lit("\"");
                out.invented("/uuid", "each line needs an id of its own");
            }
        }
    }

    /// Writes what stands behind the message of an `assistant` or `user` line: the thread, the session, the line's id, the time.
    pub(super) fn tail(&mut self, out: &mut Out, origin: &Origin<'_>) {
        if origin.parent.is_none() && origin.agent.is_none() {
            self.place(out);
            self.uuid_value(out, origin.id);
            return self.frames.time(out, origin.time);
        }
        out.lit(",\"parent_tool_use_id\":");
        out.str_or_null(origin.parent);
        if let Some(agent) = origin.agent {
            for (key, value) in [
                (",\"agent_id\":", agent.id),
                (",\"subagent_type\":", agent.name),
                (",\"task_description\":", agent.task),
            ] {
                if let Some(value) = value {
                    out.lit(key);
                    out.str(value);
                }
            }
        }
        self.session_id(out);
        self.uuid(out, origin.id);
        write_time(out, origin.time);
    }

    /// Writes the session's and the line's id as the source has them: for lines that only Claude Code itself writes.
    pub(super) fn own_tail(&self, out: &mut Out, origin: &Origin<'_>) {
        out.str_if(",\"parent_tool_use_id\":", origin.parent);
        out.str_if(",\"session_id\":", origin.session);
        out.str_if(",\"uuid\":", origin.id);
        write_time(out, origin.time);
    }
}

impl Encode for Encoder {
    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/message/content/0/content")
    }

    fn want(&self) -> Want {
        let want = match self.style.mode.layout {
            Layout::Lines if self.style.partial => Want::BOTH.with_subagents().with_retraction().with_served(),
            Layout::Lines => Want::SNAPSHOTS.with_subagents().with_whole_rounds().with_served(),
            Layout::Document if self.style.verbose => Want::SNAPSHOTS.with_subagents().with_served(),
            Layout::Text => Want::SNAPSHOTS.without_thoughts().with_tools(Tools::Nothing),
            // Of calls it says those that were refused.
            _ => Want::SNAPSHOTS.without_thoughts().with_tools(Tools::Names),
        };
        // Hosts look in the transcript for the lines that they have heard.
        Want {
            line_ids: self.style.agent,
            ..want
        }
    }

    fn takes_usage(&self) -> bool {
        self.style.mode.layout != Layout::Text
    }

    fn takes_fields(&self) -> bool {
        self.style.source == Dialect::Claude
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if !self.behind.waits() {
            return self.write(event, out);
        }
        self.before(event, out);
        out.pin();
        let from = out.len();
        self.write(event, out);
        out.unpin();
        self.after(event, from, out);
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        self.tell_behind(None, out);
        if self.shows(Line::Side) {
            self.say(input, out);
        }
    }

    fn given(&mut self) -> Kept {
        self.answer.given()
    }

    fn finish(&mut self, out: &mut Out) {
        self.tell_behind(None, out);
        self.unsaid_facts(out);
        self.rounds.clear(out);
        if self.array {
            self.array = false;
            out.lit("]\n");
        }
    }

    fn now(&mut self, _: i64) {
        self.lives = true;
        if self.behind.waits() {
            self.behind.lives();
            self.frames.forget_round();
        }
    }
}

impl Encoder {
    #[inline]
    fn write(&mut self, event: &Event<'_>, out: &mut Out) {
        self.meet(&event.origin);
        match event.kind {
            Kind::Delta(delta) => self.delta(event, &delta, out),
            Kind::BlockStart(start) => self.block_start(event, &start, out),
            Kind::BlockStop(stop) => self.block_stop(event, stop.index, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolResult(result) => self.tool_result(event, result, out),
            Kind::RoundStart(start) => self.round_start(event, start, out),
            Kind::RoundStop(stop) => self.round_stop(event, stop, out),
            Kind::RoundEnd(end) => self.round_end(event, end, out),
            Kind::Prompt(prompt) => self.prompt(event, prompt, out),
            Kind::Session(session) => self.init(event, session, out),
            Kind::Notice(notice) => self.notice(event, notice, out),
            Kind::ToolProgress(progress) => self.tool_progress(event, progress, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            Kind::Request(request) => self.request(event, request, out),
            Kind::Response(response) => self.response(&event.origin, event.fields, response, out),
            Kind::Withdraw(withdraw) => self.withdraw(&event.origin, event.fields, withdraw, out),
            Kind::Noise(text) if self.own() && self.shows(Line::Side) => out.copied_line(text),
            Kind::Unknown(raw) if self.speaks() && self.shows(Line::Side) => out.copied_line(raw.as_str()),
            // What only other dialects say.
            Kind::Noise(_) | Kind::Unknown(_) | Kind::Terminal(_) | Kind::Command(_) | Kind::Hint(_) | Kind::Heartbeat(_) | Kind::CancelResult(_) => {
            }
        }
    }
}

/// Writes the API's id of a model call. Streams call it `request_id`, transcripts `requestId`.
pub(super) fn write_request(out: &mut Out, fields: Fields<'_>, [read, written]: [&str; 2]) {
    if let Some(field) = fields.iter().find(|field| field.at == At::Line && field.key.is(read)) {
        out.lit(",\"");
        out.lit(written);
        out.lit("\":");
        out.unchecked(field.value);
    }
}

/// Writes `"timestamp":…` in ISO 8601, if the time is known.
pub(super) fn write_time(out: &mut Out, time: Option<Time<'_>>) {
    match time {
        None => {}
        Some(Time::Iso(text)) => {
            out.lit(",\"timestamp\":");
            out.str(text);
        }
        Some(other) => {
            let Some(millis) = other.millis() else { return };
            out.used(other.source());
            out.lit(",\"timestamp\":\"");
            out.bytes(&iso(millis));
            out.lit("\"");
        }
    }
}

/// The fields of the line itself.
pub(super) const LINE: At<'static> = At::Line;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[test]
    fn times_are_spelled() {
        let mut out = Out::default();
        write_time(&mut out, Some(Time::Seconds(Raw::trusted("1739430000"))));
        write_time(&mut out, Some(Time::Seconds(Raw::trusted("0"))));
        write_time(&mut out, None);
        assert_eq!(out.written(), b",\"timestamp\":\"2025-02-13T07:00:00.000Z\"");
    }
}
