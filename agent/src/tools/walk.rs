//! Going through the files of a folder, by all threads at once.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkParallel, WalkState};
use tokio_util::sync::CancellationToken;

use super::ignored::{Ignored, Wanted};
use crate::workspace::{Fault, Kind, Place, Wall};

/// The folders in which version control keeps its own files.
const OWN: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// Until when something goes on that goes through files.
#[derive(Clone, Debug)]
pub struct Until {
    cancel: CancellationToken,
    /// When it began.
    from: Instant,
    most: Duration,
}

impl Until {
    /// From now on for as long as a search in this place may take, or until it is cancelled.
    pub fn new(place: &Place, cancel: &CancellationToken) -> Self {
        Self {
            cancel: cancel.clone(),
            from: Instant::now(),
            most: place.limits().search,
        }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.from.elapsed() >= self.most
    }

    /// Why it is over, if it is.
    ///
    /// # Errors
    /// [`Fault::Cancelled`], and one that says that it took too long.
    pub fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        if self.from.elapsed() >= self.most {
            return Err(Fault::Other(format!(
                "the search did not end within {} s and was stopped: search in a smaller folder, or for fewer files (--search-timeout of \
                 agentglot says how long one may take)",
                self.most.as_secs_f64()
            )));
        }
        Ok(())
    }
}

/// Which files of a folder are meant. Links are not followed, and are no files; the own folders of version control are left out, and what
/// the session's rules do not let be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Those whose names begin with a dot too.
    pub hidden: bool,
    /// Those that `.gitignore`, `.ignore` and the like leave out too.
    pub ignored: bool,
    /// More files with rules like `.gitignore`: their names.
    pub rules: Vec<String>,
    /// Only those that these globs match, in the way of `rg --glob`: without a slash a glob matches names, and `!` before it leaves out.
    pub globs: Vec<String>,
    /// Only those of a type of `rg --type-list`.
    pub kind: Option<String>,
    /// How many folders deep; files of the folder itself are 1 deep.
    pub depth: Option<usize>,
}

/// Does something with each file that it is shown; one for each thread.
pub trait Visit: Send {
    /// A regular file, with its path from the folder.
    fn file(&mut self, path: &Path, entry: &DirEntry) -> WalkState;
}

/// Shows every file of a folder to visitors, in no order. Unreadable folders are left out.
///
/// # Errors
/// When it is no folder, when a glob or the type makes no sense, when it takes too long, and when it was cancelled.
pub fn walk<V: Visit>(place: &Place, tree: &Tree, until: &Until, visitor: impl Fn() -> V + Sync) -> Result<(), Fault> {
    let walker = walker(place, tree, until)?;
    let mut crew = Crew {
        visitor,
        root: place.path(),
        until,
    };
    walker.visit(&mut crew);
    until.check()
}

fn walker(place: &Place, tree: &Tree, until: &Until) -> Result<WalkParallel, Fault> {
    if place.stat()?.kind != Kind::Folder {
        return Err(Fault::NotFolder(place.named().to_owned()));
    }
    let mut wanted = Wanted {
        usual: !tree.ignored,
        more: tree.rules.clone(),
        hidden: !tree.hidden,
        ..Wanted::default()
    };
    let wrong = |error: ignore::Error| Fault::Other(error.to_string());
    if !tree.globs.is_empty() {
        let mut globs = OverrideBuilder::new(place.path());
        for glob in &tree.globs {
            globs.add(glob).map_err(wrong)?;
        }
        wanted.globs = Some(globs.build().map_err(wrong)?);
    }
    if let Some(kind) = &tree.kind {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(kind);
        wanted.types = Some(types.build().map_err(|_| Fault::Other(format!("unrecognized file type: {kind}")))?);
    }
    let (ignored, rules, until) = (Ignored::new(place.path(), wanted), place.read_rules().clone(), until.clone());
    // Nothing but what is asked here says what is left out.
    let mut builder = WalkBuilder::new(place.path());
    builder
        .standard_filters(false)
        .max_depth(tree.depth)
        .follow_links(false)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !OWN.iter().any(|own| entry.file_name() == *own)
                && !ignored.leaves_out(entry.path(), is_folder)
                && !rules.hides(entry.path())
                && !until.is_over()
        });
    Ok(builder.build_parallel())
}

struct Crew<'c, F> {
    visitor: F,
    root: &'c Path,
    until: &'c Until,
}

struct Worker<'c, V> {
    visitor: V,
    root: &'c Path,
    until: &'c Until,
}

impl<'c, V: Visit + 'c, F: Fn() -> V> ParallelVisitorBuilder<'c> for Crew<'c, F> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'c> {
        Box::new(Worker {
            visitor: (self.visitor)(),
            root: self.root,
            until: self.until,
        })
    }
}

impl<V: Visit> ParallelVisitor for Worker<'_, V> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.until.is_over() {
            return WalkState::Quit;
        }
        let Ok(entry) = entry else { return WalkState::Continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return WalkState::Continue;
        }
        match below(entry.path(), self.root) {
            Some(path) => self.visitor.file(path, &entry),
            None => WalkState::Continue,
        }
    }
}

/// A path from a folder that it is spelled with. Each file comes by here: to compare their parts would take longer than to match them.
fn below<'p>(path: &'p Path, folder: &Path) -> Option<&'p Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes())?;
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    Some(Path::new(OsStr::from_bytes(rest)))
}

/// Of some files that were found, those that still lie in the workspace: while it is gone through, a folder may have become a link. Files
/// of one folder that follow each other are looked up once.
pub fn still_inside<T>(wall: &Wall, found: &mut Vec<T>, path: impl Fn(&T) -> &Path) {
    let mut last: Option<(PathBuf, bool)> = None;
    found.retain(|one| {
        let path = path(one);
        let parent = path.parent().unwrap_or(path);
        match &last {
            Some((seen, inside)) if seen == parent => *inside,
            _ => {
                let inside = wall.locate(parent).is_ok();
                last = Some((parent.to_owned(), inside));
                inside
            }
        }
    });
}
