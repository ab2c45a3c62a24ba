//! A session that is on disk.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use rustix::fs::FlockOperation;

use super::dir::Dir;

/// A session that there is.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) home: Rc<Dir>,
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Found {
    pub(super) fn open(home: Dir, id: &str) -> Option<Self> {
        Self::open_in(&Rc::new(home), id)
    }

    pub(super) fn open_in(home: &Rc<Dir>, id: &str) -> Option<Self> {
        let name = format!("{id}.jsonl");
        let file = home.append(&name, false).or_else(|_| home.read(&name)).ok()?;
        Some(Self {
            id: id.to_owned(),
            path: home.path().join(&name),
            home: Rc::clone(home),
            file,
        })
    }
}

/// Takes a file for us alone, until it is closed. Returns whether nobody else had.
pub(super) fn lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        // Some file systems cannot; there a second process goes unnoticed.
        Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOLCK | rustix::io::Errno::INVAL) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
