//! What OpenCode says of permissions. In a run nobody is asked: what would be is rejected.

use agentglot_adapters::raw::codec::Dialect;

use crate::permissions::{Family, PermissionForm, Policy, Reason, Unheard, mode_named};
use crate::tools::{Access, Spec};

/// What rules call the tools.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["bash"]),
    (Family::Read, &["read"]),
    (Family::Write, &["write"]),
    (Family::Edit, &["edit"]),
    (Family::Search, &["grep", "glob"]),
    (Family::Fetch, &["webfetch"]),
    (Family::WebSearch, &["websearch"]),
    (Family::Todo, &["todowrite"]),
    (Family::Subagent, &["task"]),
];

pub(super) static PERMISSIONS: PermissionForm = PermissionForm::new(
    TOOL_NAMES,
    Dialect::Opencode,
    |name| mode_named(Dialect::Agentglot, name),
    denied,
    unheard,
);

fn denied(_: &Spec, _: &Access, reason: &Reason) -> String {
    format!("The user has specified a rule which prevents you from using this specific tool call: {reason}")
}

fn unheard(_: &Policy, _: &Spec, _: &Access, why: &Unheard) -> String {
    why.reason()
        .unwrap_or("The user rejected permission to use this specific tool call.")
        .to_owned()
}
