//! What a spinner and rows draw on.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use indicatif::TermLike;

use super::lock;

/// What is to be written to the terminal.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) bytes: Arc<Mutex<Vec<u8>>>,
    pub(super) size: fn() -> (usize, usize),
}

impl Sheet {
    pub(super) fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        lock(&self.bytes)
    }

    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes())
    }

    pub(super) fn replace(&self, bytes: Vec<u8>) -> Vec<u8> {
        std::mem::replace(&mut self.bytes(), bytes)
    }

    pub(super) fn moved(&self, by: usize, way: char) -> io::Result<()> {
        if by > 0 {
            write!(self.bytes(), "\u{1b}[{by}{way}")?;
        }
        Ok(())
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TermLike for Sheet {
    fn width(&self) -> u16 {
        (self.size)().0.try_into().unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        (self.size)().1.try_into().unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        self.write_str("\n")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.bytes().extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write_str("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}
