//! What the host has granted outside of the workspace, for one call: the file or the folder that it saw, and nothing beside it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

use super::{Folder, Wall, real};

/// Where a path outside of the workspace leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As it is written, absolute.
    pub named: PathBuf,
    /// Behind its links.
    pub real: PathBuf,
}

impl Target {
    /// Whether a link stands in the path.
    pub fn is_linked(&self) -> bool {
        self.named != self.real
    }
}

/// A file or a folder that is open to one call.
#[derive(Clone, Debug)]
pub(super) struct Granted {
    real: PathBuf,
    folder: Arc<Folder>,
    /// It is a folder: what lies in it is open too.
    is_tree: bool,
}

impl Wall {
    /// Where a path leads, if that is outside.
    pub fn target_outside(&self, path: &str) -> Option<Target> {
        let named = self.absolute(path.as_ref());
        let real = real(&named).ok()?;
        let inside = self.all().iter().any(|folder| real.starts_with(&folder.path));
        (!inside).then_some(Target { named, real })
    }

    /// This workspace for one call, to which the host has granted these paths, free of links. One that cannot be opened without going
    /// through a link stays closed.
    #[must_use]
    pub fn with_granted(&self, paths: &[PathBuf]) -> Self {
        Self {
            root: self.root.clone(),
            home: self.home.clone(),
            folders: std::sync::RwLock::new(self.all()),
            read_rules: self.read_rules.clone(),
            limits: self.limits,
            granted: paths.iter().filter_map(|path| Granted::open(path).ok()).collect(),
        }
    }
}

impl Granted {
    fn open(path: &Path) -> Result<Self> {
        let is_tree = path.symlink_metadata().is_ok_and(|about| about.is_dir());
        let start = if is_tree {
            path
        } else {
            // The file need not be there, nor the folders above it.
            let mut above = path.ancestors().skip(1);
            above.find(|above| above.is_dir()).ok_or(ErrorKind::NotFound)?
        };
        let handle = walk(File::from(open("/", FOLDER, Mode::empty())?), start, false)?;
        let folder = Arc::new(Folder {
            path: start.to_owned(),
            handle,
            follows: is_tree,
        });
        Ok(Self {
            real: path.to_owned(),
            folder,
            is_tree,
        })
    }

    /// The folder by which a path is reached, and the path from there, if it is open.
    pub(super) fn reaches(&self, real: &Path) -> Option<(&Arc<Folder>, PathBuf)> {
        let open = real == self.real || self.is_tree && real.starts_with(&self.real);
        let inside = real.strip_prefix(&self.folder.path).ok().filter(|_| open)?;
        Some((&self.folder, inside.to_owned()))
    }
}

/// Goes down from a folder, through no link. With `make`, folders that are missing are made.
pub(super) fn walk(from: File, path: &Path, make: bool) -> Result<Dir> {
    let mut at = from;
    for part in path.components() {
        let name: &OsStr = match part {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            _ => return Err(Error::from(ErrorKind::InvalidInput)),
        };
        let next = match openat(&at, name, FOLDER, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) if make => {
                match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                openat(&at, name, FOLDER, Mode::empty())
            }
            other => other,
        };
        at = File::from(next?);
    }
    Ok(Dir::from_std_file(at))
}

/// A folder that is no link. Where the system can, whoever may not list it may still go through it.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(PASSING);
#[cfg(target_os = "linux")]
const PASSING: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASSING: OFlags = OFlags::empty();
