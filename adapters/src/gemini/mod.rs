//! Gemini CLI's `--output-format`: `stream-json`, `json` and `text` (docs/gemini.md).
//!
//! One process is one turn: `init`, the prompt's echo, pieces of text, calls, their results, `result`. Thoughts, whole texts and the
//! bounds of rounds have no line. There is no protocol on stdin: a log of the host's side does not exist.

pub(crate) mod chat;
mod decode;
mod document;
mod encode;
mod ends;
pub(crate) mod fields;
mod learnt;
mod lines;
mod program;
pub(crate) mod recognise;
mod results;
#[cfg(feature = "schema")]
mod schema;
mod serves;
mod stats;
mod tool_stats;
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
    name: "gemini",
    about: "Gemini CLI's --output-format",
    modes: &[Mode::STREAM_JSON, Mode::JSON, Mode::TEXT, chat::MODE],
    decoder: |mode| match mode.layout {
        Layout::Store => chat::Decoder::default().into(),
        _ => Decoder::default().into(),
    },
    host_decoder: None,
    encoder: Some(|style| match style.mode.layout {
        Layout::Store => chat::Encoder::new(style).into(),
        _ => Encoder::new(style).into(),
    }),
    stores: &[chat::STORE],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: &[
        ("default", PermissionMode::Ask),
        ("auto_edit", PermissionMode::AcceptEdits),
        ("yolo", PermissionMode::Bypass),
        ("plan", PermissionMode::Plan),
    ],
    tools: Some(&tools::TOOLS),
    detail: Some(&tools::DETAIL),
    logs: Logs {
        one_turn_a_run: true,
        arguments_at: "/parameters",
        usage_at: &["/stats", "/tokens"],
        ..Logs::USUAL
    },
};

/// Where a line has its error.
const ERROR: &str = "/error";
/// How an error's type is spelled when the program knows no better one.
const UNKNOWN: &str = "unknown";
/// What it calls one that it cannot go on after.
const FATAL: &str = "FatalError";
/// The error of a run that took too many rounds.
const TURN_LIMIT: &str = "FatalTurnLimitedError";
/// The error of a run that somebody stopped.
const CANCELLED: &str = "FatalCancellationError";
/// The error of a run that a tool ended.
const FATAL_TOOL: &str = "FatalToolExecutionError";
/// The error of a call that a policy forbids.
const FORBIDDEN: &str = "policy_violation";
/// The error of a call that went wrong, when the tool does not say how.
const TOOL_ERROR: &str = "TOOL_EXECUTION_ERROR";
/// What stands where a time has to stand and none is known.
const NO_TIME: &str = "1970-01-01T00:00:00.000Z";
