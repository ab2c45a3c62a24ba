//! Callbacks: hooks that live in the host, and are asked of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::matcher::Matcher;
use super::output::{HookOutcome, Said};
use super::{HookEvent, HookForm};
use crate::control_requests::{CLOSED, NOBODY, Unanswered};

/// The control request that asks a callback.
pub const HOOK_CALLBACK: &str = "hook_callback";

/// One of a host's callbacks.
#[derive(Clone, Debug)]
pub struct Callback {
    /// The moment that it wants to hear of.
    pub event: HookEvent,
    pub(super) matcher: Matcher,
    /// The id that the host gave it.
    pub id: String,
    /// How long it may take.
    pub patience: Duration,
}

/// Asking it twice in one moment tells nobody more, whatever group named it.
impl PartialEq for Callback {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Callback {}

/// What became of the question.
#[derive(Clone, Debug, PartialEq)]
pub enum CallbackAnswer {
    /// The host has answered, or says why it has not.
    Answered(Result<Value, Unanswered>),
    /// Its time is over.
    Late,
}

/// How long a callback may take where the host does not say.
const PATIENCE: Duration = Duration::from_secs(600);

/// Why a call does not run whose hook has not answered in time.
const SILENT_GUARD: &str = "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was not executed; \
                            other configured hooks may not have completed.";

impl Callback {
    /// Those of `initialize.hooks`: `{"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h0"], "timeout": 60}]}`, in seconds.
    pub fn read(form: &HookForm, hooks: &Value) -> Vec<Self> {
        let mut callbacks = Vec::new();
        for (name, groups) in hooks.as_object().into_iter().flatten() {
            let Some(event) = form.event(name) else { continue };
            for group in groups.as_array().into_iter().flatten() {
                let Ok(matcher) = Matcher::read(group.get("matcher")) else {
                    tracing::warn!(event = name, "a hook of the host's never runs: its matcher cannot be read");
                    continue;
                };
                let number = group
                    .get("timeout")
                    .and_then(Value::as_f64)
                    .filter(|number| number.is_finite() && *number > 0.0);
                let patience = number.map_or(PATIENCE, |number| Duration::from_secs_f64(number.min(86_400.0)));
                let ids = group.get("hookCallbackIds").and_then(Value::as_array).into_iter().flatten();
                callbacks.extend(ids.filter_map(Value::as_str).map(|id| Self {
                    event,
                    matcher: matcher.clone(),
                    id: id.to_owned(),
                    patience,
                }));
            }
        }
        callbacks
    }

    /// Whether it wants to hear of this moment. `subject` is what its matcher is held against ([`HookEvent::subject`]), where there is one.
    pub fn wants(&self, form: &HookForm, event: HookEvent, subject: Option<&str>) -> bool {
        self.event == event && subject.is_none_or(|subject| self.matcher.fits(subject, form.aliases))
    }

    /// The members of the control request that asks it. `call` is the call that it is about, or an id for want of one.
    pub fn question(&self, payload: &Value, call: &str) -> Vec<(String, Value)> {
        vec![
            ("callback_id".to_owned(), json!(self.id)),
            ("input".to_owned(), payload.clone()),
            ("tool_use_id".to_owned(), json!(call)),
        ]
    }

    /// Adds to what the hooks of a moment say what became of the question.
    pub fn told(&self, form: &HookForm, heard: CallbackAnswer, outcome: &mut HookOutcome) {
        let said = self.said(form, heard);
        outcome.add(self.event, form.name(self.event), said);
    }

    pub(super) fn said(&self, form: &HookForm, heard: CallbackAnswer) -> Said {
        let called = form.name(self.event);
        let why = match heard {
            CallbackAnswer::Answered(Ok(answer)) if nobody(&answer) => return Said::Unheard,
            CallbackAnswer::Answered(Ok(answer)) if answer.is_object() => return Said::Json(answer),
            CallbackAnswer::Answered(Ok(Value::Null)) => return Said::Nothing,
            CallbackAnswer::Answered(Err(Unanswered::Gone)) => return Said::Unheard,
            // Who guards calls and prompts and says nothing has not let them pass (recorded: Claude Code 2.1.332).
            CallbackAnswer::Late if self.event == HookEvent::PreToolUse => return Said::Blocks(SILENT_GUARD.to_owned()),
            CallbackAnswer::Late if self.event == HookEvent::UserPromptSubmit => {
                let waited = self.patience.as_millis();
                return Said::Blocks(format!("{called} hook callback timed out after {waited}ms"));
            }
            CallbackAnswer::Answered(_) => "the SDK host replied with an error or an invalid answer. Its answer",
            CallbackAnswer::Late => "it did not answer in time. That",
        };
        tracing::warn!(hook = self.id, event = called, "a hook callback failed");
        Said::Failed(format!("{called}: Hook callback {} failed: {why} was treated as empty.", self.id))
    }
}

/// Whether it is the session that answers, in the place of a host that is gone.
fn nobody(answer: &Value) -> bool {
    let why = answer.get("message").and_then(Value::as_str);
    why.is_some_and(|why| [NOBODY, CLOSED].contains(&why)) && answer.get("behavior").and_then(Value::as_str) == Some("deny")
}
