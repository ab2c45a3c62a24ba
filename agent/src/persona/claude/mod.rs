//! Claude Code, as its SDKs and recordings know it.

mod commands;
mod hooks;
mod host;
mod permissions;
mod tasks;
pub mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;
use agentglot_adapters::raw::launch::Launch;

use super::session::Plain;
use super::{HostPersona, Persona, PersonaSession, Start, shared};
use crate::Error;
use crate::commands::Commands;
use crate::hooks::HookForm;
use crate::mcp::Naming;
use crate::permissions::{Family, PermissionPersona};
use crate::settings::memory::MemoryFiles;
use crate::settings::{PluginFiles, SettingsFiles};
use crate::store::{Ids, SessionFiles};
use crate::tools::fetch::Policy;
use crate::tools::web_search::Engine;
use crate::tools::{Given, Tool};

/// The persona.
pub static CLAUDE: Claude = Claude;

/// See the module.
#[derive(Debug)]
pub struct Claude;

const FLAGS: &[&str] = &[
    "--allow-dangerously-skip-permissions",
    "--debug-file",
    "--debug-to-stderr",
    "--no-session-persistence",
    "--plugin-dir",
    "--resume-drops-turn",
    "--session-mirror",
];

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".claude",
    variable: Some("CLAUDE_CONFIG_DIR"),
    user: "settings.json",
    project: "settings.json",
    local: Some("settings.local.json"),
    servers: Some(".mcp.json"),
    plugins: Some(PluginFiles {
        flag: "--plugin-dir",
        manifest: ".claude-plugin/plugin.json",
        root: "${CLAUDE_PLUGIN_ROOT}",
    }),
    unguarded: &["worktrees", "plans"],
    beside: &[".claude.json"],
};

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"],
    local: Some("CLAUDE.local.md"),
};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Claude,
    root,
    ids: Ids::Uuid,
    have_titles: true,
    have_paths: true,
    have_folders: true,
    given_out: false,
    none_yet: Some("No conversation found to continue"),
    bad_id: Some("Error: Invalid session ID. Must be a valid UUID."),
    copies: Some("--fork-session"),
    exit_code: 1,
    checkpoints: Some("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"),
};

/// Where Claude Code and its SDKs look.
fn root(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("CLAUDE_CONFIG_DIR").or_else(|| Some(set("HOME")?.join(".claude")));
    Some(config?.join("projects"))
}

static MCP: Naming = Naming {
    keeps_dots: false,
    longest: None,
    list: "ListMcpResourcesTool",
    read: "ReadMcpResourceTool",
    server: "server",
    detail: Some(DetailShape::Claude),
};

fn unknown(name: &str) -> Given {
    shared::say::refused(&format!("Error: No such tool available: {name}"))
}

impl Persona for Claude {
    fn dialect(&self) -> Dialect {
        Dialect::Claude
    }

    fn flags(&self) -> &'static [&'static str] {
        FLAGS
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
        vec![
            shared::asking::ask("AskUserQuestion"),
            shared::asking::exit_plan("ExitPlanMode", shared::asking::plan_detail),
        ]
    }

    fn subagents(&self) -> Option<&'static [&'static str]> {
        // The second is what it was called once.
        Some(&["Agent", "Task"])
    }

    fn has_skills(&self) -> bool {
        true
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

    fn trusts(&self, _: &Launch) -> bool {
        false
    }

    fn thinking_variable(&self) -> Option<&'static str> {
        Some("MAX_THINKING_TOKENS")
    }

    fn memory(&self) -> Option<&'static MemoryFiles> {
        Some(&MEMORY)
    }

    fn sessions(&self) -> &'static SessionFiles {
        &SESSIONS
    }

    fn hooks(&self) -> &'static HookForm {
        &hooks::HOOKS
    }

    fn elicits(&self) -> bool {
        true
    }

    fn mcp(&self) -> &'static Naming {
        &MCP
    }

    fn commands(&self) -> &'static Commands {
        &commands::COMMANDS
    }

    fn host(&self) -> &'static dyn HostPersona {
        &host::ClaudeHost
    }
}
