//! OpenCode, as `opencode run` is: nobody can be asked.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, SubagentTool, shared};
use crate::mcp;
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles};

static SETTINGS: SettingsFiles = SettingsFiles {
    user: "opencode.json",
    home: Some(".config/opencode"),
    project: "opencode.json",
    is_beside: true,
    unguarded: &["plans"],
    beside: &["opencode.json", "opencode.jsonc"],
    ..SettingsFiles::below(".opencode")
};

static SESSIONS: SessionFiles = SessionFiles {
    ids: Ids::Prefixed("ses_"),
    copies: Some("--fork"),
    ..SessionFiles::of(Dialect::Opencode)
};

/// The persona.
pub static OPENCODE: Persona = Persona {
    dialect: Dialect::Opencode,
    flags: &["--thinking"],
    // There are no plugins.
    restricts: &[("--pure", &[])],
    begin: |start| Ok(Plain::begin(start, tools::all, tools::unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    subagents: Some(SubagentTool {
        general: "general",
        ..SubagentTool::named(&["task"])
    }),
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SETTINGS),
    memory: Some(&MemoryFiles::named(&["AGENTS.md", "CLAUDE.md"])),
    sessions: &SESSIONS,
    hooks: &shared::hooks("OpenCode"),
    mcp: &mcp::SNAKE,
    host: &host::OpencodeHost,
    ..Persona::PLAIN
};
