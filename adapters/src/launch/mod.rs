//! Command lines: what a host asks of a program when it starts it, whatever the program.
//!
//! Each vendor's [`Program`] has one table of flags ([`Flag`]) that drives three things: [`parse`] reads what a host typed into a
//! [`Launch`], [`argv`] writes the command line with which we start that program ourselves, and the dialect's page in `docs/`
//! shows the table. Nothing here touches the world: ids and names come from the caller, files are named and never opened.
//!
//! The reading is written by hand. The programs use four families of parsers (Commander, yargs, argparse, clap: [`Grammar`])
//! whose leniency differs in ways that hosts rely on: variadic flags, values that may be missing, abbreviations, `--no-x`,
//! camel case, clusters, and the exact text of each error. No one argument parser can be told to behave like all of them.

mod child;
mod errand;
mod fill;
mod flag;
mod help;
mod program;
mod refusal;
mod scan;
mod servers;
pub(crate) mod shared_flags;
#[cfg(test)]
pub(crate) mod tests;

use crate::codec::{Dialect, Format, Mode};

pub use child::{ArgvError, Child, FilePart, MAX_ARG, PromptBy, Unsaid, argv, serving};
pub use errand::{Answer, Errand, Facts};
pub(crate) use errand::{not_here, wants_json};
pub use fill::parse;
pub(crate) use fill::{is_number, is_uuid};
pub(crate) use flag::flags;
pub use flag::{Check, Flag, Grammar, Means, Shape, Sub, SubCommand};
pub use help::help;
pub use program::{Claim, Piped, Program, ServerWords, Traits};
pub(crate) use scan::{argparse_error, yargs_error};
pub(crate) use servers::merged as merged_servers;

/// What a host asks of a program when it starts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Whose command line it is, and in which mode it is to answer. [`Mode::TEXT`] stands for text for people in every dialect,
    /// also in Tricode, where it is what comes without `--stdio`.
    pub format: Format,
    /// What stdin brings.
    pub input: InputFormat,
    /// Deltas beside the snapshots.
    pub partial: bool,
    /// One turn and no questions to a terminal: `-p`, `--print`, a prompt on the command line.
    pub print: bool,
    /// The prompt of the command line, joined as the program does it. Without one it comes from stdin.
    pub prompt: Option<String>,
    /// The model, as the host names it.
    pub model: Option<String>,
    /// Models to fall back to, in their order.
    pub fallback_models: Vec<String>,
    /// The system prompt.
    pub system: SystemPrompt,
    /// How freely tools may run; `None` leaves it to the program's settings ([`Self::permission_or_default`]).
    pub permission: Option<PermissionMode>,
    /// Who answers when a tool needs a permission.
    pub answerer: Answerer,
    /// The tools that exist: `None` is the program's usual set, an empty list none.
    pub tools: Option<Vec<String>>,
    /// Rules for tools that run without a question, each as it was written.
    pub allowed_tools: Vec<String>,
    /// Rules for tools that are refused, each as it was written.
    pub disallowed_tools: Vec<String>,
    /// The most rounds of a turn. `None`, and in the programs a negative number, is no limit.
    pub max_turns: Option<u64>,
    /// The most that a session may cost, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// Which session it is.
    pub resume: Resume,
    /// The id that the new session is to have.
    pub session_id: Option<String>,
    /// Go on in a copy of the resumed session.
    pub fork: bool,
    /// Go on after this message of the resumed session.
    pub resume_at: Option<String>,
    /// The working directory, where it is not the process's own.
    pub cwd: Option<String>,
    /// More directories that tools may use.
    pub add_dirs: Vec<String>,
    /// Configurations of MCP servers: each a path, or JSON.
    pub mcp_config: Vec<String>,
    /// No MCP servers but those of [`Self::mcp_config`].
    pub strict_mcp: bool,
    /// A path of settings, or JSON.
    pub settings: Option<String>,
    /// Which settings files are read: `None` is all of them, an empty list none.
    pub setting_sources: Option<Vec<String>>,
    /// Definitions of agents: JSON, or a path.
    pub agents: Option<String>,
    /// The agent of the main thread.
    pub agent: Option<String>,
    /// Hooks are shown in the stream.
    pub hook_events: bool,
    /// A JSON schema of the answer.
    pub json_schema: Option<String>,
    /// Whether the model thinks: the program's own word.
    pub thinking: Option<String>,
    /// The most tokens for thinking.
    pub max_thinking_tokens: Option<u64>,
    /// How much effort the model takes: the program's own word.
    pub effort: Option<String>,
    /// The host's user messages come back on stdout.
    pub replay_user_messages: bool,
    /// `--verbose`.
    pub verbose: bool,
    /// Flags that the program knows and that have no place above: name and value, as they were typed.
    pub rest: Vec<(String, Option<String>)>,
    /// Words that nobody knows, as they were typed: flags with the value that was taken for them, surplus words.
    pub unknown: Vec<String>,
}

impl Launch {
    /// A launch that asks for nothing.
    pub fn new(format: impl Into<Format>) -> Self {
        Self {
            format: format.into(),
            input: InputFormat::Text,
            partial: false,
            print: false,
            prompt: None,
            model: None,
            fallback_models: Vec::new(),
            system: SystemPrompt::default(),
            permission: None,
            answerer: Answerer::Nobody,
            tools: None,
            allowed_tools: Vec::new(),
            disallowed_tools: Vec::new(),
            max_turns: None,
            max_budget_usd: None,
            resume: Resume::New,
            session_id: None,
            fork: false,
            resume_at: None,
            cwd: None,
            add_dirs: Vec::new(),
            mcp_config: Vec::new(),
            strict_mcp: false,
            settings: None,
            setting_sources: None,
            agents: None,
            agent: None,
            hook_events: false,
            json_schema: None,
            thinking: None,
            max_thinking_tokens: None,
            effort: None,
            replay_user_messages: false,
            verbose: false,
            rest: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Whether the host speaks a protocol on stdin; otherwise stdin is at most a prompt.
    pub const fn has_stdin_protocol(&self) -> bool {
        matches!(self.input, InputFormat::StreamJson)
    }

    /// The permission mode, and where the host named none, what the program does then.
    pub fn permission_or_default(&self) -> PermissionMode {
        let default = || self.format.dialect.program().map_or(PermissionMode::Ask, |program| program.permission);
        self.permission.unwrap_or_else(default)
    }
}

/// What stdin brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputFormat {
    /// The prompt, if the command line has none.
    Text,
    /// A line a message, for as long as the session lasts.
    StreamJson,
}

/// The system prompt: one of them instead of the program's own, one after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// Instead of the program's own. An empty text is none at all.
    pub replace: Option<Text>,
    /// After the program's own.
    pub append: Option<Text>,
}

/// A text on the command line, or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// The text.
    Here(String),
    /// The path.
    File(String),
}

/// How freely tools may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    /// What changes something needs a permission. Claude `default` and `manual`, Qwen `default`.
    Ask,
    /// Edits of files run. Claude `acceptEdits`, Qwen `auto-edit`.
    AcceptEdits,
    /// Nothing is changed; a plan is made. `plan`; Cursor's `ask` mode changes nothing either.
    Plan,
    /// Everything runs. Claude `bypassPermissions`, Qwen `yolo`, Cursor `--force`, Tricode `--bypass-permission`.
    Bypass,
    /// What would need a permission is refused. Claude `dontAsk`.
    DontAsk,
    /// A model judges what may run. `auto`; Cursor `--auto-review`.
    Auto,
}

impl PermissionMode {
    /// Every mode.
    pub const ALL: [Self; 6] = [Self::Ask, Self::AcceptEdits, Self::Plan, Self::Bypass, Self::DontAsk, Self::Auto];

    /// The names of the canonical model; the first of a mode is the one that is written.
    pub const NAMES: &[(&str, Self)] = &[
        ("default", Self::Ask),
        ("manual", Self::Ask),
        ("acceptEdits", Self::AcceptEdits),
        ("plan", Self::Plan),
        ("bypassPermissions", Self::Bypass),
        ("dontAsk", Self::DontAsk),
        ("auto", Self::Auto),
    ];

    /// What a dialect calls it where a mode has a name: on its command line, in its lines and its control requests.
    pub fn name(self, dialect: Dialect) -> Option<&'static str> {
        let mut names = dialect.vendor().permission_modes.iter();
        names.find(|(_, mode)| *mode == self).map(|(name, _)| *name)
    }

    /// The mode of a dialect's name.
    pub fn from_name(dialect: Dialect, name: &str) -> Option<Self> {
        let mut names = dialect.vendor().permission_modes.iter();
        names.find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }
}

/// Who answers when a tool needs a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// Nobody: what would be asked is refused.
    Nobody,
    /// The host, by control requests and responses.
    Host,
    /// A tool of an MCP server, by its name.
    Tool(String),
    /// Whoever writes to stdin, by typing the number of a choice (Tricode).
    Typed,
}

/// Which session it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// A new one.
    New,
    /// The latest of this directory.
    Latest,
    /// The one of this id or title.
    Session(String),
    /// One that is picked from a list: `--resume` without an id.
    Pick,
}

/// What a command line means.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Be the agent.
    Launch(Box<Launch>),
    /// A small command, answered at once.
    Errand(Errand),
}

/// A command line that the program refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", text.lines().next().unwrap_or_default())]
pub struct ArgError {
    /// What the program writes to stderr, line ends included.
    pub text: String,
    /// Its exit code.
    pub exit_code: u8,
}

impl ArgError {
    /// One line on stderr.
    pub(crate) fn line(text: impl Into<String>, exit_code: u8) -> Self {
        let mut text = text.into();
        text.push('\n');
        Self { text, exit_code }
    }
}

/// The mode of a name.
fn mode_of(dialect: Dialect, name: &str) -> Option<Mode> {
    dialect.modes().iter().find(|mode| mode.name == name).copied()
}
