//! Claude Code, as its SDKs and recordings know it.

mod commands;
mod hooks;
mod host;
mod permissions;
mod tasks;
pub mod tools;

use std::ffi::OsString;
use std::path::PathBuf;

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{Persona, SubagentTool, shared};
use crate::mcp::{self, Naming};
use crate::restrictions::{NO_WORKTREES, Restricting, Restriction};
use crate::settings::memory::MemoryFiles;
use crate::settings::{PluginFiles, SettingsFiles};
use crate::store::SessionFiles;
use crate::tools::Given;

const FLAGS: &[&str] = &[
    "--allow-dangerously-skip-permissions",
    "--debug-file",
    "--debug-to-stderr",
    "--no-session-persistence",
    "--plugin-dir",
    "--resume-drops-turn",
    "--session-mirror",
];

const RESTRICTS: &[Restricting] = &[
    ("--bare", &[Restriction::Additions, Restriction::OtherTools(&["Bash", "Edit", "Read"])]),
    ("--disable-slash-commands", &[Restriction::Commands]),
    (
        "--restricted",
        &[Restriction::Settings, Restriction::Bypass, Restriction::Tools(&["Bash", "WebFetch"])],
    ),
    (
        "--managed-settings",
        &[Restriction::Unable("it knows no administrators; say by --settings what may run")],
    ),
    ("--no-chrome", &[]),
    (
        "--safe-mode",
        &[Restriction::Additions, Restriction::Plugins, Restriction::Servers, Restriction::Subagents],
    ),
    ("--worktree", NO_WORKTREES),
];

static SETTINGS: SettingsFiles = SettingsFiles {
    variable: Some("CLAUDE_CONFIG_DIR"),
    local: Some("settings.local.json"),
    servers: Some(".mcp.json"),
    plugins: Some(PluginFiles {
        flag: "--plugin-dir",
        manifest: ".claude-plugin/plugin.json",
        root: "${CLAUDE_PLUGIN_ROOT}",
    }),
    unguarded: &["worktrees", "plans"],
    beside: &[".claude.json"],
    ..SettingsFiles::below(".claude")
};

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"],
    local: Some("CLAUDE.local.md"),
};

static SESSIONS: SessionFiles = SessionFiles {
    root,
    have_titles: true,
    have_paths: true,
    bad_id: Some("Error: Invalid session ID. Must be a valid UUID."),
    copies: Some("--fork-session"),
    checkpoints: Some("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"),
    ..SessionFiles::of(Dialect::Claude)
};

/// Where Claude Code and its SDKs look.
fn root(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("CLAUDE_CONFIG_DIR").or_else(|| Some(set("HOME")?.join(".claude")));
    Some(config?.join("projects"))
}

static MCP: Naming = Naming {
    call_meta: Some("claudecode/toolUseId"),
    ..mcp::PLAIN
};

fn unknown(name: &str) -> Given {
    shared::say::refused(&format!("Error: No such tool available: {name}"))
}

/// The persona.
pub static CLAUDE: Persona = Persona {
    dialect: Dialect::Claude,
    flags: FLAGS,
    restricts: RESTRICTS,
    begin: |start| Ok(Plain::begin(start, tools::all, unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    asking: || {
        vec![
            shared::asking::ask("AskUserQuestion", shared::asking::by_question),
            shared::asking::exit_plan("ExitPlanMode", shared::asking::plan_detail),
        ]
    },
    // The second is what it was called once.
    subagents: Some(SubagentTool::named(&["Agent", "Task"])),
    has_skills: true,
    permissions: &permissions::PERMISSIONS,
    settings: Some(&SETTINGS),
    thinking_variable: Some("MAX_THINKING_TOKENS"),
    memory: Some(&MEMORY),
    sessions: &SESSIONS,
    hooks: &hooks::HOOKS,
    elicits: true,
    mcp: &MCP,
    commands: &commands::COMMANDS,
    host: &host::ClaudeHost,
    ..Persona::PLAIN
};
