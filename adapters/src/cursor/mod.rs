//! Cursor's `--print`: `stream-json`, `json` and `text` (docs/cursor.md).
//!
//! One process is one turn: `system/init`, the prompt's echo, thinking, assistant segments, tool calls, `result`. A turn that
//! fails has no `result`; its error goes to stderr. There is no stdin protocol: the prompt comes on the command line, so a log
//! of the host's side does not exist, and what a host says in another dialect has no place here.
//!
//! Read are both generations (assistant lines of 2025 are pieces, today's are whole segments), with and without
//! `--stream-partial-output` (`segments`). Written is today's.

mod calls;
mod content;
mod decode;
mod encode;
pub(crate) mod fields;
mod lines;
mod members;
mod message;
mod own;
mod program;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;
mod segments;
mod text;
mod tools;
mod turn;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Dialect, Mode};
use crate::launch::PermissionMode;
use crate::vendor::{Logs, Vendor};

/// The version of the program that this folder was read off, and which it stands for.
pub(crate) const VERSION: &str = "2026.09.10-fd3934a";

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "cursor",
    about: "Cursor's --print",
    modes: &[Mode::STREAM_JSON, Mode::JSON, Mode::TEXT],
    decoder: |_| Decoder::default().into(),
    host_decoder: None,
    encoder: Some(|style| Encoder::new(style).into()),
    stores: &[],
    // Its typed calls are made of these.
    agent_tools: Some(Dialect::Claude),
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: &[("plan", PermissionMode::Plan), ("ask", PermissionMode::Plan)],
    tools: Some(&tools::TOOLS),
    detail: Some(&tools::DETAIL),
    logs: Logs {
        one_turn_a_run: true,
        ids_name_rounds: true,
        pieces_on_request: true,
        arguments_at: "/tool_call/NAME/args",
        usage_at: &["/usage"],
        ..Logs::USUAL
    },
};
