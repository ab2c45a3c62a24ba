//! Finding files by their names.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobSet};
use ignore::{DirEntry, WalkState};
use tokio_util::sync::CancellationToken;

use super::walk::{Tree, Visit, still_inside, walk};
use crate::agent::wall::{Fault, Place, Wall};

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
    let all = Mutex::new(Vec::new());
    walk(&place, &asked.tree, cancel, || Finder {
        matcher: &matcher,
        timed: asked.order != Order::Path,
        found: Vec::new(),
        all: &all,
    })?;
    let mut all = all.into_inner().unwrap_or_default();
    sort(&mut all, asked.order);
    let total = all.len();
    // A few more than are wanted, should some have gone.
    all.truncate(asked.most.saturating_add(16));
    still_inside(wall, &mut all, |(path, _)| path);
    all.truncate(asked.most);
    Ok(Found {
        files: all.into_iter().map(|(path, _)| path).collect(),
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

type Timed = (PathBuf, Option<SystemTime>);

struct Finder<'f> {
    matcher: &'f GlobSet,
    timed: bool,
    found: Vec<Timed>,
    all: &'f Mutex<Vec<Timed>>,
}

impl Visit for Finder<'_> {
    fn file(&mut self, path: &Path, entry: &DirEntry) -> WalkState {
        if self.matcher.is_match(path) {
            let time = self.timed.then(|| entry.metadata().ok()?.modified().ok()).flatten();
            self.found.push((entry.path().to_owned(), time));
        }
        WalkState::Continue
    }
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.append(&mut self.found);
        }
    }
}

fn sort(all: &mut [Timed], order: Order) {
    match order {
        Order::Path => all.sort_unstable(),
        Order::Newest => all.sort_unstable_by(|(path, time), (other, other_time)| other_time.cmp(time).then_with(|| path.cmp(other))),
        Order::Recent(span) => {
            let since = SystemTime::now().checked_sub(span);
            let recent = |time: &Option<SystemTime>| time.filter(|time| since.is_none_or(|since| *time > since));
            all.sort_unstable_by(|(path, time), (other, other_time)| recent(other_time).cmp(&recent(time)).then_with(|| path.cmp(other)));
        }
    }
}
