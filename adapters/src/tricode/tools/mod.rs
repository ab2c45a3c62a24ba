//! Tricode's tools.

mod args;
mod read_result;
mod write_result;

use crate::tools::table::{Shell, Texts, Tools, names};

// docs/STDIO_API.md and recordings.
names! {
    Read: "read_file";
    Write: "create_file";
    Edit: "edit_file";
    Shell: "run_command";
    Grep: "search_context";
    List: "list_directory";
    Delete: "delete_file", "delete_path";
    Mkdir: "mkdir";
    Todo: "plan";
    Fetch: "fetch_url";
    WebSearch: "web_search";
}

/// The tools. A session lists none of them.
pub(crate) static TOOLS: Tools = Tools {
    others: &[
        "start_session",
        "send_input",
        "read_output",
        "close_session",
        "list_sessions",
        "list_symbols",
        "search_references",
        "search_symbol",
    ],
    names_old: true,
    shell: Shell {
        has_folder: false,
        keeps_end: true,
        silence: "[no output]",
    },
    answered: write_result::answered,
    texts: Texts {
        file: read_result::file,
        streams: read_result::streams,
        change: read_result::change,
        todos: read_result::plan,
        progress: args::progress,
        ..Texts::PLAIN
    },
    ..Tools::new(NAMES, args::read, args::write, write_result::result)
};
