//! Logs that are stored as events, and given back byte for byte.
//!
//! What events say is written in the one way in which their dialect is written here. A line that was spelled in another way is stored
//! beside its events, and given back in the place of what would be written of them, if they are still the same.

use std::cell::Cell;
use std::rc::Rc;

use super::{Converter, Options};
use crate::codec::{Dialect, Encode, Encoder, Format};
use crate::event::Spelling;
use crate::json::{LONG, Out};

/// What is done for a log to be given back.
#[derive(Debug)]
pub(super) enum Stored {
    /// Nothing: it is not about stored events.
    No,
    /// Events are written.
    Storing(Box<Storing>),
    /// Events are read.
    Giving(Giving),
}

impl Stored {
    pub(super) fn of(options: &Options) -> Self {
        let stores = |format: Format| format.dialect.vendor().logs.stores_others;
        match (stores(options.from), stores(options.to)) {
            (false, true) if options.keep_spelling && options.from.is_writable() => Self::Storing(Box::new(Storing::of(options.from))),
            (true, false) if options.anew.is_none() => Self::Giving(Giving::default()),
            _ => Self::No,
        }
    }

    /// Whether what was written of the lines before stays as it is.
    pub(super) const fn hands_over(&self) -> bool {
        match self {
            Self::No => true,
            Self::Storing(_) => false,
            Self::Giving(giving) => giving.next.is_none() && giving.held.is_none(),
        }
    }

    /// Whether each line has to be looked at by itself.
    #[inline]
    pub(super) const fn looks_at_lines(&self) -> bool {
        match self {
            Self::No => false,
            Self::Storing(_) => true,
            Self::Giving(giving) => giving.held.is_some(),
        }
    }

    /// More is written to `out` from here on.
    pub(super) fn resume(&mut self, out: &mut Out) {
        match self {
            Self::No => {}
            Self::Storing(storing) => storing.from = out.len(),
            Self::Giving(giving) => {
                if let Some(held) = &mut giving.held {
                    held.from = out.len();
                    out.bytes(&std::mem::take(&mut held.written));
                }
            }
        }
    }

    /// What was written up to here is of the session before, and not of the line that is read.
    pub(super) const fn begins_behind(&mut self, out: &Out) {
        if let Self::Giving(Giving { held: Some(held), .. }) = self {
            held.from = out.len();
        }
    }

    /// What was written to `out` is taken away.
    pub(super) fn pause(&mut self, out: &mut Out) {
        if let Self::Giving(Giving { held: Some(held), .. }) = self {
            held.written = out.take_from(held.from);
        }
    }
}

/// Sees to it that what is stored gives back its log.
#[derive(Debug)]
pub(super) struct Storing {
    format: Format,
    /// Reads what is stored.
    back: Converter,
    given: Vec<u8>,
    /// What it gave back of a long line and does not hold: how many bytes, and the check of them.
    gone: Rc<Cell<(usize, u64)>>,
    /// Where the events of the line begin that is read.
    from: usize,
}

impl Storing {
    fn of(format: Format) -> Self {
        let gone = Rc::new(Cell::default());
        let counted = Rc::clone(&gone);
        let back = Converter::new(Options::new(Dialect::CANONICAL.into(), format)).drained(Box::new(move |given| {
            let (len, check) = counted.get();
            counted.set((len + given.len(), Spelling::check_on(check, given)));
            given.clear();
        }));
        Self {
            format,
            back,
            given: Vec::new(),
            gone,
            from: 0,
        }
    }

    /// A line was read, and its events are written.
    pub(super) fn line(&mut self, line: &[u8], encoder: &Encoder, out: &mut Out) {
        self.given.clear();
        self.gone.set((0, Spelling::check_of(b"")));
        self.back.feed(out.since(self.from), &mut self.given);
        let gives_back = match self.gone.get() {
            (0, _) => self.given == line,
            (len, check) => len + self.given.len() == line.len() && Spelling::check_on(check, &self.given) == Spelling::check_of(line),
        };
        if self.given.capacity() > LONG {
            self.given = Vec::new();
        }
        // It is all that is still looked at.
        out.stays(line.len() > LONG);
        if !gives_back {
            encoder.spelled(line, self.format, self.from, out);
        }
        out.drain();
        out.stays(false);
        self.from = out.len();
    }

    /// The log is over; what was written since the last line is of none.
    pub(super) fn end(&mut self, encoder: &Encoder, out: &mut Out) {
        self.given.clear();
        self.back.feed(out.since(self.from), &mut self.given);
        self.back.finish(&mut self.given);
        if !self.given.is_empty() {
            encoder.spelled(b"", self.format, self.from, out);
        }
    }
}

/// Gives back lines as they were spelled.
#[derive(Debug, Default)]
pub(super) struct Giving {
    /// The line that is read says how the ones behind it were spelled.
    next: Option<Held>,
    held: Option<Held>,
    /// The last line was given back so, and nothing follows the log's own end.
    given: bool,
    /// Lines of the session were given back so, and some are not as they were spelled.
    kept: bool,
    edited: bool,
}

/// A spelling, and what is written of its events until it is known whether they are still the same.
#[derive(Debug)]
struct Held {
    line: Vec<u8>,
    lines: u32,
    check: u64,
    /// The check of what was read so far, and how long that was.
    found: u64,
    read: usize,
    /// Where in the output it would stand.
    from: usize,
    written: Vec<u8>,
}

impl Held {
    /// Events are longer than the line that they are of, but not by more than this, and so many times.
    const LONGER: (usize, usize) = (64 << 10, 64);

    const fn is_too_long(&self) -> bool {
        self.read > Self::LONGER.0 + Self::LONGER.1 * self.line.len()
    }
}

impl Giving {
    /// The line that is read is a spelling.
    pub(super) fn spelled(&mut self, spelling: &Spelling<'_>, to: Format) {
        self.next = (spelling.format == to).then(|| Held {
            line: spelling.line.to_owned(),
            lines: spelling.lines,
            check: spelling.check,
            found: Spelling::check_of(spelling.line),
            read: 0,
            from: 0,
            written: Vec::new(),
        });
    }

    /// Lines were read of which nothing was spelled otherwise.
    pub(super) const fn plain(&mut self) {
        self.given = false;
    }

    /// Whether the log's own end was given back.
    pub(super) const fn has_given_all(&self) -> bool {
        self.given
    }

    /// A session is over that is one value. Returns whether that was given back.
    pub(super) const fn has_given_session(&mut self) -> bool {
        let kept = std::mem::replace(&mut self.kept, false);
        !std::mem::replace(&mut self.edited, false) && kept
    }

    /// A line was read. Returns whether the line that it, or the last of it, was stored of is given back.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Out) -> bool {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return false;
        }
        match (self.next.take(), &mut self.held) {
            (Some(next), held) => *held = Some(Held { from: out.len(), ..next }),
            (None, Some(held)) => {
                held.lines -= 1;
                held.read += line.len();
                held.found = Spelling::check_more(held.found, line);
            }
            (None, None) => {
                self.given = false;
                return false;
            }
        }
        if self.held.as_ref().is_some_and(|held| held.lines > 0 && !held.is_too_long()) {
            return false;
        }
        let Some(held) = self.held.take() else { return false };
        self.given = held.lines == 0 && held.found == held.check;
        self.kept |= self.given;
        self.edited |= !self.given;
        if self.given {
            out.truncate(held.from);
            out.bytes(&held.line);
        }
        self.given
    }
}
