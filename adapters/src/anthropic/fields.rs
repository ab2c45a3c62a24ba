/// Members that the model has no place for.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("caller", "which server tool called this tool"),
    ("citations", "what a text rests on"),
    ("container", "the sandbox of the code execution tool"),
    ("context_management", "what of the conversation the API has cleared"),
    ("delta", "what else a `message_delta` says"),
    ("stop_details", "why the model refused"),
    ("stop_sequence", "which stop sequence came"),
];

use crate::names::Names;

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
