//! A log put together turn by turn, with what its subagents did.

use std::collections::VecDeque;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::Arc;

use agentglot_adapters::events::Event;
use agentglot_adapters::raw::codec::Format;
use agentglot_adapters::session::{Growing, Turn, Turns};
use agentglot_adapters::{Error, Source as Written, turns};

use super::subagents::{Family, Step, Subagent, of_log};
use super::{Console, Input, READ, Source};
use crate::status::Failure;

/// The turns of a log, with the work of its subagents that lies in files beside it.
pub struct Joined<'r>(Way<'r>);

enum Way<'r> {
    /// Everything stands in the log.
    Alone(Turns<Box<dyn Read + Send + 'r>>),
    With(Whole<'r>),
}

/// A session's file and those of its subagents.
struct Whole<'r> {
    log: Box<dyn Read + Send + 'r>,
    format: Format,
    /// There until the session's file is over.
    family: Option<Family>,
    turns: Growing,
    /// In which file the reading is.
    files: Vec<Arc<str>>,
    found: VecDeque<Result<Turn, Error>>,
    room: Vec<u8>,
    /// Something was read since this was told.
    fresh: bool,
}

impl<'r> Joined<'r> {
    /// Those of a log that is called `name` in errors, and has nothing beside it.
    pub fn alone(log: impl Read + Send + 'r, from: Written, name: &str) -> Self {
        Self(Way::Alone(turns(Box::new(log) as Box<dyn Read + Send + 'r>, from).named(name)))
    }

    /// Those of a log with these subagents.
    pub(crate) fn with(log: impl Read + Send + 'r, from: Written, name: &str, subagents: Vec<Subagent>) -> Self {
        let format = match from {
            Written::Is(format) if !subagents.is_empty() => format,
            _ => return Self::alone(log, from, name),
        };
        Self(Way::With(Whole {
            log: Box::new(log),
            format,
            family: Some(Family::new(subagents)),
            turns: Growing::new(format),
            files: vec![name.into()],
            found: VecDeque::new(),
            room: vec![0; READ],
            fresh: false,
        }))
    }

    /// Opens a log; without `subagents`, the files beside it are left alone.
    ///
    /// # Errors
    /// When it cannot be read, or the dialect cannot be told.
    pub fn open(input: &Input, named: Option<Format>, subagents: bool, console: &Console) -> Result<Self, Failure> {
        let mut source = Source::open(input, console)?;
        let from = source.written_in(input, named)?;
        let subagents = if subagents { of_log(input, from, source.head()) } else { Vec::new() };
        Ok(Self::with(source.into_reader(), from, &input.name(), subagents))
    }

    /// What the log is written in. `None`: it holds nothing.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn format(&mut self) -> Result<Option<Format>, Error> {
        match &mut self.0 {
            Way::Alone(turns) => turns.format(),
            Way::With(whole) => Ok(Some(whole.format)),
        }
    }

    /// What calls were given, what came of them and what the model thought is left out: enough to count, and less work. To be said before
    /// anything is read.
    pub fn leave_contents(&mut self) {
        match &mut self.0 {
            Way::Alone(turns) => turns.leave_contents(),
            Way::With(whole) => whole.turns.leave_contents(),
        }
    }

    /// Reads on: gives a turn that has ended, or nothing where more has to be read to end one. `None`: there is no more.
    pub fn step(&mut self) -> Option<Result<Option<Turn>, Error>> {
        match &mut self.0 {
            Way::Alone(turns) => turns.step(),
            Way::With(whole) => whole.step(),
        }
    }

    /// The turn that has begun and not ended ([`Turns::going_on`]).
    pub fn going_on(&mut self) -> Option<&mut Turn> {
        match &mut self.0 {
            Way::Alone(turns) => turns.going_on(),
            Way::With(whole) => whole.turns.going_on(),
        }
    }

    /// Takes what was said since the last turn and belongs to none.
    pub fn rest(&mut self) -> Vec<Event> {
        match &mut self.0 {
            Way::Alone(turns) => turns.rest(),
            Way::With(whole) => whole.turns.rest(),
        }
    }
}

impl Iterator for Joined<'_> {
    type Item = Result<Turn, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step()? {
                Ok(Some(turn)) => return Some(Ok(turn)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = match &self.0 {
            Way::Alone(_) => None,
            Way::With(whole) => Some(&whole.family),
        };
        f.debug_struct("Joined").field("family", &family).finish_non_exhaustive()
    }
}

impl Whole<'_> {
    fn step(&mut self) -> Option<Result<Option<Turn>, Error>> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Some(found.map(Some));
            }
            if std::mem::take(&mut self.fresh) {
                return Some(Ok(None));
            }
            let mut family = self.family.take()?;
            let read = self.log.read(&mut self.room);
            let Self { turns, files, found, .. } = self;
            let mut take = |step: Step<'_>| take(step, turns, files, found);
            match read {
                Ok(read @ 1..) => {
                    family.feed(&self.room[..read], &mut take);
                    self.family = Some(family);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => self.family = Some(family),
                // Subagents whose calls were not read have no place.
                Err(error) => found.push_back(Err(Error::from(error).in_file(files.first().map(|name| &**name)))),
                Ok(0) => {
                    family.finish(&mut take);
                    turns.finish();
                    ended(turns, files, found);
                }
            }
            self.fresh = self.family.is_some();
        }
    }
}

fn take(step: Step<'_>, turns: &mut Growing, files: &mut Vec<Arc<str>>, found: &mut VecDeque<Result<Turn, Error>>) {
    match step {
        Step::Bytes(bytes) => turns.feed(bytes),
        Step::Begin(subagent) => {
            turns.begin_subagent(&subagent.of);
            files.push(Arc::clone(&subagent.name));
        }
        Step::End => {
            turns.end_subagent();
            ended(turns, files, found);
            files.pop();
        }
        Step::Failed(Failure::Read { name, error }) => found.push_back(Err(Error::from(error).in_file(Some(&name)))),
        Step::Failed(failure) => found.push_back(Err(std::io::Error::other(failure.to_string()).into())),
    }
    ended(turns, files, found);
}

/// Takes what has ended, and what is damaged in the file in which the reading is.
fn ended(turns: &mut Growing, files: &[Arc<str>], found: &mut VecDeque<Result<Turn, Error>>) {
    while let Some(next) = turns.next_ended() {
        found.push_back(next.map_err(|error| error.in_file(files.last().map(|name| &**name))));
    }
}
