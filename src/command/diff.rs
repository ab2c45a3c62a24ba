//! `agentglot diff`: what two agents did otherwise.

use crate::io::{Console, Input, Source};
use crate::show::{Cut, Difference, Ignore, Kept, Pick, show};
use crate::status::{Failure, Status};

/// What is to be compared, and how.
#[derive(Debug)]
pub struct Diff {
    /// The logs.
    pub logs: [Input; 2],
    /// What makes no difference.
    pub ignore: Ignore,
    /// How much of long texts is shown.
    pub cut: Cut,
    /// How it is written.
    pub form: Form,
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
    let (found, damaged) = between(&diff.logs, diff.logs.each_ref().map(Input::name), diff.ignore)?;
    for (input, damaged) in diff.logs.iter().zip(damaged).filter(|(_, damaged)| *damaged > 0) {
        status.worsen(Status::Damaged);
        Console::plain().say(&format!("{}: what is damaged is not compared: lines: {damaged}", input.name()));
    }
    if !found.is_empty() {
        status.worsen(Status::Damaged);
    }
    let text = match diff.form {
        Form::Text => found.text(diff.cut, super::terminal_width()),
        Form::Json => format!("{:#}\n", found.json()),
        Form::Html => found.html(diff.cut, None),
    };
    super::print(text.as_bytes())?;
    Ok(status)
}

/// The difference between two logs that are called so, and how many lines of each are damaged.
///
/// # Errors
/// When one of them cannot be read.
pub(crate) fn between(logs: &[Input; 2], names: [String; 2], ignore: Ignore) -> Result<(Difference, [u64; 2]), Failure> {
    let keep = |input: &Input| {
        let name = input.name();
        let mut source = Source::open(input, &Console::plain())?;
        let from = super::show::read_as(input, None, &mut source)?;
        let mut kept = Kept::new(ignore);
        let shown = show(source.into_reader(), from, &name, &Pick::default(), &mut kept);
        // It keeps everything.
        let shown = shown.map_err(|error| Failure::Read { name: name.clone(), error })?;
        let damaged = shown.damaged;
        shown.stopped.map_or(Ok((kept, damaged)), |error| Err(super::show::failure(&name, error)))
    };
    let [(old, olds), (new, news)] = [keep(&logs[0])?, keep(&logs[1])?];
    Ok((Difference::between(names, [old, new]), [olds, news]))
}
