//! Signs of Claude Code (docs/claude.md), above all against Qwen Code, which writes the same shapes.

use super::input::HOST_REQUESTS;
use crate::codec::Dialect::Claude;
use crate::detect::{Evidence, FAINT, HINT, Opened, PROOF, STRONG, word};
use crate::json::Raw;

/// Requests of its hosts that those of Qwen Code send too.
const SHARED_REQUESTS: [&str; 3] = ["get_context_usage", "rewind_files", "set_max_thinking_tokens"];

/// Members of a `result` that Qwen Code does not write.
const OUTCOME: &[&str] = &[
    "total_cost_usd",
    "modelUsage",
    "terminal_reason",
    "stop_reason",
    "errors",
    "structured_output",
];

/// What the line says for Claude Code.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    if let Some((weight, why)) = kept(line) {
        return Some(Evidence::new(Claude, weight, why).mode(super::transcript::MODE));
    }
    let (weight, why) = sign(line)?;
    Some(Evidence::new(Claude, weight, why))
}

/// What the line says for a transcript. Qwen Code chains its lines alike, with messages of another kind.
fn kept(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    if line.has("session_id") || line.find(&["message", "parts"]).is_some() {
        return None;
    }
    let chained = line.has_all(&["uuid", "parentUuid"]);
    Some(match line.kind {
        "user" | "assistant" if chained && line.has_any(&["isSidechain", "userType"]) => (PROOF, "a line of the conversation with parentUuid"),
        "attachment" if chained && line.has("attachment") => (PROOF, "an attachment with parentUuid"),
        "system" if chained && line.has_any(&["isSidechain", "userType"]) => (PROOF, "a system line with parentUuid"),
        "user" | "assistant" if chained && line.find(&["message", "content"]).is_some() => (STRONG, "a message with parentUuid"),
        "file-history-snapshot" if line.has_all(&["messageId", "snapshot"]) => (PROOF, "file-history-snapshot"),
        "summary" if line.has_all(&["summary", "leafUuid"]) => (PROOF, "a summary with leafUuid"),
        "queue-operation" if line.has_all(&["operation", "sessionId"]) => (PROOF, "queue-operation"),
        "last-prompt" if line.has_any(&["leafUuid", "lastPrompt"]) => (PROOF, "last-prompt"),
        kind if line.has("sessionId") && !line.has("uuid") && super::transcript::is_aside(kind) => {
            (STRONG, "a type of line that only transcripts of Claude Code have")
        }
        _ => return None,
    })
}

fn sign(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    Some(match line.kind {
        "system" => return system(line),
        "assistant" => {
            let id = line.find(&["message", "id"]).map_or("", word);
            let usage = |key| line.find(&["message", "usage", key]).is_some();
            match () {
                () if id.starts_with("msg_") => (PROOF, "assistant with a message id msg_…"),
                () if line.find(&["message", "model"]).map(word) == Some("<synthetic>") => (PROOF, "assistant with model <synthetic>"),
                () if line.has_any(&["timestamp", "error", "is_api_error_message"]) => (STRONG, "assistant with timestamp or error"),
                () if usage("cache_creation_input_tokens") || usage("service_tier") => (STRONG, "assistant with Anthropic's usage"),
                () if line.has("message") && line.has_any(&["uuid", "parent_tool_use_id"]) => (FAINT, "assistant with uuid"),
                () => return None,
            }
        }
        "user" => match () {
            () if line.has_any(&["tool_use_result", "tool_result_meta", "isReplay", "isSynthetic"]) => {
                (PROOF, "user with tool_use_result or isReplay")
            }
            () if line.has_all(&["timestamp", "uuid"]) => (STRONG, "user with timestamp and uuid"),
            () if line.word("session_id") == "default" => (HINT + FAINT, "user with session_id \"default\""),
            () if line.has_any(&["uuid", "parent_tool_use_id"]) => (FAINT, "user with parent_tool_use_id"),
            () if line.find(&["message", "role"]).is_some() && !line.has("session_id") => (FAINT, "user"),
            () => return None,
        },
        "result" if line.has_any(OUTCOME) => (PROOF, "result with total_cost_usd or another figure of Claude Code"),
        "result" if line.has_all(&["num_turns", "uuid"]) => (FAINT, "result with num_turns"),
        "stream_event" => {
            let message = |key| line.find(&["event", "message", key]);
            match line.find(&["event", "type"]).map_or("", word) {
                _ if line.has("api_message_id") => (PROOF, "stream_event with api_message_id"),
                "message_start" if message("id").map_or("", word).starts_with("msg_") || message("usage").is_some() => {
                    (PROOF, "message_start as Anthropic's API writes it")
                }
                "message_delta" => (PROOF, "message_delta"),
                "goal_state" | "tool_progress" => return None,
                // Qwen Code puts the event last.
                _ if line.place("event") < line.place("session_id") => (HINT, "stream_event with the event first"),
                _ => (FAINT, "stream_event"),
            }
        }
        "control_response" => {
            let response = line.get("response").unwrap_or(Raw::NULL);
            let [answer, request, code, pending, subtype] =
                response.pick(["response", "request_id", "error_code", "pending_permission_requests", "subtype"]);
            let answer = answer.unwrap_or(Raw::NULL);
            let [commands, models, account, style] = answer.pick(["commands", "models", "account", "output_style"]);
            let changes = answer.pick(["updatedPermissions", "hookSpecificOutput"]);
            match () {
                () if commands.is_some() && [models, account, style].iter().any(Option::is_some) => {
                    (PROOF, "control_response with commands and models")
                }
                () if code.is_some() || pending.is_some() => (STRONG, "control_response with error_code"),
                () if changes.iter().any(Option::is_some) => (STRONG, "control_response as hosts of Claude Code write it"),
                () if python_id(request.map_or("", word)) => (STRONG, "request id of the Python SDK"),
                () if subtype.is_some() && !line.has("request_id") => (FAINT, "control_response"),
                () => return None,
            }
        }
        "control_request" => {
            let request = line.get("request")?;
            let subtype = request.get("subtype").map_or("", word);
            let suggestion = request.get("permission_suggestions").and_then(|list| list.elements().next());
            let is_known = HOST_REQUESTS.contains(&subtype) && !SHARED_REQUESTS.contains(&subtype);
            match subtype {
                _ if is_known || subtype == "request_user_dialog" => (PROOF, "control_request that only Claude Code has"),
                "hook_callback" if request.get("input").is_some_and(|i| i.get("hook_event_name").is_some()) => {
                    (PROOF, "hook_callback with hook_event_name")
                }
                "can_use_tool" if suggestion.is_some_and(|s| s.get("destination").is_some()) => (PROOF, "can_use_tool with permission updates"),
                "can_use_tool" if request.get("display_name").is_some() || request.get("decision_reason_type").is_some() => {
                    (STRONG, "can_use_tool with display_name")
                }
                "initialize" if request.get("agents").is_some_and(|a| a.as_str().starts_with('{')) => (STRONG, "initialize with agents by name"),
                "initialize" if request.get("sdkMcpServers").is_some_and(|s| s.as_str().starts_with('[')) => {
                    (HINT, "initialize with a list of servers")
                }
                "rewind_files" | "set_max_thinking_tokens" | "elicitation" => (HINT + FAINT, "control_request of Claude Code"),
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
                    if python_id(line.word("request_id")) {
                        (STRONG, "request id of the Python SDK")
                    } else {
                        (FAINT, "control_request")
                    }
                }
                _ => return None,
            }
        }
        "control_cancel_request" => (FAINT, "control_cancel_request"),
        "command_lifecycle" | "transcript_mirror" | "rate_limit_event" | "conversation_reset" | "tool_use_summary" | "auth_status"
        | "prompt_suggestion" => (PROOF, "a type of line that only Claude Code writes"),
        "keep_alive" | "update_environment_variables" => (STRONG, "a type of line that only Claude Code reads"),
        "tool_progress" if line.has("elapsed_time_seconds") => (STRONG, "tool_progress with elapsed_time_seconds"),
        _ => return None,
    })
}

fn system(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    Some(match line.word("subtype") {
        "init" if line.has("claude_code_version") => (PROOF, "system/init with claude_code_version"),
        // Cursor's has permissionMode too, but neither tools nor a uuid.
        "init" if line.has("permissionMode") && line.has_any(&["tools", "uuid"]) => (STRONG, "system/init with permissionMode and tools"),
        "" => return None,
        "thinking_tokens"
        | "api_retry"
        | "compact_boundary"
        | "session_state_changed"
        | "hook_started"
        | "hook_response"
        | "status"
        | "informational"
            if line.has_all(&["uuid", "session_id"]) && !line.has("data") =>
        {
            (PROOF, "a system line that only Claude Code writes")
        }
        // Qwen Code puts the payload into data.
        subtype if subtype != "init" && line.has_all(&["uuid", "session_id"]) && !line.has_any(&["data", "parent_tool_use_id"]) => {
            (STRONG, "a system line with its payload at the top")
        }
        _ => return None,
    })
}

/// `req_1_97be3ece`: how the Python SDK names its requests.
fn python_id(id: &str) -> bool {
    let Some((number, random)) = id.strip_prefix("req_").and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && random.len() == 8 && random.bytes().all(|b| b.is_ascii_hexdigit())
}
