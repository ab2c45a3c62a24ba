//! `stream_event` lines: the pieces of a reply, and what else comes on the stream.

use super::{Decoder, Envelope, Line, name};
use crate::blocks::{EVENT, StreamEvent};
use crate::event::{At, Delta, Event, Kind, Notice, Origin, Piece, RoundEnd, Side, ToolProgress, Topic};
use crate::json::{Error, Raw, Str, Template, Why};

/// Lines of deltas are read by comparing them with the last one of their kind.
#[derive(Debug, Default)]
pub(super) struct Hot {
    /// Holes: the piece, the line's id, the session's id.
    template: Template<3>,
    index: u32,
    kind: HotKind,
}

#[derive(Clone, Copy, Debug, Default)]
enum HotKind {
    #[default]
    Text,
    Thinking,
    Input,
}

impl Hot {
    /// A line of the main thread that is spelled like the last delta, if this is one.
    #[inline]
    pub(super) fn read<'a>(&self, text: &'a str) -> Option<(Origin<'a>, Delta<'a>, usize)> {
        let ([piece, id, session], used) = self.template.read(text)?;
        let piece = match self.kind {
            HotKind::Text => Piece::Text(piece),
            HotKind::Thinking => Piece::Thinking(piece),
            HotKind::Input => Piece::Input(piece),
        };
        let origin = Origin {
            session: Some(session),
            id: Some(id),
            ..Origin::default()
        };
        Some((origin, Delta { index: self.index, piece }, used))
    }

    /// Remembers the spelling of a delta that nothing but the piece and the two ids can differ in.
    fn learn(&mut self, line: &str, envelope: &Envelope<'_>, delta: Delta<'_>) {
        let (Some(session), Some(id), None, true) = (
            envelope.origin.session,
            envelope.origin.id,
            envelope.origin.parent,
            envelope.fields.is_empty(),
        ) else {
            return;
        };
        let (kind, piece) = match delta.piece {
            Piece::Text(piece) => (HotKind::Text, piece),
            Piece::Thinking(piece) => (HotKind::Thinking, piece),
            Piece::Input(piece) => (HotKind::Input, piece),
            Piece::Signature(_) | Piece::Subject(_) | Piece::Other(_) => return,
        };
        (self.index, self.kind) = (delta.index, kind);
        self.template.learn(line, [piece, id, session]);
    }
}

impl Decoder {
    pub(super) fn stream_event<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut event = None;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "event" if event.is_none() => event = Some(line.reader.event(&mut line.at, &mut envelope.fields)?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let event = event.ok_or(line.at.error(Why::Missing))?;
        let used = line.at.position();
        let main = envelope.origin.parent.is_none();
        self.side = Side::Agent;
        let kind = match event {
            StreamEvent::Delta(delta) => {
                self.hot.learn(&line.text[..used], &envelope, delta);
                self.unconfirmed |= main;
                Kind::Delta(delta)
            }
            StreamEvent::BlockStart(start, piece) => {
                self.unconfirmed |= main;
                let origin = envelope.origin;
                line.event(envelope, Kind::BlockStart(start));
                if let Some(piece) = piece {
                    line.sink.event(&Event::new(origin, Kind::Delta(Delta { index: start.index, piece })));
                }
                return Ok(used);
            }
            StreamEvent::BlockStop(stop) => Kind::BlockStop(stop),
            StreamEvent::MessageStart(start) => {
                if main {
                    (self.in_message, self.unconfirmed) = (true, false);
                }
                Kind::RoundStart(line.cx.keep(start))
            }
            StreamEvent::MessageDelta(stop) => Kind::RoundStop(line.cx.keep(stop)),
            StreamEvent::MessageStop => {
                if main {
                    (self.in_message, self.unconfirmed) = (false, false);
                }
                Kind::RoundEnd(&RoundEnd::PLAIN)
            }
            StreamEvent::Other { kind, raw } if kind.is("goal_state") || kind.is("tool_progress") => {
                raw.check()?;
                return line.apart(envelope, kind, raw);
            }
            StreamEvent::Other { .. } => return line.unknown_again(),
        };
        line.event(envelope, kind);
        Ok(used)
    }
}

impl<'a> Line<'_, 'a, '_> {
    /// Events that are no part of a reply: `goal_state{goal_state}`, `tool_progress{tool_use_id,content}`.
    fn apart(mut self, mut envelope: Envelope<'a>, kind: Str<'a>, raw: Raw<'a>) -> Result<usize, Error> {
        let place = At::Part(EVENT);
        let (mut typed, mut data, mut call, mut content) = (false, None, None, None);
        let progress = kind.is("tool_progress");
        for (key, value) in raw.members() {
            match name(self.cx, key) {
                "type" if !typed => {
                    typed = true;
                    self.cx.took(value.as_str());
                }
                "goal_state" if !progress && data.is_none() => data = Some(value),
                "tool_use_id" if progress && call.is_none() && value.string().is_some() => call = value.string(),
                "content" if progress && content.is_none() => content = Some(value),
                _ => envelope.fields.push(self.reader.field(place, key, value)),
            }
        }
        let kind = if progress {
            let call = call.ok_or(self.at.error(Why::Missing))?;
            Kind::ToolProgress(self.cx.keep(ToolProgress {
                call,
                status: None,
                content,
                confirmation: None,
            }))
        } else {
            Kind::Notice(self.cx.keep(Notice {
                name: kind,
                topic: Topic::Status,
                message: None,
                data,
            }))
        };
        self.event(envelope, kind);
        Ok(self.at.position())
    }

    /// An event that nobody knows: the line as it is.
    fn unknown_again(mut self) -> Result<usize, Error> {
        self.at = crate::json::Cursor::new(self.text);
        self.unknown()
    }
}
