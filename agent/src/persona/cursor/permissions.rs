//! What Cursor says of permissions.

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
    (Family::Shell, &["Shell", "shell"]),
    (Family::Read, &["Read"]),
    (Family::Write, &["Write"]),
    (Family::Delete, &["Delete"]),
    (Family::Subagent, &["task"]),
];

#[derive(Debug)]
pub(super) struct Permissions;

impl PermissionPersona for Permissions {
    fn family(&self, name: &str) -> Option<Family> {
        persona::family(name)
    }

    fn covers(&self, family: Family, kind: ToolKind, _: bool) -> bool {
        // `Write` and `Read` are families always; `Write` is everything that changes a file.
        let changes = matches!(kind, ToolKind::Edit | ToolKind::MultiEdit | ToolKind::Delete | ToolKind::Mkdir);
        family.covers(kind, Width::Family) || family == Family::Write && changes
    }

    fn rules_are_beginnings(&self) -> bool {
        true
    }

    fn rules_allow_what_is_run(&self) -> bool {
        true
    }

    fn mode_name(&self, mode: PermissionMode) -> &'static str {
        modes::name(Dialect::Cursor, mode)
    }

    fn mode_named(&self, name: &str) -> Result<PermissionMode, String> {
        // Hosts of Cursor's have no words for it.
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
        false
    }

    fn guarded(&self) -> Guarded {
        persona::guarded()
    }

    fn denied(&self, _: &Spec, _: &Access, reason: &Reason) -> String {
        format!("Rejected: {reason}")
    }

    fn unheard(&self, _: &Policy, _: &Spec, _: &Access, why: &Unheard) -> String {
        match why {
            Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => reason.clone(),
            _ => "User Rejected".to_owned(),
        }
    }

    fn question(&self, _: &Policy, _: &Spec, _: &Value, _: &Access, _: &Reason) -> Question {
        (None, Vec::new())
    }
}
