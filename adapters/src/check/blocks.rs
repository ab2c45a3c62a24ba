//! Replies in pieces: starts, indices, stops, and whether they say what the whole blocks say.

use super::report::{Line, Place, Report};
use super::{Level, Rule};
use crate::event::{Block, BlockHead, BlockStart, Delta, Piece, Reply, RoundEnd, RoundStart};
use crate::json::{Cursor, Raw, Shape, Str};
use crate::vendor::Pieces;

/// A reply of one thread, as its pieces told it so far.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Where it began; `None` while none goes on.
    open: Option<Place>,
    id: Option<String>,
    /// The index that the next block has.
    next: u32,
    blocks: Vec<Told>,
    /// A whole block has had another id.
    id_differs: bool,
    /// It has a start and a stop of its own.
    framed: bool,
    /// It was fetched again, and what had come of it was kept.
    again: bool,
    /// It has more blocks than are kept: nothing is judged any more.
    lost: bool,
}

/// A block as its pieces told it.
#[derive(Debug)]
struct Told {
    index: u32,
    kind: BlockKind,
    place: Place,
    /// The id of the call that it is.
    call: Option<String>,
    open: bool,
    /// Its start is missing: that is said once.
    phantom: bool,
    /// It was held against the whole block.
    compared: bool,
    text: Sum,
    /// The arguments of a call.
    input: String,
    /// Where the pieces of the arguments stand: behind which byte, on which line.
    pieces: Vec<(usize, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking,
    Call,
    Other,
}

/// What a text says, whatever its escapes: equal texts have equal sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    hash: u64,
    units: u64,
}

/// A round that nobody ends must not fill the memory, and its blocks are searched.
const MOST_BLOCKS: usize = 1000;

impl Sum {
    fn of(text: Str<'_>) -> Self {
        let mut sum = Self::default();
        sum.add(text);
        sum
    }

    fn add(&mut self, text: Str<'_>) {
        let body = text.as_escaped();
        if body.is_ascii() && !text.has_escapes() {
            self.units(body.bytes().map(u16::from));
        } else {
            self.units(text.units());
        }
    }

    fn units(&mut self, units: impl Iterator<Item = u16>) {
        for unit in units {
            self.hash = self.hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(unit) + 1);
            self.units += 1;
        }
    }
}

impl Round {
    /// A reply begins. Where the decoder makes starts, stops and indices, they are not looked at.
    pub(super) fn start(&mut self, start: &RoundStart<'_>, pieces: Pieces, line: &Line<'_>, report: &mut Report) {
        if pieces != Pieces::Made {
            self.unstopped(Rule::MessageNotStopped.level(), report);
        }
        *self = Self {
            open: Some(line.whole()),
            id: start.id.map(|id| id.as_escaped().to_owned()),
            framed: true,
            ..Self::default()
        };
    }

    /// A block begins.
    pub(super) fn block(&mut self, start: &BlockStart<'_>, pieces: Pieces, line: &mut Line<'_>, report: &mut Report) {
        let index = start.index;
        let place = line.whole();
        if self.lost {
            return;
        }
        if pieces != Pieces::Made {
            self.need_start(line, report);
            if self.blocks.iter().any(|block| block.index == index) {
                report.find(Rule::BlockStartedTwice, place.clone(), format!("block {index} has begun already"));
                // Its pieces are the first one's from here on.
                self.blocks.retain(|block| block.index != index);
            } else if index != self.next {
                report.find(
                    Rule::BlockOutOfOrder,
                    place.clone(),
                    format!("block {index} stands where block {} would", self.next),
                );
            }
            self.next = self.next.max(index.saturating_add(1));
        } else if self.blocks.iter().any(|block| block.index >= index) {
            // Another reply, of which nothing says that it begins.
            self.blocks.clear();
        }
        let kind = match start.head {
            BlockHead::Text => BlockKind::Text,
            BlockHead::Thinking => BlockKind::Thinking,
            BlockHead::Call { .. } => BlockKind::Call,
            BlockHead::Redacted { .. } | BlockHead::Other { .. } => BlockKind::Other,
        };
        self.push(index, kind, place, false);
        if let (BlockHead::Call { id, .. }, Some(told)) = (start.head, self.blocks.last_mut()) {
            told.call = Some(id.as_escaped().to_owned());
        }
    }

    fn push(&mut self, index: u32, kind: BlockKind, place: Place, phantom: bool) {
        self.lost |= self.blocks.len() == MOST_BLOCKS;
        if !self.lost {
            self.blocks.push(Told {
                index,
                kind,
                place,
                call: None,
                open: true,
                phantom,
                compared: false,
                text: Sum::default(),
                input: String::new(),
                pieces: Vec::new(),
            });
        }
    }

    /// The model is called again; what has come of the reply is kept, if nothing gives it up.
    pub(super) const fn tries_again(&mut self) {
        self.again = self.open.is_some();
    }

    /// A piece of a block.
    pub(super) fn delta(&mut self, delta: &Delta<'_>, pieces: Pieces, line: &mut Line<'_>, report: &mut Report) {
        // The text that was cut off has stopped, and goes on: the program stops it once.
        let stopped = self
            .blocks
            .last()
            .is_some_and(|last| last.index == delta.index && !last.open && !last.compared);
        let block = match stopped && self.again {
            true => self.blocks.last_mut(),
            false => self.opened(delta.index, pieces, line, report),
        };
        let Some(block) = block else { return };
        match delta.piece {
            Piece::Text(text) | Piece::Thinking(text) => block.text.add(text),
            Piece::Input(text) => {
                block.input.push_str(&text.unescape());
                block.pieces.push((block.input.len(), line.number()));
            }
            Piece::Signature(_) | Piece::Subject(_) | Piece::Other(_) => {}
        }
    }

    /// A block is complete.
    pub(super) fn stop(&mut self, index: u32, pieces: Pieces, line: &mut Line<'_>, report: &mut Report) {
        let Some(block) = self.opened(index, pieces, line, report) else {
            return;
        };
        block.open = false;
        block.check_input(report);
        if block.compared {
            block.input = String::new();
        }
    }

    /// The block that is open at this index.
    fn opened(&mut self, index: u32, pieces: Pieces, line: &mut Line<'_>, report: &mut Report) -> Option<&mut Told> {
        if self.lost {
            return None;
        }
        let found = self.blocks.iter().rposition(|block| block.index == index && block.open);
        if found.is_none() && pieces != Pieces::Made {
            self.need_start(line, report);
            if !self.blocks.iter().any(|block| block.index == index && block.phantom) {
                report.find(Rule::BlockNotStarted, line.whole(), format!("no block {index} is open"));
                let was = self.blocks.iter().any(|block| block.index == index);
                self.push(index, BlockKind::Other, line.whole(), true);
                if let Some(phantom) = self.blocks.last_mut() {
                    phantom.compared = was;
                }
                self.next = self.next.max(index.saturating_add(1));
            }
            return self.blocks.iter_mut().rfind(|block| block.index == index && block.open);
        }
        found.map(|at| &mut self.blocks[at])
    }

    /// The reply's pieces are over. Returns the calls that were taken back.
    pub(super) fn end(&mut self, end: &RoundEnd<'_>, pieces: Pieces, line: &mut Line<'_>, report: &mut Report) -> Vec<String> {
        if pieces != Pieces::Made {
            self.need_start(line, report);
            // A block that is given up in the middle has no stop: this takes it back.
            let stands = |block: &&mut Told| end.abandoned_from.is_none_or(|from| block.index < from);
            for block in self.blocks.iter_mut().filter(|block| block.open && !block.phantom).filter(stands) {
                block.unstopped(Rule::BlockNotStopped.level(), report);
            }
        }
        self.open = None;
        let Some(from) = end.abandoned_from else {
            return Vec::new();
        };
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.blocks).into_iter().partition(|block| block.index < from);
        self.blocks = kept;
        gone.into_iter().filter_map(|block| block.call).collect()
    }

    /// Whole blocks.
    pub(super) fn whole(&mut self, reply: &Reply<'_>, pieces: Pieces, line: &mut Line<'_>, report: &mut Report) {
        if self.blocks.is_empty() || self.lost || reply.error.is_some() {
            return;
        }
        if let (Some(told), Some(id)) = (&self.id, reply.id)
            && told != id.as_escaped()
        {
            // Behind the reply's end it is another reply, which was not told in pieces.
            if self.open.is_none() || pieces == Pieces::Made || !self.says(reply) {
                return;
            }
            if !std::mem::replace(&mut self.id_differs, true) {
                let text = format!("the pieces of this reply say {:?}", Str::trusted(told).unescape());
                report.find(Rule::MessageIdDiffers, line.place(id.as_escaped()), text);
            }
        }
        for block in reply.blocks {
            let (kind, said) = match block {
                Block::Text { text, .. } => (BlockKind::Text, text.as_escaped()),
                Block::Thinking(thinking) => (BlockKind::Thinking, thinking.text.as_escaped()),
                Block::Call(call) => (BlockKind::Call, call.input.as_str()),
                Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => (BlockKind::Other, ""),
            };
            let Some(told) = self
                .blocks
                .iter_mut()
                .find(|told| !told.compared && (pieces != Pieces::Made || told.open && told.kind == kind && !told.is_bare()))
            else {
                continue;
            };
            told.compared = true;
            if told.phantom || told.kind != kind {
                continue;
            }
            if !told.is(block) {
                let text = format!("the pieces of block {} say something else", told.index);
                // A program may tidy arguments: Claude Code takes spaces from the ends of lines and `cd` into its own folder from commands,
                // and makes numbers of texts where a tool wants them.
                let is_tidied = matches!(block, Block::Call(call) if told.is_tidied(call.input));
                let level = if is_tidied { Level::Warning } else { Rule::DeltasDiffer.level() };
                report.find_as(Rule::DeltasDiffer, level, line.place(said), text);
            }
            if !told.open {
                told.input = String::new();
            }
        }
        match pieces {
            Pieces::Made => self.blocks.retain(|block| block.open && !block.compared),
            Pieces::Replies => {}
            Pieces::Messages => {
                for block in self.blocks.iter_mut().filter(|block| block.open && !block.phantom) {
                    block.unstopped(Rule::BlockNotStopped.level(), report);
                }
                self.blocks.clear();
                self.next = 0;
                self.id = None;
            }
        }
    }

    /// Whether the blocks of a reply are those that come next.
    fn says(&self, reply: &Reply<'_>) -> bool {
        let mut told = self.blocks.iter().filter(|told| !told.compared);
        !reply.blocks.is_empty() && reply.blocks.iter().all(|block| told.next().is_some_and(|told| told.is(block)))
    }

    /// The thread's turn is over: what has not stopped does not stop any more.
    pub(super) fn end_turn(&mut self, well: bool, pieces: Pieces, report: &mut Report) {
        if pieces != Pieces::Made {
            self.unstopped(if well { Level::Error } else { Level::Warning }, report);
        }
        *self = Self::default();
    }

    fn unstopped(&mut self, level: Level, report: &mut Report) {
        if let Some(place) = self.open.take().filter(|_| self.framed) {
            let text = "the reply whose pieces begin here has no stop";
            report.find_as(Rule::MessageNotStopped, level, place, text);
        }
    }

    /// Its messages have no starts and stops.
    pub(super) fn unframed(&mut self, line: &Line<'_>) {
        self.open.get_or_insert_with(|| line.whole());
    }

    fn need_start(&mut self, line: &Line<'_>, report: &mut Report) {
        if self.open.is_none() {
            *self = Self {
                open: Some(line.whole()),
                ..Self::default()
            };
            report.find(Rule::MessageNotStarted, line.whole(), "no start of a reply stands before its pieces");
        }
    }
}

impl Told {
    fn unstopped(&mut self, level: Level, report: &mut Report) {
        self.open = false;
        let text = format!("the block {} that begins here has no stop", self.index);
        report.find_as(Rule::BlockNotStopped, level, self.place.clone(), text);
    }

    /// Whether it is a text or a thought of which nothing was said.
    fn is_bare(&self) -> bool {
        self.kind != BlockKind::Call && self.text == Sum::default()
    }

    /// Whether the whole block says the same.
    fn is(&self, block: &Block<'_>) -> bool {
        match block {
            Block::Text { text, .. } => self.kind == BlockKind::Text && self.text == Sum::of(*text),
            Block::Thinking(thinking) => self.kind == BlockKind::Thinking && self.text == Sum::of(thinking.text),
            Block::Call(call) => self.kind == BlockKind::Call && self.is_input(call.input),
            _ => true,
        }
    }

    fn is_input(&self, whole: Raw<'_>) -> bool {
        let told = self.input.trim();
        if told.is_empty() {
            return matches!(whole.as_str(), "{}" | "null" | "\"\"") || whole.members().next().is_none();
        }
        match Cursor::new(told).raw() {
            // The program may add what the tool's schema has defaults for: Claude Code's `replace_all`.
            Ok(value) => value.same_value(whole) || holds_all(whole, value, Raw::same_value),
            // That is told where the block stops.
            Err(_) => true,
        }
    }

    /// Whether the whole arguments are those of the pieces but for what was taken out of texts, and for numbers and truths that were texts.
    fn is_tidied(&self, whole: Raw<'_>) -> bool {
        let is_shorter = |is: Raw<'_>, said: Raw<'_>| {
            if matches!(is.shape(), Some(Shape::Number | Shape::Bool)) {
                return said.string().is_some_and(|said| said.is(is.as_str()));
            }
            let mut said = said.as_str().bytes();
            is.string().is_some() && is.as_str().bytes().all(|byte| said.any(|other| other == byte))
        };
        let told = Cursor::new(self.input.trim()).raw();
        told.is_ok_and(|told| holds_all(whole, told, |is, said| is.same_value(said) || is_shorter(is, said)))
    }

    /// The pieces of a call's arguments are JSON when put together.
    fn check_input(&mut self, report: &mut Report) {
        if self.kind != BlockKind::Call || self.input.trim().is_empty() {
            return;
        }
        let mut at = Cursor::new(&self.input);
        let error = match at.raw() {
            Ok(_) if at.at_end() => return,
            Ok(_) => None,
            Err(error) => Some(error),
        };
        let place = error.map_or_else(|| at.position(), |error| error.at);
        let line = self.pieces.iter().find(|(end, _)| place < *end).or(self.pieces.last());
        let why = error.map_or_else(|| "something follows the arguments".to_owned(), |error| error.why.to_string());
        let place = Place {
            line: line.map_or(self.place.line, |(_, line)| *line),
            byte: 1,
            pointer: None,
        };
        let text = format!("the arguments of block {}, put together, are no JSON: {why}", self.index);
        report.find(Rule::InvalidPartialJson, place, text);
    }
}

/// Whether an object has each member of another one, which has some, with a value that `is` what that says.
fn holds_all<'a>(object: Raw<'a>, said: Raw<'a>, is: impl Fn(Raw<'a>, Raw<'a>) -> bool) -> bool {
    let holds = |(name, said): (Str<'_>, Raw<'a>)| {
        let member = object.members().find(|(other, _)| other.unescape() == name.unescape());
        member.is_some_and(|(_, value)| is(value, said))
    };
    said.members().next().is_some() && said.members().all(holds)
}
