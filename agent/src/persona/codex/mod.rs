//! Codex, as `codex exec` is: few tools, and nobody to ask.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, commands};
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::{self, Naming};
use crate::model::server_flags::ServerFlag;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::Given;

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["AGENTS.md"],
    local: None,
};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Codex,
    root: own_root,
    ids: Ids::Uuid,
    have_titles: false,
    have_numbers: false,
    have_paths: false,
    have_folders: false,
    given_out: false,
    in_use: None,
    bad_id: None,
    copies: None,
    exit_code: 1,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Codex",
    ..PLAIN
};

static NAMING: Naming = Naming {
    list: "list_mcp_resources",
    read: "read_mcp_resource",
    detail: None,
    ..mcp::PLAIN
};

fn unknown(name: &str) -> Given {
    Given::error(format!("unsupported call: {name}"))
}

/// Features without which tools are not there.
const SWITCHED_OFF: &[Restriction] = &[Restriction::Feature("shell_tool", &["shell_command"])];

/// The persona.
pub static CODEX: Persona = Persona {
    dialect: Dialect::Codex,
    // The settings among them are in the launch already.
    flags: &["-c", "--config", "-o", "--output-last-message", "--skip-git-repo-check", "--ephemeral"],
    restricts: &[
        ("--config", SWITCHED_OFF),
        ("--disable", SWITCHED_OFF),
        // Neither is read anyway.
        ("--ignore-rules", &[]),
        ("--ignore-user-config", &[]),
        (
            "--profile",
            &[Restriction::Unable("it reads no config.toml; say by -c what the profile says")],
        ),
        ("--worktree", NO_WORKTREES),
    ],
    server: &[ServerFlag::Local("--oss")],
    begin: |start| Ok(Plain::begin(start, tools::all, unknown)),
    fetch: None,
    search: Some(tools::search),
    asking: || Vec::new(),
    subagents: None,
    has_skills: false,
    permissions: &permissions::PERMISSIONS,
    settings: None,
    trusts: |_| false,
    thinking_variable: None,
    memory: Some(&MEMORY),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    elicits: false,
    mcp: &NAMING,
    commands: &commands::NONE,
    host: &host::CodexHost,
};
