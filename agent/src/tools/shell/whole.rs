//! The whole of a long output, in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tokio::task::{JoinHandle, spawn_blocking};

/// How many bytes may wait for the disk.
const WAITING: usize = 512 << 10;

/// A file that is being written beside the session, so that a slow disk holds up the command and nothing else. No thread is held while
/// there is nothing to write.
#[derive(Debug)]
pub(crate) struct Whole {
    path: PathBuf,
    queue: Vec<u8>,
    /// `None` while it is being written to, or after an error.
    file: Option<File>,
    writing: Option<JoinHandle<io::Result<File>>>,
    error: Option<io::Error>,
    taken: u64,
    most: u64,
}

impl Whole {
    /// Begins a new file with these bytes. No more than `most` bytes are written to it.
    pub(crate) fn begin(path: PathBuf, first: Vec<u8>, most: u64) -> Self {
        let (file, error) = match create(&path) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error)),
        };
        let mut whole = Self {
            path,
            queue: Vec::new(),
            file,
            writing: None,
            error,
            taken: 0,
            most,
        };
        whole.push(&first);
        whole
    }

    /// Whether [`Self::push`] may be called.
    pub(crate) fn has_room(&self) -> bool {
        self.error.is_some() || self.queue.len() < WAITING
    }

    /// Whether something is being written: [`Self::step`] has to be called then.
    pub(crate) const fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Waits until what is being written is written, and begins with what came meanwhile. Cancel-safe.
    pub(crate) async fn step(&mut self) {
        let Some(writing) = &mut self.writing else { return };
        let written = writing.await;
        self.writing = None;
        match written.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(file) => {
                self.file = Some(file);
                self.write();
            }
            Err(error) => {
                self.error = Some(error);
                self.queue = Vec::new();
            }
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.most - self.taken).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        if self.error.is_none() && !bytes.is_empty() {
            self.taken += bytes.len() as u64;
            self.queue.extend_from_slice(bytes);
            self.write();
        }
    }

    fn write(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let Some(mut file) = self.file.take() else { return };
        let piece = std::mem::take(&mut self.queue);
        self.writing = Some(spawn_blocking(move || {
            file.write_all(&piece)?;
            Ok(file)
        }));
    }

    /// Waits until everything is in the file: where it is, and how many bytes it has.
    ///
    /// # Errors
    /// When the file could not be written. What there is of it is removed, if it is ours.
    pub(crate) async fn end(mut self) -> io::Result<(PathBuf, u64)> {
        let ours = self.is_writing() || self.file.is_some();
        while self.is_writing() {
            self.step().await;
        }
        match self.error {
            None => Ok((self.path, self.taken)),
            Some(error) => {
                if ours {
                    let _ = std::fs::remove_file(&self.path);
                }
                Err(error)
            }
        }
    }
}

/// A new file that only its owner may read.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A folder that only its owner may enter.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
