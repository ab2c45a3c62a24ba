//! `agentglot check`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write as _};

use agentglot_adapters::check::{Checker, Fault, Summary, Tally};
use agentglot_adapters::raw::codec::Format;

use crate::io::{Console, Input, READ, Source, Target, other_side};
use crate::schema::Misfits;
use crate::status::{Failure, Status};

/// What is to be checked.
#[derive(Debug)]
pub struct Check {
    /// The logs.
    pub inputs: Vec<Input>,
    /// What they are written in; without it each is looked at.
    pub dialect: Option<Format>,
    /// Longer lines are called damaged.
    pub max_line: usize,
    /// What could not even be looked for is told already: how the run ends at best.
    pub status: Status,
}

/// Reads every log and writes what is wrong with it to stdout. Failures to read one do not keep the others from being read.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(check: &Check) -> Result<Status, Failure> {
    let mut page = Page {
        stdout: Target::stdout(),
        status: check.status,
    };
    for input in &check.inputs {
        if let Err(failure) = page.log(check, input) {
            if matches!(failure, Failure::Write { .. }) {
                return Err(failure);
            }
            page.status.worsen(failure.status());
            Console::plain().say(&failure.to_string());
        }
    }
    Ok(page.status)
}

struct Page {
    stdout: Target,
    status: Status,
}

impl Page {
    fn log(&mut self, check: &Check, input: &Input) -> Result<(), Failure> {
        let mut source = Source::open(input, &Console::plain())?;
        let name = input.name();
        let (format, why) = match check.dialect {
            Some(format) => (format, "as named".to_owned()),
            None => match source.detect() {
                Ok(Some(found)) => (found.format, found.why),
                Ok(None) => return self.write(&format!("{name}: empty\n")),
                Err(Failure::Unclear { name, unclear }) => match other_side(input, &unclear.candidates) {
                    Some(told) => told,
                    None => return Err(Failure::Unclear { name, unclear }),
                },
                Err(failure) => return Err(failure),
            },
        };
        self.write(&format!("{name}: {format} ({why})\n"))?;
        let mut checker = Checker::new(format, check.max_line);
        let mut misfits = Misfits::new(format);
        let mut reader = source.into_reader();
        let mut buffer = vec![0; READ];
        let mut unread = None;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    checker.feed(&buffer[..read]);
                    misfits.feed(&buffer[..read]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    unread = Some(Failure::Read { name: name.clone(), error });
                    break;
                }
            }
            let faults = checker.take_faults();
            self.faults(&name, &faults)?;
        }
        let (faults, summary) = checker.finish();
        self.faults(&name, &faults)?;
        self.write(&tell(&name, &summary))?;
        let mut text = String::new();
        tallies(&mut text, &name, "does not fit the schema:", &misfits.finish());
        self.write(&text)?;
        unread.map_or(Ok(()), Err)
    }

    fn faults(&mut self, name: &str, faults: &[Fault]) -> Result<(), Failure> {
        if faults.is_empty() {
            return Ok(());
        }
        self.status.worsen(Status::Damaged);
        let mut text = String::new();
        for fault in faults {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{name}:{}:{}: ", fault.line, fault.byte);
            if let Some(pointer) = fault.pointer.as_deref().filter(|p| !p.is_empty()) {
                let _ = write!(text, "{pointer}: ");
            }
            text.push_str(&fault.reason);
            text.push('\n');
        }
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.stdout.write_all(text.as_bytes()).map_err(|error| Failure::Write {
            name: self.stdout.name().to_owned(),
            error,
        })
    }
}

fn tell(name: &str, summary: &Summary) -> String {
    let mut text = String::new();
    let _ = write!(
        text,
        "{name}: {}, {}, {}",
        count(summary.lines, "line"),
        count(summary.outcomes, "outcome"),
        count(summary.faults, "fault")
    );
    if let Some(noise) = summary.noise {
        let _ = write!(
            text,
            ", {} that {} no JSON (first: line {})",
            count(noise.count, "line"),
            if noise.count == 1 { "is" } else { "are" },
            noise.first
        );
    }
    text.push('\n');
    tallies(&mut text, name, "unknown type", &summary.unknown_types);
    tallies(&mut text, name, "unknown field, or of an unknown type:", &summary.unknown_fields);
    for line in &summary.unended {
        let _ = writeln!(text, "{name}:{line}: the turn that begins here has no outcome");
    }
    text
}

fn tallies(text: &mut String, name: &str, what: &str, tallies: &BTreeMap<String, Tally>) {
    for (of, tally) in tallies {
        let _ = writeln!(text, "{name}:{}: {what} {of} ({} in all)", tally.first, tally.count);
    }
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
