//! Tricode: its tools under its names, with its result texts, its plan and its reminders. Version 341a160 (docs/tricode.md).

mod host;
mod permissions;
pub mod tools;

use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;

use super::{Persona, commands};
use crate::hooks::{HookForm, PLAIN};
use crate::mcp;
use crate::store::{Ids, SessionFiles, own_root};

static SESSIONS: SessionFiles = SessionFiles {
    dialect: Dialect::Tricode,
    root: own_root,
    ids: Ids::Short,
    have_titles: false,
    have_numbers: false,
    have_paths: false,
    // Its sessions belong to no folder.
    have_folders: false,
    given_out: false,
    in_use: None,
    bad_id: None,
    copies: None,
    exit_code: 0,
    checkpoints: None,
};

static HOOKS: HookForm = HookForm {
    // What hooks that were written for another program look for.
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Tricode",
    ..PLAIN
};

/// The persona.
pub static TRICODE: Persona = Persona {
    dialect: Dialect::Tricode,
    flags: &["--bypass-work-directory-limit", "--debug", "--override-system-prompt"],
    restricts: &[],
    server: &[],
    begin: |start| {
        let mut wish = tools::Wish::of(start.launch, start.world)?;
        wish.commands = start.commands;
        wish.engine = start.engine;
        Ok(Rc::new(tools::Session::new(wish)))
    },
    fetch: None,
    search: None,
    asking: || Vec::new(),
    subagents: None,
    has_skills: false,
    permissions: &permissions::PERMISSIONS,
    settings: None,
    trusts: |_| false,
    thinking_variable: None,
    // What AGENTS.md files say stands in its system prompt.
    memory: None,
    sessions: &SESSIONS,
    hooks: &HOOKS,
    elicits: false,
    mcp: &mcp::PLAIN,
    commands: &commands::NONE,
    host: &host::TricodeHost,
};
