//! `stream_event` lines: the pieces of a reply, and what else comes on the stream.

use super::{Decoder, Envelope, Line, name};
use crate::blocks::{EVENT, StreamEvent};
use crate::event::{At, Delta, Event, Kind, Notice, RoundEnd, Side, ToolProgress, Topic};
use crate::json::{Error, Raw, Str, Why};

impl Decoder {
    pub(super) fn stream_event<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut event = None;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "event" if event.is_none() => event = Some(line.reader.event_and_index(&mut line.at, &mut envelope.fields)?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let (event, index) = event.ok_or(line.at.error(Why::Missing("event")))?;
        let used = line.at.position();
        self.side = Side::Agent;
        let kind = match event {
            StreamEvent::Delta(delta) => Kind::Delta(delta),
            StreamEvent::BlockStart(start, Some(piece)) => {
                let origin = envelope.origin;
                self.open.unconfirmed |= origin.parent.is_none();
                line.event(envelope, Kind::BlockStart(start));
                line.sink.event(&Event::new(origin, Kind::Delta(Delta { index: start.index, piece })));
                return Ok(used);
            }
            StreamEvent::BlockStart(start, None) => Kind::BlockStart(start),
            StreamEvent::BlockStop(stop) => Kind::BlockStop(stop),
            StreamEvent::MessageStart(start) => Kind::RoundStart(line.cx.keep(start)),
            StreamEvent::MessageDelta(stop) => Kind::RoundStop(line.cx.keep(stop)),
            StreamEvent::MessageStop => Kind::RoundEnd(&RoundEnd::PLAIN),
            StreamEvent::Other { kind, raw } if kind.is("goal_state") || kind.is("tool_progress") => {
                raw.check()?;
                return line.apart(self, envelope, kind, raw);
            }
            StreamEvent::Other { .. } => return line.unknown_again(),
        };
        line.only(self, &envelope.event(kind), used, index);
        Ok(used)
    }
}

impl<'a> Line<'_, 'a, '_> {
    /// Events that are no part of a reply: `goal_state{goal_state}`, `tool_progress{tool_use_id,content}`.
    fn apart(mut self, decoder: &mut Decoder, mut envelope: Envelope<'a>, kind: Str<'a>, raw: Raw<'a>) -> Result<usize, Error> {
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
        let used = self.at.position();
        if progress {
            let call = call.ok_or(self.at.error(Why::Missing("event/tool_use_id")))?;
            let progress = self.cx.keep(ToolProgress {
                call,
                status: None,
                content,
                confirmation: None,
            });
            self.event(envelope, Kind::ToolProgress(progress));
        } else {
            let notice = self.cx.keep(Notice {
                name: kind,
                topic: Topic::Status,
                message: None,
                data,
            });
            self.only(decoder, &envelope.event(Kind::Notice(notice)), used, None);
        }
        Ok(used)
    }

    /// An event that nobody knows: the line as it is.
    fn unknown_again(mut self) -> Result<usize, Error> {
        self.at = crate::json::Cursor::new(self.text);
        self.unknown()
    }
}
