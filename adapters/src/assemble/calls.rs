use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use std::ops::Range;
use std::rc::Rc;

use super::pending::KEEP;
use crate::codec::Cx;
use crate::event::{ToolCall, ToolKind, ToolResult};
use crate::ids::hash;
use crate::json::{Out, Raw, Str, alike};
use crate::tools::reshaped::Made;
use crate::trace::Kept;

/// The tool calls of a turn, so that a result can be told with its call.
///
/// There may be very many, so what is kept of each is little, and their texts stand in one.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// In the order in which they were made.
    all: Vec<Stored>,
    /// Of each call its id, its name and its arguments, one behind the other.
    text: String,
    /// How much of `text` nobody needs any more.
    unused: usize,
    /// By the places of their calls: arguments that are long, which are let go as soon as their results are there.
    long: BTreeMap<usize, Long>,
    /// Of the calls that are not among the latest: the last of those whose ids have this hash; the others follow by [`Stored::before`].
    /// A tree, because the hash is the same in every run: no choice of ids makes a search long.
    last: BTreeMap<u64, Place>,
    /// What calls that went over do not say, but perhaps their results: by their ids the arguments, and where the source says them.
    unsaid: BTreeMap<String, Vec<(String, Kept)>>,
    /// The latest calls that were answered for their agent when their turn was over, by their ids.
    given_up: VecDeque<String>,
    /// Counts results, up to 255 and anew: calls between two of them were made together.
    made: u8,
    /// Two calls waited under one id.
    twice: bool,
}

/// A call that waits for its result.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// Where in [`Calls::text`] it begins.
    begin: usize,
    /// How long its id, its name and its arguments are there; longer ones are none, or in [`Calls::long`].
    id: u32,
    name: u16,
    input: u16,
    kind: ToolKind,
    /// The arguments were checked in full.
    sound: bool,
    resolved: bool,
    /// What came of it, in short.
    answer: u64,
    /// [`Calls::made`] when it was made.
    made: u8,
    /// The call before this one whose id has the same hash.
    before: Option<Place>,
}

/// Arguments that are long.
#[derive(Debug)]
pub(super) enum Long {
    /// A part of a line that is kept whole.
    Part {
        line: Rc<Vec<u8>>,
        part: Range<usize>,
    },
    Copy(Box<str>),
}

/// The place of a call among [`Calls::all`], counted from 1. There are never so many that it would not hold.
type Place = NonZero<u32>;

// There may be millions.
const _: () = assert!(size_of::<Stored>() == 32);

/// How many of the latest calls are looked at before the others are searched by hash: results come soon.
const NEAR: usize = 6;
/// How many places are kept for their memory when a turn is over, and of how many calls it is known that they were given up.
const SPARE: usize = 64;
/// So many bytes of texts that nobody needs are little.
const UNUSED: usize = 1 << 12;
/// So many calls of one id are passed over in the search for one that waits.
const ALIKE: usize = 1 << 10;
/// Of calls that have one id and were made together none is farther from the last one.
const TOGETHER: usize = 64;
/// How many calls of turns that are over wait for their results: those before them get none any more.
const OUTLIVING: usize = 256;

impl Calls {
    /// Remembers a call; returns its place. A call that is said again is an update, but for one that has its result: behind that comes
    /// another call, whatever its id.
    pub(super) fn add(&mut self, call: &ToolCall<'_>, cx: Cx<'_>) -> usize {
        let at = self.find(call.id).filter(|at| !self.all[*at].resolved);
        self.store(at, call, cx)
    }

    /// Remembers a call that was not spoken of before, in the words of it; returns its place. Ids may come twice.
    pub(super) fn add_new(&mut self, call: &ToolCall<'_>, cx: Cx<'_>) -> usize {
        let is_same = |at: &usize| !self.all[*at].resolved && self.input(*at) == call.input.as_str();
        let at = self.find(call.id).filter(is_same);
        self.store(at, call, cx)
    }

    fn store(&mut self, at: Option<usize>, call: &ToolCall<'_>, cx: Cx<'_>) -> usize {
        // One that has its result makes room for the next of its id.
        let at = match at.or_else(|| self.find(call.id)) {
            Some(before) if at.is_some() || self.all[before].resolved => before,
            before => {
                self.twice |= before.is_some();
                self.fresh(call.id.as_escaped())
            }
        };
        let long = Long::of(call.input.as_str(), cx);
        let input = if long.is_some() { "" } else { call.input.as_str() };
        let name = short::<u16>(call.name.as_escaped());
        match long {
            Some(long) => _ = self.long.insert(at, long),
            None => _ = self.long.remove(&at),
        }
        self.begin_text(at);
        self.text.push_str(name);
        self.text.push_str(input);
        let stored = &mut self.all[at];
        stored.name = length(name);
        stored.input = length(input);
        if std::mem::take(&mut stored.resolved) {
            stored.made = self.made;
        }
        stored.kind = call.kind;
        stored.sound = call.input.is_checked();
        self.tidy();
        at
    }

    /// Sees to it that the texts end with the id of a call, and that nothing else is kept of its own.
    fn begin_text(&mut self, at: usize) {
        let stored = self.all[at];
        let behind_id = stored.begin + stored.id as usize;
        if stored.end() == self.text.len() {
            return self.text.truncate(behind_id);
        }
        self.unused += stored.end() - stored.begin;
        self.all[at].begin = self.text.len();
        self.text.extend_from_within(stored.begin..behind_id);
    }

    /// The place of a new call.
    fn fresh(&mut self, id: &str) -> usize {
        let id = short::<u32>(id);
        self.given_up.retain(|given_up| given_up != id);
        let at = self.all.len();
        self.all.push(Stored {
            begin: self.text.len(),
            id: length(id),
            name: 0,
            input: 0,
            kind: ToolKind::default(),
            sound: false,
            resolved: false,
            answer: 0,
            made: self.made,
            before: None,
        });
        self.text.push_str(id);
        if let Some(far) = at.checked_sub(NEAR)
            && let Some(place) = u32::try_from(far + 1).ok().and_then(Place::new)
        {
            self.all[far].before = self.last.insert(hash(self.id(far)), place);
        }
        at
    }

    /// The call at a place, put into the line's memory for its result, or into `part`. What it held is let go: a call has one result.
    pub(super) fn resolve<'a>(&mut self, at: usize, id: Str<'a>, part: &'a mut Option<Long>, cx: Cx<'a>) -> Option<ToolCall<'a>> {
        if std::mem::replace(&mut self.all[at].resolved, true) {
            return None;
        }
        self.made = self.made.wrapping_add(1);
        *part = self.long.remove(&at);
        let call = match part {
            Some(part) => self.call(at, id, part.text(), cx),
            None => self.call(at, id, cx.arena.alloc_str(self.input(at)), cx),
        };
        self.unused += std::mem::take(&mut self.all[at].input) as usize;
        self.tidy();
        Some(call)
    }

    /// Gives back what nobody needs of the texts, if it is much.
    fn tidy(&mut self) {
        if self.unused <= UNUSED.max(self.text.len() / 2) {
            return;
        }
        let mut text = String::with_capacity(self.text.len() - self.unused);
        for stored in &mut self.all {
            let from = std::mem::replace(&mut stored.begin, text.len());
            text.push_str(&self.text[from..from + stored.len()]);
        }
        self.text = text;
        self.unused = 0;
    }

    /// The call at a place, put into the line's memory.
    pub(super) fn get<'a>(&self, at: usize, id: Str<'a>, cx: Cx<'a>) -> ToolCall<'a> {
        self.call(at, id, cx.arena.alloc_str(self.input(at)), cx)
    }

    fn call<'a>(&self, at: usize, id: Str<'a>, input: &'a str, cx: Cx<'a>) -> ToolCall<'a> {
        let Stored { kind, sound, .. } = self.all[at];
        ToolCall {
            id,
            name: Str::trusted(cx.arena.alloc_str(self.name(at))),
            kind,
            input: Raw::known(input, sound),
            fields: &[],
        }
    }

    pub(super) fn id(&self, at: usize) -> &str {
        let Stored { begin, id, .. } = self.all[at];
        &self.text[begin..begin + id as usize]
    }

    pub(super) fn name(&self, at: usize) -> &str {
        let Stored { begin, id, name, .. } = self.all[at];
        let begin = begin + id as usize;
        &self.text[begin..begin + name as usize]
    }

    fn input(&self, at: usize) -> &str {
        let stored = &self.all[at];
        self.long
            .get(&at)
            .map_or_else(|| &self.text[stored.end() - stored.input as usize..stored.end()], Long::text)
    }

    /// Whether the same has come of the call before: its line stands twice in the log.
    pub(super) fn is_told_again(&mut self, at: usize, result: &ToolResult<'_>) -> bool {
        let texts = result.content.texts();
        let answer = texts.fold(result.status as u64, |all, text| all.rotate_left(7) ^ gist(text.as_escaped()));
        let stored = &mut self.all[at];
        let before = std::mem::replace(&mut stored.answer, answer);
        stored.resolved && before == answer && !result.content.has_other_than_text()
    }

    /// The place of the last call with this id.
    pub(super) fn find(&self, id: Str<'_>) -> Option<usize> {
        self.last_where(id.as_escaped(), |_| true)
    }

    /// The place of the call that a result with this id is of: the first one that waits of those that were made together last.
    pub(super) fn find_for_result(&self, id: Str<'_>) -> Option<usize> {
        let last = self.find(id)?;
        let last = match self.all[last].resolved {
            true => self.last_where(id.as_escaped(), |call| !call.resolved).unwrap_or(last),
            false => last,
        };
        if !self.twice || self.all[last].resolved {
            return Some(last);
        }
        let made = self.all[last].made;
        let is_first = |at: &usize| !self.all[*at].resolved && self.all[*at].made == made && alike(self.id(*at), id.as_escaped());
        (last.saturating_sub(TOGETHER)..last).find(is_first).or(Some(last))
    }

    fn last_where(&self, id: &str, is: impl Fn(&Stored) -> bool) -> Option<usize> {
        let is_it = |at: &usize| alike(self.id(*at), id) && is(&self.all[*at]);
        let far = self.all.len().saturating_sub(NEAR);
        match (far..self.all.len()).rfind(is_it) {
            None if far > 0 => {
                let index = |place: Place| place.get() as usize - 1;
                let last = self.last.get(&hash(id)).copied();
                let places = std::iter::successors(last, |place| self.all[index(*place)].before);
                places.map(index).take(ALIKE).find(is_it)
            }
            near => near,
        }
    }

    /// A call goes over without one of its arguments.
    pub(super) fn leave_unsaid(&mut self, call: Str<'_>, value: &str, out: &Out) {
        let mut kept = Kept::default();
        out.hold(&mut kept, value);
        let unsaid = self.unsaid.entry(call.as_escaped().to_owned()).or_default();
        unsaid.push((value.to_owned(), kept));
    }

    /// A call has its result, with a structured form of the target's own or without.
    pub(super) fn tell_unsaid(&mut self, call: Str<'_>, detail: Option<Raw<'_>>, out: &Out) {
        for (value, mut kept) in self.unsaid.remove(call.as_escaped()).into_iter().flatten() {
            match detail.is_some_and(|detail| Made::of(vec![detail.as_str().as_bytes()]).tells(Raw::trusted(&value))) {
                true => out.rename_held(&mut kept, "the result of a tool in the target's own shape"),
                false => out.drop_held(&mut kept, "no place in the target"),
            }
        }
    }

    /// The turn is over.
    pub(super) fn drop_unsaid(&mut self, out: &Out) {
        let all = std::mem::take(&mut self.unsaid).into_values().flatten();
        all.for_each(|(_, mut kept)| out.drop_held(&mut kept, "no place in the target"));
    }

    /// The places of the calls that got no result, in the order in which they were made.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(|at| !self.all[*at].resolved)
    }

    /// The turn is over, and every call of it has a result, be it one that was made up: what the agent says of these later is no news.
    pub(super) fn give_up(&mut self) {
        let given_up: Vec<String> = self.unresolved().map(|at| self.id(at).to_owned()).collect();
        self.given_up.extend(given_up);
        self.given_up.drain(..self.given_up.len().saturating_sub(SPARE));
        self.clear();
    }

    /// Whether the call with this id is one of those.
    pub(super) fn was_given_up(&self, id: Str<'_>) -> bool {
        self.given_up.iter().any(|given_up| alike(given_up, id.as_escaped()))
    }

    /// Forgets the calls that have their results, and all but the last of the others.
    pub(super) fn keep_unresolved(&mut self) {
        let mut before = std::mem::take(self);
        let mut long = std::mem::take(&mut before.long);
        let outlived = before.unresolved().count().saturating_sub(OUTLIVING);
        for at in before.unresolved().skip(outlived) {
            let place = self.fresh(before.id(at));
            let Stored {
                name, input, kind, sound, ..
            } = before.all[at];
            let begin = before.all[at].begin + before.all[at].id as usize;
            self.text.push_str(&before.text[begin..before.all[at].end()]);
            self.all[place] = Stored {
                name,
                input,
                kind,
                sound,
                ..self.all[place]
            };
            self.long.extend(long.remove(&at).map(|long| (place, long)));
        }
        // What comes now was not made together with these.
        (self.made, self.twice) = (1, before.twice);
    }

    /// Forgets all of them, and keeps a little memory.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.all.shrink_to(SPARE);
        self.text.clear();
        self.text.shrink_to(KEEP);
        self.unused = 0;
        self.twice = false;
        self.long.clear();
        self.last.clear();
    }
}

impl Stored {
    const fn len(&self) -> usize {
        self.id as usize + self.name as usize + self.input as usize
    }

    /// Where in [`Calls::text`] it ends.
    const fn end(&self) -> usize {
        self.begin + self.len()
    }
}

impl Long {
    /// Arguments, if they are long. Where they are most of a long line, that is kept.
    fn of(input: &str, cx: Cx<'_>) -> Option<Self> {
        if input.len() < KEEP {
            return None;
        }
        let part = |line: &Rc<Vec<u8>>| {
            let begin = (input.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
            let part = begin..begin + input.len();
            (part.end <= line.len() && part.len() > line.len() / 2).then(|| Self::Part { line: line.clone(), part })
        };
        Some(cx.line.and_then(part).unwrap_or_else(|| Self::Copy(input.into())))
    }

    fn text(&self) -> &str {
        match self {
            // It was text when it came.
            Self::Part { line, part } => std::str::from_utf8(&line[part.clone()]).unwrap_or_default(),
            Self::Copy(text) => text,
        }
    }
}

/// A text in short: two texts with the same are the same, as long as nobody works to make others. It is fast, as each result is read.
fn gist(text: &str) -> u64 {
    text.as_bytes().chunks(8).fold(text.len() as u64, |all, word| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        (all.rotate_left(5) ^ u64::from_le_bytes(eight)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// An id or a name, if its length is a number of this type; no call has a longer one.
fn short<L: TryFrom<usize>>(text: &str) -> &str {
    if L::try_from(text.len()).is_ok() { text } else { "" }
}

/// How long a text is that is [`short`].
fn length<L: TryFrom<usize> + Default>(text: &str) -> L {
    L::try_from(text.len()).unwrap_or_default()
}
