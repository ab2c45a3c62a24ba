//! The tools of Qwen Code, which are those of the RFC too.

mod edit;
mod notebook;
mod read;
mod say;
mod search;
pub mod shell;
#[cfg(test)]
mod tests;
pub mod todo;
pub mod web;
mod write;

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use crate::persona::shared;
use crate::persona::shared::native::{Run, plain, stray, tools};
use crate::tools::edit::EditFault;
use crate::tools::files::Unchanged;
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;
use crate::tools::{Cx, Given, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::Args;

/// All of them for hosts of Qwen Code.
pub(super) fn of_code(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    all(processes, seen, todos, false)
}

/// All of them for hosts of the RFC, which are told which stream a command writes to.
pub(super) fn of_rfc(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    all(processes, seen, todos, true)
}

fn all(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>, apart: bool) -> Vec<Rc<dyn Tool>> {
    let mut tools = files(seen);
    tools.extend(shell::shell(processes, apart));
    tools.push(todo::todo(todos));
    tools
}

/// `read_file`, `write_file`, `edit`, `notebook_edit`, `glob`, `grep_search`, `list_directory`. `seen` is the session's (a subagent has its own).
pub fn files(seen: &Rc<Seen>) -> Vec<Rc<dyn Tool>> {
    let specs = [
        read::spec(),
        write::spec(),
        edit::spec(),
        notebook::spec(),
        search::glob_spec(),
        search::grep_spec(),
        search::list_spec(),
    ];
    tools(Dialect::QwenCode, say::invalid, specs, Files(Rc::clone(seen)))
}

/// Runs the tools for files.
#[derive(Debug)]
struct Files(Rc<Seen>);

#[async_trait(?Send)]
impl Run for Files {
    async fn run(&self, args: &Args<'_>, input: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Read(asked) => read::run(asked, &self.0, cx).await,
            Args::Write { path, content } => write::run(*path, *content, &self.0, cx).await,
            Args::Edit { path, change } => edit::run(*path, change, &self.0, cx).await,
            Args::NotebookEdit(asked) => notebook::run(asked, &self.0, cx).await,
            Args::Glob { pattern, path } => search::glob(*pattern, *path, cx).await,
            Args::Grep(asked) => search::grep(asked, cx).await,
            Args::List { path, ignore } => {
                let git_ignore = input["file_filtering_options"]["respect_git_ignore"] != false;
                search::list(*path, *ignore, git_ignore, cx).await
            }
            _ => stray(),
        }
    }
}

/// The file that a call names, as it is said.
fn named(path: Str<'_>, cx: &Cx<'_>) -> String {
    shared::search::named(&cx.world.wall, &plain(path))
}

/// Why a file was not changed. The verb is `editing` or `overwriting`.
fn unchanged(why: &Unchanged, path: Str<'_>, verb: &str, cx: &Cx<'_>) -> Given {
    let named = named(path, cx);
    match why {
        Unchanged::Modified => say::failed(
            &format!(
                "File {named} has been modified since you last read it. Re-read it with the read_file tool before {verb} it to ensure your \
                 changes are based on current content."
            ),
            "Error: file changed since last read; re-run read_file first.",
        ),
        Unchanged::Nowhere(fault) | Unchanged::Fault(fault) | Unchanged::Unfit(EditFault::File(fault)) => say::fault(fault),
        Unchanged::Unread | Unchanged::Exists | Unchanged::Unfit(_) => say::failed(
            &format!("File {named} has not been read in this session. Use the read_file tool first to load its current content before {verb} it."),
            &format!("Error: read_file required before {verb} this file."),
        ),
    }
}
