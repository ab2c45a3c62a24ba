//! `agentglot completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::low::Typed;
use crate::status::{Failure, Status};

/// Writes a completion script to stdout.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(shell: Shell) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Typed::command(), "agentglot", &mut script);
    super::print(&script)
}
