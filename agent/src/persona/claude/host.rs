//! What hosts of Claude Code's are told.

use agentglot_adapters::raw::codec::{Layout, Mode};
use agentglot_adapters::raw::launch::Launch;
use serde_json::{Map, Value, json};

use super::tasks::Tasks;
use super::tools;
use crate::ids::line_id;
use crate::model::{ModelError, ModelErrorKind};
use crate::permissions::Decision;
use crate::persona::host::{Compacted, Ended, HostPersona, Refused, SessionFacts, TaskHost, Told, Unfinished, interrupted, with_status};
use crate::tools::jobs::Job;

#[derive(Debug)]
pub(super) struct ClaudeHost;

impl HostPersona for ClaudeHost {
    fn withdraws_prompts(&self) -> bool {
        true
    }

    fn failure(&self, error: &ModelError) -> String {
        match error.kind {
            ModelErrorKind::TooLong => format!("Prompt is too long · API Error: {}", with_status(error)),
            _ => format!("API Error: {}", with_status(error)),
        }
    }

    fn cancelled_note(&self, in_tools: bool) -> Option<&'static str> {
        Some(interrupted(in_tools))
    }

    fn limits_context(&self) -> bool {
        true
    }

    fn begins_turns(&self, mode: Mode) -> bool {
        // Not where the host waits for one value at the end.
        mode.layout == Layout::Lines
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

    fn hides_subagents(&self) -> bool {
        true
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
        if let Some(why) = refused.hook {
            members["decision_reason_type"] = "hook".into();
            members["decision_reason"] = why.into();
        }
        members["message"] = refused.text.into();
        Some(Told::System("permission_denied", members))
    }

    fn tells_urging(&self) -> bool {
        true
    }

    fn goes_on(&self, reply: Unfinished) -> Option<(&'static str, u64)> {
        Some(match reply {
            Unfinished::Cut => (
                "Your reply was cut off at the limit of tokens. Go on exactly where it ends, even within a sentence, without saying anything again; do what is left in smaller steps.",
                3,
            ),
            Unfinished::Empty => ("Your last reply holds nothing that the user can see. Go on, and answer the user.", 1),
            Unfinished::Broken => return None,
        })
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

    fn tasks(&self) -> Option<&'static dyn TaskHost> {
        Some(&Tasks)
    }

    fn codec_counts_turns(&self) -> bool {
        true
    }

    fn ended(&self, ended: Ended) -> Option<(&'static str, &'static str)> {
        let reason = match ended {
            Ended::Done => "completed",
            Ended::Deferred => "tool_deferred",
            Ended::Unavailable => "tool_deferred_unavailable",
            Ended::Held => "hook_stopped",
        };
        Some(("terminal_reason", reason))
    }

    fn tells_failures(&self) -> bool {
        true
    }
}
