//! How the built-in agent plays each vendor's program, where that is more than the dialect's codec: one folder a vendor.
//!
//! Every other part of the agent asks the [`Persona`] of its session and names no vendor (`tests/vendors.rs` looks). What a part needs to
//! know of a vendor is a struct or a trait of that part's own folder; a persona has one of each:
//!
//! | part | what it asks for |
//! |---|---|
//! | tools | `begin`, `asking`, `fetch`, `search`, `subagents` |
//! | permissions | [`PermissionForm`]: how rules are spelt, what modes are called, what a denial says |
//! | hooks | [`HookForm`]: names of events, shape of payloads |
//! | settings, memory, sessions on disk | [`SettingsFiles`], [`MemoryFiles`], [`SessionFiles`] |
//! | MCP | [`Naming`] |
//! | commands | [`Commands`]: which there are, how they are called |
//! | what the host is told | [`HostPersona`] |

pub mod claude;
pub mod codex;
pub mod commands;
pub mod cursor;
pub mod gemini;
pub mod host;
mod host_facts;
mod host_tasks;
mod neutral;
pub mod opencode;
pub mod qwen;
#[cfg(test)]
mod read_rules_tests;
mod session;
pub(crate) mod shared;
#[cfg(test)]
pub(crate) mod testing;
mod told;
pub mod tricode;

use std::ffi::OsString;
use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::Launch;

use self::commands::Commands;
pub use self::host::{HostPersona, Told};
pub use self::session::{PersonaSession, Start};
use crate::Error;
use crate::hooks::HookForm;
use crate::mcp::Naming;
use crate::model::server_flags::ServerFlag;
use crate::permissions::{Family, Guarded, PermissionForm, Vocabulary};
use crate::restrictions::Restricting;
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Root, SessionFiles, Shelf, own_root};
use crate::tools::Tool;
use crate::tools::fetch::Policy;
use crate::tools::web_search::Engine;

/// The vendors that are played, one line each. A dialect that is not here has nobody's manners: [`neutral`].
static PERSONAS: [&Persona; 8] = [
    &claude::CLAUDE,
    &qwen::RFC,
    &qwen::CODE,
    &tricode::TRICODE,
    &cursor::CURSOR,
    &codex::CODEX,
    &gemini::GEMINI,
    &opencode::OPENCODE,
];

/// Who the agent is for hosts of a dialect.
pub fn of(dialect: Dialect) -> &'static Persona {
    all().find(|persona| persona.dialect == dialect).unwrap_or(&neutral::NEUTRAL)
}

/// Everybody whom the agent plays.
pub fn all() -> impl Iterator<Item = &'static Persona> {
    PERSONAS.into_iter()
}

/// All sessions that there are on this machine, whoever was played in them.
pub fn shelf(env: &dyn Fn(&str) -> Option<OsString>) -> Shelf {
    let own = own_root(env);
    let mut roots: Vec<Root> = Vec::new();
    for files in all().map(|persona| persona.sessions) {
        if let Some(path) = (files.root)(env).filter(|path| roots.iter().all(|root| root.path != *path)) {
            // What is not our folder is that of the vendor's own program.
            let owner = (own.as_ref() != Some(&path)).then_some(files.dialect);
            roots.push(Root { path, owner });
        }
    }
    Shelf::of(roots)
}

/// The tools that a name means in rules: settings name tools as any vendor does.
pub fn family(name: &str) -> Option<Family> {
    let mut names = all().flat_map(|persona| persona.permissions.names);
    names.find(|(_, names)| names.contains(&name)).map(|(family, _)| *family)
}

/// What settings of any vendor's lie in: an agent does not change them without being asked to.
pub(crate) fn guarded() -> Guarded {
    let mut guarded = Guarded::default();
    for files in all().filter_map(|persona| persona.settings) {
        guarded.folders.push((files.folder, files.unguarded));
        guarded.files.extend(files.beside);
    }
    guarded
}

/// Files that list what nobody wants to see, of any vendor's.
pub(crate) fn ignore_files() -> Vec<&'static str> {
    let mut names: Vec<&str> = all().flat_map(|persona| persona.commands.ignores).copied().collect();
    names.dedup();
    names
}

/// What the agent is to a vendor's hosts.
#[derive(Debug)]
pub struct Persona {
    /// Its dialect.
    pub dialect: Dialect,
    /// Flags without a place in [`Launch`] that the agent heeds.
    pub flags: &'static [&'static str],
    /// Flags that keep the agent from something.
    pub restricts: &'static [Restricting],
    /// Flags that say whose model it is to be.
    pub server: &'static [ServerFlag],
    /// A session begins: its tools, and what they share. Fails when what the launch names cannot be had.
    pub begin: fn(Start<'_>) -> Result<Rc<dyn PersonaSession>, Error>,
    /// What fetches pages, where somebody has named it. `None` where there is none, or it is one of the session's tools anyway.
    pub fetch: Option<fn(Policy) -> Rc<dyn Tool>>,
    /// What searches the web, where somebody has named it.
    pub search: Option<fn(Engine) -> Rc<dyn Tool>>,
    /// Tools that are for the user to answer.
    pub asking: fn() -> Vec<Rc<dyn Tool>>,
    /// The tool that begins subagents; none where there are no subagents.
    pub subagents: Option<SubagentTool>,
    /// Whether the model has a tool that takes up skills.
    pub has_skills: bool,
    /// The vendor's side of permissions.
    pub permissions: &'static PermissionForm,
    /// Its files of settings.
    pub settings: Option<&'static SettingsFiles>,
    /// Whether a launch says by its flags that the project is trusted.
    pub trusts: fn(&Launch) -> bool,
    /// The variable that holds the most tokens for thinking.
    pub thinking_variable: Option<&'static str>,
    /// Its files of instructions for every session.
    pub memory: Option<&'static MemoryFiles>,
    /// How its sessions are kept.
    pub sessions: &'static SessionFiles,
    /// How its hooks are called and told.
    pub hooks: &'static HookForm,
    /// Hosts answer the questions of MCP servers.
    pub elicits: bool,
    /// How it names what MCP servers have.
    pub mcp: &'static Naming,
    /// Its commands.
    pub commands: &'static Commands,
    /// What its hosts are told, and how.
    pub host: &'static dyn HostPersona,
}

/// The kind of a subagent that nobody has described further.
pub(crate) const GENERAL: &str = "general-purpose";

/// The tool that begins subagents, as its model knows it.
#[derive(Clone, Copy, Debug)]
pub struct SubagentTool {
    /// What it is called, and its other names.
    pub names: &'static [&'static str],
    /// The argument that names the kind of agent.
    pub kind: &'static str,
    /// What the kind for everything is called.
    pub general: &'static str,
    /// Whether the task is said in a few words too.
    pub has_description: bool,
}

impl SubagentTool {
    /// As most have it.
    pub const fn named(names: &'static [&'static str]) -> Self {
        Self {
            names,
            kind: "subagent_type",
            general: GENERAL,
            has_description: true,
        }
    }
}

impl Persona {
    /// What rules of its settings are read by.
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            form: self.permissions,
            family,
            guarded: guarded(),
        }
    }

    /// The flags of its vendor's own that the agent acts on, by one of their names.
    pub fn heeded(&self) -> impl Iterator<Item = &'static str> {
        let restricts = self.restricts.iter().map(|(name, _)| *name);
        self.flags
            .iter()
            .copied()
            .chain(restricts)
            .chain(self.server.iter().map(ServerFlag::name))
    }
}
