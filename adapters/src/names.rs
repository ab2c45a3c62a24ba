//! Tables of names, in which a name is found by one look.

/// A table of names with what they mean, and where in it a name would stand.
pub(crate) struct Names {
    known: &'static [(&'static str, &'static str)],
    /// By a mark of the name, its place counted from 1; names of one mark stand behind each other.
    places: [u8; MARKS],
}

const MARKS: usize = 256;

impl Names {
    /// Of tables that leave half of the marks free.
    pub(crate) const fn of(known: &'static [(&'static str, &'static str)]) -> Self {
        assert!(known.len() <= MARKS / 2);
        let mut places = [0; MARKS];
        let mut n = 0;
        while n < known.len() {
            let mut at = mark(known[n].0);
            while places[at] != 0 {
                at = (at + 1) % MARKS;
            }
            n += 1;
            places[at] = n as u8;
        }
        Self { known, places }
    }

    /// Whether it is one of them.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut at = mark(name);
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
const fn mark(name: &str) -> usize {
    let bytes = name.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else {
        return 0;
    };
    ((first as usize * 7) ^ (last as usize * 3) ^ (bytes.len() * 5)) % MARKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_names_and_no_others() {
        const KNOWN: &[(&str, &str)] = &[("a", ""), ("aXa", ""), ("aYa", ""), ("aZa", ""), ("kind", ""), ("", "")];
        static NAMES: Names = Names::of(KNOWN);
        assert!(KNOWN.iter().all(|(name, _)| NAMES.has(name)));
        for other in ["b", "aWa", "aXb", "kin", "kinds"] {
            assert!(!NAMES.has(other), "{other}");
        }
    }
}
