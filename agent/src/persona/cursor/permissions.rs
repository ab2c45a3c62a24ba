//! What Cursor says of permissions.

use agentglot_adapters::raw::codec::Dialect;

use crate::permissions::{Family, PermissionForm, Policy, Reason, Unheard, Width, mode_named};
use crate::tools::{Access, Spec};

/// What rules call the tools.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["Shell", "shell"]),
    (Family::Read, &["Read"]),
    (Family::Write, &["Write"]),
    (Family::Delete, &["Delete"]),
    (Family::Subagent, &["task"]),
];

pub(super) static PERMISSIONS: PermissionForm = PermissionForm {
    // `Write` and `Read` are families always.
    bare: Width::Family,
    writing_is_changing: true,
    rules_are_beginnings: true,
    // Its hosts have no words for modes.
    ..PermissionForm::new(TOOL_NAMES, Dialect::Cursor, |name| mode_named(Dialect::Agentglot, name), denied, unheard)
};

fn denied(_: &Spec, _: &Access, reason: &Reason) -> String {
    format!("Rejected: {reason}")
}

fn unheard(_: &Policy, _: &Spec, _: &Access, why: &Unheard) -> String {
    why.reason().unwrap_or("User Rejected").to_owned()
}
