//! Lines that repeat: a piece of text, of a thought or of a call's arguments, spelled like the line before.

use crate::event::{Delta, Event, Kind, Origin, Piece, Sink, Time};
use crate::json::{Raw, Str, Template};

/// What the last line was, if it was one piece of one block that is still open.
#[derive(Debug, Default)]
pub(super) struct Hot {
    kind: HotKind,
    /// Which block the piece belongs to.
    index: u32,
    session: Option<Spot>,
    created: Option<Spot>,
    one: Template<1>,
    two: Template<2>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HotKind {
    /// The next line takes the general way.
    #[default]
    Cold,
    /// `delta.content`.
    Text,
    /// `delta.reasoning_content` alone.
    Reasoning,
    /// `delta.reasoning_content` and the same in an `x-qwen-thought`.
    Thought,
    /// `delta.tool_calls[0].function.arguments`.
    Input,
}

/// Where a fixed part stands: so many bytes from the line's beginning, or from its end if it stands behind what changes.
#[derive(Clone, Copy, Debug)]
struct Spot {
    from: usize,
    len: usize,
    from_end: bool,
}

impl Spot {
    /// The spot of `part`, which lies before or behind all `holes` of `line`.
    fn of(part: &str, line: &str, holes: &[Str<'_>]) -> Option<Self> {
        let address = |text: &str| text.as_ptr() as usize;
        let from = address(part).checked_sub(address(line)).filter(|from| from + part.len() <= line.len())?;
        if holes.iter().all(|hole| address(part) + part.len() <= address(hole.as_escaped())) {
            return Some(Self {
                from,
                len: part.len(),
                from_end: false,
            });
        }
        let behind = |hole: &Str<'_>| address(hole.as_escaped()) + hole.as_escaped().len() <= address(part);
        holes.iter().all(behind).then_some(Self {
            from: line.len() - from,
            len: part.len(),
            from_end: true,
        })
    }

    #[inline]
    fn read(self, line: &str) -> &str {
        let from = if self.from_end { line.len() - self.from } else { self.from };
        &line[from..from + self.len]
    }
}

impl Hot {
    /// Whether the next line may look like the last.
    pub(super) fn is_warm(&self) -> bool {
        self.kind != HotKind::Cold
    }

    /// The next line takes the general way.
    pub(super) fn forget(&mut self) {
        self.kind = HotKind::Cold;
    }

    /// Remembers how `line` is spelled, which was one piece of block `index` and nothing else. `holes` is what changes.
    pub(super) fn learn(&mut self, kind: HotKind, index: u32, line: &str, origin: &Origin<'_>, holes: &[Str<'_>]) {
        let mut spots = [None; 2];
        for (spot, part) in spots.iter_mut().zip([origin.session.map(Str::as_escaped), origin.time.map(Time::source)]) {
            let Some(part) = part else { continue };
            *spot = Spot::of(part, line, holes);
            if spot.is_none() {
                return;
            }
        }
        [self.session, self.created] = spots;
        match *holes {
            [one] => self.one.learn(line, [one]),
            [first, second] => self.two.learn(line, [first, second]),
            _ => return,
        }
        (self.kind, self.index) = (kind, index);
    }

    /// If `text` begins with a line like the last one: tells the piece, and how long the line is.
    #[inline]
    pub(super) fn read<'a>(&self, text: &'a str, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let (piece, used) = match self.kind {
            HotKind::Cold => return None,
            HotKind::Thought => {
                let ([thought, again], used) = self.two.read(text)?;
                if thought != again {
                    return None;
                }
                (Piece::Thinking(thought), used)
            }
            kind => {
                let ([hole], used) = self.one.read(text)?;
                let piece = match kind {
                    HotKind::Text => Piece::Text(hole),
                    HotKind::Input => Piece::Input(hole),
                    _ => Piece::Thinking(hole),
                };
                (piece, used)
            }
        };
        let line = &text[..used];
        let origin = Origin {
            session: self.session.map(|spot| Str::trusted(spot.read(line))),
            time: self.created.map(|spot| Time::Seconds(Raw::trusted(spot.read(line)))),
            ..Origin::default()
        };
        sink.event(&Event::new(origin, Kind::Delta(Delta { index: self.index, piece })));
        Some(used)
    }
}
