//! The canonical model: what an agent says ([`Event`]) and what a host says ([`Input`]), whatever the dialect.
//!
//! A decoder turns each line into one event (rarely several); an encoder turns events into lines. Everything borrows
//! from the line it came from or from the arena of that line, so an event lives only while its line is handled.
//!
//! * Deltas and snapshots are different events. A source may give deltas ([`Kind::BlockStart`], [`Kind::Delta`],
//!   [`Kind::BlockStop`]), snapshots ([`Kind::Reply`]) or both. The assembler ([`crate::assemble`]) supplies what a
//!   target wants and the source lacks.
//! * What only one dialect knows rides in [`Event::fields`], named as on the wire; each dialect lists the names it knows
//!   (`known`), the rest is unknown but kept.
//! * Absent is absent: an `Option` that is `None` was not there.

mod content;
mod control;
mod field;
mod input;
mod ledger;
mod origin;
mod outcome;
mod picture;
mod reply;
mod session;
mod side;
mod spelling;
mod tool;
mod usage;

pub use content::{Block, Content, Media, Thinking};
pub use control::{ControlKind, Permission, Request, Response, Withdraw};
pub use field::{At, Field, Fields};
pub use input::{ChatRequest, HintRequest, Input, InputKind, InputOrigin, Side};
pub use ledger::{Entry, Fate, Finding};
pub(crate) use origin::iso;
pub use origin::{Agent, Origin, Time};
pub use outcome::{Fatal, Limit, Outcome, OutcomeKind, Place};
pub(crate) use picture::Picture;
pub use reply::{BlockHead, BlockStart, BlockStop, Delta, Piece, Reply, RoundEnd, RoundStart, RoundStop, Stop, StopKind};
pub use session::{Notice, Prompt, PromptSource, Session, Topic};
pub use side::{CancelResult, CommandResult, Heartbeat, HintResult, Terminal};
pub use spelling::Spelling;
pub use tool::{Detail, DetailShape, ResultStatus, ToolCall, ToolKind, ToolProgress, ToolResult};
pub(crate) use usage::Cost;
pub use usage::{Count, Counted, Provenance, Scope, Usage};

/// One thing that the agent says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Which session, turn and (sub)agent it belongs to, and when.
    pub origin: Origin<'a>,
    /// What is said.
    pub kind: Kind<'a>,
    /// Members of the line that have no place in the model: those the dialect names, and those nobody knows.
    pub fields: Fields<'a>,
}

impl<'a> Event<'a> {
    /// An event without fields of its own.
    pub const fn new(origin: Origin<'a>, kind: Kind<'a>) -> Self {
        Self { origin, kind, fields: &[] }
    }
}

/// What an agent can say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// The session's facts: Claude and Cursor `system/init`, the RFC's receipt, Tricode's `Session ID:` line.
    Session(&'a Session<'a>),
    /// Something about the session that is no part of the conversation: Claude `system/*`, `rate_limit_event` and the
    /// like, the RFC's `x-qwen-session-event`, Cursor's `connection`, `retry` and `interaction_query`, Tricode's `reminder`.
    Notice(&'a Notice<'a>),
    /// Text in the user's role that the agent shows: Cursor's echo of the prompt, Claude's replays and synthetic
    /// messages, a subagent's prompt.
    Prompt(&'a Prompt<'a>),
    /// A model call begins: Anthropic `message_start`, the role chunk of a round, Tricode's `round`.
    RoundStart(&'a RoundStart<'a>),
    /// A block begins (deltas).
    BlockStart(BlockStart<'a>),
    /// A piece of a block.
    Delta(Delta<'a>),
    /// A block is complete (deltas).
    BlockStop(BlockStop),
    /// Why the reply stopped and what it cost: Anthropic `message_delta`.
    RoundStop(&'a RoundStop<'a>),
    /// A model call is over: Anthropic `message_stop`, a chunk with a `finish_reason`.
    RoundEnd(&'a RoundEnd<'a>),
    /// Whole blocks of a reply (a snapshot).
    Reply(&'a Reply<'a>),
    /// The result of a tool call.
    ToolResult(&'a ToolResult<'a>),
    /// A tool call is on its way: `tool_progress`, an `x-qwen-tool-display` that is not final, Cursor's `tool_call/progress`.
    ToolProgress(&'a ToolProgress<'a>),
    /// Output for a terminal: the RFC's `x-qwen-terminal` and `x-qwen-ansi`.
    Terminal(&'a Terminal<'a>),
    /// The agent asks its host: `control_request` on stdout.
    Request(&'a Request<'a>),
    /// The agent answers its host: `control_response` on stdout.
    Response(&'a Response<'a>),
    /// The agent takes a question back: `control_cancel_request`.
    Withdraw(Withdraw<'a>),
    /// The outcome of a slash or `@` command: the RFC's `result/command`.
    Command(&'a CommandResult<'a>),
    /// Suggestions while the user types: the RFC's `result/command_hint`.
    Hint(&'a HintResult<'a>),
    /// A sign of life: the RFC's `result/heartbeat`.
    Heartbeat(Heartbeat<'a>),
    /// The answer to a cancel: the RFC's `result/cancel`.
    CancelResult(CancelResult<'a>),
    /// How the turn ended. Exactly one a turn.
    Outcome(&'a Outcome<'a>),
    /// The program itself ends with an error: the RFC's bare error object, Tricode's plain error lines.
    Fatal(&'a Fatal<'a>),
    /// Text that is no JSON: log lines, prompts for a terminal. Holds the text as it stands.
    Noise(&'a str),
    /// A line that is JSON but of no type that the dialect knows. Holds the line.
    Unknown(crate::json::Raw<'a>),
}

impl Kind<'_> {
    /// Whether it is a part of what user and model say to each other, of which several lines say the same: deltas, snapshots, outcomes.
    #[inline]
    pub const fn is_conversation(&self) -> bool {
        match self {
            Self::Session(_) | Self::Prompt(_) | Self::ToolResult(_) | Self::Outcome(_) | Self::Reply(_) => true,
            Self::RoundStart(_) | Self::BlockStart(_) | Self::Delta(_) | Self::BlockStop(_) | Self::RoundStop(_) | Self::RoundEnd(_) => true,
            Self::Notice(_) | Self::ToolProgress(_) | Self::Terminal(_) | Self::Request(_) | Self::Response(_) | Self::Withdraw(_) => false,
            Self::Command(_) | Self::Hint(_) | Self::Heartbeat(_) | Self::CancelResult(_) | Self::Fatal(_) => false,
            Self::Noise(_) | Self::Unknown(_) => false,
        }
    }

    /// Whether it may stand before a session's first line as well as within a turn. Where it names another session than the turn that is
    /// going on, what follows tells whether that goes on under another id; the turn has its own until then.
    #[inline]
    pub const fn may_precede_session(&self) -> bool {
        matches!(self, Self::Notice(notice) if matches!(notice.topic, Topic::Hook | Topic::Status | Topic::Other))
    }
}

/// Takes what a decoder finds.
pub trait Sink<'a> {
    /// The agent said something.
    fn event(&mut self, event: &Event<'a>);
    /// The host said something (logs of the host's side).
    fn input(&mut self, input: &Input<'a>);
    /// One more piece of the block that the last delta was a piece of, on a line whose other members are as in its line. False if
    /// it was not taken; then it comes as an event.
    #[inline]
    fn more(&mut self, piece: Piece<'a>) -> bool {
        let _ = piece;
        false
    }
    /// Whether a notice on this topic, which says nothing about when, may be left out, for nobody would do anything with it. It
    /// counts as told then.
    #[inline]
    fn passes_over(&mut self, topic: Topic, session: Option<crate::json::Str<'a>>) -> bool {
        let _ = (topic, session);
        false
    }
    /// Whether anybody looks at the [`Event::fields`] of what is said within a turn: rounds, replies and their pieces, results.
    #[inline]
    fn takes_fields(&self) -> bool {
        true
    }
    /// Whether anybody looks at the tokens of rounds and replies.
    #[inline]
    fn takes_usage(&self) -> bool {
        true
    }
    /// The line is the dialect's alone, whatever it says: none in another dialect begins with it.
    #[inline]
    fn own(&mut self) {}
    /// A program answers its host for the first time, before its session says anything: what follows is said by this program, in the
    /// session `session` or as the process `process`, if it tells. Nothing of the log's own.
    fn program(&mut self, session: Option<crate::json::Str<'a>>, process: Option<crate::json::Raw<'a>>) {
        let _ = (session, process);
    }
    /// Whether the line is set aside, if it has `others`: it is of another session than the one of which a turn is going on, on a connection that
    /// serves several at the same time. Then nothing of it is told now; it comes again when that turn is over.
    #[inline]
    fn sets_aside(&mut self, others: &mut dyn FnMut() -> Option<Others>) -> bool {
        let _ = others;
        false
    }
    /// How the line was spelled that the next lines were stored of. Nothing of the log's own.
    fn spelled(&mut self, spelling: &Spelling<'a>) {
        let _ = spelling;
    }
    /// What follows was first said in this dialect, or kept in this store of its: events that were stored name their source, and `at` which byte
    /// of their log their session began, if they tell. Nothing of the log's own.
    fn source(&mut self, format: crate::codec::Format, at: Option<u64>) {
        let _ = (format, at);
    }
}

/// The session that a line is of which is not of the one that is listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Others {
    /// Its id as it is spelled.
    pub session: String,
    /// The session that may have begun it, of which it is a part then.
    pub parent: Option<String>,
}

impl Others {
    /// A line of this session and of no other's.
    pub(crate) fn of(session: &str) -> Self {
        let session = session.to_owned();
        Self { session, parent: None }
    }
}
