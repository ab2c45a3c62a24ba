//! Settings from three places: flags, variables, files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser};

use super::low::Settings;
use crate::agent::persona;
use crate::backend::choice::Choice;
use crate::config::Config;

/// Variables, by their names.
pub(crate) type Said = Vec<(OsString, OsString)>;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The name of the setting's flag, with `_` for `-`.
    pub(crate) key: String,
    /// The value, if there is one.
    pub(crate) value: Option<String>,
    /// `AGENTGLOT_…`, `FILE:LINE`, or nothing if it is the usual one.
    pub(crate) from: Option<String>,
}

/// The same command, with what the files say where neither a flag nor a variable says anything.
pub(super) fn below(command: Command, config: &Config) -> Command {
    let mut command = crate::cli::without_empty_variables(command);
    for key in config.keys() {
        let text = config.setting(key).map(|(setting, _)| setting.text.clone());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            command = command.mut_arg(key, |arg| arg.default_value(text));
        }
    }
    command
}

/// What flags and variables say, as variables for a program of ours in another folder: paths are absolute in them.
pub(super) fn said(matches: Option<&ArgMatches>) -> Said {
    let command = Settings::augment_args(Command::new("agentglot"));
    let settings = command.get_arguments().filter_map(|arg| {
        let (matches, id) = (matches?, arg.get_id().as_str());
        if !matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            return None;
        }
        let value = match (matches.try_get_one::<PathBuf>(id), matches.try_get_one::<Choice>(id)) {
            (Ok(Some(path)), _) => absolute(path),
            (_, Ok(Some(choice))) => choice.clone().absolute().to_string().into(),
            _ => {
                let mut values = matches.get_raw(id).into_iter().flatten();
                let mut value = values.next().map_or_else(|| OsString::from("1"), ToOwned::to_owned);
                for more in values {
                    value.push(",");
                    value.push(more);
                }
                value
            }
        };
        Some((arg.get_env()?.to_owned(), value))
    });
    // Where settings and sessions are kept.
    let folders = persona::all()
        .filter_map(|persona| persona.settings?.variable)
        .chain(["AGENTGLOT_STATE_DIR"]);
    let folders = folders.filter_map(|name| {
        let path = std::env::var_os(name).filter(|path| !path.is_empty())?;
        Some((name.into(), absolute(Path::new(&path))))
    });
    settings.chain(folders).collect()
}

fn absolute(path: &Path) -> OsString {
    std::path::absolute(path).map_or_else(|_| path.into(), PathBuf::into_os_string)
}

/// The settings of a run without flags, where each comes from, and what is [`said`].
pub(crate) type Found = (Settings, Vec<Origin>, Said);

#[derive(Parser)]
#[command(name = "agentglot")]
struct Alone {
    #[command(flatten)]
    settings: Settings,
}

/// What holds for a run that is called by name, which has no flags.
pub(crate) fn alone(config: &Config) -> Result<Found, clap::Error> {
    read_alone(below(Alone::command(), config), config)
}

/// The same as if the variables did not count that say what cannot be meant; and what is wrong with those.
pub(crate) fn alone_without_wrong(config: &Config) -> (Result<Found, clap::Error>, Vec<clap::Error>) {
    let mut command = below(Alone::command(), config);
    let mut wrong = Vec::new();
    loop {
        let error = match read_alone(command.clone(), config) {
            Ok(found) => return (Ok(found), wrong),
            Err(error) => error,
        };
        let named = error.get(ContextKind::InvalidArg).map(ToString::to_string);
        let is_named = |arg: &Arg| {
            arg.get_env()
                .is_some_and(|variable| named.as_deref() == Some(&*variable.to_string_lossy()))
        };
        let Some(arg) = command.get_arguments().find(|arg| is_named(arg)).map(|arg| arg.get_id().clone()) else {
            return (Err(error), wrong);
        };
        command = command.mut_arg(arg, |arg| arg.env(None::<&'static str>));
        wrong.push(error);
    }
}

fn read_alone(command: Command, config: &Config) -> Result<Found, clap::Error> {
    let matches = command.try_get_matches_from(["agentglot"]).map_err(of_variable)?;
    let origins = Settings::augment_args(Command::new("agentglot"))
        .get_arguments()
        .map(|arg| {
            let key = arg.get_id().as_str();
            let values = matches.get_raw(key);
            let value = values.map(|values| values.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(","));
            let from = match matches.value_source(key) {
                Some(ValueSource::EnvVariable) => arg.get_env().map(|name| name.to_string_lossy().into_owned()),
                Some(ValueSource::DefaultValue) => config.setting(key).map(|(setting, path)| format!("{}:{}", path.display(), setting.line)),
                _ => None,
            };
            Origin {
                key: key.to_owned(),
                value,
                from,
            }
        })
        .collect();
    Ok((Alone::from_arg_matches(&matches)?.settings, origins, said(Some(&matches))))
}

/// What is wrong with a command line is called by the variable that says it, unless it is as wrong without variables.
pub(in crate::cli) fn of_variable_or_flag(error: clap::Error, command: Command, args: Vec<OsString>) -> clap::Error {
    if error.get(ContextKind::InvalidArg).is_none() {
        return error;
    }
    let without = command.mut_subcommand("run", |run| run.mut_args(|arg| arg.env(None::<&'static str>)));
    match without.try_get_matches_from(args) {
        Err(typed) if typed.get(ContextKind::InvalidArg) == error.get(ContextKind::InvalidArg) => error,
        _ => of_variable(error),
    }
}

/// What is wrong is called by the variable that says it, for nobody has typed a flag.
fn of_variable(mut error: clap::Error) -> clap::Error {
    let mut command = Settings::augment_args(Command::new("agentglot"));
    command.build();
    let wrong = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let arg = command.get_arguments().find(|arg| wrong.as_ref() == Some(&arg.to_string()));
    if let Some(variable) = arg.and_then(|arg| arg.get_env()) {
        let variable = variable.to_string_lossy().into_owned();
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable));
    }
    error
}
