//! One block that is on its way.

use std::borrow::Cow;

use super::Became;
use crate::event::{Block, Media, Origin, Piece, Thinking, ToolCall, ToolResult, Usage};
use crate::json::{Out, Raw, Str, escape_json, leaves, on_one_line};
use crate::tools::Translate;
use crate::tools::reshaped::Made;
use crate::trace::Kept;

/// Beyond this the memory of a block is given back.
pub(super) const KEEP: usize = 1 << 16;

/// So many pieces of other kinds are kept of a block.
const MOST_OTHERS: usize = 1024;

/// A block that deltas build up, or a snapshot that was passed on.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The source's index.
    pub(super) source: u32,
    /// The target's index.
    pub(super) index: u32,
    pub(super) kind: BlockKind,
    pub(super) id: String,
    /// The tool of a call; what a block begins with that has no pieces of its own: the data of a redacted thought, the whole of another.
    pub(super) name: String,
    /// The id of the line that the whole block gets, if that is known.
    pub(super) line: String,
    /// When it ended, if that is known, else when it began; of a call when it began. Milliseconds since 1970.
    pub(super) time: Option<i64>,
    /// The pieces put together, still escaped.
    pub(super) body: String,
    /// Where each piece of a call's arguments ends in `body`.
    pub(super) ends: Vec<usize>,
    /// Where the source says these pieces, for the ledger.
    pub(super) kept: Kept,
    /// Where it says the name of a call that comes in pieces.
    pub(super) named: Kept,
    pub(super) signature: Option<String>,
    pub(super) subject: Option<String>,
    /// Pieces of other kinds, as written: what a text rests on, and a summary.
    pub(super) others: Vec<String>,
    /// The block's start went on.
    pub(super) started: bool,
    /// The block's stop went on.
    pub(super) closed: bool,
    /// The whole block went on (or nobody wants it).
    pub(super) shown: bool,
    /// A snapshot of the source has confirmed it.
    pub(super) confirmed: bool,
    /// The source says that it is complete.
    pub(super) complete: bool,
    /// A block of the snapshot that is being looked at says the same.
    pub(super) taken: bool,
    /// A whole call that waits.
    pub(super) wait: Wait,
    /// Where the source says when that call was made, and the id of its round; or, of a call that is only heard of by its arguments,
    /// whose it is.
    pub(super) facts: [Kept; 3],
}

/// What a whole call waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wait {
    #[default]
    Nothing,
    /// Its own result, which tells what to call it.
    Result,
    /// A call before it.
    Turn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockKind {
    #[default]
    Text,
    Thinking,
    Call,
    Redacted,
    Other,
}

impl Pending {
    /// Forgets the block, keeps the memory; what one huge block took is given back.
    pub(super) fn clear(&mut self) {
        let Self {
            source: _,
            index: _,
            kind: _,
            id,
            name,
            line,
            time: _,
            body,
            ends,
            kept,
            named,
            signature,
            subject,
            others,
            started,
            closed,
            shown,
            confirmed,
            complete,
            taken,
            wait,
            facts,
        } = self;
        others.clear();
        for text in [id, name, line, body] {
            text.clear();
            if text.capacity() > KEEP {
                *text = String::new();
            }
        }
        ends.clear();
        if ends.capacity() > KEEP {
            *ends = Vec::new();
        }
        (*kept, *named) = (Kept::default(), Kept::default());
        (*facts, *wait) = (Default::default(), Wait::Nothing);
        (*signature, *subject) = (None, None);
        for flag in [started, closed, shown, confirmed, complete, taken] {
            *flag = false;
        }
        (self.source, self.index, self.kind, self.time) = (0, 0, BlockKind::Text, None);
    }

    /// A block begins that is all there, but for arguments that may come in pieces. `hold` is for the ledger of a target without pieces.
    pub(super) fn begin_whole(&mut self, kind: BlockKind, what: &str, hold: Option<&Out>) {
        self.kind = kind;
        self.name.push_str(what);
        hold.into_iter().for_each(|out| out.hold(&mut self.kept, what));
    }

    /// What a text rests on, as its whole block says it.
    pub(super) fn citations(&self) -> Option<String> {
        let all = self.others.iter().filter_map(|piece| Raw::trusted(piece).get("citation"));
        let all: Vec<_> = all.map(Raw::as_str).collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join(",")))
    }

    /// The block as it began, with what a summary says that has come since.
    fn summed_up(&self) -> Option<String> {
        let is_summary = |piece: &Raw<'_>| piece.get("type").is_some_and(|kind| kind.as_str() == "\"compaction_delta\"");
        let mut members: Vec<_> = Raw::trusted(&self.name).members().collect();
        let pieces = self.others.iter().map(|piece| Raw::trusted(piece)).filter(is_summary);
        let mut said = pieces
            .flat_map(Raw::members)
            .filter(|(key, value)| !key.is("type") && !value.is_null())
            .peekable();
        said.peek()?;
        for (key, value) in said {
            match members.iter_mut().find(|(known, _)| *known == key) {
                Some(member) => member.1 = value,
                None => members.push((key, value)),
            }
        }
        let members = members.iter().map(|(key, value)| format!("\"{}\":{}", key.as_escaped(), value.as_str()));
        Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
    }

    /// The whole of such a block, with the arguments that have come.
    pub(super) fn whole_raw(&self) -> Cow<'_, str> {
        if self.ends.is_empty() {
            return self.summed_up().map_or(Cow::Borrowed(&self.name), Cow::Owned);
        }
        let input = Str::trusted(&self.body).unescape();
        if !is_one_value(&input) {
            return Cow::Borrowed(&self.name);
        }
        let members = Raw::trusted(&self.name).members().filter(|(key, _)| !key.is("input"));
        let members = members.map(|(key, value)| format!("\"{}\":{},", key.as_escaped(), value.as_str()));
        Cow::Owned(format!("{{{}\"input\":{}}}", members.collect::<String>(), on_one_line(&input)))
    }

    /// Whether there is a block to be told of: not every one that begins says something.
    pub(super) fn says_something(&self) -> bool {
        let begun = matches!(self.kind, BlockKind::Redacted | BlockKind::Other);
        begun || !self.body.is_empty() || self.signature.is_some() || self.started
    }

    /// One more piece has come.
    #[inline]
    pub(super) fn grow(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) | Piece::Thinking(text) => self.body.push_str(text.as_escaped()),
            Piece::Signature(text) => self.signature.get_or_insert_default().push_str(text.as_escaped()),
            Piece::Subject(text) => self.subject.get_or_insert_default().push_str(text.as_escaped()),
            Piece::Input(text) => {
                self.body.push_str(text.as_escaped());
                self.ends.push(self.body.len());
            }
            Piece::Other(raw) if self.others.len() < MOST_OTHERS => self.others.push(raw.as_str().to_owned()),
            Piece::Other(_) => {}
        }
    }

    /// A whole call waits for its result, which tells what becomes of its arguments.
    pub(super) fn hold_input(&mut self, input: Raw<'_>, out: &Out) {
        if out.traced() {
            leaves(input).iter().for_each(|part| out.hold(&mut self.kept, part.as_str()));
        }
    }

    /// The whole block is there, of which these pieces came: those go on with it that it says.
    pub(super) fn tell_pieces(&mut self, block: &Block<'_>, became: Became, out: &Out) {
        let call = match block {
            Block::Call(call) => call,
            Block::Text { text, .. } | Block::Thinking(Thinking { text, .. }) => {
                let said = Str::trusted(&self.body);
                let same = text.as_escaped().starts_with(said.as_escaped()) || text.same_text(said);
                return self.tell_begun(same, became, out);
            }
            Block::Redacted { data, .. } => return self.tell_begun(data.same_text(Str::trusted(&self.name)), became, out),
            Block::Media(Media { raw, .. }) | Block::Other { raw, .. } => {
                let made = Made::of(vec![raw.as_str().as_bytes()]);
                return self.tell_begun(self.kept.is_empty() || made.lacks_nothing(Raw::trusted(&self.name)), became, out);
            }
        };
        out.release(&mut self.facts[2]);
        match call.name.as_escaped() == self.name {
            // Where it may stand alone, that is told of the call's own.
            true if became == Became::Nothing => out.merge_held(&mut self.named, "the whole call says its name"),
            true => out.release(&mut self.named),
            false => out.drop_held(&mut self.named, "the whole call says another name"),
        }
        if self.kept.is_empty() || says_json(&self.body, call.input) {
            return tell_kept(&mut self.kept, became, out);
        }
        let mut said = Vec::new();
        escape_json(call.input.as_str(), &mut said);
        let same = |(a, b): &(&u8, &u8)| a == b;
        let before = self.body.as_bytes().iter().zip(&said).take_while(same).count();
        let behind = self.body.as_bytes().iter().rev().zip(said.iter().rev()).take_while(same).count();
        let differs = before..self.body.len().saturating_sub(behind).max(before);
        let first = self.ends.partition_point(|&end| end <= differs.start);
        let last = self.ends.partition_point(|&end| end < differs.end);
        let mut rest = self.kept.split_off(last + 1);
        let mut lost = self.kept.split_off(first);
        out.drop_held(&mut lost, "the final arguments differ from this piece");
        tell_kept(&mut self.kept, became, out);
        tell_kept(&mut rest, became, out);
    }

    /// The whole block says the same as what it began with, or something else.
    fn tell_begun(&mut self, same: bool, became: Became, out: &Out) {
        match same {
            true => tell_kept(&mut self.kept, became, out),
            false => out.drop_held(&mut self.kept, "the whole block says something else"),
        }
    }

    /// The whole block comes when it has gone over as its pieces say it. What it says otherwise has no place any more.
    pub(super) fn tell_whole(&self, block: &Block<'_>, out: &Out) {
        let same = match block {
            _ if !out.traced() => return,
            Block::Call(call) => self.says_input(call.input),
            Block::Text { text, .. } | Block::Thinking(Thinking { text, .. }) => text.same_text(Str::trusted(&self.body)),
            _ => true,
        };
        match block {
            _ if same => out.merged("a snapshot of what went over in pieces"),
            Block::Call(call) => [call.id, call.name].iter().for_each(|part| out.used(part.as_escaped())),
            _ => {}
        }
    }

    fn says_input(&self, input: Raw<'_>) -> bool {
        let body = if self.body.is_empty() { "{}" } else { &self.body };
        says_json(body, input)
    }

    /// Makes an empty one into a block that a snapshot said.
    pub(super) fn say(&mut self, block: &Block<'_>) {
        self.confirmed = true;
        self.complete = true;
        self.kind = match block {
            Block::Text { .. } => BlockKind::Text,
            Block::Thinking(_) => BlockKind::Thinking,
            Block::Call(call) => {
                self.id.push_str(call.id.as_escaped());
                BlockKind::Call
            }
            Block::Redacted { .. } => BlockKind::Redacted,
            _ => BlockKind::Other,
        };
    }

    /// Whether it went on, whole and with its end, and nothing that follows can be about it.
    pub(super) fn is_said(&self) -> bool {
        self.shown && self.confirmed && self.complete && self.wait == Wait::Nothing && (self.closed || !self.started)
    }

    /// Whether it was brought to its end before the source has ended it.
    #[inline]
    pub(super) const fn has_gone(&self) -> bool {
        self.closed && !self.complete && !self.confirmed
    }

    /// Whether this block is what a block of a snapshot says. With the same reply id the kind and the order decide;
    /// without one the text must agree as far as it goes.
    pub(super) fn says(&self, block: &Block<'_>, same_id: bool) -> bool {
        match (block, self.kind) {
            (Block::Text { text, .. }, BlockKind::Text) | (Block::Thinking(Thinking { text, .. }), BlockKind::Thinking) => {
                same_id || self.body.is_empty() || text.as_escaped().starts_with(&self.body) || text.same_text(Str::trusted(&self.body))
            }
            (Block::Call(call), BlockKind::Call) => self.id.is_empty() || self.id == call.id.as_escaped(),
            (Block::Redacted { .. }, BlockKind::Redacted) | (Block::Media(_) | Block::Other { .. }, BlockKind::Other) => same_id,
            _ => false,
        }
    }
}

/// The origin of something that the thread says by itself.
pub(super) fn in_thread<'o>(origin: Origin<'o>, parent: &'o str) -> Origin<'o> {
    Origin {
        session: origin.session,
        parent: some(parent),
        ..Origin::default()
    }
}

pub(super) fn some(text: &str) -> Option<Str<'_>> {
    (!text.is_empty()).then(|| Str::trusted(text))
}

/// What the ledger says of what is not written.
pub(super) const NO_PLACE: &str = "no place in the target";

/// The pieces of a block go on as the whole one, or do not.
pub(super) fn tell_kept(kept: &mut Kept, became: Became, out: &Out) {
    match became {
        Became::Said => out.release(kept),
        Became::Translated => out.rename_held(kept, "the target's own arguments"),
        Became::Nothing => out.drop_held(kept, NO_PLACE),
    }
}

/// A call that has waited for its result goes on as `shown`: tells of its name and of each of its arguments, which that result decided
/// if it is there.
pub(super) fn tell_waited(
    (named, kept): (&mut Kept, &mut Kept),
    (call, shown, result): (&ToolCall<'_>, &ToolCall<'_>, Option<ToolResult<'_>>),
    tools: Option<&Translate>,
    out: &Out,
) {
    if call.name != shown.name {
        out.rename_held(named, "the target's own tool name");
    }
    let parts = leaves(call.input);
    let Some(tools) = tools.filter(|_| call.input != shown.input && parts.len() == kept.len()) else {
        return out.release(kept);
    };
    let mut each: Vec<Kept> = Vec::with_capacity(parts.len());
    while !kept.is_empty() {
        let rest = kept.split_off(1);
        each.push(std::mem::replace(kept, rest));
    }
    let Some(result) = result else {
        parts.iter().zip(&each).for_each(|(part, kept)| out.tells(part.as_str(), kept));
        tools.tell(call, shown, None, out);
        return parts.iter().zip(&mut each).for_each(|(part, kept)| out.told(kept, part.as_str()));
    };
    let made = Made::of(vec![shown.input.as_str().as_bytes()]);
    for (part, kept) in parts.into_iter().zip(&mut each) {
        match made.lacks_nothing(part) {
            true => out.rename_held(kept, "the target's own arguments"),
            false => out.drop_held(kept, "no place in the target: the result tells what was done"),
        }
    }
    let source = Made::result(&ToolResult { of: Some(*call), ..result });
    tools.tell_invented(shown, shown.input, |_, value| source.lacks_nothing(value), out);
}

/// Per number the last value said wins.
pub(super) fn merge(into: &mut Option<Usage<'static>>, new: &Usage<'_>) {
    *into = Some(match into {
        None => new.detached(),
        Some(old) => Usage {
            scope: old.scope,
            provenance: old.provenance,
            ..new.over(old)
        },
    });
}

/// Whether pieces of a call's arguments, put together, say the same as the arguments.
pub(super) fn says_json(escaped: &str, input: Raw<'_>) -> bool {
    // As a rule they agree byte by byte, and the arguments were checked when they were read.
    if Str::trusted(escaped).spells_json(input.as_str()) {
        return true;
    }
    let text = Str::trusted(escaped).unescape();
    is_one_value(&text) && Raw::trusted(text.trim()).same_value(input)
}

pub(super) fn is_one_value(text: &str) -> bool {
    let mut at = crate::json::Cursor::new(text);
    at.raw().is_ok() && at.at_end()
}
