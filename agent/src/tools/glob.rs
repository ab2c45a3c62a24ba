//! Finding files by their names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobSet};
use ignore::{DirEntry, WalkState};
use rustix::fs::AtFlags;
use tokio_util::sync::CancellationToken;

use super::walk::{Tree, Until, Visit, still_inside, walk};
use crate::workspace::{Fault, Place, Wall};

/// Which files are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// A glob for their paths from the folder: `*` and `?` stay in one folder, `**` goes through several, `{a,b}` is one of these.
    pub pattern: String,
    /// A pattern without a slash matches names, however deep; else only those in the folder itself.
    pub names: bool,
    /// Capital letters are small ones too.
    pub any_case: bool,
    /// Which files there are.
    pub tree: Tree,
    /// The order.
    pub order: Order,
    /// The most files.
    pub most: usize,
}

/// In which order files are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one that was written last is the first.
    Newest,
    /// By their paths.
    Path,
    /// Those that were written in this time, the last one first; then the others by their paths.
    Recent(Duration),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The files, absolute.
    pub files: Vec<PathBuf>,
    /// How many there are in all.
    pub total: usize,
}

/// Looks for files below a folder.
///
/// # Errors
/// When it is no folder, when the pattern makes no sense, and when it was cancelled.
pub fn glob(wall: &Wall, place: &Place, asked: &Asked, cancel: &CancellationToken) -> Result<Found, Fault> {
    let (place, pattern) = below(wall, place, &asked.pattern)?;
    let pattern = pattern.strip_prefix("./").unwrap_or(&pattern);
    let pattern = if asked.names && !pattern.contains('/') {
        format!("**/{pattern}")
    } else {
        pattern.to_owned()
    };
    let matcher = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .case_insensitive(asked.any_case)
        .build();
    // A set of one: it knows the short ways for names and for what they end in.
    let matcher = matcher.and_then(|glob| GlobSet::builder().add(glob).build());
    let matcher = matcher.map_err(|error| Fault::Other(error.to_string()))?;
    let root = place.open_folder()?;
    let hunt = Hunt {
        matcher: &matcher,
        root: &root,
        order: asked.order,
        since: match asked.order {
            Order::Recent(span) => SystemTime::now().checked_sub(span),
            _ => None,
        },
        // A few more than are wanted, should some have gone.
        most: asked.most.saturating_add(16),
        all: Mutex::default(),
    };
    walk(&place, &asked.tree, &Until::new(&place, cancel), || Finder {
        hunt: &hunt,
        total: 0,
        found: BinaryHeap::new(),
    })?;
    let (mut all, total) = hunt.all.into_inner().unwrap_or_default();
    all.sort_unstable();
    all.truncate(hunt.most);
    still_inside(wall, &mut all, |found| &found.path);
    all.truncate(asked.most);
    Ok(Found {
        files: all.into_iter().map(|found| found.path).collect(),
        total,
    })
}

/// The folder in which a pattern begins, and the rest of the pattern. Patterns may be absolute, and go up.
fn below(wall: &Wall, place: &Place, pattern: &str) -> Result<(Place, String), Fault> {
    let outside = pattern.starts_with('/') || pattern.starts_with("~/") || pattern.split('/').any(|part| part == "..");
    if !outside {
        return Ok((place.clone(), pattern.to_owned()));
    }
    let plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
    let parts: Vec<&str> = pattern.split('/').collect();
    // The last part names files.
    let fixed = parts[..parts.len() - 1].iter().take_while(|part| plain(part)).count();
    let (base, rest) = parts.split_at(fixed);
    let base = base.join("/");
    let base = if base.is_empty() && pattern.starts_with('/') {
        "/".to_owned()
    } else {
        base
    };
    if rest.contains(&"..") {
        return Err(Fault::Other(format!("{pattern}: `..` behind a wildcard leads nowhere")));
    }
    Ok((wall.locate(place.named().join(base))?, rest.join("/")))
}

/// What all threads look for.
struct Hunt<'h> {
    matcher: &'h GlobSet,
    /// The folder.
    root: &'h File,
    order: Order,
    /// What was written before this time is as good as old.
    since: Option<SystemTime>,
    /// The most files that are kept.
    most: usize,
    /// Files of all threads, and how many there were.
    all: Mutex<(Vec<Ranked>, usize)>,
}

/// A file that was found. The first in order is the least.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    /// When it was written, if that counts.
    time: Reverse<Option<SystemTime>>,
    path: PathBuf,
}

struct Finder<'f> {
    hunt: &'f Hunt<'f>,
    total: usize,
    /// No more than are wanted, the last in order on top.
    found: BinaryHeap<Ranked>,
}

impl Visit for Finder<'_> {
    fn file(&mut self, path: &Path, entry: &DirEntry) -> WalkState {
        if !self.hunt.matcher.is_match(path) {
            return WalkState::Continue;
        }
        self.total += 1;
        let time = match self.hunt.order {
            Order::Path => None,
            Order::Newest => written(self.hunt.root, path),
            Order::Recent(_) => written(self.hunt.root, path).filter(|time| self.hunt.since.is_none_or(|since| *time > since)),
        };
        let time = Reverse(time);
        if self.found.len() >= self.hunt.most {
            let Some(last) = self.found.peek() else { return WalkState::Continue };
            if (time, entry.path()) >= (last.time, last.path.as_path()) {
                return WalkState::Continue;
            }
            self.found.pop();
        }
        let path = entry.path().to_owned();
        self.found.push(Ranked { time, path });
        WalkState::Continue
    }
}

/// When a file was written. It is looked up from the folder, which is shorter: with thousands of files this is most of the work.
#[allow(clippy::useless_conversion, reason = "systems have these numbers in different types")]
fn written(root: &File, path: &Path) -> Option<SystemTime> {
    let stat = rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let span = |seconds: u64| Duration::from_secs(seconds);
    let seconds = match u64::try_from(stat.st_mtime) {
        Ok(behind) => SystemTime::UNIX_EPOCH.checked_add(span(behind)),
        Err(_) => SystemTime::UNIX_EPOCH.checked_sub(span(stat.st_mtime.unsigned_abs())),
    };
    seconds?.checked_add(Duration::from_nanos(u64::try_from(stat.st_mtime_nsec).ok()?))
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.hunt.all.lock() {
            all.0.extend(self.found.drain());
            all.1 += self.total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(root: &Path, order: Order, most: usize) -> (Vec<String>, usize) {
        let wall = Wall::new(root).unwrap();
        let asked = Asked {
            pattern: "*.rs".to_owned(),
            names: true,
            any_case: false,
            tree: Tree::default(),
            order,
            most,
        };
        let found = glob(&wall, &wall.locate(".").unwrap(), &asked, &CancellationToken::new()).unwrap();
        let name = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
        (found.files.iter().map(name).collect(), found.total)
    }

    #[test]
    fn of_many_files_the_first_in_order_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let now = SystemTime::now();
        // Written one after the other in no order of their names: 7 and 1000 have no common part.
        let name = |age: u64| format!("{}/{}/{:03}.rs", age % 13, age % 5, age * 7 % 1000);
        for age in 0..1000 {
            let path = root.join(name(age));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = File::create(&path).unwrap();
            // The oldest are from before 1970, where the disk can say so.
            let time = if age == 999 {
                SystemTime::UNIX_EPOCH - Duration::from_millis(1500)
            } else {
                now - Duration::from_secs(age)
            };
            file.set_modified(time).unwrap();
            if age == 999 {
                assert_eq!(
                    written(&File::open(&root).unwrap(), Path::new(&name(age))),
                    file.metadata().unwrap().modified().ok()
                );
            }
        }
        let newest: Vec<String> = (0..9).map(name).collect();
        assert_eq!(found(&root, Order::Newest, 9), (newest.clone(), 1000));
        let mut sorted: Vec<PathBuf> = (0..1000).map(|age| PathBuf::from(name(age))).collect();
        sorted.sort();
        let sorted: Vec<String> = sorted.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(found(&root, Order::Path, 300), (sorted[..300].to_vec(), 1000));
        // Those of the last half minute first, then the others by their paths.
        let (files, total) = found(&root, Order::Recent(Duration::from_secs(30)), 60);
        let recent = files.iter().zip((0..).map(name)).take_while(|(file, name)| *file == name).count();
        assert!((20..=30).contains(&recent), "{recent}: {files:?}");
        let young: Vec<String> = (0..recent as u64).map(name).collect();
        let rest: Vec<&String> = sorted.iter().filter(|name| !young.contains(name)).take(60 - recent).collect();
        assert_eq!((files[recent..].iter().collect::<Vec<_>>(), total), (rest, 1000));
        assert_eq!(found(&root, Order::Newest, 5000).0.len(), 1000);
    }
}
