use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that several read at the same time, each at its own place.
#[derive(Debug)]
pub struct Shared {
    file: Mutex<File>,
    len: u64,
}

impl Shared {
    /// Nobody else may move in this file.
    pub(super) const fn new(file: File, len: u64) -> Self {
        Self { file: Mutex::new(file), len }
    }

    /// How long it was when it was opened.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there was nothing in it.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads at an offset.
    ///
    /// # Errors
    /// Those of the system.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        loop {
            match file.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// A stretch of a file that others read at the same time.
#[derive(Debug)]
pub struct Range {
    file: Arc<Shared>,
    at: u64,
    to: Option<u64>,
}

impl Range {
    /// From one offset to another, or to the end of the file.
    pub const fn new(file: Arc<Shared>, from: u64, to: Option<u64>) -> Self {
        Self { file, at: from, to }
    }

    /// Where reading goes on.
    pub const fn at(&self) -> u64 {
        self.at
    }
}

impl Read for Range {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.to.map_or(u64::MAX, |to| to.saturating_sub(self.at));
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        // A file that has become shorter must not pass for one that was read to its end.
        if read == 0 && wanted > 0 && self.to.is_some() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}
