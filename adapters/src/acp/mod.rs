//! The Agent Client Protocol (docs/acp.md).
//!
//! A log is a conversation of an editor, the client, with its agent: JSON-RPC in both directions, bare or as a recorder wrapped it
//! (`{"dir":"c2a","ms":7,"msg":…}`). Requests go both ways, each side counts its own, and an answer says nothing but the number. The prompt is a
//! request, and in version 1 the turn's outcome is its answer; in version 2 that is a change of the state. Read are both; written is
//! version 1.

mod answers;
mod calls;
mod client;
mod decode;
mod encode;
mod facts;
pub(crate) mod fields;
mod lines;
mod others;
mod own;
mod program;
pub(crate) mod recognise;
mod rpc;
#[cfg(feature = "schema")]
mod schema;
mod server;
mod tools;
mod turn;
mod update;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::event::At;
use crate::vendor::{Ends, Facts, Logs, Vendor};

/// What this folder says of itself.
pub static VENDOR: Vendor = Vendor {
    name: "acp",
    about: "the Agent Client Protocol",
    modes: &[Mode::new("v1", Layout::Lines).of_both_sides().of_many_sessions().with_tokens_behind()],
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
    permission_modes: client::modes::NAMES,
    tools: Some(&tools::TOOLS),
    detail: None,
    logs: Logs {
        arguments_at: "/params/update/rawInput",
        facts: Facts::Usual,
        late_calls: true,
        results_outlive_turns: true,
        usage_at: &[
            "/result/usage",
            "/params/update/usage",
            "/msg/result/usage",
            "/msg/params/update/usage",
            "/params/update/_meta/usage",
            "/msg/params/update/_meta/usage",
            "/result/_meta/quota/token_count",
            "/params/update/_meta/quota/token_count",
            "/msg/result/_meta/quota/token_count",
            "/msg/params/update/_meta/quota/token_count",
            "/result/_meta/quota/model_usage/*/token_count",
            "/params/update/_meta/quota/model_usage/*/token_count",
            "/msg/result/_meta/quota/model_usage/*/token_count",
            "/msg/params/update/_meta/quota/model_usage/*/token_count",
        ],
        ends: Ends::Unsaid,
        ..Logs::USUAL
    },
};

/// What a recorder wraps around a message.
const RECORDED: At<'static> = At::Part("/recorded");
/// Where a message has its parameters.
const PARAMS: At<'static> = At::Part("/params");
/// Where a notification has what is new.
const UPDATE: At<'static> = At::Part("/params/update");
/// Where a request for permission has the call.
const TOOL_CALL: At<'static> = At::Part("/params/toolCall");
/// Where an answer has what was asked for.
const RESULT: At<'static> = At::Part("/result");
/// Where it has the modes of a session.
const MODES: At<'static> = At::Part("/result/modes");
/// Where it has the models of a session.
const MODELS: At<'static> = At::Part("/result/models");
