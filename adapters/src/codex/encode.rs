//! Events to Codex's lines: who writes what.

use super::turn::{Call, Turn};
use crate::codec::{Dialect, Encode, Layout, Style, Want};
use crate::event::{Counted, Event, Input, Topic, Usage};
use crate::json::{Out, Str};
use crate::trace::Kept;
use crate::waiting::Waiting;

/// Writes it.
///
/// Lines that were read in this dialect go back as they were (`own`). Everything else becomes processes of one turn each (`turn`).
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    /// The session's id, escaped; empty until it is known or made up.
    pub(super) thread: String,
    /// Where the source says it, until it is said here.
    pub(super) named: Kept,
    pub(super) turn: Turn,
    /// Calls of the turn before that have no results: the host may have run them.
    pub(super) late: Waiting<Call>,
    /// The working folder of an agent of ours, as the body of a JSON string.
    pub(super) cwd: String,
    /// The usage of all turns so far.
    pub(super) total: Option<Usage<'static>>,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            thread: String::new(),
            named: Kept::default(),
            turn: Turn::default(),
            late: Waiting::default(),
            cwd: String::new(),
            total: None,
        }
    }
}

impl Encode for Encoder {
    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS.without_models()
    }

    fn takes_fields(&self) -> bool {
        self.style.is_own(Dialect::Codex)
    }

    fn sums_usage(&self) -> bool {
        true
    }

    fn round_tokens(&mut self, tokens: Kept) {
        self.turn.tokens.append(tokens);
    }

    fn passes_over(&self, topic: Topic, _: Option<Str<'_>>) -> bool {
        !self.style.is_own(Dialect::Codex) && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if let Some(id) = event.origin.session.filter(|id| !id.is_empty() && id.as_escaped() != self.thread) {
            id.as_escaped().clone_into(&mut self.thread);
        }
        if self.style.mode.layout == Layout::Text {
            return self.text(event, out);
        }
        match self.style.is_own(Dialect::Codex) {
            true => self.own(event, out),
            false => self.foreign(event, out),
        }
    }

    // The prompt stands on the command line.
    fn input(&mut self, _: &Input<'_>, _: &mut Out) {}

    fn finish(&mut self, out: &mut Out) {
        self.release(out);
        out.drop_held(&mut self.named, "a thread is named when a turn begins, and none has begun");
    }
}
