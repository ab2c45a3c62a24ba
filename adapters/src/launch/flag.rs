//! The table of a program's flags.

use super::{ArgError, Errand, Launch, PermissionMode};
use crate::codec::Mode;

/// Refuses what a program refuses, and sets what follows from several flags. The second argument answers whether a flag was given.
pub type Check = fn(&mut Launch, &dyn Fn(&str) -> bool) -> Result<(), ArgError>;

/// The three families of parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Commander (Claude, Cursor): `--x v`, `--x=v`, `-xv`, clusters; a list takes every word up to the next flag, but with `=`
    /// one; a value may begin with a dash.
    Commander,
    /// yargs (Qwen): as above, but a value never begins with a dash and may be missing; `--no-x`, `--camelCase`; a list goes on
    /// after `=`; clusters give only their last letter a value.
    Yargs,
    /// argparse (Tricode): abbreviations; a value never begins with a dash; surplus words are an error.
    Argparse,
    /// clap (Codex): flags as in Commander; the agent is a command, and everything before it is said of all commands; surplus words are
    /// an error.
    Clap,
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its names with their dashes, in the order of the program's own texts.
    pub names: &'static [&'static str],
    /// What follows it.
    pub shape: Shape,
    /// What it means.
    pub means: Means,
    /// What it is for, for people.
    pub about: &'static str,
    /// We say it when we start the program. The others are read only: they are not documented by their vendor.
    pub spoken: bool,
}

/// The table of a program's flags, an array of [`Flag`]s, a row each: names, [`Shape`], [`Means`], and what it is for.
macro_rules! flags {
    ($($($name:literal),+: $shape:expr => $means:expr, $about:literal $(, $said:ident)?;)+) => {{
        use $crate::launch::{Flag, Means::*, Shape::*};
        [$(Flag::new(&[$($name),+], $shape, $means, $about) $(.$said())?),+]
    }};
}
pub(crate) use flags;

/// What follows a flag. The texts are the program's own placeholders.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Nothing.
    Switch,
    /// A value.
    Value(&'static str),
    /// A value that a program checks as it reads it; the text says what is wrong.
    Checked(&'static str, fn(&str) -> Result<(), &'static str>),
    /// One of these words; the first list is what the program names in its message, the second what it takes besides.
    OneOf(&'static str, &'static [&'static str], &'static [&'static str]),
    /// A value or none.
    Maybe(&'static str),
    /// Values up to the next flag.
    List(&'static str),
}

impl Shape {
    /// The placeholder.
    pub const fn placeholder(self) -> &'static str {
        match self {
            Self::Switch => "",
            Self::Value(text) | Self::Checked(text, _) | Self::OneOf(text, ..) | Self::Maybe(text) | Self::List(text) => text,
        }
    }
}

/// What a flag means: the member of [`Launch`] that it sets, or what is done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Means {
    Output,
    /// Tricode's `--stdio`: the dialect's own lines.
    Lines,
    Input,
    Partial,
    Print,
    /// The prompt is the value; the turn is the only one.
    Prompt,
    /// The prompt is the value; a terminal session follows.
    PromptThenTerminal,
    Model,
    Fallback,
    System,
    SystemFile,
    Append,
    AppendFile,
    /// The value names the mode.
    Permission,
    /// The flag is the mode.
    PermissionIs(PermissionMode),
    /// The value names the tool that answers; `stdio` is the host.
    Answerer,
    /// `host` or `none`.
    Answers,
    Tools,
    Allowed,
    Disallowed,
    MaxTurns,
    MaxBudget,
    Resume,
    Latest,
    SessionId,
    Fork,
    ResumeAt,
    Cwd,
    AddDir,
    Mcp,
    StrictMcp,
    Settings,
    SettingSources,
    Agents,
    Agent,
    HookEvents,
    Schema,
    Thinking,
    ThinkingTokens,
    Effort,
    Replay,
    Verbose,
    /// Known, without a place in [`Launch`].
    Rest,
    /// As [`Self::Rest`], and never said again: a key, a server, a file descriptor of the host, or what would make the program
    /// something other than an agent on a pipe.
    Private,
    Version,
    Help,
    Models,
    Sessions,
    Update,
}

impl Means {
    /// The member of [`Launch`] that it sets, or what is done, for the pages.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Output | Self::Lines => "format",
            Self::Input => "input",
            Self::Partial => "partial",
            Self::Print => "print",
            Self::Prompt | Self::PromptThenTerminal => "prompt",
            Self::Model => "model",
            Self::Fallback => "fallback_models",
            Self::System | Self::SystemFile => "system.replace",
            Self::Append | Self::AppendFile => "system.append",
            Self::Permission | Self::PermissionIs(_) => "permission",
            Self::Answerer | Self::Answers => "answerer",
            Self::Tools => "tools",
            Self::Allowed => "allowed_tools",
            Self::Disallowed => "disallowed_tools",
            Self::MaxTurns => "max_turns",
            Self::MaxBudget => "max_budget_usd",
            Self::Resume | Self::Latest => "resume",
            Self::SessionId => "session_id",
            Self::Fork => "fork",
            Self::ResumeAt => "resume_at",
            Self::Cwd => "cwd",
            Self::AddDir => "add_dirs",
            Self::Mcp => "mcp_config",
            Self::StrictMcp => "strict_mcp",
            Self::Settings => "settings",
            Self::SettingSources => "setting_sources",
            Self::Agents => "agents",
            Self::Agent => "agent",
            Self::HookEvents => "hook_events",
            Self::Schema => "json_schema",
            Self::Thinking => "thinking",
            Self::ThinkingTokens => "max_thinking_tokens",
            Self::Effort => "effort",
            Self::Replay => "replay_user_messages",
            Self::Verbose => "verbose",
            Self::Rest | Self::Private => "rest",
            Self::Version | Self::Help | Self::Models | Self::Sessions | Self::Update => "answered at once",
        }
    }
}

/// A small command.
#[derive(Clone, Copy, Debug)]
pub struct SubCommand {
    /// Its names.
    pub names: &'static [&'static str],
    /// What it is.
    pub is: Sub,
    /// What it is for, for people.
    pub about: &'static str,
}

impl SubCommand {
    /// One that is answered at once.
    pub const fn errand(names: &'static [&'static str], read: fn(&[String]) -> Result<Errand, ArgError>, about: &'static str) -> Self {
        let is = Sub::Errand(read);
        Self { names, is, about }
    }

    /// One that is answered at once, behind the word for the agent too.
    pub const fn beside(names: &'static [&'static str], read: fn(&[String]) -> Result<Errand, ArgError>, about: &'static str) -> Self {
        let is = Sub::Beside(read);
        Self { names, is, about }
    }

    /// One of which nothing is known but its name.
    pub const fn other(names: &'static [&'static str], about: &'static str) -> Self {
        Self::errand(names, |words| Ok(Errand::Other(words.to_vec())), about)
    }
}

/// What a small command is.
#[derive(Clone, Copy, Debug)]
pub enum Sub {
    /// The agent itself; the words after it are a launch like any other.
    Agent,
    /// The agent for a host that has many sessions with it, in this mode.
    Server(Mode),
    /// The agent in its latest session.
    Latest,
    /// Behind the word for the agent: in the session whose id is the next word, if a flag does not say which.
    Resume,
    /// The same in a copy of that session.
    Fork,
    /// Answered at once, from the words after the command.
    Errand(fn(&[String]) -> Result<Errand, ArgError>),
    /// The same, as the first word behind the word for the agent too.
    Beside(fn(&[String]) -> Result<Errand, ArgError>),
}

impl Flag {
    /// A flag that we say too.
    pub const fn new(names: &'static [&'static str], shape: Shape, means: Means, about: &'static str) -> Self {
        Self {
            names,
            shape,
            means,
            about,
            spoken: true,
        }
    }

    /// The same, but read only.
    pub const fn read_only(self) -> Self {
        Self { spoken: false, ..self }
    }

    /// Its longest-lived name: the first that has two dashes.
    pub fn long(&self) -> &'static str {
        self.names.iter().find(|name| name.starts_with("--")).unwrap_or(&self.names[0])
    }

    /// Names and placeholder, as Commander writes them in its messages.
    pub fn declared(&self) -> String {
        let mut text = self.names.join(", ");
        if !self.shape.placeholder().is_empty() {
            text.push(' ');
            text.push_str(self.shape.placeholder());
        }
        text
    }
}
