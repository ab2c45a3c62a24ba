//! Tricode: its tools under its names, with its result texts, its plan and its reminders. Version 341a160 (docs/tricode.md).

mod host;
mod permissions;
pub mod tools;

use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::Launch;

use super::{HostPersona, Persona, PersonaSession, Start};
use crate::Error;
use crate::commands::{self, Commands};
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::{self, Naming};
use crate::permissions::{Family, PermissionPersona};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::Tool;
use crate::tools::fetch::Policy;
use crate::tools::web_search::Engine;

/// The persona.
pub static TRICODE: Tricode = Tricode;

/// See the module.
#[derive(Debug)]
pub struct Tricode;

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Tricode,
    root: own_root,
    ids: Ids::Short,
    have_titles: false,
    have_paths: false,
    // Its sessions belong to no folder.
    have_folders: false,
    given_out: false,
    none_yet: None,
    bad_id: None,
    copies: None,
    exit_code: 0,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Tricode",
    ..PLAIN
};

impl Persona for Tricode {
    fn dialect(&self) -> Dialect {
        Dialect::Tricode
    }

    fn flags(&self) -> &'static [&'static str] {
        &["--bypass-work-directory-limit", "--debug", "--override-system-prompt"]
    }

    fn begin(&self, start: Start<'_>) -> Result<Rc<dyn PersonaSession>, Error> {
        let mut wish = tools::Wish::of(start.launch, start.world)?;
        wish.commands = start.commands;
        wish.engine = start.engine;
        Ok(Rc::new(tools::Session::new(wish)))
    }

    fn fetch(&self, _: Policy) -> Option<Rc<dyn Tool>> {
        None
    }

    fn search(&self, _: Engine) -> Option<Rc<dyn Tool>> {
        None
    }

    fn asking(&self) -> Vec<Rc<dyn Tool>> {
        Vec::new()
    }

    fn subagents(&self) -> Option<&'static [&'static str]> {
        None
    }

    fn has_skills(&self) -> bool {
        false
    }

    fn tool_names(&self) -> &'static [(Family, &'static [&'static str])] {
        permissions::TOOL_NAMES
    }

    fn permissions(&self) -> &'static dyn PermissionPersona {
        &permissions::Permissions
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
        // What AGENTS.md files say stands in its system prompt.
        None
    }

    fn sessions(&self) -> &'static SessionFiles {
        &SESSIONS
    }

    fn hooks(&self) -> &'static HookForm {
        &HOOKS
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
        &host::TricodeHost
    }
}
