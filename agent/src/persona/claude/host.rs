//! What hosts of Claude Code's are told.

use agentglot_adapters::raw::codec::Layout;
use agentglot_adapters::raw::launch::Launch;
use serde_json::{Map, Value, json};

use super::tasks::Tasks;
use super::tools;
use crate::clock::now_iso;
use crate::ids::line_id;
use crate::model::usage::Tokens;
use crate::model::{ModelError, ModelErrorKind};
use crate::permissions::Decision;
use crate::persona::host::{
    Compacted, Ended, HostFacts, HostPersona, PromptState, Refused, Reminders, ResultForm, SessionFacts, Told, Unfinished, interrupted, with_status,
};
use crate::tools::jobs::Job;

#[derive(Debug)]
pub(super) struct ClaudeHost;

static FACTS: HostFacts = HostFacts {
    begins_turns: true,
    hides_subagents: true,
    tells_background: true,
    tells_urging: true,
    asks_again: 1,
    keeps_whole_blocks: true,
    withdraws_prompts: true,
    joins_prompts: true,
    answer_reminders: Reminders { most: 1, fails: false },
    names_servers: true,
    tasks: Some(&Tasks),
    codec_counts_turns: true,
    limits_context: true,
    tells_error_types: true,
    tells_failures: true,
    ..HostFacts::PLAIN
};

impl HostPersona for ClaudeHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    fn falls_back(&self, model: &str, to: &str, why: &'static str) -> Told {
        let because = match why {
            "overloaded" => format!("due to high demand for {model}"),
            _ => format!("because {model} is not available"),
        };
        let members = json!({
            "trigger": why, "original_model": model, "fallback_model": to, "content": format!("Switched to {to} {because}"),
        });
        Told::System("model_fallback", members)
    }

    fn turn_name(&self, _: &str, _: u64) -> String {
        line_id()
    }

    fn failure(&self, error: &ModelError) -> String {
        match error.kind {
            ModelErrorKind::Authentication if error.message.contains("x-api-key") => "Invalid API key · Fix external API key".to_owned(),
            ModelErrorKind::Authentication => format!("Failed to authenticate. API Error: {}", with_status(error)),
            ModelErrorKind::TooLong => format!("Prompt is too long · API Error: {}", with_status(error)),
            _ => format!("API Error: {}", with_status(error)),
        }
    }

    fn cancelled_note(&self, in_tools: bool) -> Option<&'static str> {
        Some(interrupted(in_tools))
    }

    fn job_ended(&self, job: &Job, _: &str) -> String {
        tools::shell::notice(job)
    }

    fn session_members(&self, facts: &SessionFacts<'_>) -> Vec<(&'static str, Value)> {
        vec![
            ("output_style", json!(facts.style)),
            ("skills", facts.skills.clone()),
            ("plugins", facts.plugins.clone()),
        ]
    }

    fn decision(&self, decision: &Decision, call: &str) -> Option<(&'static str, Value)> {
        let mut told = json!({ "id": call });
        if let Some(unrun) = decision.unrun {
            told["non_execution_kind"] = unrun.into();
        }
        if let Some(source) = decision.source {
            told["permission_decision"] = json!({"decision": if decision.accepts { "accept" } else { "reject" }, "source": source});
            if let Some(reason) = decision.reason {
                told["permission_decision"]["reason_type"] = reason.into();
            }
        }
        Some(("tool_result_meta", json!([told])))
    }

    fn compacted(&self, compacted: &Compacted<'_>) -> Told {
        Told::Line(json!({
            "type": "system", "subtype": "compact_boundary", "session_id": compacted.session, "uuid": compacted.boundary,
            "compact_metadata": {"trigger": compacted.trigger, "pre_tokens": compacted.before, "post_tokens": compacted.after},
        }))
    }

    fn hook(&self, name: &'static str, output: Option<&str>, data: &Value) -> Told {
        let mut members = Map::new();
        for (name, value) in data.as_object().into_iter().flatten() {
            if let Some(output) = output.filter(|_| name == "stdout") {
                members.insert("output".to_owned(), json!(output));
            }
            members.insert(name.clone(), value.clone());
        }
        Told::System(name, Value::Object(members))
    }

    fn inform(&self, text: &str, data: Value) -> Told {
        let mut members = Map::new();
        members.insert("content".to_owned(), json!(text));
        members.extend(data.as_object().cloned().unwrap_or_default());
        Told::System("informational", Value::Object(members))
    }

    fn refused(&self, refused: &Refused<'_>) -> Option<Told> {
        let mut members = json!({"tool_name": refused.call.name, "tool_use_id": refused.call.id});
        if let Some(agent) = refused.agent {
            members["agent_id"] = agent.into();
        }
        if let Some(kind) = refused.kind {
            members["decision_reason_type"] = kind.into();
        }
        if let Some(why) = refused.why {
            members["decision_reason"] = why.into();
        }
        members["message"] = refused.text.into();
        Some(Told::System("permission_denied", members))
    }

    fn goes_on(&self, reply: Unfinished) -> Option<(&'static str, u64)> {
        Some(match reply {
            Unfinished::Cut => (
                "Your reply was cut off at the limit of tokens. Go on exactly where it ends, even within a sentence, without saying anything again; do what is left in smaller steps.",
                3,
            ),
            Unfinished::Empty => ("Your last reply holds nothing that the user can see. Go on, and answer the user.", 1),
            Unfinished::Broken => (
                "The connection to you broke in the middle of your last reply. Go on from where it ends, without saying anything again; if nothing of it is here, answer from the beginning.",
                3,
            ),
            Unfinished::Refused => (
                "A safety filter stopped your last reply: that is no failure of a tool or of the API. What stood behind is lost, and its unfinished calls did not run. Do not say again what was stopped, in other words neither; go on with what else there is to do.",
                1,
            ),
        })
    }

    fn key_source(&self, variable: &'static str) -> &'static str {
        if variable.is_empty() { "none" } else { variable }
    }

    fn asking(&self) -> Option<Told> {
        Some(Told::System("status", json!({"status": "requesting"})))
    }

    fn thought(&self, so_far: u64, more: u64) -> Option<Told> {
        let members = json!({"estimated_tokens": so_far, "estimated_tokens_delta": more});
        Some(Told::System("thinking_tokens", members))
    }

    fn request_begun(&self, id: &str) -> Option<Told> {
        Some(Told::System("control_request_progress", json!({"request_id": id, "status": "started"})))
    }

    fn model_set(&self, model: &str) -> Option<Told> {
        let text = format!("<local-command-stdout>Set model to `{model}`</local-command-stdout>");
        let members = json!({
            "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "isReplay": true, "timestamp": now_iso(),
        });
        Some(Told::Other("user", members))
    }

    fn of_command(&self, name: &str) -> Option<(&'static str, Value)> {
        Some(("local_command", json!(name)))
    }

    fn prompt_is(&self, id: &str, state: PromptState) -> Option<Told> {
        let members = json!({"command_uuid": id, "state": state.name()});
        Some(Told::Other("command_lifecycle", members))
    }

    fn result_form(&self, detail: &Value) -> ResultForm {
        ResultForm {
            // Of servers, and of subagents.
            is_blocks: detail.is_array() || detail.get("content").is_some_and(Value::is_array) || detail.get("isAsync").is_some(),
            says_success: detail.get("stdout").is_some(),
        }
    }

    fn usage_told(&self, tokens: Tokens) -> Option<Value> {
        Some(json!({
            "input_tokens": tokens.input, "cache_creation_input_tokens": tokens.cache_write, "cache_read_input_tokens": tokens.cache_read,
            "output_tokens": tokens.output, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": tokens.cache_write}, "inference_geo": "",
            "iterations": [], "speed": "standard",
        }))
    }

    fn refusal(&self, model: &str) -> Option<(Told, String)> {
        let members = json!({
            "original_model": model, "request_id": null, "api_refusal_category": null, "api_refusal_explanation": null, "content": "",
        });
        let text = format!("API Error: {model} refused to answer. Say it in other words in a new session, or choose another model.");
        Some((Told::System("model_refusal_no_fallback", members), text))
    }

    fn mode_changed(&self, mode: &str) -> Told {
        Told::System("status", json!({"status": null, "permissionMode": mode}))
    }

    fn mode_set(&self, mode: &str) -> Option<Told> {
        Some(self.mode_changed(mode))
    }

    fn writes_lost(&self, code: &str, session: &str) -> Option<Told> {
        Some(Told::Line(json!({
            "type": "system", "subtype": "session_writes_lost", "error_code": code, "lost": ["transcript"],
            "transcript_session_ids": [session], "uuid": line_id(), "session_id": session,
        })))
    }

    fn wants_state(&self, launch: &Launch, variable: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
        let set = |name| variable(name).is_some_and(|value| !matches!(&*value.to_ascii_lowercase(), "" | "0" | "false" | "no" | "off"));
        // The first is a wish of the program's user, the second that of the SDK, which keeps it to itself.
        if launch.format.mode.layout != Layout::Lines {
            None
        } else if set("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") {
            Some(false)
        } else {
            set("CLAUDE_CODE_SDK_READS_SESSION_STATE").then_some(true)
        }
    }

    fn ended(&self, ended: Ended) -> Option<(&'static str, &'static str)> {
        let reason = match ended {
            Ended::Done => "completed",
            Ended::Deferred => "tool_deferred",
            Ended::Unavailable => "tool_deferred_unavailable",
            Ended::Held => "hook_stopped",
            Ended::HeldAtStop => "stop_hook_prevented",
            Ended::Refused => "api_error",
            Ended::Unstructured => "structured_output_retry_exhausted",
        };
        Some(("terminal_reason", reason))
    }
}
