//! In place of the commands with agents that live, where they are not: they say so.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use super::{log, told};
use crate::status::Failure;

/// What other builds can do.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)]
pub enum Command {
    #[command(hide = true)]
    Run(Whatever),
    #[command(hide = true)]
    Sessions(Whatever),
    #[command(hide = true)]
    Trust(Whatever),
    #[command(hide = true)]
    Doctor(Whatever),
    #[command(hide = true)]
    InstallShims(Whatever),
}

/// Any arguments.
#[derive(Debug, Args)]
pub struct Whatever {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _args: Vec<OsString>,
}

pub(super) const fn called() -> Option<u8> {
    None
}

pub(super) fn spelled_out() -> Vec<OsString> {
    std::env::args_os().collect()
}

pub(super) fn with_short_forms(typed: clap::Command) -> clap::Command {
    typed
}

pub(super) fn wish(_: &Command) -> log::Wish {
    log::Wish::default()
}

pub(super) fn run(_: Command) -> u8 {
    let why = if cfg!(unix) {
        "this agentglot was built without agents (the feature `agent`); it converts and checks logs"
    } else {
        "agents run on Unix, whose process groups and pipes they need; here agentglot converts and checks logs"
    };
    told(&Failure::Usage(why.to_owned())).code()
}

pub(super) fn of_variable_or_flag(error: clap::Error, _: clap::Command, _: Vec<OsString>) -> clap::Error {
    error
}
