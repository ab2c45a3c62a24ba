//! The model's last words in a turn. Not every outcome says them.

use crate::adapters::raw::event::{Block, Event, Kind, Piece};

/// The last text that was said.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    text: Option<String>,
    /// It is not over: the next piece belongs to it.
    open: bool,
}

impl Spoken {
    /// The agent said something.
    pub(super) fn hear(&mut self, event: &Event<'_>) {
        if event.origin.parent.is_some() {
            return;
        }
        match event.kind {
            Kind::Delta(delta) => {
                let Piece::Text(text) = delta.piece else { return };
                let said = self.text.get_or_insert_default();
                if !self.open {
                    said.clear();
                }
                said.push_str(&text.unescape());
                self.open = true;
            }
            Kind::Reply(reply) => {
                let texts = reply.blocks.iter().filter_map(|block| match block {
                    Block::Text { text, .. } => Some(text.unescape()),
                    _ => None,
                });
                let texts: Vec<_> = texts.collect();
                // Of what came in pieces this is the whole.
                if !texts.is_empty() {
                    self.text = Some(texts.join("\n"));
                }
                self.open = false;
            }
            Kind::RoundStart(_) | Kind::BlockStart(_) | Kind::ToolResult(_) => self.open = false,
            _ => {}
        }
    }

    /// What was said last so far.
    pub(super) fn last(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The turn is over: its last words.
    pub(super) fn take(&mut self) -> Option<String> {
        self.open = false;
        self.text.take()
    }
}
