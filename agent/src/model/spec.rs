//! What a model is told of a tool.

use serde_json::Value;

use agentglot_adapters::raw::event::ToolKind;

/// What the model is told of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Its name in the dialect in use.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// What it means.
    pub kind: ToolKind,
    /// It changes nothing, whatever its arguments.
    pub reads_only: bool,
}
