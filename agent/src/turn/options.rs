//! What the host may change from turn to turn.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::settings::subagent::SubagentKind;

/// What the host may change while the agent runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// The model.
    pub model: String,
    /// The model that the launch named.
    pub first_model: String,
    /// The system prompt instead of ours; an empty one is none.
    pub system: Option<String>,
    /// What is added to the system prompt.
    pub append_system: Option<String>,
    /// Kinds of subagents, by name.
    pub agents: BTreeMap<String, SubagentKind>,
    /// Subagents' words and thoughts are told to the host too.
    pub forwards_text: bool,
    /// The JSON schema of the answer.
    pub schema: Option<Value>,
    /// The most tokens for thinking.
    pub thinking: Option<u64>,
    /// How much effort.
    pub effort: Option<String>,
    /// Sampling.
    pub temperature: Option<f64>,
    /// Sampling.
    pub top_p: Option<f64>,
    /// The most tokens of a reply.
    pub max_tokens: Option<u64>,
}
