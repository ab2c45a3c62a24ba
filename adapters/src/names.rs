//! Tables of names, in which a name is found by one look.

/// A table of names with what they mean, and where in it a name would stand.
pub(crate) struct Names {
    known: &'static [(&'static str, &'static str)],
    /// By a mark of the name, its place counted from 1; names of one mark stand behind each other.
    places: [u16; MARKS],
}

const MARKS: usize = 1024;

impl Names {
    /// Of a table that is sorted, explains each name, and leaves half of the marks free.
    pub(crate) const fn of(known: &'static [(&'static str, &'static str)]) -> Self {
        assert!(known.len() <= MARKS / 2);
        let mut places = [0; MARKS];
        let mut n = 0;
        while n < known.len() {
            assert!(n == 0 || is_before(known[n - 1].0.as_bytes(), known[n].0.as_bytes()));
            assert!(!known[n].1.is_empty());
            let mut at = mark(known[n].0.as_bytes());
            while places[at] != 0 {
                at = (at + 1) % MARKS;
            }
            n += 1;
            places[at] = n as u16;
        }
        Self { known, places }
    }

    /// Whether it is one of them.
    #[inline]
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut at = mark(name.as_bytes());
        while let Some(place) = usize::from(self.places[at]).checked_sub(1) {
            if self.known[place].0 == name {
                return true;
            }
            at = (at + 1) % MARKS;
        }
        false
    }
}

/// What few names share.
const fn mark(name: &[u8]) -> usize {
    let len = name.len();
    if len == 0 {
        return 0;
    }
    let (first, third, middle, last) = (name[0] as usize, name[len / 3] as usize, name[len / 2] as usize, name[len - 1] as usize);
    ((len * 0x9e5) ^ (first * 0x1f3) ^ (third * 0x3b) ^ (middle * 0x6d1) ^ (last * 0x2c7)) % MARKS
}

/// The order of names, where a constant has to know it.
const fn is_before(one: &[u8], other: &[u8]) -> bool {
    let mut n = 0;
    while n < one.len() && n < other.len() {
        if one[n] != other[n] {
            return one[n] < other[n];
        }
        n += 1;
    }
    one.len() < other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_names_and_no_others() {
        const KNOWN: &[(&str, &str)] = &[("", "x"), ("a", "x"), ("aXaaa", "x"), ("aXaba", "x"), ("aXaca", "x"), ("kind", "x")];
        static NAMES: Names = Names::of(KNOWN);
        assert!(KNOWN.iter().all(|(name, _)| NAMES.has(name)));
        for other in ["b", "aXada", "aXaab", "kin", "kinds"] {
            assert!(!NAMES.has(other), "{other}");
        }
    }

    #[test]
    fn names_stand_in_the_order_of_their_bytes() {
        let names = ["", "A", "a", "ab", "b"];
        for (n, one) in names.iter().enumerate() {
            for (m, other) in names.iter().enumerate() {
                assert_eq!(is_before(one.as_bytes(), other.as_bytes()), n < m, "{one:?} {other:?}");
            }
        }
    }
}
