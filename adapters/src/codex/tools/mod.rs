//! Codex's tools: the kinds of items that are calls.

mod args;
mod command;
mod results;

use crate::event::{DetailShape, ToolCall, ToolKind};
use crate::tools::args::Args;
use crate::tools::output::ToolOutput;
use crate::tools::table::{DetailReader, Shell, Tools, names};

// Recorded items. What the model calls is not shown; these are the names that a host sees.
names! {
    Edit: "file_change";
    Shell: "command_execution";
    Todo: "todo_list";
    Subagent: "collab_tool_call";
    WebSearch: "web_search";
    Mcp: "mcp_tool_call";
}

/// The tools. A session lists none of them.
pub(crate) static TOOLS: Tools = Tools {
    whole_paths: true,
    shell: Shell {
        has_folder: false,
        keeps_end: true,
        silence: "",
    },
    reshapes: |kind| matches!(kind, ToolKind::Shell | ToolKind::Write | ToolKind::Edit),
    form: Some(DetailShape::Codex),
    answered,
    ..Tools::new(NAMES, args::read, args::write, results::write)
};

/// How a command ended.
pub(crate) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Codex,
    complete: |_| false,
    read: results::read,
};

/// A file that was there is not added.
fn answered<'a>(call: &ToolCall<'a>, args: &Args<'a>, output: ToolOutput<'a>, arena: &'a bumpalo::Bump) -> Option<ToolCall<'a>> {
    match (output, *args) {
        (ToolOutput::Wrote(change) | ToolOutput::Edited(change), Args::Write { path, .. }) if change.created == Some(false) => {
            let (name, input) = args::change(path, "update", arena);
            let kind = ToolKind::Edit;
            Some(ToolCall { name, input, kind, ..*call })
        }
        _ => None,
    }
}
