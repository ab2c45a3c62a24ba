//! What several personas say in the same way. Nothing here knows which.

pub(super) mod ajv;
pub(in crate::persona) mod args;
pub(super) mod asking;
pub(super) mod grep;
pub(super) mod jobs;
pub(super) mod native;
pub(super) mod say;
pub(super) mod search;
pub(super) mod todo;
pub(super) mod web;

use crate::hooks::{self, HookForm};

/// Hooks of a vendor that has its own names for few of their parts: `agent` needs the user's permission. Commands look for the variable that
/// the hooks of another program had first.
pub(super) const fn hooks(agent: &'static str) -> HookForm {
    HookForm {
        project_variable: "CLAUDE_PROJECT_DIR",
        agent,
        ..hooks::PLAIN
    }
}
