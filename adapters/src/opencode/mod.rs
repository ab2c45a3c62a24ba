//! OpenCode: `opencode run --format json`, the sessions of `opencode export`, and the events of its server (docs/opencode.md).
//!
//! One process is one turn: `step_start`, whole parts of the reply, `step_finish`, once for each round. A call stands in one line with what
//! came of it, when it is over. Nothing says what was asked, and no line ends the turn: how it ended is worked out of the last round.

pub(crate) mod bus;
mod decode;
mod encode;
pub(crate) mod export;
pub(crate) mod fields;
mod own;
mod parts;
mod program;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;
mod serves;
mod text;
mod tools;
mod turn;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::event::At;
use crate::vendor::{Ends, Facts, Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "opencode",
    about: "OpenCode's run --format json, the sessions that it exports and the events of its server",
    modes: &[Mode::new("run", Layout::Lines).with_tokens_behind(), export::MODE, bus::MODE, Mode::TEXT],
    decoder: |mode| match mode.layout {
        Layout::Session => export::Decoder::default().into(),
        _ if mode.apart => bus::Decoder::default().into(),
        _ => Decoder::default().into(),
    },
    host_decoder: None,
    encoder: Some(|style| match style.mode.layout {
        Layout::Session => export::Encoder::new(style).into(),
        _ => Encoder::new(style).into(),
    }),
    stores: &[export::STORE],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: &[],
    tools: Some(&tools::TOOLS),
    detail: Some(&tools::DETAIL),
    logs: Logs {
        one_turn_a_run: true,
        ends: Ends::WorkedOut,
        ids_name_rounds: true,
        arguments_at: "/part/state/input",
        facts: Facts::Never,
        usage_at: &["/part/tokens"],
        ..Logs::USUAL
    },
};

/// Where fields of a part stand.
const PART: At<'static> = At::Part("/part");
/// Where those of a call's state do.
const STATE: At<'static> = At::Part("/part/state");
/// Where those of an error do.
const ERROR: At<'static> = At::Part("/error");
/// Where those of what is known of an error do.
const DATA: At<'static> = At::Part("/error/data");

/// The tool that answers for one that is not there, or that was called in a wrong way. It is always completed.
const INVALID: &str = "invalid";
/// Why a round is over behind which the turn goes on, though it called nothing.
const GOES_ON: &str = "unknown";
/// What a call that was cut off says.
const ABORTED: &str = "Tool execution aborted";
/// What calls say that were not allowed, at their beginning.
const DENIED: [&str; 2] = [
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
];
