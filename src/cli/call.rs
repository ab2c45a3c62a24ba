//! Commands as calls, for programs that use this as a library: the options are those of the command line, the log is a file or what the
//! program holds, and what the command would print is handed back.

use std::ffi::OsString;

use agentglot_adapters::convert::{AutoConverter, Options};
use clap::{Args, Parser};

use super::{high, views};
use crate::command;
use crate::io::{Console, Input, Memory, Target};
use crate::status::{Failure, Status};
use crate::work::{self, Done, Work};

/// The options of one command.
#[derive(Debug, Parser)]
#[command(name = "agentglot")]
struct One<A: Args> {
    #[command(flatten)]
    args: A,
}

/// What a command is called with.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Its options and the files that it reads, as they stand on the command line behind the command.
    pub args: Vec<OsString>,
    /// What is read in place of files.
    pub memory: Option<Memory>,
}

impl Call {
    fn typed<A: Args>(&self) -> Result<A, Failure> {
        // A log that is no file is read in place of one.
        let log = self.memory.is_some().then(|| OsString::from("log"));
        let args = [OsString::from("agentglot")].into_iter().chain(self.args.iter().cloned()).chain(log);
        match One::try_parse_from(args) {
            Ok(One { args }) => Ok(args),
            Err(error) => {
                let text = super::shown(error).to_string();
                let why = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
                Err(Failure::Usage(why.trim_end().to_owned()))
            }
        }
    }

    fn inputs(self, named: Vec<Input>) -> Vec<Input> {
        self.memory.map_or(named, |memory| vec![Input::Memory(memory)])
    }

    /// `convert`. What goes nowhere else goes to `stdout`.
    ///
    /// # Errors
    /// When it could not be begun; what came of each log is in the report.
    pub fn convert(self, stdout: Target) -> Result<Done, Failure> {
        work::run_to(self.work()?, stdout, &Console::silent())
    }

    /// What `convert` would do: for those who want batches of tables and not their files.
    ///
    /// # Errors
    /// When the options make no sense.
    pub fn work(self) -> Result<Work, Failure> {
        let mut work = high::convert(self.typed()?)?;
        work.inputs = self.inputs(work.inputs);
        Ok(work)
    }

    /// `convert` of a log that is fed, and found out if the options do not name what it is written in. `change` has the last word on them.
    ///
    /// # Errors
    /// When the options make no sense.
    pub fn converter(&self, change: impl FnOnce(&mut Options)) -> Result<AutoConverter, Failure> {
        let mut work = high::convert(self.typed()?)?;
        change(&mut work.options);
        Ok(AutoConverter::new(work.from, work.options))
    }

    /// `check`.
    ///
    /// # Errors
    /// When the options make no sense, or `stdout` cannot be written.
    pub fn check(self, stdout: Target) -> Result<Status, Failure> {
        let mut check = high::check(self.typed()?)?;
        check.inputs = self.inputs(check.inputs);
        command::check::run_to(&check, stdout, &Console::silent())
    }

    /// `stats`: what it would print.
    ///
    /// # Errors
    /// When the options make no sense.
    pub fn stats(self) -> Result<(String, Status), Failure> {
        let mut stats = high::stats(self.typed::<views::Stats>()?)?;
        stats.inputs = self.inputs(stats.inputs);
        Ok(command::stats::text(&stats, &Console::silent()))
    }
}
