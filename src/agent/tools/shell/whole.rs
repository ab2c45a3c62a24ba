//! The whole of a long output, in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{JoinHandle, spawn_blocking};

/// How many pieces may wait for the disk.
const WAITING: usize = 4;

/// A file that is being written beside the session, so that a slow disk holds up the command and nothing else.
#[derive(Debug)]
pub(crate) struct Whole {
    path: PathBuf,
    pieces: Sender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
    written: u64,
    most: u64,
}

impl Whole {
    /// Begins a new file with these bytes. No more than `most` bytes are written to it.
    pub(crate) fn begin(path: PathBuf, first: Vec<u8>, most: u64) -> Self {
        let (pieces, mut coming) = channel::<Vec<u8>>(WAITING);
        let target = path.clone();
        let writer = spawn_blocking(move || {
            let mut file = create(&target)?;
            while let Some(piece) = coming.blocking_recv() {
                file.write_all(&piece)?;
            }
            Ok(())
        });
        let mut whole = Self {
            path,
            pieces,
            writer,
            written: 0,
            most,
        };
        whole.push(&first);
        whole
    }

    /// Whether [`Self::push`] may be called.
    pub(crate) fn has_room(&self) -> bool {
        self.pieces.is_closed() || self.pieces.capacity() > 0
    }

    /// Waits until it may. Cancel-safe.
    pub(crate) async fn room(&self) {
        let _ = self.pieces.reserve().await;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.most - self.written).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        if !bytes.is_empty() {
            self.written += bytes.len() as u64;
            // An error is the writer's, and is told by `end`.
            let _ = self.pieces.try_send(bytes.to_vec());
        }
    }

    /// Waits until everything is in the file: where it is, and how many bytes it has.
    ///
    /// # Errors
    /// When the file could not be written. What there is of it is removed.
    pub(crate) async fn end(self) -> io::Result<(PathBuf, u64)> {
        drop(self.pieces);
        let written = self.writer.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        match written {
            Ok(()) => Ok((self.path, self.written)),
            Err(error) => {
                let _ = std::fs::remove_file(&self.path);
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
