//! The commands with agents that live, as they are meant.

use std::ffi::OsString;
use std::path::PathBuf;

use agentglot_adapters::raw::codec::{Dialect, Format};

use super::low;
use crate::agent::workspace::Limits;
use crate::backend::choice::Choice;
use crate::cli::low::Chosen;
use crate::command::run::Run;
use crate::command::sessions::{Copy, Sessions};
use crate::command::trust;
use crate::config::Config;
use crate::config::durations::FOR_EVER;
use crate::session::Timers;
use crate::status::Failure;

/// What `sessions` is to do.
pub(super) fn sessions(typed: low::Sessions) -> Sessions {
    match typed {
        low::Sessions::List { all, all_agents, json } => Sessions::List { all, all_agents, json },
        low::Sessions::Copy(typed) => Sessions::Copy(Copy {
            what: typed.what,
            from: named(typed.from),
            to: named(Some(typed.to)).unwrap_or(Dialect::CANONICAL.into()),
            cwd: typed.cwd,
            prompts: typed.prompt,
            ledger: typed.ledger,
            json: typed.json,
        }),
        low::Sessions::Show { id, to } => Sessions::Show { id, to: named(to) },
        low::Sessions::Delete { id, all } => Sessions::Delete { id, all },
    }
}

fn named(chosen: Option<Chosen>) -> Option<Format> {
    chosen.and_then(Chosen::named)
}

/// What `trust` is to do.
pub(super) fn trust(what: Option<low::Trust>, folders: Vec<PathBuf>) -> trust::Do {
    match what {
        Some(low::Trust::List) => trust::Do::List,
        Some(low::Trust::Remove { folders }) => trust::Do::Remove(folders),
        None => trust::Do::Add(folders),
    }
}

/// Refuses a first word for the program (`args`) that was typed among our own options (`typed` is the whole command line) and is none of the
/// program's flags: somebody who goes on with `--` meant it for us. Hosts, who call links, may have flags that we do not know.
pub(super) fn misplaced(dialect: Dialect, args: &[OsString], typed: &[OsString]) -> Option<Failure> {
    let before = typed.len().checked_sub(args.len() + 1).and_then(|at| typed.get(at));
    if before.is_none_or(|word| word == "--") || typed.get(1).is_none_or(|word| word != "run") || !args.iter().any(|word| word == "--") {
        return None;
    }
    let word = args.first()?.to_str()?;
    let word = word.split_once('=').map_or(word, |(name, _)| name);
    let program = dialect.program();
    let known = |name: &str| program.is_some_and(|program| program.flag(name).is_some());
    if !word.starts_with("--") || word == "--" || known(word) || known(&word.replace("--no-", "--")) {
        return None;
    }
    let (program, name) = (program.map_or("program", |program| program.name), dialect.name());
    Some(Failure::Usage(format!(
        "{word} is no option of `agentglot run`, and {program} has no such flag; what is for the program stands behind --, as in `agentglot run --as \
         {name} -- {word}`"
    )))
}

/// What a stand-in is to do.
pub(super) fn run(dialect: Dialect, settings: low::Settings, args: Vec<OsString>, config: &Config) -> Result<Run, Failure> {
    let text = |arg: OsString| {
        arg.into_string()
            .map_err(|arg| Failure::Usage(format!("{}: an argument that is no UTF-8", arg.display())))
    };
    Ok(Run {
        dialect,
        backend: settings.backend.map(|backend| match backend {
            Choice::Cli(dialect, None) => Choice::Cli(dialect, config.program(dialect).map(|(path, _)| path.to_owned())),
            other => other,
        }),
        models: config.models(),
        record: settings.record,
        max_line: settings.max_line,
        max_turn: settings.max_turn,
        max_prompt: settings.max_prompt,
        limits: Limits {
            file: settings.max_scan as u64,
            search: settings.search_timeout,
        },
        max_pending: settings.max_pending,
        max_queued: settings.max_queued,
        max_sessions: settings.max_sessions,
        args: args.into_iter().map(text).collect::<Result<_, _>>()?,
        strict: settings.strict_args,
        heeds_host: settings.trust == low::TrustBy::Host,
        pace: settings.pace,
        timers: Timers {
            start: settings.start_timeout,
            silence: settings.silence_timeout,
            turn: settings.turn_timeout,
            permission: settings.permission_timeout,
            control: settings.control_timeout,
            shutdown: settings.shutdown_timeout,
        },
        prompt_timeout: settings.prompt_timeout,
        heartbeat: Some(settings.heartbeat).filter(|pace| *pace < FOR_EVER),
        colour: None,
        on_ask: settings.on_ask,
        pass_env: settings.pass_env,
        keep_daemons: settings.keep_daemons,
        confine_commands: settings.confine_commands,
        search_engine: settings.search_engine,
        said: Vec::new(),
    })
}
