//! `agentglot diff`: what two agents did otherwise.

use std::io::IsTerminal;

use crate::io::{Console, Input};
use crate::show::{Cut, Difference, Ignore};
use crate::status::{Failure, Status};

/// What is to be compared, and how.
#[derive(Debug)]
pub struct Diff {
    /// The logs.
    pub logs: [Input; 2],
    /// What makes no difference.
    pub ignore: Ignore,
    /// What lies in files beside the logs is compared too.
    pub subagents: bool,
    /// How much of long texts is shown.
    pub cut: Cut,
    /// How it is written.
    pub form: Form,
    /// With colours; without it, if it is shown on a terminal.
    pub colour: Option<bool>,
}

/// How a difference is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// One JSON object.
    Json,
    /// A page for a browser.
    Html,
}

/// Compares; the status says whether there is a difference.
///
/// # Errors
/// When a log cannot be read, or stdout cannot be written.
pub fn run(diff: &Diff) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    let (found, shown) = Difference::of(&diff.logs, diff.logs.each_ref().map(Input::name), diff.ignore, diff.subagents)?;
    for (input, shown) in diff.logs.iter().zip(shown) {
        if shown.empty {
            Console::plain().say(&format!("{}: empty, there is nothing to compare", input.name()));
        }
        if shown.damaged > 0 {
            status.worsen(Status::Damaged);
            Console::plain().say(&format!("{}: what is damaged is not compared: lines: {}", input.name(), shown.damaged));
        }
    }
    if !found.is_empty() {
        status.worsen(Status::Damaged);
    }
    let text = match diff.form {
        Form::Text => {
            let colour = super::colour(diff.colour, std::io::stdout().is_terminal());
            found.text(diff.cut, super::terminal_width(), colour)
        }
        Form::Json => format!("{:#}\n", found.json()),
        Form::Html => found.html(diff.cut, None),
    };
    super::print(text.as_bytes())?;
    Ok(status)
}
