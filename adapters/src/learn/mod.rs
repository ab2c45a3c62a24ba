//! Lines that repeat.
//!
//! The lines of a log differ in a few values. Whatever the order of their keys, comparing the text around these values with that
//! of an earlier line tells that nothing else has changed, and then what the line says is known from the earlier one. Events are
//! the same for every dialect, and so is this; a dialect's decoder says which of its lines may be learnt ([`Learned::learn`]) and
//! what follows from the values that change ([`Rules`]).
//!
//! A line that is read in this way is told exactly as the general way tells it. With a ledger every part of a line is looked at,
//! and decoders take the general way.

mod kept;
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

use kept::{Head, Kept, Known};
use mold::{Growing, Mold, Pick};
use shape::{Drawing, Match, NO_STARTS, Starts};

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
    kept: Kept,
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
    /// Where the text stood that no shape was known of, to spare another try.
    missed: usize,
    /// What the last line was a piece of, those aside that went unheard.
    growing: Option<Growing>,
    /// The session whose lines are read, as soon as its id is known, and how many there were before it.
    session: (u32, String),
    /// Another one that the last line named which was to be learnt.
    renamed: String,
    /// Finds the id of the session of the line that was learnt last.
    finder: Option<Finder<'static>>,
}

impl Default for Learned {
    fn default() -> Self {
        Self {
            kept: Kept::default(),
            last: 0,
            clock: 0,
            misses: [0; Mold::CLASSES],
            trust: Self::TRUST,
            starts: NO_STARTS,
            missed: 0,
            growing: None,
            session: (0, String::new()),
            renamed: String::new(),
            finder: None,
        }
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
    const PATIENCE: u32 = 128;

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

    /// Reads a line like [`Self::read`], or the `first` of several, and hands what it says to the decoder
    /// with the values [beside](Aside::beside) it, which `tell`s what follows. Nothing if the line has to be read in the general way.
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
        let Self { kept, session, starts, .. } = self;
        let before = self.growing.take();
        let (at, len) = kept.find(text, self.last, (session.0, session.1.as_str()), starts)?;
        let known = kept.get_mut(at)?;
        if let Some(end) = end {
            *end = known.shape.line_end(text, len)?;
        }
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

    /// Whether it names another session than the one whose lines are read. If a second line names it, that goes on under its id.
    fn is_of_another(&mut self, event: &Event<'_>) -> bool {
        let (_, id) = &self.session;
        let Some(other) = event.origin.session.map(Str::as_escaped).filter(|other| !id.is_empty() && other != id) else {
            return false;
        };
        let goes_on = self.renamed == other;
        if goes_on {
            self.next_session(other);
        } else {
            other.clone_into(&mut self.renamed);
        }
        !goes_on
    }

    /// Whether this line is not worth a try.
    #[inline]
    const fn is_weary(&self) -> bool {
        self.trust == 0 && !self.clock.is_multiple_of(Self::PROBE)
    }

    /// Remembers what came behind the last line.
    #[inline]
    fn follow(&mut self, at: usize) {
        if let Some(last) = self.kept.get_mut(self.last)
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
        self.renamed.clear();
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
        let session = event.origin.session.map_or("", Str::as_escaped);
        if self.session.1.is_empty() {
            session.clone_into(&mut self.session.1);
        }
        let is_sure = pick.drawing.name(session, &mut self.finder);
        let Some(shape) = pick.drawing.shape(Mold::longest(class)) else { return };
        let Some(head) = Head::of(&shape) else { return };
        let group = self.kept.group(head);
        // The decoder may have had its reasons to read such a line in the general way.
        if self.kept.has(&shape, group, class, self.session.0) {
            return;
        }
        pick.drawn = true;
        let Some(mold) = Mold::of(event, aside, &mut pick) else { return };
        let fresh = Known {
            next: [0; 3],
            seen: self.clock,
            class,
            group,
            only: (!is_sure).then_some(self.session.0),
            shape,
            mold,
        };
        let at = self.kept.keep(fresh, head);
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
