//! Tells a story in each dialect, as its real program would. Written for tests alone, without the library.

mod acp;
mod ag_ui;
mod claude;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod qwen;
mod tricode;

use super::Chance;
use super::story::{Room, Story};

/// How a story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    Claude,
    ClaudePartial,
    QwenCode,
    QwenCodePartial,
    Qwen,
    QwenChunks,
    Cursor,
    CursorPartial,
    Gemini,
    Tricode,
    Codex,
    Acp,
    AgUi,
    AgUiChunks,
    Opencode,
}

impl Telling {
    pub const ALL: [Self; 15] = [
        Self::Claude,
        Self::ClaudePartial,
        Self::QwenCode,
        Self::QwenCodePartial,
        Self::Qwen,
        Self::QwenChunks,
        Self::Cursor,
        Self::CursorPartial,
        Self::Gemini,
        Self::Tricode,
        Self::Codex,
        Self::Acp,
        Self::AgUi,
        Self::AgUiChunks,
        Self::Opencode,
    ];

    /// The format's name.
    pub const fn format(self) -> &'static str {
        match self {
            Self::Claude | Self::ClaudePartial => "claude",
            Self::QwenCode | Self::QwenCodePartial => "qwen-code",
            Self::Qwen => "qwen",
            Self::QwenChunks => "qwen:stream-chunk-json",
            Self::Cursor | Self::CursorPartial => "cursor",
            Self::Gemini => "gemini",
            Self::Tricode => "tricode",
            Self::Codex => "codex",
            Self::Acp => "acp",
            Self::AgUi | Self::AgUiChunks => "ag-ui",
            Self::Opencode => "opencode",
        }
    }

    /// What its log can hold.
    pub const fn room(self) -> Room {
        let all = Room {
            thoughts: true,
            text_with_calls: true,
            call_ids: true,
            results: true,
            failures: true,
            pairs: false,
        };
        match self {
            Self::Cursor | Self::CursorPartial => Room {
                results: false,
                failures: false,
                ..all
            },
            Self::Gemini => Room { thoughts: false, ..all },
            Self::Tricode => Room {
                thoughts: false,
                text_with_calls: false,
                call_ids: false,
                pairs: true,
                ..all
            },
            Self::Codex => Room { call_ids: false, ..all },
            Self::Opencode => Room { pairs: true, ..all },
            _ => all,
        }
    }

    /// The story as a log; chance cuts the pieces.
    pub fn tell(self, story: &Story, chance: &mut Chance) -> String {
        match self {
            Self::Claude | Self::QwenCode => claude::shaped(story, self == Self::QwenCode, None),
            Self::ClaudePartial | Self::QwenCodePartial => claude::shaped(story, self == Self::QwenCodePartial, Some(chance)),
            Self::Qwen => qwen::completions(story),
            Self::QwenChunks => qwen::chunks(story, chance),
            Self::Cursor => cursor::cursor(story, None),
            Self::CursorPartial => cursor::cursor(story, Some(chance)),
            Self::Gemini => gemini::gemini(story, chance),
            Self::Tricode => tricode::tricode(story),
            Self::Codex => codex::codex(story),
            Self::Acp => acp::acp(story, chance),
            Self::AgUi | Self::AgUiChunks => ag_ui::ag_ui(story, self == Self::AgUiChunks, chance),
            Self::Opencode => opencode::opencode(story),
        }
    }
}

/// What a log that goes from one dialect to another can still say. An end that the source has no line for is made up.
pub fn common(a: Room, b: Room) -> Room {
    Room {
        thoughts: a.thoughts && b.thoughts,
        text_with_calls: a.text_with_calls && b.text_with_calls,
        call_ids: a.call_ids && b.call_ids,
        results: a.results && b.results,
        failures: b.failures,
        pairs: a.pairs || b.pairs,
    }
}
