//! Members that only exported sessions have.

use crate::names::Names;
use crate::opencode::fields;

/// They ride in the events' fields; sorted by name.
pub(super) const KNOWN: &[(&str, &str)] = &[
    ("agent", "of a session and a message: the name of the agent that works"),
    ("error", "of a reply: what went wrong"),
    ("finish", "of a reply: why its last round is over"),
    ("mode", "of a reply: the agent's name, once more"),
    ("model", "of a session and a prompt: the model, and who serves it"),
    ("modelID", "of a reply: its model, where it is not told with the round"),
    (
        "parentID",
        "of a reply: the prompt that it answers; of a session: the one whose subagent works in it",
    ),
    (
        "path",
        "of a reply: the working folder and the project's; of a session: the folder below the project's",
    ),
    ("permission", "of a session: what may be done in it"),
    ("projectID", "of a session: whose it is"),
    ("providerID", "of a reply: who serves the model"),
    ("revert", "of a session: up to where it was taken back"),
    ("share", "of a session: where it is to be seen"),
    ("slug", "of a session: its name in words"),
    ("structured", "of a reply: an answer in the form that was asked for"),
    (
        "summary",
        "of a session and a prompt: which files changed; of a reply: it sums up what was said before",
    ),
    ("system", "of a prompt: what the model is told besides"),
    ("tools", "of a prompt: which tools may be used"),
    ("variant", "of a message: how hard the model is to think"),
    ("workspaceID", "of a session: in which workspace it is"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(super) fn knows(name: &str) -> bool {
    NAMES.has(name) || fields::knows(name)
}
