//! Gemini CLI, as `gemini -p` is: nobody can be asked.

mod host;
mod permissions;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, SubagentTool, shared};
use crate::flags::given;
use crate::hooks::HookForm;
use crate::mcp;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::SessionFiles;

static SESSIONS: SessionFiles = SessionFiles {
    have_numbers: true,
    in_use: Some(|id| format!("Error starting session: Session ID \"{id}\" already exists. Use --resume to resume it, or provide a different ID.")),
    exit_code: 42,
    ..SessionFiles::of(Dialect::Gemini)
};

static HOOKS: HookForm = HookForm {
    counts_milliseconds: true,
    ..shared::hooks("Gemini CLI")
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
    begin: |start| Ok(Plain::begin(start, tools::all, tools::unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    subagents: Some(SubagentTool {
        names: &["invoke_agent"],
        kind: "agent_name",
        general: "generalist",
        has_description: false,
    }),
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SettingsFiles::below(".gemini")),
    trusts: |launch| given(launch, "--skip-trust").is_some(),
    memory: Some(&MemoryFiles::named(&["GEMINI.md", "AGENTS.md"])),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    mcp: &mcp::SNAKE,
    host: &host::GeminiHost,
    ..Persona::PLAIN
};
