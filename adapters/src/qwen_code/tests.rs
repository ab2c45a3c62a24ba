//! Tests of the whole codec: what is decoded and encoded again says the same, and foreign events become what the program writes.

mod foreign;
mod rebuild;

use bumpalo::Bump;

use super::{Decoder, Encoder};
use crate::codec::{Cx, Decode, Dialect, Encode, Mode, Style};
use crate::event::{Event, Input, Kind, Sink};
use crate::json::{Error, Out};

/// How this dialect is written in a test.
fn style(source: Dialect, mode: Mode, partial: bool) -> Style {
    Style {
        partial,
        ..Style::new(mode, source)
    }
}

/// Hands events to an encoder as they come, and keeps what they look like.
struct Straight<'e> {
    encoder: &'e mut Encoder,
    out: &'e mut Out,
    unknown: Vec<String>,
}

impl Straight<'_> {
    fn fields(&mut self, fields: crate::event::Fields<'_>) {
        self.unknown
            .extend(fields.iter().filter(|field| !field.known).map(|field| field.key.unescape().into_owned()));
    }
}

impl<'a> Sink<'a> for Straight<'_> {
    fn event(&mut self, event: &Event<'a>) {
        self.fields(event.fields);
        if let Kind::Reply(reply) = event.kind {
            for block in reply.blocks {
                match block {
                    crate::event::Block::Text { fields, .. } => self.fields(fields),
                    crate::event::Block::Thinking(thinking) => self.fields(thinking.fields),
                    crate::event::Block::Call(call) => self.fields(call.fields),
                    _ => {}
                }
            }
        }
        self.encoder.event(event, self.out);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.fields(input.fields);
        self.encoder.input(input, self.out);
    }
}

/// One line decoded and encoded again.
struct Rebuilt {
    out: String,
    unknown: Vec<String>,
}

/// A decoder and an encoder of this dialect, one behind the other.
struct Mirror {
    decoder: Decoder,
    encoder: Encoder,
}

impl Mirror {
    fn new() -> Self {
        Self {
            decoder: Decoder::default(),
            encoder: Encoder::new(style(Dialect::QwenCode, Mode::STREAM_JSON, true)),
        }
    }

    fn line(&mut self, line: &str) -> Result<Rebuilt, Error> {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        let mut out = Out::default();
        let mut sink = Straight {
            encoder: &mut self.encoder,
            out: &mut out,
            unknown: Vec::new(),
        };
        let used = self.decoder.line(line, &cx, &mut sink)?;
        assert_eq!(used, line.trim_end().len(), "{line}");
        let unknown = sink.unknown;
        Ok(Rebuilt {
            out: String::from_utf8(out.written().to_vec()).unwrap(),
            unknown,
        })
    }
}
