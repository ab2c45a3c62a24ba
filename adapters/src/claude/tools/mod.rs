//! Claude Code's tools.

mod args;
mod read_result;
mod write_result;

use crate::event::{DetailShape, ToolKind};
use crate::tools::lines;
use crate::tools::output::FileRead;
use crate::tools::table::{DetailReader, Shell, Texts, Tools, names};
use crate::tools::texts::numbered_file;

// `sdk-tools.d.ts` and recorded lists of tools; `LS`, `MultiEdit`, `Task` and `TodoWrite` are older.
names! {
    Read: "Read";
    Write: "Write";
    Edit: "Edit";
    MultiEdit: "MultiEdit";
    NotebookEdit: "NotebookEdit";
    Shell: "Bash";
    Grep: "Grep";
    Glob: "Glob";
    List: "LS";
    Todo: "TodoWrite";
    Subagent: "Agent", "Task";
    Fetch: "WebFetch";
    WebSearch: "WebSearch";
    Ask: "AskUserQuestion";
    ExitPlan: "ExitPlanMode";
}

/// Recorded lists of tools, and older names of theirs.
const OTHERS: &[&str] = &[
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "KillBash",
    "KillShell",
    "ListAgents",
    "ListMcpResources",
    "Monitor",
    "NotebookRead",
    "ReadMcpResource",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "ToolSearch",
    "Workflow",
];

/// How many lines are read of a file when nobody says how many: of a file with more, the rest is missing.
const LINES: u64 = 2000;

/// What is said of a command that printed nothing.
const SILENCE: &str = "(Bash completed with no output)";

/// The tools.
pub(crate) static TOOLS: Tools = Tools {
    others: OTHERS,
    // The init line says `Task`; calls say `Agent`.
    listed: Some(&[(ToolKind::Subagent, "Task")]),
    whole_paths: true,
    names_old: true,
    shell: Shell {
        has_folder: false,
        keeps_end: false,
        silence: SILENCE,
    },
    form: Some(DetailShape::Claude),
    texts: Texts {
        file: |read, text, arena| {
            let file = numbered_file(read, lines::strip(text, arena)?)?;
            let total = file.total.filter(|lines| *lines < LINES);
            Some(FileRead { total, ..file })
        },
        created,
        ..Texts::PLAIN
    },
    ..Tools::new(NAMES, args::read, args::write, write_result::result)
};

/// `tool_use_result`.
pub(crate) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Claude,
    // All but what ran and what was planned.
    complete: |kind| !matches!(kind, ToolKind::Shell | ToolKind::ExitPlan),
    read: read_result::read,
};

fn created(text: &str) -> Option<bool> {
    if text.starts_with("File created successfully") {
        return Some(true);
    }
    (text.starts_with("The file ") && text.contains(" has been updated")).then_some(false)
}
