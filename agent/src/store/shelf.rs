//! All sessions that there are, of every dialect and working folder.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::chain::{Chain, History, Unfit, Upto};
use super::dir::Dir;
use super::list::{self, Summary};
use super::scan::Tail;
use super::transcript::title_line;
use super::{StoreError, lock, place};
use agentglot_adapters::raw::codec::Dialect;

/// The folders that sessions lie in. A program's own sessions may lie beside ours; they are listed and read, and never removed.
#[derive(Clone, Debug)]
pub struct Shelf {
    roots: Vec<Root>,
}

/// A folder that holds a folder for each working folder.
#[derive(Clone, Debug)]
pub struct Root {
    /// Where it is.
    pub path: PathBuf,
    /// Whose program keeps its own sessions here, in the same form.
    pub owner: Option<Dialect>,
}

/// The sessions that there are.
#[derive(Debug, Default)]
pub struct Listing {
    /// The one that was written last first.
    pub sessions: Vec<Summary>,
    /// Folders and files that may hold more of them, and why they cannot be read.
    pub unread: Vec<(PathBuf, io::Error)>,
}

impl Listing {
    fn open(&mut self, path: &Path, folder: io::Result<Dir>) -> Option<(Dir, Vec<(String, bool)>)> {
        let opened = folder.and_then(|folder| {
            let names = folder.names()?;
            Ok((folder, names))
        });
        self.read(path, opened)
    }

    /// What is gone by now, or is neither a folder nor a file, holds no session.
    fn read<T>(&mut self, path: &Path, result: io::Result<T>) -> Option<T> {
        let none = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NXIO].map(Errno::raw_os_error);
        match result {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::InvalidInput || error.raw_os_error().is_some_and(|code| none.contains(&code)) => None,
            Err(error) => {
                self.unread.push((path.to_owned(), error));
                None
            }
        }
    }
}

impl Shelf {
    /// These folders.
    pub const fn of(roots: Vec<Root>) -> Self {
        Self { roots }
    }

    /// The folders that are ours alone.
    pub fn own(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter(|root| root.owner.is_none()).map(|root| root.path.as_path())
    }

    /// The session of a transcript, wherever it lies. `None`: the file holds none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn at(&self, path: &Path) -> io::Result<Option<Summary>> {
        let path = path.canonicalize()?;
        let (Some(id), Some(home), Some(name)) = (path.file_stem(), path.parent(), path.file_name()) else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let file = Dir::root(home, false)?.read(&name.to_string_lossy())?;
        let owner = self.roots.iter().filter(|root| path.starts_with(&root.path)).find_map(|root| root.owner);
        let owner = owner.or_else(|| self.roots.iter().find_map(|root| root.owner));
        list::summary(&id.to_string_lossy(), path.clone(), &file, owner)
    }

    /// The sessions of a working folder, or all of them.
    pub fn list(&self, cwd: Option<&Path>) -> Listing {
        let slug = cwd.map(place::slug);
        let mut listing = Listing::default();
        for Root { path, owner } in &self.roots {
            let Some((root, folders)) = listing.open(path, Dir::root(path, false)) else {
                continue;
            };
            for (name, folder) in folders {
                if !folder || slug.as_ref().is_some_and(|slug| *slug != name) {
                    continue;
                }
                let Some((home, files)) = listing.open(&path.join(&name), root.sub(&name, false)) else {
                    continue;
                };
                for (name, folder) in files {
                    let Some(id) = name.strip_suffix(".jsonl").filter(|id| !folder && place::is_any_id(id)) else {
                        continue;
                    };
                    let path = home.path().join(&name);
                    let summary = home.read(&name).and_then(|file| list::summary(id, path.clone(), &file, *owner));
                    let summary = listing.read(&path, summary).flatten();
                    listing.sessions.extend(summary);
                }
            }
        }
        listing.sessions.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.id.cmp(&b.id)));
        listing
    }

    /// What was said in a session of the list, and its lines as they stand in the transcript.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, session: &Summary) -> Result<(History, Vec<Vec<u8>>), StoreError> {
        let io = |error| StoreError::Io(session.id.clone(), error);
        let (home, name) = home(session).map_err(io)?;
        let file = home.read(&name).map_err(io)?;
        let mut tail = Tail::read(&file, false).map_err(io)?;
        let read = match Chain::read(&tail, Upto::default(), false) {
            Err(Unfit::Cut) => {
                tail = Tail::read(&file, true).map_err(io)?;
                Chain::read(&tail, Upto::default(), false)
            }
            read => read,
        };
        let chain = read.map_err(|_| StoreError::NotFound(session.id.clone()))?;
        Ok((chain.history(), chain.lines().into_iter().map(<[u8]>::to_vec).collect()))
    }

    /// Calls a session of the list so, in a line behind what is there: whoever goes on with it meanwhile writes behind that.
    ///
    /// # Errors
    /// When it is none of ours, or cannot be written.
    pub fn rename(&self, session: &Summary, title: &str) -> Result<(), StoreError> {
        if !session.ours {
            return Err(StoreError::NotOurs(session.id.clone()));
        }
        let io = |error| StoreError::Io(session.id.clone(), error);
        let (home, name) = home(session).map_err(io)?;
        let mut file = home.append(&name, false).map_err(io)?;
        // A line that was cut off stays one of its own.
        let line = format!("\n{}\n", title_line(&session.id, title));
        let whole = ends_whole(&file).map_err(io)?;
        file.write_all(&line.as_bytes()[usize::from(whole)..]).map_err(io)
    }

    /// Removes a session of the list: the transcript, those of its subagents, its checkpoints.
    ///
    /// # Errors
    /// When it is being written, is none of ours, or cannot be removed.
    pub fn delete(&self, session: &Summary) -> Result<(), StoreError> {
        if !session.ours {
            return Err(StoreError::NotOurs(session.id.clone()));
        }
        let io = |error| StoreError::Io(session.id.clone(), error);
        let (home, name) = home(session).map_err(io)?;
        let file = home.read(&name).map_err(io)?;
        if !lock(&file).map_err(io)? {
            return Err(StoreError::Busy(session.id.clone()));
        }
        there(home.remove_all(&session.id)).map_err(io)?;
        home.remove(&name).and_then(|()| home.sync()).map_err(io)
    }
}

fn ends_whole(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// The folder of a session, and its transcript's name in it.
fn home(session: &Summary) -> io::Result<(Dir, String)> {
    let parts = session
        .path
        .parent()
        .and_then(|parent| Some((parent, session.path.file_name()?.to_str()?)));
    let (folder, name) = parts.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
    Ok((Dir::root(folder, false)?, name.to_owned()))
}

/// What is not there is no error.
fn there(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(()),
        _ => Err(error),
    })
}
