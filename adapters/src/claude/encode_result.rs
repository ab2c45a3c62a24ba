//! How a turn ended.

use crate::blocks::api_error;
use crate::event::{Event, Fatal, Limit, Origin, Outcome, OutcomeKind, Place, Scope, StopKind, Usage};
use crate::json::{Out, Raw, Str};

use super::encode::{Encoder, LINE, Line};
use super::encode_stream::word;
use super::encode_system::up_to;
use super::encode_turn::Turn;
use crate::codec::Layout;

/// The stop reason of what the program itself says about a failed call of the model.
const FAILED: &str = "stop_sequence";

impl Encoder {
    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        // What the session has used goes on, whether a line says it or not.
        let usage = outcome.usage.map(|usage| match usage.scope {
            Scope::Session => usage.of_turn(&mut self.spent),
            _ => usage,
        });
        let outcome = &Outcome { usage, ..*outcome };
        // The program's end was told already; what the lack of an outcome made up says nothing new.
        if outcome.synthetic && self.turn.fatal {
            out.merged("the program's own end is the turn's");
        } else if self.style.mode.layout == Layout::Text {
            self.answer(outcome, out);
        } else if self.own() && outcome.word.is_some() {
            self.own_result(event, outcome, out);
        } else {
            self.result(event, outcome, out);
        }
        out.drop_held(&mut self.turn.unknown_stop.1, "no place in the target");
        self.turn = Turn::default();
        self.rounds.clear(out);
        self.frames.forget_round();
    }

    pub(super) fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        let outcome = Outcome {
            error: Some(fatal.message),
            ..Outcome::new(OutcomeKind::Failed(Place::Backend))
        };
        self.outcome(event, &outcome, out);
        self.turn.fatal = true;
    }

    /// Text for people: the answer, or what went wrong.
    fn answer(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let said = if outcome.is_error {
            outcome.error.or(outcome.text)
        } else {
            outcome.text
        };
        self.answer.print(said, out);
        out.lit("\n");
    }

    fn own_result(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        self.begin(out, "{\"type\":\"result\"");
        out.str_if(",\"subtype\":", outcome.word);
        out.lit(if outcome.is_error { ",\"is_error\":true" } else { ",\"is_error\":false" });
        out.raw_if(",\"duration_ms\":", outcome.duration_ms);
        out.raw_if(",\"duration_api_ms\":", outcome.duration_api_ms);
        out.raw_if(",\"num_turns\":", outcome.num_turns.map(|n| Raw::trusted(n.source)));
        self.answer.end(outcome.text.or(Some(Str::EMPTY)), out);
        out.str_if(",\"result\":", outcome.text);
        out.lit(",\"stop_reason\":");
        out.str_or_null(outcome.stop.map(|stop| stop.word));
        out.str_if(",\"session_id\":", event.origin.session);
        out.raw_if(",\"total_cost_usd\":", outcome.cost_usd);
        if outcome.usage.is_some() {
            out.lit(",\"usage\":");
            self.writer.usage(out, outcome.usage.as_ref());
        }
        let (before, behind) = up_to("modelUsage", event.fields);
        self.writer.fields(out, before, LINE);
        out.raw_if(",\"permission_denials\":", outcome.denials);
        out.raw_if(",\"structured_output\":", outcome.structured);
        self.writer.fields(out, behind, LINE);
        if outcome.synthetic {
            out.lit(",\"synthetic\":true");
        }
        self.own_tail(
            out,
            &Origin {
                session: None,
                ..event.origin
            },
        );
        self.end(out);
    }

    /// The result of a turn that another dialect told, or that nobody told.
    fn result(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if !self.shows(Line::Result) {
            return;
        }
        let begun = self.turn.begun || !outcome.synthetic && outcome.word.is_some();
        if begun && !self.own() && !self.turn.opened {
            self.init_again(event, out);
        }
        let (subtype, reason) = words(outcome, self.turn.in_tools);
        outcome.kind.told_as(
            match outcome.kind {
                OutcomeKind::Failed(Place::Protocol) if outcome.synthetic => outcome.kind,
                OutcomeKind::Limit(Limit::Time) | OutcomeKind::Failed(Place::Tool | Place::Protocol) => OutcomeKind::Failed(Place::Backend),
                kind => kind,
            },
            out,
        );
        self.begin(out, "{\"type\":\"result\",\"subtype\":\"");
        out.lit(subtype);
        out.lit(if outcome.is_error {
            "\",\"is_error\":true"
        } else {
            "\",\"is_error\":false"
        });
        number(out, ",\"duration_ms\":", outcome.duration_ms, "/duration_ms");
        number(out, ",\"duration_api_ms\":", outcome.duration_api_ms, "/duration_api_ms");
        out.lit(",\"num_turns\":");
        match outcome.num_turns {
            Some(turns) => {
                out.used(turns.source);
                out.number(turns.value);
            }
            None => {
                out.number(if self.turn.begun { 1 + self.turn.user_lines } else { 0 });
                out.invented("/num_turns", "counted as Claude Code counts: 1 + the user lines of the turn");
            }
        }
        let said = if outcome.is_error {
            outcome.error.or(outcome.text)
        } else {
            outcome.text
        };
        let answer = self.answer.end(said.or((subtype != "success").then_some(Str::EMPTY)), out);
        if subtype == "success" {
            out.lit(",\"result\":");
            match said {
                Some(text) => out.str(text),
                None if !self.shows(Line::Message) => out.str(Str::trusted(&answer)),
                None => {
                    out.str(Str::trusted(&self.turn.text));
                    out.invented("/result", "the turn's last text");
                }
            }
        }
        out.lit(",\"stop_reason\":");
        self.stop_reason(outcome, out);
        self.session_id(out);
        self.total_cost(outcome, out);
        out.lit(",\"usage\":");
        match self.told(event.fields, "usage") {
            Some(usage) => out.raw(usage.value),
            None => {
                let usage = self.turn_usage(outcome, out);
                self.writer.usage(out, usage.as_ref());
            }
        }
        out.lit(",\"modelUsage\":");
        match self.told(event.fields, "modelUsage") {
            Some(by_model) => out.raw(by_model.value),
            None => {
                out.lit("{}");
                out.invented("/modelUsage", "not known; the target's parsers need it");
            }
        }
        out.lit(",\"permission_denials\":");
        match outcome.denials {
            Some(denials) => out.unchecked(denials),
            None => {
                out.lit("[");
                out.lit(&self.turn.denials);
                out.lit("]");
                let why = if self.turn.denials.is_empty() {
                    "not known; the target's parsers need it"
                } else {
                    "the turn's calls whose results say that they were refused"
                };
                out.invented("/permission_denials", why);
            }
        }
        out.unchecked_if(",\"structured_output\":", outcome.structured);
        if subtype != "success" {
            out.lit(",\"errors\":[");
            if let Some(error) = outcome.error.or(outcome.text) {
                out.str(error);
            }
            out.lit("]");
        }
        let is_api = matches!(reason, Some("api_error" | "prompt_too_long"));
        let words = outcome.error.or(outcome.text).filter(|_| is_api);
        let number = outcome.word.filter(|_| is_api);
        if let Some(status) = words.and_then(|error| api_error::named_status(&error.unescape())) {
            out.lit(",\"api_error_status\":");
            out.number(status);
            out.invented("/api_error_status", "it stands in the error's text");
        } else if let Some(status) = number.and_then(|word| api_error::numbered_status(word.as_escaped())) {
            // Some number an error by it.
            out.lit(",\"api_error_status\":");
            out.number(status);
            out.invented("/api_error_status", "it is the error's number");
        }
        if let Some(reason) = reason {
            out.lit(",\"terminal_reason\":\"");
            out.lit(reason);
            out.lit("\"");
        }
        if outcome.synthetic {
            out.lit(",\"synthetic\":true");
        }
        self.added_but(out, event.fields, LINE, &["modelUsage", "usage"]);
        self.uuid(out, event.origin.id);
        self.end(out);
    }

    fn stop_reason(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let refused = (outcome.kind == OutcomeKind::Refused).then_some("refusal");
        match outcome.stop {
            Some(stop) => {
                let word = refused.filter(|_| stop.kind != StopKind::Refusal).or(word(&stop));
                let (unknown, kept) = &mut self.turn.unknown_stop;
                if stop.kind != StopKind::Other {
                    out.used(stop.word.as_escaped());
                } else if word == Some(unknown) {
                    out.release(kept);
                }
                match word {
                    Some(word) => out.str(Str::trusted(word)),
                    None => out.lit("null"),
                }
            }
            None => match refused.or_else(|| self.last_stop(outcome)) {
                Some(word) => {
                    out.str(Str::trusted(word));
                    if refused.is_none() && (self.turn.stop_follows || word == FAILED) {
                        out.invented("/stop_reason", "it follows from what the last reply holds");
                    }
                }
                None => out.lit("null"),
            },
        }
    }

    /// Why the turn's last reply stopped, if the outcome does not say so. The program's own message about a failed call of the model
    /// stops so; a turn that was stopped in its text did not come to a reason.
    fn last_stop(&self, outcome: &Outcome<'_>) -> Option<&str> {
        let last = self.turn.stop.as_deref();
        match outcome.kind {
            _ if !outcome.is_error => last,
            OutcomeKind::Success | OutcomeKind::Failed(Place::Model) | OutcomeKind::Limit(Limit::Tokens) if !outcome.synthetic => Some(FAILED),
            _ => last.filter(|word| *word == "tool_use"),
        }
    }

    /// What the session has cost so far: the program says that with each turn.
    fn total_cost(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let before = self.cost.text();
        if outcome.cost_scope == Scope::Turn {
            self.cost.add(outcome.cost_usd.and_then(Raw::f64));
            if let (Some(_), Some(sum)) = (before, self.cost.text()) {
                out.used_raw(outcome.cost_usd);
                out.lit(",\"total_cost_usd\":");
                return out.lit(&sum);
            }
        }
        number(out, ",\"total_cost_usd\":", outcome.cost_usd, "/total_cost_usd");
    }

    /// The turn's own tokens, or the sum of its rounds.
    fn turn_usage(&self, outcome: &Outcome<'_>, out: &Out) -> Option<Usage<'static>> {
        let Some(told) = &outcome.usage else { return self.turn.usage };
        told.parts().for_each(|source| out.used(source));
        Some(told.detached())
    }
}

/// Claude's subtype and terminal reason for an outcome. A failure of the model is a `success` that is an error.
const fn words(outcome: &Outcome<'_>, in_tools: bool) -> (&'static str, Option<&'static str>) {
    match outcome.kind {
        OutcomeKind::Success if outcome.is_error => ("success", Some("api_error")),
        OutcomeKind::Success | OutcomeKind::Refused => ("success", None),
        OutcomeKind::Limit(Limit::Turns) => ("error_max_turns", Some("max_turns")),
        OutcomeKind::Limit(Limit::Budget) => ("error_max_budget_usd", Some("budget_exhausted")),
        OutcomeKind::Limit(Limit::Retries) => ("error_max_structured_output_retries", None),
        OutcomeKind::Limit(Limit::Tokens) => ("success", Some("prompt_too_long")),
        OutcomeKind::Cancelled if in_tools => ("error_during_execution", Some("aborted_tools")),
        OutcomeKind::Cancelled => ("error_during_execution", Some("aborted_streaming")),
        OutcomeKind::Failed(Place::Model) => ("success", Some("api_error")),
        OutcomeKind::Limit(Limit::Time) | OutcomeKind::Failed(_) => ("error_during_execution", None),
    }
}

#[inline(always)]
fn number(out: &mut Out, key: &str, value: Option<Raw<'_>>, pointer: &'static str) {
    out.lit(key);
    match value.filter(|value| value.f64().is_some()) {
        Some(value) => out.raw(value),
        None => match value
            .and_then(|value| value.string())
            .filter(|text| text.unescape().parse::<f64>().is_ok_and(f64::is_finite) && Raw::trusted(text.as_escaped()).check().is_ok())
        {
            // The RFC's metadata holds numbers as texts.
            Some(text) => out.body(text),
            None => {
                out.lit("0");
                out.invented(pointer, "not known; the target's parsers need a number");
            }
        },
    }
}
