//! Texts that say what was kept of earlier lines: whether they go over is watched.

use std::collections::BTreeMap;

use super::{Kept, Span, Trace, address};
use crate::event::Fate;

/// A text that says what was kept of earlier lines.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) made: Span,
    pub(super) parts: Vec<u64>,
    /// Somebody holds it.
    pub(super) held: bool,
    /// It went over under another name or in another shape.
    pub(super) renamed: Option<&'static str>,
}

impl Watched {
    /// Whether a part is one of the text.
    pub(super) const fn holds(&self, (from, to): Span) -> bool {
        self.made.0 <= from && to <= self.made.1 && from < to
    }
}

/// All texts that are watched, in the order in which that began.
#[derive(Debug, Default)]
pub(super) struct Watching {
    all: Vec<Watched>,
    /// Where in `all` those stand that are a text, of which there may be very many.
    places: BTreeMap<Span, Vec<usize>>,
}

impl Watching {
    fn push(&mut self, watched: Watched) {
        self.places.entry(watched.made).or_default().push(self.all.len());
        self.all.push(watched);
    }

    fn truncate(&mut self, len: usize) {
        for gone in self.all.drain(len.min(self.all.len())..).rev() {
            if let Some(places) = self.places.get_mut(&gone.made) {
                places.pop();
                if places.is_empty() {
                    self.places.remove(&gone.made);
                }
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.places.clear();
    }

    /// Those of a text.
    pub(super) fn of(&self, made: &str) -> impl Iterator<Item = &Watched> {
        let places = self.places.get(&address(made)).map_or(&[][..], Vec::as_slice);
        places.iter().map(|&at| &self.all[at])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Watched> {
        self.all.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Watched> {
        self.all.iter_mut()
    }
}

impl Trace {
    /// Watches whether a text goes over that is no part of the line but says what was `kept`: [`Self::saw`] tells.
    pub fn watch(&self, made: &str, kept: &Kept) {
        self.stand_ins.borrow_mut().add(address(made), address(made), false);
        if !kept.is_empty() {
            self.watched.borrow_mut().push(Watched {
                made: address(made),
                parts: kept.0.clone(),
                held: false,
                renamed: None,
            });
        }
    }

    /// What is watched, for [`Self::watch_no_more`].
    pub(crate) fn watches(&self) -> (usize, usize) {
        (self.watched.borrow().all.len(), self.stand_ins.borrow().len())
    }

    /// Of what was watched since then all is told.
    pub(crate) fn watch_no_more(&self, since: (usize, usize)) {
        self.watched.borrow_mut().truncate(since.0);
        self.stand_ins.borrow_mut().truncate(since.1);
    }

    /// Tells whether what was kept has gone over with `made`, which was watched. Whoever holds that tells it later.
    pub fn told(&self, kept: &mut Kept, made: &str, note: &'static str) {
        let watched = self.watched.borrow();
        let (held, renamed) = watched.of(made).fold((false, None), |(held, renamed), watched| {
            (held || watched.held, renamed.or(watched.renamed))
        });
        match (held, renamed) {
            (true, _) => kept.0.clear(),
            (false, Some(note)) if self.saw(made) => self.tell_held(kept, Fate::Renamed, note),
            // An empty text stands wherever nothing is said.
            _ if !made.is_empty() && self.saw(made) => self.release(kept),
            _ => self.tell_held(kept, Fate::Dropped, note),
        }
    }

    /// The same if it has; else it may do so yet.
    pub(crate) fn told_if_said(&self, kept: &mut Kept, made: &str, note: &'static str) {
        let is_held = self.watched.borrow().of(made).any(|watched| watched.held);
        if is_held || self.saw(made) {
            self.told(kept, made, note);
        }
    }

    /// Whether a text that is watched has gone over.
    pub fn saw(&self, made: &str) -> bool {
        self.seen.borrow().contains(&address(made))
    }
}
