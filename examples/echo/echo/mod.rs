//! Echo: the smallest agent there is, and the template of a vendor's folder (docs/adding-a-dialect.md).
//!
//! One format, `stream-json`. A line is an object whose `echo` says what it is: `say` (text), `call` and its `result`, and the `end` of a
//! turn.

mod decode;
mod encode;
mod fields;
mod recognise;
#[cfg(feature = "schema")]
mod schema;
#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::Mode;
use crate::launch::PermissionMode;
use crate::vendor::{Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "echo",
    about: "Echo's lines: say, call, result, end",
    modes: &[Mode::STREAM_JSON],
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
    permission_modes: PermissionMode::NAMES,
    tools: None,
    detail: None,
    logs: Logs {
        arguments_at: "/input",
        ..Logs::USUAL
    },
};
