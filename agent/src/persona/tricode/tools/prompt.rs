//! The system prompt.

use chrono::Local;

use super::{What, Wish};
use crate::tools::World;

/// What the model is told about itself, its surroundings and how to work with these tools.
pub(super) fn system(world: &World, tools: &[What], wish: &Wish) -> String {
    let has = |what: What| tools.contains(&what);
    let notes = &wish.notes;
    let mut parts = Vec::new();
    if !wish.overrides || notes.is_empty() {
        parts.push(
            "You are Tricode, an agent that works in a terminal. You carry out what the user asks for with the tools that you have: look \
             first, then act, then check what came of it."
                .to_owned(),
        );
    }
    parts.push(format!(
        "Local time: {}\nWorking folder: {}\nRelative paths begin there.",
        Local::now().format("%Y-%m-%d %H:%M:%S %A"),
        world.wall.root().display()
    ));
    let mut list = match &wish.tools {
        None => "Your tools:".to_owned(),
        Some(_) => format!("Your tools are these {}; there are no others:", tools.len()),
    };
    for tool in tools {
        list.push_str(&format!("\n- {}: {}", tool.name(), about(*tool)));
    }
    parts.push(list);
    parts.push(
        "The plan comes first. Before any other tool you call plan; until then every other tool is blocked.\n\
         - plan(action='create', tasks=[...]) when there are several steps: several files, an edit that has to be checked, a list that the \
         user gives. Set a task to in_progress when you begin it and to completed as soon as it is done, one at a time; you are reminded if \
         you forget, and cannot finish while tasks are open.\n\
         - plan(action='skip', reason='...') when there is one step or none: a question, one file to read, one command.\n\
         If the task needs a tool that you do not have, skip the plan, say which tool is missing and do not try another way."
            .to_owned(),
    );
    if has(What::Start) {
        parts.push(
            "Programs that go on talking (a Python prompt, ssh, a shell in a container) run in a session: start_session gives an id, \
             send_input types a line, read_output gives what was printed, close_session ends it. Close what you have opened."
                .to_owned(),
        );
    }
    let mut ways = Vec::new();
    if has(What::Search) {
        ways.push("Where you do not know a name or a place, search for it.");
    }
    if has(What::Read) && (has(What::Edit) || has(What::Create)) {
        ways.push("Read a file before you change it.");
    }
    ways.push("When a tool fails, read what it says and try another way before you give up.");
    ways.push("Say plainly at the end what you did and what you did not do.");
    parts.push(format!("- {}", ways.join("\n- ")));
    if !notes.is_empty() {
        parts.push(notes.clone());
    }
    parts.join("\n\n")
}

const fn about(tool: What) -> &'static str {
    match tool {
        What::Plan => "the plan; the first call has to be one of this",
        What::Search => "look for a pattern in files",
        What::Read => "read a file",
        What::Create => "make a new file",
        What::Edit => "change a file",
        What::List => "list a folder",
        What::DeleteFile => "delete a file",
        What::DeletePath => "delete a file or folder",
        What::Mkdir => "make a folder",
        What::Run => "run a shell command",
        What::Start => "open a session in a terminal",
        What::Send => "type into a session",
        What::Output => "read what a session printed",
        What::Close => "close a session",
        What::Sessions => "list the sessions",
        What::Fetch => "fetch a page",
        What::WebSearch => "search the web",
        #[cfg(feature = "symbols")]
        What::Symbol => "find where a name of the program is defined",
        #[cfg(feature = "symbols")]
        What::Symbols => "list what a file or folder defines",
        #[cfg(feature = "symbols")]
        What::References => "find where a name of the program is used",
    }
}
