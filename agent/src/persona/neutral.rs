//! Nobody in particular: for dialects whose hosts have no agent of their own, such as the canonical events and model APIs. It has no tools
//! of its own and no files of settings, and says what it does in canonical events.

use agentglot_adapters::raw::codec::{Dialect, Mode};

use super::session::Plain;
use super::shared::jobs;
use super::{HostPersona, Persona, SubagentTool, commands};
use crate::hooks::{self};
use crate::mcp;
use crate::model::ModelError;
use crate::permissions::{PermissionForm, Policy, Reason, Unheard, mode_named};
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::jobs::Job;
use crate::tools::{Access, Given, Spec};

/// See the module.
#[derive(Debug)]
struct Neutral;

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Agentglot,
    root: own_root,
    ids: Ids::Uuid,
    have_titles: false,
    have_numbers: false,
    have_paths: false,
    have_folders: true,
    given_out: false,
    in_use: None,
    bad_id: None,
    copies: None,
    exit_code: 1,
    checkpoints: None,
};

fn unknown(name: &str) -> Given {
    Given::error(format!("There is no tool {name}."))
}

/// The persona.
pub(super) static NEUTRAL: Persona = Persona {
    dialect: Dialect::Agentglot,
    flags: &[],
    restricts: &[],
    server: &[],
    begin: |start| Ok(Plain::begin(start, |_, _, _| Vec::new(), unknown)),
    fetch: None,
    search: None,
    asking: || Vec::new(),
    subagents: Some(SubagentTool::named(&["agent"])),
    has_skills: false,
    permissions: &PERMISSIONS,
    settings: None,
    trusts: |_| false,
    thinking_variable: None,
    memory: None,
    sessions: &SESSIONS,
    hooks: &hooks::PLAIN,
    elicits: false,
    mcp: &mcp::PLAIN,
    commands: &commands::NONE,
    host: &Neutral,
};

static PERMISSIONS: PermissionForm = PermissionForm::new(&[], Dialect::Agentglot, |name| mode_named(Dialect::Agentglot, name), denied, unheard);

fn denied(spec: &Spec, _: &Access, reason: &Reason) -> String {
    format!("{} is not allowed: {reason}", spec.name)
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    match why {
        Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => reason.clone(),
        _ => format!("{} was not allowed.", spec.name),
    }
}

impl HostPersona for Neutral {
    fn failure(&self, error: &ModelError) -> String {
        error.message.clone()
    }

    fn begins_turns(&self, _: Mode) -> bool {
        false
    }

    fn job_ended(&self, job: &Job, output: &str) -> String {
        jobs::notice(job, output)
    }
}
