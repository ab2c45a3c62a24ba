use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::READ;

/// How many pieces may wait for the one who works on them.
const WAITING: usize = 2;
/// How much the thread reads at once: waking somebody costs as much as reading some of it.
const PIECE: usize = 2 * READ;

/// What is read, piece by piece.
pub enum Pieces {
    /// When the next piece is asked for: a pipe may live.
    OnDemand(Box<dyn Read>),
    /// While the piece before it is worked on.
    Ahead(Ahead),
}

/// A thread that reads.
pub struct Ahead {
    filled: Receiver<io::Result<(Vec<u8>, usize)>>,
    empty: Sender<Vec<u8>>,
    current: Option<Vec<u8>>,
}

impl Pieces {
    /// Reads pieces when they are asked for.
    pub fn on_demand(reader: impl Read + 'static) -> Self {
        Self::OnDemand(Box::new(reader))
    }

    /// Begins to read in a thread of its own, which pays for big files.
    pub fn ahead(reader: impl Read + Send + 'static) -> Self {
        let (fill, filled) = sync_channel(WAITING);
        let (empty, emptied) = channel();
        for _ in 0..=WAITING {
            // The other end lives until the thread takes it.
            let _ = empty.send(vec![0; PIECE]);
        }
        thread::spawn(move || read_all(reader, &emptied, &fill));
        Self::Ahead(Ahead {
            filled,
            empty,
            current: None,
        })
    }

    /// The next piece, which may stand in `buffer`; an empty one at the end.
    ///
    /// # Errors
    /// Those of reading.
    pub fn next<'b>(&'b mut self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        match self {
            Self::OnDemand(reader) => loop {
                match reader.read(buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => return Ok(&buffer[..read?]),
                }
            },
            Self::Ahead(ahead) => ahead.next(),
        }
    }
}

impl Ahead {
    fn next(&mut self) -> io::Result<&[u8]> {
        if let Some(used) = self.current.take() {
            // After the end nobody fills it again.
            let _ = self.empty.send(used);
        }
        // The thread hangs up after the end and after an error.
        let Ok(piece) = self.filled.recv() else { return Ok(&[]) };
        let (bytes, read) = piece?;
        Ok(&self.current.insert(bytes)[..read])
    }
}

/// Ends at the end, at an error, and when nobody listens any more.
fn read_all(mut reader: impl Read, empty: &Receiver<Vec<u8>>, fill: &SyncSender<io::Result<(Vec<u8>, usize)>>) {
    while let Ok(mut bytes) = empty.recv() {
        let read = loop {
            match reader.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let over = !matches!(read, Ok(1..));
        if fill.send(read.map(|read| (bytes, read))).is_err() || over {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `len` bytes in pieces of odd sizes, then fails or ends.
    struct Reads {
        at: usize,
        len: usize,
        fails: bool,
        interrupted: bool,
    }

    impl Read for Reads {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let read = buffer.len().min(self.len - self.at).min(self.at % 1000 + 1);
            if read == 0 && self.fails {
                return Err(ErrorKind::BrokenPipe.into());
            }
            for (n, byte) in buffer[..read].iter_mut().enumerate() {
                *byte = (self.at + n) as u8;
            }
            self.at += read;
            Ok(read)
        }
    }

    #[test]
    fn both_ways_give_every_byte_and_the_error() {
        for fails in [false, true] {
            for ahead in [false, true] {
                let reads = Reads {
                    at: 0,
                    len: 100_000,
                    fails,
                    interrupted: false,
                };
                let mut pieces = if ahead { Pieces::ahead(reads) } else { Pieces::on_demand(reads) };
                let (mut buffer, mut all) = (vec![0; READ], Vec::new());
                let end = loop {
                    match pieces.next(&mut buffer) {
                        Ok([]) => break None,
                        Ok(piece) => all.extend_from_slice(piece),
                        Err(error) => break Some(error.kind()),
                    }
                };
                assert_eq!(end, fails.then_some(ErrorKind::BrokenPipe));
                assert_eq!(all, (0..100_000).map(|n: usize| n as u8).collect::<Vec<_>>());
            }
        }
    }
}
