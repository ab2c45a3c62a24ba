//! The workspace: the folders that file tools may touch, and no way out of them.
//!
//! # How a path is confined
//!
//! A path is made absolute (`~`, the working folder), `.` and `..` are taken out of it, links are followed, and what comes out has to lie in
//! one of the folders. That is for the message. What holds is the second step: the file's folder is opened from the handle of its
//! workspace folder, by a call that cannot leave it (`openat2` with `RESOLVE_BENEATH` where the kernel has it), and the file itself is
//! named by its last component alone, which is no link. Whoever swaps a folder for a link between the two steps gets an error.
//!
//! # How a file is written
//!
//! To a new file beside it, which gets its mode and, where allowed, its owner, is synced and then takes its name: a file is the old one or
//! the new one, on a full disk too. So a name that is a hard link gets a file of its own, and the other names keep the old one: the other
//! names may lie outside. A link is followed to the file that it names, if that is inside.
//!
//! Devices, pipes and sockets are refused before they are opened.
//!
//! # What a host may open
//!
//! A host that was asked about a call, saw a path outside and allowed the call opens that path for that call ([`Wall::with_granted`]): the
//! file, or the folder with what lies in it. No rule, mode or hook does. The path is the one behind the links that the host was told of, and it is
//! reached without going through any link.
//!
//! # What is not read
//!
//! Whatever opens a file to read it asks the [`ReadRules`] of the session: for the path, and for the file that was opened.

mod draft;
mod fault;
mod granted;
mod place;
mod read_rules;
mod stamp;
#[cfg(test)]
mod tests;
mod twins;

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub use fault::Fault;
use granted::Granted;
pub use granted::Target;
pub use place::{Guard, Kind, Place, Stat};
pub use read_rules::{PathPattern, Patterns, ReadRules};
pub use stamp::{HASHED_UP_TO, Stamp};

/// How many links a path may go through that end nowhere.
const LINKS: usize = 40;

/// The working folder and the folders that were added to it. Clones of an `Arc` of it may be used from several threads.
pub struct Wall {
    root: PathBuf,
    home: Option<PathBuf>,
    folders: RwLock<Arc<[Arc<Folder>]>>,
    read_rules: ReadRules,
    /// What is open besides, to one call.
    granted: Vec<Granted>,
    limits: Limits,
}

/// How much of it is looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many bytes of a file are read to find a window or a pattern.
    pub file: u64,
    /// How long a search or a list may take.
    pub search: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file: 1 << 30,
            search: Duration::from_secs(60),
        }
    }
}

/// A folder of the workspace, or one by which a granted file is reached.
#[derive(Debug)]
struct Folder {
    /// Its path, free of links.
    path: PathBuf,
    handle: Dir,
    /// Links on the way down are followed, as long as they do not lead out.
    follows: bool,
}

impl fmt::Debug for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wall").field("folders", &self.folders()).finish_non_exhaustive()
    }
}

impl Wall {
    /// A workspace of one folder. The path is made absolute and free of links. `~` is `HOME` of this process.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let folder = Folder::open(root)?;
        Ok(Self {
            root: folder.path.clone(),
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            folders: RwLock::new(Arc::from([Arc::new(folder)])),
            read_rules: ReadRules::default(),
            granted: Vec::new(),
            limits: Limits::default(),
        })
    }

    /// The same, looked through as far as these say.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The working folder, free of links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folders, the working folder first.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.all().iter().map(|folder| folder.path.clone()).collect()
    }

    /// Adds a folder, from now on. A relative path is one in the working folder. What is in the workspace already is not added again.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn add(&self, path: &Path) -> std::io::Result<()> {
        let folder = Folder::open(&self.absolute(path))?;
        let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        if !folders.iter().any(|old| old.path == folder.path) {
            *folders = folders.iter().cloned().chain([Arc::new(folder)]).collect();
        }
        Ok(())
    }

    /// Takes a folder away that was added; returns whether it was there. The working folder stays.
    pub fn remove(&self, path: &Path) -> bool {
        let absolute = self.absolute(path);
        let path = absolute.canonicalize().unwrap_or(absolute);
        let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        let before = folders.len();
        *folders = folders
            .iter()
            .filter(|folder| folder.path != path || folder.path == self.root)
            .cloned()
            .collect();
        folders.len() < before
    }

    /// What may not be read.
    pub const fn read_rules(&self) -> &ReadRules {
        &self.read_rules
    }

    /// Where a path leads: links are followed to the end. The file need not be there.
    ///
    /// # Errors
    /// When that is outside, or a part of the path is no folder or may not be looked into.
    pub fn locate(&self, path: impl AsRef<Path>) -> Result<Place, Fault> {
        let named = self.absolute(path.as_ref());
        let real = real(&named).map_err(|fault| self.hidden(&named, fault))?;
        self.place(named, real)
    }

    /// The same for what stands at a path, even if that is a link.
    ///
    /// # Errors
    /// As for [`Self::locate`].
    pub fn locate_entry(&self, path: impl AsRef<Path>) -> Result<Place, Fault> {
        let named = self.absolute(path.as_ref());
        let (Some(parent), Some(name)) = (named.parent(), named.file_name()) else {
            return self.locate(named);
        };
        let real = real(parent).map_err(|fault| self.hidden(&named, fault))?.join(name);
        self.place(named, real)
    }

    /// A path as file tools understand it: absolute, without `.`, `..` and a leading `~`.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let path = match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.root.join(path),
        };
        tidy(&path)
    }

    /// How a path is best shown: relative to the working folder if it lies in it.
    pub fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        match path.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
            Ok(inside) => inside,
            Err(_) => path,
        }
    }

    fn all(&self) -> Arc<[Arc<Folder>]> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn place(&self, named: PathBuf, real: PathBuf) -> Result<Place, Fault> {
        let all = self.all();
        let inside = all
            .iter()
            .filter_map(|folder| Some((folder, real.strip_prefix(&folder.path).ok()?)))
            // The innermost one: the shortest way.
            .min_by_key(|(_, inside)| inside.as_os_str().len());
        let inside = inside.map(|(folder, inside)| (folder, inside.to_owned()));
        match inside.or_else(|| self.granted.iter().find_map(|granted| granted.reaches(&real))) {
            Some((folder, inside)) => Ok(Place::new(folder.clone(), inside, (named, real), self.read_rules.clone(), self.limits)),
            None => Err(self.outside(named)),
        }
    }

    /// What a path outside is like is nobody's business.
    fn hidden(&self, named: &Path, fault: Fault) -> Fault {
        if self.all().iter().any(|folder| named.starts_with(&folder.path)) {
            fault
        } else {
            self.outside(named.to_owned())
        }
    }

    fn outside(&self, path: PathBuf) -> Fault {
        Fault::Outside {
            path,
            root: self.root.clone(),
        }
    }
}

impl Folder {
    fn open(path: &Path) -> std::io::Result<Self> {
        let path = path.canonicalize()?;
        let handle = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { path, handle, follows: true })
    }

    /// Opens a folder below it; with `make`, those that are missing are made.
    fn dir(&self, path: &Path, make: bool) -> std::io::Result<Dir> {
        if !self.follows {
            return granted::walk(self.handle.try_clone()?.into_std_file(), path, make);
        }
        if make {
            self.handle.create_dir_all(path)?;
        }
        self.handle.open_dir(path)
    }
}

/// An absolute path without `.` and `..`, by its letters alone.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    tidy
}

/// A path without links. Its end need not be there; a link that leads nowhere leads to where the file would be made.
fn real(path: &Path) -> Result<PathBuf, Fault> {
    let mut at = path.to_owned();
    let mut missing: Vec<PathBuf> = Vec::new();
    let mut links = 0;
    loop {
        let error = match at.canonicalize() {
            Ok(found) => {
                let mut found = found;
                found.extend(missing.iter().rev());
                return Ok(found);
            }
            Err(error) => error,
        };
        if error.kind() != std::io::ErrorKind::NotFound {
            return Err(Fault::of(&error, path));
        }
        if let Ok(target) = at.read_link() {
            links += 1;
            let parent = at.parent().map(Path::canonicalize).transpose().map_err(|error| Fault::of(&error, path))?;
            if links > LINKS {
                return Err(Fault::Other(format!("{}: too many links", path.display())));
            }
            at = tidy(&parent.unwrap_or_default().join(target));
            continue;
        }
        match (at.parent().map(Path::to_owned), at.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(PathBuf::from(name));
                at = parent;
            }
            _ => return Err(Fault::of(&error, path)),
        }
    }
}
