//! `agentglot stats`: what agents used.

use crate::io::{Console, Input, Joined};
use crate::stats::{By, Counter, Form, Prices, written};
use crate::status::{Failure, Status};

/// What is to be counted, and how.
#[derive(Debug)]
pub struct Stats {
    /// The logs.
    pub inputs: Vec<Input>,
    /// What is counted together.
    pub by: By,
    /// How it is written.
    pub form: Form,
    /// What lies in files beside a log is counted too.
    pub subagents: bool,
    /// Days are those of Greenwich.
    pub utc: bool,
    /// What tokens cost.
    pub prices: Prices,
    /// How the run ends at best.
    pub status: Status,
}

/// Counts, and writes what was counted.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(stats: &Stats) -> Result<Status, Failure> {
    let console = Console::with_bar(stats.inputs.iter().map(Input::size).sum());
    let (text, status) = text(stats, &console);
    super::print(text.as_bytes())?;
    Ok(status)
}

/// Counts, and gives what was counted as it would be written.
pub fn text(stats: &Stats, console: &Console) -> (String, Status) {
    let mut status = stats.status;
    let mut counter = Counter::new(stats.by, stats.utc, stats.prices.clone());
    for input in &stats.inputs {
        let counted = count(&mut counter, input, stats.subagents, console);
        status.worsen(told(&input.name(), counted, console));
    }
    console.done();
    (written(&counter, stats.form, super::terminal_width()), status)
}

fn count(counter: &mut Counter, input: &Input, subagents: bool, console: &Console) -> Result<u64, Failure> {
    let log = Joined::open(input, None, subagents, console)?;
    let name = input.name();
    counter.comes(input);
    counter.log(log, &name).map_err(|error| Failure::of_log(&name, error))
}

/// Says what came of counting a log.
fn told(name: &str, counted: Result<u64, Failure>, console: &Console) -> Status {
    match counted {
        Ok(0) => Status::Clean,
        Ok(damaged) => {
            let lines = if damaged == 1 { "line" } else { "lines" };
            console.say(&format!("{name}: {damaged} {lines} cannot be read"));
            Status::Damaged
        }
        Err(failure) => {
            let failure = failure.without_from();
            console.say(&failure.to_string());
            failure.status()
        }
    }
}
