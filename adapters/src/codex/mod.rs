//! Codex: `codex exec --json` (docs/codex.md).
//!
//! One process is one turn: `thread.started`, `turn.started`, items, `turn.completed` or `turn.failed`. What happens is an item, whose `type`
//! says what it is and which tool it is a call of; items come whole, and those that take time come twice, when they start and when they are
//! completed. Tokens count up over a thread. Read are both generations (0.80 and 0.169); written is today's, but for the second `id` of a
//! search, with which the program's own lines say one key twice.

pub(crate) mod app_server;
mod calls;
mod decode;
mod encode;
mod failure;
pub(crate) mod fields;
mod items;
mod own;
mod pictures;
mod program;
pub(crate) mod recognise;
pub(crate) mod rollout;
#[cfg(feature = "schema")]
mod schema;
mod tools;
mod turn;
mod unrun;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::launch::PermissionMode;
use crate::vendor::{Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "codex",
    about: "Codex's exec --json, its app-server and the files of its sessions",
    modes: &[Mode::new("exec", Layout::Lines), app_server::MODE, rollout::MODE],
    decoder: |mode| match mode {
        app_server::MODE => app_server::Decoder::default().into(),
        rollout::MODE => rollout::Decoder::default().into(),
        _ => Decoder::default().into(),
    },
    host_decoder: None,
    encoder: Some(|style| match style.mode {
        app_server::MODE => app_server::Encoder::new(style).into(),
        rollout::MODE => rollout::Encoder::new(style).into(),
        _ => Encoder::new(style).into(),
    }),
    stores: &[rollout::STORE],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: &[
        ("danger-full-access", PermissionMode::Bypass),
        ("workspace-write", PermissionMode::AcceptEdits),
        ("read-only", PermissionMode::DontAsk),
    ],
    tools: Some(&tools::TOOLS),
    detail: Some(&tools::DETAIL),
    logs: Logs {
        one_turn_a_run: true,
        arguments_at: "/item",
        results_outlive_turns: true,
        commands_outlive_turns: true,
        usage_at: &[
            "/usage",
            "/params/tokenUsage",
            "/msg/params/tokenUsage",
            "/payload/usage",
            "/payload/info",
        ],
        ..Logs::USUAL
    },
};
