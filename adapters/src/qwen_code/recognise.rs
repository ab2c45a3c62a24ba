//! Signs of the shipped Qwen Code (docs/qwen-code.md), above all against Claude Code, whose shapes it writes.

use crate::codec::Dialect::QwenCode;
use crate::detect::{Evidence, FAINT, HINT, Opened, PROOF, STRONG, word};
use crate::json::Raw;
use crate::launch::is_uuid;

/// Control requests that only hosts of Qwen Code send.
const REQUESTS: &[&str] = &[
    "continue_last_turn",
    "get_available_models",
    "get_usage_info",
    "mcp_server_status",
    "set_effort",
    "supported_commands",
];

/// What the line says for Qwen Code.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    // A chat file names the session in another way.
    if !line.has("session_id") && line.has_all(&["uuid", "parentUuid", "sessionId"]) {
        let parts = line.find(&["message", "parts"]).is_some();
        let own = parts || line.has_any(&["systemPayload", "provenance", "toolCallResult"]);
        return own.then(|| Evidence::new(QwenCode, PROOF, "a line of a chat file, with parentUuid and parts").mode(super::chat::MODE));
    }
    let (weight, why) = sign(line)?;
    Some(Evidence::new(QwenCode, weight, why))
}

fn sign(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    Some(match line.kind {
        "system" => match line.word("subtype") {
            "init" if line.has("qwen_code_version") => (PROOF, "system/init with qwen_code_version"),
            "init" | "session_start" if line.has("permission_mode") => (STRONG, "system/init with permission_mode"),
            "" | "init" => return None,
            _ if line.has_all(&["uuid", "session_id", "parent_tool_use_id"]) => (PROOF, "a system line with parent_tool_use_id"),
            _ if line.has_all(&["data", "uuid"]) => (STRONG, "a system line with data"),
            _ => return None,
        },
        "assistant" => {
            let (id, uuid) = (line.find(&["message", "id"]).map_or("", word), line.word("uuid"));
            match () {
                () if !id.is_empty() && id == uuid => (PROOF, "assistant whose uuid is its message's id"),
                () if line.find(&["message", "usage", "total_tokens"]).is_some() => (STRONG, "assistant with usage.total_tokens"),
                () if line.has("message") && line.has_any(&["uuid", "parent_tool_use_id"]) => (FAINT, "assistant with uuid"),
                () => return None,
            }
        }
        "user" => match () {
            () if line.has_any(&["timestamp", "tool_use_result"]) => return None,
            () if line.has("options") => (STRONG, "user with options"),
            () if line.has("uuid") && line.place("message") > line.place("parent_tool_use_id") => (HINT, "user with the message last"),
            // The host names the session; Claude Code's hosts leave it empty or write "default".
            () if is_uuid(line.word("session_id")) && !line.has("uuid") => (HINT + FAINT, "user with the session's id and no uuid"),
            () if line.has_any(&["uuid", "parent_tool_use_id"]) => (FAINT, "user with parent_tool_use_id"),
            () if line.find(&["message", "role"]).is_some() && !line.has("session_id") => (FAINT, "user"),
            () => return None,
        },
        "result" => match () {
            () if line.has_any(&["total_cost_usd", "modelUsage", "stop_reason", "terminal_reason"]) => return None,
            () if line.find(&["usage", "total_tokens"]).is_some() => (PROOF, "result with usage.total_tokens"),
            () if line.find(&["error", "message"]).is_some() && line.has("num_turns") => (PROOF, "result with error.message"),
            () if line.has_all(&["structured_result", "uuid"]) || line.has_all(&["stats", "uuid"]) => (STRONG, "result with stats"),
            () if line.has_all(&["num_turns", "uuid"]) => (HINT, "result with num_turns and no cost"),
            () => return None,
        },
        "stream_event" => match line.find(&["event", "type"]).map_or("", word) {
            "goal_state" => (PROOF, "goal_state"),
            "tool_progress" => (STRONG, "tool_progress inside a stream_event"),
            _ if line.has("api_message_id") => return None,
            "message_start" if line.find(&["event", "message", "usage"]).is_some() => return None,
            "message_delta" => return None,
            "message_start" => (STRONG, "message_start without usage"),
            _ if line.place("event") > line.place("session_id") => (HINT, "stream_event with the event last"),
            _ => (FAINT, "stream_event"),
        },
        "control_response" => {
            let response = line.get("response").unwrap_or(Raw::NULL);
            let [answer, subtype] = response.pick(["response", "subtype"]);
            let [capabilities, repeated, status] = answer.unwrap_or(Raw::NULL).pick(["capabilities", "subtype", "status"]);
            match () {
                () if capabilities.is_some_and(|c| c.get("can_handle_can_use_tool").is_some()) => {
                    (PROOF, "control_response with can_handle_can_use_tool")
                }
                () if repeated.is_some() => (STRONG, "control_response that repeats the subtype"),
                () if status.map(word) == Some("updated") => (STRONG, "control_response with status updated"),
                () if subtype.is_some() && !line.has("request_id") => (FAINT, "control_response"),
                () => return None,
            }
        }
        "control_request" => {
            let request = line.get("request")?;
            let subtype = request.get("subtype").map_or("", word);
            let suggestion = request.get("permission_suggestions").and_then(|list| list.elements().next());
            match subtype {
                _ if REQUESTS.contains(&subtype) => (PROOF, "control_request that only Qwen Code has"),
                "can_use_tool" if suggestion.is_some_and(|s| s.get("label").is_some()) => (PROOF, "can_use_tool with labels"),
                "can_use_tool" if request.get("blocked_path").is_some_and(|p| p.is_null()) => (STRONG, "can_use_tool with blocked_path null"),
                "initialize" if request.get("timeout").is_some() || request.get("mcpServers").is_some_and(|s| !s.is_null()) => {
                    (STRONG, "initialize with timeout")
                }
                "initialize" if request.get("sdkMcpServers").is_some_and(|s| s.as_str().starts_with('{')) => {
                    (STRONG, "initialize with servers by name")
                }
                "get_context_usage" if request.get("show_details").is_some() => (STRONG, "get_context_usage with show_details"),
                // Hosts of Claude Code make up ids of another form.
                "initialize" | "interrupt" | "set_model" | "set_permission_mode" | "get_context_usage" if is_uuid(line.word("request_id")) => {
                    (HINT + FAINT, "a host's control_request with a UUID")
                }
                "can_use_tool"
                | "hook_callback"
                | "initialize"
                | "interrupt"
                | "mcp_message"
                | "set_model"
                | "set_permission_mode"
                | "get_context_usage"
                    if request.get("tool").is_none() =>
                {
                    (FAINT, "control_request")
                }
                _ => return None,
            }
        }
        "control_cancel_request" => (FAINT, "control_cancel_request"),
        _ => return None,
    })
}
