//! The stream of an OpenAI-compatible model API: `POST /chat/completions` with `stream`.
//!
//! One payload of a server-sent event is one line here: a `chat.completion.chunk`, an error object, `[DONE]`, or a whole
//! `chat.completion`, which some servers answer whatever was asked. docs/openai.md says what each member becomes. It is read, never
//! written: agents speak to it, hosts do not. Sessions as lists of messages ([`messages`]) are both.

mod calls;
mod decode;
pub(crate) mod fields;
pub(crate) mod messages;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;
mod usage;

pub use crate::weave::End;
pub use decode::Decoder;

use crate::codec::{Layout, Mode};
use crate::launch::PermissionMode;
use crate::vendor::{Facts, Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "openai",
    about: "the stream of an OpenAI-compatible model API, and sessions as lists of chat messages",
    modes: &[Mode::SSE, messages::MODE],
    decoder: |mode| match mode.layout {
        Layout::Rows => messages::Decoder::default().into(),
        _ => Decoder::default().into(),
    },
    host_decoder: None,
    encoder: Some(|style| messages::Encoder::new(style).into()),
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
        facts: Facts::Never,
        usage_at: &["/usage"],
        ..Logs::USUAL
    },
};

#[cfg(test)]
mod tests;
