//! Codex, as `codex exec` is: few tools, and nobody to ask.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, shared};
use crate::mcp;
use crate::model::server_flags::ServerFlag;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::memory::MemoryFiles;
use crate::store::SessionFiles;
use crate::tools::Given;

static SESSIONS: SessionFiles = SessionFiles {
    have_folders: false,
    ..SessionFiles::of(Dialect::Codex)
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
    search: Some(tools::search),
    subagents: None,
    permissions: &permissions::PERMISSIONS,
    memory: Some(&MemoryFiles::named(&["AGENTS.md"])),
    sessions: &SESSIONS,
    hooks: &shared::hooks("Codex"),
    mcp: &mcp::SNAKE,
    host: &host::CodexHost,
    ..Persona::PLAIN
};
