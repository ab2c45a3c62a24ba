//! Text for people: each text of the reply on lines of its own, and thoughts where they are asked for.

use super::encode::Encoder;
use crate::answer::used_in;
use crate::codec::Layout;
use crate::event::{Block, Event, Kind, Outcome};
use crate::json::{Out, Str};

impl Encoder {
    pub(super) fn plain(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Reply(reply) => {
                for block in reply.blocks {
                    match block {
                        Block::Text { text, .. } => self.print("", *text, out),
                        Block::Thinking(thinking) if !self.style.hides_thoughts => self.print("Thinking: ", thinking.text, out),
                        _ => {}
                    }
                }
            }
            Kind::Outcome(outcome) => self.plain_answer(outcome, out),
            _ => {}
        }
    }

    /// What the program said where the model said nothing.
    fn plain_answer(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        let said = std::mem::take(&mut self.printed);
        if let Some(text) = outcome.text.filter(|_| !said && !outcome.is_error) {
            self.print("", text, out);
            self.printed = false;
        }
    }

    fn print(&mut self, before: &str, text: Str<'_>, out: &mut Out) {
        let plain = text.unescape();
        let plain = plain.trim();
        if !plain.is_empty() {
            self.printed |= before.is_empty();
            out.lit(before);
            out.lit(plain);
            out.lit("\n");
        }
        used_in(Layout::Text, text, out);
    }
}
