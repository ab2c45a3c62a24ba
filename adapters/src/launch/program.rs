//! What a vendor says of its program.

use super::Launch;
use super::flag::{Check, Flag, Grammar, Means, SubCommand};
use super::{ArgError, PermissionMode, PromptBy};
use crate::client::{Begin, Serves};
use crate::codec::Dialect;
use crate::conduct::Conduct;
use crate::server::Open;

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
    /// What it says when the model's API, which it is named, wants a key and there is none. `None`: it only sees when a turn fails.
    pub no_key: Option<fn(&str) -> ArgError>,
    /// The names of links to us that mean it. None: it cannot be stood in for.
    pub links: &'static [&'static str],
    /// A link of another program that means it too, when that is asked for.
    pub claims: Option<Claim>,
    /// What it is called where it is to be started as another agent's back end; the first is what we call it. None: it cannot be.
    pub backend: &'static [&'static str],
    /// Its file.
    pub file: &'static str,
    /// What of our environment it needs besides the basics.
    pub environment: &'static [&'static str],
    /// What its user can do when it has no key.
    pub log_in: &'static str,
    /// The model API of those who use it, where the environment has keys for several.
    pub api: &'static str,
    /// How many seconds its hosts have for their answers, where that is said.
    pub patience: Option<u64>,
    /// What sets it apart from others.
    pub traits: Traits,
    /// How it behaves towards its host.
    pub conduct: &'static dyn Conduct,
}

/// What makes another program's link mean this one.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The link.
    pub link: &'static str,
    /// An output format that only this one has.
    pub output: &'static str,
    /// A variable that asks for it, and its value.
    pub variable: (&'static str, &'static str),
}

/// What sets a program apart from others.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// What it writes comes in pieces always, without a flag for it.
    pub always_in_pieces: bool,
    /// Its limit of rounds is one of the whole session, and it dies of it without an outcome.
    pub limits_sessions: bool,
    /// The only flags that may be given more than once, where the others may not.
    pub repeats: Option<&'static [&'static str]>,
    /// It takes a schema of the answer for a single prompt only.
    pub schema_for_one_prompt: bool,
    /// It reads the schema of the answer in a file.
    pub schema_in_file: bool,
    /// An empty text and an empty list of tools are said as such: no system prompt, no tools. To the others they say nothing.
    pub takes_empty: bool,
    /// It cuts the values of its lists at commas.
    pub cuts_at_commas: bool,
    /// How it is told the way to an MCP server.
    pub servers: ServerWords,
    /// It lives as long as the session, and hooks in its settings are how a host of another dialect is asked: its own questions take no
    /// changed arguments.
    pub asks_by_hooks: bool,
    /// It decides by its first line whether it is controlled at all.
    pub greeted_first: bool,
    /// What it is told in the middle of a turn becomes part of that turn, and has no outcome of its own.
    pub folds_prompts: bool,
    /// An interrupt that comes before it has begun the turn stops nothing, and is answered all the same.
    pub stops_what_runs: bool,
    /// Root may not start it in a mode where everything runs, and a session that began in another mode cannot change to that one.
    pub no_late_bypass: bool,
    /// It gives its sessions ids of its own.
    pub names_sessions: bool,
    /// It begins in a folder of a git repository only, unless this flag is given; and what it says elsewhere.
    pub needs_repository: Option<(&'static str, &'static str)>,
    /// Its lines need not say that a turn has ended: that the program has, says it.
    pub end_is_outcome: bool,
    /// Variables that say a mode for which it has no flag: the mode, the variable, its value.
    pub mode_variables: &'static [(PermissionMode, &'static str, &'static str)],
    /// It holds one session of the many that hosts of other programs have with one process ([`crate::server`]).
    pub holds_sessions: bool,
    /// Such a program of many sessions, if this launch starts one.
    pub server: fn(&Launch) -> Option<Open>,
    /// Behind us it is spoken to in requests ([`Client`](crate::client::Client)), for as long as a session; the launch says how its host wants it.
    pub client: Option<Begin>,
    /// The same in a protocol that is nobody's.
    pub serves: Option<Serves>,
    /// It is not one program but any that speaks its language: behind this word and a colon stands the command that starts one.
    pub command: Option<&'static str>,
    /// What its agent in the Agent Client Protocol calls its own words, in `_meta`.
    pub extension: Option<&'static str>,
    /// How its agent in that protocol introduces itself, if it takes the error that a file is missing for a fault: it writes no new file then.
    /// To it such a file is empty, as it is in editors that open it.
    pub missing_is_empty: Option<&'static str>,
    /// The word that means the latest session where the flag that goes on with one wants to be told which.
    pub latest: Option<&'static str>,
    /// Its user may name a session by its number in the list, in which the oldest is the first.
    pub numbers_sessions: bool,
    /// What becomes of standard input where the command line has a prompt.
    pub piped: Piped,
    /// The text that it says, or why that cannot be had.
    pub decodes: fn(&[u8]) -> Result<String, String>,
    /// The word that means its own lines where the flag for the format has another one than we have.
    pub lines: Option<&'static str>,
    /// Its models are called `PROVIDER/MODEL`.
    pub names_providers: bool,
    /// The flag without which its lines and its text leave thoughts out.
    pub thoughts: Option<&'static str>,
    /// The names of the flag whose value is a file that gets the answer.
    pub answer_file: &'static [&'static str],
    /// The names of the flag whose values are files that go with the prompt. Prompts are texts here: its user is told.
    pub images: &'static [&'static str],
}

impl Traits {
    /// Nothing special.
    pub const NONE: Self = Self {
        always_in_pieces: false,
        limits_sessions: false,
        repeats: None,
        schema_for_one_prompt: false,
        schema_in_file: false,
        takes_empty: false,
        cuts_at_commas: false,
        servers: ServerWords::Type,
        asks_by_hooks: false,
        greeted_first: false,
        folds_prompts: false,
        stops_what_runs: false,
        no_late_bypass: false,
        names_sessions: false,
        needs_repository: None,
        end_is_outcome: false,
        mode_variables: &[],
        holds_sessions: false,
        server: |_| None,
        client: None,
        serves: None,
        command: None,
        extension: None,
        missing_is_empty: None,
        latest: None,
        numbers_sessions: false,
        piped: Piped::Unread,
        decodes: |said| Ok(String::from_utf8_lossy(said).into_owned()),
        lines: None,
        names_providers: false,
        thoughts: None,
        answer_file: &[],
        images: &[],
    };
}

/// What becomes of standard input where the command line has a prompt. A terminal is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piped {
    /// It is not read.
    Unread,
    /// What it says stands before the prompt, with an empty line between them; it has so many milliseconds to begin.
    Before(u64),
    /// What it says stands behind the prompt, on a line of its own.
    Behind,
    /// What it says stands behind the prompt and an empty line, on lines of its own between tags of this name; blanks alone say nothing.
    Tagged(&'static str),
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

    /// A model's name without who serves it.
    pub fn bare_model<'m>(&self, name: &'m str) -> &'m str {
        let bare = name.split_once('/').map(|(_, model)| model);
        bare.filter(|_| self.traits.names_providers).unwrap_or(name)
    }

    /// Those that can be started behind us.
    pub fn backends() -> impl Iterator<Item = &'static Self> {
        let programs = Dialect::readable().filter_map(Dialect::program);
        programs.filter(|program| !program.backend.is_empty())
    }

    /// Those of which a command is given that starts one, and the word before it.
    pub fn commands() -> impl Iterator<Item = (&'static str, &'static Self)> {
        let programs = Dialect::readable().filter_map(Dialect::program);
        programs.filter_map(|program| Some((program.traits.command?, program)))
    }

    /// The one of this name among those that can be started behind us.
    pub fn of_backend(name: &str) -> Option<&'static Self> {
        Self::backends().find(|program| program.backend.contains(&name))
    }

    /// Whether it can be stood in for.
    pub const fn has_stand_in(&self) -> bool {
        !self.links.is_empty()
    }

    /// Whether one process of it is one turn.
    pub fn is_one_turn(&self) -> bool {
        self.prompt != PromptBy::Lines
    }

    /// Whether it is spoken to in requests behind a host of this dialect. One of its own reads the lines that it writes, if it writes any.
    pub fn takes_requests(&self, host: Dialect) -> bool {
        self.client().is_some() && !(self.is_one_turn() && host == self.dialect)
    }

    /// What begins such a conversation with it.
    pub fn client(&self) -> Option<Begin> {
        self.traits.client.or_else(|| self.traits.serves?.protocol.program()?.traits.client)
    }

    /// Whether in such a conversation another mode or model begins with the next turn.
    pub fn changes_with_turns(&self) -> bool {
        self.is_one_turn() && self.traits.serves.is_none()
    }

    /// Whether its hosts say by a flag who answers its questions; otherwise those answer that speak to it in lines.
    pub fn names_answerer(&self) -> bool {
        self.flag_for(Means::Answerer).is_some()
    }

    /// Whether it counts the rounds of a turn itself.
    pub fn counts_rounds(&self) -> bool {
        self.flag_for(Means::MaxTurns).is_some() && !self.traits.limits_sessions
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
