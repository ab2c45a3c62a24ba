//! Results that come before the tokens of the round that called, for a target that says both with what the round said.

use super::Down;
use crate::codec::{Cx, Decode, Decoder, Dialect, Encode};
use crate::event::{Event, Input, Sink, ToolResult};

/// Results that are held, as lines.
#[derive(Debug, Default)]
pub(super) struct Results {
    lines: Vec<String>,
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
        !self.lines.is_empty()
    }

    /// Holds a result. What it says goes over when it is told.
    pub(super) fn hold(&mut self, event: &Event<'_>, result: &ToolResult<'_>, down: &mut Down<'_, '_>) {
        let line = event.as_line();
        self.size += line.len();
        self.lines.push(line);
        down.out.promise();
        down.out.carried();
        if down.out.traced() {
            down.out.used(result.call.as_escaped());
            result.content.texts().for_each(|text| down.out.used(text.as_escaped()));
            if let Some(time) = event.origin.time.filter(|_| down.encoder.says_times()) {
                down.out.used(time.source());
            }
        }
    }

    /// The round has ended: tells what is held.
    pub(super) fn tell(&mut self, down: &mut Down<'_, '_>) {
        if self.lines.is_empty() {
            return;
        }
        let mut decoder = Decoder::new(Dialect::CANONICAL);
        let cx = Cx { trace: None, ..down.cx };
        self.size = 0;
        for line in self.lines.drain(..) {
            // It was written of what was read.
            let _ = decoder.line(cx.arena.alloc_str(&line), &cx, &mut Again(down));
        }
    }
}

/// Tells what was held.
struct Again<'d, 'e, 'a>(&'d mut Down<'e, 'a>);

impl<'a> Sink<'a> for Again<'_, '_, '_> {
    fn event(&mut self, event: &Event<'a>) {
        self.0.emit(event);
    }

    fn input(&mut self, _: &Input<'a>) {}
}
