//! What is in a folder.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::{Glob, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

use super::ignored::{Ignored, Wanted};
use super::walk::Until;
use crate::workspace::{Fault, Kind, Place};

/// More entries are listed of no folder.
const MOST: usize = 100_000;

/// What is wanted of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What has a name with a dot before it too.
    pub hidden: bool,
    /// What `.gitignore` and the like leave out too.
    pub ignored: bool,
    /// How many folders deep: 1 is the folder itself alone, 0 is all.
    pub depth: usize,
    /// What is left out: globs for names, or for paths from the folder.
    pub without: Vec<String>,
    /// The most entries.
    pub most: usize,
}

/// What is in a folder: folders before files, each by name; what is in a folder stands behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The entries.
    pub entries: Vec<Entry>,
    /// There are more than were wanted.
    pub cut: bool,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path from the folder.
    pub path: PathBuf,
    /// How deep it lies; 1 in the folder itself.
    pub depth: usize,
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes; 0 of folders.
    pub size: u64,
    /// When it was written last.
    pub modified: Option<SystemTime>,
}

/// Lists a folder. Links are listed, not followed; what the session's rules do not let be read is left out.
///
/// # Errors
/// When it is none, when a glob makes no sense, when it takes too long, and when it was cancelled.
pub fn list(place: &Place, asked: &Asked, cancel: &CancellationToken) -> Result<Listed, Fault> {
    if place.stat()?.kind != Kind::Folder {
        return Err(Fault::NotFolder(place.named().to_owned()));
    }
    let (without, until) = (globs(&asked.without)?, Until::new(place, cancel));
    let root = place.path().to_owned();
    let wanted = Wanted {
        usual: !asked.ignored,
        hidden: !asked.hidden,
        ..Wanted::default()
    };
    let (ignored, rules) = (Ignored::new(place.path(), wanted), place.read_rules().clone());
    let mut builder = WalkBuilder::new(place.path());
    builder
        .standard_filters(false)
        .max_depth((asked.depth > 0).then_some(asked.depth))
        .follow_links(false)
        .sort_by_file_path(|one, other| (!is_folder(one)).cmp(&!is_folder(other)).then_with(|| one.cmp(other)))
        .filter_entry(move |entry| {
            let path = entry.path().strip_prefix(&root).unwrap_or(entry.path());
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !without.is_match(entry.file_name())
                && !without.is_match(path)
                && !ignored.leaves_out(entry.path(), is_folder)
                && !rules.hides(entry.path())
        });
    let mut listed = Listed::default();
    // The folder itself comes first; what cannot be read is left out.
    for entry in builder.build().skip(1).flatten() {
        until.check()?;
        if listed.entries.len() >= asked.most.min(MOST) {
            listed.cut = true;
            break;
        }
        let Ok(path) = entry.path().strip_prefix(place.path()) else { continue };
        let about = entry.metadata().ok();
        let kind = kind(about.as_ref());
        listed.entries.push(Entry {
            path: path.to_owned(),
            depth: entry.depth(),
            kind,
            size: about.as_ref().filter(|_| kind != Kind::Folder).map_or(0, std::fs::Metadata::len),
            modified: about.and_then(|about| about.modified().ok()),
        });
    }
    Ok(listed)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_dir())
}

fn kind(about: Option<&std::fs::Metadata>) -> Kind {
    match about {
        Some(about) if about.is_file() => Kind::File,
        Some(about) if about.is_dir() => Kind::Folder,
        Some(about) if about.is_symlink() => Kind::Link,
        _ => Kind::Special("special file"),
    }
}

fn globs(all: &[String]) -> Result<GlobSet, Fault> {
    let wrong = |error: globset::Error| Fault::Other(error.to_string());
    let mut set = GlobSetBuilder::new();
    for glob in all {
        set.add(Glob::new(glob.trim_end_matches('/')).map_err(wrong)?);
    }
    set.build().map_err(wrong)
}
