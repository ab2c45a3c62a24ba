//! OpenCode, as `opencode run` is: nobody can be asked.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, SubagentTool, commands};
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::{self, Naming};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".opencode",
    variable: None,
    user: "opencode.json",
    home: Some(".config/opencode"),
    project: "opencode.json",
    is_beside: true,
    local: None,
    servers: None,
    plugins: None,
    unguarded: &["plans"],
    beside: &["opencode.json", "opencode.jsonc"],
};

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["AGENTS.md", "CLAUDE.md"],
    local: None,
};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Opencode,
    root: own_root,
    ids: Ids::Prefixed("ses_"),
    have_titles: false,
    have_numbers: false,
    have_paths: false,
    have_folders: true,
    given_out: false,
    in_use: None,
    bad_id: None,
    copies: Some("--fork"),
    exit_code: 1,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "OpenCode",
    ..PLAIN
};

static NAMING: Naming = Naming {
    list: "list_mcp_resources",
    read: "read_mcp_resource",
    detail: None,
    ..mcp::PLAIN
};

/// The persona.
pub static OPENCODE: Persona = Persona {
    dialect: Dialect::Opencode,
    flags: &["--thinking"],
    // There are no plugins.
    restricts: &[("--pure", &[])],
    server: &[],
    begin: |start| Ok(Plain::begin(start, tools::all, tools::unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    asking: || Vec::new(),
    subagents: Some(SubagentTool {
        general: "general",
        ..SubagentTool::named(&["task"])
    }),
    has_skills: false,
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SETTINGS),
    trusts: |_| false,
    thinking_variable: None,
    memory: Some(&MEMORY),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    elicits: false,
    mcp: &NAMING,
    commands: &commands::NONE,
    host: &host::OpencodeHost,
};
