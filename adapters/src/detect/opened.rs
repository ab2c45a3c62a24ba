//! One line, opened for the recognisers.

use std::cell::{Cell, RefCell};

use crate::json::{Cursor, Object, Raw, Str};

/// Few lines have more members.
const USUAL: usize = 24;

/// One line, opened at its top level, as far as it is asked about. A line that is cut off has the members that came through, the last one
/// cut.
#[derive(Debug)]
pub(crate) struct Opened<'a> {
    /// The whole text.
    pub(crate) text: &'a str,
    /// `type`, if it is a string.
    pub(crate) kind: &'a str,
    members: RefCell<Members<'a>>,
    /// The marks of all names, when all have been read; before that any name may come.
    marks: Cell<u64>,
}

/// The members up to the last one that was asked for.
#[derive(Debug)]
struct Members<'a> {
    found: Vec<(Str<'a>, Raw<'a>)>,
    at: Cursor<'a>,
    /// What is still to be read.
    rest: Option<Object>,
    /// The marks of the names that were found.
    marks: u64,
}

/// A bit for a name, which few others share: a name whose bit no member has is none of theirs.
#[inline(always)]
const fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else {
        return 1;
    };
    1 << (((first as u32 * 7) ^ (last as u32 * 3) ^ bytes.len() as u32) % u64::BITS)
}

impl<'a> Members<'a> {
    /// Reads one more; false if there is none.
    fn read(&mut self) -> bool {
        let key = self.rest.as_mut().and_then(|object| object.key(&mut self.at).ok()?);
        let Some(key) = key else {
            self.rest = None;
            return false;
        };
        let before = self.at;
        let value = self.at.skip().unwrap_or_else(|_| {
            self.rest = None;
            Raw::trusted(before.rest().trim_ascii_start())
        });
        self.marks |= if key.has_escapes() { u64::MAX } else { mark(key.as_escaped()) };
        self.found.push((key, value));
        true
    }

    fn place(&mut self, key: &str) -> Option<usize> {
        let is = |(name, _): &(Str<'a>, Raw<'a>)| name.is(key);
        if self.marks & mark(key) != 0
            && let Some(at) = self.found.iter().position(is)
        {
            return Some(at);
        }
        while self.rest.is_some() && self.read() {
            if self.found.last().is_some_and(is) {
                return Some(self.found.len() - 1);
            }
        }
        None
    }
}

impl<'a> Opened<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut line = Self::part(text);
        line.kind = line.word("type");
        line
    }

    /// The same of a part of a line, which nobody asks for its `type`.
    pub(crate) fn part(text: &'a str) -> Self {
        let mut at = Cursor::new(text);
        let rest = at.object().ok();
        let found = Vec::with_capacity(if rest.is_some() { USUAL } else { 0 });
        let members = Members { found, at, rest, marks: 0 };
        Self {
            text,
            kind: "",
            members: RefCell::new(members),
            marks: Cell::new(u64::MAX),
        }
    }

    /// Whether it is an object (at least the beginning of one).
    pub(crate) fn is_object(&self) -> bool {
        let mut members = self.members.borrow_mut();
        !members.found.is_empty() || members.read()
    }

    /// The value of a member.
    #[inline]
    pub(crate) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.place(key).map(|at| self.members.borrow().found[at].1)
    }

    /// The names of its members.
    pub(crate) fn members(&self) -> impl Iterator<Item = Str<'a>> {
        let mut members = self.members.borrow_mut();
        while members.read() {}
        let names: Vec<_> = members.found.iter().map(|(name, _)| *name).collect();
        names.into_iter()
    }

    /// Whether there is such a member.
    #[inline]
    pub(crate) fn has(&self, key: &str) -> bool {
        self.place(key).is_some()
    }

    /// Whether there is any of these members.
    #[inline]
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    /// Whether all of these members are there.
    #[inline]
    pub(crate) fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// The text of a member that is a string; else empty.
    #[inline]
    pub(crate) fn word(&self, key: &str) -> &'a str {
        self.get(key).map_or("", word)
    }

    /// The member at the end of a path of keys.
    #[inline]
    pub(crate) fn find(&self, path: &[&str]) -> Option<Raw<'a>> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.get(key))
    }

    /// Where a member stands among the others.
    #[inline]
    pub(crate) fn place(&self, key: &str) -> Option<usize> {
        // Nearly all that a line is asked for, is not there.
        if self.marks.get() & mark(key) == 0 { None } else { self.search(key) }
    }

    #[inline(never)]
    fn search(&self, key: &str) -> Option<usize> {
        let mut members = self.members.borrow_mut();
        let found = members.place(key);
        if members.rest.is_none() {
            self.marks.set(members.marks);
        }
        found
    }
}

/// The escaped text of a value that is a string; else empty.
pub(crate) fn word(value: Raw<'_>) -> &str {
    value.string().map_or("", Str::as_escaped)
}
