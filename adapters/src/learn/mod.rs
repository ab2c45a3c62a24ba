//! Lines that repeat.
//!
//! The lines of a log differ in a few values. Whatever the order of their keys, comparing the text around these values with that
//! of an earlier line tells that nothing else has changed, and then what the line says is known from the earlier one. Events are
//! the same for every dialect, and so is this; a dialect's decoder says which of its lines may be learnt ([`Learned::learn`]) and
//! what follows from the values that change ([`Rules`]).
//!
//! A line that is read in this way is told exactly as the general way tells it. With a ledger every part of a line is looked at,
//! and decoders take the general way.

mod mold;
mod parts;
mod reply;
mod shape;
mod turn;

use std::cell::Cell;

use memchr::memmem::Finder;

use crate::codec::{Cx, Dialect};
use crate::event::{Event, Input, Piece, ResultStatus, Sink, ToolResult};
use crate::json::{Raw, Str};

use mold::{Growing, Mold, Pick};
use shape::{Drawing, Match, NO_STARTS, Names, Shape, Starts};

/// What follows from the values of a dialect's lines.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Whether the line of a piece says which block it belongs to ([`Aside::index`]); else the decoder knows it.
    pub(crate) indexed: bool,
    /// Where fields may stand that are no members of the line itself, beside the places of the vocabulary of content blocks.
    pub(crate) places: &'static [&'static str],
    /// Whose tools a call names; without it the line says what the tool does.
    pub(crate) tools: Option<Dialect>,
    /// Where a usage's numbers are members of its [`raw`](crate::event::Usage::raw) object: those that its reader asks for.
    pub(crate) counts: Option<&'static [&'static str]>,
    /// How a call went, by its result and [`Aside::meta`]; without it the line says so.
    pub(crate) status: Option<StatusOf>,
}

type StatusOf = for<'a> fn(&ToolResult<'a>, Option<Raw<'a>>) -> ResultStatus;

/// What a decoder knows of a line besides its event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aside<'a> {
    /// Where the block's index stands.
    pub(crate) index: Option<Raw<'a>>,
    /// Where the line says more about how a call went.
    pub(crate) meta: Option<Raw<'a>>,
    /// Values of the line that may change and are no part of the event: what follows from them is for the decoder to tell.
    pub(crate) beside: &'a [Raw<'a>],
}

/// How the lines that come again and again were spelled.
///
/// What comes after what repeats itself too, so the right shape is nearly always among the first that are tried. A line that has
/// none of the shapes is read in the general way, and teaches one more.
#[derive(Debug)]
pub(crate) struct Learned {
    known: Vec<Known>,
    /// How each of them begins.
    heads: Vec<Head>,
    /// For each two of them, with how many values both begin alike: under the later one.
    shared: Vec<Vec<u8>>,
    /// The shape of the last line.
    last: usize,
    /// How many lines were read, by which the shapes are told that have not come for a long time.
    clock: u64,
    /// For each class of lines, how many were spelled otherwise since the last that was not.
    misses: [u32; Mold::CLASSES],
    /// Grows with each line that has a known shape and shrinks with each that could have had one. With keys shuffled on each line,
    /// trying is not worth its time.
    trust: u32,
    /// Where the pieces of the line begin that is being read.
    starts: Starts,
    /// Where the text stood that [`Self::read_line`] did not know, to spare another try.
    missed: usize,
    /// What the last line was a piece of, those aside that went unheard.
    growing: Option<Growing>,
    /// The session whose lines are read, and how many there were before it.
    session: (u32, String),
    /// Finds the id of the session of the line that was learnt last.
    finder: Option<Finder<'static>>,
}

impl Default for Learned {
    fn default() -> Self {
        Self {
            known: Vec::new(),
            heads: Vec::new(),
            shared: Vec::new(),
            last: 0,
            clock: 0,
            misses: [0; Mold::CLASSES],
            trust: Self::TRUST,
            starts: NO_STARTS,
            missed: 0,
            growing: None,
            session: (0, String::new()),
            finder: None,
        }
    }
}

#[derive(Debug)]
struct Known {
    shape: Shape,
    mold: Mold,
    /// The shapes that came behind lines of this one, the last of them first.
    next: [usize; 3],
    /// When it came last.
    seen: u64,
    /// The class of its lines.
    class: usize,
    /// Which session its lines are of, counted as in [`Learned::session`].
    session: u32,
    /// Where the id of the session stands; `None` if that is not sure, and then its lines are those of one session alone.
    names: Option<Names>,
}

/// The text before the first value of a shape that changes: how long it is, and its last eight bytes. Most shapes are ruled out by these.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Head {
    len: usize,
    tail: [u8; 8],
    /// The session's id may be a part of the tail, and another one in its place.
    has_id: bool,
}

impl Head {
    /// Whether a line may have this shape.
    #[inline]
    fn may_be(&self, text: &str) -> bool {
        self.has_id
            || text
                .as_bytes()
                .get(self.len.wrapping_sub(self.tail.len())..self.len)
                .is_some_and(|found| found == self.tail)
    }
}

impl Head {
    fn of(shape: &Shape, names: Option<&Names>) -> Option<Self> {
        let beginning = shape.beginning();
        let tail = *beginning.last_chunk()?;
        let len = beginning.len();
        Some(Self {
            len,
            tail,
            has_id: names.is_some_and(|names| names.stand_in(len - tail.len(), len)),
        })
    }
}

impl Known {
    /// Whether it is a shape of lines of this session. They look like those of the session before, but for the id.
    #[inline]
    fn is_of(&mut self, session: &(u32, String)) -> bool {
        self.session == session.0 || self.becomes_of(session)
    }

    #[cold]
    fn becomes_of(&mut self, (session, id): &(u32, String)) -> bool {
        let sure = self.names.as_ref().is_some_and(|names| self.shape.rename(names, id));
        if sure {
            self.session = *session;
        }
        sure
    }
}

impl Learned {
    /// The most trust, and what there is at the beginning.
    const TRUST: u32 = 256;
    /// A line that was spelled otherwise costs as much trust as so many others bring.
    const COST: u32 = 2;
    /// Without trust, only one of so many lines is tried and learnt.
    const PROBE: u64 = 64;
    /// A class of lines of which so many in a row were spelled otherwise teaches no more, but now and then.
    const PATIENCE: u32 = 32;

    /// Reads a line that is spelled like an earlier one, tells what it says, and returns how long it is. The `first` of some lines, which
    /// all have their line feeds, is read with its end. `answers` is asked whether an answer is the agent's that names this question.
    #[inline]
    pub(crate) fn read<'a>(
        &mut self,
        (text, first): (&'a str, bool),
        rules: &Rules,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
        answers: impl FnOnce(Option<Str<'a>>) -> bool,
    ) -> Option<usize> {
        if first {
            return self.tell_line(text, rules, cx, sink, &Cell::default(), answers);
        }
        if std::mem::take(&mut self.missed) == text.as_ptr() as usize {
            return None;
        }
        self.tell(text, None, rules, cx, sink, &Cell::default(), answers)
    }

    #[inline(always)]
    fn tell_line<'a>(
        &mut self,
        text: &'a str,
        rules: &Rules,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
        beside: &Beside<'a>,
        answers: impl FnOnce(Option<Str<'a>>) -> bool,
    ) -> Option<usize> {
        let mut end = 0;
        let Some(used) = self.tell(text, Some(&mut end), rules, cx, sink, beside, answers) else {
            self.missed = text.as_ptr() as usize;
            return None;
        };
        Some(used + end)
    }

    /// Reads a line like [`Self::read`], or the `first` of some lines like [`Self::read_line`], and hands what it says to the decoder
    /// with the values [beside](Aside::beside) it, which `tell`s what follows. False if the line has to be read in the general way.
    #[inline]
    pub(crate) fn read_spelled<'a>(
        &mut self,
        (text, first): (&'a str, bool),
        rules: &Rules,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
        tell: impl FnMut(&Event<'a>, &'a [Raw<'a>], &mut dyn Sink<'a>) -> bool,
    ) -> Option<usize> {
        let beside = Beside::default();
        let mut spelled = Spelled {
            sink,
            tell,
            beside: &beside,
            told: false,
        };
        let used = if first {
            self.tell_line(text, rules, cx, &mut spelled, &beside, |_| false)
        } else if std::mem::take(&mut self.missed) == text.as_ptr() as usize {
            None
        } else {
            self.tell(text, None, rules, cx, &mut spelled, &beside, |_| false)
        };
        let told = spelled.told;
        if used.is_some() && !told {
            self.missed = if first { text.as_ptr() as usize } else { 0 };
        }
        used.filter(|_| told)
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // Inlined: there is one caller's worth of them.
    fn tell<'a>(
        &mut self,
        text: &'a str,
        end: Option<&mut usize>,
        rules: &Rules,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
        beside: &Beside<'a>,
        answers: impl FnOnce(Option<Str<'a>>) -> bool,
    ) -> Option<usize> {
        self.clock += 1;
        if self.is_weary() {
            self.growing = None;
            return None;
        }
        let found = self.find(text).and_then(|(at, len)| {
            if let Some(end) = end {
                *end = self.known[at].shape.line_end(text, len)?;
            }
            Some((at, len))
        });
        let Some((at, len)) = found else {
            self.growing = None;
            return None;
        };
        let known = &mut self.known[at];
        let before = self.growing.take();
        let found = Match::new(text, &self.starts);
        if known.class == Mold::ANSWERS && !answers(known.mold.answers(found)) {
            return None;
        }
        known.mold.beside(found, cx, beside);
        self.growing = known.mold.tell(found, at, before, rules, cx, sink)?;
        known.seen = self.clock;
        self.misses[known.class] = 0;
        self.trust = (self.trust + 1).min(Self::TRUST);
        self.follow(at);
        Some(len)
    }

    /// Whether it names another session than the one whose lines are read.
    fn is_of_another(&self, event: &Event<'_>) -> bool {
        let (_, id) = &self.session;
        !id.is_empty() && event.origin.session.is_some_and(|session| session.as_escaped() != id)
    }

    /// Whether this line is not worth a try.
    #[inline]
    const fn is_weary(&self) -> bool {
        self.trust == 0 && !self.clock.is_multiple_of(Self::PROBE)
    }

    /// The shape of a line, and how long that is.
    #[inline]
    fn find(&mut self, text: &str) -> Option<(usize, usize)> {
        let Self { known, starts, .. } = self;
        let first = known.get(self.last)?.next[0];
        let guess = known.get_mut(first)?;
        if !guess.is_of(&self.session) {
            return self.find_another(text, first, None);
        }
        match guess.shape.read(text, 0, starts) {
            Ok(len) => Some((first, len)),
            Err(read) => self.find_another(text, first, Some((first, read))),
        }
    }

    /// The same where the shape `first` is not the line's. `tried` is the shape that was tried last, and how many of its values the
    /// line has.
    fn find_another(&mut self, text: &str, first: usize, mut tried: Option<(usize, usize)>) -> Option<(usize, usize)> {
        let Self {
            known,
            heads,
            starts,
            shared,
            session,
            ..
        } = self;
        let guesses = known.get(self.last)?.next;
        let mut fits = |at: usize| {
            let this = known.get_mut(at)?;
            if !this.is_of(session) {
                return None;
            }
            // What begins as that shape does need not be read again.
            let read = match tried {
                None => 0,
                Some((other, read)) => {
                    let shared = shared.get(at.max(other))?.get(at.min(other)).map_or(0, |&shared| usize::from(shared));
                    if shared > read {
                        return None;
                    }
                    shared
                }
            };
            match this.shape.read(text, read, starts) {
                Ok(len) => Some((at, len)),
                Err(read) => {
                    tried = Some((at, read));
                    None
                }
            }
        };
        for (n, &at) in guesses.iter().enumerate().skip(1) {
            if guesses[..n].contains(&at) || !heads[at].may_be(text) {
                continue;
            }
            if let found @ Some(_) = fits(at) {
                return found;
            }
        }
        let others = heads
            .iter()
            .enumerate()
            .filter(|(at, head)| head.may_be(text) && *at != first && !guesses.contains(at));
        others.map(|(at, _)| at).find_map(fits)
    }

    /// Compares the shape at `at` with all others.
    fn compare(&mut self, at: usize) {
        for later in self.shared.len()..self.known.len() {
            self.shared.push(vec![0; later]);
        }
        for other in (0..self.known.len()).filter(|other| *other != at) {
            // What differs in its head begins with no value that is alike.
            let shared = if self.heads[at].len == self.heads[other].len {
                self.known[at].shape.shared(&self.known[other].shape)
            } else {
                0
            };
            // No shape has as many holes as a byte can count.
            let shared = u8::try_from(shared).unwrap_or(0);
            self.shared[at.max(other)][at.min(other)] = shared;
        }
    }

    /// Remembers what came behind the last line.
    #[inline]
    fn follow(&mut self, at: usize) {
        if let Some(last) = self.known.get_mut(self.last)
            && last.next[0] != at
        {
            let [first, second, third] = last.next;
            last.next = [at, first, if second == at { third } else { second }];
        }
        self.last = at;
    }

    /// The lines that follow are those of another session.
    pub(crate) fn next_session(&mut self, to: &str) {
        self.growing = None;
        self.session.0 += 1;
        to.clone_into(&mut self.session.1);
    }

    /// Remembers how a line is spelled that was read in the general way and told as one event. Its parts are found by where they
    /// stand in memory.
    pub(crate) fn learn(&mut self, line: &str, rules: &Rules, event: &Event<'_>, aside: Aside<'_>) {
        // With the first line of another session nothing is new but its id: it is read again when that is known.
        if self.is_weary() || self.is_of_another(event) {
            return;
        }
        self.trust = self.trust.saturating_sub(Self::COST);
        let Some(class) = Mold::class(&event.kind) else { return };
        self.misses[class] += 1;
        if self.misses[class] > Self::PATIENCE && !self.misses[class].is_multiple_of(Self::PATIENCE) {
            return;
        }
        let mut pick = Pick {
            rules,
            drawing: Drawing::new(line),
            drawn: false,
        };
        if Mold::of(event, aside, &mut pick).is_none() {
            return;
        }
        let Some(shape) = pick.drawing.shape(Mold::longest(class)) else { return };
        // The decoder may have had its reasons to read such a line in the general way.
        if self.known.iter().any(|known| known.class == class && known.shape == shape) {
            return;
        }
        pick.drawn = true;
        let Some(mold) = Mold::of(event, aside, &mut pick) else { return };
        let names = Names::of(&shape, mold.session(), &mut self.finder);
        let Some(head) = Head::of(&shape, names.as_ref()) else { return };
        let fresh = Known {
            next: [0; 3],
            seen: self.clock,
            class,
            session: self.session.0,
            names,
            shape,
            mold,
        };
        let alike = self.known.iter().enumerate().filter(|(_, known)| known.class == class);
        let at = if alike.clone().count() < Mold::variants(class) {
            self.known.push(fresh);
            self.heads.push(head);
            self.known.len() - 1
        } else {
            let Some((oldest, _)) = alike.min_by_key(|(_, known)| known.seen) else {
                return;
            };
            self.known[oldest] = fresh;
            self.heads[oldest] = head;
            oldest
        };
        self.compare(at);
        self.follow(at);
    }
}

/// Stands between what a line says as it is spelled and what follows from it.
struct Spelled<'s, 'a, F> {
    sink: &'s mut dyn Sink<'a>,
    tell: F,
    beside: &'s Beside<'a>,
    told: bool,
}

/// The values of a line that are no part of its event.
type Beside<'a> = Cell<&'a [Raw<'a>]>;

impl<'a, F: FnMut(&Event<'a>, &'a [Raw<'a>], &mut dyn Sink<'a>) -> bool> Sink<'a> for Spelled<'_, 'a, F> {
    #[inline]
    fn event(&mut self, event: &Event<'a>) {
        self.told = (self.tell)(event, self.beside.get(), self.sink);
    }

    fn input(&mut self, _: &Input<'a>) {}

    /// One more piece changes nothing that a decoder remembers.
    #[inline]
    fn more(&mut self, piece: Piece<'a>) -> bool {
        self.told = self.sink.more(piece);
        self.told
    }
}
