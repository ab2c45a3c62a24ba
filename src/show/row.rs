use agentglot_adapters::events::{Block as Piece, Content, Outcome, SessionFacts, Time, Usage};
use agentglot_adapters::session::{Call, Deed};

/// One thing that is shown.
#[derive(Debug)]
pub struct Row<'r> {
    /// How many subagents deep it is.
    pub depth: usize,
    /// The number of its turn; 0 outside of turns.
    pub turn: u64,
    /// What it is.
    pub what: What<'r>,
}

/// What is shown.
#[derive(Debug)]
pub enum What<'r> {
    /// A session begins.
    Session(Head<'r>),
    /// A turn begins.
    Turn {
        /// When, where the log says so.
        started: Option<&'r Time>,
    },
    /// Something in the user's role.
    Prompt {
        /// What it says.
        text: &'r str,
        /// Who says it.
        by: By,
        /// All of it, pictures too.
        content: &'r Content,
    },
    /// The agent says something.
    Answer {
        /// In Markdown.
        text: &'r str,
        /// The reply was given up, and this taken back.
        retracted: bool,
    },
    /// The agent thinks.
    Thinking {
        /// What.
        text: &'r str,
        /// A headline.
        subject: Option<&'r str>,
    },
    /// The agent calls a tool.
    Call {
        /// The call.
        call: &'r Call,
        /// What it did.
        deed: &'r Deed,
        /// How it went.
        state: State,
        /// How many milliseconds it took, where the log says so.
        ms: Option<u64>,
    },
    /// Somebody is asked whether a call may run.
    Permission {
        /// The tool.
        name: &'r str,
        /// The answer, if the log holds it.
        allowed: Option<bool>,
        /// What the answer says.
        message: Option<&'r str>,
    },
    /// Something beside the conversation, said quietly.
    Notice {
        /// What it is about: `retry`, `compaction`, `task` …
        name: &'r str,
        /// What it says.
        text: &'r str,
        /// It is the sign of a fault.
        fault: bool,
    },
    /// Something that has no better form.
    Raw {
        /// What it is.
        name: &'r str,
        /// As it stands.
        text: &'r str,
        /// The piece of a reply that it is.
        piece: Option<&'r Piece>,
    },
    /// Something of the log cannot be read.
    Damage {
        /// Where, and why.
        text: &'r str,
    },
    /// A turn has ended.
    Outcome(Ended<'r>),
}

/// What is known of a session at its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Head<'r> {
    /// Its id.
    pub id: Option<&'r str>,
    /// Its facts.
    pub facts: Option<&'r SessionFacts>,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'r> {
    /// As the log says it; `None` where it does not say it.
    pub outcome: Option<&'r Outcome>,
    /// How many milliseconds the turn took.
    pub ms: Option<u64>,
    /// Its tokens.
    pub usage: Option<&'r Usage>,
}

/// Who says something in the user's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The user.
    User,
    /// The agent's program.
    Program,
    /// The agent that has started this one.
    Parent,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Well.
    Done,
    /// It failed.
    Failed,
    /// It was not allowed.
    Denied,
    /// It was stopped.
    Canceled,
    /// The log does not say.
    Open,
    /// Somebody is asked whether it may run.
    Asked,
}

impl State {
    /// Whether there is nothing to look into.
    pub const fn is_fine(self) -> bool {
        matches!(self, Self::Done | Self::Open | Self::Asked)
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Canceled => "canceled",
            Self::Open => "no result",
            Self::Asked => "asked",
        }
    }
}
