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
use super::{Persona, SubagentTool};
use crate::hooks::{HookForm, PLAIN};
use crate::mcp::Naming;
use crate::model::server_flags::ServerFlag;
use crate::restrictions::{NO_WORKTREES, Restriction};
use crate::settings::SettingsFiles;
use crate::settings::memory::MemoryFiles;
use crate::store::{Ids, SessionFiles, own_root};
use crate::tools::Given;

static SETTINGS: SettingsFiles = SettingsFiles {
    folder: ".qwen",
    variable: None,
    user: "settings.json",
    home: None,
    project: "settings.json",
    is_beside: false,
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
    have_numbers: false,
    have_paths: false,
    have_folders: true,
    given_out: false,
    in_use: None,
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
    call_meta: None,
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
    has_skills: false,
    permissions: &permissions::CODE,
    settings: Some(&SETTINGS),
    trusts: |_| false,
    thinking_variable: None,
    memory: Some(&MEMORY),
    sessions: &SESSIONS,
    hooks: &HOOKS,
    elicits: false,
    mcp: &MCP,
    commands: &commands::CODE,
    host: &host::CodeHost,
};
