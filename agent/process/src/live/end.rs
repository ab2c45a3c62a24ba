use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, open};
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys;

/// An end that the runtime waits for.
pub(super) type Waited = AsyncFd<Arc<OwnedFd>>;

/// How a file is to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `read` and `write` that do not wait, and take or give all they can.
    Pipe,
    /// `read` and `write` that do not wait; a read gives one line, even if there are more.
    Terminal,
    /// A socket: `recv` and `send`, told at each call not to wait.
    Socket,
    /// Anything else: it cannot be waited for.
    Blocking,
}

/// One end of a stream that does not make us wait.
#[derive(Debug)]
pub(super) struct End {
    fd: Arc<OwnedFd>,
    kind: Kind,
    /// The flags to put back: the open file is shared with others.
    shared: Option<OFlags>,
}

impl End {
    /// Our own end, or, where the open file has to be shared, a second name for it.
    pub(super) fn new(given: BorrowedFd<'_>, access: OFlags) -> io::Result<Self> {
        let kind = match FileType::from_raw_mode(fstat(given)?.st_mode) {
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice if rustix::termios::isatty(given) => Kind::Terminal,
            _ => Kind::Blocking,
        };
        let flagged = matches!(kind, Kind::Pipe | Kind::Terminal);
        if flagged && let Some(fd) = anew(given, access) {
            return Ok(Self {
                fd: Arc::new(fd),
                kind,
                shared: None,
            });
        }
        let fd = given.try_clone_to_owned()?;
        let mut shared = None;
        if flagged {
            let flags = fcntl_getfl(&fd)?;
            if !flags.contains(OFlags::NONBLOCK) {
                fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
                shared = Some(flags);
            }
        }
        Ok(Self {
            fd: Arc::new(fd),
            kind,
            shared,
        })
    }

    /// A pipe whose open file nobody else has.
    pub(super) fn of_ours(fd: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
        Ok(Self {
            fd: Arc::new(fd),
            kind: Kind::Pipe,
            shared: None,
        })
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether a read or write that did less than was asked shows that there is no more to do now.
    pub(super) const fn short_means_all(&self) -> bool {
        matches!(self.kind, Kind::Pipe | Kind::Socket)
    }

    /// A blocking file for a thread.
    pub(super) fn file(&self) -> io::Result<File> {
        Ok(File::from(self.fd.try_clone()?))
    }

    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(match self.kind {
            Kind::Socket => rustix::net::recv(&self.fd, buffer, RecvFlags::DONTWAIT)?.0,
            Kind::Pipe | Kind::Terminal | Kind::Blocking => rustix::io::read(&self.fd, buffer)?,
        })
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(match self.kind {
            Kind::Socket => rustix::net::send(&self.fd, bytes, SendFlags::DONTWAIT)?,
            Kind::Pipe | Kind::Terminal | Kind::Blocking => rustix::io::write(&self.fd, bytes)?,
        })
    }

    /// Whether nobody is at the other end any more.
    pub(super) fn hung_up(&self) -> bool {
        let mut polled = [PollFd::new(&self.fd, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut polled, Some(&at_once)).is_ok() && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }

    pub(super) fn register(&self, interest: Interest) -> io::Result<Waited> {
        sys::register(Arc::clone(&self.fd), interest)
    }

    /// A second registration with readiness of its own.
    pub(super) fn register_again(&self, interest: Interest) -> io::Result<Waited> {
        sys::register(Arc::new(self.fd.try_clone()?), interest)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(flags) = self.shared {
            let _ = fcntl_setfl(&self.fd, flags);
        }
    }
}

/// Opens the same pipe or terminal once more. `None`: it has to be shared.
fn anew(given: BorrowedFd<'_>, access: OFlags) -> Option<OwnedFd> {
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    if cfg!(target_os = "linux") {
        return open(format!("/proc/self/fd/{}", given.as_raw_fd()), flags, Mode::empty()).ok();
    }
    let name = rustix::termios::ttyname(given, Vec::new()).ok()?;
    open(name, flags, Mode::empty()).ok()
}
