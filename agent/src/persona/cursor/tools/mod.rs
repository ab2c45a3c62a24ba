//! The tools of Cursor's agent.
//!
//! The results of commands and lists of things to do are typed in Claude's form, those of files in Cursor's own ([`files`]).

pub mod files;
pub mod shell;
pub mod todo;
mod tree;
pub mod web;

use std::rc::Rc;

use crate::tools::Tool;
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;

/// All of them.
pub(super) fn all(processes: &Rc<Processes>, seen: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    let mut tools = files::files(seen);
    tools.extend(shell::shell(processes));
    tools.push(todo::todo(todos));
    tools
}
