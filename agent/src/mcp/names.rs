//! What the tools of MCP servers are called.

use agentglot_adapters::raw::event::DetailShape;
use serde_json::Value;

use crate::tools::Given;

/// How a vendor names what servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Naming {
    /// A `.` stays in the name of a tool; otherwise whatever is no letter, digit, `_` or `-` is a `_`.
    pub keeps_dots: bool,
    /// Of a name of more characters than these the middle is left out.
    pub longest: Option<usize>,
    /// The tool that lists resources.
    pub list: &'static str,
    /// The tool that reads one.
    pub read: &'static str,
    /// Its argument that names the server.
    pub server: &'static str,
    /// The typed form of results, if hosts read one.
    pub detail: Option<DetailShape>,
    /// The member of `_meta` by which a server is told which call it is.
    pub call_meta: Option<&'static str>,
}

/// The names where a vendor has none of its own.
pub const PLAIN: Naming = Naming {
    keeps_dots: false,
    longest: None,
    list: "ListMcpResourcesTool",
    read: "ReadMcpResourceTool",
    server: "server",
    detail: Some(DetailShape::Claude),
    call_meta: None,
};

/// The names in small letters, as several vendors have them.
pub const SNAKE: Naming = Naming {
    list: "list_mcp_resources",
    read: "read_mcp_resource",
    detail: None,
    ..PLAIN
};

impl Naming {
    /// What the model calls a tool (or the user a prompt) of a server: `mcp__SERVER__TOOL`.
    pub fn tool(self, server: &str, tool: &str) -> String {
        let name = format!("mcp__{}__{}", self.part(server), self.part(tool));
        match self.longest {
            // All of it is ASCII.
            Some(longest) if name.len() > longest => format!("{}___{}", &name[..28], &name[name.len() - (longest - 31)..]),
            _ => name,
        }
    }

    /// A part of a name with the characters replaced that no tool may have.
    pub fn part(self, name: &str) -> String {
        let mut part = String::with_capacity(name.len());
        for letter in name.chars() {
            match letter {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => part.push(letter),
                '.' if self.keeps_dots => part.push(letter),
                // The programs count in UTF-16.
                _ => (0..letter.len_utf16()).for_each(|_| part.push('_')),
            }
        }
        part
    }

    /// A result with its typed form.
    pub(super) fn typed(self, given: Given, detail: Value) -> Given {
        match self.detail {
            Some(shape) => given.with(shape, detail),
            None => given,
        }
    }
}

#[cfg(test)]
mod tests {
    use agentglot_adapters::raw::codec::Dialect;

    use super::*;

    #[test]
    fn names_hold_no_character_that_no_tool_may_have() {
        let qwen = crate::persona::of(Dialect::QwenCode).mcp;
        assert_eq!(PLAIN.tool("my server", "do.it/ö🦀"), "mcp__my_server__do_it____");
        assert_eq!(qwen.tool("a", "b.c"), "mcp__a__b.c");
        assert_eq!(PLAIN.tool("a", &"x".repeat(80)).len(), 88);
        let short = qwen.tool("server", &format!("{}end", "x".repeat(80)));
        assert_eq!(short.len(), 63);
        assert!(short.starts_with("mcp__server__") && short.ends_with("end") && short.contains("___x"));
    }
}
