//! What hosts of the RFC are told: events beside the conversation, displays of calls.

use agentglot_adapters::raw::event::{At, Topic};
use serde_json::{Value, json};

use super::confirmation;
use crate::model::ModelError;
use crate::persona::host::{CallShown, Compacted, HostFacts, HostPersona, Reached, SessionFacts, SubagentShown, Told, with_status};
use crate::tools::{Access, Spec};

/// What stands before the message of a model that failed.
const MODEL_ERROR: &str = "QWEN_MODEL_ERROR: ";

#[derive(Debug)]
pub(super) struct RfcHost;

static FACTS: HostFacts = HostFacts {
    // Every turn answers a request.
    begins_turns: false,
    is_timed: true,
    session_members_at: At::Part("/metadata"),
    capabilities: Some(r#""can_use_tool command_hint heartbeat cancel""#),
    introduces_first: true,
    requests_name_turns: true,
    shows_calls: true,
    ..HostFacts::PLAIN
};

impl HostPersona for RfcHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    fn failure(&self, error: &ModelError) -> String {
        format!("{MODEL_ERROR}[API Error: {}]", with_status(error))
    }

    fn session_members(&self, facts: &SessionFacts<'_>) -> Vec<(&'static str, Value)> {
        vec![("input_format", json!("stream-json")), ("output_format", json!(facts.output))]
    }

    fn retried(&self, message: Option<&str>, metrics: &Value) -> Option<Told> {
        Some(Told::notice("Retry", Topic::Retry, message, Some(metrics.clone())))
    }

    fn compacted(&self, compacted: &Compacted<'_>) -> Told {
        let Compacted { trigger, before, after, .. } = compacted;
        let data = json!({"trigger": trigger, "original_tokens": before, "compressed_tokens": after});
        let message = format!(
            "This conversation came near the most tokens that the model reads. A compressed context will be sent from now on \
             (compressed from {before} to {after} tokens)."
        );
        Told::notice("ChatCompressed", Topic::Compaction, Some(&message), Some(data))
    }

    fn confirmation(&self, spec: &Spec, input: &Value, access: &Access, diff: Option<&str>) -> Value {
        confirmation::confirmation(spec, input, access, diff)
    }

    fn subagent_shown(&self, shown: &SubagentShown<'_>) -> Value {
        let calls: Vec<Value> = shown.calls.iter().map(call).collect();
        json!({
            "kind": "task_execution",
            "subagentName": shown.kind,
            "taskDescription": shown.task,
            "status": "running",
            "toolCalls": calls,
        })
    }

    fn cancelled(&self) -> Option<Told> {
        Some(Told::notice(
            "USER_CANCELLED",
            Topic::Cancelled,
            Some("User cancelled the request."),
            None,
        ))
    }

    fn cancelled_note(&self, _: bool) -> Option<&'static str> {
        Some("Request cancelled.")
    }

    fn reached(&self, limit: &Reached<'_>) -> Option<Told> {
        Some(match limit {
            Reached::Rounds(most) => {
                let message = format!("The session has reached the maximum number of turns: {most}.");
                Told::notice("MaxSessionTurns", Topic::Limit, Some(&message), Some(json!({"max_session_turns": most})))
            }
            Reached::Context(text) => {
                let text = text.trim_start_matches(MODEL_ERROR);
                Told::notice("SessionTokenLimitExceeded", Topic::Limit, Some(text), None)
            }
        })
    }
}

fn call(call: &CallShown<'_>) -> Value {
    let mut display = json!({"callId": call.id, "name": call.name, "status": call.status, "args": call.input});
    if let Some(text) = call.text {
        display["resultDisplay"] = text.into();
    }
    display
}
