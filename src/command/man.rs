//! `agentglot man`.

use clap_mangen::Man;

use crate::status::{Failure, Status};

/// Writes the manual page of the program, or of one of its commands, to stdout.
///
/// # Errors
/// When there is no such command, or stdout cannot be written.
pub fn run(command: Option<&str>) -> Result<Status, Failure> {
    let mut program = crate::cli::line();
    program.build();
    let page = match command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            found.ok_or_else(|| Failure::Usage(format!("there is no command {name:?}")))?
        }
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(|error| Failure::Write {
        name: "standard output".to_owned(),
        error,
    })?;
    super::print(&text)
}
