//! What the `qwen` program ships today: Claude-shaped lines of its own kind (docs/qwen-code.md).
//!
//! * `stream-json`: one object a line. Each assistant message holds one kind of block only; the last one of a reply has the
//!   usage, the ones before it zeros. With partial messages, pieces come besides, with block indices that begin at 0 anew for
//!   each message.
//! * `json`: the same messages, without pieces and control lines, as one array.
//! * `text`: the answer alone.

pub(crate) mod chat;
mod decode;
mod encode;
pub(crate) mod fields;
mod program;
pub(crate) mod recognise;
#[cfg(feature = "schema")]
mod schema;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::blocks::{Signature, StartForm, UsageForm, Vocabulary};
use crate::codec::{Dialect, Layout, Mode};
use crate::event::{Limit, OutcomeKind, Place};
use crate::snake_tools;
use crate::vendor::{Logs, Pieces, Vendor};

/// The version of the program that this folder was read off, and which it stands for.
pub(crate) const VERSION: &str = "0.24.4";

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "qwen-code",
    about: "what the qwen program ships today: Claude-shaped",
    modes: &[Mode::STREAM_JSON, Mode::JSON, Mode::TEXT, chat::MODE],
    decoder: |mode| match mode.layout {
        Layout::Store => chat::Decoder::default().into(),
        _ => Decoder::default().into(),
    },
    host_decoder: Some(|| Decoder::of_host().into()),
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
    permission_modes: crate::launch::shared_flags::PERMISSION_MODES,
    tools: Some(&snake_tools::TOOLS),
    detail: None,
    logs: Logs {
        arguments_at: "/message/content/0/input",
        pieces: Pieces::Messages,
        usage_at: &[
            "/message/usage",
            "/event/usage",
            "/event/message/usage",
            "/usage",
            "/modelUsage",
            "/usageMetadata",
        ],
        lists_denials: true,
        version_tells: true,
        ..Logs::USUAL
    },
};

static WORDS: Vocabulary = Vocabulary {
    dialect: Dialect::QwenCode,
    signature: Signature::Subject,
    usage: UsageForm::Inclusive,
    start: StartForm::Bare,
    knows: fields::knows,
};

/// Where an `assistant` line has its usage.
const USAGE: &str = "/message/usage";
/// Where a `result` line has its error.
const ERROR: &str = "/error";

/// What is said of a turn of which nobody says what went wrong. The first is the program's own sentence.
const ENDS: [(OutcomeKind, &str); 8] = [
    (OutcomeKind::Cancelled, "Operation cancelled."),
    (OutcomeKind::Refused, "The model refused."),
    (OutcomeKind::Limit(Limit::Turns), "The limit of turns was reached."),
    (OutcomeKind::Limit(Limit::Budget), "The budget was used up."),
    (OutcomeKind::Limit(Limit::Tokens), "The limit of tokens was reached."),
    (OutcomeKind::Limit(Limit::Retries), "The limit of retries was reached."),
    (OutcomeKind::Limit(Limit::Time), "The time was up."),
    (OutcomeKind::Failed(Place::Model), "API Error"),
];

/// The words for a turn that ended so, if there are some.
fn end_of(kind: OutcomeKind) -> Option<&'static str> {
    ENDS.iter().find(|(of, _)| *of == kind).map(|(_, said)| *said)
}

/// What went wrong in a turn of which this is said (recordings `api_*`, `ctl_interrupt_*`).
fn why(error: &str) -> OutcomeKind {
    let said = error.strip_prefix('[').unwrap_or(error);
    let end = ENDS.iter().find(|(_, words)| said.starts_with(words)).map(|(kind, _)| *kind);
    end.or_else(|| OutcomeKind::named(error)).unwrap_or(OutcomeKind::Failed(Place::Backend))
}
/// Where a `control_request` has its payload.
const REQUEST: &str = "/request";
/// Where a `control_response` has its payload.
const RESPONSE: &str = "/response";

#[cfg(test)]
mod tests;
