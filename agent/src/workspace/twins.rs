//! Other names of files that nobody may read: a hard link is the same file in another place.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::PathPattern;

/// So many entries are looked at, and for so long.
const MOST: usize = 100_000;
const LONGEST: Duration = Duration::from_secs(1);

/// For so long it is taken for known. A file that has got a name since is looked for at once: that is a change of the file.
const FRESH: Duration = Duration::from_secs(3);
/// The clock of files may be behind by so much.
const BEHIND: Duration = Duration::from_millis(20);

/// A file, whatever it is called.
type Id = (u64, u64);

/// The files with several names of which a pattern is about one.
#[derive(Debug, Default)]
pub(super) struct Twins(Mutex<Option<Known>>);

#[derive(Debug)]
struct Known {
    when: SystemTime,
    ids: HashSet<Id>,
}

impl Twins {
    /// Whether a file is one of them.
    pub(super) fn has(&self, patterns: &[Box<dyn PathPattern>], file: &Metadata) -> bool {
        if patterns.is_empty() || !file.is_file() || file.nlink() < 2 {
            return false;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = UNIX_EPOCH + Duration::new(file.ctime().try_into().unwrap_or(0), file.ctime_nsec().try_into().unwrap_or(0));
        let is_fresh = |known: &Known| known.when.elapsed().is_ok_and(|age| age < FRESH) && changed + BEHIND < known.when;
        if !known.as_ref().is_some_and(is_fresh) {
            let when = SystemTime::now();
            let ids = find(patterns);
            *known = Some(Known { when, ids });
        }
        known.as_ref().is_some_and(|known| known.ids.contains(&(file.dev(), file.ino())))
    }
}

fn find(patterns: &[Box<dyn PathPattern>]) -> HashSet<Id> {
    let mut found = HashSet::new();
    let (mut left, until) = (MOST, Instant::now() + LONGEST);
    for pattern in patterns {
        let mut paths = vec![pattern.below().to_owned()];
        while let Some(path) = paths.pop() {
            left = left.saturating_sub(1);
            if left == 0 || Instant::now() > until {
                tracing::warn!("not all files that rules keep from being read were looked through for other names of theirs");
                return found;
            }
            let Ok(about) = path.symlink_metadata() else { continue };
            if about.is_file() && about.nlink() > 1 && pattern.matches(&path) {
                found.insert((about.dev(), about.ino()));
            } else if about.is_dir() {
                paths.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
        }
    }
    found
}
