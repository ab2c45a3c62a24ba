use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use std::ops::Range;
use std::rc::Rc;

use super::pending::KEEP;
use crate::codec::Cx;
use crate::event::{ToolCall, ToolKind};
use crate::ids::hash;
use crate::json::{Out, Raw, Str, alike};
use crate::tools::reshaped::Made;
use crate::trace::Kept;

/// The tool calls of a turn, so that a result can be told with its call.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// In the order in which they were made: first those of this turn, then places that are kept for their memory.
    all: Vec<Stored>,
    used: usize,
    /// Of the calls that are not among the latest: the last of those whose ids have this hash; the others follow by [`Stored::before`].
    /// A tree, because the hash is the same in every run: no choice of ids makes a search long.
    last: BTreeMap<u64, Place>,
    /// What calls that went over do not say, but perhaps their results: by their ids the arguments, and where the source says them.
    unsaid: BTreeMap<String, Vec<(String, Kept)>>,
    /// The latest calls that were answered for their agent when their turn was over, by their ids.
    given_up: VecDeque<String>,
}

/// A call that waits for its result.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Its id, its name and its arguments, one behind the other: there may be very many calls.
    text: String,
    /// The arguments where they are most of a long line.
    part: Option<Box<LinePart>>,
    /// Where the id and the name end.
    ends: [usize; 2],
    kind: ToolKind,
    /// The arguments were checked in full.
    sound: bool,
    resolved: bool,
    /// The call before this one whose id has the same hash.
    before: Option<Place>,
}

/// A part of a line that is kept whole.
#[derive(Debug)]
pub(super) struct LinePart {
    line: Rc<Vec<u8>>,
    part: Range<usize>,
}

/// The place of a call among [`Calls::all`], counted from 1. There are never so many that it would not hold.
type Place = NonZero<u32>;

/// How many of the latest calls are looked at before the others are searched by hash: results come soon.
const NEAR: usize = 6;
/// How many places are kept for their memory when a turn is over, and of how many calls it is known that they were given up.
const SPARE: usize = 64;

impl Calls {
    /// Remembers a call; returns its place. A call that is said again is an update, but for one that has its result: behind that comes
    /// another call, whatever its id.
    pub(super) fn add(&mut self, call: &ToolCall<'_>, cx: Cx<'_>) -> usize {
        let at = self.find(call.id).filter(|at| !self.all[*at].resolved);
        self.store(at, call, cx)
    }

    /// Remembers a call that was not spoken of before, in the words of it; returns its place. Ids may come twice.
    pub(super) fn add_new(&mut self, call: &ToolCall<'_>, cx: Cx<'_>) -> usize {
        let is_same = |stored: &Stored| !stored.resolved && stored.input() == call.input.as_str();
        let at = self.find(call.id).filter(|at| is_same(&self.all[*at]));
        self.store(at, call, cx)
    }

    fn store(&mut self, at: Option<usize>, call: &ToolCall<'_>, cx: Cx<'_>) -> usize {
        // One that has its result makes room for the next of its id.
        let done = || self.find(call.id).filter(|at| self.all[*at].resolved);
        let at = at.or_else(done).unwrap_or_else(|| self.fresh(call.id.as_escaped()));
        let stored = &mut self.all[at];
        stored.resolved = false;
        stored.part = cx.line.and_then(|line| LinePart::most_of(line, call.input.as_str())).map(Box::new);
        let input = if stored.part.is_some() { "" } else { call.input.as_str() };
        stored.text.truncate(stored.ends[0]);
        stored.text.reserve_exact(call.name.as_escaped().len() + input.len());
        stored.text.push_str(call.name.as_escaped());
        stored.ends[1] = stored.text.len();
        stored.text.push_str(input);
        stored.kind = call.kind;
        stored.sound = call.input.is_checked();
        at
    }

    /// The place of a new call.
    fn fresh(&mut self, id: &str) -> usize {
        self.given_up.retain(|given_up| given_up != id);
        let at = self.used;
        self.used += 1;
        if at == self.all.len() {
            self.all.push(Stored::default());
        }
        let stored = &mut self.all[at];
        stored.text.clear();
        stored.text.push_str(id);
        stored.ends = [id.len(); 2];
        stored.resolved = false;
        if let Some(far) = at.checked_sub(NEAR) {
            let stored = &mut self.all[far];
            let place = u32::try_from(far + 1).ok().and_then(Place::new);
            stored.before = place.and_then(|place| self.last.insert(hash(stored.id()), place));
        }
        at
    }

    /// The call at a place, put into the line's memory for its result, or into `part`. What it held is let go: a call has one result.
    pub(super) fn resolve<'a>(&mut self, at: usize, id: Str<'a>, part: &'a mut Option<Box<LinePart>>, cx: Cx<'a>) -> Option<ToolCall<'a>> {
        let stored = &mut self.all[at];
        if std::mem::replace(&mut stored.resolved, true) {
            return None;
        }
        *part = stored.part.take();
        let call = match part {
            Some(part) => stored.call(id, part.text(), cx),
            None => stored.call(id, cx.arena.alloc_str(stored.input()), cx),
        };
        stored.text.truncate(stored.ends[1]);
        if at >= SPARE || stored.text.capacity() > KEEP {
            stored.text.shrink_to_fit();
        }
        Some(call)
    }

    /// The call at a place, put into the line's memory.
    pub(super) fn get<'a>(&self, at: usize, id: Str<'a>, cx: Cx<'a>) -> ToolCall<'a> {
        let stored = &self.all[at];
        stored.call(id, cx.arena.alloc_str(stored.input()), cx)
    }

    /// The place of the last call with this id.
    pub(super) fn find(&self, id: Str<'_>) -> Option<usize> {
        self.last_where(id.as_escaped(), |_| true)
    }

    /// The place of the call that a result with this id is of: the last one that waits for its result.
    pub(super) fn find_for_result(&self, id: Str<'_>) -> Option<usize> {
        let last = self.find(id)?;
        match self.all[last].resolved {
            true => self.last_where(id.as_escaped(), |call| !call.resolved).or(Some(last)),
            false => Some(last),
        }
    }

    fn last_where(&self, id: &str, is: impl Fn(&Stored) -> bool) -> Option<usize> {
        let is_it = |call: &Stored| alike(call.id(), id) && is(call);
        let far = self.used.saturating_sub(NEAR);
        match self.all[far..self.used].iter().rposition(is_it) {
            Some(near) => Some(far + near),
            None if far > 0 => {
                let index = |place: Place| place.get() as usize - 1;
                let last = self.last.get(&hash(id)).copied();
                let places = std::iter::successors(last, |place| self.all[index(*place)].before);
                places.map(index).find(|at| is_it(&self.all[*at]))
            }
            None => None,
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

    /// Calls that got no result and their places, in the order in which they were made.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = (usize, &Stored)> {
        self.all[..self.used].iter().enumerate().filter(|(_, call)| !call.resolved)
    }

    /// The turn is over, and every call of it has a result, be it one that was made up: what the agent says of these later is no news.
    pub(super) fn give_up(&mut self) {
        let given_up: Vec<String> = self.unresolved().map(|(_, call)| call.id().to_owned()).collect();
        self.given_up.extend(given_up);
        self.given_up.drain(..self.given_up.len().saturating_sub(SPARE));
        self.clear();
    }

    /// Whether the call with this id is one of those.
    pub(super) fn was_given_up(&self, id: Str<'_>) -> bool {
        self.given_up.iter().any(|given_up| alike(given_up, id.as_escaped()))
    }

    /// Forgets the calls that have their results.
    pub(super) fn keep_unresolved(&mut self) {
        let mut calls = std::mem::take(self);
        calls.all.truncate(calls.used);
        for stored in calls.all.into_iter().filter(|call| !call.resolved) {
            let at = self.fresh(stored.id());
            self.all[at] = Stored { before: None, ..stored };
        }
    }

    pub(super) fn clear(&mut self) {
        let used = std::mem::take(&mut self.used).min(SPARE);
        if self.all.len() > SPARE {
            self.all.truncate(SPARE);
            self.all.shrink_to_fit();
            self.last = BTreeMap::new();
        } else {
            self.last.clear();
        }
        for stored in &mut self.all[..used] {
            if stored.text.capacity() > KEEP || stored.part.is_some() {
                *stored = Stored::default();
            }
        }
    }
}

impl Stored {
    pub(super) fn id(&self) -> &str {
        &self.text[..self.ends[0]]
    }

    pub(super) fn name(&self) -> &str {
        &self.text[self.ends[0]..self.ends[1]]
    }

    fn call<'a>(&self, id: Str<'a>, input: &'a str, cx: Cx<'a>) -> ToolCall<'a> {
        ToolCall {
            id,
            name: Str::trusted(cx.arena.alloc_str(self.name())),
            kind: self.kind,
            input: Raw::known(input, self.sound),
            fields: &[],
        }
    }

    fn input(&self) -> &str {
        match &self.part {
            Some(part) => part.text(),
            None => &self.text[self.ends[1]..],
        }
    }
}

impl LinePart {
    /// `text`, if it is most of a line.
    fn most_of(line: &Rc<Vec<u8>>, text: &str) -> Option<Self> {
        let begin = (text.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
        let part = begin..begin + text.len();
        (part.end <= line.len() && part.len() > line.len() / 2).then(|| Self { line: line.clone(), part })
    }

    fn text(&self) -> &str {
        // It was text when it came.
        std::str::from_utf8(&self.line[self.part.clone()]).unwrap_or_default()
    }
}
