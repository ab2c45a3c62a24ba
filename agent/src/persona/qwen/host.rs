//! What hosts of Qwen Code's are told.

use agentglot_adapters::raw::codec::{Layout, Mode};
use agentglot_adapters::raw::event::ResultStatus;

use serde_json::{Value, json};

use crate::mcp::Status;
use crate::model::ModelError;
use crate::persona::host::{ContextParts, HostPersona, Told, Unfinished, with_status};
use crate::persona::shared::jobs;
use crate::tools::Given;
use crate::tools::jobs::Job;

#[derive(Debug)]
pub(super) struct CodeHost;

impl HostPersona for CodeHost {
    fn failure(&self, error: &ModelError) -> String {
        format!("[API Error: {}]", with_status(error))
    }

    fn begins_turns(&self, mode: Mode) -> bool {
        // Not where the host waits for one value at the end.
        mode.layout == Layout::Lines
    }

    fn hides_subagents(&self) -> bool {
        true
    }

    fn tells_failures(&self) -> bool {
        true
    }

    fn tells_interrupts(&self) -> bool {
        false
    }

    fn call_stopped(&self) -> &'static str {
        "[Operation Cancelled] Reason: Tool call cancelled by user."
    }

    fn result_shown(&self, given: &Given) -> Option<String> {
        let (_, detail) = given.detail.as_ref().filter(|_| given.status == ResultStatus::Success)?;
        let text = detail.get("text").filter(|_| detail["kind"] == "string")?.as_str()?;
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    fn introduced(&self) -> Option<Told> {
        let event = json!({"type": "goal_state", "goal_state": {"v": 2, "goal": null, "activity": "idle"}});
        Some(Told::Other("stream_event", json!({"parent_tool_use_id": null, "event": event})))
    }

    fn continued(&self) -> Option<fn(bool) -> Value> {
        Some(|accepted| {
            let interruption = if accepted { "interrupted_prompt" } else { "none" };
            json!({"subtype": "continue_last_turn", "accepted": accepted, "interruption": interruption})
        })
    }

    fn trusts_servers(&self) -> bool {
        true
    }

    fn server_status(&self, status: Status) -> &'static str {
        status.connection()
    }

    fn goes_on(&self, reply: Unfinished) -> Option<(&'static str, u64)> {
        match reply {
            Unfinished::Cut | Unfinished::Broken => Some((
                "Your reply broke off. Go on exactly where it ends, even within a word, without saying anything again.",
                3,
            )),
            Unfinished::Empty | Unfinished::Refused => None,
        }
    }

    fn joins_replies(&self) -> bool {
        true
    }

    fn lists_own_agents(&self) -> bool {
        false
    }

    fn context_shown(&self, parts: &ContextParts) -> Option<Value> {
        Some(json!({
            "subtype": "get_context_usage", "modelName": parts.model, "totalTokens": parts.total, "contextWindowSize": parts.window,
            "breakdown": {
                "systemPrompt": parts.system, "builtinTools": parts.tools, "mcpTools": 0, "memoryFiles": 0, "skills": 0,
                "messages": parts.messages(), "freeSpace": parts.free(), "autocompactBuffer": 0,
            },
            "builtinTools": [], "mcpTools": [], "memoryFiles": [], "skills": [], "isEstimated": !parts.counted, "showDetails": false,
        }))
    }

    fn takes_models_back(&self) -> bool {
        false
    }

    fn changes_models_at_once(&self) -> bool {
        true
    }

    fn empty_reply(&self) -> Option<(&'static str, u64)> {
        Some(("Model stream ended with empty response text.", 2))
    }

    fn job_ended(&self, job: &Job, output: &str) -> String {
        jobs::notice(job, output)
    }
}
