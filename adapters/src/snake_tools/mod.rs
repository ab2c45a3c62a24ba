//! Tools in snake case: `read_file`, `run_shell_command`, `old_string` … Two vocabularies that several agents share:
//!
//! - the shapes of arguments ([`args::common`]): `file_path`, `old_string`, `subagent_type` …, whatever the tools that take them are called;
//! - a whole set of tools with names of their own ([`TOOLS`]), which programs have that began as copies of one another.

mod args;

use bumpalo::Bump;

use crate::event::{ToolKind, ToolResult};
use crate::json::Str;
use crate::tools::args::Read;
use crate::tools::lines::{self, Piece, pieces};
use crate::tools::output::FileRead;
use crate::tools::result::Answer;
use crate::tools::table::{Shell, Texts, Tools, names};
use crate::tools::texts::numbered_file;

pub(crate) use args::{LONGEST, change, changes, common, grep, mcp, mcp_name, replacement, write_common};

// Recorded lists, and the programs' own table of renamed tools (`replace`, `search_file_content`, `task`).
names! {
    Read: "read_file";
    Write: "write_file";
    Edit: "edit", "replace";
    NotebookEdit: "notebook_edit";
    Shell: "run_shell_command";
    Grep: "grep_search", "search_file_content";
    Glob: "glob";
    List: "list_directory";
    Todo: "todo_write";
    Subagent: "agent", "task";
    Fetch: "web_fetch";
    WebSearch: "web_search";
    Ask: "ask_user_question";
    ExitPlan: "exit_plan_mode";
}

/// Recorded lists of tools, and an older one.
const OTHERS: &[&str] = &[
    "cron_create",
    "cron_delete",
    "cron_list",
    "enter_plan_mode",
    "enter_worktree",
    "exit_worktree",
    "get_goal",
    "list_agents",
    "loop_wakeup",
    "monitor",
    "read_many_files",
    "read_mcp_resource",
    "record_artifact",
    "report_findings",
    "save_memory",
    "send_message",
    "skill",
    "task_stop",
    "tool_call",
    "tool_search",
    "update_goal",
    "zoom_image",
];

/// The set.
pub(crate) static TOOLS: Tools = Tools {
    others: OTHERS,
    lenient: true,
    listed: Some(&[]),
    whole_paths: true,
    names_old: true,
    shell: Shell {
        has_folder: true,
        keeps_end: false,
        silence: "",
    },
    // Results are texts, of which only these two are others than in the source.
    reshapes: |kind| matches!(kind, ToolKind::Read | ToolKind::Shell),
    texts: Texts {
        file,
        report,
        created,
        ..Texts::PLAIN
    },
    ..Tools::new(NAMES, args::read, args::write, result)
};

fn result<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    answer.args?;
    answer.with_text(answer.plain_text())
}

/// The text is the content, unless its lines are numbered or it speaks about the file.
fn file<'a>(read: &Read<'a>, text: Str<'a>, arena: &'a Bump) -> Option<FileRead<'a>> {
    match lines::strip(text, arena) {
        Some(numbered) => numbered_file(read, numbered),
        None if is_notice(text) => None,
        None => Some(FileRead::of(read, text, read.start.unwrap_or(1))),
    }
}

fn is_notice(text: Str<'_>) -> bool {
    ["Showing lines ", "[File ", "Read image file", "Cannot display content"]
        .iter()
        .any(|head| text.as_escaped().starts_with(head))
}

fn created(text: &str) -> Option<bool> {
    if text.starts_with("Successfully created ") {
        return Some(true);
    }
    text.starts_with("Successfully overwrote file").then_some(false)
}

/// `Command: …`, `Directory: …`, `Output: …`, `Error: …`, `Exit Code: …`, `Signal: …`, `Process Group PGID: …`.
fn report(text: Str<'_>) -> Option<(Str<'_>, Str<'_>, Option<i64>)> {
    let body = text.as_escaped();
    if !body.starts_with("Command: ") {
        return None;
    }
    let (mut directory, mut output, mut error, mut code) = (None, None, None, None);
    for piece in pieces(text) {
        // Output may hold anything: the first `Output:` behind the directory begins it, the last lines of a kind end it.
        if directory.is_none() && piece.text.starts_with("Directory: ") {
            directory = Some(piece);
        } else if directory.is_some() && output.is_none() && piece.text.starts_with("Output: ") {
            output = Some(piece);
        } else if output.is_some() && piece.text.starts_with("Error: ") {
            error = Some(piece);
        } else if output.is_some() && piece.text.starts_with("Exit Code: ") {
            code = Some(piece);
        }
    }
    let (output, error, code) = (output?, error?, code?);
    if error.at > code.at {
        return None;
    }
    // From behind the label to before the line end of the piece before.
    let part = |from: Piece<'_>, label: &str, to: Piece<'_>, none: &str| {
        let upto = pieces(text).take_while(|piece| piece.at < to.at).last()?;
        let part = &body[from.at + label.len()..upto.at + upto.text.len()];
        Some(Str::trusted(if part == none { "" } else { part }))
    };
    let stdout = part(output, "Output: ", error, "(empty)")?;
    let stderr = part(error, "Error: ", code, "(none)")?;
    Some((stdout, stderr, code.text["Exit Code: ".len()..].parse().ok()))
}
