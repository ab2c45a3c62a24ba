//! Members that only Gemini CLI's lines have.

use crate::names::Names;

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("code", "json: of an error, the exit code of the program"),
    ("delta", "message: whether it is a piece of what the model says; always `true` there"),
    ("error", "tool_result, result, json: `{type,message}` where one of them is missing"),
    (
        "output",
        "tool_result of a call that failed: what people see of it, beside the message that the model sees",
    ),
    ("parameters", "tool_use: the arguments"),
    ("severity", "error: `warning` or `error`"),
    (
        "type",
        "of an error: `unknown`, `FatalTurnLimitedError` …; of one of a tool: `file_not_found`, `tool_not_registered` …",
    ),
    ("warnings", "json: what else the program has to say"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
