//! Gemini CLI, as `gemini -p` is: nobody can be asked.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, SubagentTool, commands};
use crate::flags::given;
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::{self, Naming};
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".gemini",
    variable: None,
    user: "settings.json",
    home: None,
    project: "settings.json",
    is_beside: false,
    local: None,
    servers: None,
    plugins: None,
    unguarded: &[],
    beside: &[],
};

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["GEMINI.md", "AGENTS.md"],
    local: None,
};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Gemini,
    root: own_root,
    ids: Ids::Uuid,
    have_titles: false,
    have_numbers: true,
    have_paths: false,
    have_folders: true,
    given_out: false,
    in_use: Some(|id| format!("Error starting session: Session ID \"{id}\" already exists. Use --resume to resume it, or provide a different ID.")),
    bad_id: None,
    copies: None,
    exit_code: 42,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    counts_milliseconds: true,
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Gemini CLI",
    ..PLAIN
};

static NAMING: Naming = Naming {
    list: "list_mcp_resources",
    read: "read_mcp_resource",
    detail: None,
    ..mcp::PLAIN
};

const NO_POLICIES: &[Restriction] = &[Restriction::Unable("it reads no such files; say in settings what may run")];

/// The persona.
pub static GEMINI: Persona = Persona {
    dialect: Dialect::Gemini,
    flags: &["--skip-trust"],
    restricts: &[
        ("--admin-policy", NO_POLICIES),
        ("--allowed-mcp-server-names", &[Restriction::OtherServers]),
        ("--policy", NO_POLICIES),
        ("--sandbox", &[Restriction::WritingElsewhere]),
        ("--worktree", NO_WORKTREES),
    ],
    server: &[],
    begin: |start| Ok(Plain::begin(start, tools::all, tools::unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    asking: || Vec::new(),
    subagents: Some(SubagentTool {
        names: &["invoke_agent"],
        kind: "agent_name",
        general: "generalist",
        has_description: false,
    }),
    has_skills: false,
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SETTINGS),
    trusts: |launch| given(launch, "--skip-trust").is_some(),
    thinking_variable: None,
    memory: Some(&MEMORY),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    elicits: false,
    mcp: &NAMING,
    commands: &commands::NONE,
    host: &host::GeminiHost,
};
