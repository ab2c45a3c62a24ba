//! What Codex says of permissions. In `exec` nobody is asked: what the sandbox does not allow is refused.

use agentglot_adapters::raw::codec::Dialect;

use crate::permissions::{Family, PermissionForm, Policy, Reason, Unheard, mode_named};
use crate::tools::{Access, Spec};

/// What rules call the tools.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["shell_command"]),
    (Family::Edit, &["apply_patch"]),
    (Family::WebSearch, &["web_search"]),
    (Family::Todo, &["update_plan"]),
];

pub(super) static PERMISSIONS: PermissionForm =
    PermissionForm::new(TOOL_NAMES, Dialect::Codex, |name| mode_named(Dialect::Agentglot, name), denied, unheard);

fn denied(spec: &Spec, _: &Access, reason: &Reason) -> String {
    format!("{} is rejected: {reason}", spec.name)
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    why.reason().map_or_else(
        || format!("{} is rejected: the sandbox does not allow it, and nobody can be asked", spec.name),
        str::to_owned,
    )
}
