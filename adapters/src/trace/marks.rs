/// Which bytes of a line are marked: a bit for each, up to the last one that is. What is marked of a line takes an eighth of it, however
/// many parts there are.
#[derive(Default, Debug)]
pub(super) struct Marks {
    start: usize,
    end: usize,
    bits: Vec<u64>,
    /// What was marked last: a part that many texts stand for is marked once for all of them.
    last: (usize, usize),
}

/// So much memory is kept from line to line.
const KEEP: usize = 1 << 13;

impl Marks {
    /// Nothing is marked of the line between these addresses.
    pub(super) fn begin(&mut self, (start, end): (usize, usize)) {
        (self.start, self.end, self.last) = (start, end, (0, 0));
        self.bits.clear();
        self.bits.shrink_to(KEEP);
    }

    /// Marks a part of the line; of an empty one the byte behind it, which is the quote that ends an empty text.
    #[inline]
    pub(super) fn mark(&mut self, (from, to): (usize, usize)) {
        if from < self.start || to > self.end || from >= self.end || self.last == (from, to) {
            return;
        }
        self.last = (from, to);
        let (first, last) = (from - self.start, (to.max(from + 1)) - self.start - 1);
        if self.bits.len() <= last / 64 {
            self.bits.resize(last / 64 + 1, 0);
        }
        for word in first / 64..=last / 64 {
            self.bits[word] |= within(word, first, last);
        }
    }

    /// Takes the marks from a part.
    pub(super) fn unmark(&mut self, (from, to): (usize, usize)) {
        if from < self.start || to > self.end || from >= to {
            return;
        }
        self.last = (0, 0);
        let (first, last) = (from - self.start, to - self.start - 1);
        for (word, bits) in self.bits.iter_mut().enumerate().take(last / 64 + 1).skip(first / 64) {
            *bits &= !within(word, first, last);
        }
    }

    /// Whether a byte of a part is marked, which is not empty.
    pub(super) fn touch(&self, (from, to): (usize, usize)) -> bool {
        let (first, last) = (from - self.start, to - self.start - 1);
        let words = (first / 64..=last / 64).zip(self.bits.get(first / 64..).unwrap_or_default());
        words.into_iter().any(|(word, bits)| bits & within(word, first, last) != 0)
    }
}

/// The bits of a word that lie between two places, both included.
const fn within(word: usize, first: usize, last: usize) -> u64 {
    let above = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
    let below = if word == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
    above & below
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_what_was_marked(parts in prop::collection::vec((0usize..300, 0usize..140), 0..6), asked in (0usize..299, 1usize..150)) {
            let base = 1000;
            let mut marks = Marks::default();
            marks.begin((base, base + 300));
            let mut plain = [false; 300];
            for (from, len) in parts {
                let to = (from + len).min(300);
                marks.mark((base + from, base + to));
                plain[from..to.max(from + 1)].fill(true);
            }
            let to = (asked.0 + asked.1).min(300);
            prop_assert_eq!(marks.touch((base + asked.0, base + to)), plain[asked.0..to].contains(&true));
            marks.unmark((base + asked.0, base + to));
            plain[asked.0..to].fill(false);
            for (at, marked) in plain.into_iter().enumerate() {
                prop_assert_eq!(marks.touch((base + at, base + at + 1)), marked);
            }
        }
    }
}
