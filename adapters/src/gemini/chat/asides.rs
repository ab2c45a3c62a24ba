//! What the program tells people: what went wrong, and what ended a turn.

use super::encode::Encoder;
use crate::event::{Block, Event, Origin, Outcome, OutcomeKind, Place, Reply};
use crate::gemini::ends::telling;
use crate::json::{Out, Str};
use crate::store::known_time;

impl Encoder {
    /// What the program says of a model call that failed.
    pub(super) fn error(&mut self, event: &Event<'_>, reply: &Reply<'_>, error: Str<'_>, out: &mut Out) {
        self.flush(out);
        let id = self.kept.line_id(event.origin.id, "/id", out);
        let time = known_time(event.origin.time, out);
        self.head(&id, time, "error", out);
        out.lit("\"");
        let mut told = String::new();
        for block in reply.blocks {
            if let Block::Text { text, .. } = block {
                out.body(*text);
                told.push_str(text.as_escaped());
            }
        }
        if told.is_empty() {
            out.body(error);
            told.push_str(error.as_escaped());
        }
        out.lit("\"}\n");
        self.failed = Some(told);
    }

    /// How the turn ended, if it was not well. A log that ends before is one here, too.
    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        self.flush(out);
        let told = self.failed.take();
        let is_cut = outcome.synthetic && outcome.kind == OutcomeKind::Failed(Place::Protocol);
        if !outcome.is_error || event.origin.parent.is_some() || is_cut {
            return;
        }
        let words = telling(outcome.kind);
        let text = match words {
            // The answer was said.
            Some(_) => outcome.error,
            None => outcome.error.or(outcome.text),
        };
        match (text.filter(|text| !text.is_empty()), &told) {
            (Some(text), Some(told)) if told.contains(text.as_escaped()) => out.used(text.as_escaped()),
            // It went wrong once.
            (_, Some(_)) => {}
            (Some(text), None) if words.is_some() => self.aside(&event.origin, "error", text, out),
            (text, None) if words.is_none() => {
                let read = |message: &str| OutcomeKind::named(message).unwrap_or(OutcomeKind::Failed(Place::Model));
                let message = outcome.kind.message(text, outcome.kind.prefix(), read, "/content", out);
                self.aside(&event.origin, "error", Str::trusted(&message), out);
            }
            (_, None) => {}
        }
        if let Some(words) = words {
            self.aside(&event.origin, "info", Str::trusted(words), out);
        }
        out.carried();
    }

    /// What went wrong.
    pub(super) fn failure(&mut self, event: &Event<'_>, text: Str<'_>, out: &mut Out) {
        self.flush(out);
        self.failed = Some(text.as_escaped().to_owned());
        self.aside(&event.origin, "error", text, out);
    }

    /// What the program tells people.
    pub(super) fn aside(&mut self, origin: &Origin<'_>, kind: &str, text: Str<'_>, out: &mut Out) {
        let id = self.kept.line_id(origin.id, "/id", out);
        let time = known_time(origin.time, out);
        self.head(&id, time, kind, out);
        out.str(text);
        out.lit("}\n");
    }
}
