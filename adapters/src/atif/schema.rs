//! A trajectory, as a JSON Schema.

// The types say what documents have; nothing is read into them.
#![allow(dead_code)]

use schemars::JsonSchema;

use crate::schema::parts::Object;
use crate::schema::{Side, Sides, line};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: &[line::<Trajectory>(&[("schema_version", "")])],
        tags: &["schema_version"],
    },
    host: None,
};

/// A trajectory.
#[derive(JsonSchema)]
struct Trajectory {
    /// `ATIF-v1.0` to `ATIF-v1.8`.
    schema_version: String,
    session_id: Option<String>,
    trajectory_id: Option<String>,
    agent: Agent,
    steps: Vec<Step>,
    notes: Option<String>,
    final_metrics: Option<FinalMetrics>,
    /// The file in which it goes on.
    continued_trajectory_ref: Option<String>,
    /// Each with a trajectory_id.
    subagent_trajectories: Option<Vec<Object>>,
    extra: Option<Object>,
}

/// Whose steps they are.
#[derive(JsonSchema)]
struct Agent {
    name: String,
    version: String,
    model_name: Option<String>,
    tool_definitions: Option<Vec<Object>>,
    extra: Option<Object>,
}

/// A step.
#[derive(JsonSchema)]
struct Step {
    /// 1, 2, 3 and so on.
    step_id: u64,
    /// ISO 8601.
    timestamp: Option<String>,
    /// `user`, `agent` or `system`.
    source: String,
    message: Message,
    model_name: Option<String>,
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<Call>>,
    observation: Option<Observation>,
    metrics: Option<Metrics>,
    is_copied_context: Option<bool>,
    llm_call_count: Option<u64>,
    extra: Option<Object>,
}

/// A text, or parts.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Message {
    Text(String),
    Parts(Vec<Object>),
}

/// A tool is called.
#[derive(JsonSchema)]
struct Call {
    tool_call_id: String,
    function_name: String,
    arguments: Object,
    extra: Option<Object>,
}

/// What came of a step.
#[derive(JsonSchema)]
struct Observation {
    results: Vec<Outcome>,
}

/// What came of a call.
#[derive(JsonSchema)]
struct Outcome {
    /// The call's.
    source_call_id: Option<String>,
    content: Option<Message>,
    subagent_trajectory_ref: Option<Vec<Object>>,
    extra: Option<Object>,
}

/// What an answer of the model took.
#[derive(JsonSchema)]
struct Metrics {
    /// With those from the cache.
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    cost_usd: Option<f64>,
    extra: Option<Object>,
}

/// What the whole trajectory took.
#[derive(JsonSchema)]
struct FinalMetrics {
    total_prompt_tokens: Option<u64>,
    total_completion_tokens: Option<u64>,
    total_cached_tokens: Option<u64>,
    total_cost_usd: Option<f64>,
    total_steps: Option<u64>,
    extra: Option<Object>,
}
