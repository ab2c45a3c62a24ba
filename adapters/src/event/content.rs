use super::{Fields, ToolCall};
use crate::json::{Raw, Str};

/// Content that is either one text or a list of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content<'a> {
    /// One text.
    Text(Str<'a>),
    /// Blocks in order.
    Blocks(&'a [Block<'a>]),
}

/// One whole piece of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Block<'a> {
    /// Text that the user sees.
    Text {
        /// The text.
        text: Str<'a>,
        /// Other members of the block (`citations`, `annotations`).
        fields: Fields<'a>,
    },
    /// What the model thought.
    Thinking(Thinking<'a>),
    /// Thought that only the model's vendor can read: Anthropic `redacted_thinking`.
    Redacted {
        /// The opaque text; must go back byte for byte.
        data: Str<'a>,
        /// Other members of the block.
        fields: Fields<'a>,
    },
    /// The model calls a tool.
    Call(ToolCall<'a>),
    /// An image or a document.
    Media(Media<'a>),
    /// A kind of block that has no meaning here (server tools, search results …), as written.
    Other {
        /// Its `type`; empty when it has none.
        kind: Str<'a>,
        /// The whole block.
        raw: Raw<'a>,
    },
}

/// A thought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thinking<'a> {
    /// The thought, or its summary. May be empty when only the signature is given.
    pub text: Str<'a>,
    /// Claude: the vendor's seal, which must go back byte for byte. Qwen Code writes the thought's *subject* here; its
    /// decoder puts that in `subject`.
    pub signature: Option<Str<'a>>,
    /// A headline: the RFC's `x-qwen-thought.subject`, Qwen Code's `signature`.
    pub subject: Option<Str<'a>>,
    /// Other members of the block.
    pub fields: Fields<'a>,
}

/// An image, a document or a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Media<'a> {
    /// Its `type` on the wire (`image`, `document`, `file_data` …).
    pub kind: Str<'a>,
    /// The whole block as written.
    pub raw: Raw<'a>,
}

impl<'a> Block<'a> {
    /// A block as it was written, of which nothing is known but its kind: it may show something.
    pub(crate) fn as_written(kind: Str<'a>, raw: Raw<'a>) -> Self {
        let media = Media { kind, raw };
        if media.picture().is_some() {
            return Self::Media(media);
        }
        Self::Other { kind, raw }
    }
}

impl<'a> Content<'a> {
    /// The texts of the content one after the other, without anything between them; other blocks are left out.
    pub fn texts(self) -> impl Iterator<Item = Str<'a>> {
        let (one, blocks) = match self {
            Self::Text(text) => (Some(text), &[][..]),
            Self::Blocks(blocks) => (None, blocks),
        };
        one.into_iter().chain(blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(*text),
            _ => None,
        }))
    }

    /// The same for a target that has one text: each begins a line of its own.
    pub fn as_one(self) -> impl Iterator<Item = Str<'a>> {
        let mut before: Option<Str<'a>> = None;
        self.texts().flat_map(move |text| {
            let breaks = |before: Str<'_>| before.as_escaped().ends_with("\\n") || text.as_escaped().starts_with("\\n");
            let apart = !text.is_empty() && before.replace(text).is_some_and(|before| !breaks(before));
            apart.then_some(Str::trusted("\\n")).into_iter().chain([text])
        })
    }

    /// Whether there is any block that is not text.
    pub fn has_other_than_text(self) -> bool {
        matches!(self, Self::Blocks(blocks) if blocks.iter().any(|b| !matches!(b, Block::Text { .. })))
    }
}
