//! The command line: as it is typed ([`low`]), and as it is meant (`high`).

mod high;
pub mod low;
mod shim;

pub(crate) use shim::NAMES as SHIMS;

use std::ffi::OsString;
use std::io::Write;

use agentglot_adapters::codec::Dialect;
use clap::Parser;
use clap::error::ErrorKind;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::command;
use crate::status::{Failure, Status};

/// Reads the command line and does what it says.
pub fn main() -> u8 {
    if let Some(dialect) = shim::called() {
        if let Err(failure) = log(0) {
            return told(&failure).code();
        }
        let settings = shim::settings();
        let args = std::env::args_os().skip(1).collect();
        return match settings {
            Ok(settings) => stand_in(dialect, settings, args),
            Err(error) => {
                let _ = error.print();
                Status::Usage.code()
            }
        };
    }
    let typed = match low::Typed::try_parse() {
        Ok(typed) => typed,
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Whoever closed the pipe does not want to know.
            let _ = error.print();
            return if asked { Status::Clean } else { Status::Usage }.code();
        }
    };
    if let Err(failure) = log(typed.verbose) {
        return told(&failure).code();
    }
    match typed.command {
        low::Command::Run(typed) => match typed.dialect {
            low::Chosen::Named(format) => stand_in(format.dialect, typed.settings, typed.args),
            low::Chosen::Auto => Status::Usage.code(),
        },
        other => run(other).unwrap_or_else(|failure| told(&failure)).code(),
    }
}

/// Is another program.
fn stand_in(dialect: Dialect, settings: low::Settings, args: Vec<OsString>) -> u8 {
    let run = match high::run(dialect, settings, args) {
        Ok(run) => run,
        Err(failure) => return told(&failure).code(),
    };
    // From here on it is that program's failure, and all of them exit with 1 if they cannot begin.
    command::run::run(&run).unwrap_or_else(|failure| u8::from(told(&failure) != Status::Clean))
}

fn run(command: low::Command) -> Result<Status, Failure> {
    match command {
        low::Command::Convert(typed) => Ok(command::convert::run(high::convert(typed)?)),
        low::Command::Check(typed) => command::check::run(&high::check(typed)?),
        low::Command::InstallShims { dir } => command::install_shims::run(&dir),
        low::Command::HookRelay { socket } => crate::backend::hooks::relay(&socket)
            .map(|()| Status::Clean)
            .map_err(|error| Failure::Read {
                name: socket.display().to_string(),
                error,
            }),
        low::Command::Run(_) => Ok(Status::Usage),
        low::Command::Dialects { json } => command::dialects::run(json),
        low::Command::Completions { shell } => command::completions::run(shell),
        low::Command::Man { command } => command::man::run(command.as_deref()),
    }
}

fn told(failure: &Failure) -> Status {
    if failure.is_closed_reader() {
        return Status::Clean;
    }
    let _ = writeln!(std::io::stderr().lock(), "agentglot: {failure}");
    failure.status()
}

/// Our own log goes to stderr, and only when it is asked for: `-v`, or `AGENTGLOT_LOG` (`debug`, `agentglot=trace` …).
fn log(verbose: u8) -> Result<(), Failure> {
    let level = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let targets = match std::env::var("AGENTGLOT_LOG") {
        Ok(filter) if !filter.is_empty() => filter
            .parse::<Targets>()
            .map_err(|error| Failure::Usage(format!("AGENTGLOT_LOG={filter:?}: {error}")))?,
        _ if verbose == 0 => return Ok(()),
        _ => Targets::new().with_default(level),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time();
    tracing_subscriber::registry().with(targets).with(lines).init();
    Ok(())
}
