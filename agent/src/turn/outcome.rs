//! The one outcome of a turn.

use std::time::Instant;

use serde_json::{Value, json};

use crate::host::event_writer::{body, line_id};
use crate::model::message::Part;
use crate::model::usage::Tokens;
use crate::model::{ModelError, ModelErrorKind};
use crate::turn::context::Context;
use crate::turn::{Came, End};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{
    Block, Count, Kind, Limit, Outcome, OutcomeKind, Place, PromptSource, Reply, Scope, Stop, StopKind, Topic, Usage,
};
use agentglot_adapters::raw::json::{Raw, Str};

/// Tells how a turn ended.
pub(crate) fn tell(core: &Context, came: &Came, begun: Instant, fields: Vec<(String, Value)>) {
    let mut said = Said::of(core, &came.end);
    if core.host.dialect == Dialect::Qwen {
        event(core, &came.end, &said.text);
    }
    if let End::Failed(error) = &came.end {
        synthetic(core, error, &said.text);
    }
    if matches!(came.end, End::Interrupted(_)) && core.host.dialect == Dialect::Qwen {
        tell_cancelled(core);
    } else if let End::Interrupted(in_tools) = came.end {
        let text = if in_tools {
            "[Request interrupted by user for tool use]"
        } else {
            "[Request interrupted by user]"
        };
        core.host
            .events
            .prompt(&[Part::Text(text.to_owned())], PromptSource::Agent, None, &line_id());
    }
    let spent = core.model.usage.borrow();
    let tokens = spent.turn;
    let number = |n: u128| n.to_string();
    let (whole, api) = (number(begun.elapsed().as_millis()), number(spent.api.as_millis()));
    let cost = format!("{}", spent.cost());
    let denials = Value::Array(spent.denials.clone()).to_string();
    let structured = core.tools.structured.borrow().as_ref().map(Value::to_string);
    let text = body(&said.text);
    let word = said.stop.take();
    let word = word.as_ref().map(|(kind, word)| (*kind, body(word)));
    let stop = word.as_ref().map(|(kind, word)| Stop {
        kind: *kind,
        word: Str::trusted(word),
    });
    let failed = said.kind != OutcomeKind::Success;
    let outcome = Outcome {
        text: (!failed).then_some(Str::trusted(&text)),
        error: failed.then_some(Str::trusted(&text)),
        duration_ms: Some(Raw::trusted(&whole)),
        duration_api_ms: Some(Raw::trusted(&api)),
        // Claude Code counts messages, which its codec knows; a command of its own is no turn of the model's.
        num_turns: (core.host.dialect != Dialect::Claude || came.rounds == 0).then_some(Count::derived(came.rounds)),
        cost_usd: Some(Raw::trusted(&cost)),
        usage: Some(usage(tokens)),
        stop,
        denials: Some(Raw::trusted(&denials)),
        structured: structured.as_deref().map(Raw::trusted),
        synthetic: matches!(came.end, End::Denied(_)),
        ..Outcome::new(said.kind)
    };
    let mut added = vec![("modelUsage".to_owned(), by_model(core))];
    if core.host.dialect == Dialect::Claude {
        added.extend(reason(came).map(|reason| ("terminal_reason".to_owned(), reason.into())));
    }
    if let End::Deferred(call, input) = &came.end {
        added.push(("deferred_tool_use".to_owned(), crate::turn::deferred::told(call, input)));
    }
    added.extend(fields);
    core.host.events.outcome(&outcome, &added, &line_id());
}

/// Claude's `terminal_reason`, where it does not follow from the kind of the outcome. A turn without the model has none.
fn reason(came: &Came) -> Option<&'static str> {
    match &came.end {
        End::Deferred(..) => Some("tool_deferred"),
        End::Unavailable(_) => Some("tool_deferred_unavailable"),
        End::Held(_) => Some("hook_stopped"),
        End::Done(..) | End::Refused(_) if came.rounds > 0 => Some("completed"),
        _ => None,
    }
}

/// The RFC's event behind a prompt that the host has cancelled.
pub(crate) fn tell_cancelled(core: &Context) {
    core.host
        .events
        .notice("USER_CANCELLED", Topic::Cancelled, Some("User cancelled the request."), None);
}

/// The RFC tells a limit as an event of its own before the turn ends.
fn event(core: &Context, end: &End, text: &str) {
    match end {
        End::Rounds(most) => {
            let message = format!("The session has reached the maximum number of turns: {most}.");
            let data = json!({"max_session_turns": most});
            core.host.events.notice("MaxSessionTurns", Topic::Limit, Some(&message), Some(&data));
        }
        End::Failed(error) if error.kind == ModelErrorKind::TooLong => {
            let text = text.trim_start_matches("QWEN_MODEL_ERROR: ");
            core.host.events.notice("SessionTokenLimitExceeded", Topic::Limit, Some(text), None);
        }
        _ => {}
    }
}

struct Said {
    kind: OutcomeKind,
    text: String,
    stop: Option<(StopKind, String)>,
}

impl Said {
    fn of(core: &Context, end: &End) -> Self {
        let (kind, text, stop) = match end {
            End::Done(text, stop) => (OutcomeKind::Success, text.clone(), stop.clone()),
            End::Refused(text) => (OutcomeKind::Refused, text.clone(), Some((StopKind::Refusal, "refusal".to_owned()))),
            End::Rounds(limit) => (
                OutcomeKind::Limit(Limit::Turns),
                format!("Reached maximum number of turns ({limit})"),
                None,
            ),
            End::Budget(limit) => (OutcomeKind::Limit(Limit::Budget), format!("Reached maximum budget (${limit})"), None),
            End::Interrupted(_) => (OutcomeKind::Cancelled, "stopped by the host".to_owned(), None),
            End::Refusing(why) => (OutcomeKind::Failed(Place::Protocol), why.clone(), None),
            End::Stopped(why) => (OutcomeKind::Cancelled, why.clone(), None),
            End::Denied(why) => (OutcomeKind::Failed(Place::Tool), why.clone(), None),
            // Claude Code ends such a turn well, behind the results of its round.
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
            End::Failed(error) => (OutcomeKind::Failed(Place::Model), words(core, error), None),
            End::Unstructured(tries) => (
                OutcomeKind::Limit(Limit::Retries),
                format!("Failed to provide valid structured output after {tries} attempts"),
                None,
            ),
        };
        Self { kind, text, stop }
    }
}

/// A failure in the words that hosts look for.
fn words(core: &Context, error: &ModelError) -> String {
    use agentglot_adapters::raw::codec::Dialect::{Claude, Qwen, QwenCode, Tricode};
    // What a server says of itself often begins with the status that it has already told.
    let message = match error.status {
        Some(status) => error.message.strip_prefix(&format!("{status} ")).unwrap_or(&error.message),
        None => &error.message,
    };
    match (core.host.dialect, error.status) {
        (Claude, Some(status)) => format!("API Error: {status} {message}"),
        (Claude, None) => format!("API Error: {}", error.message),
        (Qwen, Some(status)) => format!("QWEN_MODEL_ERROR: [API Error: {status} {message}]"),
        (Qwen, None) => format!("QWEN_MODEL_ERROR: [API Error: {}]", error.message),
        (QwenCode, Some(status)) => format!("[API Error: {status} {message}]"),
        (QwenCode, None) => format!("[API Error: {}]", error.message),
        (Tricode, Some(status)) => format!("OpenAI API error: Error code: {status} - {message}"),
        (Tricode, None) if error.kind == ModelErrorKind::Malformed => {
            tracing::warn!("{}", error.message);
            "OpenAI API error: Invalid response from API".to_owned()
        }
        (Tricode, None) => format!("OpenAI API error: {}", error.message),
        _ => error.message.clone(),
    }
}

/// The message that stands for the reply that did not come.
fn synthetic(core: &Context, error: &ModelError, text: &str) {
    let word = match error.kind {
        ModelErrorKind::Authentication => "authentication_failed",
        ModelErrorKind::Billing => "billing_error",
        ModelErrorKind::RateLimit => "rate_limit",
        ModelErrorKind::TooLong => "invalid_request",
        ModelErrorKind::Overloaded | ModelErrorKind::Server => "server_error",
        _ => "unknown",
    };
    // The session has its conversation back by now; without it nothing is kept.
    if let Ok(conversation) = core.conversation.try_borrow() {
        crate::conversation::transcript::failure(&conversation, text, word, error.status);
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
    if core.host.dialect == Dialect::Claude {
        core.host.events.say(Kind::Reply(&reply), None, Some(&line_id()));
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

/// Tokens and cost of the whole session by model, as Claude Code tells them.
fn by_model(core: &Context) -> Value {
    let spent = core.model.usage.borrow();
    let models = spent.models.iter().map(|(model, spent)| {
        let about = json!({
            "inputTokens": spent.tokens.input, "outputTokens": spent.tokens.output, "cacheReadInputTokens": spent.tokens.cache_read,
            "cacheCreationInputTokens": spent.tokens.cache_write, "webSearchRequests": 0, "costUSD": spent.cost,
            "contextWindow": crate::model::window(model),
        });
        (model.clone(), about)
    });
    Value::Object(models.collect())
}
