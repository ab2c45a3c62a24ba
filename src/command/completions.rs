//! `agentglot completions`, and what its scripts ask for.

use std::ffi::OsStr;

use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{CompleteEnv, Shells};

use crate::status::{Failure, Status};

/// The variable by which a script asks for what fits, instead of a run; it names the shell.
const ASKS: &str = "AGENTGLOT_COMPLETE";

/// So many sessions are offered, the latest.
const SESSIONS: usize = 50;

/// Writes a completion script to stdout. It asks the program that `PATH` finds.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(shell: Shell) -> Result<Status, Failure> {
    let mut script = Vec::new();
    if shell == Shell::PowerShell {
        script.extend_from_slice(include_bytes!("completions.ps1"));
    } else if let Some(completer) = Shells::builtins().completer(&shell.to_string()) {
        let written = completer.write_registration(ASKS, "agentglot", "agentglot", "agentglot", &mut script);
        written.map_err(Failure::of_stdout)?;
    }
    if shell == Shell::Bash {
        script.extend_from_slice(include_bytes!("completions.bash"));
    }
    super::print(&script)
}

/// Answers a completion script; nothing if none asks.
pub(crate) fn asked() -> Option<Status> {
    let here = std::env::current_dir().ok();
    let answered = CompleteEnv::with_factory(crate::cli::line)
        .var(ASKS)
        .try_complete(std::env::args_os(), here.as_deref());
    match answered {
        Ok(false) => None,
        Ok(true) => Some(Status::Clean),
        Err(error) => {
            // Whoever closed the pipe does not want to know.
            let _ = error.print();
            Some(Status::Usage)
        }
    }
}

/// Ids of sessions on this machine that begin so, the latest first.
pub(crate) fn sessions(begin: &OsStr) -> Vec<CompletionCandidate> {
    let Some(begin) = begin.to_str() else { return Vec::new() };
    // An id that a shell would read as more than a word is no program's.
    let plain = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let fitting = ids().into_iter().filter(|(id, _)| id.starts_with(begin) && plain(id));
    fitting
        .take(SESSIONS)
        .enumerate()
        .map(|(n, (id, owner))| CompletionCandidate::new(id).help(Some(owner.into())).display_order(Some(n)))
        .collect()
}

/// Files, and the ids of sessions behind them.
pub(crate) fn files_and_sessions(begin: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = PathCompleter::any().complete(begin);
    found.extend(sessions(begin));
    found
}

/// The sessions on this machine, the latest first: id, and whose they are.
#[cfg(all(unix, feature = "agent"))]
fn ids() -> Vec<(String, String)> {
    let owner = |owner: Option<agentglot_adapters::raw::codec::Format>| owner.map_or("agentglot", |format| format.dialect.name()).to_owned();
    let kept = crate::homes::kept().0.into_iter().rev();
    kept.map(|kept| (kept.id, owner(kept.owner))).collect()
}

/// Where sessions lie is known where there are agents.
#[cfg(not(all(unix, feature = "agent")))]
const fn ids() -> Vec<(String, String)> {
    Vec::new()
}
