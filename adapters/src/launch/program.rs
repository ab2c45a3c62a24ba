//! What a vendor says of its program.

use super::flag::{Check, Flag, Grammar, Means, SubCommand};
use super::{ArgError, PermissionMode, PromptBy};
use crate::codec::Dialect;
use crate::conduct::Conduct;

/// A vendor's program: its command line, how it gets its prompts, the words of its refusals, and how it behaves towards its host.
#[derive(Debug)]
pub struct Program {
    /// Whose it is.
    pub dialect: Dialect,
    /// What the program calls itself in its texts.
    pub name: &'static str,
    /// What people call it.
    pub product: &'static str,
    /// What `--version` prints.
    pub version: &'static str,
    /// How its command line is read.
    pub grammar: Grammar,
    /// Its flags, in the order of its help.
    pub flags: &'static [Flag],
    /// Its small commands: the first word of the command line.
    pub commands: &'static [SubCommand],
    /// Flags that it does not know are an error even when nobody asks for strictness. Without it they are kept in
    /// [`Launch::unknown`](super::Launch::unknown), because the SDKs of some vendors gain flags faster than a table can follow.
    pub closed: bool,
    /// What it checks when all flags are read.
    pub check: Check,
    /// What we always say when we start it.
    pub child: &'static [&'static str],
    /// How it gets its prompts.
    pub prompt: PromptBy,
    /// What it does when nobody names a mode.
    pub permission: PermissionMode,
    /// What it says when neither the command line nor stdin has a prompt.
    pub no_prompt: fn() -> ArgError,
    /// What it says when there is no session of this id.
    pub no_session: fn(&str) -> ArgError,
    /// What sets it apart from others.
    pub traits: Traits,
    /// How it behaves towards its host.
    pub conduct: &'static dyn Conduct,
}

/// What sets a program apart from others when it is started.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// What it writes comes in pieces always, without a flag for it.
    pub always_in_pieces: bool,
    /// Its limit of rounds is one of the whole session, and it dies of it without an outcome.
    pub limits_sessions: bool,
    /// It takes a schema of the answer for a single prompt only.
    pub schema_for_one_prompt: bool,
    /// An empty text and an empty list of tools are said as such: no system prompt, no tools. To the others they say nothing.
    pub takes_empty: bool,
    /// It cuts the values of its lists at commas.
    pub cuts_at_commas: bool,
    /// How it is told the way to an MCP server.
    pub servers: ServerWords,
}

impl Traits {
    /// Nothing special.
    pub const NONE: Self = Self {
        always_in_pieces: false,
        limits_sessions: false,
        schema_for_one_prompt: false,
        takes_empty: false,
        cuts_at_commas: false,
        servers: ServerWords::Type,
    };
}

/// How a program is told the way to an MCP server at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerWords {
    /// `type` says it, and `url` holds the address.
    Type,
    /// The member that holds the address says it: `httpUrl`, `url` for server-sent events, `tcp` for a WebSocket.
    Member,
}

impl Program {
    /// The flag of a name with its dashes.
    pub fn flag(&self, name: &str) -> Option<&'static Flag> {
        self.flags.iter().find(|flag| flag.names.contains(&name))
    }

    /// The flag that says this.
    pub fn flag_for(&self, means: Means) -> Option<&'static Flag> {
        self.flags.iter().find(|flag| flag.spoken && flag.means == means)
    }

    /// Whether it asks anybody for permission.
    pub fn asks(&self) -> bool {
        self.conduct.can_ask() || self.conduct.asks_in_text()
    }

    /// The small command of a name.
    pub fn command(&self, name: &str) -> Option<&'static SubCommand> {
        self.commands.iter().find(|command| command.names.contains(&name))
    }
}
