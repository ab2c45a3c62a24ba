use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::READ;

/// How many pieces there are.
const PIECES: usize = 6;
/// How long the thread sleeps at first when all pieces are full, and at most. It oversleeps by no more than twice the time in
/// which one piece is used up, while there are others. To wake it would cost the one who works as much as reading a piece, and
/// more where the two then share a processor.
const SLEEP: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(20));

/// What is read, piece by piece.
pub enum Pieces {
    /// When the next piece is asked for: a pipe may live.
    OnDemand(Box<dyn Read>),
    /// While the piece before it is worked on.
    Ahead(Ahead),
}

/// What has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'b> {
    /// Some bytes; none at the end.
    Bytes(&'b [u8]),
    /// Text that was checked to be UTF-8. It ends with a line feed.
    Text(&'b str),
}

/// A thread that reads, cuts behind the last line feed and checks what stands before it.
pub struct Ahead {
    filled: Receiver<io::Result<Filled>>,
    empty: Sender<Vec<u8>>,
    current: Filled,
}

/// A piece on its way.
#[derive(Debug)]
enum Filled {
    Bytes(Vec<u8>),
    Text(String),
}

impl Pieces {
    /// Reads pieces when they are asked for.
    pub fn on_demand(reader: impl Read + 'static) -> Self {
        Self::OnDemand(Box::new(reader))
    }

    /// Begins to read in a thread of its own, which pays for big files.
    pub fn ahead(reader: impl Read + Send + 'static) -> Self {
        let (fill, filled) = sync_channel(PIECES);
        let (empty, emptied) = channel();
        for _ in 0..PIECES {
            // The other end lives until the thread takes it.
            let _ = empty.send(Vec::new());
        }
        thread::spawn(move || read_all(reader, &emptied, &fill));
        Self::Ahead(Ahead {
            filled,
            empty,
            current: Filled::Bytes(Vec::new()),
        })
    }

    /// The next piece, which may stand in `buffer`.
    ///
    /// # Errors
    /// Those of reading.
    pub fn next<'b>(&'b mut self, buffer: &'b mut [u8]) -> io::Result<Piece<'b>> {
        match self {
            Self::OnDemand(reader) => loop {
                match reader.read(buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => return Ok(Piece::Bytes(&buffer[..read?])),
                }
            },
            Self::Ahead(ahead) => ahead.next(),
        }
    }
}

impl Ahead {
    fn next(&mut self) -> io::Result<Piece<'_>> {
        // The thread hangs up after the end and after an error.
        let next = self.filled.recv().unwrap_or(Ok(Filled::Bytes(Vec::new())))?;
        // After the end nobody fills it again.
        let _ = self.empty.send(match std::mem::replace(&mut self.current, next) {
            Filled::Bytes(bytes) => bytes,
            Filled::Text(text) => text.into_bytes(),
        });
        Ok(match &self.current {
            Filled::Bytes(bytes) => Piece::Bytes(bytes),
            Filled::Text(text) => Piece::Text(text),
        })
    }
}

/// Ends at the end, at an error, and when nobody listens any more.
fn read_all(mut reader: impl Read, empty: &Receiver<Vec<u8>>, fill: &SyncSender<io::Result<Filled>>) {
    // What was read behind the last line feed: the next piece begins with it.
    let mut rest = Vec::new();
    while let Some(mut bytes) = when_there_is_one(empty) {
        let begun = rest.len();
        bytes.resize(begun + READ, 0);
        bytes[..begun].copy_from_slice(&rest);
        rest.clear();
        let read = loop {
            match reader.read(&mut bytes[begun..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        bytes.truncate(begun + read.as_ref().unwrap_or(&0));
        let over = !matches!(read, Ok(1..));
        if !bytes.is_empty() && fill.send(Ok(whole_lines(bytes, &mut rest))).is_err() {
            return;
        }
        if over {
            // Nobody listens only if nobody wants to know.
            let _ = read.map_err(|error| fill.send(Err(error)));
            return;
        }
    }
}

/// An empty piece; `None` when nobody listens any more.
fn when_there_is_one(empty: &Receiver<Vec<u8>>) -> Option<Vec<u8>> {
    let (mut sleep, longest) = SLEEP;
    loop {
        match empty.try_recv() {
            Ok(bytes) => return Some(bytes),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => thread::sleep(sleep),
        }
        sleep = longest.min(2 * sleep);
    }
}

/// Leaves what no line feed ends to the next piece, unless there is nothing else.
fn whole_lines(mut bytes: Vec<u8>, rest: &mut Vec<u8>) -> Filled {
    let Some(end) = memchr::memrchr(b'\n', &bytes) else {
        return Filled::Bytes(bytes);
    };
    rest.extend_from_slice(&bytes[end + 1..]);
    bytes.truncate(end + 1);
    String::from_utf8(bytes).map_or_else(|error| Filled::Bytes(error.into_bytes()), Filled::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `log` in pieces of odd sizes, then fails or ends.
    struct Reads {
        log: Vec<u8>,
        at: usize,
        fails: bool,
        interrupted: bool,
    }

    impl Read for Reads {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let read = buffer.len().min(self.log.len() - self.at).min(self.at % 1000 + 1);
            if read == 0 && self.fails {
                return Err(ErrorKind::BrokenPipe.into());
            }
            buffer[..read].copy_from_slice(&self.log[self.at..self.at + read]);
            self.at += read;
            Ok(read)
        }
    }

    /// Lines of many lengths, some of them in several reads, one that is no text, and a last one without an end.
    fn log() -> Vec<u8> {
        let mut log: Vec<u8> = (0..200usize)
            .flat_map(|n| format!("{n} {}\n", "é".repeat(n * 7 % 900)).into_bytes())
            .collect();
        log.extend_from_slice(b"no \xff text\nthe end");
        log
    }

    #[test]
    fn both_ways_give_every_byte_and_the_error() {
        for fails in [false, true] {
            for ahead in [false, true] {
                let reads = Reads {
                    log: log(),
                    at: 0,
                    fails,
                    interrupted: false,
                };
                let mut pieces = if ahead { Pieces::ahead(reads) } else { Pieces::on_demand(reads) };
                let (mut buffer, mut all, mut texts) = (vec![0; READ], Vec::new(), 0);
                let end = loop {
                    match pieces.next(&mut buffer) {
                        Ok(Piece::Bytes([])) => break None,
                        Ok(Piece::Bytes(bytes)) => all.extend_from_slice(bytes),
                        Ok(Piece::Text(text)) => {
                            assert!(text.ends_with('\n'));
                            texts += 1;
                            all.extend_from_slice(text.as_bytes());
                        }
                        Err(error) => break Some(error.kind()),
                    }
                };
                assert_eq!(end, fails.then_some(ErrorKind::BrokenPipe));
                assert_eq!(all, log());
                assert_eq!(texts > 100, ahead, "{texts}");
            }
        }
    }
}
