//! What the program tells people: what went wrong, and what ended a turn.

use super::encode::Encoder;
use crate::event::{Block, Event, Outcome, OutcomeKind, Place, Reply};
use crate::gemini::ends::telling;
use crate::json::{Out, Str};
use crate::store::known_time;

impl Encoder {
    /// What the program says of a model call that failed.
    pub(super) fn error(&mut self, event: &Event<'_>, reply: &Reply<'_>, error: Str<'_>, out: &mut Out) {
        self.flush(out);
        self.failed = true;
        let id = self.kept.line_id(event.origin.id, "/id", out);
        let time = known_time(event.origin.time, out);
        self.head(&id, time, "error", out);
        out.lit("\"");
        let mut any = false;
        for block in reply.blocks {
            if let Block::Text { text, .. } = block {
                out.body(*text);
                any = true;
            }
        }
        if !any {
            out.body(error);
        }
        out.lit("\"}\n");
    }

    /// How the turn ended, if it was not well. A log that ends before is one here, too.
    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        self.flush(out);
        let has_failed = std::mem::take(&mut self.failed);
        if !outcome.is_error || event.origin.parent.is_some() || outcome.kind == OutcomeKind::Failed(Place::Protocol) {
            return;
        }
        let words = telling(outcome.kind);
        let text = match words {
            // The answer was said.
            Some(_) => outcome.error,
            None => outcome.error.or(outcome.text),
        };
        match text.filter(|text| !text.is_empty()) {
            Some(text) if has_failed => out.used(text.as_escaped()),
            Some(text) => self.failure(event, text, out),
            None if words.is_none() && !has_failed => self.failure(event, Str::trusted(outcome.kind.as_str()), out),
            None => {}
        }
        self.failed = false;
        if let Some(words) = words {
            self.aside(event, "info", Str::trusted(words), out);
        }
        out.carried();
    }

    /// What went wrong.
    pub(super) fn failure(&mut self, event: &Event<'_>, text: Str<'_>, out: &mut Out) {
        self.flush(out);
        self.failed = true;
        self.aside(event, "error", text, out);
    }

    /// What the program tells people.
    fn aside(&mut self, event: &Event<'_>, kind: &str, text: Str<'_>, out: &mut Out) {
        let id = self.kept.line_id(event.origin.id, "/id", out);
        let time = known_time(event.origin.time, out);
        self.head(&id, time, kind, out);
        out.str(text);
        out.lit("}\n");
    }
}
