//! Tokens and money that a session has used.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use agentglot_adapters::raw::event::{Count, Usage};

/// What a session has used, and what that costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionUsage {
    /// By model, with subagents.
    pub models: BTreeMap<String, ModelUsage>,
    /// The turn that runs, the main conversation alone.
    pub turn: Tokens,
    /// All turns, the main conversation alone.
    pub session: Tokens,
    /// Turns of earlier runs of the session, likewise.
    pub before: Tokens,
    /// Time in model calls in the turn that runs.
    pub api: Duration,
    /// Calls of tools so far.
    pub calls: u64,
    /// Calls of tools that were refused in the turn that runs: `{tool_name,tool_use_id,tool_input}`.
    pub denials: Vec<Value>,
}

/// What one model has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ModelUsage {
    /// Tokens.
    pub tokens: Tokens,
    /// US dollars, as far as the price is known.
    pub cost: f64,
    /// Requests.
    pub requests: u64,
}

impl SessionUsage {
    /// Adds what a call of the model has used. A server may answer in a name of its own that has no price: then the price of the model
    /// that was asked for counts.
    pub(crate) fn count(&mut self, model: &str, asked: &str, used: &Usage<'_>) -> Tokens {
        let tokens = Tokens::of(used);
        let of_model = self.models.entry(model.to_owned()).or_default();
        of_model.tokens += tokens;
        of_model.requests += 1;
        of_model.cost += super::cost(model, used).or_else(|| super::cost(asked, used)).unwrap_or(0.0);
        tokens
    }

    /// A turn begins.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = Tokens::default();
        self.api = Duration::ZERO;
        self.denials.clear();
    }

    /// US dollars of the whole session.
    pub(crate) fn cost(&self) -> f64 {
        self.models.values().map(|used| used.cost).fold(0.0, |sum, cost| sum + cost)
    }
}

/// Tokens, cache reads and writes not counted in `input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// What an API counted in one call.
    pub fn of(usage: &Usage<'_>) -> Self {
        let value = |count: Option<Count<'_>>| count.map_or(0, |count| count.value);
        Self {
            input: usage.fresh_tokens().unwrap_or(0),
            output: value(usage.output),
            cache_read: value(usage.cache_read),
            cache_write: value(usage.cache_write),
        }
    }

    /// All that the model has read.
    pub const fn read(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
    }
}
