//! Claude Code: `stream-json`, `json` and `text`, as CLI 2.1.329 writes them (docs/claude.md).

mod behind;
mod control;
mod decode;
mod decode_result;
mod decode_system;
mod encode;
mod encode_control;
mod encode_result;
mod encode_stream;
mod encode_system;
mod encode_turn;
pub(crate) mod fields;
mod frames;
mod input;
mod line;
mod program;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;
mod tools;
pub(crate) mod transcript;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::blocks::{Signature, StartForm, UsageForm, Vocabulary};
use crate::codec::{Dialect, Layout, Mode};
use crate::launch::PermissionMode;
use crate::vendor::{Logs, Pieces, Vendor};

/// The version of the program that this folder was read off, and which it stands for.
pub(crate) const VERSION: &str = "2.1.329";

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "claude",
    about: "Claude Code",
    modes: &[Mode::STREAM_JSON, Mode::JSON, Mode::TEXT, transcript::MODE],
    decoder: |mode| match mode.layout {
        Layout::Store => transcript::Decoder::default().into(),
        _ => Decoder::default().into(),
    },
    host_decoder: Some(|| Decoder::of_host().into()),
    encoder: Some(|style| match style.mode.layout {
        Layout::Store => transcript::Encoder::new(style).into(),
        _ => Encoder::new(style).into(),
    }),
    stores: &[transcript::STORE],
    agent_tools: None,
    fields: fields::KNOWN,
    recognise: recognise::recognise,
    #[cfg(feature = "schema")]
    schema: &schema::SIDES,
    program: Some(&program::PROGRAM),
    permission_modes: PermissionMode::NAMES,
    tools: Some(&tools::TOOLS),
    detail: Some(&tools::DETAIL),
    logs: Logs {
        ids_name_rounds: true,
        arguments_at: "/message/content/0/input",
        pieces: Pieces::Replies,
        results_outlive_turns: true,
        usage_at: &["/message/usage", "/event/usage", "/event/message/usage", "/usage", "/modelUsage"],
        kept_at: &["compact_metadata", "preserved_messages", "uuids"],
        stop_notice: STOP_NOTICE,
        lists_denials: true,
        version_tells: true,
        ..Logs::USUAL
    },
};

/// What the program writes in the user's role when the user stops it begins so.
const STOP_NOTICE: &str = "[Request interrupted by user";

/// How Claude Code uses Anthropic's vocabulary: as the API does.
static WORDS: Vocabulary = Vocabulary {
    dialect: Dialect::Claude,
    signature: Signature::Seal,
    usage: UsageForm::Split,
    start: StartForm::Full,
    knows: fields::knows,
};

/// Where a control request has its body.
const REQUEST: &str = "/request";
/// Where a control response has its body.
const RESPONSE: &str = "/response";
