//! The commands with agents that live, behind us or in us: `run` (by its name or by an agent's), `sessions`, `doctor`, `install-shims`.

mod high;
pub(crate) mod low;
pub(crate) mod settings;
mod shim;

pub(super) use low::Command;
pub(super) use settings::of_variable_or_flag;
pub(crate) use shim::names as links;
pub(super) use shim::spelled_out;

use std::ffi::OsString;
use std::path::Path;

use agentglot_adapters::raw::codec::Dialect;
use clap::{CommandFactory, FromArgMatches};

use super::low::{Chosen, Command as Any, Typed};
use super::views::Colour;
use super::{log, shown, told};
use crate::command;
use crate::config::Config;
use crate::io::Console;
use crate::status::{Failure, Status};

/// What there is to do before the command line is read: this process may be a child's watcher, or be called by an agent's name.
pub(super) fn called() -> Option<u8> {
    crate::child::watch::serve_if_asked();
    let dialect = shim::called()?;
    let config = match log::begin(0, &log::Wish::of(std::env::args_os())).and_then(|()| config()) {
        Ok(config) => config,
        Err(failure) => return Some(told(&failure).code()),
    };
    let args = std::env::args_os().skip(1).collect();
    Some(match settings::alone(&config) {
        Ok((settings, _, said)) => stand_in(dialect, Colour::Auto, settings, args, &config, said),
        Err(error) => {
            let _ = shown(error).print();
            Status::Usage.code()
        }
    })
}

/// The command line with the short forms of `run` in it.
pub(super) fn with_short_forms(typed: clap::Command) -> clap::Command {
    let run = typed.find_subcommand("run").cloned().unwrap_or_default();
    let shorter = |(name, dialect): (&'static str, Dialect)| {
        let short = run.clone().name(name).about(format!("The same as `run --as {}`", dialect.name()));
        short.mut_arg("dialect", |chosen| chosen.hide(true).required(false))
    };
    typed.subcommands(shim::short_forms().map(shorter))
}

/// What the host whose command line this is wants of our log.
pub(super) fn wish(command: &Command) -> log::Wish {
    match command {
        Command::Run(run) => log::Wish::of(run.args.iter().cloned()),
        _ => log::Wish::default(),
    }
}

/// Does what was asked for.
pub(super) fn run(command: Command) -> u8 {
    let done = match command {
        Command::Run(_) => return run_as(),
        Command::Sessions(typed) => command::sessions::run(&high::sessions(typed)),
        Command::Trust { what, folders } => command::trust::run(&high::trust(what, folders)),
        Command::Doctor { json, probe } => command::doctor::run(json, probe),
        Command::InstallShims { dir } => command::install_shims::run(&dir),
        Command::HookRelay { socket } => relayed(&socket, crate::backend::hooks::relay(&socket)),
        Command::ServerRelay { socket, server } => relayed(&socket, crate::backend::host_servers::relay(&socket, &server)),
    };
    done.unwrap_or_else(|failure| told(&failure)).code()
}

fn relayed(socket: &Path, done: std::io::Result<()>) -> Result<Status, Failure> {
    done.map(|()| Status::Clean).map_err(|error| Failure::Read {
        name: socket.display().to_string(),
        error,
    })
}

/// `run`: the command line once more, with the files below it.
fn run_as() -> u8 {
    let config = match config() {
        Ok(config) => config,
        Err(failure) => return told(&failure).code(),
    };
    let command = Typed::command().mut_subcommand("run", |run| settings::below(run, &config));
    let mut said = Vec::new();
    let typed = command.try_get_matches_from(spelled_out()).and_then(|matches| {
        said = settings::said(matches.subcommand_matches("run"));
        Typed::from_arg_matches(&matches)
    });
    match typed {
        Ok(Typed {
            command: Any::Live(Command::Run(typed)),
            ..
        }) => match typed.dialect {
            Chosen::Named(format) => {
                let all: Vec<OsString> = std::env::args_os().collect();
                match high::misplaced(format.dialect, &typed.args, &all) {
                    Some(failure) => told(&failure).code(),
                    None => stand_in(format.dialect, typed.color, typed.settings, typed.args, &config, said),
                }
            }
            Chosen::Auto | Chosen::Columns(_) => Status::Usage.code(),
        },
        Ok(_) => Status::Usage.code(),
        Err(error) => {
            let _ = shown(error).print();
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
    for foreign in config.ignored.iter().filter(|ignored| ignored.foreign) {
        Console::plain().say(&foreign.to_string());
    }
    if !config.ignored.is_empty() {
        let ignored: Vec<String> = config.ignored.iter().map(ToString::to_string).collect();
        tracing::warn!("{}", ignored.join("; "));
    }
    Ok(config)
}

/// Is another program. `said`: [`settings::said`].
fn stand_in(dialect: Dialect, colour: Colour, settings: low::Settings, args: Vec<OsString>, config: &Config, said: settings::Said) -> u8 {
    let run = match high::run(dialect, settings, args, config) {
        Ok(run) => command::run::Run {
            colour: colour.wanted(),
            said,
            ..run
        },
        Err(failure) => return told(&failure).code(),
    };
    // From here on it is that program's failure, and all of them exit with 1 if they cannot begin.
    command::run::run(&run).unwrap_or_else(|failure| u8::from(told(&failure) != Status::Clean))
}
