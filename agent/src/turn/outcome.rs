//! The one outcome of a turn.

use std::time::Instant;

use serde_json::{Value, json};

use crate::host::event_writer::{body, line_id};
use crate::model::message::Part;
use crate::model::usage::Tokens;
use crate::model::{ModelError, ModelErrorKind};
use crate::persona::host::{Ended, Reached, interrupted};
use crate::turn::context::Context;
use crate::turn::{End, Finished};
use agentglot_adapters::raw::event::{Block, Count, Limit, Outcome, OutcomeKind, Place, PromptSource, Reply, Scope, Stop, StopKind, Usage};
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_models::catalog;

/// Tells how a turn ended.
pub(crate) fn tell(context: &Context, finished: &Finished, begun: Instant, fields: Vec<(String, Value)>) {
    let mut said = Said::of(context, &finished.end);
    if let Some(told) = reached(&finished.end, &said.text).and_then(|limit| context.host.persona.reached(&limit)) {
        context.host.events.told(&told);
    }
    match &finished.end {
        End::Failed(error) => synthetic(context, &Synthetic::of(error), &said.text),
        End::Refused(_) if context.host.persona.refusal("").is_some() => synthetic(context, &Synthetic::REFUSAL, &said.text),
        _ => {}
    }
    if let End::Interrupted(in_tools) = finished.end
        && !tell_cancelled(context)
        && context.host.persona.facts().tells_interrupts
    {
        let text = Part::Text(interrupted(in_tools).to_owned());
        context.host.events.prompt(&[text], PromptSource::Agent, None, &finished.note);
    }
    let spent = context.model.usage.borrow();
    let tokens = spent.turn;
    let number = |n: u128| n.to_string();
    let (whole, api) = (number(begun.elapsed().as_millis()), number(spent.api.as_millis()));
    let cost = format!("{}", spent.cost());
    let denials = Value::Array(spent.denials.clone()).to_string();
    let structured = context.tools.structured.borrow().as_ref().map(Value::to_string);
    // Whoever reads the text alone finds the answer there too.
    if let Some(structured) = structured.as_ref().filter(|_| said.text.is_empty()) {
        said.text.clone_from(structured);
    }
    let text = body(&said.text);
    // A stream that ends without a reason names none.
    let word = said.stop.take().filter(|(_, word)| !word.is_empty());
    let word = word.as_ref().map(|(kind, word)| (*kind, body(word)));
    let stop = word.as_ref().map(|(kind, word)| Stop {
        kind: *kind,
        word: Str::trusted(word),
    });
    let failed = said.kind != OutcomeKind::Success;
    context.turns.failed.set(failed);
    // A turn that a spent budget ends is one, though the model was not asked.
    let turns = finished.rounds.max(u64::from(matches!(finished.end, End::Budget(_))));
    let outcome = Outcome {
        text: (!failed).then_some(Str::trusted(&text)),
        error: failed.then_some(Str::trusted(&text)),
        duration_ms: Some(Raw::trusted(&whole)),
        duration_api_ms: Some(Raw::trusted(&api)),
        // A command of the agent's own is no turn of the model's.
        num_turns: (!context.host.persona.facts().codec_counts_turns || (finished.rounds == 0 && !matches!(finished.end, End::Interrupted(_))))
            .then_some(Count::derived(turns)),
        cost_usd: Some(Raw::trusted(&cost)),
        usage: Some(if context.host.persona.counts_thread(context.host.launch.format.mode) {
            let mut all = spent.before;
            all += spent.session;
            Usage {
                scope: Scope::Session,
                ..usage(all)
            }
        } else {
            usage(tokens)
        }),
        stop,
        denials: Some(Raw::trusted(&denials)),
        structured: structured.as_deref().map(Raw::trusted),
        synthetic: matches!(finished.end, End::Denied(_)),
        ..Outcome::new(said.kind)
    };
    let mut added = vec![("modelUsage".to_owned(), by_model(context))];
    added.extend(context.host.persona.usage_told(tokens).map(|usage| ("usage".to_owned(), usage)));
    if let Some((name, reason)) = ended(finished).and_then(|ended| context.host.persona.ended(ended)) {
        added.push((name.to_owned(), reason.into()));
    }
    if let End::Deferred(call, input) = &finished.end {
        added.push(("deferred_tool_use".to_owned(), crate::turn::deferred::told(call, input)));
    }
    if let End::Failed(error) = &finished.end
        && let Some(kind) = error.kind_word.as_deref()
    {
        added.extend(
            context
                .host
                .persona
                .facts()
                .tells_error_types
                .then(|| ("api_error_type".to_owned(), kind.into())),
        );
    }
    added.extend(fields);
    context.host.events.outcome(&outcome, &added, &line_id());
}

/// How it ended, where that does not follow from the kind of the outcome. A turn without the model has no such word.
fn ended(finished: &Finished) -> Option<Ended> {
    match &finished.end {
        End::Deferred(..) => Some(Ended::Deferred),
        End::Unavailable(_) => Some(Ended::Unavailable),
        End::Held(_) => Some(Ended::Held),
        End::Refused(_) => Some(Ended::Refused),
        End::Unstructured(..) => Some(Ended::Unstructured),
        End::Done(..) if finished.held_at_stop => Some(Ended::HeldAtStop),
        End::Done(..) if finished.rounds > 0 => Some(Ended::Done),
        _ => None,
    }
}

/// Tells that the host has cancelled a prompt, if its dialect has an event for it.
pub(crate) fn tell_cancelled(context: &Context) -> bool {
    let told = context.host.persona.cancelled();
    told.inspect(|told| context.host.events.told(told)).is_some()
}

/// The limit at which a turn ended.
fn reached<'a>(end: &End, text: &'a str) -> Option<Reached<'a>> {
    match end {
        End::Rounds(most) => Some(Reached::Rounds(*most)),
        End::Failed(error) if error.kind == ModelErrorKind::TooLong => Some(Reached::Context(text)),
        _ => None,
    }
}

struct Said {
    kind: OutcomeKind,
    text: String,
    stop: Option<(StopKind, String)>,
}

impl Said {
    fn of(context: &Context, end: &End) -> Self {
        let (kind, text, stop) = match end {
            End::Done(_, stop @ Some((StopKind::Length, _))) if let Some(why) = context.host.persona.facts().cut_off => {
                (OutcomeKind::Limit(Limit::Tokens), why.to_owned(), stop.clone())
            }
            End::Done(text, stop) => (OutcomeKind::Success, text.clone(), stop.clone()),
            End::Refused(text) => (OutcomeKind::Refused, text.clone(), Some((StopKind::Refusal, "refusal".to_owned()))),
            End::Rounds(limit) => (
                OutcomeKind::Limit(Limit::Turns),
                format!("Reached maximum number of turns ({limit})"),
                None,
            ),
            End::Budget(limit) => (OutcomeKind::Limit(Limit::Budget), format!("Reached maximum budget (${limit})"), None),
            End::Calls(limit, observed) => (
                OutcomeKind::Limit(Limit::Budget),
                format!("Run aborted: tool-call budget of {limit} exceeded (--max-tool-calls); observed {observed}."),
                None,
            ),
            End::Time(limit) => (
                OutcomeKind::Limit(Limit::Time),
                format!("Run aborted: wall-clock budget of {}s exceeded (--max-wall-time).", limit.as_secs_f64()),
                None,
            ),
            End::Interrupted(_) => (OutcomeKind::Cancelled, "stopped by the host".to_owned(), None),
            End::Refusing(why) => (OutcomeKind::Failed(Place::Protocol), why.clone(), None),
            End::Stopped(why) => (OutcomeKind::Cancelled, why.clone(), None),
            End::Denied(why) => (OutcomeKind::Failed(Place::Tool), why.clone(), None),
            // Such a turn ends well, behind the results of its round.
            End::Held(_) => (OutcomeKind::Success, String::new(), Some((StopKind::Tools, "tool_use".to_owned()))),
            End::Deferred(..) => (OutcomeKind::Success, String::new(), Some((StopKind::Other, "tool_deferred".to_owned()))),
            End::Unavailable(call) => (
                OutcomeKind::Failed(Place::Tool),
                format!(
                    "The call of {} that was put off cannot be gone on with: there is no such tool any more",
                    call.name
                ),
                Some((StopKind::Other, "tool_deferred_unavailable".to_owned())),
            ),
            End::Failed(error) if error.kind == ModelErrorKind::TooLong && context.host.persona.facts().limits_context => {
                (OutcomeKind::Limit(Limit::Tokens), context.host.persona.failure(error), None)
            }
            End::Failed(error) => (OutcomeKind::Failed(Place::Model), context.host.persona.failure(error), None),
            End::Unstructured(tries, why) => {
                let why = why.as_ref().map(|why| format!(" — last StructuredOutput error: {why}"));
                let text = format!(
                    "Failed to provide valid structured output after {tries} attempts{}",
                    why.unwrap_or_default()
                );
                (OutcomeKind::Limit(Limit::Retries), text, None)
            }
        };
        Self { kind, text, stop }
    }
}

/// What a message that stands for a reply says of the reason.
pub(crate) struct Synthetic<'a> {
    word: &'static str,
    status: Option<u16>,
    /// The API's word.
    kind: Option<&'a str>,
}

impl<'a> Synthetic<'a> {
    /// In Claude's word.
    pub(crate) const fn word(&self) -> &'static str {
        self.word
    }

    const REFUSAL: Self = Self {
        word: "invalid_request",
        status: None,
        kind: None,
    };

    pub(crate) fn of(error: &'a ModelError) -> Self {
        let word = match error.kind {
            ModelErrorKind::Authentication => "authentication_failed",
            ModelErrorKind::Billing => "billing_error",
            ModelErrorKind::RateLimit => "rate_limit",
            ModelErrorKind::TooLong => "invalid_request",
            ModelErrorKind::Overloaded | ModelErrorKind::Server => "server_error",
            _ if error.is_of_unknown_model() => "model_not_found",
            _ => "unknown",
        };
        Self {
            word,
            status: error.status,
            kind: error.kind_word.as_deref(),
        }
    }
}

/// The message that stands for the reply that did not come.
fn synthetic(context: &Context, about: &Synthetic<'_>, text: &str) {
    let Synthetic { word, status, kind } = *about;
    // The session has its conversation back by now; without it nothing is kept.
    if let Ok(conversation) = context.conversation.try_borrow() {
        crate::conversation::transcript::failure(&conversation, text, word, status);
    }
    let text = body(text);
    let blocks = [Block::Text {
        text: Str::trusted(&text),
        fields: &[],
    }];
    let id = line_id();
    let reply = Reply {
        id: Some(Str::trusted(&id)),
        blocks: &blocks,
        error: Some(Str::trusted(word)),
        last: true,
        ..Reply::default()
    };
    if context.host.persona.facts().tells_failures {
        let mut added = Vec::new();
        if context.host.persona.facts().tells_error_types {
            added.push(("is_api_error_message", json!(true)));
            added.extend(status.map(|status| ("api_error_status", json!(status))));
            added.extend(kind.map(|kind| ("api_error_type", json!(kind))));
        }
        context.host.events.reply_with(&reply, &line_id(), &added);
    }
}

fn usage(tokens: Tokens) -> Usage<'static> {
    Usage {
        input: Some(Count::derived(tokens.input)),
        output: Some(Count::derived(tokens.output)),
        cache_read: Some(Count::derived(tokens.cache_read)),
        cache_write: Some(Count::derived(tokens.cache_write)),
        scope: Scope::Turn,
        ..Usage::default()
    }
}

/// Tokens and cost of the whole session by model.
pub(crate) fn by_model(context: &Context) -> Value {
    let spent = context.model.usage.borrow();
    let models = spent.models.iter().map(|(model, spent)| {
        let about = json!({
            "inputTokens": spent.tokens.input, "outputTokens": spent.tokens.output, "cacheReadInputTokens": spent.tokens.cache_read,
            "cacheCreationInputTokens": spent.tokens.cache_write, "webSearchRequests": 0, "costUSD": spent.cost,
            "contextWindow": crate::model::window(model), "maxOutputTokens": catalog().model(model).and_then(|known| known.output).unwrap_or(32_000),
        });
        (model.clone(), about)
    });
    Value::Object(models.collect())
}
