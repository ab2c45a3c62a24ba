//! The command line as it is typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agentglot_adapters::raw::codec::{Dialect, Format, UnknownFormat};
use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::backend::replay::Pace;
use crate::command::run::seconds;

/// Lets software written for one headless coding agent talk to another.
#[derive(Debug, Parser)]
#[command(name = "agentglot", version, propagate_version = true, max_term_width = 110)]
pub struct Typed {
    /// Write our own log to stderr; twice or thrice for more (AGENTGLOT_LOG says it in detail)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    #[allow(missing_docs)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs)]
pub enum Command {
    /// Convert recorded logs from any dialect to any other
    #[command(after_long_help = CONVERT_MORE)]
    Convert(Convert),
    /// Say what is wrong with a log: line, byte, JSON pointer
    Check(Check),
    /// Be another agent's program for its hosts, with somebody else behind it
    #[command(after_long_help = RUN_MORE)]
    Run(Run),
    /// List, show or delete the sessions of the built-in agent
    #[command(subcommand)]
    Sessions(Sessions),
    /// Say what was found: configuration, programs, keys, and what would run
    Doctor {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Put links into a folder that are called like the programs we can be
    InstallShims {
        /// The folder; it has to come first in PATH, or its links are given to SDKs by their path
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
    /// Pass what a hook is told to the session that waits for it
    #[command(name = crate::backend::hooks::RELAY, hide = true)]
    HookRelay {
        /// The session's socket
        socket: PathBuf,
    },
    /// List what can be read and written
    Dialects {
        /// As JSON lines
        #[arg(long)]
        json: bool,
    },
    /// Write the JSON Schema (2020-12) of a dialect's lines
    Schema(Schema),
    /// Write a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual page
    Man {
        /// The page of this command instead of the overview
        command: Option<String>,
    },
}

const CONVERT_MORE: &str = "\
Pipes may live: what one read brings is written before the next one.

Exit codes:
  0  all was understood
  1  done, but some input was damaged; each place is named on stderr
  2  wrong usage, or a dialect that could not be detected
  3  reading or writing failed; the other files are still converted

Examples:
  agentglot convert --to qwen:stream-chunk-json session.jsonl
  agentglot convert --to cursor --ledger lost.jsonl -o converted/ logs/*.jsonl.gz
  tail -f session.jsonl | agentglot convert --to tricode
  claude -p --output-format stream-json --verbose Hi | agentglot convert --to cursor --prompt Hi";

const RUN_MORE: &str = "\
Back ends:
  demo                                   a small session inside the program: no key, no network
  replay:FILE                            a recorded log of any dialect answers, prompt by prompt
  cli:claude|qwen|cursor|tricode[=PATH]  another agent's program answers

A link to agentglot that is called claude, qwen, qwen-rfc, cursor-agent, agent or tricode is `run --as` that program; its back end and the
other settings then come from AGENTGLOT_BACKEND, AGENTGLOT_ON_ASK and so on. The exit codes are those of the program.

Examples:
  agentglot run --as claude --backend demo -- -p --output-format stream-json --verbose Hello
  agentglot run --as cursor --backend cli:claude -- -p --output-format stream-json 'What is here?'";

/// `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Whose program to be: claude, qwen (the RFC), qwen-code, cursor or tricode
    #[arg(long = "as", value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::named())]
    pub dialect: Chosen,
    /// Everything else
    #[command(flatten)]
    pub settings: Settings,
    /// The program's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// `sessions`.
#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// The sessions of this folder, the latest first
    List {
        /// Of all folders
        #[arg(long)]
        all: bool,
        /// As JSON lines
        #[arg(long)]
        json: bool,
    },
    /// What was said in a session
    Show {
        /// Its id, or enough of its beginning
        id: String,
        /// In the words of this dialect instead of as text (see `agentglot dialects`)
        #[arg(long, value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::named())]
        to: Option<Chosen>,
    },
    /// Delete a session: its transcript, its subagents' and its checkpoints
    Delete {
        /// Its id, or enough of its beginning
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// All sessions of this folder
        #[arg(long)]
        all: bool,
    },
}

/// What a stand-in needs to know besides its program's own arguments.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// Who answers: demo, replay:FILE, cli:NAME[=PATH]
    #[arg(long, value_name = "BACKEND", env = "AGENTGLOT_BACKEND", value_parser = crate::command::run::Choice::read)]
    pub backend: Option<crate::command::run::Choice>,
    /// What happens to permission questions that the host cannot be asked: deny, a list of tools that are allowed, a command that
    /// decides, or host: as Tricode, ask in plain text and read the choice from standard input. Unless said, it is deny, and for the
    /// built-in agent as Tricode host
    #[arg(long, value_name = "deny|TOOL,…|command:LINE|host", env = "AGENTGLOT_ON_ASK")]
    pub on_ask: Option<String>,
    /// How fast a log is replayed: full, original, or a factor on the recorded waits
    #[arg(long, value_name = "PACE", env = "AGENTGLOT_PACE", default_value = "full", value_parser = pace)]
    pub pace: Pace,
    /// Seconds to wait for an agent's first sign after a prompt; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_START_TIMEOUT", default_value = "120", value_parser = seconds)]
    pub start_timeout: Duration,
    /// Seconds to wait for an agent's next sign in a turn; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_SILENCE_TIMEOUT", default_value = "1800", value_parser = seconds)]
    pub silence_timeout: Duration,
    /// Seconds to wait for a host's answer to a permission question, then it is denied; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_PERMISSION_TIMEOUT", default_value = "600", value_parser = seconds)]
    pub permission_timeout: Duration,
    /// Seconds to wait for an agent's answer to a control request; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_CONTROL_TIMEOUT", default_value = "60", value_parser = seconds)]
    pub control_timeout: Duration,
    /// Seconds that an agent has to end by itself when the session is over, then it is stopped; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_SHUTDOWN_TIMEOUT", default_value = "1.5", value_parser = seconds)]
    pub shutdown_timeout: Duration,
    /// Seconds that a prompt on standard input may go without a byte before it is given up; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_PROMPT_TIMEOUT", default_value = "120", value_parser = seconds)]
    pub prompt_timeout: Duration,
    /// As the RFC's program: seconds between signs of life that the host did not ask for; 0 is none
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_HEARTBEAT", default_value = "0", value_parser = seconds)]
    pub heartbeat: Duration,
    /// Variables that an agent's program gets from our environment besides its own ones; a * at the end stands for any ending
    #[arg(long, value_name = "NAME,…", env = "AGENTGLOT_PASS_ENV", value_delimiter = ',')]
    pub pass_env: Vec<String>,
    /// Let daemons live on that the agent's tools start: processes that left its group
    #[arg(long, env = "AGENTGLOT_KEEP_DAEMONS", value_parser = clap::builder::FalseyValueParser::new())]
    pub keep_daemons: bool,
    /// Let commands of the built-in agent write only in the workspace and in the folders for temporary files (Landlock, Linux)
    #[arg(long, env = "AGENTGLOT_CONFINE_COMMANDS", value_parser = clap::builder::FalseyValueParser::new())]
    pub confine_commands: bool,
    /// The address that the built-in agent searches the web at: Brave's search API, SearXNG with format=json, or a page of results
    #[arg(long, value_name = "URL", env = "AGENTGLOT_SEARCH_ENGINE")]
    pub search_engine: Option<String>,
    /// Refuse arguments that nobody knows also where the program's hosts may send new ones
    #[arg(long, env = "AGENTGLOT_STRICT_ARGS", value_parser = clap::builder::FalseyValueParser::new())]
    pub strict_args: bool,
    /// Keep what the host, we and the agent say in this folder, with keys and tokens taken out
    #[arg(long, value_name = "DIR", env = "AGENTGLOT_RECORD", value_hint = ValueHint::DirPath)]
    pub record: Option<PathBuf>,
    /// Call lines longer than this damaged; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_LINE", default_value = "256M", value_parser = size)]
    pub max_line: usize,
    /// How many questions may wait for an answer in each direction; one more, and the oldest is answered for
    #[arg(long, value_name = "N", env = "AGENTGLOT_MAX_PENDING", default_value = "1024", value_parser = count)]
    pub max_pending: usize,
    /// How many bytes may wait for the host to read them before the agent has to wait; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_QUEUED", default_value = "256K", value_parser = size)]
    pub max_queued: usize,
}

/// At least one.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number above 0 is wanted".to_owned()),
        Ok(number) => Ok(number),
    }
}

pub(crate) fn pace(text: &str) -> Result<Pace, String> {
    match text {
        "full" => Ok(Pace::Full),
        "original" => Ok(Pace::Factor(1.0)),
        factor => match factor.parse() {
            Ok(factor) if f64::is_finite(factor) && factor >= 0.0 => Ok(Pace::Factor(factor)),
            _ => Err("full, original or a factor is wanted".to_owned()),
        },
    }
}

/// `convert`.
#[derive(Debug, Args)]
pub struct Convert {
    /// The dialect that is read: NAME or NAME:FORMAT, or `auto` to find out
    #[arg(long, value_name = "DIALECT", default_value = "auto", hide_possible_values = true, value_parser = Dialects::or_auto())]
    pub from: Chosen,
    /// The dialect that is written: NAME or NAME:FORMAT (see `agentglot dialects`)
    #[arg(long, value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::named())]
    pub to: Chosen,
    /// What tools are called in the output
    #[arg(long, value_enum, default_value_t)]
    pub tools: Tools,
    /// Write deltas too (claude, qwen-code, cursor; the RFC's stream-chunk-json always does)
    #[arg(long)]
    pub include_partial_messages: bool,
    /// Write what did not go over as it was to this file, as JSON lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ledger: Option<PathBuf>,
    /// Stop with exit code 1 at the first damaged line, unknown type or unknown field
    #[arg(long)]
    pub strict: bool,
    /// Add results for tool calls that have none, and outcomes for turns that have none
    #[arg(long)]
    pub repair: bool,
    /// Check parts that do not go over in full too, not for their structure only
    #[arg(long)]
    pub validate: bool,
    /// Leave out lines longer than this; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = size)]
    pub max_line: usize,
    /// The prompt, which most logs do not hold; once for each turn
    #[arg(long, value_name = "TEXT", conflicts_with = "input_log")]
    pub prompt: Vec<String>,
    /// A log of what the host wrote to the agent: the prompts are taken from it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input_log: Option<PathBuf>,
    /// How many logs, or sessions of a big log, are converted at the same time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write Cursor's text in its old style: a short line for each action
    #[arg(long)]
    pub old_text: bool,
    /// Write claude:json as an array of all messages, not as the outcome alone
    #[arg(long)]
    pub all_messages: bool,
    /// Write to this file, or into this folder when there are several logs or the name ends in a slash
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub output: Option<PathBuf>,
    /// Logs; .gz and .zst are unpacked. `-` or nothing is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The dialect of the log: NAME or NAME:FORMAT, or `auto` to find out
    #[arg(long, value_name = "DIALECT", default_value = "auto", hide_possible_values = true, value_parser = Dialects::or_auto())]
    pub dialect: Chosen,
    /// Call lines longer than this damaged; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = size)]
    pub max_line: usize,
    /// Logs; .gz and .zst are unpacked. `-` or nothing is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// The dialect; without it an object that has the schema of each by its name
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub dialect: Option<Dialect>,
    /// What hosts write, not what agents write
    #[arg(long)]
    pub input: bool,
}

fn dialect(name: &str) -> Result<Dialect, UnknownFormat> {
    name.parse::<Format>().map(|format| format.dialect)
}

/// A dialect on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// It is to be found out.
    Auto,
    /// It is named.
    Named(Format),
}

/// What tools are called in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Tools {
    /// The target's own names, arguments and results
    #[default]
    Native,
    /// The source's, untouched
    Verbatim,
}

/// Reads the name of a dialect; knows all of them for completions.
#[derive(Clone)]
struct Dialects {
    auto: bool,
}

impl Dialects {
    const fn or_auto() -> Self {
        Self { auto: true }
    }

    const fn named() -> Self {
        Self { auto: false }
    }
}

impl clap::builder::TypedValueParser for Dialects {
    type Value = Chosen;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<Chosen, clap::Error> {
        let text = value.to_string_lossy();
        if self.auto && text == "auto" {
            return Ok(Chosen::Auto);
        }
        let refused = |why: String| {
            let name = arg.map_or_else(String::new, |arg| format!("{arg}: "));
            clap::Error::raw(clap::error::ErrorKind::InvalidValue, format!("{name}{why}\n")).with_cmd(command)
        };
        let format: Format = text.parse().map_err(|unknown: UnknownFormat| refused(unknown.to_string()))?;
        if !self.auto && !format.is_writable() {
            return Err(refused(format!(
                "{format} is the stream of a model API, which is read (--from) and never written"
            )));
        }
        Ok(Chosen::Named(format))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = self.auto.then(|| PossibleValue::new("auto"));
        let readable = move |format: &Format| !self.auto || format.is_readable();
        let apis = Dialect::APIS.into_iter().map(Format::from).filter(|_| self.auto);
        let names = Format::all()
            .filter(readable)
            .chain(apis)
            .map(|format| PossibleValue::new(format.to_string()));
        Some(Box::new(auto.into_iter().chain(names)))
    }
}

/// `4096`, `64K`, `1M`, `2GiB`: powers of 1024.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        other => return Err(format!("{other:?} is no unit; there are K, M and G")),
    };
    let number: usize = digits.parse().map_err(|_| "a number of bytes is wanted".to_owned())?;
    match number.checked_mul(1 << shift) {
        Some(0) => Err("no line is that short".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("that is more than can be counted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Typed::command().debug_assert();
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            [size("7"), size("64k"), size("1M"), size("2GiB")],
            [Ok(7), Ok(64 << 10), Ok(1 << 20), Ok(2 << 30)]
        );
        for wrong in ["", "M", "0", "1T", "-1", "1.5M", "99999999999999999999", "99999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
