//! Gemini CLI's tools.

mod args;
mod read_result;

pub(super) use args::mcp;
pub(super) use read_result::report;

use crate::event::{DetailShape, ToolKind, ToolResult};
use crate::json::Str;
use crate::tools::result::Answer;
use crate::tools::table::{DetailReader, Shell, Texts, Tools, names};

// The declarations of version 0.61, and names of older ones.
names! {
    Read: "read_file";
    Write: "write_file";
    Edit: "replace", "edit";
    Shell: "run_shell_command";
    Grep: "grep_search", "search_file_content";
    Glob: "glob";
    List: "list_directory";
    Todo: "write_todos";
    Subagent: "invoke_agent";
    Fetch: "web_fetch";
    WebSearch: "google_web_search";
    Ask: "ask_user";
}

/// Tools that mean nothing elsewhere. A plan to approve is a file here, and a text elsewhere.
const OTHERS: &[&str] = &[
    "activate_skill",
    "cli_help",
    "codebase_investigator",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "read_many_files",
    "save_memory",
    "update_topic",
];

/// The tools. A session lists none of them.
pub(crate) static TOOLS: Tools = Tools {
    others: OTHERS,
    kind,
    lenient: true,
    names_old: true,
    shell: Shell {
        has_folder: true,
        keeps_end: false,
        silence: "",
    },
    mcp,
    // Results are texts, of which only these two are others than in the source.
    reshapes: |kind| matches!(kind, ToolKind::Read | ToolKind::Shell),
    texts: Texts {
        file: read_result::file,
        report,
        created: read_result::created,
        ..Texts::PLAIN
    },
    ..Tools::new(NAMES, args::read, args::write, result)
};

/// What people see of a result, `output`, and what its error is called, `error`: neither says what the tool did.
pub(crate) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Gemini,
    complete: |_| false,
    read: |_, _| None,
};

/// Tools of MCP servers begin with `mcp_`.
fn kind(name: &str) -> ToolKind {
    if mcp(Str::trusted(name)).is_some() {
        return ToolKind::Mcp;
    }
    NAMES.1(name)
}

fn result<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    answer.args?;
    answer.with_text(answer.plain_text())
}
