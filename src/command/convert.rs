//! `agentglot convert`.

use std::io::IsTerminal;

use crate::io::{Console, Input, Source, one_line};
use crate::status::{Failure, Status};
use crate::work::{self, Work};

/// Converts, with a progress bar where it does not disturb.
pub fn run(work: Work) -> Status {
    let on_screen = work.outputs.is_none() && work.tables.is_none() && std::io::stdout().is_terminal();
    let console = match on_screen {
        true => Console::plain(),
        false => Console::with_bar(work.inputs.iter().map(Input::size).sum()),
    };
    work::run(work, &console)
}

/// Writes what would be done: a line for each log, with its dialect and where its output would go.
///
/// # Errors
/// When stdout cannot be written.
pub fn list(work: &Work) -> Result<Status, Failure> {
    let mut text = String::new();
    let mut status = work.status;
    let written = match &work.tables {
        Some(tables) => tables.columnar.name().to_owned(),
        None => work.options.to.to_string(),
    };
    for (n, input) in work.inputs.iter().enumerate() {
        let to = match (&work.outputs, &work.tables) {
            (Some(outputs), _) => outputs[n].path().display().to_string(),
            (None, Some(tables)) => tables.place(),
            (None, None) => "standard output".to_owned(),
        };
        let line = match dialect(work, input) {
            Ok(from) => format!("{}: {from} -> {written} in {to}", input.name()),
            Err(failure) => {
                status.worsen(failure.status());
                failure.to_string()
            }
        };
        text.push_str(&one_line(&line));
        text.push('\n');
    }
    super::print(text.as_bytes())?;
    Ok(status)
}

fn dialect(work: &Work, input: &Input) -> Result<String, Failure> {
    let mut source = Source::open(input, &Console::plain())?;
    Ok(match work.from {
        Some(from) => from.to_string(),
        None => work::find_out(input, &mut source)?.map_or_else(|| "empty".to_owned(), |found| format!("{} ({})", found.format, found.why)),
    })
}
