//! The command line: as it is typed ([`low`]), and as it is meant (`high`).

mod high;
mod log;
pub mod low;
pub(crate) mod settings;
mod shim;

pub(crate) use shim::names as links;

use std::ffi::OsString;

use agentglot_adapters::raw::codec::Dialect;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::command;
use crate::config::Config;
use crate::io::Console;
use crate::status::{Failure, Status};

/// Reads the command line and does what it says.
pub fn main() -> u8 {
    if let Some(dialect) = shim::called() {
        let config = match log::begin(0, &log::Wish::of(std::env::args_os())).and_then(|()| config()) {
            Ok(config) => config,
            Err(failure) => return told(&failure).code(),
        };
        let args = std::env::args_os().skip(1).collect();
        return match settings::alone(&config) {
            Ok((settings, _)) => stand_in(dialect, settings, args, &config),
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
    let wish = match &typed.command {
        low::Command::Run(run) => log::Wish::of(run.args.iter().cloned()),
        _ => log::Wish::default(),
    };
    if let Err(failure) = log::begin(typed.verbose, &wish) {
        return told(&failure).code();
    }
    match typed.command {
        low::Command::Run(_) => run_as(),
        other => run(other).unwrap_or_else(|failure| told(&failure)).code(),
    }
}

/// `run`: the command line once more, with the files below it.
fn run_as() -> u8 {
    let config = match config() {
        Ok(config) => config,
        Err(failure) => return told(&failure).code(),
    };
    let command = low::Typed::command().mut_subcommand("run", |run| settings::below(run, &config));
    let typed = command.try_get_matches().and_then(|matches| low::Typed::from_arg_matches(&matches));
    match typed {
        Ok(low::Typed {
            command: low::Command::Run(typed),
            ..
        }) => match typed.dialect {
            low::Chosen::Named(format) => stand_in(format.dialect, typed.settings, typed.args, &config),
            low::Chosen::Auto => Status::Usage.code(),
        },
        Ok(_) => Status::Usage.code(),
        Err(error) => {
            let _ = error.print();
            Status::Usage.code()
        }
    }
}

/// The configuration of the folder that we were started in.
fn config() -> Result<Config, Failure> {
    let cwd = std::env::current_dir().map_err(|error| Failure::Read {
        name: "the working folder".to_owned(),
        error,
    })?;
    let config = Config::load(&cwd)?;
    if !config.ignored.is_empty() {
        let ignored: Vec<String> = config.ignored.iter().map(ToString::to_string).collect();
        tracing::warn!("{}", ignored.join("; "));
    }
    Ok(config)
}

/// Is another program.
fn stand_in(dialect: Dialect, settings: low::Settings, args: Vec<OsString>, config: &Config) -> u8 {
    let run = match high::run(dialect, settings, args, config) {
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
        low::Command::Sessions(typed) => command::sessions::run(&high::sessions(typed)),
        low::Command::Doctor { json } => command::doctor::run(json),
        low::Command::InstallShims { dir } => command::install_shims::run(&dir),
        low::Command::HookRelay { socket } => crate::backend::hooks::relay(&socket)
            .map(|()| Status::Clean)
            .map_err(|error| Failure::Read {
                name: socket.display().to_string(),
                error,
            }),
        low::Command::Run(_) => Ok(Status::Usage),
        low::Command::Dialects { json } => command::dialects::run(json),
        low::Command::Schema(typed) => command::schema::run(typed.dialect, typed.input),
        low::Command::Completions { shell } => command::completions::run(shell),
        low::Command::Man { command } => command::man::run(command.as_deref()),
    }
}

fn told(failure: &Failure) -> Status {
    if failure.is_closed_reader() {
        return Status::Clean;
    }
    Console::plain().say(&failure.to_string());
    failure.status()
}
