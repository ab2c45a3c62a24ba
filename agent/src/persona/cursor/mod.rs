//! Cursor's agent, as `cursor-agent --print` is.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::PermissionMode;

use super::session::Plain;
use super::{Persona, SubagentTool, commands, shared};
use crate::flags::given;
use crate::hooks::{HookForm, PLAIN};
use crate::mcp;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::Given;

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".cursor",
    variable: Some("CURSOR_CONFIG_DIR"),
    user: "cli-config.json",
    home: None,
    project: "cli.json",
    is_beside: false,
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
    have_numbers: false,
    have_paths: false,
    have_folders: true,
    given_out: true,
    in_use: None,
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

/// The persona.
pub static CURSOR: Persona = Persona {
    dialect: Dialect::Cursor,
    flags: &["--trust"],
    restricts: &[
        ("--disable-project-configs", &[Restriction::ProjectSettings]),
        ("--sandbox", &[Restriction::WritingElsewhere]),
        ("--worktree", NO_WORKTREES),
    ],
    server: &[],
    begin: |start| Ok(Plain::begin(start, tools::all, unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    asking: || Vec::new(),
    subagents: Some(SubagentTool::named(&["task"])),
    has_skills: false,
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SETTINGS),
    trusts: |launch| launch.permission == Some(PermissionMode::Bypass) || given(launch, "--trust").is_some(),
    thinking_variable: None,
    memory: Some(&MEMORY),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    elicits: false,
    mcp: &mcp::PLAIN,
    commands: &commands::NONE,
    host: &host::CursorHost,
};
