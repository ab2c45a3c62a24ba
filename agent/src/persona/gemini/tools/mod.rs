//! The tools of Gemini CLI. Names, arguments and the forms of results are those of the program (version 0.61.0).

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

/// All of them.
pub(super) fn all(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    let specs = [
        search::list_spec(),
        files::read_spec(),
        search::grep_spec(),
        search::glob_spec(),
        files::replace_spec(),
        files::write_spec(),
    ];
    let mut all = tools(Dialect::Gemini, say::invalid, specs, Files(Rc::clone(seen)));
    all.extend(shell::shell(processes));
    all.push(todo::todo(todos));
    all
}

/// The result of a call of a tool that there is not, or that was not offered.
pub(super) fn unknown(name: &str) -> Given {
    say::refused(&format!("Tool \"{name}\" not found."), "tool_not_registered")
}

/// Runs the tools for files. What the model has not read may be changed too.
#[derive(Debug)]
struct Files(Rc<Seen>);

#[async_trait(?Send)]
impl Run for Files {
    async fn run(&self, args: &Args<'_>, input: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Read(asked) => files::read(asked, &self.0, cx).await,
            Args::Write { path, content } => files::write(*path, *content, &self.0, cx).await,
            Args::Edit { path, change } => files::replace(*path, change, &self.0, cx).await,
            Args::Glob { pattern, path } => search::glob(*pattern, *path, input, cx).await,
            Args::Grep(asked) => search::grep(asked, input, cx).await,
            Args::List { path, ignore } => search::list(*path, *ignore, input, cx).await,
            _ => stray(),
        }
    }
}
