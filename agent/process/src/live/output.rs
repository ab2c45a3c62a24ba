use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::fs::OFlags;
use tokio::io::{Interest, Ready};
use tokio::sync::mpsc;

use super::end::{End, Kind, Waited};

/// Standard output: a queue of bytes, and what carries them away.
///
/// Encoders write into [`Output::queue`]; one [`Output::flush`] writes all that has come together with one system call, if the
/// reader takes it. A caller bounds the queue by producing nothing while [`Output::queued`] is above its limit.
#[derive(Debug)]
pub struct Output {
    queue: Vec<u8>,
    /// How many bytes of the queue have gone.
    gone: usize,
    closed: bool,
    inner: Inner,
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All that was queued has gone out.
    Written,
    /// Nobody reads any more: a quiet end, not an error. What is queued from now on goes nowhere.
    Closed,
}

#[derive(Debug)]
enum Inner {
    Waited {
        waited: Waited,
        /// A second registration, for the end alone: readiness to write must not wake who waits for it.
        watched: Waited,
        end: End,
    },
    Thread(Pieces),
}

/// How often it is looked whether a reader that has closed its own half of a socket has gone.
const HALF_CLOSED: Duration = Duration::from_millis(200);

/// What an empty queue may keep for the next bytes.
const KEPT: usize = 256 << 10;

impl Output {
    /// Our standard output. To be made once, inside a runtime.
    ///
    /// # Errors
    /// When there is none.
    ///
    /// # Panics
    /// Outside a tokio runtime with IO enabled.
    pub fn stdout() -> io::Result<Self> {
        Self::new(io::stdout().as_fd())
    }

    /// Any open file that can be written.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Panics
    /// Outside a tokio runtime with IO enabled.
    pub fn new(given: BorrowedFd<'_>) -> io::Result<Self> {
        let end = End::new(given, OFlags::WRONLY)?;
        let inner = if end.kind() == Kind::Blocking {
            Inner::Thread(Pieces::start(end.file()?)?)
        } else {
            Inner::Waited {
                // The end of a pipe is told as an error, that of a socket to those who want to read.
                watched: end.register_again(Interest::READABLE | Interest::ERROR)?,
                waited: end.register(Interest::WRITABLE)?,
                end,
            }
        };
        Ok(Self {
            queue: Vec::new(),
            gone: 0,
            closed: false,
            inner,
        })
    }

    /// Where bytes are appended. Only to append: what stands there may partly have gone.
    pub fn queue(&mut self) -> &mut Vec<u8> {
        &mut self.queue
    }

    /// How many bytes have not gone yet.
    pub fn queued(&self) -> usize {
        self.queue.len() - self.gone + if let Inner::Thread(pieces) = &self.inner { pieces.on_the_way } else { 0 }
    }

    /// Writes all that is queued. Cancel-safe: what has gone has left the queue.
    ///
    /// # Errors
    /// Those of the system, but for a reader that has gone.
    pub async fn flush(&mut self) -> io::Result<Flow> {
        while self.queued() > 0 && !self.closed {
            let done = match &mut self.inner {
                Inner::Waited { waited, end, .. } => write(waited, end, &self.queue[self.gone..]).await,
                Inner::Thread(pieces) => pieces.write(&self.queue[self.gone..]).await,
            };
            match done {
                Ok(written) => self.took(written),
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => self.closed = true,
                Err(error) => return Err(error),
            }
        }
        if !self.closed {
            return Ok(Flow::Written);
        }
        self.took(self.queue.len() - self.gone);
        Ok(Flow::Closed)
    }

    /// What a `select!` calls in its loop: writes what is queued, or, if nothing is, waits for the end of the reader. Cancel-safe.
    ///
    /// # Errors
    /// Those of [`Output::flush`].
    pub async fn serve(&mut self) -> io::Result<Flow> {
        if self.queued() > 0 || self.closed {
            return self.flush().await;
        }
        self.closed().await;
        self.closed = true;
        Ok(Flow::Closed)
    }

    /// Waits until nobody reads any more, also while there is nothing to write. Cancel-safe. Never returns for files.
    pub async fn closed(&self) {
        let Inner::Waited { end, watched, .. } = &self.inner else {
            return std::future::pending().await;
        };
        // The registration tells an end that came before it too, and tells it until it is cleared: nothing has to be asked first.
        if self.closed {
            return;
        }
        loop {
            match watched.ready(Interest::READABLE | Interest::ERROR).await {
                // A socket of which the other side has closed the half that we do not use: it still reads. That half stays ready,
                // and nothing tells of the other one.
                Ok(guard) if guard.ready().is_read_closed() && !end.hung_up() => tokio::time::sleep(HALF_CLOSED).await,
                // On a socket or a terminal it may be that somebody writes to us there.
                Ok(mut guard) if !end.hung_up() => guard.clear_ready(),
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn took(&mut self, count: usize) {
        self.gone += count;
        if self.gone == self.queue.len() {
            self.queue.clear();
            self.queue.shrink_to(KEPT);
            self.gone = 0;
        } else if self.gone > KEPT && self.gone > self.queue.len() / 2 {
            self.queue.drain(..self.gone);
            self.gone = 0;
        }
    }
}

async fn write(waited: &Waited, end: &End, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let mut guard = waited.writable().await?;
        match end.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(written) => {
                if written < bytes.len() && end.short_means_all() {
                    guard.clear_ready_matching(Ready::WRITABLE);
                }
                return Ok(written);
            }
            Err(error) => return Err(error),
        }
    }
}

/// What a thread writes, one piece at a time.
#[derive(Debug)]
struct Pieces {
    give: mpsc::Sender<Vec<u8>>,
    /// The piece itself, emptied, or why it could not be written.
    back: mpsc::Receiver<io::Result<Vec<u8>>>,
    spare: Vec<u8>,
    /// How many bytes the thread has and has not yet told of.
    on_the_way: usize,
}

impl Pieces {
    fn start(mut file: std::fs::File) -> io::Result<Self> {
        let (give, mut coming) = mpsc::channel::<Vec<u8>>(1);
        let (tell, back) = mpsc::channel(1);
        let write = move || {
            while let Some(mut piece) = coming.blocking_recv() {
                let done = file.write_all(&piece).map(|()| {
                    piece.clear();
                    piece
                });
                if tell.blocking_send(done).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("stdout".to_owned()).spawn(write)?;
        Ok(Self {
            give,
            back,
            spare: Vec::new(),
            on_the_way: 0,
        })
    }

    /// Waits for the piece that is on its way, then gives the next one. How many bytes were taken.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.on_the_way > 0 {
            // `None`: the thread has gone, which it does only after an error that was told.
            let back = self.back.recv().await.unwrap_or_else(|| Err(ErrorKind::BrokenPipe.into()));
            self.on_the_way = 0;
            self.spare = back?;
            return Ok(0);
        }
        let mut piece = std::mem::take(&mut self.spare);
        piece.extend_from_slice(bytes);
        self.on_the_way = bytes.len();
        // There is room for one, and none is on its way.
        if self.give.try_send(piece).is_err() {
            self.on_the_way = 0;
            return Err(ErrorKind::BrokenPipe.into());
        }
        Ok(bytes.len())
    }
}
