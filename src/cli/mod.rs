//! The command line: as it is typed ([`low`]), and as it is meant (`high`).

pub mod call;
mod high;
#[cfg(all(unix, feature = "agent"))]
pub(crate) mod live;
#[cfg(not(all(unix, feature = "agent")))]
#[path = "no_live.rs"]
mod live;
#[cfg_attr(not(all(unix, feature = "agent")), allow(dead_code, reason = "hosts of agents have wishes"))]
mod log;
pub mod low;
mod outputs;
mod tables;
pub mod views;
mod when;

use std::io::Write;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use crate::command;
use crate::io::{Console, clean, one_line, shell_word};
use crate::status::{Failure, Status};

/// Reads the command line and does what it says.
pub fn main() -> u8 {
    if let Some(code) = live::called() {
        return code;
    }
    if let Some(status) = command::completions::asked() {
        return status.code();
    }
    let typed = match typed().map_err(with_command).map_err(shown) {
        Ok(typed) => typed,
        Err(error) => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                return Status::Usage.code();
            }
            let printed = printed.map_err(Failure::of_stdout);
            return printed.map_or_else(|failure| told(&failure), |()| Status::Clean).code();
        }
    };
    let wish = match &typed.command {
        low::Command::Live(command) => live::wish(command),
        _ => log::Wish::default(),
    };
    if let Err(failure) = log::begin(typed.verbose, &wish) {
        return told(&failure).code();
    }
    match typed.command {
        low::Command::Live(command) => live::run(command),
        other => run(other).unwrap_or_else(|failure| told(&failure)).code(),
    }
}

/// A file in place of a command: what is most often wanted of it is offered.
fn with_command(mut error: clap::Error) -> clap::Error {
    let named = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if Path::new(name).exists() => shell_word(name),
        _ => return error,
    };
    let offered = ["show", "check", "convert --to DIALECT"].map(|command| format!("'agentglot {command} {named}'"));
    let tip = format!("commands come first: {}", offered.join(", "));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// What is wrong with a command line, as it may be shown: what it repeats of the arguments is one line, and controls no terminal.
fn shown(mut error: clap::Error) -> clap::Error {
    let harmless = |text: &String| one_line(&clean(text));
    let repeated = error.context().filter_map(|(kind, value)| {
        let told = match value {
            ContextValue::String(text) => ContextValue::String(harmless(text)),
            ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(harmless).collect()),
            _ => return None,
        };
        (told != *value).then_some((kind, told))
    });
    let repeated: Vec<(ContextKind, ContextValue)> = repeated.collect();
    if !repeated.is_empty() {
        // A suggestion repeats it as it was typed.
        error.remove(ContextKind::Suggested);
    }
    for (kind, told) in repeated {
        error.insert(kind, told);
    }
    error
}

/// All that can be typed.
pub(crate) fn line() -> clap::Command {
    without_empty_variables(live::with_short_forms(low::Typed::command()))
}

/// The same command, to which an empty variable is one that is not set.
pub(crate) fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &clap::Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|arg| if is_empty(&arg) { arg.env(None::<&'static str>) } else { arg });
    command.mut_subcommands(without_empty_variables)
}

fn typed() -> Result<low::Typed, clap::Error> {
    let mut line = line();
    let matches = line.try_get_matches_from_mut(live::spelled_out());
    // What is wrong, and help, is told of the form that was typed.
    let typed = |error| self::line().try_get_matches_from(std::env::args_os()).err().unwrap_or(error);
    let matches = matches.map_err(|error| live::of_variable_or_flag(typed(error), self::line(), live::spelled_out()))?;
    low::Typed::from_arg_matches(&matches).map_err(|error| error.format(&mut line))
}

fn run(command: low::Command) -> Result<Status, Failure> {
    match command {
        low::Command::Convert(typed) if typed.list => command::convert::list(&high::convert(typed)?),
        low::Command::Convert(typed) => Ok(command::convert::run(high::convert(typed)?)),
        low::Command::Check(typed) if typed.rules => command::check::rules(typed.json),
        low::Command::Check(typed) => command::check::run(&high::check(typed)?),
        low::Command::Show(typed) => command::show::run(&high::show(typed)?),
        low::Command::Stats(typed) => command::stats::run(&high::stats(typed)?),
        low::Command::Diff(typed) => command::diff::run(&high::diff(typed)?),
        #[cfg(feature = "view")]
        low::Command::View(typed) => command::view::run(high::view(typed)?),
        low::Command::Live(_) => Ok(Status::Usage),
        low::Command::Dialects { json } => command::dialects::run(json),
        low::Command::Schema(typed) => command::schema::run(typed.dialect.and_then(low::Chosen::named), typed.input),
        low::Command::Completions { shell } => command::completions::run(shell),
        low::Command::Man { command } => command::man::run(&command.join("-")),
    }
}

fn told(failure: &Failure) -> Status {
    if failure.is_closed_reader() {
        return Status::Clean;
    }
    Console::plain().say(&failure.to_string());
    failure.status()
}
