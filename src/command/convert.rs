//! `agentglot convert`.

use std::io::IsTerminal;

use crate::io::{Console, Input};
use crate::status::Status;
use crate::work::{self, Work};

/// Converts, with a progress bar where it does not disturb.
pub fn run(work: Work) -> Status {
    let on_screen = work.outputs.is_none() && std::io::stdout().is_terminal();
    let console = match on_screen {
        true => Console::plain(),
        false => Console::with_bar(work.inputs.iter().map(Input::size).sum()),
    };
    work::run(work, &console)
}
