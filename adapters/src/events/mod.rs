//! What an agent and its host say, as values that own what they hold: one [`Event`] for each thing said.
//!
//! The words are those of [docs/agentglot.md], which describes each event and each member; `to_json` gives the line described there.
//!
//! * **Deltas and snapshots are different events.** A source gives deltas ([`Kind::BlockStart`], [`Kind::Delta`], [`Kind::BlockStop`]),
//!   snapshots ([`Kind::Reply`]) or both. Who wants whole replies reads [`turns`](crate::turns), which puts them together.
//! * **Absent is absent.** A member that is `None` was not in the log.
//! * Text is plain text. Where a log holds half of a surrogate pair, which no text can, there is U+FFFD.
//! * What only one dialect knows rides in `fields`.
//!
//! [docs/agentglot.md]: https://github.com/agentglot/agentglot/blob/main/docs/agentglot.md

mod input;
mod json;
pub(crate) mod mirror;
mod parts;
mod reply;
#[cfg(feature = "serde")]
mod serde;

use bumpalo::Bump;

pub use self::input::{ChatRequest, HintRequest, InputKind};
pub use self::json::Json;
pub use self::parts::{
    Agent, At, CancelResult, CommandResult, Detail, Fatal, Field, Heartbeat, HintResult, Notice, Origin, Outcome, Permission, Prompt, Request,
    Response, SessionFacts, Terminal, Time, ToolProgress, ToolResult, Usage, Withdraw,
};
pub use self::reply::{Block, BlockHead, BlockStart, Content, Delta, Media, Piece, Reply, RoundEnd, RoundStart, RoundStop, Stop, Thinking, ToolCall};
pub use crate::event::{
    BlockStop, ControlKind, DetailShape, InputOrigin, Limit, OutcomeKind, Place, PromptSource, Provenance, ResultStatus, Scope, StopKind, ToolKind,
    Topic,
};

use crate::event as borrowed;
use mirror::Mirror;

/// One thing that was said.
///
/// ```
/// use agentglot_adapters::Event;
/// let line = r#"{"event":"delta","session":"s-1","index":0,"text":"Hello"}"#;
/// let event = Event::from_json(line)?;
/// assert_eq!(event.origin.session.as_deref(), Some("s-1"));
/// assert_eq!(event.to_json(), line);
/// # Ok::<(), agentglot_adapters::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Which session, turn and (sub)agent it belongs to, and when.
    pub origin: Origin,
    /// What is said.
    pub kind: Kind,
    /// Members of the line that have no place in the model, in the order in which they stand.
    pub fields: Vec<Field>,
}

/// What was said before it is known by whom.
pub(crate) enum Said<'a> {
    Event(borrowed::Event<'a>),
    Input(borrowed::Input<'a>),
}

macro_rules! kinds {
    ($($(#[$meta:meta])* $variant:ident($type:ty),)+) => {
        /// What can be said.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$meta])* $variant($type),)+
            /// The host said something: in logs of its side, and where the agent's own log repeats it.
            Input(Box<InputKind>),
        }

        impl Kind {
            fn own(borrowed: &borrowed::Kind<'_>) -> Self {
                match borrowed { $(borrowed::Kind::$variant(value) => Self::$variant(Mirror::own(value)),)+ }
            }
        }

        impl Event {
            /// The same, borrowing from this and from the arena.
            pub(crate) fn borrow<'a>(&'a self, arena: &'a Bump) -> Said<'a> {
                let origin = self.origin.borrow(arena);
                let fields = self.fields.borrow(arena);
                let kind = match &self.kind {
                    $(Kind::$variant(value) => borrowed::Kind::$variant(value.borrow(arena)),)+
                    Kind::Input(kind) => {
                        let kind = (**kind).borrow(arena);
                        return Said::Input(borrowed::Input { origin, kind, fields });
                    }
                };
                Said::Event(borrowed::Event { origin, kind, fields })
            }
        }
    };
}

kinds! {
    /// The session's facts: model, tools, working folder.
    Session(Box<SessionFacts>),
    /// Something about the session that is no part of the conversation: a retry, a compaction, a hook, a limit …
    Notice(Box<Notice>),
    /// Text in the user's role that the agent shows.
    Prompt(Box<Prompt>),
    /// A model call begins.
    RoundStart(Box<RoundStart>),
    /// A block begins, in pieces.
    BlockStart(BlockStart),
    /// A piece of a block.
    Delta(Delta),
    /// A block is complete.
    BlockStop(BlockStop),
    /// Why the reply stopped and what it cost.
    RoundStop(Box<RoundStop>),
    /// A model call is over.
    RoundEnd(Box<RoundEnd>),
    /// Whole blocks of a reply. A reply may come in several of these, with one id.
    Reply(Box<Reply>),
    /// What came of a tool call.
    ToolResult(Box<ToolResult>),
    /// A tool call is on its way.
    ToolProgress(Box<ToolProgress>),
    /// Output for a terminal.
    Terminal(Box<Terminal>),
    /// The agent asks its host.
    Request(Box<Request>),
    /// The agent answers its host.
    Response(Box<Response>),
    /// The agent takes a question back.
    Withdraw(Withdraw),
    /// The outcome of a slash or `@` command.
    Command(Box<CommandResult>),
    /// Suggestions while the user types.
    Hint(Box<HintResult>),
    /// A sign of life.
    Heartbeat(Heartbeat),
    /// The answer to a cancel.
    CancelResult(CancelResult),
    /// How the turn ended. At most one a turn; in [`turns`](crate::turns) exactly one.
    Outcome(Box<Outcome>),
    /// The program itself ends with an error.
    Fatal(Box<Fatal>),
    /// Text that is no JSON, as it stands.
    Noise(Box<str>),
    /// A line that is JSON, of no type that the dialect knows.
    Unknown(Json),
}

impl Event {
    /// Something that is said in no session yet.
    pub fn new(kind: Kind) -> Self {
        Self {
            origin: Origin::default(),
            kind,
            fields: Vec::new(),
        }
    }

    /// The same in that session.
    #[must_use]
    pub fn in_session(mut self, id: &str) -> Self {
        self.origin.session = Some(id.to_owned());
        self
    }

    /// What a decoder told of the agent.
    pub(crate) fn of_agent(event: &borrowed::Event<'_>) -> Self {
        Self {
            origin: Mirror::own(&event.origin),
            kind: Kind::own(&event.kind),
            fields: Mirror::own(&event.fields),
        }
    }

    /// What a decoder told of the host.
    pub(crate) fn of_host(input: &borrowed::Input<'_>) -> Self {
        Self {
            origin: Mirror::own(&input.origin),
            kind: Kind::Input(Box::new(Mirror::own(&input.kind))),
            fields: Mirror::own(&input.fields),
        }
    }
}
