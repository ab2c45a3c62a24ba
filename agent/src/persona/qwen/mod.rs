//! Qwen Code, and the RFC: the same program to its user, by two protocols.

mod commands;
mod confirmation;
mod host;
mod permissions;
mod rfc;
pub mod tools;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;
use agentglot_models::Api;
use serde_json::{Value, json};

use super::session::Plain;
use super::shared::asking;
use super::{Persona, SubagentTool, shared};
use crate::hooks::HookForm;
use crate::mcp::{self, Naming};
use crate::model::server_flags::ServerFlag;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::SessionFiles;
use crate::tools::Given;

static SESSIONS: SessionFiles = SessionFiles {
    have_titles: true,
    copies: Some("--fork-session"),
    ..SessionFiles::of(Dialect::QwenCode)
};

static HOOKS: HookForm = HookForm {
    counts_milliseconds: true,
    has_time: true,
    // The program accepts callbacks and never calls them; its hosts do not answer.
    takes_callbacks: false,
    ..shared::hooks("Qwen Code")
};

static MCP: Naming = Naming {
    keeps_dots: true,
    longest: Some(63),
    server: "server_name",
    ..mcp::SNAKE
};

fn unknown(name: &str) -> Given {
    Given::error(format!("Tool \"{name}\" not found in registry."))
}

fn plan_detail(plan: &Value) -> (DetailShape, Value) {
    let message = "User approved the plan.";
    let shown = json!({"kind": "plan_summary", "message": message, "plan_markdown": plan, "text": asking::APPROVED});
    (DetailShape::Qwen, shown)
}

/// The persona for hosts of Qwen Code.
pub static CODE: Persona = QWEN;

/// The persona for hosts of the RFC.
pub static RFC: Persona = Persona {
    dialect: Dialect::Qwen,
    flags: &[
        "--chat-recording",
        "--no-chat-recording",
        "--control-timeout",
        "--heartbeat",
        "--log-annotations",
    ],
    begin: |start| Ok(Plain::begin(start, tools::of_rfc, unknown)),
    permissions: &permissions::RFC,
    commands: &commands::RFC,
    host: &rfc::RfcHost,
    ..QWEN
};

const QWEN: Persona = Persona {
    dialect: Dialect::QwenCode,
    flags: &["--chat-recording", "--no-chat-recording"],
    restricts: &[
        ("--allowed-mcp-server-names", &[Restriction::OtherServers]),
        ("--bare", &[Restriction::Additions]),
        ("--disabled-slash-commands", &[Restriction::NamedCommands("QWEN_DISABLED_SLASH_COMMANDS")]),
        ("--max-subagent-depth", &[Restriction::MoreLevels]),
        ("--max-tool-calls", &[Restriction::MoreCalls]),
        ("--max-wall-time", &[Restriction::MoreTime]),
        (
            "--proxy",
            &[Restriction::Unable(
                "name the proxy by HTTPS_PROXY, which holds for servers and tools too",
            )],
        ),
        ("--safe-mode", &[Restriction::Additions, Restriction::Servers]),
        ("--sandbox", &[Restriction::WritingElsewhere]),
        ("--worktree", NO_WORKTREES),
    ],
    server: &[
        ServerFlag::Key("--openai-api-key", Api::Openai, "OPENAI_API_KEY"),
        ServerFlag::Address("--openai-base-url", Api::Openai, "OPENAI_BASE_URL"),
    ],
    begin: |start| Ok(Plain::begin(start, tools::of_code, unknown)),
    fetch: Some(tools::web::fetch),
    search: Some(tools::web::search),
    asking: || {
        vec![
            asking::ask("ask_user_question", asking::by_header),
            asking::exit_plan("exit_plan_mode", plan_detail),
        ]
    },
    subagents: Some(SubagentTool::named(&["agent"])),
    permissions: &permissions::CODE,
    settings: Some(&SettingsFiles::below(".qwen")),
    memory: Some(&MemoryFiles::named(&["QWEN.md", "AGENTS.md"])),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    mcp: &MCP,
    commands: &commands::CODE,
    host: &host::CodeHost,
    ..Persona::PLAIN
};
