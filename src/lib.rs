//! agentglot.
pub use agentglot_adapters as adapters;
