//! Replies in pieces: `stream_event` lines.

use super::{Frame, Run, Thread};
use crate::blocks::Writer;
use crate::event::{At, BlockHead, BlockStart, Delta, Event, Piece, RoundStart, RoundStop};
use crate::json::{Out, Str};

use super::super::Core;

impl Run {
    const fn of_head(head: &BlockHead<'_>) -> Self {
        match head {
            BlockHead::Text => Self::Text,
            BlockHead::Thinking => Self::Thinking,
            BlockHead::Call { .. } => Self::Calls,
            BlockHead::Redacted { .. } | BlockHead::Other { .. } => Self::Other,
        }
    }
}

impl Thread {
    pub(super) fn start_message(&mut self, core: &mut Core, event: &Event<'_>, start: &RoundStart<'_>, out: &mut Out) {
        if self.message.id.is_empty() && self.round.id.is_empty() {
            out.invented("/event/message/id", "each message has an id of its own");
        }
        self.name_message(core, None, out);
        self.round.frame = Frame::Open;
        self.piece_line(core, event, out);
        let model = Str::trusted(core.facts.model_of(&self.round.model, out));
        let id = Str::trusted(&self.message.id);
        core.writer.0.message_start(out, id, model, start, event.fields);
        self.round.told(out);
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }

    pub(super) fn stop_message(&mut self, core: &mut Core, event: &Event<'_>, out: &mut Out) {
        self.piece_line(core, event, out);
        core.writer.0.message_stop(out, event.fields);
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }

    pub(in super::super) fn block_start(&mut self, core: &mut Core, event: &Event<'_>, start: &BlockStart<'_>, out: &mut Out) {
        let run = Run::of_head(&start.head);
        if run == Run::Other && !core.own {
            return;
        }
        if !core.partial {
            return out.merged("deltas of a block that goes over whole");
        }
        self.enter(run, core, event.origin.id.filter(|_| self.round.assembled), out);
        if self.round.frame == Frame::Interrupted {
            let plain = Event { fields: &[], ..*event };
            self.start_message(core, &plain, &RoundStart::default(), out);
        }
        self.open = Some(run);
        self.message.input_said = false;
        self.piece_line(core, event, out);
        core.writer.0.block_start(out, self.message.index, &start.head, event.fields);
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
        let middle = &self.middle;
        if middle.run != Some(run) || middle.index != self.message.index || middle.session != core.pen.session_now() {
            self.render_middle(run, core);
        }
    }

    /// Renders what the lines of this block's pieces have in common.
    fn render_middle(&mut self, run: Run, core: &mut Core) {
        let piece = match run {
            Run::Thinking => Piece::Thinking(Str::EMPTY),
            Run::Calls => Piece::Input(Str::EMPTY),
            Run::Text | Run::Other => Piece::Text(Str::EMPTY),
        };
        let (middle, mut line) = (&mut self.middle, Out::default());
        middle.text.clear();
        line.swap(&mut middle.text);
        line.lit("\"");
        core.pen.place((!self.parent.is_empty()).then(|| Str::trusted(&self.parent)), &mut line);
        line.lit(",\"event\":{\"type\":\"content_block_delta\",\"index\":");
        line.number(self.message.index);
        line.lit(",\"delta\":");
        line.lit(Writer::piece_head(&piece));
        line.lit("\"");
        line.swap(&mut middle.text);
        (middle.run, middle.index) = (Some(run), self.message.index);
        core.pen.session_now().clone_into(&mut middle.session);
    }

    #[inline]
    pub(in super::super) fn delta(&mut self, core: &mut Core, event: &Event<'_>, delta: &Delta<'_>, out: &mut Out) {
        let text = match (delta.piece, self.open) {
            (Piece::Text(text), Some(Run::Text)) | (Piece::Thinking(text), Some(Run::Thinking)) => text,
            (Piece::Input(text), Some(Run::Calls)) if core.own => {
                self.message.input_said = true;
                text
            }
            _ => return self.odd_delta(core, event, delta, out),
        };
        if !event.fields.is_empty() && core.own {
            return self.odd_delta(core, event, delta, out);
        }
        out.lit("{\"type\":\"stream_event\",\"uuid\":\"");
        let id = self.line_id(core, event);
        core.pen.id(id, out);
        out.bytes(&self.middle.text);
        out.used(event.origin.parent.map_or("", Str::as_escaped));
        out.body(text);
        out.lit("\"}}}\n");
    }

    /// A piece that does not belong to the block that is open, or carries more than its text.
    #[cold]
    fn odd_delta(&mut self, core: &mut Core, event: &Event<'_>, delta: &Delta<'_>, out: &mut Out) {
        if !core.partial {
            return out.merged("deltas of a block that goes over whole");
        }
        if let (Piece::Input(text), Some(Run::Calls), false) = (delta.piece, self.open, core.own) {
            // The whole of the arguments goes over in one piece, which comes with the call.
            out.used(text.as_escaped());
            return out.carried();
        }
        if !core.own {
            if let Piece::Subject(text) = delta.piece {
                // It comes with the whole thought.
                out.used(text.as_escaped());
                out.carried();
            }
            return;
        }
        self.piece_line(core, event, out);
        core.writer.0.delta(out, delta.index, &delta.piece, event.fields);
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }

    pub(in super::super) fn block_stop(&mut self, core: &mut Core, event: &Event<'_>, out: &mut Out) {
        if !core.partial {
            return out.merged("the end of a block that goes over whole");
        }
        if self.open.take().is_none() && !core.own {
            return;
        }
        self.piece_line(core, event, out);
        core.writer.0.block_stop(out, self.message.index, event.fields);
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
        self.message.index += 1;
    }

    /// Begins the line of a piece, up to its event.
    fn piece_line(&self, core: &mut Core, event: &Event<'_>, out: &mut Out) {
        core.pen.open("stream_event", out);
        let id = self.line_id(core, event);
        core.pen.envelope(id, event.origin.parent, out);
        out.lit(",\"event\":");
    }

    /// The id for the line of a piece: the message's own is that of its `assistant` line.
    #[inline]
    pub(super) fn line_id<'e>(&self, core: &Core, event: &Event<'e>) -> Option<Str<'e>> {
        event.origin.id.filter(|id| {
            if core.own {
                !self.round.assembled
            } else {
                id.as_escaped() != self.message.id
            }
        })
    }

    /// Only other writers of this dialect say it apart; the program never does.
    pub(in super::super) fn round_stop(&mut self, core: &mut Core, event: &Event<'_>, stop: &RoundStop<'_>, out: &mut Out) {
        if !core.own {
            self.usage(stop.usage.as_ref(), out);
            return out.carried();
        }
        if core.partial {
            self.piece_line(core, event, out);
            core.writer.0.message_delta(out, stop.stop.as_ref(), stop.usage.as_ref(), event.fields);
            core.writer.0.fields(out, event.fields, At::Line);
            core.pen.close(out);
        }
    }
}
