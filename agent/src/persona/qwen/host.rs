//! What hosts of Qwen Code's are told.

use agentglot_adapters::raw::event::ResultStatus;

use serde_json::{Value, json};

use crate::mcp::Status;
use crate::model::ModelError;
use crate::persona::host::{ContextParts, HostFacts, HostPersona, Told, Unfinished, with_status};
use crate::tools::Given;

#[derive(Debug)]
pub(super) struct CodeHost;

static FACTS: HostFacts = HostFacts {
    begins_turns: true,
    hides_subagents: true,
    continued: Some(|accepted| {
        let interruption = if accepted { "interrupted_prompt" } else { "none" };
        json!({"subtype": "continue_last_turn", "accepted": accepted, "interruption": interruption})
    }),
    joins_replies: true,
    tells_interrupts: false,
    call_stopped: "[Operation Cancelled] Reason: Tool call cancelled by user.",
    trusts_servers: true,
    lists_own_agents: false,
    takes_models_back: false,
    changes_models_at_once: true,
    empty_reply: Some(("Model stream ended with empty response text.", 2)),
    tells_failures: true,
    ..HostFacts::PLAIN
};

impl HostPersona for CodeHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    fn failure(&self, error: &ModelError) -> String {
        format!("[API Error: {}]", with_status(error))
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
}
