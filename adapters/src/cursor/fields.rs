//! The members of Cursor's lines that the model has no place for.

use crate::names::Names;

/// Name and meaning, sorted by name. Members with a place in the model (`cwd`, `model`, `result`, `usage` …) are not here.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("attempt", "connection, retry: which attempt this is, from 1"),
    (
        "completedAtMs",
        "tool_call: when the tool was done, in milliseconds since 1970, as a string",
    ),
    ("description", "shellToolCall: what the command is for, as in its arguments"),
    ("endpoint_url", "connection/reconnecting: the server that is called again"),
    ("hookAdditionalContexts", "tool_call: what hooks add for the model; [] without hooks"),
    ("is_resume", "retry/starting: whether the reply goes on where it broke off"),
    (
        "model_call_id",
        "tool_call/completed: the round that made the call, as in its started line",
    ),
    ("query_type", "interaction_query: the key of the query inside `query`"),
    (
        "result",
        "result: all segments of the turn one after the other, where the last one alone is the answer",
    ),
    ("startedAtMs", "tool_call: when the tool began, in milliseconds since 1970, as a string"),
    ("toolCallId", "tool_call: the call's id again, as in call_id"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether Cursor's page names a member.
pub(super) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
