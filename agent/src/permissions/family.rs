//! Families of tools, which rules name.

use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::ToolKind;

/// What the names of tools mean in rules, whatever the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Shell,
    Read,
    Write,
    Edit,
    Delete,
    Search,
    Fetch,
    WebSearch,
    Todo,
    Subagent,
    Ask,
    ExitPlan,
}

/// The names under which dialects' rules know tools. Claude's and Cursor's, Qwen Code's own and those of its classes.
const NAMES: &[(Family, &[&str])] = &[
    (
        Family::Shell,
        &[
            "Bash",
            "Shell",
            "ShellTool",
            "RunShellCommand",
            "run_shell_command",
            "shell",
            "run_command",
        ],
    ),
    (Family::Read, &["Read", "ReadFile", "ReadFileTool", "read_file", "ReadManyFilesTool"]),
    (Family::Write, &["Write", "WriteFile", "WriteFileTool", "write_file", "create_file"]),
    (
        Family::Edit,
        &[
            "Edit",
            "MultiEdit",
            "EditTool",
            "edit",
            "replace",
            "edit_file",
            "NotebookEdit",
            "notebook_edit",
        ],
    ),
    (Family::Delete, &["Delete", "delete_file", "delete_path"]),
    (
        Family::Search,
        &[
            "Grep",
            "GrepTool",
            "grep_search",
            "search_file_content",
            "search_context",
            "Glob",
            "GlobTool",
            "glob",
            "LS",
            "ListFiles",
            "ListFilesTool",
            "LSTool",
            "list_directory",
        ],
    ),
    (Family::Fetch, &["WebFetch", "WebFetchTool", "web_fetch", "fetch_url", "Fetch"]),
    (Family::WebSearch, &["WebSearch", "WebSearchTool", "web_search"]),
    (Family::Todo, &["TodoWrite", "TodoWriteTool", "todo_write", "plan"]),
    (Family::Subagent, &["Task", "Agent", "AgentTool", "agent", "task", "TaskTool"]),
    (Family::Ask, &["AskUserQuestion", "ask_user_question"]),
    (Family::ExitPlan, &["ExitPlanMode", "ExitPlanModeTool", "exit_plan_mode"]),
];

/// The family that a name belongs to.
pub(super) fn family(name: &str) -> Option<Family> {
    NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(family, _)| *family)
}

impl Family {
    /// Whether a rule of this family is about a tool of this kind. Claude's bare names are single tools, its `Edit(…)` and `Read(…)` are
    /// whole families; Qwen Code's `edit` and `read_file`, Cursor's `Write` and `Read` are families always.
    pub(super) fn covers(self, kind: ToolKind, has_content: bool, dialect: Dialect) -> bool {
        use ToolKind as K;
        let qwen = matches!(dialect, Dialect::Qwen | Dialect::QwenCode);
        let cursor = dialect == Dialect::Cursor;
        let wide = has_content || qwen || cursor;
        match self {
            Self::Shell => kind == K::Shell,
            Self::Read => kind == K::Read || (wide && matches!(kind, K::Grep | K::Glob | K::List)),
            Self::Write => kind == K::Write || (cursor && matches!(kind, K::Edit | K::MultiEdit | K::Delete | K::Mkdir)),
            Self::Edit => matches!(kind, K::Edit | K::MultiEdit) || (wide && matches!(kind, K::Write | K::Delete | K::Mkdir)),
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
