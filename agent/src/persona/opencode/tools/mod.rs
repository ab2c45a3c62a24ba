//! The tools of OpenCode. Names, arguments and the forms of results are those of the program (version 1.18.33).

mod files;
mod say;
mod search;
mod shell;
#[cfg(test)]
mod tests;
mod todo;
pub mod web;

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use crate::persona::shared::native::{Run, stray, tools};
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;
use crate::tools::{Cx, Given, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::tools::args::Args;

/// What the model may be offered by other parts of the agent, beside [`all`].
const OTHERS: [&str; 6] = [
    "task",
    "webfetch",
    "websearch",
    "StructuredOutput",
    "list_mcp_resources",
    "read_mcp_resource",
];
/// The names of [`all`].
const NAMES: [&str; 7] = ["bash", "edit", "glob", "grep", "read", "todowrite", "write"];

/// All of them.
pub(super) fn all(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    let specs = [
        files::edit_spec(),
        search::glob_spec(),
        search::grep_spec(),
        files::read_spec(),
        files::write_spec(),
    ];
    let mut all = vec![shell::shell(processes)];
    all.extend(tools(Dialect::Opencode, say::invalid, specs, Files(Rc::clone(seen))));
    all.push(todo::todo(todos));
    all
}

/// Whether the model may have a tool of this name.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.contains(&name) || OTHERS.contains(&name)
}

/// What is wrong with a call of a tool that there is not.
pub(super) fn no_tool(name: &str) -> String {
    format!("Model tried to call unavailable tool '{name}'.")
}

/// The result of a call of a tool that there is not, or that was not offered.
pub(super) fn unknown(name: &str) -> Given {
    Given::error(format!("The arguments provided to the tool are invalid: {}", no_tool(name)))
}

/// Runs the tools for files. What the model has not read may be changed too.
#[derive(Debug)]
struct Files(Rc<Seen>);

#[async_trait(?Send)]
impl Run for Files {
    async fn run(&self, args: &Args<'_>, _: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Read(asked) => files::read(asked, &self.0, cx).await,
            Args::Write { path, content } => files::write(*path, *content, &self.0, cx).await,
            Args::Edit { path, change } => files::edit(*path, change, &self.0, cx).await,
            Args::Glob { pattern, path } => search::glob(*pattern, *path, cx).await,
            Args::Grep(asked) => search::grep(asked, cx).await,
            _ => stray(),
        }
    }
}
