//! AG-UI, the Agent User Interaction Protocol (docs/ag-ui.md).
//!
//! One event a line, bare or behind `data:`. A run is a turn: it is started, and finished or failed. Texts, thoughts and calls come in pieces
//! that name what they are pieces of, so several may be open at a time. Versions 0.x and 1.0 are read, 1.0 is written.

mod blocks;
mod chunks;
mod decode;
mod encode;
mod end;
pub(crate) mod fields;
mod line;
mod own;
mod parts;
mod prompt;
pub(crate) mod recognise;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod snapshot;
mod subagents;
mod thread;
mod told;
mod usage;
mod write;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::vendor::{Facts, Logs, Pieces, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "ag-ui",
    about: "event streams of AG-UI, the Agent User Interaction Protocol",
    modes: &[Mode::new("events", Layout::Pieces).with_tokens_behind()],
    decoder: |_| Decoder::default().into(),
    host_decoder: None,
    encoder: Some(|style| Encoder::new(style).into()),
    stores: &[],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: None,
    permission_modes: &[],
    tools: None,
    detail: None,
    logs: Logs {
        one_turn_a_run: true,
        facts: Facts::Always,
        pieces: Pieces::Replies,
        host_runs_tools: true,
        results_outlive_turns: true,
        free_subagents: true,
        usage_at: &["/usage/*"],
        ..Logs::USUAL
    },
};

/// The version that is written.
const VERSION: &str = "1.0";
/// The member of an event's `metadata` in which stands what the protocol has no place for.
const OURS: &str = "agentglot";
/// The name of a `CUSTOM` event with facts of the session that have changed.
const SESSION: &str = "agentglot.session";
/// The name of one with what the agent asks its host while it works.
const REQUEST: &str = "agentglot.request";
/// What of our own member says that a call was told in an earlier run.
const AGAIN: &str = "again";
/// How the names of steps begin that are rounds.
const ROUND: &str = "round-";
/// What an outcome says that waits for an answer.
const INTERRUPT: &str = "interrupt";
