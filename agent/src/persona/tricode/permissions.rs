//! What Tricode says of permissions.

use agentglot_adapters::raw::codec::Dialect;

use crate::permissions::{Family, PermissionForm, Policy, Reason, Unheard, Width, mode_named};
use crate::tools::{Access, Spec};

/// What rules call the tools.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["run_command"]),
    (Family::Read, &["read_file"]),
    (Family::Write, &["create_file"]),
    (Family::Edit, &["edit_file"]),
    (Family::Delete, &["delete_file", "delete_path"]),
    (Family::Search, &["search_context", "list_directory"]),
    (Family::Fetch, &["fetch_url"]),
    (Family::WebSearch, &["web_search"]),
    (Family::Todo, &["plan"]),
];

pub(super) static PERMISSIONS: PermissionForm = PermissionForm {
    names: TOOL_NAMES,
    bare: Width::Tool,
    writing_is_changing: false,
    rules_are_beginnings: false,
    rules_allow_what_is_run: true,
    modes: Dialect::Tricode,
    // Its hosts have no words for them.
    mode_named: |name| mode_named(Dialect::Agentglot, name),
    may_bypass_later: false,
    hides_what_nobody_allows: false,
    asks_about_subagents: false,
    reads_anywhere: true,
    denied,
    unheard,
    question: None,
};

fn denied(spec: &Spec, _: &Access, reason: &Reason) -> String {
    format!("Denied: {} is not allowed: {reason}", spec.name)
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    match why {
        Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => format!("Denied: {reason}"),
        _ => format!("Denied: User denied {} operation", spec.name),
    }
}
