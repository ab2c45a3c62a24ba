//! Replies whose tokens are said behind them, by the line that ends their round: their lines are held until then, for each says them.

use crate::blocks::UsagePlace;
use crate::codec::{Layout, Style};
use crate::event::{Event, Kind, Usage};
use crate::json::Out;

use super::encode::Encoder;

/// What stands before the tokens in an `assistant` line, behind its block.
pub(super) const FOOT: &str = "],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":";

/// So much is held.
const MOST: usize = 1 << 20;

/// Lines that are held.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// The source says tokens so, and nobody waits for each line.
    waits: bool,
    lines: Vec<u8>,
    /// Where the tokens go, in what is held.
    places: Vec<usize>,
    /// The same in what is being written.
    here: Vec<usize>,
}

impl Behind {
    pub(super) fn new(style: &Style, own: bool) -> Self {
        let waits = style.source_mode.tokens_behind && !own && !style.partial && matches!(style.mode.layout, Layout::Lines | Layout::Store);
        Self { waits, ..Self::default() }
    }

    /// Nobody is kept waiting in a session that lives.
    pub(super) const fn lives(&mut self) {
        self.waits = false;
    }

    pub(super) const fn waits(&self) -> bool {
        self.waits
    }

    /// The tokens of the line that is being written go here.
    pub(super) fn place(&mut self, at: usize) {
        self.here.push(at);
    }

    /// Before an event is written: what no tokens of this round follow is told without them. `write` writes tokens.
    pub(super) fn before(&mut self, event: &Event<'_>, out: &mut Out, write: impl FnMut(Option<&Usage<'_>>, &mut Out)) {
        if self.lines.is_empty() {
            return;
        }
        let ends = matches!(
            event.kind,
            Kind::Prompt(_) | Kind::Session(_) | Kind::RoundStart(_) | Kind::Outcome(_) | Kind::Fatal(_)
        );
        if ends || self.lines.len() > MOST {
            self.tell(None, out, write);
        }
    }

    /// An event was written, behind `from`: holds it, or tells with what tokens all that is held was said.
    pub(super) fn after(&mut self, event: &Event<'_>, from: usize, out: &mut Out, write: impl FnMut(Option<&Usage<'_>>, &mut Out)) {
        if self.lines.is_empty() && self.here.is_empty() {
            return;
        }
        let before = self.lines.len();
        self.places.extend(self.here.drain(..).map(|at| before + at - from));
        if out.len() > from {
            self.lines.append(&mut out.take_from(from));
            out.promise();
        }
        match event.kind {
            _ if event.origin.parent.is_some() => {}
            Kind::RoundStop(stop) if stop.usage.is_some() => self.tell(stop.usage.as_ref(), out, write),
            Kind::RoundEnd(end) => self.tell(end.usage.as_ref(), out, write),
            _ => {}
        }
    }

    /// Tells what is held.
    pub(super) fn tell(&mut self, usage: Option<&Usage<'_>>, out: &mut Out, mut write: impl FnMut(Option<&Usage<'_>>, &mut Out)) {
        let lines = std::mem::take(&mut self.lines);
        let mut done = 0;
        for at in self.places.drain(..) {
            out.bytes(&lines[done..at]);
            done = at;
            write(usage, out);
        }
        out.bytes(&lines[done..]);
    }
}

impl Encoder {
    pub(super) fn before(&mut self, event: &Event<'_>, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.before(event, out, |usage, out| writer.usage_at(out, usage, UsagePlace::Message));
    }

    pub(super) fn after(&mut self, event: &Event<'_>, from: usize, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.after(event, from, out, |usage, out| writer.usage_at(out, usage, UsagePlace::Message));
    }

    pub(super) fn tell_behind(&mut self, usage: Option<&Usage<'_>>, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.tell(usage, out, |usage, out| writer.usage_at(out, usage, UsagePlace::Message));
    }
}
