//! The command line as it is typed.

use std::path::PathBuf;

use agentglot_adapters::check::Level;
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};
use agentglot_adapters::raw::launch::Program;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::views;
use crate::io::Columnar;
use crate::work::Table;

/// Lets software written for one headless coding agent talk to another.
#[derive(Debug, Parser)]
#[command(name = "agentglot", version, propagate_version = true, max_term_width = 110)]
pub struct Typed {
    /// Write agentglot's own log to stderr; -vv and -vvv say more (AGENTGLOT_LOG filters it)
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
    /// Report what is wrong with a log, with rule, line, byte and JSON pointer
    #[command(after_long_help = CHECK_MORE)]
    Check(Check),
    /// Show what an agent did, as a person reads it
    #[command(after_long_help = views::SHOW_MORE)]
    Show(views::Show),
    /// Count what agents used: turns, calls, tokens, money
    #[command(after_long_help = views::STATS_MORE, mut_arg("files", |logs| logs.help(views::STATS_LOGS)))]
    Stats(views::Stats),
    /// Tell what one session did differently from another
    #[command(after_long_help = views::DIFF_MORE)]
    Diff(views::Diff),
    /// Show sessions in a browser: a list to search, each session, what was used, what was different
    #[cfg(feature = "view")]
    #[command(after_long_help = views::VIEW_MORE)]
    View(views::View),
    #[command(flatten)]
    Live(super::live::Command),
    /// List what can be read and written
    #[command(after_help = "Example:\n  agentglot dialects --json | jq -r 'select(.write) | .dialect + \":\" + .format'")]
    Dialects {
        /// As JSON lines
        #[arg(long)]
        json: bool,
    },
    /// Write the JSON Schema (2020-12) of a dialect's lines
    #[command(after_help = "\
Examples:
  agentglot schema --dialect claude > claude.schema.json
  agentglot schema --dialect qwen --input
  agentglot schema --dialect claude:transcript")]
    Schema(Schema),
    /// Write a completion script for a shell
    #[command(after_help = "\
Examples:
  source <(agentglot completions bash)
  agentglot completions fish > ~/.config/fish/completions/agentglot.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual page
    #[command(after_help = "\
Examples:
  agentglot man | man -l -
  agentglot man sessions copy > agentglot-sessions-copy.1")]
    Man {
        /// The page of this command instead of the overview: `convert`, `sessions copy`
        command: Vec<String>,
    },
}

const CONVERT_MORE: &str = "\
Input may be a live pipe: each line is converted as soon as it is complete. (A receipt of the RFC
that has no time of its own waits for the next line and takes its time.)

Without --to, the name behind -o says the dialect: NAME.DIALECT.jsonl, or NAME.DIALECT.FORMAT.jsonl;
.json where the format is one document, .txt where it is text; .gz or .zst may follow.

Exit codes:
  0  everything was understood
  1  done, but some input was damaged or not in the dialect of --from; each place is named on stderr
  2  wrong usage, or a dialect that could not be detected
  3  reading or writing failed; the other files are still converted

Examples:
  agentglot convert --to qwen:stream-chunk-json session.jsonl
  agentglot convert --to cursor --ledger lost.jsonl -o converted/ logs/*.jsonl.gz
  agentglot convert -o session.cursor.jsonl.gz session.jsonl
  tail -f session.jsonl | agentglot convert --to tricode
  claude -p --output-format stream-json --verbose Hi | agentglot convert --to cursor --prompt Hi";

const CHECK_MORE: &str = "\
What is wrong is told by rule (--rules lists them, docs/check.md explains each). An error is what
the dialect's programs never write, a warning what is odd, a note what is worth knowing.

Exit codes:
  0  nothing of level error was found
  1  there are errors, whatever --level shows
  2  wrong usage, or a dialect that could not be detected
  3  reading or writing failed; the other files are still checked

Examples:
  agentglot check session.jsonl
  agentglot check --level note logs/
  agentglot check --json logs/*.jsonl.gz | jq -r 'select(.rule == \"missing-outcome\").file'
  agentglot check -q session.jsonl && echo sound";

/// `convert`.
#[derive(Debug, Args)]
pub struct Convert {
    /// The dialect that is read: NAME or NAME:FORMAT, or `auto` to detect it for each session; `parquet` or `arrow` is a table of events
    #[arg(short, long, value_name = "DIALECT", default_value = "auto", hide_possible_values = true, value_parser = Dialects::ReadOrTables)]
    pub from: Chosen,
    /// The dialect that is written: NAME or NAME:FORMAT (see `agentglot dialects`); `parquet` or `arrow` for tables. Without it, the name behind -o says it
    #[arg(short, long, value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::WrittenOrTables, required_unless_present = "output")]
    pub to: Option<Chosen>,
    /// With --to parquet or arrow, which table is written: events, messages, tool_calls or turns; may be repeated [default: events, or all of
    /// them into a folder]
    #[arg(long, value_name = "TABLE", value_enum)]
    pub table: Vec<Table>,
    /// With --to parquet or arrow, fill the column `json` of messages, tool_calls and turns too
    #[arg(long)]
    pub with_json: bool,
    /// The names and arguments of tools in the output
    #[arg(long, value_enum, default_value_t)]
    pub tools: Tools,
    /// Write deltas too (claude, qwen-code, cursor; the RFC's stream-chunk-json always does)
    #[arg(long)]
    pub include_partial_messages: bool,
    /// Write an entry for everything that was not carried over unchanged to this file, as JSON lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ledger: Option<PathBuf>,
    /// Stop with exit code 1 at the first damaged line, unknown type or unknown field
    #[arg(long)]
    pub strict: bool,
    /// Add results for tool calls that have none, and outcomes for turns that have none
    #[arg(long)]
    pub repair: bool,
    /// Check parts that are not carried over in full as well, instead of their structure only
    #[arg(long)]
    pub validate: bool,
    /// Leave out lines longer than this; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = size)]
    pub max_line: usize,
    /// The prompt, because most logs lack it; may be repeated, once for each turn
    #[arg(long, value_name = "TEXT", conflicts_with = "input_log")]
    pub prompt: Vec<String>,
    /// A log of what the host (the program that started the agent) wrote; the prompts are taken from it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input_log: Option<PathBuf>,
    /// How many logs, or parts of a big log, are converted at the same time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write Cursor's text in its old style: a short line for each action
    #[arg(long)]
    pub old_text: bool,
    /// Write the working directory of a command into the command (`cd FOLDER && …`) if the target has no other place for it
    #[arg(long)]
    pub cd_in_commands: bool,
    /// Leave out the files of subagents that lie beside a session's file
    #[arg(long)]
    pub no_subagents: bool,
    /// Write claude:json as an array of all messages instead of the outcome alone
    #[arg(long)]
    pub all_messages: bool,
    /// Write to this file, or into this folder when there are several logs, a folder of them, or the name ends in a slash. A file called
    /// .gz or .zst is compressed; `-` is standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub output: Option<PathBuf>,
    /// Write the result for each log to this file, as one JSON object
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,
    /// Only print what would be done, one line for each log
    #[arg(long)]
    pub list: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub logs: Logs,
}

/// The logs that are read.
#[derive(Debug, Args)]
pub struct Logs {
    /// Which files of a folder are logs; may be repeated. A pattern with a slash is matched against the path inside the folder [default:
    /// names that end in .jsonl, .ndjson, .json or .sse, compressed or not]
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Logs, or folders of them; .gz and .zst are unpacked. `-` or nothing is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
}

/// `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The dialect of the log: NAME or NAME:FORMAT, or `auto` to find out
    #[arg(short = 'f', long, visible_alias = "from", value_name = "DIALECT", default_value = "auto", hide_possible_values = true, value_parser = Dialects::Read)]
    pub dialect: Chosen,
    /// Call lines longer than this damaged; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = size)]
    pub max_line: usize,
    /// Tell what is at least this bad: error, warning or note. The exit code tells of errors alone
    #[arg(long, value_name = "LEVEL", default_value = "warning", value_parser = PossibleValuesParser::new(["error", "warning", "note"]).try_map(|name| name.parse::<Level>()))]
    pub level: Level,
    /// Write each finding as one JSON object a line; what is said about the logs themselves goes to stderr
    #[arg(long)]
    pub json: bool,
    /// Write no findings: the exit code says whether there are errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Leave out the files of subagents that lie beside a session's file
    #[arg(long)]
    pub no_subagents: bool,
    /// List the rules, and check nothing
    #[arg(long)]
    pub rules: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub logs: Logs,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// The dialect, or one of its stores; without it, an object with all schemas
    #[arg(long, value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::Described)]
    pub dialect: Option<Chosen>,
    /// The lines that hosts write, instead of those that agents write
    #[arg(long)]
    pub input: bool,
}

/// A dialect on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// It is to be found out.
    Auto,
    /// It is named.
    Named(Format),
    /// Tables, in a file of this kind.
    Columns(Columnar),
}

impl Chosen {
    /// The dialect that is named.
    pub fn named(self) -> Option<Format> {
        if let Self::Named(format) = self { Some(format) } else { None }
    }
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

/// Reads the name of a dialect; knows those that fit the use for messages and completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialects {
    /// To read it, or `auto`.
    Read,
    /// To write it.
    #[cfg_attr(not(all(unix, feature = "agent")), expect(dead_code, reason = "what writes sessions knows agents"))]
    Written,
    /// To write a session for its program, which looks for it in a store.
    Kept,
    /// To be its program.
    StoodInFor,
    /// To read it, `auto`, or tables.
    ReadOrTables,
    /// To write it, or tables.
    WrittenOrTables,
    /// To describe its lines.
    Described,
}

impl Dialects {
    fn names(self) -> impl Iterator<Item = String> {
        let auto = self.reads().then(|| "auto".to_owned());
        let apis = Dialect::APIS.into_iter().map(Format::from);
        let formats = Format::all().chain(apis).filter(move |&format| self.fits(format) && self.tells(format));
        let columnar = Columnar::ALL.into_iter().filter(move |_| self.knows_tables());
        let columnar = columnar.map(|columnar| columnar.name().to_owned());
        auto.into_iter().chain(formats.map(|format| format.to_string())).chain(columnar)
    }

    fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadOrTables)
    }

    fn knows_tables(self) -> bool {
        matches!(self, Self::ReadOrTables | Self::WrittenOrTables)
    }

    fn fits(self, format: Format) -> bool {
        match self {
            Self::Read | Self::ReadOrTables => format.is_readable(),
            Self::Written | Self::Kept | Self::WrittenOrTables => format.is_writable(),
            Self::Described => format.mode.layout != Layout::Text,
            Self::StoodInFor => format.dialect.program().is_some_and(Program::has_stand_in),
        }
    }

    /// Whether it is one to choose from: of a program there is no more to say than its name.
    fn tells(self, format: Format) -> bool {
        let first = format.mode == format.dialect.modes()[0];
        match self {
            Self::StoodInFor => first,
            Self::Described => first || format.is_store(),
            Self::Kept => first && format.dialect.vendor().stores.iter().any(|store| store.home.is_some()),
            _ => true,
        }
    }

    /// Whether all of a name counts.
    fn tells_in_full(self, text: &str, format: Format) -> bool {
        let is_bare = !text.contains(':');
        match self {
            Self::StoodInFor => is_bare,
            Self::Kept => is_bare || format.is_store(),
            _ => true,
        }
    }

    /// Why a name does not do.
    fn why_not(self, text: &str, format: Option<Format>) -> String {
        let mut names: Vec<String> = self.names().collect();
        let why = match format {
            Some(Format { dialect, .. }) if self == Self::StoodInFor && self.fits(dialect.into()) => {
                return format!("{text}: the program's own arguments choose its format; say {}", dialect.name());
            }
            Some(Format { dialect, .. }) if self == Self::Kept && names.iter().any(|name| name == dialect.name()) => {
                return format!("{text} is not what its program keeps sessions in; say {}", dialect.name());
            }
            Some(format) if self.reads() => format!("{format} is for people and cannot be read"),
            Some(format) if self == Self::Described => format!("{format} is for people, and has no lines of JSON"),
            Some(format) if self == Self::StoodInFor => format!("{format} has no program that could be stood in for"),
            Some(format) if format.mode.layout == Layout::Sse => {
                format!("{format} is the stream of a model API, which is read (--from) and never written")
            }
            Some(format) => format!("{format} is read (--from) and not written"),
            None => match nearest(text, &names) {
                Some(meant) => return format!("unknown dialect {text:?}; did you mean {meant:?}?"),
                None => format!("unknown dialect {text:?}"),
            },
        };
        // Of the same dialect something else may do.
        let of_same = |name: &String| format.is_some_and(|format| name.split(':').next() == Some(format.dialect.name()));
        if names.iter().any(of_same) {
            names.retain(of_same);
        }
        format!("{why}; there {} {}", if names.len() == 1 { "is" } else { "are" }, names.join(", "))
    }
}

impl TypedValueParser for Dialects {
    type Value = Chosen;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<Chosen, clap::Error> {
        let text = value.to_string_lossy();
        let format = text.parse::<Format>().ok();
        let columnar = Columnar::ALL.into_iter().find(|columnar| columnar.name() == text);
        if let Some(columnar) = columnar.filter(|_| self.knows_tables()) {
            return Ok(Chosen::Columns(columnar));
        }
        match format {
            None if self.reads() && text == "auto" => return Ok(Chosen::Auto),
            Some(format) if self.fits(format) && self.tells_in_full(&text, format) => return Ok(Chosen::Named(format)),
            _ => {}
        }
        let name = arg.map_or_else(String::new, |arg| format!("{arg}: "));
        let why = self.why_not(&text, format);
        Err(clap::Error::raw(clap::error::ErrorKind::InvalidValue, format!("{name}{why}\n")).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().map(PossibleValue::new)))
    }
}

/// The name that was meant, if one is spelled much the same.
pub(crate) fn nearest<'n>(text: &str, names: &'n [String]) -> Option<&'n str> {
    let alike = |name: &&String| (strsim::jaro_winkler(text, name) * 1000.0) as u32;
    names.iter().filter(|name| alike(name) > 850).max_by_key(alike).map(String::as_str)
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
