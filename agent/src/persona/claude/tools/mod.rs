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

use super::super::shared::say;
use crate::tools::Tool;
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;

/// All of them.
pub(super) fn all(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    let mut tools = files(seen);
    tools.extend(shell::shell(processes));
    tools.extend(todo::todo(todos));
    tools
}

/// `Read`, `Write`, `Edit`, `NotebookEdit`, `Glob`, `Grep`. `seen` is the session's (a subagent has its own).
pub fn files(seen: &Rc<Seen>) -> Vec<Rc<dyn Tool>> {
    vec![
        Rc::new(read::Read::new(seen.clone())),
        Rc::new(write::Write::new(seen.clone())),
        Rc::new(edit::Edit::new(seen.clone())),
        Rc::new(notebook::NotebookEdit::new(seen.clone())),
        Rc::new(glob::Glob::new()),
        Rc::new(grep::Grep::new()),
    ]
}

/// Behind what has been written; the model need not look at it again.
const CURRENT: &str = "(file state is current in your context — no need to Read it back)";

/// The file was not read before it was to be changed.
const UNREAD: &str = "File has not been read yet. Read it first before writing to it.";

/// The file was changed by somebody else since it was read.
const MODIFIED: &str = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.";
