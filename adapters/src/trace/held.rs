//! Parts of the source that are held, until it is known whether they go over.

use std::borrow::Cow;
use std::collections::HashMap;

use super::many::{and_others, of_lines};
use super::walk::Places;
use super::{Span, Trace, address};
use crate::event::{Fate, Finding};

/// Parts of source lines that an encoder holds, until it is known whether they go over. Empty, and without memory of its
/// own, when nobody keeps a ledger.
#[derive(Clone, Default, Debug)]
pub struct Kept(pub(super) Vec<u64>);

impl Kept {
    /// No part.
    pub(crate) const NONE: Self = Self(Vec::new());

    /// The parts that were kept before the `at`-th stay; the others are returned.
    pub fn split_off(&mut self, at: usize) -> Self {
        Self(self.0.split_off(at.min(self.0.len())))
    }

    /// Keeps what the other has too.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// How many parts there are; zero when nobody keeps a ledger.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What there is to say of parts that have gone over, as long as nothing else takes their place, and if something does.
#[derive(Default, Debug)]
pub(crate) struct Given {
    pub(crate) stays: Vec<(u64, Finding)>,
    pub(crate) lost: Vec<(u64, Finding)>,
}

/// What the ledger knows about parts that are held.
#[derive(Default, Debug)]
pub(super) struct HeldParts {
    count: u64,
    /// Parts of the line that is being handled: their number, and their addresses.
    pub(super) here: Vec<(u64, usize, usize)>,
    /// Those of them that have gone over.
    gone: Vec<u64>,
    /// Parts of earlier lines.
    before: HashMap<u64, Before>,
    /// What there is to say of lines that have waited for a part.
    over: Vec<Late>,
    /// Parts that turned out to have no place, or another.
    told: Vec<(u64, Fate, &'static str)>,
    /// Parts that are others when they go over, and what is said of that.
    others: HashMap<u64, &'static str>,
    /// What of a part has no place: the part itself is still held.
    pub(super) lost: Vec<(u64, String)>,
    /// Those parts of the line that is told in parts have higher numbers.
    before_line: u64,
    /// Parts that are one with another of their line, of which there are very many: how many are one with it.
    more: HashMap<u64, u64>,
}

/// So many parts of a line that is told in parts are held one by one; what becomes of the last becomes of the others.
const MOST: usize = 4096;

/// A part of an earlier line, counted from 1.
#[derive(Clone, Debug)]
struct Before {
    line: u64,
    tells: Tells,
}

/// What is said of a line when it is known what became of a part. Of these a line may have a million.
#[derive(Clone, Debug)]
enum Tells {
    /// What became of the part, which stands there.
    Part(Box<str>),
    /// The same of a name, without which what it names has no place either: of that is told.
    Name(Box<str>),
    /// Whether the line has no place, or is part of what went over, for this reason.
    Line(&'static str),
    /// Nothing: of the line as a whole one entry tells.
    Nothing,
}

/// A finding of an earlier line.
#[derive(Debug)]
pub(super) struct Late {
    pub(super) line: u64,
    pointer: Box<str>,
    fate: Fate,
    note: Cow<'static, str>,
    /// Of how many other parts of the line it holds.
    others: u64,
}

impl Late {
    pub(super) fn new(line: u64, pointer: impl Into<Box<str>>, fate: Fate, note: impl Into<Cow<'static, str>>) -> Self {
        let (pointer, note) = (pointer.into(), note.into());
        Self {
            line,
            pointer,
            fate,
            note,
            others: 0,
        }
    }

    /// A finding of its own.
    pub(super) fn finding(self) -> (u64, Finding) {
        let note = and_others(&self.note, self.others);
        (self.line, Finding::new(self.fate, &self.pointer, &note))
    }

    /// Of how many others it holds, and the finding without them.
    pub(super) fn counted(self) -> (u64, Finding) {
        (self.others, Finding::new(self.fate, &self.pointer, &self.note))
    }
}

impl Before {
    /// What there is to say of the line, where the part has not gone over as it is.
    fn told(self, fate: Fate, note: impl Into<Cow<'static, str>>) -> Option<Late> {
        let pointer = match self.tells {
            Tells::Name(_) if fate == Fate::Dropped => return None,
            Tells::Part(pointer) | Tells::Name(pointer) => pointer,
            Tells::Line(_) if fate == Fate::Dropped => Box::default(),
            Tells::Line(_) => return self.gone_over(),
            Tells::Nothing => return None,
        };
        Some(Late::new(self.line, pointer, fate, note))
    }

    /// The same where it has.
    fn gone_over(self) -> Option<Late> {
        match self.tells {
            Tells::Line(merged) => Some(Late::new(self.line, "", Fate::Merged, merged)),
            Tells::Part(_) | Tells::Name(_) | Tells::Nothing => None,
        }
    }
}

impl HeldParts {
    /// Another line begins.
    pub(super) fn begin(&mut self) {
        self.here.clear();
        self.gone.clear();
        self.told.clear();
        self.lost.clear();
    }

    /// A line begins that is told in parts.
    pub(super) const fn begin_parts(&mut self) {
        self.before_line = self.count;
    }
}

impl Trace {
    /// A part is held: whether it goes over is told later, with [`Self::release`] or [`Self::tell_held`].
    pub fn hold(&self, kept: &mut Kept, part: &str) {
        let own = self.span(part).is_some();
        if let Some(watched) = self.watched.borrow_mut().iter_mut().find(|watched| !own && watched.holds(address(part))) {
            kept.0.extend(&watched.parts);
            watched.held = true;
            return self.used.set(true);
        }
        let mut held = self.held.borrow_mut();
        let is_part = self.part.get().is_some();
        let mut add = |place: Option<Span>| {
            let last = kept.0.last().filter(|last| is_part && kept.0.len() >= MOST && **last > held.before_line);
            if let (Some(&last), Some(span)) = (last, place) {
                self.used.set(true);
                self.marks.borrow_mut().mark(span);
                return *held.more.entry(last).or_default() += 1;
            }
            held.count += 1;
            let number = held.count;
            kept.0.push(number);
            if let Some((from, to)) = place {
                self.used.set(true);
                self.marks.borrow_mut().mark((from, to));
                held.here.push((number, from, to));
            }
        };
        match self.places_of(part) {
            none if none.is_empty() => add(None),
            places => places.into_iter().for_each(|place| add(Some(place))),
        }
    }

    /// The same of a part that may have gone over already, or is none of the line's.
    pub fn hold_unsaid(&self, kept: &mut Kept, part: &str) {
        let holds = match self.places_of(part) {
            none if none.is_empty() => self.watched.borrow().iter().any(|watched| watched.holds(address(part))),
            places => places.iter().any(|(from, to)| from == to || !self.marks.borrow().touch((*from, *to))),
        };
        if holds {
            self.hold(kept, part);
        }
    }

    /// The same of a model that goes over with what is said next, if the target has a place for it.
    pub(crate) fn hold_model(&self, kept: &mut Kept, model: &str) {
        if self.models {
            self.hold_unsaid(kept, model);
        }
    }

    /// Remembers where a part stands, which counts as gone over until it is told otherwise.
    pub(crate) fn place(&self, kept: &mut Kept, part: &str) {
        if let Some(span) = self.span(part) {
            self.place_span(kept, span);
        }
    }

    fn place_span(&self, kept: &mut Kept, (from, to): Span) -> u64 {
        let mut held = self.held.borrow_mut();
        held.count += 1;
        let number = held.count;
        held.here.push((number, from, to));
        kept.0.push(number);
        number
    }

    /// A part of a call's arguments goes over in other words, or in pieces.
    pub(crate) fn goes_in_words(&self, part: &str) {
        self.used(part);
        let span = self.span(part).map(|span| (span, None));
        self.arguments.borrow_mut().extend(span);
    }

    /// The same of one that is another argument there.
    pub(crate) fn renamed_in_words(&self, part: &str, note: &'static str) {
        self.renamed(part, note);
        let span = self.span(part).map(|span| (span, Some(note)));
        self.arguments.borrow_mut().extend(span);
    }

    /// What was told so of a call that goes over later, if at all. Not of one whose arguments are those of the line.
    pub(crate) fn hold_words(&self, kept: &mut Kept, input: &str) {
        let parts = self.arguments.take();
        if self.span(input).is_some() {
            return;
        }
        for (span, other) in parts {
            let number = self.place_span(kept, span);
            if let Some(note) = other {
                self.renamed.borrow_mut().forget(|told| *told == (span.0, span.1, note));
                self.held.borrow_mut().others.insert(number, note);
            }
        }
    }

    /// Parts that were held have gone over.
    pub fn release(&self, kept: &mut Kept) {
        let mut held = self.held.borrow_mut();
        for number in kept.0.drain(..) {
            // Of one of which a part has no place that is told yet.
            if held.lost.iter().any(|(of, _)| *of == number) {
                continue;
            }
            if let Some(note) = held.others.remove(&number) {
                held.told.push((number, Fate::Renamed, note));
                continue;
            }
            held.more.remove(&number);
            let merged = held.before.remove(&number).and_then(Before::gone_over);
            held.over.extend(merged);
            if held.here.binary_search_by_key(&number, |here| here.0).is_ok() {
                self.written.set(true);
                held.gone.push(number);
            }
        }
    }

    /// Parts that were held have no place after all, or went over otherwise. Each is told on the line that it stands on; of
    /// one that no line holds as a whole, because it came in pieces, this line tells.
    pub fn tell_held(&self, kept: &mut Kept, fate: Fate, note: &'static str) {
        let mut nowhere = false;
        let mut held = self.held.borrow_mut();
        for number in kept.0.drain(..) {
            let known = held.before.contains_key(&number) || held.here.binary_search_by_key(&number, |here| here.0).is_ok();
            nowhere |= !known;
            held.others.remove(&number);
            if known {
                held.told.push((number, fate, note));
            }
        }
        drop(held);
        if nowhere {
            let note = format!("{note} (it came in pieces, on lines before this one)");
            self.elsewhere.borrow_mut().push(Finding::new(fate, "", &note));
        }
    }

    /// Ends the line number `line`, which is settled, for the parts of it that are held.
    pub(crate) fn settle_held(&self, text: &str, line: u64) {
        let mut held = self.held.borrow_mut();
        let start = text.as_ptr() as usize;
        let HeldParts { here, gone, before, .. } = &mut *held;
        if self.part.get().is_some() && !self.whole.get() {
            // There are very many, and nothing is left to say of these.
            gone.sort_unstable();
            here.retain(|(number, ..)| gone.binary_search(number).is_err());
        }
        if here.is_empty() {
            return;
        }
        if self.whole.get() {
            let depends = self.depends.get();
            let waits = |number| self.merged.get().filter(|_| depends == Some(number));
            before.extend(here.drain(..).map(|(number, ..)| {
                let tells = waits(number).map_or(Tells::Nothing, Tells::Line);
                (number, Before { line, tells })
            }));
            return;
        }
        let places = Places::of(text, here.iter().map(|&(_, from, to)| (from, to)));
        for (number, from, to) in here.drain(..) {
            // What stands around a list is told once, with its first part.
            let pointer = self.placed(places.pointer(from - start, to - start));
            let names = text[to - start..].trim_start_matches('"').trim_start().starts_with(':');
            let tells = pointer.map_or(Tells::Nothing, |pointer| {
                if names {
                    Tells::Name(pointer.into())
                } else {
                    Tells::Part(pointer.into())
                }
            });
            before.insert(number, Before { line, tells });
        }
    }

    /// What there is to say about parts of earlier lines that were held: for each the line and the finding.
    pub(crate) fn take_late(&self) -> Vec<(u64, Finding)> {
        let mut held = self.held.borrow_mut();
        let HeldParts {
            before,
            told,
            lost,
            over,
            more,
            ..
        } = &mut *held;
        let mut late = std::mem::take(over);
        lost.retain_mut(|(number, note)| match before.get(number) {
            Some(Before { line, tells }) => {
                if let Tells::Part(pointer) = tells {
                    late.push(Late::new(*line, pointer.clone(), Fate::Dropped, std::mem::take(note)));
                }
                false
            }
            None => true,
        });
        told.retain(|(number, fate, note)| match before.remove(number) {
            Some(part) => {
                let others = more.remove(number).unwrap_or(0);
                late.extend(part.told(*fate, *note).map(|late| Late { others, ..late }));
                false
            }
            None => true,
        });
        late.sort_by(|a, b| (a.line, &a.pointer).cmp(&(b.line, &b.pointer)));
        // Where a part stands is known to several that hold it.
        late.dedup_by(|b, a| (a.line, &a.pointer, a.fate) == (b.line, &b.pointer, b.fate));
        of_lines(late)
    }

    /// The session is over, and something else may take the place of these parts, for this reason.
    pub(crate) fn end_given(&self, kept: &mut Kept, note: &str) -> Given {
        let mut held = self.held.borrow_mut();
        let mut given = Given::default();
        for part in kept.0.drain(..).filter_map(|number| held.before.remove(&number)) {
            given.stays.extend(part.clone().gone_over().map(Late::finding));
            given.lost.extend(part.told(Fate::Dropped, note.to_owned()).map(Late::finding));
        }
        given
    }

    /// The session is over: nobody holds anything of the lines before this one. Returns what there is still to say about them.
    pub(crate) fn end_held(&self) -> Vec<(u64, Finding)> {
        let mut held = self.held.borrow_mut();
        let mut late: Vec<_> = held.before.drain().filter_map(|(_, part)| part.gone_over()).map(Late::finding).collect();
        held.others.clear();
        held.more.clear();
        late.sort_by_key(|(line, _)| *line);
        late
    }
}
