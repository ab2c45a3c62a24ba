//! The end of a turn: `result`.

use super::super::{ERROR, end_of, why};
use super::thread::inclusive;
use super::{COUNTED, Encoder};
use crate::event::{At, Event, Limit, Outcome, OutcomeKind, Scope, Usage};
use crate::json::{Out, Raw, Shape, Str};

/// What is remembered of the turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The session's facts were written.
    pub(super) init: bool,
    /// Model calls of the main thread.
    pub(super) rounds: u64,
    /// The last text of the main thread, as the body of a JSON string.
    pub(super) text: String,
    /// What comes next begins another text.
    hushed: bool,
    /// The sum of the rounds' usages, for sources whose outcome has none.
    spent: Spent,
}

/// Tokens, with the cache counted as input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    input: u64,
    output: u64,
    cache_read: Option<u64>,
    total: u64,
}

impl Spent {
    fn of(usage: &Usage<'_>) -> Self {
        let usage = inclusive(usage.detached());
        let number = |count: Option<crate::event::Count<'_>>| count.map_or(0, |count| count.value);
        let (input, output) = (number(usage.input), number(usage.output));
        let total = usage.total.map_or(input.saturating_add(output), |total| total.value);
        Self {
            input,
            output,
            cache_read: usage.cache_read.map(|count| count.value),
            total,
        }
    }

    fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.total = self.total.saturating_add(more.total);
        if let Some(more) = more.cache_read {
            self.cache_read = Some(self.cache_read.unwrap_or(0).saturating_add(more));
        }
    }
}

impl Turn {
    /// The main thread says a text.
    pub(super) fn say(&mut self, text: Str<'_>, out: &Out) {
        if std::mem::take(&mut self.hushed) {
            self.text.clear();
        }
        self.text.push_str(text.as_escaped());
        out.used(text.as_escaped());
    }

    /// What the main thread says next is another text.
    pub(super) const fn hush(&mut self) {
        self.hushed = true;
    }

    /// A round is over.
    pub(super) fn add_round(&mut self, usage: &Usage<'_>) {
        self.spent.add(Spent::of(usage));
    }
}

impl Encoder {
    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        for thread in self.threads.all() {
            thread.stop(&mut self.core, out);
        }
        self.threads.end_all();
        self.core.holding.clear();
        if self.core.own && outcome.word.is_some() {
            self.own_outcome(event, outcome, out);
        } else {
            if self.core.lacks_init(outcome.is_error) {
                self.core.missing_init(out);
            }
            self.result(event, outcome, out);
        }
        self.core.turn = Turn::default();
    }

    /// The program ended without an outcome but said why.
    pub(super) fn last_words(&mut self, out: &mut Out) {
        if self.core.fatal.is_some() {
            let outcome = Outcome {
                synthetic: true,
                ..Outcome::new(OutcomeKind::Failed(crate::event::Place::Backend))
            };
            out.note(crate::event::Fate::Invented, "", "a result for the error that ended the program");
            self.result(
                &Event::new(crate::event::Origin::default(), crate::event::Kind::Outcome(&outcome)),
                &outcome,
                out,
            );
        }
    }

    /// A result of this dialect: what it has, as it is.
    fn own_outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let core = &mut self.core;
        let writer = core.writer.0;
        core.pen.open("result", out);
        out.str_if(",\"subtype\":", outcome.word);
        out.lit(",\"uuid\":\"");
        core.pen.id(event.origin.id, out);
        out.lit("\",\"session_id\":\"");
        out.lit(core.pen.session_id(out).as_escaped());
        out.lit(if outcome.is_error {
            "\",\"is_error\":true"
        } else {
            "\",\"is_error\":false"
        });
        out.raw_if(",\"duration_ms\":", outcome.duration_ms);
        out.raw_if(",\"duration_api_ms\":", outcome.duration_api_ms);
        out.raw_if(",\"num_turns\":", outcome.num_turns.map(|count| Raw::trusted(count.source)));
        out.str_if(",\"result\":", outcome.text);
        if let Some(usage) = &outcome.usage {
            out.lit(",\"usage\":");
            writer.usage(out, Some(usage));
        }
        out.raw_if(",\"permission_denials\":", outcome.denials);
        out.raw_if(",\"structured_result\":", outcome.structured);
        if let Some(error) = outcome.error {
            out.lit(",\"error\":{\"message\":");
            out.str(error);
            writer.fields(out, event.fields, At::Part(ERROR));
            out.lit("}");
        }
        if outcome.synthetic {
            out.lit(",\"synthetic\":true");
        }
        writer.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }

    /// The result of another dialect's turn.
    fn result(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let fatal = self.core.fatal.take();
        let core = &mut self.core;
        let failed = outcome.is_error;
        core.pen.open("result", out);
        out.lit(match (failed, outcome.kind) {
            (false, _) => ",\"subtype\":\"success\",\"uuid\":\"",
            (true, OutcomeKind::Limit(Limit::Turns)) => ",\"subtype\":\"error_max_turns\",\"uuid\":\"",
            (true, _) => ",\"subtype\":\"error_during_execution\",\"uuid\":\"",
        });
        core.pen.id(event.origin.id, out);
        out.lit("\",\"session_id\":\"");
        out.lit(core.pen.session_id(out).as_escaped());
        out.lit(if failed { "\",\"is_error\":true" } else { "\",\"is_error\":false" });
        milliseconds(",\"duration_ms\":", "/duration_ms", outcome.duration_ms, out);
        milliseconds(",\"duration_api_ms\":", "/duration_api_ms", outcome.duration_api_ms, out);
        out.lit(",\"num_turns\":");
        match outcome.num_turns {
            Some(count) => {
                out.used(count.source);
                out.number(count.value);
            }
            None => {
                out.invented("/num_turns", "counted: the turn's model calls");
                out.number(core.turn.rounds);
            }
        }
        if !failed {
            out.lit(",\"result\":");
            out.str(outcome.text.unwrap_or(Str::trusted(&core.turn.text)));
        }
        self.usage(outcome, out);
        let denials = outcome.denials.filter(|denials| denials.shape() == Some(Shape::Array));
        out.lit(",\"permission_denials\":");
        match denials {
            Some(denials) => out.unchecked(denials),
            None => {
                out.invented("/permission_denials", "not known; the target's parsers need a list");
                out.lit("[]");
            }
        }
        out.unchecked_if(",\"structured_result\":", outcome.structured);
        if failed {
            out.lit(",\"error\":{\"message\":");
            match (message(outcome, fatal.as_deref()), outcome.kind) {
                // The word by which the program's hosts know a cancelled turn.
                (message, OutcomeKind::Cancelled) => cancelled(message, out),
                // The subtype says it.
                (Some(message), OutcomeKind::Limit(Limit::Turns)) => out.str(message),
                (message, kind) => {
                    // An agent of ours says what the program says.
                    let own = end_of(kind).filter(|_| !self.core.agent || message.is_none());
                    out.str(Str::trusted(&kind.message(message, own, why, "/error/message", out)));
                }
            }
            out.lit("}");
        }
        if outcome.synthetic {
            out.lit(",\"synthetic\":true");
        }
        self.core.pen.close(out);
    }

    /// The usage of the session so far.
    fn usage(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let core = &mut self.core;
        let turn = match &outcome.usage {
            Some(usage) => {
                usage.said_by(COUNTED).for_each(|source| out.used(source));
                if usage.scope == Scope::Session && !usage.is_blank() {
                    core.spent = Spent::default();
                }
                Spent::of(usage)
            }
            None => core.turn.spent,
        };
        core.spent.add(turn);
        let spent = core.spent;
        if spent == Spent::default() {
            if outcome.usage.is_none() {
                out.invented("/usage", "not known; the target's parsers need numbers");
            }
            return out.lit(",\"usage\":{\"input_tokens\":0,\"output_tokens\":0}");
        }
        out.lit(",\"usage\":{\"input_tokens\":");
        out.number(spent.input);
        out.lit(",\"output_tokens\":");
        out.number(spent.output);
        if let Some(read) = spent.cache_read {
            out.lit(",\"cache_read_input_tokens\":");
            out.number(read);
        }
        out.lit(",\"total_tokens\":");
        out.number(spent.total);
        out.lit("}");
    }
}

/// The words by which the program's hosts know a cancelled turn.
fn cancelled(message: Option<Str<'_>>, out: &mut Out) {
    const WORDS: &str = "Operation cancelled.";
    match message {
        Some(message) if message.is(WORDS) => out.str(message),
        _ => {
            out.invented("/error/message", "the words by which hosts know a cancelled turn");
            out.text(WORDS);
        }
    }
}

fn milliseconds(key: &str, pointer: &'static str, value: Option<Raw<'_>>, out: &mut Out) {
    out.lit(key);
    match value.filter(|value| value.f64().is_some()) {
        Some(value) => out.raw(value),
        None => {
            out.invented(pointer, "not known; the target's parsers need a number");
            out.lit("0");
        }
    }
}

/// What the source says of a failure.
fn message<'m>(outcome: &Outcome<'m>, fatal: Option<&'m str>) -> Option<Str<'m>> {
    let fatal = fatal.map(Str::trusted).filter(|_| outcome.synthetic || outcome.error.is_none());
    fatal.or(outcome.error).or(outcome.text).filter(|text| !text.is_empty())
}
