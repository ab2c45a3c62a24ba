//! What Tricode says of permissions.

use agentglot_adapters::raw::codec::Dialect;

use crate::permissions::{Family, PermissionForm, Policy, Reason, Unheard, mode_named};
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
    reads_anywhere: true,
    // Its hosts have no words for modes.
    ..PermissionForm::new(TOOL_NAMES, Dialect::Tricode, |name| mode_named(Dialect::Agentglot, name), denied, unheard)
};

fn denied(spec: &Spec, _: &Access, reason: &Reason) -> String {
    format!("Denied: {} is not allowed: {reason}", spec.name)
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    why.reason().map_or_else(
        || format!("Denied: User denied {} operation", spec.name),
        |reason| format!("Denied: {reason}"),
    )
}
