use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

/// A stretch of a file that others read at the same time.
#[derive(Debug)]
pub struct Range {
    file: Arc<File>,
    at: u64,
    to: Option<u64>,
}

impl Range {
    /// From one offset to another, or to the end of the file.
    pub const fn new(file: Arc<File>, from: u64, to: Option<u64>) -> Self {
        Self { file, at: from, to }
    }
}

impl Read for Range {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.to.map_or(u64::MAX, |to| to.saturating_sub(self.at));
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = read_at(&self.file, &mut buffer[..wanted], self.at)?;
        // A file that has become shorter must not pass for one that was read to its end.
        if read == 0 && wanted > 0 && self.to.is_some() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}

/// Reads at an offset, whatever others do with the file.
///
/// # Errors
/// Those of the system.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, buffer, at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, at);
        match read {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
