//! What may not be read, whatever asks for it: tools, mentions, files that the model is told of at the beginning.

use std::fmt;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::Fault;
use super::twins::Twins;

/// A pattern of absolute paths.
pub trait PathPattern: fmt::Debug + Send + Sync {
    /// Whether it is about a path.
    fn matches(&self, path: &Path) -> bool;

    /// The one file that it names, if it has no wildcard.
    fn names(&self) -> Option<&Path>;

    /// The folder, or the file, that holds all that it may be about.
    fn below(&self) -> &Path;
}

/// Rules about reading.
#[derive(Debug, Default)]
pub struct Patterns {
    /// What nobody reads.
    pub denied: Vec<Box<dyn PathPattern>>,
    /// What is read only by a call that names it, for somebody is asked about that.
    pub asked: Vec<Box<dyn PathPattern>>,
    twins: Twins,
}

impl Patterns {
    /// Nobody reads the first; the second are read when they are named.
    pub fn new(denied: Vec<Box<dyn PathPattern>>, asked: Vec<Box<dyn PathPattern>>) -> Self {
        Self {
            denied,
            asked,
            twins: Twins::default(),
        }
    }
}

/// The rules of a session about reading. Clones share them, so that a change holds for all at once.
#[derive(Clone, Debug, Default)]
pub struct ReadRules(Arc<RwLock<Arc<Patterns>>>);

impl ReadRules {
    /// From now on these hold.
    pub fn set(&self, patterns: Patterns) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(patterns);
    }

    fn now(&self) -> Arc<Patterns> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether what lies at a path may be read, as far as the path tells.
    pub fn denies(&self, path: &Path) -> bool {
        self.now().denied.iter().any(|pattern| pattern.matches(path))
    }

    /// Whether a search leaves out what lies at a path.
    pub fn hides(&self, path: &Path) -> bool {
        let now = self.now();
        now.denied.iter().chain(&now.asked).any(|pattern| pattern.matches(path))
    }

    /// Whether there is anything that a search leaves out.
    pub fn hides_any(&self) -> bool {
        let now = self.now();
        !now.denied.is_empty() || !now.asked.is_empty()
    }

    /// Whether a file is one that nobody may read, under another name.
    pub fn denies_other_names(&self, file: &Metadata) -> bool {
        let now = self.now();
        now.twins.has(&now.denied, file)
    }

    /// Opens a regular file, in the workspace or not, to read it.
    ///
    /// # Errors
    /// [`Fault::Forbidden`] when a rule is about the path, or about the file that it led to.
    pub fn open(&self, path: &Path) -> Result<(File, Metadata), Fault> {
        if self.denies(path) {
            return Err(Fault::Forbidden(path.to_owned()));
        }
        let (file, about) = agentglot_process::file::open_regular(path).map_err(|error| Fault::of(&error, path))?;
        self.check(&file, (about.dev(), about.ino()), path)?;
        Ok((file, about))
    }

    /// Whether a file that was opened by a path may be read: what counts is where the file itself lies, whatever the path said, and that
    /// it is none that a rule names, by whichever of its names it was opened.
    ///
    /// # Errors
    /// [`Fault::Forbidden`].
    pub fn check(&self, file: &File, id: (u64, u64), path: &Path) -> Result<(), Fault> {
        let now = self.now();
        if now.denied.is_empty() {
            return Ok(());
        }
        let lies = lies_at(file);
        let same = |named: &Path| named.metadata().is_ok_and(|about| (about.dev(), about.ino()) == id);
        let denied = now
            .denied
            .iter()
            .any(|pattern| pattern.matches(path) || lies.as_deref().is_some_and(|lies| pattern.matches(lies)) || pattern.names().is_some_and(same));
        let denied = denied || file.metadata().is_ok_and(|about| now.twins.has(&now.denied, &about));
        if denied { Err(Fault::Forbidden(path.to_owned())) } else { Ok(()) }
    }
}

/// Where a file lies that is open, as the system says.
#[cfg(target_os = "linux")]
fn lies_at(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// Elsewhere the path was freed of links before.
#[cfg(not(target_os = "linux"))]
fn lies_at(_: &File) -> Option<PathBuf> {
    None
}
