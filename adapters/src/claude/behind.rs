//! Replies of which a line behind them says why they stopped and what they cost: their lines are held until then, for each says it.

use crate::blocks::UsagePlace;
use crate::codec::{Layout, Style};
use crate::event::{Event, Kind, RoundEnd, RoundStop, Usage};
use crate::json::Out;

use super::encode::Encoder;

/// What stands before the tokens in an `assistant` line, behind its block.
pub(super) const FOOT: &str = "],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":";
/// The same behind what the program itself says of a failed call.
pub(super) const FAILED_FOOT: &str = "],\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"\",\"usage\":";

/// So much is held.
const MOST: usize = 1 << 20;

/// Lines that are held.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// The end of a round says why it stopped and its tokens, and nobody waits for each line.
    waits: bool,
    /// What is written is a file, where each line has the tokens that its round has had in the end.
    settles: bool,
    lines: Vec<u8>,
    /// Where it goes, in what is held.
    places: Vec<Place>,
    /// The same in what is being written.
    here: Vec<Place>,
}

/// Where something goes that the end of the round says.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    what: Rest,
    /// The tokens that the reply has said, where its end says none.
    said: Option<Usage<'static>>,
}

/// What of an `assistant` line the end of its round says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The tokens.
    Tokens,
    /// Why it stopped, and the tokens.
    StopAndTokens,
}

impl Behind {
    pub(super) fn new(style: &Style, own: bool) -> Self {
        let keeps = style.mode.layout == Layout::Store && !own;
        let streams = style.mode.layout == Layout::Lines && !own && style.source_mode.tokens_behind && !style.partial;
        Self {
            // Nobody waits for what is kept.
            waits: keeps || streams,
            settles: keeps,
            ..Self::default()
        }
    }

    /// Nobody is kept waiting in a session that lives.
    pub(super) const fn lives(&mut self) {
        self.waits = false;
    }

    pub(super) const fn waits(&self) -> bool {
        self.waits
    }

    /// Whether tokens that a reply says may not be all that its round has had.
    pub(super) const fn settles(&self) -> bool {
        self.settles
    }

    /// What the end of the round says of the line that is being written goes here.
    pub(super) fn place(&mut self, at: usize, what: Rest, said: Option<&Usage<'_>>) {
        let said = said.map(Usage::detached);
        self.here.push(Place { at, what, said });
    }

    /// Before an event is written: what no tokens of this round follow is told without them. `write` writes what the end says.
    pub(super) fn before(&mut self, event: &Event<'_>, out: &mut Out, write: impl FnMut(&RoundEnd<'_>, Rest, &mut Out)) {
        if self.lines.is_empty() {
            return;
        }
        let ends = matches!(
            event.kind,
            Kind::Prompt(_) | Kind::Session(_) | Kind::RoundStart(_) | Kind::Outcome(_) | Kind::Fatal(_)
        );
        if ends || self.lines.len() > MOST {
            self.tell(&RoundEnd::PLAIN, out, write);
        }
    }

    /// An event was written, behind `from`: holds it, or tells with what tokens all that is held was said.
    pub(super) fn after(&mut self, event: &Event<'_>, from: usize, out: &mut Out, write: impl FnMut(&RoundEnd<'_>, Rest, &mut Out)) {
        if self.lines.is_empty() && self.here.is_empty() {
            return;
        }
        let before = self.lines.len();
        let moved = |place: Place| Place {
            at: before + place.at - from,
            ..place
        };
        self.places.extend(self.here.drain(..).map(moved));
        if out.len() > from {
            let mut written = out.take_from(from);
            if self.lines.is_empty() {
                // What is long is not copied.
                std::mem::swap(&mut self.lines, &mut written);
            }
            self.lines.append(&mut written);
            out.promise();
        }
        match event.kind {
            _ if event.origin.parent.is_some() => {}
            Kind::RoundStop(RoundStop {
                stop, usage: Some(usage), ..
            }) => {
                let end = RoundEnd {
                    stop: *stop,
                    usage: Some(*usage),
                    ..RoundEnd::PLAIN
                };
                self.tell(&end, out, write);
            }
            Kind::RoundEnd(end) => self.tell(end, out, write),
            _ => {}
        }
    }

    /// Tells what is held.
    pub(super) fn tell(&mut self, end: &RoundEnd<'_>, out: &mut Out, mut write: impl FnMut(&RoundEnd<'_>, Rest, &mut Out)) {
        let lines = std::mem::take(&mut self.lines);
        let mut done = 0;
        for Place { at, what, said } in self.places.drain(..) {
            out.bytes(&lines[done..at]);
            done = at;
            let end = RoundEnd {
                usage: end.usage.or(said),
                ..*end
            };
            write(&end, what, out);
        }
        out.bytes(&lines[done..]);
    }
}

impl Encoder {
    pub(super) fn before(&mut self, event: &Event<'_>, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.before(event, out, |end, _, out| writer.usage_at(out, end.usage.as_ref(), UsagePlace::Message));
    }

    pub(super) fn after(&mut self, event: &Event<'_>, from: usize, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.after(event, from, out, |end, _, out| {
            writer.usage_at(out, end.usage.as_ref(), UsagePlace::Message)
        });
    }

    pub(super) fn tell_behind(&mut self, usage: Option<&Usage<'_>>, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.tell(
            &RoundEnd {
                usage: usage.copied(),
                ..RoundEnd::PLAIN
            },
            out,
            |end, _, out| writer.usage_at(out, end.usage.as_ref(), UsagePlace::Message),
        );
    }
}
