//! What a model is told of a tool.

use serde_json::Value;

use agentglot_adapters::raw::event::ToolKind;

/// What the model is told of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Whose it is, if an MCP server has it.
    pub owner: Option<Owner>,
}

impl Spec {
    /// The server and the tool of its name, if an MCP server has it.
    pub fn server_and_tool(&self) -> Option<(&str, &str)> {
        let server = &self.owner.as_ref()?.server;
        let tool = self.name.strip_prefix("mcp__")?.strip_prefix(server.as_str())?.strip_prefix("__")?;
        Some((server, tool))
    }
}

/// The MCP server that has a tool. The tool's name does not say: `mcp__a__b__c` may be `b__c` of `a` or `c` of `a__b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The server, as the names of its tools call it.
    pub server: String,
    /// Its tools run without a question, where the dialect has that.
    pub trusted: bool,
}
