//! Tricode `--stdio`: JSON lines as Python's `json.dumps(…, ensure_ascii=False)` spells them, with plain text between them.
//!
//! A run is a turn: `system`, then for each model call a `round` and its calls, each with its result right behind it, then
//! `final`, or a plain error line, or nothing. Calls and results have no ids, and nothing is said of text beside calls, of
//! thinking or of usage. docs/tricode.md holds what real programs write.

mod ask;
mod program;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;

mod decode;
mod encode;
mod failure;
pub(crate) mod fields;
mod formatted_call;
mod formatted_result;
mod held;
mod input;
mod lines;
mod members;
mod own;
mod plan;
mod repr;
mod text;
mod tools;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::vendor::{Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "tricode",
    about: "Tricode's STDIO lines",
    modes: &[Mode::new("stdio", Layout::Lines), Mode::TEXT],
    decoder: |_| Decoder::default().into(),
    host_decoder: None,
    encoder: Some(|style| Encoder::new(style).into()),
    stores: &[],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: &[],
    tools: Some(&tools::TOOLS),
    detail: None,
    logs: Logs {
        one_turn_a_run: true,
        arguments_at: "/arguments",
        ..Logs::USUAL
    },
};

/// What Python's `repr()` prints of a JSON value: `{'x': 1, 's': "it's", 'b': True, 'n': None}`.
pub fn python_repr(json: &str) -> String {
    let value = crate::json::Raw::trusted(json);
    let mut body = Vec::new();
    if value.check().is_ok() {
        repr::repr(value, &mut body);
    }
    let body = String::from_utf8_lossy(&body);
    crate::json::Str::trusted(&body).unescape().into_owned()
}

/// How the result of a call that was not allowed begins.
const DENIED: &str = "Denied:";

#[cfg(test)]
mod tests;
