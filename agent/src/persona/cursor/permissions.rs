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
    names: TOOL_NAMES,
    // `Write` and `Read` are families always.
    bare: Width::Family,
    writing_is_changing: true,
    rules_are_beginnings: true,
    rules_allow_what_is_run: true,
    modes: Dialect::Cursor,
    // Its hosts have no words for them.
    mode_named: |name| mode_named(Dialect::Agentglot, name),
    may_bypass_later: false,
    hides_what_nobody_allows: false,
    asks_about_subagents: false,
    reads_anywhere: false,
    denied,
    unheard,
    question: None,
};

fn denied(_: &Spec, _: &Access, reason: &Reason) -> String {
    format!("Rejected: {reason}")
}

fn unheard(_: &Policy, _: &Spec, _: &Access, why: &Unheard) -> String {
    match why {
        Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => reason.clone(),
        _ => "User Rejected".to_owned(),
    }
}
