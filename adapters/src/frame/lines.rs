use std::rc::Rc;

use crate::ids;

/// Cuts a stream of bytes into lines. Where the stream is cut into reads never changes what comes out.
///
/// A line that lies whole within one read is handed on in place; only one that crosses a border is copied.
#[derive(Debug)]
pub struct Lines {
    carry: Vec<u8>,
    limit: usize,
    /// Length and fingerprint of the line that is being skipped because it is longer than the limit.
    skipping: Option<(u64, u64)>,
}

/// What [`Lines`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line with the line feed that ends it; the last one of a stream may lack it.
    Whole {
        /// The line.
        bytes: &'a [u8],
        /// The same where it is long, for whoever wants to keep it.
        held: Option<&'a Rc<Vec<u8>>>,
    },
    /// A line longer than the limit was left out.
    Oversize {
        /// How many bytes it had, line feed included.
        bytes: u64,
        /// Its fingerprint ([`ids::fnv`]).
        hash: u64,
        /// How it begins: its first bytes, up to [`Lines::START`].
        start: &'a [u8],
    },
}

/// A line that takes so many bytes is long.
const LONG: usize = 1 << 20;

impl<'a> Line<'a> {
    const fn short(bytes: &'a [u8]) -> Self {
        Self::Whole { bytes, held: None }
    }
}

impl Lines {
    /// So many bytes of a line that is left out are kept.
    pub const START: usize = 1 << 10;

    /// Lines of up to `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self {
            carry: Vec::new(),
            limit,
            skipping: None,
        }
    }

    /// Whether nothing is kept of a line that has begun.
    pub const fn is_between_lines(&self) -> bool {
        self.carry.is_empty() && self.skipping.is_none()
    }

    /// Takes a read and hands on every line that it completes. `each` returns whether to go on.
    pub fn feed(&mut self, mut input: &[u8], mut each: impl FnMut(Line<'_>) -> bool) {
        while !input.is_empty() {
            let end = memchr::memchr(b'\n', input).map(|at| at + 1);
            let (piece, rest) = input.split_at(end.unwrap_or(input.len()));
            input = rest;
            if let Some((bytes, hash)) = self.skipping {
                let (bytes, hash) = (bytes + piece.len() as u64, ids::fnv(piece, hash));
                self.skipping = Some((bytes, hash));
                if end.is_some() {
                    self.skipping = None;
                    let start = std::mem::take(&mut self.carry);
                    if !each(Line::Oversize { bytes, hash, start: &start }) {
                        return;
                    }
                }
                continue;
            }
            if self.carry.len() + piece.len() > self.limit {
                let hash = ids::fnv(piece, ids::fnv(&self.carry, ids::FNV_SEED));
                let bytes = (self.carry.len() + piece.len()) as u64;
                let start: Vec<u8> = self.carry.iter().chain(piece).take(Self::START).copied().collect();
                self.carry = Vec::new();
                if end.is_none() {
                    self.carry = start;
                    self.skipping = Some((bytes, hash));
                } else if !each(Line::Oversize { bytes, hash, start: &start }) {
                    return;
                }
                continue;
            }
            if end.is_none() {
                self.carry.extend_from_slice(piece);
                return;
            }
            let go_on = if self.carry.is_empty() {
                each(Line::short(piece))
            } else {
                self.carry.extend_from_slice(piece);
                self.carried(&mut each)
            };
            if !go_on {
                return;
            }
        }
    }

    /// The stream is over: hands on the last line if it lacks its line feed.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>) -> bool) {
        if let Some((bytes, hash)) = self.skipping.take() {
            let start = std::mem::take(&mut self.carry);
            each(Line::Oversize { bytes, hash, start: &start });
        } else if !self.carry.is_empty() {
            self.carried(&mut each);
        }
    }

    /// Hands on the line that was gathered. A long one does not hold its memory for the rest of the stream.
    fn carried(&mut self, each: &mut impl FnMut(Line<'_>) -> bool) -> bool {
        if self.carry.capacity() <= LONG {
            let go_on = each(Line::short(&self.carry));
            self.carry.clear();
            return go_on;
        }
        let line = Rc::new(std::mem::take(&mut self.carry));
        each(Line::Whole {
            bytes: &line,
            held: Some(&line),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(reads: &[&[u8]], limit: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut frame = Lines::new(limit);
        let mut each = |line: Line<'_>| {
            found.push(match line {
                Line::Whole { bytes, .. } => format!("{:?}", String::from_utf8_lossy(bytes)),
                Line::Oversize { bytes, hash, .. } => format!("oversize {bytes} {hash:x}"),
            });
            true
        };
        for read in reads {
            frame.feed(read, &mut each);
        }
        frame.finish(&mut each);
        found
    }

    #[test]
    fn how_a_long_line_begins_is_told_however_it_is_read() {
        for size in [1, 3, 100] {
            let mut found = Vec::new();
            let mut frame = Lines::new(5);
            let mut each = |line: Line<'_>| {
                if let Line::Oversize { start, .. } = line {
                    found.push(String::from_utf8_lossy(start).into_owned());
                }
                true
            };
            for read in b"ab\ncdefgh\nij\nklmnopq".chunks(size) {
                frame.feed(read, &mut each);
            }
            frame.finish(&mut each);
            assert!(found[0].starts_with("cdefg") && found[1].starts_with("klmno"), "{found:?}");
        }
    }

    #[test]
    fn long_lines_are_skipped_and_the_rest_goes_on() {
        assert_eq!(
            lines(&[b"ab\ncdefgh\nij"], 5),
            ["\"ab\\n\"", "oversize 7 8e8cc8efd3cdbb2b", "\"ij\""].map(|s| {
                if s.starts_with("oversize") {
                    format!("oversize 7 {:x}", ids::fnv(b"cdefgh\n", ids::FNV_SEED))
                } else {
                    s.to_owned()
                }
            })
        );
    }

    proptest! {
        #[test]
        fn cuts_never_matter(bytes in proptest::collection::vec(prop::sample::select(vec![b'a', b'b', b'\n', b'\r', 0]), 0..60), cuts in proptest::collection::vec(0usize..60, 0..6), limit in 1usize..12) {
            let whole = lines(&[&bytes], limit);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut reads = Vec::new();
            let mut from = 0;
            for cut in cuts {
                reads.push(&bytes[from..cut]);
                from = cut;
            }
            reads.push(&bytes[from..]);
            prop_assert_eq!(lines(&reads, limit), whole);
        }
    }
}
