//! The tools of Claude Code: its names, its arguments, its results.
//!
//! Texts and `tool_use_result` are those of the recordings; shapes that were never recorded are those of `sdk-tools.d.ts` of its SDK.

mod edit;
mod glob;
mod grep;
mod notebook;
mod read;
pub mod shell;
#[cfg(test)]
mod tests;
pub mod todo;
pub mod web;
mod write;

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use super::super::shared::say;
use crate::persona::shared::native::{Run, stray, tools};
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;
use crate::tools::{Cx, Given, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::tools::args::Args;

/// All of them.
pub(super) fn all(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    let mut tools = files(seen);
    tools.extend(shell::shell(processes));
    tools.push(todo::todo(todos));
    tools
}

/// `Read`, `Write`, `Edit`, `NotebookEdit`, `Glob`, `Grep`. `seen` is the session's (a subagent has its own).
pub fn files(seen: &Rc<Seen>) -> Vec<Rc<dyn Tool>> {
    let specs = [read::spec(), write::spec(), edit::spec(), notebook::spec(), glob::spec(), grep::spec()];
    tools(Dialect::Claude, say::invalid, specs, Files(Rc::clone(seen)))
}

/// Runs the tools for files.
#[derive(Debug)]
struct Files(Rc<Seen>);

#[async_trait(?Send)]
impl Run for Files {
    async fn run(&self, args: &Args<'_>, input: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Read(asked) => read::run(asked, input["allow_large"] == true, &self.0, cx).await,
            Args::Write { path, content } => write::run(*path, *content, &self.0, cx).await,
            Args::Edit { path, change } => edit::run(*path, change, &self.0, cx).await,
            Args::NotebookEdit(asked) => notebook::run(asked, &self.0, cx).await,
            Args::Glob { pattern, path } => glob::run(*pattern, *path, cx).await,
            Args::Grep(asked) => grep::run(asked, cx).await,
            _ => stray(),
        }
    }
}

/// Behind what has been written; the model need not look at it again.
const CURRENT: &str = "(file state is current in your context — no need to Read it back)";

/// The file was not read before it was to be changed.
const UNREAD: &str = "File has not been read yet. Read it first before writing to it.";

/// The file was changed by somebody else since it was read.
const MODIFIED: &str = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.";
