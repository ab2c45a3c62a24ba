//! What the model is told of the tools: their names and parameters are the program's.

use serde_json::{Value, json};

use super::What;
use crate::tools::Spec;
#[cfg(feature = "symbols")]
use crate::tools::symbols::Language;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::kind_of;

/// The tools, in the order in which the model is told of them, and those that it is told of only where they are named.
pub(super) fn all() -> Vec<(What, Spec)> {
    #[cfg_attr(not(feature = "symbols"), allow(unused_mut))]
    let mut all = vec![
        tool(
            What::Search,
            "Looks for a regular expression in the files of a folder, or in one file, and gives each line that it matches as PATH:LINE:TEXT. \
             Files that git ignores, hidden ones and binary ones are passed over.",
            json!({
                "pattern": {"type": "string", "description": "The regular expression (ripgrep's dialect)."},
                "path": {"type": "string", "description": "The folder or file to look in.", "default": "."},
            }),
            &["pattern"],
        ),
        tool(
            What::Mkdir,
            "Makes a folder.",
            json!({
                "path": {"type": "string", "description": "The folder."},
                "parents": {"type": "boolean", "description": "Make the folders above it too, where they are missing.", "default": true},
                "exist_ok": {"type": "boolean", "description": "It is no error if the folder is there already.", "default": false},
            }),
            &["path"],
        ),
        tool(
            What::Read,
            "Reads a text file. Each line begins with its number and a colon, which are not part of the file. Without limits all of it is given.",
            json!({
                "path": {"type": "string", "description": "The file."},
                "start_line": {"type": "integer", "description": "The first line to read, counted from 1."},
                "end_line": {"type": "integer", "description": "The last line to read. Counts only together with start_line."},
                "max_bytes": {"type": "integer", "description": "Give at most so many bytes of the text."},
                "with_metadata": {
                    "type": "boolean",
                    "description": "Give a JSON object instead: path, total_lines, mtime, sha256 and content.",
                    "default": false,
                },
            }),
            &["path"],
        ),
        tool(
            What::Create,
            "Makes a new file, and the folders above it. Fails if the file is there already: edit_file changes files.",
            json!({
                "path": {"type": "string", "description": "The file."},
                "content": {"type": "string", "description": "All of its text."},
            }),
            &["path", "content"],
        ),
        tool(
            What::Edit,
            "Changes a file. Either as a whole: mode overwrite (makes the file if it is missing), append or prepend, with content. Or in \
             places: mode patch, with hunks that are found by a text (exact) or a regular expression (regex; ^ and $ are those of a line). \
             Hunks are applied one after the other, each to what the one before has left; if one does not apply, nothing is changed.",
            json!({
                "path": {"type": "string", "description": "The file."},
                "mode": {
                    "type": "string",
                    "enum": ["overwrite", "append", "prepend", "patch"],
                    "description": "How to change it.",
                    "default": "patch",
                },
                "content": {"type": "string", "description": "The text for overwrite, append and prepend."},
                "hunks": {"type": "array", "description": "The changes for patch.", "items": hunk()},
                "precondition": {
                    "type": "object",
                    "description": "What has to be true, or nothing is changed.",
                    "properties": {
                        "file_sha256": {"type": "string", "description": "The SHA-256 of the file, in hexadecimal."},
                    },
                },
                "dry_run": {"type": "boolean", "description": "Only tell what would change.", "default": false},
            }),
            &["path"],
        ),
        tool(
            What::List,
            "Lists a folder as `ls -l` does.",
            json!({
                "path": {"type": "string", "description": "The folder.", "default": "."},
                "show_hidden": {"type": "boolean", "description": "Also what begins with a dot.", "default": false},
                "recursive": {"type": "boolean", "description": "Also the folders in it, and in those.", "default": false},
            }),
            &[],
        ),
        tool(
            What::DeleteFile,
            "Deletes a file or a link. Fails for a folder.",
            json!({"path": {"type": "string", "description": "The file."}}),
            &["path"],
        ),
        tool(
            What::DeletePath,
            "Deletes a file or a folder. A folder that is not empty is deleted only with recursive.",
            json!({
                "path": {"type": "string", "description": "The file or folder."},
                "recursive": {"type": "boolean", "description": "Delete what is in the folder too.", "default": false},
            }),
            &["path"],
        ),
        tool(
            What::Plan,
            "Keeps the plan. This has to be the first tool that you call: create for a task of several steps, skip for a simple one. Every \
             other tool is blocked until then.",
            json!({
                "action": {
                    "type": "string",
                    "enum": ["create", "update", "check", "skip"],
                    "description": "create: begin a plan of tasks. update: change the status of a task. check: show the plan. skip: say that none is needed.",
                },
                "tasks": {
                    "type": "array",
                    "description": "For create: what is to be done, one text a task. Tasks are numbered from 1.",
                    "items": {"type": "string"},
                },
                "task_id": {"type": "integer", "description": "For update: the task's number."},
                "status": {
                    "type": "string",
                    "enum": ["pending", "in_progress", "completed"],
                    "description": "For update: the task's new status.",
                },
                "reason": {"type": "string", "description": "For skip: why, in a few words."},
            }),
            &["action"],
        ),
        tool(
            What::Run,
            "Runs a shell command in the working folder, waits for its end and gives what it printed. For programs that go on talking there is \
             start_session.",
            json!({
                "command": {"type": "string", "description": "The command."},
                "timeout": {"type": "integer", "description": "How many seconds it may take; then it is ended.", "default": 30},
            }),
            &["command"],
        ),
        tool(
            What::Start,
            "Starts a shell on a terminal of its own that stays open, types a command into it and gives the session's id. At most 3 sessions \
             are open at a time; one ends when nobody has used it for 30 s, or after 5 minutes.",
            json!({
                "command": {"type": "string", "description": "What is typed first, such as python3 or ssh user@host; may be empty."},
                "shell": {"type": "string", "description": "The shell.", "default": "/bin/bash"},
            }),
            &["command"],
        ),
        tool(
            What::Send,
            "Types a line into an open session.",
            json!({
                "session_id": {"type": "string", "description": "The id that start_session gave."},
                "input_text": {"type": "string", "description": "The line, without its end."},
            }),
            &["session_id", "input_text"],
        ),
        tool(
            What::Output,
            "Gives what an open session has printed since it was last read, at most 4096 bytes.",
            json!({
                "session_id": {"type": "string", "description": "The id that start_session gave."},
                "timeout": {"type": "integer", "description": "How many seconds to wait if nothing is there yet.", "default": 2},
            }),
            &["session_id"],
        ),
        tool(
            What::Close,
            "Ends a session and what runs in it.",
            json!({"session_id": {"type": "string", "description": "The id that start_session gave."}}),
            &["session_id"],
        ),
        tool(What::Sessions, "Lists the open sessions.", json!({}), &[]),
        tool(
            What::Fetch,
            "Fetches a page over HTTP or HTTPS and gives its text as Markdown. Scripts on the page are not run, and private addresses are \
             refused.",
            json!({
                "url": {"type": "string", "description": "The address."},
                "timeout": {"type": "integer", "description": "How many seconds it may take.", "default": 10},
            }),
            &["url"],
        ),
        tool(
            What::WebSearch,
            "Searches the web and gives titles, addresses and a few words of each result.",
            json!({
                "query": {"type": "string", "description": "What to look for."},
                "max_results": {"type": "integer", "description": "At most so many results.", "default": 5},
            }),
            &["query"],
        ),
    ];
    #[cfg(feature = "symbols")]
    all.extend(symbols());
    all
}

/// Those that find symbols.
#[cfg(feature = "symbols")]
fn symbols() -> [(What, Spec); 3] {
    [
        tool(
            What::Symbol,
            "Finds where a name is defined, in the syntax of C, C++, Go, Java, Python and Rust, and gives the lines of each definition.",
            json!({
                "symbol": {"type": "string", "description": "The name, alone or with those it is in: get, Box.get, Box::get."},
                "path": folder(),
                "language": language(),
                "kind": kind(),
                "qualified_name": {"type": "string", "description": "Only the one with exactly this whole name."},
                "enclosing": {"type": "string", "description": "Only what is in this class, type or module."},
                "max_results": {"type": "integer", "description": "At most so many.", "default": 50},
                "offset": offset(),
            }),
            &["symbol"],
        ),
        tool(
            What::Symbols,
            "Lists what a file or the files of a folder define, in C, C++, Go, Java, Python and Rust.",
            json!({
                "path": folder(),
                "language": language(),
                "kind": kind(),
                "max_results": {"type": "integer", "description": "At most so many.", "default": 200},
                "offset": offset(),
            }),
            &[],
        ),
        tool(
            What::References,
            "Finds where a name is used: in the syntax of C, C++, Go, Java, Python and Rust, and as a word in other files. Types are not \
             worked out: other things of the same name are among the results. Give either definition or symbol.",
            json!({
                "definition": {
                    "type": "object",
                    "description": "Where it is defined.",
                    "properties": {
                        "file": {"type": "string"},
                        "start_line": {"type": "integer", "description": "A line of the definition, counted from 1."},
                    },
                    "required": ["file", "start_line"],
                },
                "symbol": {
                    "type": "object",
                    "description": "What it is called.",
                    "properties": {
                        "language": language(),
                        "name": {"type": "string"},
                        "symbol_id": {"type": "string", "description": "The id that search_symbol gave, instead of the name."},
                    },
                },
                "path": folder(),
                "mode": {
                    "type": "string",
                    "enum": ["include_text", "precise"],
                    "description": "precise: not as a word in other files.",
                    "default": "include_text",
                },
                "include_definition": {"type": "boolean", "description": "The definition too, where it was given.", "default": false},
                "include_tests": {"type": "boolean", "default": true},
                "include_third_party": {"type": "boolean", "description": "Also in folders such as vendor and node_modules.", "default": true},
                "files_prefix": {"type": "array", "items": {"type": "string"}, "description": "Only below these folders."},
                "path_glob": {"type": "string", "description": "Only files whose paths match."},
                "sort_by": {"type": "string", "enum": ["file", "confidence"], "default": "file"},
                "max_results": {"type": "integer", "description": "At most so many.", "default": 200},
                "offset": offset(),
            }),
            &[],
        ),
    ]
}

#[cfg(feature = "symbols")]
fn folder() -> Value {
    json!({"type": "string", "description": "The folder or file to look in.", "default": "."})
}

#[cfg(feature = "symbols")]
fn language() -> Value {
    json!({"type": "string", "enum": Language::ALL.map(Language::name), "description": "Only this language."})
}

#[cfg(feature = "symbols")]
fn kind() -> Value {
    json!({"type": "string", "description": "Only this kind: function, method, class, struct, enum, trait, type, module, ..."})
}

#[cfg(feature = "symbols")]
fn offset() -> Value {
    json!({"type": "integer", "description": "Leave so many out: where the last call says next_offset.", "default": 0})
}

fn hunk() -> Value {
    json!({
        "type": "object",
        "properties": {
            "op": {"type": "string", "enum": ["replace", "insert_before", "insert_after", "delete"]},
            "anchor": {
                "type": "object",
                "description": "Where.",
                "properties": {
                    "type": {"type": "string", "enum": ["exact", "regex"]},
                    "pattern": {"type": "string"},
                    "occurrence": {"type": "string", "enum": ["first", "last"], "default": "first"},
                    "nth": {"type": "integer", "minimum": 1, "description": "The n-th place that it matches, counted from 1."},
                    "dotall": {"type": "boolean", "description": "For regex: a dot matches the end of a line too."},
                    "ignorecase": {"type": "boolean", "description": "For regex: great and small letters are the same."},
                    "range": {"type": "array", "items": {"type": "integer"}, "description": "Look only from line to line: [first, last]."},
                },
                "required": ["type", "pattern"],
            },
            "content": {"type": "string", "description": "The new text; not for delete. Line ends are not added."},
            "must_unique": {"type": "boolean", "description": "Fail when it matches in several places.", "default": false},
        },
        "required": ["op", "anchor"],
    })
}

fn tool(what: What, description: &str, properties: Value, required: &[&str]) -> (What, Spec) {
    let reads_only = match what {
        What::Search | What::Read | What::List | What::Fetch | What::WebSearch | What::Sessions => true,
        #[cfg(feature = "symbols")]
        What::Symbol | What::Symbols | What::References => true,
        _ => false,
    };
    let spec = Spec {
        name: what.name().to_owned(),
        description: description.to_owned(),
        schema: json!({"type": "object", "properties": properties, "required": required}),
        kind: kind_of(Dialect::Tricode, Str::trusted(what.name())),
        reads_only,
        ..Spec::default()
    };
    (what, spec)
}
