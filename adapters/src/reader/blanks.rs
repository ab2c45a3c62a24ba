//! Text that is no JSON, with the blanks before it.

use crate::codec::{Cx, Decode, Decoder};
use crate::event::{Event, Input, InputKind, Kind, Sink};
use crate::json::Error;

/// Where a value stands in its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand<'a> {
    /// The offset of the value.
    pub(crate) at: usize,
    /// The line, without its end; empty where there is none.
    pub(crate) line: &'a str,
}

impl<'a> Stand<'a> {
    /// The text with the blanks that the line begins with, which are a part of it if it is no object.
    #[inline]
    pub(crate) fn with_blanks(self, text: &'a str) -> &'a str {
        match self.line.get(..self.at) {
            Some(before) if self.at > 0 && !text.starts_with('{') && before.trim_ascii().is_empty() => self.line,
            _ => text,
        }
    }

    /// Has the decoder read the value that `text` begins with.
    #[inline]
    pub(crate) fn read(self, decoder: &mut Decoder, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let line = self.with_blanks(text);
        if line.len() == text.len() {
            return decoder.line(text, cx, sink);
        }
        decoder.line(text, cx, &mut Blanks { text, line, sink })
    }
}

/// Gives noise its blanks back. A line of it tells nothing else that would have to be asked for.
struct Blanks<'s, 'a> {
    text: &'a str,
    line: &'a str,
    sink: &'s mut dyn Sink<'a>,
}

impl<'a> Blanks<'_, 'a> {
    fn whole(&self, noise: &'a str) -> &'a str {
        let blanks = self.line.len() - self.text.len();
        let whole = self.line.get(..blanks + noise.len());
        whole.filter(|_| std::ptr::eq(noise.as_ptr(), self.text.as_ptr())).unwrap_or(noise)
    }
}

impl<'a> Sink<'a> for Blanks<'_, 'a> {
    fn event(&mut self, event: &Event<'a>) {
        match event.kind {
            Kind::Noise(noise) => {
                let kind = Kind::Noise(self.whole(noise));
                self.sink.event(&Event { kind, ..*event });
            }
            _ => self.sink.event(event),
        }
    }

    fn input(&mut self, input: &Input<'a>) {
        match input.kind {
            InputKind::Noise(noise) => {
                let kind = InputKind::Noise(self.whole(noise));
                self.sink.input(&Input { kind, ..*input });
            }
            _ => self.sink.input(input),
        }
    }
}
