//! The tools of Qwen Code, which are those of the RFC too.

mod edit;
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

use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;
use crate::tools::{Given, Tool};

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
    tools.extend(todo::todo(todos));
    tools
}

/// `read_file`, `write_file`, `edit`, `glob`, `grep_search`, `list_directory`. `seen` is the session's (a subagent has its own).
pub fn files(seen: &Rc<Seen>) -> Vec<Rc<dyn Tool>> {
    vec![
        Rc::new(read::Read::new(seen.clone())),
        Rc::new(write::Write::new(seen.clone())),
        Rc::new(edit::Edit::new(seen.clone())),
        Rc::new(search::Glob::new()),
        Rc::new(search::Grep::new()),
        Rc::new(search::List::new()),
    ]
}

/// The file was not read before it was to be changed. The verb is `editing` or `overwriting`.
fn unread(named: &str, verb: &str) -> Given {
    say::failed(
        &format!("File {named} has not been read in this session. Use the read_file tool first to load its current content before {verb} it."),
        &format!("Error: read_file required before {verb} this file."),
    )
}

/// The file was changed by somebody else since it was read.
fn modified(named: &str, verb: &str) -> Given {
    say::failed(
        &format!(
            "File {named} has been modified since you last read it. Re-read it with the read_file tool before {verb} it to ensure your \
             changes are based on current content."
        ),
        "Error: file changed since last read; re-run read_file first.",
    )
}
