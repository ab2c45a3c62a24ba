//! The `agentglot` dialect: the canonical model itself, one event a line.
//!
//! For `jq`, tests and storage. The first line of a log is `{"agentglot":"events","version":1}`; docs/agentglot.md describes
//! every event and every member. Nothing that a decoder finds is lost here: fields of the source dialect ride in `fields`.

mod decode;
mod encode;
mod input;
mod json;
mod members;
mod parts;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;
mod spelling;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::launch::PermissionMode;
use crate::vendor::{Facts, Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "agentglot",
    about: "the canonical model itself, as JSON lines",
    modes: &[Mode::new("events", Layout::Lines)],
    decoder: |_| Decoder::default().into(),
    host_decoder: None,
    encoder: Some(|style| Encoder::new(style).into()),
    stores: &[],
    agent_tools: None,
    fields: &[],
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: None,
    permission_modes: PermissionMode::NAMES,
    tools: None,
    detail: None,
    logs: Logs {
        ids_name_rounds: true,
        stores_others: true,
        facts: Facts::Never,
        usage_at: &["/usage", "/outcome/usage"],
        lists_denials: true,
        results_outlive_turns: true,
        ..Logs::USUAL
    },
};

/// The version that is written. A reader takes any log whose version it knows and leaves members that it does not know alone.
pub const VERSION: u32 = 1;

/// The first line of a session whose events name tools as `source` does. Of modes with the same words the dialect is enough, for their events
/// are the same. Made-up ids are counted from `at`, the byte of its log at which the session begins.
pub(crate) fn header(source: crate::codec::Format, at: u64) -> String {
    let name = if source.mode.apart {
        source.to_string()
    } else {
        source.dialect.name().to_owned()
    };
    let at = if at == 0 { String::new() } else { format!(",\"at\":{at}") };
    format!("{{\"agentglot\":\"events\",\"version\":{VERSION},\"source\":\"{name}\"{at}}}\n")
}

#[cfg(test)]
mod tests;
