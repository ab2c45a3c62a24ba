//! Replies in pieces, and what all lines of one reply have in common.

use crate::blocks::{Writer, thought};
use crate::codec::Encode;
use crate::event::{BlockHead, BlockStart, Count, Delta, Event, Origin, RoundEnd, RoundStart, RoundStop, Stop, StopKind, Usage};
use crate::json::{Out, Str};
use crate::threads::Threads;
use crate::trace::Kept;

use super::encode::{Encoder, LINE, Line};

/// How a `stream_event` line begins.
pub(super) const STREAM: &str = "{\"type\":\"stream_event\",\"event\":";
/// What becomes of pieces that are not written.
const WHOLE: &str = "pieces of a block that goes over whole";

/// The reply that each thread is at.
#[derive(Debug, Default)]
pub(super) struct Rounds(Threads<Round>);

/// What is known of the reply that is being written.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Its id, as the body of a JSON string; empty until there is one.
    pub(super) id: String,
    pub(super) model: String,
    pub(super) usage: Option<Usage<'static>>,
    pub(super) called: bool,
    /// Where the source has said its id and its model before any line of it was written, for the ledger.
    pub(super) kept: [Kept; 2],
}

impl Round {
    /// The ledger hears of what was said of it, if no line of it was written.
    pub(super) fn over(&mut self, out: &Out) {
        self.kept.iter_mut().for_each(|kept| out.drop_held(kept, "nothing is said in this reply"));
    }
}

impl Encoder {
    pub(super) fn round_start(&mut self, event: &Event<'_>, start: &RoundStart<'_>, out: &mut Out) {
        self.content(event, out);
        if self.own() {
            if self.shows(Line::Stream) {
                self.begin(out, STREAM);
                self.writer
                    .message_start(out, start.id.unwrap_or_default(), start.model.unwrap_or_default(), start, event.fields);
                self.stream_end(event, out);
            }
            return;
        }
        self.frames.forget_round();
        let round = self.round(&event.origin);
        round.over(out);
        start.id.unwrap_or_default().as_escaped().clone_into(&mut round.id);
        start.model.unwrap_or_default().as_escaped().clone_into(&mut round.model);
        round.usage = start.usage.map(|u| u.detached());
        round.called = false;
        for (kept, said) in round.kept.iter_mut().zip([start.id, start.model]) {
            said.into_iter().for_each(|said| out.hold(kept, said.as_escaped()));
        }
        if let Some(usage) = start.usage.as_ref().filter(|_| self.takes_usage()) {
            usage.parts().for_each(|source| out.used(source));
        }
        if !self.streams(event) {
            out.carried();
            return;
        }
        self.make_id(&event.origin, start.id, out, "/event/message/id");
        self.make_model(&event.origin, start.model, out, "/event/message/model");
        self.begin(out, STREAM);
        let writer = self.writer;
        let round = self.round(&event.origin);
        writer.message_start(out, Str::trusted(&round.id), Str::trusted(&round.model), start, event.fields);
        self.stream_end(event, out);
    }

    pub(super) fn block_start(&mut self, event: &Event<'_>, start: &BlockStart<'_>, out: &mut Out) {
        self.content(event, out);
        if !self.own() && matches!(start.head, BlockHead::Call { .. }) {
            self.round(&event.origin).called = true;
        }
        if !self.streams(event) {
            return out.merged(WHOLE);
        }
        self.begin(out, STREAM);
        self.writer.block_start(out, start.index, &start.head, event.fields);
        self.stream_end(event, out);
    }

    #[inline]
    pub(super) fn delta(&mut self, event: &Event<'_>, delta: &Delta<'_>, out: &mut Out) {
        if !self.streams(event) {
            return out.merged(WHOLE);
        }
        if !self.writer.has_place(&delta.piece) {
            return;
        }
        let text = match Writer::piece_text(&delta.piece) {
            Some(text) if !self.own() => text,
            _ => {
                self.begin(out, STREAM);
                self.writer.delta(out, delta.index, &delta.piece, event.fields);
                return self.stream_end(event, out);
            }
        };
        self.delta_head(delta.index, &delta.piece, out);
        out.body(text);
        out.lit("\"}}");
        self.foreign_stream_end(out);
    }

    pub(super) fn block_stop(&mut self, event: &Event<'_>, index: u32, out: &mut Out) {
        if !self.streams(event) {
            return out.merged(WHOLE);
        }
        self.begin(out, STREAM);
        self.writer.block_stop(out, index, event.fields);
        self.stream_end(event, out);
    }

    pub(super) fn round_stop(&mut self, event: &Event<'_>, stop: &RoundStop<'_>, out: &mut Out) {
        self.stopped(event, stop.stop.as_ref(), out);
        if !self.streams(event) {
            return;
        }
        self.begin(out, STREAM);
        if self.own() {
            self.writer.message_delta(out, stop.stop.as_ref(), stop.usage.as_ref(), event.fields);
        } else {
            self.message_delta(event, stop.stop.as_ref(), stop.usage.as_ref(), out);
        }
        self.stream_end(event, out);
    }

    pub(super) fn round_end(&mut self, event: &Event<'_>, end: &RoundEnd<'_>, out: &mut Out) {
        self.stopped(event, end.stop.as_ref(), out);
        if end.stop.is_none() && !self.own() && event.origin.parent.is_none() {
            let word = if self.round(&event.origin).called { "tool_use" } else { "end_turn" };
            remember(&mut self.turn.stop, Some(word));
            self.turn.stop_follows = true;
        }
        let usage = end.usage.as_ref().filter(|_| self.takes_usage());
        if let (Some(usage), false, None) = (usage, self.own(), event.origin.parent) {
            usage.parts().for_each(|source| out.used(source));
            Usage::add(&mut self.turn.usage, usage);
        }
        if !self.streams(event) {
            return out.carried();
        }
        let plain = end.stop.is_none() && end.usage.is_none();
        if !plain || (!self.own() && end.abandoned_from.is_none()) {
            self.begin(out, STREAM);
            self.message_delta(event, end.stop.as_ref(), end.usage.as_ref(), out);
            self.stream_end(&Event { fields: &[], ..*event }, out);
        }
        self.begin(out, STREAM);
        self.writer.message_stop(out, event.fields);
        if let (Some(from), false) = (end.abandoned_from, self.own()) {
            out.lit(",\"abandoned_blocks\":{\"api_message_id\":\"");
            let round = self.round(&event.origin);
            out.bytes(round.id.as_bytes());
            out.lit("\",\"from_block_index\":");
            out.number(from);
            out.lit("}");
        }
        self.stream_end(event, out);
    }

    /// A `message_delta` of a round that another dialect told.
    fn message_delta(&mut self, event: &Event<'_>, stop: Option<&Stop<'_>>, usage: Option<&Usage<'_>>, out: &mut Out) {
        out.lit("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":");
        match (stop, stop.and_then(word)) {
            (Some(stop), Some(word)) if word == stop.word.as_escaped() => out.str(stop.word),
            (Some(_), Some(word)) => out.text(word),
            (Some(_), None) => out.lit("null"),
            (None, _) => {
                out.lit(if self.round(&event.origin).called {
                    "\"tool_use\""
                } else {
                    "\"end_turn\""
                });
                out.invented("/event/delta/stop_reason", "the source does not say why the reply stopped");
            }
        }
        out.lit(",\"stop_sequence\":null},\"usage\":");
        let usage = usage.copied().unwrap_or_default();
        usage.parts().for_each(|source| out.used(source));
        let value = |count: Option<Count<'_>>| count.map(|count| count.value);
        let members = [
            ("input_tokens", usage.fresh_tokens()),
            ("cache_creation_input_tokens", value(usage.cache_write)),
            ("cache_read_input_tokens", value(usage.cache_read)),
            ("output_tokens", usage.written_tokens().or(Some(0))),
        ];
        if usage.output.is_none() {
            out.invented("/event/usage/output_tokens", "not known; the target's parsers need a number");
        }
        let mut before = "{\"";
        for (name, value) in members {
            if let Some(value) = value {
                out.lit(before);
                out.lit(name);
                out.lit("\":");
                out.number(value);
                before = ",\"";
            }
        }
        thought(&usage, out);
        out.lit("}}");
    }

    /// Whether the pieces of this event's reply are written: Claude Code does not stream what subagents say.
    #[inline]
    fn streams(&self, event: &Event<'_>) -> bool {
        self.shows(Line::Stream) && (self.own() || event.origin.parent.is_none())
    }

    /// Writes what stands behind the event of a `stream_event` line. Foreign pieces may all come of one line, whose id goes to the
    /// whole block.
    fn stream_end(&mut self, event: &Event<'_>, out: &mut Out) {
        if !self.own() {
            return self.foreign_stream_end(out);
        }
        self.session_id(out);
        out.lit(",\"parent_tool_use_id\":");
        out.str_or_null(event.origin.parent);
        self.uuid(out, event.origin.id);
        super::encode::write_time(out, event.origin.time);
        self.writer.fields(out, event.fields, LINE);
        self.end(out);
    }

    /// The reply that a thread is at.
    #[inline]
    pub(super) fn round(&mut self, origin: &Origin<'_>) -> &mut Round {
        self.rounds.of(origin.parent)
    }

    /// Sees to it that the thread's reply has an id: all lines of a reply have the same.
    pub(super) fn make_id(&mut self, origin: &Origin<'_>, said: Option<Str<'_>>, out: &mut Out, pointer: &'static str) {
        let round = self.round(origin);
        if !round.id.is_empty() {
            return out.release(&mut round.kept[0]);
        }
        self.frames.forget_round();
        let round = self.round(origin);
        match said.filter(|id| !id.is_empty()) {
            Some(id) => round.id.push_str(id.as_escaped()),
            None => {
                out.invented(pointer, "the source gives its replies no id");
                let id = self.fresh_id();
                let round = self.round(origin);
                round.id.reserve("msg_".len() + 24);
                round.id.push_str("msg_");
                // The first 24 digits, without what stands between them; all are ASCII.
                let mut digits = [0; 24];
                for (to, from) in [(0..8, 0..8), (8..12, 9..13), (12..16, 14..18), (16..20, 19..23), (20..24, 24..28)] {
                    digits[to].copy_from_slice(&id[from]);
                }
                round.id.push_str(std::str::from_utf8(&digits).unwrap_or_default());
            }
        }
    }

    /// Sees to it that the model of the thread's reply is known.
    pub(super) fn make_model(&mut self, origin: &Origin<'_>, said: Option<Str<'_>>, out: &mut Out, pointer: &'static str) {
        let round = self.round(origin);
        if !round.model.is_empty() {
            return out.release(&mut round.kept[1]);
        }
        self.frames.forget_round();
        let round = self.rounds.of(origin.parent);
        round.model.push_str(match said {
            Some(model) => model.as_escaped(),
            None => self.facts.model().unwrap_or_default(),
        });
        if round.model.is_empty() {
            out.invented(pointer, "the source does not name the model");
            round.model.push_str("unknown");
        }
    }

    /// Remembers why a reply stopped, for the turn's end.
    fn stopped(&mut self, event: &Event<'_>, stop: Option<&Stop<'_>>, out: &mut Out) {
        if let Some(stop) = stop.filter(|_| !self.own() && event.origin.parent.is_none()) {
            // A word that nobody knows is no reason of this dialect's results, unless the outcome says it.
            let known = stop.kind != StopKind::Other;
            let (unknown, kept) = &mut self.turn.unknown_stop;
            out.drop_held(kept, "another word followed");
            if known {
                out.used(stop.word.as_escaped());
            } else {
                stop.word.as_escaped().clone_into(unknown);
                out.hold(kept, stop.word.as_escaped());
            }
            remember(&mut self.turn.stop, word(stop).filter(|_| known));
            self.turn.stop_follows = false;
        }
    }
}

impl Rounds {
    /// The reply that the thread of this call is at; the main thread's without one.
    #[inline]
    pub(super) fn of(&mut self, parent: Option<Str<'_>>) -> &mut Round {
        match parent {
            Some(parent) if !parent.is_empty() => self.0.subagent(parent.as_escaped(), |_| Round::default()),
            _ => &mut self.0.main,
        }
    }

    /// The result of a call has come: the subagent that ran for it is done.
    pub(super) fn end(&mut self, call: Str<'_>, out: &Out) {
        if let Some(mut round) = self.0.end(call.as_escaped()) {
            round.over(out);
        }
    }

    /// The turn is over, or the session.
    pub(super) fn clear(&mut self, out: &Out) {
        if out.traced() {
            self.0.all().for_each(|round| round.over(out));
        }
        self.0.end_all();
        let main = &mut self.0.main;
        main.id.clear();
        main.model.clear();
        main.usage = None;
        main.called = false;
    }
}

/// Claude's word for why a reply stopped; none for the RFC's `error`.
pub(super) fn word<'a>(stop: &Stop<'a>) -> Option<&'a str> {
    Some(match stop.kind {
        StopKind::Done => "end_turn",
        StopKind::Tools => "tool_use",
        StopKind::Length if stop.word.is("model_context_window_exceeded") => "model_context_window_exceeded",
        StopKind::Length => "max_tokens",
        StopKind::Refusal => "refusal",
        StopKind::Sequence => "stop_sequence",
        StopKind::Pause => "pause_turn",
        StopKind::Error => return None,
        StopKind::Other if stop.word.is_empty() => return None,
        StopKind::Other => stop.word.as_escaped(),
    })
}

/// Keeps a word, in the memory of the one before.
fn remember(kept: &mut Option<String>, word: Option<&str>) {
    match word {
        Some(word) => word.clone_into(kept.get_or_insert_default()),
        None => *kept = None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_is_forgotten_when_its_call_has_a_result() {
        let mut rounds = Rounds::default();
        rounds.of(None).id.push_str("main");
        for call in ["a", "b"] {
            rounds.of(Some(Str::trusted(call))).id.push_str(call);
        }
        rounds.end(Str::trusted("a"), &Out::default());
        assert_eq!(rounds.0.all().count(), 2);
        assert_eq!(rounds.of(Some(Str::trusted("b"))).id, "b");
        assert_eq!(rounds.of(Some(Str::EMPTY)).id, "main");
        rounds.clear(&Out::default());
        assert!(rounds.0.all().all(|round| round.id.is_empty()));
    }
}
