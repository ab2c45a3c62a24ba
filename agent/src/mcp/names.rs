//! What the tools of MCP servers are called.

/// How names are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `mcp__SERVER__TOOL`; whatever is no letter, digit, `_` or `-` is a `_`.
    #[default]
    Claude,
    /// The same, but a `.` stays, and of a name of more than 63 characters the middle is left out.
    Qwen,
}

/// The longest name that Qwen Code gives, in characters.
const QWEN_LONGEST: usize = 63;

impl Naming {
    /// What the model calls a tool (or the user a prompt) of a server.
    pub fn tool(self, server: &str, tool: &str) -> String {
        let name = format!("mcp__{}__{}", self.part(server), self.part(tool));
        match self {
            Self::Qwen if name.len() > QWEN_LONGEST => {
                // All of it is ASCII.
                format!("{}___{}", &name[..28], &name[name.len() - 32..])
            }
            _ => name,
        }
    }

    /// A part of a name with the characters replaced that no tool may have.
    pub fn part(self, name: &str) -> String {
        let mut part = String::with_capacity(name.len());
        for letter in name.chars() {
            match letter {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => part.push(letter),
                '.' if self == Self::Qwen => part.push(letter),
                // The programs count in UTF-16.
                _ => (0..letter.len_utf16()).for_each(|_| part.push('_')),
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_no_character_that_no_tool_may_have() {
        assert_eq!(Naming::Claude.tool("my server", "do.it/ö🦀"), "mcp__my_server__do_it____");
        assert_eq!(Naming::Qwen.tool("a", "b.c"), "mcp__a__b.c");
        assert_eq!(Naming::Claude.tool("a", &"x".repeat(80)).len(), 88);
        let short = Naming::Qwen.tool("server", &format!("{}end", "x".repeat(80)));
        assert_eq!(short.len(), 63);
        assert!(short.starts_with("mcp__server__") && short.ends_with("end") && short.contains("___x"));
    }
}
