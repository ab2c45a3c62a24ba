//! Cursor's tools.

mod args;
mod read_result;
mod write_result;

use crate::event::DetailShape;
use crate::tools::table::{DetailReader, Shell, Texts, Tools, names};

// The `oneof` of the tool calls; `writeToolCall` is of 2025, the `pi…` ones are a second set of basic tools. The rest are functions.
names! {
    Read: "readToolCall", "piReadToolCall";
    Write: "writeToolCall", "piWriteToolCall";
    Edit: "editToolCall", "piEditToolCall";
    Shell: "shellToolCall", "piBashToolCall";
    Grep: "grepToolCall", "piGrepToolCall";
    Glob: "globToolCall", "piFindToolCall";
    List: "lsToolCall", "piLsToolCall";
    Delete: "deleteToolCall";
    Todo: "updateTodosToolCall", "readTodosToolCall";
    Subagent: "taskToolCall";
    Fetch: "webFetchToolCall", "fetchToolCall";
    WebSearch: "webSearchToolCall";
    Mcp: "mcpToolCall";
    Ask: "askQuestionToolCall";
    ExitPlan: "createPlanToolCall";
}

/// The tools. A session lists none of them.
pub(crate) static TOOLS: Tools = Tools {
    shell: Shell {
        has_folder: true,
        keeps_end: true,
        silence: "",
    },
    form: Some(DetailShape::Cursor),
    texts: Texts {
        created: |text| text.starts_with("Wrote contents to ").then_some(true),
        ..Texts::PLAIN
    },
    ..Tools::new(NAMES, args::read, args::write, write_result::result)
};

/// `result`.
pub(crate) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Cursor,
    complete: |_| false,
    read: read_result::read,
};
