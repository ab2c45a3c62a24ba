//! Families of tools, which rules name.

use agentglot_adapters::raw::event::ToolKind;

/// What the names of tools mean in rules, whatever the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Commands.
    Shell,
    /// Reading files.
    Read,
    /// Writing files.
    Write,
    /// Changing files.
    Edit,
    /// Removing files.
    Delete,
    /// Searching files.
    Search,
    /// Fetching pages.
    Fetch,
    /// Searching the web.
    WebSearch,
    /// Things to do.
    Todo,
    /// Subagents.
    Subagent,
    /// Questions for the user.
    Ask,
    /// Leaving plan mode.
    ExitPlan,
}

/// How much a rule's name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The one tool.
    Tool,
    /// All tools that do such a thing.
    Family,
}

impl Family {
    /// Whether a rule of this family is about a tool of this kind.
    pub fn covers(self, kind: ToolKind, width: Width) -> bool {
        use ToolKind as K;
        let wide = width == Width::Family;
        match self {
            Self::Shell => kind == K::Shell,
            Self::Read => kind == K::Read || (wide && matches!(kind, K::Grep | K::Glob | K::List)),
            Self::Write => kind == K::Write,
            Self::Edit => matches!(kind, K::Edit | K::MultiEdit | K::NotebookEdit) || (wide && matches!(kind, K::Write | K::Delete | K::Mkdir)),
            Self::Delete => kind == K::Delete,
            // Each of these is one tool; the same name has been found by now, an alias of a class has not.
            Self::Search => false,
            Self::Fetch => kind == K::Fetch,
            Self::WebSearch => kind == K::WebSearch,
            Self::Todo => kind == K::Todo,
            Self::Subagent => kind == K::Subagent,
            Self::Ask => kind == K::Ask,
            Self::ExitPlan => kind == K::ExitPlan,
        }
    }
}
