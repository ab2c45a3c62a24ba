//! The commands with agents that live, as they are typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agentglot_adapters::raw::tools::Tools;
use clap::{Args, Subcommand, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::agent::tools::web_search::Engine;
use crate::backend::replay::Pace;
use crate::cli::low::{Chosen, Dialects, nearest, size};
use crate::cli::views::Colour;
use crate::command::completions::{files_and_sessions, sessions};
use crate::config::durations::seconds;
use crate::session::OnAsk;

/// What can be done with agents that live.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)]
pub enum Command {
    /// Stand in for an agent's program, with a back end of your choice
    #[command(after_long_help = RUN_MORE)]
    Run(Box<Run>),
    /// List the sessions of every agent, copy one so that another agent goes on with it; show and delete those of the built-in agent
    #[command(subcommand)]
    Sessions(Sessions),
    /// Trust folders: settings in them are read in full, including hooks, MCP servers and programs to run
    #[command(args_conflicts_with_subcommands = true, arg_required_else_help = true, after_help = TRUST_MORE)]
    Trust {
        /// List the trusted folders, or remove some
        #[command(subcommand)]
        what: Option<Trust>,
        /// The folders; the folders inside them are not trusted with them
        #[arg(value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
    },
    /// Show the configuration, programs and keys that were found, and what would run
    #[command(after_help = DOCTOR_MORE)]
    Doctor {
        /// Contact the model's server, too, and list its models; with `acp:…`, open a session with the agent
        #[arg(long)]
        probe: bool,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Create links named claude, qwen, cursor-agent … in a folder; started by such a name, agentglot stands in for that program
    #[command(after_help = SHIMS_MORE)]
    InstallShims {
        /// The folder, which is created if it is missing. Put it first in PATH, or give SDKs the path of a link
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
    /// Pass what a hook is told to the session that waits for it
    #[command(name = crate::backend::hooks::RELAY, hide = true)]
    HookRelay {
        /// The session's socket
        socket: PathBuf,
    },
    /// Pass what a program says to a server inside the host to the session
    #[command(name = crate::backend::host_servers::RELAY, hide = true)]
    ServerRelay {
        /// The session's socket
        socket: PathBuf,
        /// The server
        server: String,
    },
}

const RUN_MORE: &str = "\
Back ends:
  demo                    a small session inside the program: no key, no network
  replay:FILE             a recorded log of any dialect answers, prompt by prompt
  cli:NAME[=PATH]         another agent's program answers: claude, qwen, cursor, tricode, codex,
                          gemini or opencode
  acp:COMMAND             any agent of the Agent Client Protocol answers: `acp:gemini --acp`,
                          `acp:claude-agent-acp`
  model:openai|anthropic  the built-in agent answers, with a model behind this API; OPENAI_BASE_URL,
                          OPENAI_API_KEY and OPENAI_MODEL (or ANTHROPIC_…) say which

Without --backend, a key or an address of such an API in the environment chooses model:…

A link to agentglot named claude, qwen, qwen-rfc, cursor-agent, agent, tricode, codex, gemini,
opencode or acp does `run --as` that program (`agentglot install-shims` makes the links). Its back
end and other settings come from AGENTGLOT_BACKEND, AGENTGLOT_ON_ASK and so on. The exit codes are
those of the program.

Examples:
  agentglot run --as claude --backend demo -- -p --output-format stream-json --verbose Hello
  agentglot run --as cursor --backend cli:claude -- -p --output-format stream-json 'What is here?'";

const TRUST_MORE: &str = "\
The list is kept beside the user's agentglot.toml (docs/run.md). Other projects' settings count only
as far as they can do no harm.

Examples:
  agentglot trust .
  agentglot trust list
  agentglot trust remove ~/project";

const DOCTOR_MORE: &str = "\
Nothing is changed, and no key is shown. Without --probe nothing goes over the network.

Exit codes:
  0  the chosen back end would run
  1  it would not; the problems are named

Examples:
  agentglot doctor
  AGENTGLOT_BACKEND=cli:claude agentglot doctor --json | jq .problems";

const SHIMS_MORE: &str = "\
Nothing is replaced: if something else is called like a link, none is made. A link takes its back end
and other settings from AGENTGLOT_BACKEND and so on, or from agentglot.toml (docs/run.md).

Examples:
  agentglot install-shims ~/shims
  AGENTGLOT_BACKEND=demo PATH=~/shims:$PATH claude -p 'What is here?'";

const LIST_MORE: &str = "\
A line says id, dialect, whose program began it, how long ago it was written, turns and title.

Examples:
  agentglot sessions list
  agentglot sessions list --all-agents
  agentglot sessions list --all-agents --json | jq -r 'select(.agent == \"codex\").id'";

/// `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The program to stand in for: claude, qwen (the RFC), qwen-code, cursor, tricode, codex, gemini, opencode or
    /// acp
    #[arg(long = "as", value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::StoodInFor)]
    pub dialect: Chosen,
    /// Use colours where a terminal shows plain text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Colour,
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
    /// List the sessions of this folder that agentglot or Claude Code keeps, the latest first
    #[command(after_help = LIST_MORE)]
    List {
        /// Of all folders
        #[arg(long)]
        all: bool,
        /// Of every agent on this machine and all folders, with their tokens; without it, those of the built-in agent and of Claude Code
        #[arg(long)]
        all_agents: bool,
        /// As JSON lines
        #[arg(long)]
        json: bool,
    },
    /// Show what was said in a session that agentglot or Claude Code keeps; `agentglot show` shows every agent's
    #[command(after_help = "\
Examples:
  agentglot sessions show 0d5e2a
  agentglot sessions show 0d5e2a --to cursor > log.jsonl")]
    Show {
        /// Its id, enough of the beginning of its id, or the path of its transcript
        #[arg(value_name = "ID|PATH", add = ArgValueCompleter::new(files_and_sessions))]
        id: String,
        /// As a log of this dialect instead of as text (see `agentglot dialects`)
        #[arg(long, value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::Written)]
        to: Option<Chosen>,
    },
    /// Copy a session so that another agent's program goes on with it, and print the command that does
    #[command(after_long_help = COPY_MORE)]
    Copy(Copy),
    /// Delete a session that agentglot began: its transcript, its subagents' and its checkpoints
    #[command(after_help = "\
Examples:
  agentglot sessions delete 0d5e2a
  agentglot sessions delete --all")]
    Delete {
        /// Its id, or enough of its beginning
        #[arg(required_unless_present = "all", conflicts_with = "all", add = ArgValueCompleter::new(sessions))]
        id: Option<String>,
        /// All that agentglot began in this folder
        #[arg(long)]
        all: bool,
    },
}

const COPY_MORE: &str = "\
The copy is a new session of the other program: it has an id of its own, lies where that program
looks for it, and never takes the place of a file. Tools get the target's names, calls that have no
result get one, and thoughts that the target would refuse are left out (docs/sessions.md).

Exit codes:
  0  everything was understood
  1  done, but some of the source is damaged
  2  wrong usage, or there is no conversation to copy
  3  reading or writing failed

Examples:
  agentglot sessions copy 3f2a91 --to codex
  agentglot sessions copy out.jsonl --to claude --prompt 'Mend the test' --cwd ~/project
  sh -c \"$(agentglot sessions copy 3f2a91 --to gemini)\"";

/// `sessions copy`.
#[derive(Debug, Args)]
pub struct Copy {
    /// The id of a session of any agent on this machine, enough of its beginning, or a file of any dialect: a log, a store
    #[arg(value_name = "ID|FILE", add = ArgValueCompleter::new(files_and_sessions))]
    pub what: String,
    /// For whose program: claude, qwen-code, codex, gemini or opencode
    #[arg(long, value_name = "AGENT", hide_possible_values = true, value_parser = Dialects::Kept)]
    pub to: Chosen,
    /// Where it is to go on; without it, the folder that the session worked in
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<PathBuf>,
    /// The prompt of a log that does not hold it; may be repeated, turn after turn
    #[arg(long, value_name = "TEXT")]
    pub prompt: Vec<String>,
    /// The dialect of the file; without it, it is detected
    #[arg(long, value_name = "DIALECT", hide_possible_values = true, value_parser = Dialects::Read)]
    pub from: Option<Chosen>,
    /// Write what does not go over as it was, as JSON lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ledger: Option<PathBuf>,
    /// Write one JSON object: id, file, folder and commands
    #[arg(long)]
    pub json: bool,
}

/// `trust`.
#[derive(Debug, Subcommand)]
pub enum Trust {
    /// List the folders that are trusted
    List,
    /// Remove folders from the list
    Remove {
        /// The folders
        #[arg(required = true, value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
    },
}

/// Who says that a project is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TrustBy {
    /// The user, and the host by its flags
    #[default]
    Host,
    /// The user alone
    Listed,
}

/// What a stand-in needs to know besides its program's own arguments.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// Who answers: demo, replay:FILE, cli:NAME[=PATH], acp:COMMAND, model:openai|anthropic
    #[arg(long, value_name = "BACKEND", env = "AGENTGLOT_BACKEND", value_parser = crate::backend::choice::Choice::read)]
    pub backend: Option<crate::backend::choice::Choice>,
    /// What to do with permission questions that the host (the program that starts us) cannot answer: deny them, allow the tools of a
    /// list, let a command decide, or (with Tricode's host) ask in plain text and read the choice from standard input. The default is
    /// deny; with the built-in agent as Tricode it is host. Where text is shown on a terminal, the person there is asked
    #[arg(long, value_name = "deny|TOOL,…|command:LINE|host", env = "AGENTGLOT_ON_ASK", value_parser = on_ask)]
    pub on_ask: Option<OnAsk>,
    /// How fast a log is replayed: full, original, or a factor on the recorded waits
    #[arg(long, value_name = "PACE", env = "AGENTGLOT_PACE", default_value = "full", value_parser = pace)]
    pub pace: Pace,
    /// Seconds to wait for the first output of an agent after a prompt; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_START_TIMEOUT", default_value = "120", value_parser = seconds)]
    pub start_timeout: Duration,
    /// Seconds to wait for the next output of an agent in a turn; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_SILENCE_TIMEOUT", default_value = "1800", value_parser = seconds)]
    pub silence_timeout: Duration,
    /// Seconds that an agent may take for a turn, without the time that a host takes to answer; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_TURN_TIMEOUT", default_value = "86400", value_parser = seconds)]
    pub turn_timeout: Duration,
    /// Seconds to wait for a host's answer to a permission question before it is denied; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_PERMISSION_TIMEOUT", default_value = "600", value_parser = seconds)]
    pub permission_timeout: Duration,
    /// Seconds to wait for an agent's answer to a control request; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_CONTROL_TIMEOUT", default_value = "60", value_parser = seconds)]
    pub control_timeout: Duration,
    /// Seconds that an agent has to end by itself after the session before it is stopped; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_SHUTDOWN_TIMEOUT", default_value = "1.5", value_parser = seconds)]
    pub shutdown_timeout: Duration,
    /// Seconds to wait for more of a prompt on standard input; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_PROMPT_TIMEOUT", default_value = "120", value_parser = seconds)]
    pub prompt_timeout: Duration,
    /// With --as qwen: seconds between heartbeats that the host did not ask for; 0 is none
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_HEARTBEAT", default_value = "0", value_parser = seconds)]
    pub heartbeat: Duration,
    /// Environment variables to pass on to the agent's program besides those it needs; a * at the end matches any ending
    #[arg(long, value_name = "NAME,…", env = "AGENTGLOT_PASS_ENV", value_delimiter = ',')]
    pub pass_env: Vec<String>,
    /// Do not end daemons that the agent's tools have started (processes that left its process group)
    #[arg(long, env = "AGENTGLOT_KEEP_DAEMONS", value_parser = clap::builder::BoolishValueParser::new())]
    pub keep_daemons: bool,
    /// Let commands of the built-in agent write only in the workspace and in the folders for temporary files (Landlock, Linux)
    #[arg(long, env = "AGENTGLOT_CONFINE_COMMANDS", value_parser = clap::builder::BoolishValueParser::new())]
    pub confine_commands: bool,
    /// Where the built-in agent searches the web: the URL of Brave's search API, of a SearXNG with format=json, or of a page of results
    #[arg(long, value_name = "URL", env = "AGENTGLOT_SEARCH_ENGINE", value_parser = search_engine)]
    pub search_engine: Option<String>,
    /// Who may trust a project: also the host, by its flags (--setting-sources, --trust), or only your own list (`agentglot trust`)
    #[arg(long, value_name = "WHO", env = "AGENTGLOT_TRUST", value_enum, default_value_t)]
    pub trust: TrustBy,
    /// Refuse unknown arguments even for programs whose hosts may send new ones
    #[arg(long, env = "AGENTGLOT_STRICT_ARGS", value_parser = clap::builder::BoolishValueParser::new())]
    pub strict_args: bool,
    /// Record the session (host, agentglot and agent) in this folder, without keys and tokens
    #[arg(long, value_name = "DIR", env = "AGENTGLOT_RECORD", value_hint = ValueHint::DirPath)]
    pub record: Option<PathBuf>,
    /// Treat longer lines as damaged; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_LINE", default_value = "256M", value_parser = size)]
    pub max_line: usize,
    /// How much an agent may say in one turn; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_TURN", default_value = "2G", value_parser = size)]
    pub max_turn: usize,
    /// The longest prompt, as text or as a line of the host; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_PROMPT", default_value = "64M", value_parser = size)]
    pub max_prompt: usize,
    /// How much of a file the built-in agent looks through for a line or a pattern; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_SCAN", default_value = "1G", value_parser = size)]
    pub max_scan: usize,
    /// Seconds that a search or a list of the built-in agent may take; 0 is for ever
    #[arg(long, value_name = "SECONDS", env = "AGENTGLOT_SEARCH_TIMEOUT", default_value = "60", value_parser = seconds)]
    pub search_timeout: Duration,
    /// How many questions may be open in each direction; beyond that the oldest is denied
    #[arg(long, value_name = "N", env = "AGENTGLOT_MAX_PENDING", default_value = "1024", value_parser = count)]
    pub max_pending: usize,
    /// How many bytes of output the host may leave unread before the agent has to wait; K, M, G may follow the number
    #[arg(long, value_name = "BYTES", env = "AGENTGLOT_MAX_QUEUED", default_value = "256K", value_parser = size)]
    pub max_queued: usize,
    /// How many sessions one host may have open with a program that serves many (acp, `codex app-server`); each is a process
    #[arg(long, value_name = "N", env = "AGENTGLOT_MAX_SESSIONS", default_value = "128", value_parser = count)]
    pub max_sessions: usize,
}

/// An address that can be asked.
pub(crate) fn search_engine(text: &str) -> Result<String, String> {
    Engine::new(Some(text), |_| None).map(|_| text.to_owned())
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

/// What happens to questions that nobody answers. Tools of MCP servers are called as the servers like; all others are known, so that a misspelled one does not turn out to
/// be denied in the middle of a run.
pub(crate) fn on_ask(text: &str) -> Result<OnAsk, String> {
    match text {
        "deny" => return Ok(OnAsk::Deny),
        "host" => return Ok(OnAsk::Host),
        _ => {}
    }
    if let Some(command) = text.strip_prefix("command:") {
        return Ok(OnAsk::Command(command.to_owned()));
    }
    let mut names = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !name.starts_with("mcp__") && !Tools::all_names().any(|known| known == name) {
            let known: Vec<String> = Tools::all_names().map(str::to_owned).collect();
            let meant = nearest(name, &known)
                .map(|meant| format!("; did you mean {meant:?}?"))
                .unwrap_or_default();
            return Err(format!("no agent has a tool called {name:?}{meant}"));
        }
        names.push(name.to_owned());
    }
    Ok(OnAsk::Allow(names))
}
