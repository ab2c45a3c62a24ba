//! The paths of a folder, so kept that those that fit a few letters are found at once.
//!
//! What fits is ranked: the path itself, then paths that begin so, then those whose last name begins so, then those that hold it anywhere; shorter
//! ones first. The paths are kept in the order of the ranking within one rank, so a number is a rank; beginnings are found by bisection, and what
//! stands in the middle is looked for only where those are too few, past paths that lack one of the letters or of their pairs.

use std::cmp::Ordering;

use memchr::memmem::Finder;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// By length, then by name.
    all: Vec<Entry>,
    /// Numbers of entries by their small letters, and by their last names'.
    by_path: Vec<u32>,
    by_name: Vec<u32>,
}

#[derive(Debug)]
struct Entry {
    path: Box<str>,
    /// In small letters, if that is anything else.
    small: Option<Box<str>>,
    /// Where the last name begins in the small letters.
    name: u32,
    /// What it is made of.
    made_of: MadeOf,
}

/// The letters of a text, and what stands beside what: a bit for each, which several share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MadeOf {
    letters: u64,
    pairs: u128,
}

impl MadeOf {
    fn new(text: &str) -> Self {
        let (mut made_of, mut before) = (Self::default(), None);
        for byte in text.bytes() {
            made_of.letters |= 1 << (byte & 63);
            if let Some(before) = before {
                made_of.pairs |= 1 << ((u32::from(before) * 37 + u32::from(byte)) % 127);
            }
            before = Some(byte);
        }
        made_of
    }

    /// Whether a text that is made so may hold one that is made like `other`.
    const fn may_hold(self, other: Self) -> bool {
        self.letters & other.letters == other.letters && self.pairs & other.pairs == other.pairs
    }
}

impl Entry {
    fn new(path: String) -> Self {
        let small = path.to_lowercase();
        let name = small.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
        Self {
            name: u32::try_from(name).unwrap_or(0),
            made_of: MadeOf::new(&small),
            small: (small != path).then(|| small.into()),
            path: path.into(),
        }
    }

    fn small(&self) -> &str {
        self.small.as_deref().unwrap_or(&self.path)
    }

    fn name(&self) -> &str {
        &self.small()[self.name as usize..]
    }
}

impl Paths {
    /// Folders have a slash at their end.
    pub(super) fn new(paths: Vec<String>) -> Self {
        let mut all: Vec<Entry> = paths.into_iter().map(Entry::new).collect();
        all.sort_unstable_by(|a, b| (a.path.len(), &a.path).cmp(&(b.path.len(), &b.path)));
        let numbers = || (0..u32::try_from(all.len()).unwrap_or(u32::MAX)).collect::<Vec<_>>();
        let (mut by_path, mut by_name) = (numbers(), numbers());
        let entry = |number: &u32| &all[*number as usize];
        std::thread::scope(|scope| {
            scope.spawn(|| by_path.sort_unstable_by(|a, b| entry(a).small().cmp(entry(b).small())));
            by_name.sort_unstable_by(|a, b| entry(a).name().cmp(entry(b).name()));
        });
        Self { all, by_path, by_name }
    }

    /// The best `most` for letters in small, and whether one of them is the path itself.
    pub(super) fn find(&self, wanted: &str, most: usize) -> (Vec<&str>, bool) {
        let starts = self.range(&self.by_path, wanted, Entry::small);
        let perfect = starts.first().is_some_and(|number| self.entry(*number).small() == wanted);
        let mut found = best(starts.iter().copied(), most);
        if perfect && let Some(exact) = starts.first() {
            // Other letters may make a longer path come first.
            found.retain(|number| number != exact);
            found.insert(0, *exact);
            found.truncate(most);
        }
        if found.len() < most {
            let named = self.range(&self.by_name, wanted, Entry::name).iter().copied();
            let named = named.filter(|number| !self.entry(*number).small().starts_with(wanted));
            found.extend(best(named, most - found.len()));
        }
        if found.len() < most {
            let (made_of, finder) = (MadeOf::new(wanted), Finder::new(wanted));
            let holds = |entry: &Entry| {
                let small = entry.small();
                finder.find(small.as_bytes()).is_some() && !small.starts_with(wanted) && !entry.name().starts_with(wanted)
            };
            let numbered = self.all.iter().enumerate();
            let inside = numbered.filter(|(_, entry)| entry.made_of.may_hold(made_of) && holds(entry));
            let inside = inside.filter_map(|(number, _)| u32::try_from(number).ok());
            found.extend(inside.take(most - found.len()));
        }
        let paths = found.into_iter().map(|number| &*self.entry(number).path);
        (paths.collect(), perfect)
    }

    fn entry(&self, number: u32) -> &Entry {
        &self.all[number as usize]
    }

    /// Those of a sorted list that begin so.
    fn range<'s>(&self, sorted: &'s [u32], wanted: &str, key: impl Fn(&Entry) -> &str) -> &'s [u32] {
        let side = |number: &u32| {
            let key = key(self.entry(*number)).as_bytes();
            key[..key.len().min(wanted.len())].cmp(wanted.as_bytes())
        };
        let from = sorted.partition_point(|number| side(number) == Ordering::Less);
        let count = sorted[from..].partition_point(|number| side(number) == Ordering::Equal);
        &sorted[from..from + count]
    }
}

/// The smallest numbers, in order.
fn best(numbers: impl Iterator<Item = u32>, most: usize) -> Vec<u32> {
    let mut all: Vec<u32> = numbers.collect();
    if all.len() > most {
        all.select_nth_unstable(most);
        all.truncate(most);
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by looking at each.
    fn by_hand<'p>(paths: &'p [String], wanted: &str, most: usize) -> Vec<&'p str> {
        let rank = |path: &String| {
            let small = path.to_lowercase();
            let name = small.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
            match () {
                () if small == wanted => Some(0),
                () if small.starts_with(wanted) => Some(1),
                () if small[name..].starts_with(wanted) => Some(2),
                () if small.contains(wanted) => Some(3),
                () => None,
            }
        };
        let mut fitting: Vec<_> = paths.iter().filter_map(|path| Some((rank(path)?, path.len(), path.as_str()))).collect();
        fitting.sort_unstable();
        fitting.into_iter().take(most).map(|(_, _, path)| path).collect()
    }

    #[test]
    fn a_large_tree_is_searched_by_rank() {
        let words = ["src", "Button", "main", "Übung", "test", "util", "a b", "view"];
        let mut paths: Vec<String> = (0..100_000_usize)
            .map(|n| {
                let word = |at: usize| words[(n / at) % words.len()];
                format!("{}/dir{}/{}{n}.rs", word(1), n % 300, word(7))
            })
            .collect();
        paths.extend(["notes/Button with spaces.tsx", "button/", "src/", "SRC"].map(str::to_owned));
        let index = Paths::new(paths.clone());
        for wanted in [
            "",
            "b",
            "bu",
            "but",
            "butt",
            "button",
            "src",
            "src/",
            "src/dir1/",
            "main7",
            "übung",
            "ir29",
            "zzz",
            "elif",
            "with sp",
            ".rs",
            "s",
            "99999",
            "/dir",
        ] {
            let (found, perfect) = index.find(wanted, 50);
            assert_eq!(found, by_hand(&paths, wanted, 50), "{wanted}");
            assert_eq!(perfect, wanted == "src" || wanted == "src/", "{wanted}");
        }
        assert!(index.find("src/dir1/main1.rs", 50).0.len() < 50);
        assert_eq!(Paths::default().find("x", 5), (Vec::new(), false));
    }
}
