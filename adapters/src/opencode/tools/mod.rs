//! OpenCode's tools.

mod args;
mod read_result;
mod write_result;

use crate::event::{DetailShape, ToolKind};
use crate::tools::output::FileRead;
use crate::tools::table::{DetailReader, Shell, Texts, Tools, names};

// The tools of version 1.18, and older ones. Those of MCP servers are called SERVER_TOOL, in which nobody can tell where the server's name
// ends.
names! {
    Read: "read";
    Write: "write";
    Edit: "edit";
    MultiEdit: "multiedit";
    Shell: "bash";
    Grep: "grep";
    Glob: "glob";
    List: "list";
    Todo: "todowrite";
    Subagent: "task";
    Fetch: "webfetch";
    WebSearch: "websearch";
    Ask: "question";
}

/// Tools that mean nothing elsewhere.
const OTHERS: &[&str] = &[
    "apply_patch",
    "batch",
    "codesearch",
    "invalid",
    "lsp",
    "patch",
    "plan_enter",
    "plan_exit",
    "skill",
    "todoread",
];

/// The tools. A session lists none of them.
pub(crate) static TOOLS: Tools = Tools {
    others: OTHERS,
    names_old: true,
    shell: Shell {
        has_folder: true,
        keeps_end: true,
        silence: "(no output)",
    },
    reshapes: |kind| {
        matches!(
            kind,
            ToolKind::Read | ToolKind::Shell | ToolKind::Write | ToolKind::Edit | ToolKind::Todo | ToolKind::Subagent
        )
    },
    form: Some(DetailShape::Opencode),
    texts: Texts {
        file: |read, text, arena| {
            let path = Some(read.path);
            read_result::file(text, arena).map(|file| FileRead { path, ..file })
        },
        ..Texts::PLAIN
    },
    ..Tools::new(NAMES, args::read, args::write, write_result::write)
};

/// What is known of a result beside its text.
pub(crate) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Opencode,
    complete: |_| false,
    read: read_result::read,
};
