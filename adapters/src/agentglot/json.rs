//! One event as the line that this dialect has for it, and back.

use bumpalo::Bump;

use super::{Decoder, Encoder};
use crate::codec::{Cx, Decode, Dialect, Encode};
use crate::event as borrowed;
use crate::events::{Event, Said};
use crate::json::{Cursor, Out};
use crate::read::{Collector, Error};

impl borrowed::Event<'_> {
    /// The line that says it, without its end.
    pub(crate) fn as_line(&self) -> String {
        line(|encoder, out| encoder.event(self, out))
    }
}

impl borrowed::Input<'_> {
    /// The line that says it, without its end.
    pub(crate) fn as_line(&self) -> String {
        line(|encoder, out| encoder.input(self, out))
    }
}

fn line(write: impl FnOnce(&mut Encoder, &mut Out)) -> String {
    let mut out = Out::new(None);
    write(&mut Encoder::without_header(), &mut out);
    let mut line = Vec::new();
    out.swap(&mut line);
    // What is written of text is text, and ends with a line feed.
    line.pop();
    String::from_utf8(line).unwrap_or_default()
}

impl Event {
    /// The line of `agentglot:events` that says it, without its end.
    pub fn to_json(&self) -> String {
        match self.borrow(&Bump::new()) {
            Said::Event(event) => event.as_line(),
            Said::Input(input) => input.as_line(),
        }
    }

    /// The first line of a log whose events name tools as `source` does.
    pub(crate) fn header(source: Dialect) -> String {
        super::header(source.into(), 0)
    }

    /// Reads a line of `agentglot:events`.
    ///
    /// # Errors
    /// When the line is no JSON, lacks what its event needs, or is the header of a log, which is no event.
    pub fn from_json(line: &str) -> Result<Self, Error> {
        let line = line.trim_ascii();
        let damaged = |at: usize, why: String| Error::damaged(1, at as u64 + 1, why);
        let mut at = Cursor::new(line);
        at.raw().map_err(|error| damaged(error.at, error.why.to_string()))?;
        if !at.at_end() {
            return Err(damaged(at.position(), "more than one value".to_owned()));
        }
        let arena = Bump::new();
        let mut found = Collector::default();
        Decoder::default()
            .line(line, &Cx::new(&arena), &mut found)
            .map_err(|error| damaged(error.at, error.why.to_string()))?;
        found
            .next()
            .unwrap_or_else(|| Err(damaged(0, "the header of a log is no event".to_owned())))
    }
}
