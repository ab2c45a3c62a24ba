//! What many lines of a session or of a reply have in common: rendered once, then copied.

use crate::blocks::Writer;
use crate::event::{Event, Piece, Reply, Time};
use crate::json::{Out, alike};

use super::encode::{Encoder, write_time};
use super::encode_stream::STREAM;
use crate::codec::Layout;

/// Parts of foreign lines of the main thread. One that is empty is not rendered yet.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Behind the message of an `assistant` or `user` line, up to the line's id.
    place: Vec<u8>,
    /// Behind the event of a `stream_event` line, up to the line's id.
    stream: Vec<u8>,
    /// Of this reply, what stands behind the id.
    stream_end: Vec<u8>,
    /// Of an `assistant` line of this reply, what stands before its block.
    head: Vec<u8>,
    /// From behind the block to the line's id.
    foot: Vec<u8>,
    delta: DeltaHead,
    clock: Clock,
}

/// How the deltas of one block begin.
#[derive(Debug, Default)]
struct DeltaHead {
    index: u32,
    kind: &'static str,
    text: Vec<u8>,
}

/// The time that was written last: lines that come of one line have the same.
#[derive(Debug, Default)]
struct Clock {
    source: String,
    in_seconds: bool,
    text: Vec<u8>,
}

impl Frames {
    /// The session's id is another one.
    pub(super) fn forget_session(&mut self) {
        self.place.clear();
        self.stream.clear();
        self.forget_round();
    }

    /// What the main thread's reply is called, or what it has used, is something else.
    pub(super) fn forget_round(&mut self) {
        self.stream_end.clear();
        self.head.clear();
        self.foot.clear();
    }

    /// Writes `"timestamp":…` in ISO 8601, if the time is known.
    #[inline]
    pub(super) fn time(&mut self, out: &mut Out, time: Option<Time<'_>>) {
        let Some(time @ (Time::Millis(source) | Time::Seconds(source))) = time else {
            return write_time(out, time);
        };
        let in_seconds = matches!(time, Time::Seconds(_));
        let clock = &mut self.clock;
        if !alike(&clock.source, source.as_str()) || clock.in_seconds != in_seconds {
            source.as_str().clone_into(&mut clock.source);
            clock.in_seconds = in_seconds;
            render(&mut clock.text, |out| write_time(out, Some(time)));
        }
        if !clock.text.is_empty() {
            out.used(source.as_str());
            out.bytes(&clock.text);
        }
    }
}

impl Encoder {
    /// Writes the place of a line of the main thread in its session, up to the line's id.
    #[inline]
    pub(super) fn place(&mut self, out: &mut Out) {
        self.know_session(out);
        if self.frames.place.is_empty() {
            let mut place = std::mem::take(&mut self.frames.place);
            render(&mut place, |out| {
                out.lit(",\"parent_tool_use_id\":null");
                self.session_id(out);
                out.lit(",\"uuid\":");
            });
            self.frames.place = place;
        }
        out.bytes(&self.frames.place);
    }

    /// Writes what stands behind the event of a foreign `stream_event` line.
    #[inline]
    pub(super) fn foreign_stream_end(&mut self, out: &mut Out) {
        self.know_session(out);
        if self.frames.stream_end.is_empty() {
            self.render_stream();
        }
        let id = self.fresh_id();
        out.bytes(&self.frames.stream);
        out.bytes(&id);
        out.bytes(&self.frames.stream_end);
        out.invented("/uuid", "each line needs an id of its own");
    }

    fn render_stream(&mut self) {
        let mut frames = std::mem::take(&mut self.frames);
        render(&mut frames.stream, |out| {
            self.session_id(out);
            out.lit(",\"parent_tool_use_id\":null,\"uuid\":\"");
        });
        let round = self.rounds.of(None);
        render(&mut frames.stream_end, |out| {
            out.lit("\"");
            if !round.id.is_empty() {
                out.lit(",\"api_message_id\":\"");
                out.lit(&round.id);
                out.lit("\"");
            }
            out.lit("}\n");
        });
        self.frames = frames;
    }

    /// Writes a foreign delta up to its text.
    #[inline]
    pub(super) fn delta_head(&mut self, index: u32, piece: &Piece<'_>, out: &mut Out) {
        let kind = Writer::piece_head(piece);
        let delta = &mut self.frames.delta;
        if delta.index != index || delta.kind != kind {
            (delta.index, delta.kind) = (index, kind);
            render(&mut delta.text, |out| {
                out.lit(STREAM);
                out.lit("{\"type\":\"content_block_delta\",\"index\":");
                out.number(index);
                out.lit(",\"delta\":");
                out.lit(kind);
                out.lit("\"");
            });
        }
        out.bytes(&delta.text);
    }

    /// Whether the `assistant` lines of this reply are alike but for their blocks, and nobody asks what each is made of.
    #[inline]
    pub(super) fn has_frame(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &Out) -> bool {
        let origin = &event.origin;
        origin.parent.is_none()
            && origin.agent.is_none()
            && self.style.mode.layout == Layout::Lines
            && !out.traced()
            // What a failed call of the model says has another model.
            && reply.error.is_none()
            && (reply.usage.is_none() || self.rounds.of(None).usage.is_some())
    }

    /// Writes such a line up to its block.
    #[inline]
    pub(super) fn framed_head(&mut self, reply: &Reply<'_>, out: &mut Out) {
        self.know_session(out);
        if self.frames.head.is_empty() {
            let mut head = std::mem::take(&mut self.frames.head);
            render(&mut head, |out| self.assistant_head(None, reply, out));
            let mut foot = std::mem::take(&mut self.frames.foot);
            render(&mut foot, |out| {
                self.assistant_foot(None, reply, out);
                self.place(out);
            });
            (self.frames.head, self.frames.foot) = (head, foot);
        }
        out.bytes(&self.frames.head);
    }

    /// Writes what stands behind the block, up to the line's id.
    #[inline]
    pub(super) fn framed_foot(&self, out: &mut Out) {
        out.bytes(&self.frames.foot);
    }
}

/// Few parts of a line that are rendered are longer.
const USUAL: usize = 256;

/// Fills a buffer, in the memory that it has.
fn render(into: &mut Vec<u8>, write: impl FnOnce(&mut Out)) {
    let mut out = Out::default();
    into.clear();
    into.reserve(USUAL);
    out.swap(into);
    write(&mut out);
    out.swap(into);
}
