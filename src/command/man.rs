//! `agentglot man`.

use clap::Command;
use clap_mangen::Man;

use crate::status::{Failure, Status};

/// Writes the manual page of the program (`""`), or of one of its commands, to stdout. The words of a command are joined as in the names of
/// pages: `sessions-copy`.
///
/// # Errors
/// When there is no such command, or stdout cannot be written.
pub fn run(command: &str) -> Result<Status, Failure> {
    let mut program = crate::cli::line();
    program.build();
    let wanted = if command.is_empty() {
        "agentglot".to_owned()
    } else {
        format!("agentglot-{command}")
    };
    let page = called(&program, &wanted).ok_or_else(|| Failure::Usage(format!("there is no command {command:?}; `agentglot help` lists them")))?;
    let mut text = Vec::new();
    Man::new(page.clone()).render(&mut text).map_err(Failure::of_stdout)?;
    super::print(&text)
}

/// The command, or one below it, whose page has this name.
fn called<'c>(command: &'c Command, page: &str) -> Option<&'c Command> {
    let is_called = command.get_display_name().unwrap_or_else(|| command.get_name()) == page;
    if is_called {
        Some(command)
    } else {
        command.get_subcommands().find_map(|below| called(below, page))
    }
}
