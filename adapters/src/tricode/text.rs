//! Text for people, as the program writes it without `--stdio`: questions for permission, and in the end the answer, or the line that says why
//! there is none.

use super::ask;
use super::encode::Encoder;
use crate::codec::Layout;
use crate::event::{Block, Event, Kind};
use crate::json::{Out, Str};

impl Encoder {
    pub(super) fn is_text(&self) -> bool {
        self.style.mode.layout == Layout::Text
    }

    pub(super) fn text_event(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::RoundStart(_) => self.round_begins(),
            Kind::Reply(reply) => {
                for block in reply.blocks {
                    match block {
                        Block::Text { text, .. } => self.hold_text(*text, out),
                        Block::Call(_) => self.drop_text(out),
                        _ => {}
                    }
                }
            }
            Kind::RoundEnd(end) => self.round_end(end, out),
            Kind::ToolResult(_) => {
                self.own.answered();
                self.drop_text(out);
            }
            Kind::Request(request) => {
                if let Some(permission) = request.permission.filter(|_| self.asks) {
                    self.own.ask(permission.name, permission.input, ask::preview(event.fields), out);
                }
            }
            Kind::Outcome(outcome) => {
                self.own.close(out);
                self.outcome(event.origin, outcome, out);
            }
            Kind::Fatal(fatal) => {
                self.own.close(out);
                self.fatal(fatal, out);
            }
            _ => {}
        }
    }

    pub(super) fn answer(text: Str<'_>, out: &mut Out) {
        out.bytes(text.unescape().as_bytes());
        out.lit("\n");
    }
}
