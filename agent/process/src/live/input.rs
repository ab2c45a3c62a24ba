use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use tokio::io::{Interest, Ready};
use tokio::sync::{Mutex, mpsc};

use super::end::{End, Kind, Waited};

/// How much is read at once.
const READ: usize = 256 << 10;

/// Standard input.
#[derive(Debug)]
pub struct Input {
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Waited(Waited, End),
    Thread(Mutex<Pieces>),
}

impl Input {
    /// Our standard input. To be made once, inside a runtime.
    ///
    /// # Errors
    /// When there is none.
    ///
    /// # Panics
    /// Outside a tokio runtime with IO enabled.
    pub fn stdin() -> io::Result<Self> {
        Self::new(io::stdin().as_fd())
    }

    /// Any open file that can be read.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Panics
    /// Outside a tokio runtime with IO enabled.
    pub fn new(given: BorrowedFd<'_>) -> io::Result<Self> {
        let end = End::new(given, OFlags::RDONLY)?;
        if end.kind() == Kind::Blocking {
            let pieces = Pieces::start(end.file()?)?;
            return Ok(Self {
                inner: Inner::Thread(Mutex::new(pieces)),
            });
        }
        Ok(Self {
            inner: Inner::Waited(end.register(Interest::READABLE)?, end),
        })
    }

    /// A pipe whose open file nobody else has.
    pub fn of_ours(fd: OwnedFd) -> io::Result<Self> {
        let end = End::of_ours(fd)?;
        Ok(Self {
            inner: Inner::Waited(end.register(Interest::READABLE)?, end),
        })
    }

    /// Reads what is there, waiting only if there is nothing. `Ok(0)` is the end. Cancel-safe: no byte is taken unless it returns.
    ///
    /// # Errors
    /// Those of the system. A peer that broke off is the end, not an error.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.inner {
            Inner::Waited(waited, end) => read(waited, end, buffer).await,
            Inner::Thread(pieces) => pieces.lock().await.read(buffer).await,
        }
    }

    /// Reads what is there now; nothing is as good as the end.
    pub fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let Inner::Waited(_, end) = &self.inner else { return Ok(0) };
        loop {
            match end.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(0),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

async fn read(waited: &Waited, end: &End, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut guard = waited.readable().await?;
        match end.read(buffer) {
            Ok(read) => {
                // Less than there was room for: the next read would find nothing, except the end, which comes as an event of its own.
                if 0 < read && read < buffer.len() && end.short_means_all() && !guard.ready().is_read_closed() {
                    guard.clear_ready_matching(Ready::READABLE);
                }
                return Ok(read);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(0),
            // So Linux says that the other side of a pseudo-terminal was closed.
            Err(error) if is_hung_up_terminal(&error, end) => return Ok(0),
            Err(error) => return Err(error),
        }
    }
}

fn is_hung_up_terminal(error: &io::Error, end: &End) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::IO) && end.hung_up()
}

/// What a thread reads.
#[derive(Debug)]
struct Pieces {
    coming: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// The piece that is being given out, and how much of it has been.
    piece: Vec<u8>,
    given: usize,
}

impl Pieces {
    fn start(mut file: std::fs::File) -> io::Result<Self> {
        let (give, coming) = mpsc::channel(1);
        let read = move || {
            loop {
                let mut piece = vec![0; READ];
                let read = match file.read(&mut piece) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    read => read,
                };
                let last = !matches!(read, Ok(1..));
                let piece = read.map(|read| {
                    piece.truncate(read);
                    piece
                });
                if give.blocking_send(piece).is_err() || last {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("stdin".to_owned()).spawn(read)?;
        Ok(Self {
            coming,
            piece: Vec::new(),
            given: 0,
        })
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.piece.len() {
            let Some(piece) = self.coming.recv().await else { return Ok(0) };
            (self.piece, self.given) = (piece?, 0);
        }
        let rest = &self.piece[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}
