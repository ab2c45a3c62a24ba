//! What comes before the tokens of the round that called, for a target that says them with what the round said: results, and what was asked
//! and answered before them.

use super::Down;
use super::held_line::Held;
use crate::codec::{Decoder, Dialect, Encode};
use crate::event::{Event, Input, Kind, Sink};

/// Results and questions that are held.
#[derive(Debug, Default)]
pub(super) struct Results {
    held: Vec<Held>,
    /// How many bytes they have.
    size: usize,
}

impl Results {
    /// So many bytes are held.
    const MOST: usize = 1 << 20;

    pub(super) const fn is_full(&self) -> bool {
        self.size > Self::MOST
    }

    /// Whether something is held.
    pub(super) const fn waits(&self) -> bool {
        !self.held.is_empty()
    }

    /// Holds a result, or what is asked or answered.
    pub(super) fn hold(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        let held = Held::event(event, down.cx);
        self.size += held.size();
        self.held.push(held);
        down.out.promise();
        down.out.carried();
        if down.out.traced() {
            if let Kind::ToolResult(result) = event.kind {
                down.out.used(result.call.as_escaped());
            }
            if let Some(time) = event.origin.time.filter(|_| down.encoder.says_times()) {
                down.out.used(time.source());
            }
        }
    }

    /// The round has ended: tells what is held.
    pub(super) fn tell(&mut self, down: &mut Down<'_, '_>) {
        if self.held.is_empty() {
            return;
        }
        let mut decoder = Decoder::new(Dialect::CANONICAL);
        self.size = 0;
        for held in self.held.drain(..) {
            held.tell(&mut decoder, down.cx, &mut Again(down));
        }
    }
}

/// Tells what was held.
struct Again<'d, 'e, 'a>(&'d mut Down<'e, 'a>);

impl<'a> Sink<'a> for Again<'_, '_, 'a> {
    fn event(&mut self, event: &Event<'a>) {
        self.0.emit(event);
    }

    fn input(&mut self, _: &Input<'a>) {}
}
