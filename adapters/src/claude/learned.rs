//! The hot path: deltas that are spelled like the last one.

use crate::codec::Cx;
use crate::event::{At, Delta, Event, Field, Kind, Origin, Piece, Sink};
use crate::json::{Raw, Str, Template};

/// How the last delta was spelled. Lines of one reply differ in the piece and in the line's own id alone; whatever the order of
/// their keys, one comparison of the rest tells that nothing else has changed, and everything else is known from the last line.
#[derive(Debug, Default)]
pub(super) struct Learned {
    template: Template<2>,
    index: u32,
    kind: PieceKind,
    /// Where the two holes were, in the order of the line: where each ended, and which string it is.
    holes: [(usize, usize); 2],
    lens: [usize; 2],
    session: Option<Span>,
    parent: Option<Span>,
    fields: Vec<Slot>,
    /// How many lines in a row were spelled otherwise: with keys shuffled on each line, learning is not worth its time.
    misses: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PieceKind {
    #[default]
    Text,
    Thinking,
    Signature,
    Input,
}

/// A part of the line, as it stood in the last one.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: usize,
    to: usize,
}

/// A field of the line.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: At<'static>,
    known: bool,
    key: Span,
    value: Span,
}

impl Learned {
    /// Reads a delta that is spelled like the last one, tells it, and returns how long the line is.
    #[inline]
    pub(super) fn read<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let ([piece, id], used) = self.template.read(text)?;
        self.misses = 0;
        // Behind each hole everything has moved by what the holes before it have grown. Wrapping keeps the sums exact when they shrink.
        let new = [piece.as_escaped().len(), id.as_escaped().len()];
        let grown = |hole: usize| new[hole].wrapping_sub(self.lens[hole]);
        let first = grown(self.holes[0].1);
        let both = first.wrapping_add(grown(self.holes[1].1));
        let part = |span: Span| -> &'a str {
            let by = if span.from < self.holes[0].0 {
                0
            } else if span.from < self.holes[1].0 {
                first
            } else {
                both
            };
            // The text around the holes is that of the last line, so the borders are those of characters.
            text.get(span.from.wrapping_add(by)..span.to.wrapping_add(by)).unwrap_or("")
        };
        let piece = match self.kind {
            PieceKind::Text => Piece::Text(piece),
            PieceKind::Thinking => Piece::Thinking(piece),
            PieceKind::Signature => Piece::Signature(piece),
            PieceKind::Input => Piece::Input(piece),
        };
        let origin = Origin {
            session: self.session.map(|span| Str::trusted(part(span))),
            id: Some(id),
            parent: self.parent.map(|span| Str::trusted(part(span))),
            ..Origin::default()
        };
        let fields = cx.arena.alloc_slice_fill_iter(self.fields.iter().map(|slot| Field {
            at: slot.at,
            key: Str::trusted(part(slot.key)),
            value: Raw::trusted(part(slot.value)),
            known: slot.known,
        }));
        sink.event(&Event {
            origin,
            kind: Kind::Delta(Delta { index: self.index, piece }),
            fields,
        });
        Some(used)
    }

    /// Remembers how a delta's line is spelled.
    pub(super) fn learn(&mut self, line: &str, event: &Event<'_>, delta: Delta<'_>) {
        self.misses += 1;
        if self.misses > 16 && !self.misses.is_multiple_of(16) {
            return;
        }
        let (kind, piece) = match delta.piece {
            Piece::Text(text) => (PieceKind::Text, text),
            Piece::Thinking(text) => (PieceKind::Thinking, text),
            Piece::Signature(text) => (PieceKind::Signature, text),
            Piece::Input(text) => (PieceKind::Input, text),
            Piece::Subject(_) | Piece::Other(_) => return,
        };
        let Origin {
            session,
            id: Some(id),
            parent,
            agent: None,
            turn: None,
            time: None,
        } = event.origin
        else {
            return;
        };
        let begin = line.as_ptr() as usize;
        let span = |part: &str| {
            let from = (part.as_ptr() as usize).wrapping_sub(begin);
            (from <= line.len() && part.len() <= line.len() - from).then(|| Span { from, to: from + part.len() })
        };
        let (Some(piece_at), Some(id_at)) = (span(piece.as_escaped()), span(id.as_escaped())) else {
            return;
        };
        let find = |part: Option<Str<'_>>| match part {
            None => Some(None),
            Some(part) => span(part.as_escaped()).map(Some),
        };
        let (Some(session), Some(parent)) = (find(session), find(parent)) else {
            return;
        };
        self.fields.clear();
        for field in event.fields {
            let at = match field.at {
                At::Line => At::Line,
                At::Part(crate::blocks::EVENT) => At::Part(crate::blocks::EVENT),
                At::Part(crate::blocks::DELTA) => At::Part(crate::blocks::DELTA),
                _ => return self.forget(),
            };
            let (Some(key), Some(value)) = (span(field.key.as_escaped()), span(field.value.as_str())) else {
                return self.forget();
            };
            self.fields.push(Slot {
                at,
                known: field.known,
                key,
                value,
            });
        }
        let mut holes = [(piece_at.to, 0), (id_at.to, 1)];
        holes.sort_unstable();
        (self.index, self.kind, self.session, self.parent) = (delta.index, kind, session, parent);
        self.holes = holes;
        self.lens = [piece.as_escaped().len(), id.as_escaped().len()];
        self.template.learn(line, [piece, id]);
    }

    fn forget(&mut self) {
        self.template = Template::default();
    }
}
