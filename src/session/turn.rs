//! Turns: how they are counted, and how they end.

use std::time::Instant;

use super::Session;
use super::final_text::Spoken;
use crate::adapters::raw::event::{Event, Kind, Limit, Origin, Outcome, OutcomeKind, Place};
use crate::adapters::raw::json::Str;
use crate::backend::Backend;

/// A turn that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The last sign of the back end, or the beginning.
    pub(super) sign: Instant,
    /// When it would have begun, had nobody been waited for in it.
    began: Instant,
    /// How much the back end has said in it.
    bytes: u64,
    /// The back end has said something in it.
    pub(super) heard: bool,
    /// Rounds that have begun, and whether the next word of the model begins another one.
    pub(super) rounds: u64,
    pub(super) between: bool,
    /// The limit of rounds was reached: what still comes is not said any more.
    pub(super) cut: bool,
}

impl Turn {
    pub(super) const fn new(now: Instant, heard: bool) -> Self {
        Self {
            sign: now,
            began: now,
            bytes: 0,
            heard,
            rounds: 0,
            between: true,
            cut: false,
        }
    }
}

impl Session {
    /// The back end has said so much more. Returns whether it is to be stopped, because it is more than a turn may have.
    pub fn heard_bytes(&mut self, bytes: usize, most: usize, now: Instant) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        turn.bytes = turn.bytes.saturating_add(bytes as u64);
        if turn.bytes <= most as u64 {
            return false;
        }
        let why = format!("the agent has said more than the {most} bytes that a turn may have (--max-turn)");
        self.end_turns(OutcomeKind::Failed(Place::Backend), &why, true, now);
        true
    }

    /// Somebody else was waited for, or the back end was not listened to, until now: that is neither its silence nor its time.
    pub fn waited(&mut self, now: Instant) {
        if let Some(turn) = &mut self.turn {
            turn.began += now.duration_since(turn.sign);
            turn.sign = now;
        }
    }

    /// Until when the back end is to have given a sign, and to have ended the turn.
    pub(super) fn turn_deadlines(&self) -> Option<[Instant; 2]> {
        let turn = self.turn.filter(|_| !self.waits_for_answer())?;
        let limit = if turn.heard { self.timers.silence } else { self.timers.start };
        Some([turn.sign + limit, turn.began + self.timers.turn])
    }

    /// Ends the turns of a back end that has fallen silent, or does not come to an end. Returns whether it is to be stopped.
    pub(super) fn turn_expires(&mut self, now: Instant) -> bool {
        let (Some(turn), Some([silent, too_long])) = (self.turn, self.turn_deadlines()) else {
            return false;
        };
        let seconds = |since: Instant| now.duration_since(since).as_secs_f64();
        let why = if now >= silent {
            format!("the agent has said nothing for {:.0} s", seconds(turn.sign))
        } else if now >= too_long {
            format!("the turn has not ended within {:.0} s (--turn-timeout)", seconds(turn.began))
        } else {
            return false;
        };
        self.end_turns(OutcomeKind::Failed(Place::Backend), &why, true, now);
        true
    }

    /// Counts the rounds of the turn. The one over the limit is stopped, and nothing of it is said but its outcome.
    pub(super) fn over_limit(&mut self, event: &Event<'_>, now: Instant, backend: &mut dyn Backend) -> bool {
        let (Some(limit), Some(turn), None) = (self.host.max_rounds, &mut self.turn, event.origin.parent) else {
            return false;
        };
        match event.kind {
            Kind::ToolResult(_) => turn.between = true,
            Kind::RoundStart(_) | Kind::Reply(_) | Kind::BlockStart(_) if turn.between => {
                turn.between = false;
                turn.rounds += 1;
                if turn.rounds > limit && !turn.cut {
                    turn.cut = true;
                    self.interrupt(backend);
                }
            }
            _ => {}
        }
        let cut = self.turn.is_some_and(|turn| turn.cut);
        if let (true, Kind::Outcome(outcome)) = (cut, event.kind) {
            let mut why = String::new();
            Str::escape(&over(limit), &mut why);
            let limited = Outcome {
                error: Some(Str::trusted(&why)),
                usage: outcome.usage,
                duration_ms: outcome.duration_ms,
                duration_api_ms: outcome.duration_api_ms,
                ..Outcome::new(OutcomeKind::Limit(Limit::Turns))
            };
            let event = Event {
                kind: Kind::Outcome(&limited),
                ..*event
            };
            self.tell_outcome(&event, limited.is_error);
            self.ended_with(&limited, now);
        }
        cut && !matches!(event.kind, Kind::Response(_) | Kind::Withdraw(_))
    }

    pub(super) fn ended_with(&mut self, outcome: &Outcome<'_>, now: Instant) {
        self.ended_by_agent = false;
        self.ended.note(outcome);
        if let Some(plain) = &mut self.plain {
            plain.ended(outcome);
        }
        self.failure = outcome.is_error.then(|| {
            let said = [outcome.error, outcome.text]
                .into_iter()
                .flatten()
                .find(|text| !text.as_escaped().is_empty());
            said.map_or_else(|| "the turn failed".to_owned(), |text| text.unescape().into_owned())
        });
        let answer = outcome.structured.map(|answer| answer.as_str().to_owned());
        // An agent whose last reply was empty has said its last words before.
        let text = outcome.text.filter(|text| !text.is_empty());
        let answer = answer.or_else(|| text.map(|text| text.unescape().into_owned()));
        let answer = answer.or(self.spoken.as_mut().and_then(Spoken::take));
        self.answer = (!outcome.is_error).then(|| answer.unwrap_or_default());
        if let Some(usage) = outcome.usage {
            let value = |count: Option<crate::adapters::raw::event::Count<'_>>| count.map_or(0, |count| count.value);
            self.host.facts.tokens = (value(usage.input), value(usage.output));
        }
        self.prompts = self.prompts.saturating_sub(1);
        self.turn = (self.prompts > 0).then_some(Turn::new(now, false));
    }

    /// Says how a turn ended. Where the program has one value to say and it failed, that goes to standard error.
    pub(super) fn tell_outcome(&mut self, event: &Event<'_>, is_error: bool) {
        let before = self.out.len();
        self.voice.event(event, &mut self.out);
        if is_error && !self.host.watched && self.conduct.fails_on_stderr(self.host.format.mode) {
            let value = self.out.split_off(before);
            self.failed_value = Some(String::from_utf8_lossy(&value).trim_end().to_owned()).filter(|value| !value.is_empty());
        }
    }

    /// A prompt was a command, and is answered without an outcome.
    pub(super) fn prompt_answered(&mut self, now: Instant) {
        self.ended_by_agent = true;
        self.prompts = self.prompts.saturating_sub(1);
        self.turn = (self.prompts > 0).then_some(Turn::new(now, false));
        self.fail_doomed(now);
    }

    pub(super) fn end_turn(&mut self, kind: OutcomeKind, why: &str, now: Instant) {
        // A program that runs for one turn is gone once it was stopped at the limit, and says nothing of an end.
        let limit = self.host.max_rounds.filter(|_| self.turn.is_some_and(|turn| turn.cut));
        let kind = limit.map_or(kind, |_| OutcomeKind::Limit(Limit::Turns));
        let mut body = String::new();
        Str::escape(&limit.map_or_else(|| why.to_owned(), over), &mut body);
        let text = Str::trusted(&body);
        let outcome = Outcome {
            synthetic: true,
            error: Some(text),
            ..Outcome::new(kind)
        };
        self.say_outcome(&outcome, now);
    }

    /// The turn ends here, by our own word.
    pub(super) fn say_outcome(&mut self, outcome: &Outcome<'_>, now: Instant) {
        let session = self.host.facts.session.clone();
        let origin = Origin {
            session: Some(Str::trusted(&session)).filter(|s| !s.is_empty()),
            ..Origin::default()
        };
        self.say(&Event::new(origin, Kind::Outcome(outcome)));
        self.ended_with(outcome, now);
    }
}

/// Why a turn ends in which the model was called more than so often.
fn over(limit: u64) -> String {
    format!("Reached maximum number of turns ({limit})")
}
