//! Sessions that one connection serves at the same time: what belongs to another one than that of which a turn is going on waits until that
//! turn is over.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bumpalo::Bump;

use super::core::Core;
use crate::codec::{Decode, Decoder};
use crate::event::Others;
use crate::json::Error;
use crate::reader::{Source, Stand};

/// A line that waits.
#[derive(Debug)]
struct Waits {
    line: u64,
    /// How much was read before it.
    read: u64,
    text: Box<str>,
    /// Whose turn it waits for.
    of: [Option<Rc<str>>; 2],
}

/// Lines that wait.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// In the order in which they came.
    lines: BTreeMap<u64, Waits>,
    /// The same lines under the sessions whose turn they wait for.
    of: BTreeMap<Rc<str>, BTreeSet<u64>>,
    /// How many lines have ever waited.
    came: u64,
    bytes: usize,
    /// The line that is read may be set aside.
    pub(super) takes: bool,
}

/// When so many bytes wait, the turn that is going on is taken for one that was cut off.
const MOST: usize = 64 << 20;

impl Aside {
    /// A line that its decoder has not told is read later.
    #[cold]
    pub(super) fn add(&mut self, (line, read): (u64, u64), value: &str, others: Others) {
        let parent = others.parent.filter(|parent| *parent != others.session);
        let of = [Some(others.session), parent].map(|id| Some(self.under(&id?)));
        let text = value.into();
        self.lines.insert(self.came, Waits { line, read, text, of });
        self.came += 1;
        self.bytes += value.len();
    }

    /// Notes that the next line waits for a turn of this session.
    fn under(&mut self, id: &str) -> Rc<str> {
        let id = self.of.get_key_value(id).map_or_else(|| id.into(), |(id, _)| Rc::clone(id));
        self.of.entry(Rc::clone(&id)).or_default().insert(self.came);
        id
    }

    /// The first line from the place `at` on that does not wait any more; `all`: whatever it waits for.
    fn next(&mut self, mut at: u64, decoder: &mut Decoder, all: bool) -> Option<(u64, Waits)> {
        let whose = !all && decoder.is_in_turn();
        loop {
            let mut first = None;
            if whose {
                decoder.own_sessions(&mut |id| {
                    let place = self.of.get(id).and_then(|places| places.range(at..).next());
                    first = place.into_iter().chain(&first).min().copied();
                });
            } else {
                first = self.lines.range(at..).next().map(|(&place, _)| place);
            }
            let place = first?;
            // A session that it has begun may be no part of it.
            if !whose || !decoder.is_others(&self.lines.get(&place)?.text) {
                return Some((place, self.take(place)?));
            }
            at = place + 1;
        }
    }

    fn take(&mut self, place: u64) -> Option<Waits> {
        let waits = self.lines.remove(&place)?;
        self.bytes -= waits.text.len();
        for id in waits.of.iter().flatten() {
            let places = self.of.get_mut(id);
            if places.is_some_and(|places| places.remove(&place) && places.is_empty()) {
                self.of.remove(id);
            }
        }
        Some(waits)
    }
}

impl Core {
    /// Reads a value of a log of many sessions, if nothing comes before it.
    pub(super) fn read_of_many<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        let Source { decoder, arena, .. } = source;
        let source = Source {
            decoder: &mut *decoder,
            ..source
        };
        self.aside.takes = true;
        let used = self.read(text, source);
        self.aside.takes = false;
        if used.is_ok() && (!decoder.is_in_turn() || self.aside.bytes > MOST) {
            self.read_aside(decoder, arena, self.aside.bytes > MOST);
        }
        used
    }

    /// Reads what has waited and waits for nothing any more; `all`: whatever it waits for.
    pub(super) fn read_aside(&mut self, decoder: &mut Decoder, arena: &Bump, all: bool) {
        let mut at = 0;
        self.begin_aside();
        while let Some((place, waits)) = self.aside.next(at, decoder, all) {
            at = place + 1;
            let text = &*arena.alloc_str(&waits.text);
            let source = Source {
                decoder: &mut *decoder,
                arena,
                line: waits.line,
                held: None,
                stand: Stand { at: 0, line: "" },
                read: waits.read,
                part: None,
            };
            if let Err(error) = self.read(text, source) {
                self.damage(error.at, error.pointer(text), error.why.to_string());
            }
            if !decoder.is_in_turn() && !all {
                at = 0;
                self.begin_aside();
            }
        }
    }

    /// Lines are read that stand before the last one.
    fn begin_aside(&mut self) {
        if let Some(ledger) = self.ledger.as_mut().filter(|_| !self.aside.lines.is_empty()) {
            ledger.close();
        }
    }
}
