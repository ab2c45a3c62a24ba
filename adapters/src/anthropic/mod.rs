//! The stream of Anthropic's model API: `POST /v1/messages` with `stream`.
//!
//! One payload of a server-sent event is one line here: `message_start` … `message_stop`, `ping`, `error`, or a whole `message`, which
//! some servers answer whatever was asked. docs/anthropic.md says what each member becomes. It is read, never written: agents speak to it,
//! hosts do not.

mod decode;
pub(crate) mod fields;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;

pub use crate::weave::End;
pub use decode::Decoder;

use crate::blocks::{Signature, StartForm, UsageForm, Vocabulary};
use crate::codec::{Dialect, Mode};
use crate::launch::PermissionMode;
use crate::vendor::{Facts, Logs, Pieces, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "anthropic",
    about: "the stream of Anthropic's model API",
    modes: &[Mode::SSE],
    decoder: |_| Decoder::default().into(),
    host_decoder: None,
    encoder: None,
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
        ids_name_rounds: true,
        facts: Facts::Never,
        pieces: Pieces::Replies,
        usage_at: &["/usage", "/message/usage"],
        ..Logs::USUAL
    },
};

static WORDS: Vocabulary = Vocabulary {
    dialect: Dialect::Anthropic,
    signature: Signature::Seal,
    usage: UsageForm::Split,
    start: StartForm::Full,
    knows: fields::knows,
};

#[cfg(test)]
mod tests;
