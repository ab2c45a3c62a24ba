//! Cursor's agent, as `cursor-agent --print` is.

mod host;
mod permissions;
pub mod tools;

use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::{Launch, PermissionMode};

use super::session::Plain;
use super::{HostPersona, Persona, PersonaSession, Start, shared};
use crate::Error;
use crate::commands::{self, Commands};
use crate::flags::given;
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::{self, Naming};
use crate::permissions::{Family, PermissionPersona};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::fetch::Policy;
use crate::tools::web_search::Engine;
use crate::tools::{Given, Tool};

/// The persona.
pub static CURSOR: Cursor = Cursor;

/// See the module.
#[derive(Debug)]
pub struct Cursor;

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".cursor",
    variable: Some("CURSOR_CONFIG_DIR"),
    user: "cli-config.json",
    project: "cli.json",
    local: None,
    servers: None,
    plugins: None,
    unguarded: &[],
    beside: &[],
};

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["AGENTS.md", "CLAUDE.md"],
    local: None,
};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Cursor,
    root: own_root,
    ids: Ids::Uuid,
    have_titles: false,
    have_paths: false,
    have_folders: true,
    given_out: true,
    none_yet: None,
    bad_id: None,
    copies: None,
    exit_code: 1,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Cursor",
    ..PLAIN
};

fn unknown(name: &str) -> Given {
    shared::say::refused(&format!("Error: No such tool available: {name}"))
}

impl Persona for Cursor {
    fn dialect(&self) -> Dialect {
        Dialect::Cursor
    }

    fn flags(&self) -> &'static [&'static str] {
        &["--trust"]
    }

    fn begin(&self, start: Start<'_>) -> Result<Rc<dyn PersonaSession>, Error> {
        Ok(Plain::begin(start, tools::all, unknown))
    }

    fn fetch(&self, policy: Policy) -> Option<Rc<dyn Tool>> {
        Some(tools::web::fetch(policy))
    }

    fn search(&self, engine: Engine) -> Option<Rc<dyn Tool>> {
        Some(tools::web::search(engine))
    }

    fn asking(&self) -> Vec<Rc<dyn Tool>> {
        Vec::new()
    }

    fn subagents(&self) -> Option<&'static [&'static str]> {
        Some(&["task"])
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
        Some(&SETTINGS)
    }

    fn trusts(&self, launch: &Launch) -> bool {
        launch.permission == Some(PermissionMode::Bypass) || given(launch, "--trust").is_some()
    }

    fn thinking_variable(&self) -> Option<&'static str> {
        None
    }

    fn memory(&self) -> Option<&'static MemoryFiles> {
        Some(&MEMORY)
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
        &host::CursorHost
    }
}
