//! Nobody in particular: for dialects whose hosts have no agent of their own, such as the canonical events and model APIs. It has no tools
//! of its own and no files of settings, and says what it does in canonical events.

use agentglot_adapters::raw::codec::Dialect;

use super::session::Plain;
use super::{HostPersona, Persona, SubagentTool, commands};
use crate::hooks;
use crate::mcp;
use crate::permissions::{PermissionForm, Policy, Reason, Unheard, mode_named};
use crate::store::SessionFiles;
use crate::tools::{Access, Given, Spec};

/// See the module.
#[derive(Debug)]
struct Neutral;

fn unknown(name: &str) -> Given {
    Given::error(format!("There is no tool {name}."))
}

/// The persona.
pub(super) static NEUTRAL: Persona = Persona::PLAIN;

impl Persona {
    /// What is true of vendors that say nothing else.
    pub(super) const PLAIN: Self = Self {
        dialect: Dialect::Agentglot,
        flags: &[],
        restricts: &[],
        server: &[],
        begin: |start| Ok(Plain::begin(start, |_, _, _| Vec::new(), unknown)),
        fetch: None,
        search: None,
        asking: || Vec::new(),
        subagents: Some(SubagentTool::named(&["agent"])),
        has_skills: false,
        permissions: &PERMISSIONS,
        settings: None,
        trusts: |_| false,
        thinking_variable: None,
        memory: None,
        sessions: &SessionFiles::of(Dialect::Agentglot),
        hooks: &hooks::PLAIN,
        elicits: false,
        mcp: &mcp::PLAIN,
        commands: &commands::NONE,
        host: &Neutral,
    };
}

static PERMISSIONS: PermissionForm = PermissionForm::new(&[], Dialect::Agentglot, |name| mode_named(Dialect::Agentglot, name), denied, unheard);

fn denied(spec: &Spec, _: &Access, reason: &Reason) -> String {
    format!("{} is not allowed: {reason}", spec.name)
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    why.reason().map_or_else(|| format!("{} was not allowed.", spec.name), str::to_owned)
}

impl HostPersona for Neutral {}
