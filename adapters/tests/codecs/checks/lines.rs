//! What the lines of a log say, and where: what mutations need to know.

use std::ops::Range;

use agentglot_adapters::raw::codec::{Cx, Decode, Decoder, Format};
use agentglot_adapters::raw::event::{Block, BlockHead, Event, Input, Kind, Piece, Sink, Usage};
use agentglot_adapters::raw::json::Str;

use crate::common::Log;

/// A line and what it says.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub text: String,
    pub said: Vec<Said>,
    pub session: Option<Range<usize>>,
    pub id: Option<Range<usize>>,
    pub parent: Option<Range<usize>>,
    /// It is the main thread's.
    pub main: bool,
    /// Digits of counts.
    pub counts: Vec<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Session,
    RoundStart,
    RoundEnd,
    BlockStart(u32),
    BlockStop(u32),
    Text(u32, Range<usize>),
    Input(u32, Range<usize>),
    /// A call by its id: it begins, or is whole.
    CallStart(String),
    Call(String),
    Result(String),
    /// A whole text or thought.
    Whole(Range<usize>),
    /// A reply's id.
    ReplyId(Range<usize>),
    Outcome {
        well: bool,
    },
    Other,
}

impl Line {
    pub fn says(&self, what: impl Fn(&Said) -> bool) -> bool {
        self.said.iter().any(what)
    }

    /// With another text in the place of a part.
    pub fn with(&self, range: &Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..range.start], &self.text[range.end..])
    }
}

/// Reads a log that has one value a line.
pub fn lines(log: &Log) -> Vec<Line> {
    let text = String::from_utf8(log.bytes.clone()).expect("a sound log");
    let mut decoder = Decoder::new(log.format);
    text.lines().map(|text| one(&mut decoder, text)).collect()
}

/// Reads a log that is one value.
pub fn read(format: Format, text: &str) -> Line {
    one(&mut Decoder::new(format), text)
}

fn one(decoder: &mut Decoder, text: &str) -> Line {
    let arena = bumpalo::Bump::new();
    let mut heard = Heard {
        text,
        line: Line {
            text: text.to_owned(),
            main: true,
            ..Line::default()
        },
    };
    if !text.trim().is_empty() {
        let _ = decoder.line(text, &Cx::new(&arena), &mut heard);
    }
    heard.line
}

struct Heard<'t> {
    text: &'t str,
    line: Line,
}

impl Heard<'_> {
    fn range(&self, part: &str) -> Option<Range<usize>> {
        let from = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (from + part.len() <= self.text.len()).then_some(from..from + part.len())
    }

    fn usage(&mut self, usage: Option<&Usage<'_>>) {
        let counts: Vec<_> = usage
            .into_iter()
            .flat_map(Usage::sources)
            .filter_map(|source| self.range(source))
            .collect();
        self.line.counts.extend(counts.into_iter().filter(|range| !range.is_empty()));
    }
}

impl<'a> Sink<'a> for Heard<'_> {
    fn event(&mut self, event: &Event<'a>) {
        let part = |part: Option<Str<'a>>| part.and_then(|part| self.range(part.as_escaped())).filter(|range| !range.is_empty());
        let (session, id, parent) = (part(event.origin.session), part(event.origin.id), part(event.origin.parent));
        self.line.main &= event.origin.parent.is_none();
        self.line.session = self.line.session.take().or(session);
        self.line.id = self.line.id.take().or(id);
        self.line.parent = self.line.parent.take().or(parent);
        let said = match event.kind {
            Kind::Session(_) => Said::Session,
            Kind::RoundStart(start) => {
                self.usage(start.usage.as_ref());
                Said::RoundStart
            }
            Kind::RoundEnd(_) => Said::RoundEnd,
            Kind::RoundStop(stop) => {
                self.usage(stop.usage.as_ref());
                Said::Other
            }
            Kind::BlockStart(start) => {
                if let BlockHead::Call { id, .. } = start.head {
                    self.line.said.push(Said::CallStart(id.unescape().into_owned()));
                }
                Said::BlockStart(start.index)
            }
            Kind::BlockStop(stop) => Said::BlockStop(stop.index),
            Kind::Delta(delta) => match delta.piece {
                Piece::Text(text) | Piece::Thinking(text) => {
                    self.range(text.as_escaped()).map_or(Said::Other, |range| Said::Text(delta.index, range))
                }
                Piece::Input(text) => self.range(text.as_escaped()).map_or(Said::Other, |range| Said::Input(delta.index, range)),
                _ => Said::Other,
            },
            Kind::Reply(reply) => {
                self.usage(reply.usage.as_ref());
                if let Some(range) = reply.id.and_then(|id| self.range(id.as_escaped())) {
                    self.line.said.push(Said::ReplyId(range));
                }
                for block in reply.blocks {
                    let said = match block {
                        Block::Call(call) => Some(Said::Call(call.id.unescape().into_owned())),
                        Block::Text { text, .. } => self.range(text.as_escaped()).map(Said::Whole),
                        Block::Thinking(thinking) => self.range(thinking.text.as_escaped()).map(Said::Whole),
                        _ => None,
                    };
                    self.line.said.extend(said);
                }
                Said::Other
            }
            Kind::ToolResult(result) => Said::Result(result.call.unescape().into_owned()),
            Kind::Outcome(outcome) => {
                self.usage(outcome.usage.as_ref());
                Said::Outcome { well: !outcome.is_error }
            }
            _ => Said::Other,
        };
        self.line.said.push(said);
    }

    fn input(&mut self, _input: &Input<'a>) {}
}
