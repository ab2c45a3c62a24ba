//! Nobody in particular: for dialects whose hosts have no agent of their own, such as the canonical events and model APIs. It has no tools
//! of its own and no files of settings, and says what it does in canonical events.

use std::rc::Rc;

use agentglot_adapters::raw::codec::{Dialect, Mode};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::{Launch, PermissionMode};
use serde_json::Value;

use super::session::Plain;
use super::shared::{jobs, modes};
use super::{HostPersona, Persona, PersonaSession, Start, family, guarded};
use crate::Error;
use crate::commands::{self, Commands};
use crate::hooks::{self, HookForm};
use crate::mcp::{self, Naming};
use crate::model::ModelError;
use crate::permissions::{Family, Guarded, PermissionPersona, Policy, Question, Reason, Unheard, Width};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::fetch;
use crate::tools::jobs::Job;
use crate::tools::web_search::Engine;
use crate::tools::{Access, Given, Spec, Tool};

pub(super) static NEUTRAL: Neutral = Neutral;

/// See the module.
#[derive(Debug)]
pub(super) struct Neutral;

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Agentglot,
    root: own_root,
    ids: Ids::Uuid,
    have_titles: false,
    have_paths: false,
    have_folders: true,
    given_out: false,
    none_yet: None,
    bad_id: None,
    copies: None,
    exit_code: 1,
    checkpoints: None,
};

fn unknown(name: &str) -> Given {
    Given::error(format!("There is no tool {name}."))
}

impl Persona for Neutral {
    fn dialect(&self) -> Dialect {
        Dialect::Agentglot
    }

    fn flags(&self) -> &'static [&'static str] {
        &[]
    }

    fn begin(&self, start: Start<'_>) -> Result<Rc<dyn PersonaSession>, Error> {
        Ok(Plain::begin(start, |_, _, _| Vec::new(), unknown))
    }

    fn fetch(&self, _: fetch::Policy) -> Option<Rc<dyn Tool>> {
        None
    }

    fn search(&self, _: Engine) -> Option<Rc<dyn Tool>> {
        None
    }

    fn asking(&self) -> Vec<Rc<dyn Tool>> {
        Vec::new()
    }

    fn subagents(&self) -> Option<&'static [&'static str]> {
        Some(&["agent"])
    }

    fn has_skills(&self) -> bool {
        false
    }

    fn tool_names(&self) -> &'static [(Family, &'static [&'static str])] {
        &[]
    }

    fn permissions(&self) -> &'static dyn PermissionPersona {
        &NEUTRAL
    }

    fn settings(&self) -> Option<&'static SettingsFiles> {
        None
    }

    fn trusts(&self, _: &Launch) -> bool {
        false
    }

    fn thinking_variable(&self) -> Option<&'static str> {
        None
    }

    fn memory(&self) -> Option<&'static MemoryFiles> {
        None
    }

    fn sessions(&self) -> &'static SessionFiles {
        &SESSIONS
    }

    fn hooks(&self) -> &'static HookForm {
        &hooks::PLAIN
    }

    fn elicits(&self) -> bool {
        false
    }

    fn mcp(&self) -> &'static Naming {
        &mcp::PLAIN
    }

    fn commands(&self) -> &'static Commands {
        &commands::NONE
    }

    fn host(&self) -> &'static dyn HostPersona {
        &NEUTRAL
    }
}

impl PermissionPersona for Neutral {
    fn family(&self, name: &str) -> Option<Family> {
        family(name)
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
        modes::name(Dialect::Agentglot, mode)
    }

    fn mode_named(&self, name: &str) -> Result<PermissionMode, String> {
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
        guarded()
    }

    fn denied(&self, spec: &Spec, _: &Access, reason: &Reason) -> String {
        format!("{} is not allowed: {reason}", spec.name)
    }

    fn unheard(&self, _: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
        match why {
            Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => reason.clone(),
            _ => format!("{} was not allowed.", spec.name),
        }
    }

    fn question(&self, _: &Policy, _: &Spec, _: &Value, _: &Access, _: &Reason) -> Question {
        (None, Vec::new())
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
