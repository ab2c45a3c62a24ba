//! How runs end.

use std::collections::BTreeMap;

use super::encode::{Encoder, ours};
use super::usage;
use crate::event::{Event, Fatal, Limit, Outcome, OutcomeKind, Place, Scope, Usage};
use crate::json::{Out, Str};

impl Encoder {
    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if std::mem::take(&mut self.failed) && self.run.is_none() {
            // What the session has used goes on, whether a line says it or not.
            if let Some(usage) = outcome.usage.filter(|usage| usage.scope == Scope::Session) {
                usage.of_turn(&mut self.total);
            }
            return out.merged("the error was told already");
        }
        self.need_run(event.origin.turn, out);
        self.answer(outcome, out);
        self.end(outcome, out);
    }

    pub(super) fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        self.need_run(event.origin.turn, out);
        let outcome = Outcome {
            error: Some(fatal.message),
            ..Outcome::new(OutcomeKind::Failed(Place::Backend))
        };
        self.end(&outcome, out);
        self.failed = true;
    }

    /// A run in which nothing was said.
    pub(super) fn end_unsaid(&mut self, out: &mut Out) {
        self.end(&Outcome::new(OutcomeKind::Success), out);
    }

    /// The answer that the outcome says again; one that nothing said before is said now.
    fn answer(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let Some(text) = outcome.answer(out).filter(|text| !text.is_empty() && !outcome.is_error) else {
            return;
        };
        let said = Str::trusted(self.run.as_ref().map_or("", |run| &run.said));
        if said.as_escaped().contains(text.as_escaped()) || said.unescape().contains(&*text.unescape()) {
            return out.used(text.as_escaped());
        }
        self.say(text, out);
    }

    fn end(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        self.end_subagents(out);
        let Some(run) = self.run.take() else { return };
        let total = match outcome.usage {
            Some(usage) if usage.scope == Scope::Session => Some(usage.of_turn(&mut self.total)),
            usage => usage,
        };
        let failed = !matches!(outcome.kind, OutcomeKind::Success | OutcomeKind::Cancelled);
        if failed {
            self.begin("RUN_ERROR", "", out);
            out.lit(",\"message\":");
            match outcome.error.or(outcome.text).filter(|text| !text.is_empty()) {
                Some(message) => out.str(message),
                None => {
                    out.text(message(outcome.kind));
                    out.invented("/message", "the source does not say what went wrong");
                }
            }
            out.lit(",\"code\":\"");
            out.lit(outcome.kind.as_str());
            out.lit("\"");
            out.invented("/code", "the source's outcome in our words");
        } else {
            self.begin("RUN_FINISHED", "", out);
            out.lit(",\"threadId\":\"");
            out.lit(&run.session);
            out.lit("\",\"runId\":\"");
            out.lit(&run.id);
            out.lit("\"");
            out.unchecked_if(",\"result\":", outcome.structured);
            if outcome.kind == OutcomeKind::Cancelled {
                out.lit(",\"outcome\":{\"type\":\"cancelled\"}");
            } else if run.asked.is_empty() {
                out.lit(",\"outcome\":{\"type\":\"success\"}");
            } else {
                interrupts(&run.asked, out);
            }
        }
        tokens(total.as_ref(), &run.models, out);
        ours(out, |out| {
            if !failed {
                out.str_if(",\"error\":", outcome.error.filter(|text| !text.is_empty()));
            }
            if outcome.synthetic {
                out.lit(",\"synthetic\":true");
            }
            match outcome.word {
                Some(word) if !failed && word.is("success") => out.used(word.as_escaped()),
                word => out.str_if(",\"word\":", word),
            }
            out.str_if(",\"stopReason\":", outcome.stop.map(|stop| stop.word));
            out.unchecked_if(",\"durationMs\":", outcome.duration_ms);
            out.unchecked_if(",\"durationApiMs\":", outcome.duration_api_ms);
            if let Some(turns) = outcome.num_turns {
                out.used(turns.source);
                out.lit(",\"numTurns\":");
                out.number(turns.value);
            }
            out.unchecked_if(",\"costUsd\":", outcome.cost_usd);
            if outcome.cost_usd.is_some() && outcome.cost_scope == Scope::Session {
                out.lit(",\"costOf\":\"session\"");
            }
            out.unchecked_if(",\"denials\":", outcome.denials);
            out.str_if(",\"requestId\":", outcome.request_id);
        });
        out.lit("}\n");
        out.carried();
    }
}

/// What the run waits for: permissions that nobody gave.
fn interrupts(asked: &BTreeMap<String, String>, out: &mut Out) {
    out.lit(",\"outcome\":{\"type\":\"interrupt\",\"interrupts\":[");
    for (n, (call, id)) in asked.iter().enumerate() {
        out.lit(if n > 0 { ",{\"id\":\"" } else { "{\"id\":\"" });
        out.lit(id);
        out.lit("\",\"reason\":\"");
        out.lit(super::run::CAN_USE_TOOL);
        out.lit("\",\"toolCallId\":\"");
        out.lit(call);
        out.lit("\"}");
    }
    out.lit("]}");
    out.invented("/outcome/type", "what was asked has no answer");
}

/// Writes what the run took: by model, where the rounds say as much as the outcome does.
fn tokens(total: Option<&Usage<'_>>, models: &BTreeMap<String, Usage<'static>>, out: &mut Out) {
    let sum = |of: fn(&Usage<'static>) -> Option<u64>| models.values().filter_map(of).fold(0u64, u64::saturating_add);
    let agrees = |total: &Usage<'_>| {
        let (input, output) = (sum(Usage::prompt_tokens), sum(Usage::written_tokens));
        total.prompt_tokens() == Some(input) && total.written_tokens() == Some(output)
    };
    match total {
        Some(total) if total.sources().next().is_none() => {}
        Some(total) if models.len() < 2 || !agrees(total) => {
            let model = models.keys().next().filter(|_| models.len() == 1);
            out.lit(",\"usage\":[");
            usage::write(total, model.map(|model| Str::trusted(model)), out);
            out.lit("]");
        }
        total => {
            if models.is_empty() {
                return;
            }
            if let Some(total) = total {
                total.parts().for_each(|source| out.used(source));
            }
            out.lit(",\"usage\":");
            for (n, (model, sum)) in models.iter().enumerate() {
                out.lit(if n > 0 { "," } else { "[" });
                usage::write(sum, Some(Str::trusted(model)), out);
            }
            out.lit("]");
        }
    }
}

/// What is said of a run that failed where the source says nothing.
const fn message(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Refused => "the model refused",
        OutcomeKind::Limit(Limit::Turns) => "the limit of rounds was reached",
        OutcomeKind::Limit(Limit::Budget) => "the budget was spent",
        OutcomeKind::Limit(Limit::Tokens) => "the limit of tokens was reached",
        OutcomeKind::Limit(Limit::Retries) => "too many attempts failed",
        OutcomeKind::Limit(Limit::Time) => "the time was up",
        OutcomeKind::Success | OutcomeKind::Cancelled | OutcomeKind::Failed(_) => "the run failed",
    }
}
