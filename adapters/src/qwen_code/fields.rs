//! The members that only Qwen Code knows: they ride in an event's fields, are written back within the dialect, and have no
//! place in another one.

use crate::names::Names;

/// Name and meaning, sorted by name (docs/qwen-code.md).
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("agents", "init request: the subagents that the host defines"),
    ("annotations", "content block: `[{type,value}]`, typed but never seen"),
    ("attempt", "retry: which attempt this is"),
    ("blocked_path", "can_use_tool: the path that is out of bounds, or null"),
    ("callback_id", "hook_callback: which of the host's callbacks"),
    ("cancelled", "a request that was taken back"),
    ("compact_metadata", "system line: what a compaction did"),
    ("content", "tool_progress: what there is to see so far"),
    ("data", "system line: its payload"),
    ("description", "task_started: the task in a few words"),
    ("duration_api_ms", "a subagent's own result: 0"),
    ("duration_ms", "a subagent's own result: 0"),
    ("effort", "initialize, set_effort: how much the model is to think"),
    ("goal_state", "stream event: the session's goal, `{v,goal,activity}`"),
    ("hooks", "initialize: accepted, never called"),
    ("input", "can_use_tool asked by the host: the arguments"),
    ("interrupt", "deny answer: stop the turn as well; ignored by 0.24.4"),
    ("is_error", "a subagent's own result: true"),
    ("mcpServers", "initialize: MCP servers that the agent starts"),
    ("message", "mcp_message: the JSON-RPC message"),
    ("mode", "set_permission_mode: the new mode"),
    ("model", "set_model: the new model"),
    ("num_turns", "a subagent's own result: 0"),
    ("options", "host's user line: per-message options, ignored by 0.24.4"),
    ("output_style", "init: typed, never seen"),
    ("permission_denials", "a subagent's own result: []"),
    ("range", "get_usage_info: which days"),
    ("request", "control_request: its payload"),
    ("response", "control_response: its payload"),
    ("role", "message: whose words"),
    ("sdkMcpServers", "initialize: MCP servers that live in the host"),
    ("server_name", "mcp_message: which MCP server"),
    ("show_details", "get_context_usage: with a list of tools"),
    ("signature", "thinking block: the thought's subject"),
    ("skills", "init: typed, never seen"),
    ("stats", "json format: models, tools, files, skills, generation"),
    ("stop_sequence", "message: typed, never seen"),
    ("structured_output", "result: what the types call structured_result"),
    ("subtype", "a subagent's own result: error_during_execution"),
    ("timeout", "initialize: how long can_use_tool may take"),
    ("tool_name", "can_use_tool asked by the host: the tool"),
    ("type", "the kind of line, message or block"),
    ("usage", "a subagent's own result: zeros; a message: other members of a blank usage"),
];

/// The members of a subagent's own result besides its ids and its error.
pub(super) const SUBAGENT_END: &[&str] = &[
    "subtype",
    "is_error",
    "duration_ms",
    "duration_api_ms",
    "num_turns",
    "usage",
    "permission_denials",
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the dialect's page names a member.
pub(super) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
