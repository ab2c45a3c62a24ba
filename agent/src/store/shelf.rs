//! All sessions that there are, of every dialect and working folder.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::chain::{Chain, History, Unfit, Upto};
use super::dir::Dir;
use super::list::{self, Summary};
use super::scan::Tail;
use super::{StoreError, lock, place};

/// The folders that sessions lie in. A program's own sessions may lie beside ours; they are none of ours, and not touched.
#[derive(Clone, Debug)]
pub struct Shelf {
    roots: Vec<PathBuf>,
}

impl Shelf {
    /// These folders.
    pub const fn of(roots: Vec<PathBuf>) -> Self {
        Self { roots }
    }

    /// The sessions of a working folder, or all of them; the one that was written last first.
    ///
    /// # Errors
    /// When a folder is there and cannot be read.
    pub fn list(&self, cwd: Option<&Path>) -> io::Result<Vec<Summary>> {
        let slug = cwd.map(place::slug);
        let mut all = Vec::new();
        for root in &self.roots {
            let Some(root) = there(Dir::root(root, false))? else { continue };
            for (name, folder) in root.names()? {
                if !folder || slug.as_ref().is_some_and(|slug| *slug != name) {
                    continue;
                }
                let home = root.sub(&name, false)?;
                for (name, folder) in home.names()? {
                    let id = name.strip_suffix(".jsonl").filter(|id| !folder && place::is_any_id(id));
                    let Some((id, file)) = id.and_then(|id| Some((id, home.read(&name).ok()?))) else {
                        continue;
                    };
                    all.extend(list::summary(id, home.path().join(&name), &file)?);
                }
            }
        }
        all.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.id.cmp(&b.id)));
        Ok(all)
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

    /// Removes a session of the list: the transcript, those of its subagents, its checkpoints.
    ///
    /// # Errors
    /// When it is being written, or cannot be removed.
    pub fn delete(&self, session: &Summary) -> Result<(), StoreError> {
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

/// The folder of a session, and its transcript's name in it.
fn home(session: &Summary) -> io::Result<(Dir, String)> {
    let parent = session
        .path
        .parent()
        .and_then(|parent| Some((parent.parent()?, parent.file_name()?.to_str()?)));
    let (root, folder) = parent.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
    Ok((Dir::root(root, false)?.sub(folder, false)?, format!("{}.jsonl", session.id)))
}

/// What is not there is no error.
fn there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}
