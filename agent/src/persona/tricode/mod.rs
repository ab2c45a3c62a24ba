//! Tricode: its tools under its names, with its result texts, its plan and its reminders. Version 341a160 (docs/tricode.md).

mod host;
mod permissions;
pub mod tools;

use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;

use super::{Persona, shared};
use crate::store::{Ids, SessionFiles};

static SESSIONS: SessionFiles = SessionFiles {
    ids: Ids::Short,
    // Its sessions belong to no folder.
    have_folders: false,
    exit_code: 0,
    ..SessionFiles::of(Dialect::Tricode)
};

/// The persona.
pub static TRICODE: Persona = Persona {
    dialect: Dialect::Tricode,
    flags: &["--bypass-work-directory-limit", "--debug", "--override-system-prompt"],
    begin: |start| {
        let mut wish = tools::Wish::of(start.launch, start.world)?;
        wish.commands = start.commands;
        wish.engine = start.engine;
        Ok(Rc::new(tools::Session::new(wish)))
    },
    subagents: None,
    permissions: &permissions::PERMISSIONS,
    // What AGENTS.md files say stands in its system prompt.
    memory: None,
    sessions: &SESSIONS,
    hooks: &shared::hooks("Tricode"),
    host: &host::TricodeHost,
    ..Persona::PLAIN
};
