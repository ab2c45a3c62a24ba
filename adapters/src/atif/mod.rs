//! ATIF: a trajectory of an agent as one document (docs/atif.md).
//!
//! Steps of the user, of the agent and of neither; a step of the agent is one answer of its model, with the calls in it and what came of
//! them. There are no pieces, and nothing says how a turn ended. Versions 1.0 to 1.8 are read, 1.8 is written.

mod decode;
mod document;
mod encode;
pub(crate) mod fields;
mod media;
pub(crate) mod recognise;
mod results;
#[cfg(feature = "schema")]
mod schema;
mod step;
mod turn;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::Mode;
use crate::vendor::{Ends, Facts, Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "atif",
    about: "trajectories in the Agent Trajectory Interchange Format",
    modes: &[Mode::JSON],
    decoder: |_| Decoder.into(),
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
        facts: Facts::Usual,
        ends: Ends::Unsaid,
        usage_at: &["/final_metrics", "/steps/*/metrics"],
        ..Logs::USUAL
    },
};

/// The version that is written.
const VERSION: &str = "ATIF-v1.8";
/// Where a trajectory names its agent.
const AGENT: &str = "/agent";
/// Where a step says what it took.
const METRICS: &str = "/metrics";
/// The free room of an object.
const EXTRA: &str = "extra";
/// In it, of a step: how the turn ended whose last step it is.
const OUTCOME: &str = "outcome";
/// In it, of a step: the seal of its thought.
const SIGNATURE: &str = "signature";
/// In it, of a step: why the model stopped.
const STOP: &str = "stop_reason";
/// In it, of metrics: the tokens that the cache took.
const CACHE_WRITE: &str = "cache_creation_input_tokens";
/// In it, of metrics: the tokens that the model thought with.
const REASONING: &str = "thoughts_tokens";
/// The same, as others say it who made the document of logs of Codex and Claude Code.
const ALSO_REASONING: [&[&str]; 2] = [&["reasoning_output_tokens"], &["output_tokens_details", "thinking_tokens"]];
/// In it, of a step or a result: media that came with their data.
const MEDIA: &str = "media";
/// In it, of a result: that the call failed.
const IS_ERROR: &str = "is_error";
/// In it, of a result: how a call failed that was not run, or not to its end.
const STATUS: &str = "status";
