//! Cursor's agent, as `cursor-agent --print` is.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::PermissionMode;

use super::session::Plain;
use super::{Persona, SubagentTool, shared};
use crate::flags::given;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::SessionFiles;
use crate::tools::Given;

static SETTINGS: SettingsFiles = SettingsFiles {
    variable: Some("CURSOR_CONFIG_DIR"),
    user: "cli-config.json",
    project: "cli.json",
    ..SettingsFiles::below(".cursor")
};

static SESSIONS: SessionFiles = SessionFiles {
    given_out: true,
    ..SessionFiles::of(Dialect::Cursor)
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
    begin: |start| Ok(Plain::begin(start, tools::all, unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    subagents: Some(SubagentTool::named(&["task"])),
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SETTINGS),
    trusts: |launch| launch.permission == Some(PermissionMode::Bypass) || given(launch, "--trust").is_some(),
    memory: Some(&MemoryFiles::named(&["AGENTS.md", "CLAUDE.md"])),
    sessions: &SESSIONS,
    hooks: &shared::hooks("Cursor"),
    host: &host::CursorHost,
    ..Persona::PLAIN
};
