//! What the program can do, one file each.

pub mod check;
pub mod completions;
pub mod convert;
pub mod dialects;
pub mod diff;
#[cfg(all(unix, feature = "agent"))]
pub mod doctor;
#[cfg(all(unix, feature = "agent"))]
pub mod install_shims;
pub mod man;
#[cfg(all(unix, feature = "agent"))]
mod refusal;
#[cfg(all(unix, feature = "agent"))]
pub mod run;
pub mod schema;
#[cfg(all(unix, feature = "agent"))]
pub mod sessions;
pub mod show;
pub mod stats;
#[cfg(all(unix, feature = "agent"))]
pub mod trust;
#[cfg(feature = "view")]
pub mod view;

use std::io::{IsTerminal, Write};

use crate::io::Target;
use crate::status::{Failure, Status};

/// Writes a whole text to stdout.
fn print(text: &[u8]) -> Result<Status, Failure> {
    Target::stdout().write_all(text).map_err(Failure::of_stdout)?;
    Ok(Status::Clean)
}

/// How wide standard output is, if it is a terminal.
fn terminal_width() -> Option<usize> {
    let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

/// Whether what is written to standard output has colours: as it was asked for, else on a terminal that has them.
fn colour(asked: Option<bool>, on_terminal: bool) -> bool {
    asked.unwrap_or_else(|| on_terminal && anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never)
}
