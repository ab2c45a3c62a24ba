//! A session that is on disk.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

use super::dir::Dir;

/// A session that there is.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) home: Rc<Dir>,
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// It lies elsewhere than our sessions do: what stands beside it may be anybody's.
    pub(super) elsewhere: bool,
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
            elsewhere: false,
        })
    }
}

/// Takes a file for us alone, until it is closed. Returns whether nobody else had. Who holds it may be about to let go: a process that ends,
/// or a child of ours that has not begun its program yet and still has what we had open.
pub(super) fn lock(file: &File) -> io::Result<bool> {
    let until = Instant::now() + LETTING_GO;
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(LETTING_GO / 20),
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
            // Some file systems cannot; there a second process goes unnoticed.
            Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOLCK | rustix::io::Errno::INVAL) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// How long it is tried again.
const LETTING_GO: Duration = Duration::from_millis(200);
