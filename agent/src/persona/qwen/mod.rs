//! Qwen Code, and the RFC: the same program to its user, by two protocols.

mod commands;
mod confirmation;
mod host;
mod permissions;
mod rfc;
pub mod tools;

use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;
use agentglot_adapters::raw::launch::Launch;
use serde_json::{Value, json};

use super::session::Plain;
use super::shared::asking;
use super::{HostPersona, Persona, PersonaSession, Start};
use crate::Error;
use crate::commands::Commands;
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::Naming;
use crate::permissions::{Family, PermissionPersona};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::fetch::Policy;
use crate::tools::web_search::Engine;
use crate::tools::{Given, Tool};

/// The persona for hosts of the RFC.
pub static RFC: Qwen = Qwen { rfc: true };

/// The persona for hosts of Qwen Code.
pub static CODE: Qwen = Qwen { rfc: false };

/// See the module.
#[derive(Debug)]
pub struct Qwen {
    rfc: bool,
}

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".qwen",
    variable: None,
    user: "settings.json",
    project: "settings.json",
    local: None,
    servers: None,
    plugins: None,
    unguarded: &[],
    beside: &[],
};

static MEMORY: MemoryFiles = MemoryFiles {
    names: &["QWEN.md", "AGENTS.md"],
    local: None,
};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::QwenCode,
    root: own_root,
    ids: Ids::Uuid,
    have_titles: true,
    have_paths: false,
    have_folders: true,
    given_out: false,
    none_yet: None,
    bad_id: None,
    copies: Some("--fork-session"),
    exit_code: 1,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    counts_milliseconds: true,
    has_time: true,
    // The program accepts callbacks and never calls them; its hosts do not answer.
    takes_callbacks: false,
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Qwen Code",
    ..PLAIN
};

static MCP: Naming = Naming {
    keeps_dots: true,
    longest: Some(63),
    list: "list_mcp_resources",
    read: "read_mcp_resource",
    server: "server_name",
    detail: None,
};

fn unknown(name: &str) -> Given {
    Given::error(format!("Tool \"{name}\" not found in registry."))
}

fn plan_detail(plan: &Value) -> (DetailShape, Value) {
    let message = "User approved the plan.";
    let shown = json!({"kind": "plan_summary", "message": message, "plan_markdown": plan, "text": asking::APPROVED});
    (DetailShape::Qwen, shown)
}

impl Persona for Qwen {
    fn dialect(&self) -> Dialect {
        if self.rfc { Dialect::Qwen } else { Dialect::QwenCode }
    }

    fn flags(&self) -> &'static [&'static str] {
        const CODE: &[&str] = &["--chat-recording", "--no-chat-recording"];
        const RFC: &[&str] = &[
            "--chat-recording",
            "--no-chat-recording",
            "--control-timeout",
            "--heartbeat",
            "--log-annotations",
        ];
        if self.rfc { RFC } else { CODE }
    }

    fn begin(&self, start: Start<'_>) -> Result<Rc<dyn PersonaSession>, Error> {
        Ok(Plain::begin(start, if self.rfc { tools::of_rfc } else { tools::of_code }, unknown))
    }

    fn fetch(&self, policy: Policy) -> Option<Rc<dyn Tool>> {
        Some(tools::web::fetch(policy))
    }

    fn search(&self, engine: Engine) -> Option<Rc<dyn Tool>> {
        Some(tools::web::search(engine))
    }

    fn asking(&self) -> Vec<Rc<dyn Tool>> {
        vec![asking::ask("ask_user_question"), asking::exit_plan("exit_plan_mode", plan_detail)]
    }

    fn subagents(&self) -> Option<&'static [&'static str]> {
        Some(&["agent"])
    }

    fn has_skills(&self) -> bool {
        false
    }

    fn tool_names(&self) -> &'static [(Family, &'static [&'static str])] {
        permissions::TOOL_NAMES
    }

    fn permissions(&self) -> &'static dyn PermissionPersona {
        if self.rfc { &permissions::RFC } else { &permissions::CODE }
    }

    fn settings(&self) -> Option<&'static SettingsFiles> {
        Some(&SETTINGS)
    }

    fn trusts(&self, _: &Launch) -> bool {
        false
    }

    fn thinking_variable(&self) -> Option<&'static str> {
        None
    }

    fn memory(&self) -> Option<&'static MemoryFiles> {
        Some(&MEMORY)
    }

    fn sessions(&self) -> &'static SessionFiles {
        &SESSIONS
    }

    fn hooks(&self) -> &'static HookForm {
        &HOOKS
    }

    fn elicits(&self) -> bool {
        false
    }

    fn mcp(&self) -> &'static Naming {
        &MCP
    }

    fn commands(&self) -> &'static Commands {
        if self.rfc { &commands::RFC } else { &commands::CODE }
    }

    fn host(&self) -> &'static dyn HostPersona {
        if self.rfc { &rfc::RfcHost } else { &host::CodeHost }
    }
}
