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
    /// One JSON object is written.
    pub json: bool,
}

/// Compares; the status says whether there is a difference.
///
/// # Errors
/// When a log cannot be read, or stdout cannot be written.
pub fn run(diff: &Diff) -> Result<Status, Failure> {
    let mut status = Status::Clean;
    let mut keep = |input: &Input| {
        let name = input.name();
        let mut source = Source::open(input, &Console::plain())?;
        let from = super::show::read_as(input, None, &mut source)?;
        let mut kept = Kept::new(diff.ignore);
        let shown = show(source.into_reader(), from, &name, &Pick::default(), &mut kept);
        // It keeps everything.
        let shown = shown.map_err(|error| Failure::Read { name: name.clone(), error })?;
        if shown.damaged > 0 {
            status.worsen(Status::Damaged);
            Console::plain().say(&format!("{name}: what is damaged is not compared: lines: {}", shown.damaged));
        }
        shown.stopped.map_or(Ok(kept), |error| Err(super::show::failure(&name, error)))
    };
    let kept = [keep(&diff.logs[0])?, keep(&diff.logs[1])?];
    let found = Difference::between([diff.logs[0].name(), diff.logs[1].name()], kept);
    if !found.is_empty() {
        status.worsen(Status::Damaged);
    }
    let text = if diff.json {
        format!("{:#}\n", found.json())
    } else {
        found.text(diff.cut, super::terminal_width())
    };
    super::print(text.as_bytes())?;
    Ok(status)
}
