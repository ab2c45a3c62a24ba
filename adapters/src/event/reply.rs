use super::{Block, Usage};
use crate::json::{Raw, Str};

/// A model call begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundStart<'a> {
    /// The reply's id: Anthropic `message.id`, Cursor's `model_call_id`.
    pub id: Option<Str<'a>>,
    /// The model that answers.
    pub model: Option<Str<'a>>,
    /// Usage known at the start (Anthropic: input and cache are final, output is a start value).
    pub usage: Option<Usage<'a>>,
    /// The number of the round within its turn: Tricode's `round`.
    pub number: Option<u64>,
}

/// A block begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockStart<'a> {
    /// Which block of the round: later deltas name it. Unique among the blocks that are open in the same thread.
    pub index: u32,
    /// What kind of block.
    pub head: BlockHead<'a>,
}

/// The kind of a block that is about to come in pieces, with what is known at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockHead<'a> {
    /// Text.
    Text,
    /// Thinking.
    Thinking,
    /// Redacted thinking, whole.
    Redacted {
        /// The opaque text.
        data: Str<'a>,
    },
    /// A tool call.
    Call {
        /// Its id; empty when the source has not said it yet.
        id: Str<'a>,
        /// The tool's name; empty when the source has not said it yet.
        name: Str<'a>,
    },
    /// Another kind, as written.
    Other {
        /// Its `type`.
        kind: Str<'a>,
        /// The whole block as it stood at its start.
        raw: Raw<'a>,
    },
}

/// A piece of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delta<'a> {
    /// Which block.
    pub index: u32,
    /// The piece.
    pub piece: Piece<'a>,
}

/// What a piece adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'a> {
    /// Text.
    Text(Str<'a>),
    /// Thinking.
    Thinking(Str<'a>),
    /// The thought's signature (Anthropic `signature_delta`).
    Signature(Str<'a>),
    /// The thought's headline (the RFC's `subject`).
    Subject(Str<'a>),
    /// A piece of the JSON text of a tool call's arguments. The pieces of a call, unescaped and put together, are JSON.
    Input(Str<'a>),
    /// Another kind of delta (`citations_delta`, `compaction_delta`), as written.
    Other(Raw<'a>),
}

/// A block is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStop {
    /// Which block.
    pub index: u32,
}

/// Why a reply stopped and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundStop<'a> {
    /// The reply's id, where only something behind the round's beginning says it.
    pub id: Option<Str<'a>>,
    /// Why, if it is known.
    pub stop: Option<Stop<'a>>,
    /// The round's usage; per number the last value said wins.
    pub usage: Option<Usage<'a>>,
}

/// A model call is over. From the assembler it carries what [`RoundStop`] said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundEnd<'a> {
    /// Why, if it is known.
    pub stop: Option<Stop<'a>>,
    /// The round's usage, if it is known.
    pub usage: Option<Usage<'a>>,
    /// The reply was given up: blocks from this index on are retracted (Claude's `abandoned_blocks.from_block_index`), and
    /// the same reply may come again under another id.
    pub abandoned_from: Option<u32>,
}

impl RoundEnd<'_> {
    /// The end of a round of which nothing more is known.
    pub const PLAIN: Self = Self {
        stop: None,
        usage: None,
        abandoned_from: None,
    };
}

/// Why a reply stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop<'a> {
    /// What it means.
    pub kind: StopKind,
    /// The word on the wire.
    pub word: Str<'a>,
}

/// What a stop reason means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// The model was done: `end_turn`, `stop`.
    Done,
    /// It called tools: `tool_use`, `tool_calls`.
    Tools,
    /// It reached a length limit: `max_tokens`, `length`, `model_context_window_exceeded`.
    Length,
    /// It refused, or a filter did: `refusal`, `content_filter`.
    Refusal,
    /// A stop sequence came: `stop_sequence`.
    Sequence,
    /// It paused a long turn, or to make the conversation shorter: `pause_turn`, `compaction`.
    Pause,
    /// It failed: the RFC's `error`.
    Error,
    /// A word that nobody here knows.
    Other,
}

impl<'a> Stop<'a> {
    /// Reads the word of any dialect.
    pub fn read(word: Str<'a>) -> Self {
        let kind = match word.as_escaped() {
            "end_turn" | "stop" => StopKind::Done,
            "tool_use" | "tool_calls" | "tool-calls" | "function_call" => StopKind::Tools,
            "max_tokens" | "length" | "model_context_window_exceeded" => StopKind::Length,
            "refusal" | "content_filter" | "content-filter" => StopKind::Refusal,
            "stop_sequence" => StopKind::Sequence,
            "pause_turn" | "compaction" => StopKind::Pause,
            "error" => StopKind::Error,
            _ => StopKind::Other,
        };
        Self { kind, word }
    }
}

/// Whole blocks of one reply: Claude's and Qwen Code's `assistant` line, an RFC `chat.completion`, Cursor's `assistant`
/// segment and `tool_call/started`, Tricode's `tool_call` and `final`. A reply may come in several of these, with one id.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reply<'a> {
    /// The reply's id, if the source has one.
    pub id: Option<Str<'a>>,
    /// The model that answered. Claude writes `<synthetic>` for what the program itself says.
    pub model: Option<Str<'a>>,
    /// The blocks.
    pub blocks: &'a [Block<'a>],
    /// Why the reply stopped, if this line says so.
    pub stop: Option<Stop<'a>>,
    /// The round's usage as far as this line knows it.
    pub usage: Option<Usage<'a>>,
    /// The reply is an error message, not the model's words: Claude's `error` (an `SDKAssistantMessageError` word).
    pub error: Option<Str<'a>>,
    /// Whether the source promises that the round is over with this line (an RFC `chat.completion`).
    pub last: bool,
}
