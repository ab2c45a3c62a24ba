//! Texts and thoughts, whole and in pieces.

use super::decode::Decoder;
use super::items::ItemMessage;
use super::message::Message;
use crate::event::{Block, BlockHead, BlockStart, BlockStop, Delta, Kind, Piece, Reply, RoundEnd, RoundStart, Sink, Thinking, Topic};
use crate::json::{Error, Raw, Shape, Str};

/// A model call, of which the program says when it is over: it tells its tokens.
#[derive(Debug, Default)]
pub(super) struct Round {
    open: bool,
    /// A call of it has its result: what the model says next is another reply.
    resulted: bool,
    /// Blocks that go on in pieces: the item, which of its parts, and the block's number.
    blocks: Vec<(String, u64, u32)>,
    next: u32,
}

/// The number of a part of a thought itself, which is none of its summary.
const fn own_part(index: u64) -> u64 {
    index.saturating_add(1 << 32)
}

/// More blocks than this are not open at a time.
const MOST_BLOCKS: usize = 256;

impl Round {
    /// It is over. Whether it had begun.
    pub(super) fn leave(&mut self) -> bool {
        std::mem::take(self).open
    }

    pub(super) const fn results(&mut self) {
        self.resulted = true;
    }

    fn block(&self, item: Str<'_>, part: u64) -> Option<u32> {
        let found = self.blocks.iter().find(|(of, number, _)| of == item.as_escaped() && *number == part);
        found.map(|(_, _, index)| *index)
    }
}

impl Decoder {
    /// The model says something: a reply has begun.
    pub(super) fn enter<'a>(&mut self, message: &Message<'a>, says: bool, sink: &mut dyn Sink<'a>) {
        if self.origin(message).parent.is_some() {
            return;
        }
        self.compacted = false;
        if self.round.resulted && says {
            self.tell_with(message, Kind::RoundEnd(&RoundEnd::PLAIN), &[], sink);
            self.round = Round::default();
        }
        if !std::mem::replace(&mut self.round.open, true) {
            self.tell_with(message, Kind::RoundStart(message.cx.keep(RoundStart::default())), &[], sink);
        }
    }

    /// The model is called again: what it has not said to its end, it says anew.
    pub(super) fn give_up<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        let from = self.round.blocks.iter().map(|(.., index)| *index).min();
        if from.is_none() || self.origin(message).parent.is_some() {
            return;
        }
        self.round.leave();
        let end = message.cx.keep(RoundEnd {
            abandoned_from: from,
            ..RoundEnd::PLAIN
        });
        self.tell_with(message, Kind::RoundEnd(end), &[], sink);
    }

    fn begin<'a>(&mut self, item: Str<'a>, part: u64) -> u32 {
        let round = &mut self.round;
        let index = round.next;
        round.next += 1;
        if round.blocks.len() == MOST_BLOCKS {
            round.blocks.remove(0);
        }
        round.blocks.push((item.as_escaped().to_owned(), part, index));
        index
    }

    pub(super) fn piece<'a>(&mut self, message: &Message<'a>, method: &str, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let item = message.need("itemId")?;
        let index = |name: &str| message.params.get(name).and_then(Raw::u64);
        let part = index("summaryIndex").or_else(|| index("contentIndex").map(own_part)).unwrap_or(0);
        let thinks = method.starts_with("item/reasoning/");
        if method.ends_with("summaryPartAdded") {
            self.enter(message, true, sink);
            let index = self.begin(item, part);
            let head = BlockHead::Thinking;
            self.tell(message, Kind::BlockStart(BlockStart { index, head }), sink);
            return Ok(());
        }
        let text = message.need("delta")?;
        let index = match self.round.block(item, part) {
            // A call may end in the middle of what the model says: that goes on.
            Some(index) => index,
            None => {
                self.enter(message, true, sink);
                let index = self.begin(item, part);
                let head = if thinks { BlockHead::Thinking } else { BlockHead::Text };
                self.tell_with(message, Kind::BlockStart(BlockStart { index, head }), &[], sink);
                index
            }
        };
        let piece = if thinks { Piece::Thinking(text) } else { Piece::Text(text) };
        self.tell(message, Kind::Delta(Delta { index, piece }), sink);
        Ok(())
    }

    /// A text or a thought that begins, or is whole.
    pub(super) fn said<'a>(&mut self, item: &ItemMessage<'a>, thinks: bool, whole: bool, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let message = &item.message;
        let cx = &message.cx;
        let texts = |name: &str| item.parts.get(name).filter(|list| list.shape() == Some(Shape::Array)).map(Raw::strings);
        let blocks: Vec<Block<'a>> = if thinks {
            let summary = texts("summary").into_iter().flatten().zip(0..);
            let content = texts("content").into_iter().flatten().zip((0..).map(own_part));
            let mut parts: Vec<_> = summary.chain(content).collect();
            // In the order in which their pieces began.
            parts.sort_by_key(|(_, part)| self.round.block(item.id, *part).unwrap_or(u32::MAX));
            let thought = |(text, _)| Block::Thinking(Thinking { text, ..Thinking::default() });
            parts.into_iter().map(thought).collect()
        } else {
            let text = item
                .parts
                .get("text")
                .and_then(Raw::string)
                .ok_or_else(|| message.missing("params/item/text"))?;
            let says = !text.is_empty() || whole && self.round.block(item.id, 0).is_some();
            says.then_some(Block::Text { text, fields: &[] }).into_iter().collect()
        };
        if !whole && !thinks {
            self.enter(message, true, sink);
            let index = self.begin(item.id, 0);
            let head = BlockHead::Text;
            self.tell(message, Kind::BlockStart(BlockStart { index, head }), sink);
            return Ok(());
        }
        if !whole || blocks.is_empty() {
            self.notice(message, Topic::Status, None, sink);
            return Ok(());
        }
        let goes_on = self.round.blocks.iter().any(|(of, ..)| of == item.id.as_escaped());
        self.enter(message, !goes_on, sink);
        item.took();
        let blocks = cx.list(&blocks);
        let reply = cx.keep(Reply { blocks, ..Reply::default() });
        self.tell(message, Kind::Reply(reply), sink);
        let mut ended = Vec::new();
        self.round.blocks.retain(|(of, _, index)| {
            let ends = of == item.id.as_escaped();
            ended.extend(ends.then_some(*index));
            !ends
        });
        for index in ended {
            self.tell_with(message, Kind::BlockStop(BlockStop { index }), &[], sink);
        }
        Ok(())
    }
}
