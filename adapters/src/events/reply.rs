//! Replies of the model: rounds, blocks and their pieces.

use bumpalo::Bump;

use super::mirror::{Mirror, owned, owned_enum};
use super::{Field, Json, StopKind, ToolKind, Usage};

/// A model call begins.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RoundStart {
    /// The reply's id.
    pub id: Option<String>,
    /// The model that answers.
    pub model: Option<String>,
    /// Usage known at the start.
    pub usage: Option<Usage>,
    /// The number of the round within its turn, where the source counts them.
    pub number: Option<u64>,
}

impl Mirror for RoundStart {
    type Borrowed<'a> = crate::event::RoundStart<'a>;

    fn own(borrowed: &crate::event::RoundStart<'_>) -> Self {
        Self {
            id: Mirror::own(&borrowed.id),
            model: Mirror::own(&borrowed.model),
            usage: Mirror::own(&borrowed.usage),
            number: borrowed.number,
        }
    }

    fn borrow<'a>(&'a self, arena: &'a Bump) -> crate::event::RoundStart<'a> {
        crate::event::RoundStart {
            id: self.id.borrow(arena),
            model: self.model.borrow(arena),
            usage: self.usage.borrow(arena),
            number: self.number,
        }
    }
}

owned! {
    /// A block begins.
    #[derive(Clone, Debug, PartialEq)]
    struct BlockStart = BlockStart {
        /// Which block of the round: later deltas name it. Unique among the blocks that are open in the same thread.
        index: u32,
        /// What kind of block.
        head: BlockHead,
    }

    /// A piece of a block.
    #[derive(Clone, Debug, PartialEq)]
    struct Delta = Delta {
        /// Which block.
        index: u32,
        /// The piece.
        piece: Piece,
    }

    /// Why a reply stopped and what it cost.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct RoundStop = RoundStop {
        /// The reply's id, where only something behind the round's beginning says it.
        id: Option<String>,
        /// Why, if it is known.
        stop: Option<Stop>,
        /// The round's usage; per number the last value said wins.
        usage: Option<Usage>,
    }

    /// A model call is over.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct RoundEnd = RoundEnd {
        /// Why, if it is known.
        stop: Option<Stop>,
        /// The round's usage, if it is known.
        usage: Option<Usage>,
        /// The reply was given up: blocks from this index on are taken back.
        abandoned_from: Option<u32>,
    }

    /// Why a reply stopped.
    #[derive(Clone, Debug, PartialEq)]
    struct Stop = Stop {
        /// What it means.
        kind: StopKind,
        /// The word on the wire.
        word: String,
    }

    /// Whole blocks of one reply. A reply may come in several of these, with one id.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Reply = Reply {
        /// The reply's id, if the source has one.
        id: Option<String>,
        /// The model that answered.
        model: Option<String>,
        /// The blocks.
        blocks: Vec<Block>,
        /// Why the reply stopped, if this line says so.
        stop: Option<Stop>,
        /// The round's usage as far as this line knows it.
        usage: Option<Usage>,
        /// The reply is an error message, not the model's words.
        error: Option<String>,
        /// Whether the round is over with this line.
        last: bool,
    }

    /// The model calls a tool.
    #[derive(Clone, Debug, PartialEq)]
    struct ToolCall = ToolCall {
        /// The call's id.
        id: String,
        /// The tool's name in the source dialect.
        name: String,
        /// What the tool does, if it is known.
        kind: ToolKind,
        /// The arguments: an object as a rule.
        input: Json,
        /// Other members of the call.
        fields: Vec<Field>,
    }

    /// A thought.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Thinking = Thinking {
        /// The thought, or its summary.
        text: String,
        /// The vendor's seal.
        signature: Option<String>,
        /// A headline.
        subject: Option<String>,
        /// Other members of the block.
        fields: Vec<Field>,
    }

    /// An image, a document or a file.
    #[derive(Clone, Debug, PartialEq)]
    struct Media = Media {
        /// Its `type` on the wire.
        kind: String,
        /// The whole block.
        raw: Json,
    }
}

owned_enum! {
    /// The kind of a block that is about to come in pieces.
    #[derive(Clone, Debug, PartialEq)]
    enum BlockHead = BlockHead {
        /// Text.
        Text,
        /// Thinking.
        Thinking,
        /// Redacted thinking, whole.
        Redacted {
            /// The opaque text.
            data: String,
        },
        /// A tool call.
        Call {
            /// Its id; empty when the source has not said it yet.
            id: String,
            /// The tool's name; empty when the source has not said it yet.
            name: String,
        },
        /// Another kind.
        Other {
            /// Its `type`.
            kind: String,
            /// The whole block as it stood at its start.
            raw: Json,
        },
    }

    /// What a piece adds.
    #[derive(Clone, Debug, PartialEq)]
    enum Piece = Piece {
        /// Text.
        Text(String),
        /// Thinking.
        Thinking(String),
        /// The thought's signature.
        Signature(String),
        /// The thought's headline.
        Subject(String),
        /// A piece of the JSON text of a tool call's arguments.
        Input(String),
        /// Another kind of delta.
        Other(Json),
    }

    /// Content that is either one text or a list of blocks.
    #[derive(Clone, Debug, PartialEq)]
    enum Content = Content {
        /// One text.
        Text(String),
        /// Blocks in order.
        Blocks(Vec<Block>),
    }

    /// One whole piece of a message.
    #[derive(Clone, Debug, PartialEq)]
    enum Block = Block {
        /// Text that the user sees.
        Text {
            /// The text.
            text: String,
            /// Other members of the block.
            fields: Vec<Field>,
        },
        /// What the model thought.
        Thinking(Thinking),
        /// Thought that only the model's vendor can read.
        Redacted {
            /// The opaque text.
            data: String,
            /// Other members of the block.
            fields: Vec<Field>,
        },
        /// The model calls a tool.
        Call(ToolCall),
        /// An image or a document.
        Media(Media),
        /// A kind of block that has no meaning here.
        Other {
            /// Its `type`; empty when it has none.
            kind: String,
            /// The whole block.
            raw: Json,
        },
    }
}

impl Reply {
    /// A reply of these blocks.
    pub fn new(blocks: Vec<Block>) -> Self {
        Self { blocks, ..Self::default() }
    }
}

impl Block {
    /// Text.
    pub fn text(text: &str) -> Self {
        Self::Text {
            text: text.to_owned(),
            fields: Vec::new(),
        }
    }
}

impl ToolCall {
    /// A call of the tool with that name.
    pub fn new(id: &str, name: &str, input: Json) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            kind: ToolKind::Other,
            input,
            fields: Vec::new(),
        }
    }
}

impl Content {
    /// Its texts, one after the other; other blocks are left out.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text { text, .. } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect()
            }
        }
    }
}
