//! Members that the model has no place for.

use crate::names::Names;

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("agents_states", "collab_tool_call: how the agents are, by their threads' ids"),
    ("aggregated_output", "command_execution that starts: what it has printed, nothing"),
    ("error", "mcp_tool_call that starts: why it failed, null"),
    ("exit_code", "command_execution that starts: how it ended, null"),
    (
        "id",
        "every item: `item_0`, `item_1` …, from 0 again in each process; web_search (0.169): behind it, the model's own id of the call",
    ),
    (
        "line",
        "app-server and rollout files: the message or line as it stands, for it says much that has no place elsewhere; it is written as it was read",
    ),
    ("receiver_thread_ids", "collab_tool_call: the threads of the agents that it is for"),
    ("result", "mcp_tool_call that starts: what came of it, null"),
    ("sender_thread_id", "collab_tool_call: this thread"),
    ("status", "an item that starts: in_progress"),
    ("type", "an item that is said otherwise than its kind is as a rule: the line's type"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
