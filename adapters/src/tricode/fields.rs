//! The members of Tricode's lines.

/// Every member that docs/tricode.md names, sorted, and what it says.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("arguments", "tool_call: the arguments, as the model wrote them"),
    ("content", "final: the answer"),
    (
        "formatted",
        "tool_call, tool_result: the same in one line for people, worked out from the other members",
    ),
    (
        "message",
        "system: `Session ID: xxxxxxxx` or `Resumed session xxxxxxxx`; reminder: what the agent tells itself",
    ),
    ("name", "tool_call, tool_result: the tool"),
    ("number", "round: its number, counted from 1 in each run"),
    ("result", "tool_result: what the model sees"),
    ("success", "tool_result: whether the tool ran and succeeded"),
    ("type", "system, round, tool_call, tool_result, reminder or final"),
];
