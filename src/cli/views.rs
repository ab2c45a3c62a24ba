//! The commands that show what agents did, as they are typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use super::low::{Chosen, Dialects, Logs};
use crate::command::completions::files_and_sessions;

pub(super) const SHOW_MORE: &str = "\
On a terminal there are colours, and a pager ($PAGER, else less); elsewhere plain text. What would
move a terminal's cursor or hide from the eye is written as \\u{…}.

Exit codes:
  0  everything was understood
  1  done, but some of the log is damaged; where is shown
  2  wrong usage, or a dialect that could not be detected
  3  reading or writing failed

Examples:
  agentglot show session.jsonl
  agentglot show --tools --lines 3 session.jsonl.gz
  agentglot show --errors --since 2h session.jsonl
  agentglot show --follow live.jsonl
  agentglot show --format markdown session.jsonl > session.md
  agentglot show --format html -o session.html session.jsonl";

/// `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The dialect of the log: NAME or NAME:FORMAT, or `auto` to detect it
    #[arg(short, long, value_name = "DIALECT", default_value = "auto", hide_possible_values = true, value_parser = Dialects::Read)]
    pub from: Chosen,
    /// How it is shown
    #[arg(long, value_enum, default_value_t)]
    pub format: Form,
    /// Show so many lines of each output, and four times as many of each change; `all` cuts nothing
    #[arg(long, value_name = "N", default_value = "10", value_parser = lines)]
    pub lines: usize,
    /// Show what was thought
    #[arg(long)]
    pub thinking: bool,
    /// Show only the turn of this number
    #[arg(long, value_name = "N")]
    pub turn: Option<u64>,
    /// Show only tool calls
    #[arg(long)]
    pub tools: bool,
    /// Show only what went wrong: failed calls, refusals, retries, turns that failed
    #[arg(long)]
    pub errors: bool,
    /// Show only turns that began since then: a day (2026-11-22), a time (2026-11-22T14:30), or so long ago (30m, 2h, 3d)
    #[arg(long, value_name = "WHEN", value_parser = super::when::since)]
    pub since: Option<i64>,
    /// Leave out the files of subagents that lie beside a session's file
    #[arg(long)]
    pub no_subagents: bool,
    /// Tell times in UTC, not in local time
    #[arg(long)]
    pub utc: bool,
    /// Go on while the log grows, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Colour,
    /// Break lines of text at this column [default: the terminal's width; elsewhere lines stay as they are]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    /// Use no pager
    #[arg(long)]
    pub no_pager: bool,
    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// A log, compressed or not; the id of a session on this machine, or enough of its beginning; `-` or nothing is standard input
    #[arg(value_name = "FILE|ID", add = ArgValueCompleter::new(files_and_sessions))]
    pub log: Option<PathBuf>,
}

pub(super) const DIFF_MORE: &str = "\
Compared is what was asked, said and done, in order: prompts, answers, calls with their arguments,
changes and outputs, permissions, outcomes. The folder that was worked in is part of `ids`.

Exit codes:
  0  they are the same
  1  they are not, or one of them is damaged
  2  wrong usage, or a dialect that could not be detected
  3  reading or writing failed

Examples:
  agentglot diff before.jsonl after.jsonl
  agentglot diff --format json claude.jsonl codex.jsonl | jq '.sessions'
  agentglot diff --format html before.jsonl after.jsonl > difference.html
  agentglot diff --ignore ids,times expected.jsonl now.jsonl || echo changed";

/// `diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// What makes no difference; `none` if everything does
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ids,times,usage", value_name = "WHAT")]
    pub ignore: Vec<Ignored>,
    /// Show so many lines of each change and output; `all` cuts nothing
    #[arg(long, value_name = "N", default_value = "10", value_parser = lines)]
    pub lines: usize,
    /// Leave out the files of subagents that lie beside a session's file
    #[arg(long)]
    pub no_subagents: bool,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    pub format: DiffForm,
    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Colour,
    /// A log, or the id of a session on this machine; `-` is standard input
    #[arg(value_name = "FILE|ID", add = ArgValueCompleter::new(files_and_sessions))]
    pub old: PathBuf,
    /// The other one
    #[arg(value_name = "FILE|ID", add = ArgValueCompleter::new(files_and_sessions))]
    pub new: PathBuf,
}

/// How a difference is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffForm {
    /// For a terminal
    #[default]
    Text,
    /// One object, for programs
    Json,
    /// For a browser: one file, which asks for nothing else
    Html,
}

/// What makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ignored {
    /// Ids of sessions and calls, the working folder
    Ids,
    /// How long things took
    Times,
    /// Tokens and costs
    Usage,
    /// Nothing
    None,
}

pub(super) const STATS_LOGS: &str =
    "Logs, or folders of them; .gz and .zst are unpacked. `-` is standard input; without any, the sessions on this machine are counted";

pub(super) const STATS_MORE: &str = "\
Each reply is counted once: what is said twice, copied into resumed and forked sessions, or summed
up over a session adds nothing (docs/stats.md).

Exit codes:
  0  everything was understood
  1  done, but a log is damaged
  2  wrong usage, or a dialect that could not be detected; the other logs are counted
  3  reading or writing failed; the other logs are counted

Examples:
  agentglot stats
  agentglot stats --by model logs/
  agentglot stats --by tool session.jsonl
  agentglot stats --by day --json ~/logs | jq '.rows[] | {day, cost_usd}'";

/// `stats`.
#[derive(Debug, Args)]
pub struct Stats {
    /// What is counted together
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub by: By,
    /// Write one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Write CSV
    #[arg(long)]
    pub csv: bool,
    /// Leave out the files of subagents that lie beside a session's file
    #[arg(long)]
    pub no_subagents: bool,
    /// Tell days in UTC, not in local time
    #[arg(long)]
    pub utc: bool,
    /// A table of prices that goes before the program's own (docs/agent.md)
    #[arg(long, value_name = "FILE", env = "AGENTGLOT_MODELS", value_hint = ValueHint::FilePath)]
    pub prices: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub logs: Logs,
}

#[cfg(feature = "view")]
pub(super) const VIEW_MORE: &str = "\
The address that is written to standard output holds a token that is made anew each time: who knows
it reads the sessions, so keep it to yourself. The server listens on this machine alone, until
Ctrl-C.

Exit codes:
  0  ended by Ctrl-C
  2  wrong usage
  3  the folder cannot be read, or the port is taken

Examples:
  agentglot view
  agentglot view logs/
  agentglot view --port 8123 logs/";

/// `view`.
#[cfg(feature = "view")]
#[derive(Debug, Args)]
pub struct View {
    /// The port; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Tell times and days in UTC, not in local time
    #[arg(long)]
    pub utc: bool,
    /// Keep no index on disk: everything is read anew each time
    #[arg(long)]
    pub no_cache: bool,
    /// A folder of logs; without it, the sessions on this machine
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// What is counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Each session
    #[default]
    Session,
    /// What began on one day
    Day,
    /// What began in one week
    Week,
    /// What one model answered
    Model,
    /// The calls of one tool
    Tool,
    /// What was done in one folder
    Project,
    /// What one agent did
    Agent,
}

/// How a session is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For a terminal
    #[default]
    Text,
    /// For a page
    Markdown,
    /// For a browser: one file, which asks for nothing else
    Html,
    /// One object a line, for programs
    Json,
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colour {
    /// What is wanted, if that does not depend on where it is shown.
    pub(super) const fn wanted(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::Always => Some(true),
            Self::Never => Some(false),
        }
    }
}

/// `10`, `all`.
fn lines(text: &str) -> Result<usize, String> {
    if text == "all" {
        return Ok(usize::MAX);
    }
    text.parse().map_err(|_| "a number of lines is wanted, or `all`".to_owned())
}
