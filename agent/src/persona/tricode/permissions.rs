//! What Tricode says of permissions.

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;
use serde_json::Value;

use crate::permissions::{Family, Guarded, PermissionPersona, Policy, Question, Reason, Unheard, Width};
use crate::persona;
use crate::persona::shared::modes;
use crate::tools::{Access, Spec};

/// What rules call the tools.
pub(super) const TOOL_NAMES: &[(Family, &[&str])] = &[
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

#[derive(Debug)]
pub(super) struct Permissions;

impl PermissionPersona for Permissions {
    fn family(&self, name: &str) -> Option<Family> {
        persona::family(name)
    }

    fn covers(&self, family: Family, kind: ToolKind, has_content: bool) -> bool {
        family.covers(kind, if has_content { Width::Family } else { Width::Tool })
    }

    fn rules_are_beginnings(&self) -> bool {
        false
    }

    fn rules_allow_what_is_run(&self) -> bool {
        true
    }

    fn mode_name(&self, mode: PermissionMode) -> &'static str {
        modes::name(Dialect::Tricode, mode)
    }

    fn mode_named(&self, name: &str) -> Result<PermissionMode, String> {
        // Hosts of Tricode's have no words for it.
        modes::named(Dialect::Agentglot, name)
    }

    fn may_bypass_later(&self) -> bool {
        false
    }

    fn hides_what_nobody_allows(&self) -> bool {
        false
    }

    fn asks_about_subagents(&self) -> bool {
        false
    }

    fn reads_anywhere(&self) -> bool {
        true
    }

    fn guarded(&self) -> Guarded {
        persona::guarded()
    }

    fn denied(&self, spec: &Spec, _: &Access, reason: &Reason) -> String {
        format!("Denied: {} is not allowed: {reason}", spec.name)
    }

    fn unheard(&self, _: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
        match why {
            Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => format!("Denied: {reason}"),
            _ => format!("Denied: User denied {} operation", spec.name),
        }
    }

    fn question(&self, _: &Policy, _: &Spec, _: &Value, _: &Access, _: &Reason) -> Question {
        (None, Vec::new())
    }
}
