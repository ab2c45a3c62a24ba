//! Interactive sessions: programs on a terminal that the agent types into and reads from.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, spawn_local};
use tokio_util::sync::CancellationToken;

use super::shell::follow::place;
use super::shell::process::{Process, Streams};
use super::shell::{CannotRun, Commands, Kept};
use agentglot_process::Exit;
use rustix::process::Signal as Kill;

/// How many bytes of what was not read yet are kept: of its beginning and of its end.
pub const UNREAD: (usize, usize) = (64 << 10, 512 << 10);

/// How many sessions may be open at once.
pub const MOST: usize = 32;

/// How long a program has to end when its session is closed.
const GRACE: Duration = Duration::from_millis(300);

/// How long a program may take to read what was typed.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a program that writes without end lets others have a turn.
const PIECES: usize = 16;

/// The interactive sessions of a session of the agent. To be used inside a [`tokio::task::LocalSet`].
#[derive(Debug)]
pub struct Terminals {
    commands: Rc<Commands>,
    all: RefCell<Vec<Rc<Terminal>>>,
}

#[derive(Debug)]
struct Terminal {
    id: String,
    command: String,
    begun: Instant,
    master: AsyncFd<Arc<OwnedFd>>,
    state: RefCell<State>,
    /// Something was written, or the program ended.
    news: Notify,
    close: CancellationToken,
    follower: RefCell<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct State {
    unread: Kept,
    /// When something was typed or written last.
    stirred: Instant,
    /// Nothing more will be written.
    silent: bool,
    exit: Option<Exit>,
    over: bool,
}

/// What there is to say about an interactive session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its id.
    pub id: String,
    /// The command that it began with.
    pub command: String,
    /// Whether the program runs.
    pub alive: bool,
    /// How the program ended, if it has.
    pub exit: Option<Exit>,
    /// How long ago it began.
    pub age: Duration,
    /// For how long nothing was typed or written.
    pub idle: Duration,
}

/// Why a session could not be served.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// It was never started, or was closed.
    #[error("Session {0} not found")]
    Unknown(String),
    /// Its program has ended.
    #[error("the program of session {0} has ended")]
    Over(String),
    /// The program does not read what is typed.
    #[error("the program of session {0} does not read its input")]
    Stuck(String),
    /// There are too many of them.
    #[error("{MOST} interactive sessions are open already; close one of them first")]
    Many,
    /// It was not started.
    #[error(transparent)]
    NotRun(#[from] CannotRun),
    /// The system refuses.
    #[error("the terminal failed: {0}")]
    System(#[from] io::Error),
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its height.
    pub rows: u16,
    /// Its width.
    pub columns: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

impl From<Size> for Winsize {
    fn from(size: Size) -> Self {
        Self {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        }
    }
}

impl Terminals {
    /// None yet.
    pub fn new(commands: Rc<Commands>) -> Self {
        Self {
            commands,
            all: RefCell::default(),
        }
    }

    /// Starts a command on a terminal of its own, under an id that must be new. `folder` is the session's if it is `None`.
    ///
    /// # Errors
    /// When it was not run, or too many are open.
    pub fn start(&self, id: &str, command: &str, folder: Option<&Path>, size: Size) -> Result<(), NoTerminal> {
        if self.all.borrow().len() >= MOST {
            return Err(NoTerminal::Many);
        }
        let folder = place(&self.commands, folder)?;
        let (master, slave) = open(size)?;
        let more = [("TERM", "xterm-256color")];
        let process = Process::start(&self.commands, command, &folder, &more, Streams::Terminal(slave))?;
        let terminal = Rc::new(Terminal {
            id: id.to_owned(),
            command: command.to_owned(),
            begun: Instant::now(),
            master: agentglot_process::sys::register(Arc::new(master), Interest::READABLE | Interest::WRITABLE)?,
            state: RefCell::new(State {
                unread: Kept::new(UNREAD.0, UNREAD.1),
                stirred: Instant::now(),
                silent: false,
                exit: None,
                over: false,
            }),
            news: Notify::new(),
            close: CancellationToken::new(),
            follower: RefCell::default(),
        });
        let follower = spawn_local(follow(Rc::clone(&terminal), process));
        *terminal.follower.borrow_mut() = Some(follower);
        self.all.borrow_mut().push(terminal);
        Ok(())
    }

    fn find(&self, id: &str) -> Result<Rc<Terminal>, NoTerminal> {
        let all = self.all.borrow();
        let terminal = all.iter().find(|terminal| terminal.id == id);
        terminal.cloned().ok_or_else(|| NoTerminal::Unknown(id.to_owned()))
    }

    /// Types these bytes: a newline is the enter key, `\u{3}` is Ctrl-C, `\u{4}` Ctrl-D.
    ///
    /// # Errors
    /// When there is none of this id, its program has ended, or it does not read what is typed.
    pub async fn send(&self, id: &str, input: &[u8]) -> Result<(), NoTerminal> {
        let terminal = self.find(id)?;
        let typed = tokio::time::timeout(PATIENCE, terminal.send(input)).await;
        typed.unwrap_or_else(|_| Err(NoTerminal::Stuck(id.to_owned())))
    }

    /// What was written since this was called the last time, as the terminal shows it: lines end with `\r\n`, and what was typed is there
    /// too. Waits no longer than `most` for something, and then until nothing more came for `quiet`. Empty if nothing came.
    ///
    /// # Errors
    /// When there is none of this id.
    pub async fn read(&self, id: &str, most: Duration, quiet: Duration) -> Result<String, NoTerminal> {
        let terminal = self.find(id)?;
        let until = tokio::time::Instant::now() + most;
        let mut seen = 0;
        loop {
            let news = terminal.news.notified();
            let (total, silent) = {
                let state = terminal.state.borrow();
                (state.unread.total(), state.silent)
            };
            // Nothing yet: wait for it. Something: wait whether more comes.
            let next = if total == 0 {
                until
            } else {
                until.min(tokio::time::Instant::now() + quiet)
            };
            let came = total == 0 || total > seen;
            if silent || !came {
                break;
            }
            seen = total;
            if tokio::time::timeout_at(next, news).await.is_err() {
                break;
            }
        }
        let unread = std::mem::replace(&mut terminal.state.borrow_mut().unread, Kept::new(UNREAD.0, UNREAD.1));
        Ok(unread.text())
    }

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// When there is none of this id, or the system refuses.
    pub fn resize(&self, id: &str, size: Size) -> Result<(), NoTerminal> {
        let terminal = self.find(id)?;
        tcsetwinsize(&terminal.master, size.into()).map_err(io::Error::from)?;
        Ok(())
    }

    /// All that are open, the oldest first. One whose program has ended stays open until it is closed.
    pub fn list(&self) -> Vec<Seen> {
        let all = self.all.borrow();
        let seen = |terminal: &Rc<Terminal>| {
            let state = terminal.state.borrow();
            Seen {
                id: terminal.id.clone(),
                command: terminal.command.clone(),
                alive: state.exit.is_none() && !state.over,
                exit: state.exit,
                age: terminal.begun.elapsed(),
                idle: state.stirred.elapsed(),
            }
        };
        all.iter().map(seen).collect()
    }

    /// Hangs up, and waits until nothing of the program is left.
    ///
    /// # Errors
    /// When there is none of this id.
    pub async fn close(&self, id: &str) -> Result<(), NoTerminal> {
        let terminal = self.find(id)?;
        self.all.borrow_mut().retain(|open| open.id != id);
        terminal.end().await;
        Ok(())
    }

    /// Closes all of them.
    pub async fn end(&self) {
        let all = std::mem::take(&mut *self.all.borrow_mut());
        all.iter().for_each(|terminal| terminal.close.cancel());
        for terminal in all {
            terminal.end().await;
        }
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        // What follows a program kills it when it is dropped.
        for terminal in self.all.borrow().iter() {
            if let Some(follower) = terminal.follower.borrow().as_ref() {
                follower.abort();
            }
        }
    }
}

impl Terminal {
    async fn send(&self, mut input: &[u8]) -> Result<(), NoTerminal> {
        while !input.is_empty() {
            let over = || NoTerminal::Over(self.id.clone());
            if self.state.borrow().over || self.state.borrow().silent {
                return Err(over());
            }
            let mut ready = tokio::select! {
                ready = self.master.writable() => ready?,
                () = self.closed() => return Err(over()),
            };
            match ready.try_io(|master| rustix::io::write(master, input).map_err(Into::into)) {
                Ok(Ok(written)) => {
                    input = &input[written..];
                    self.state.borrow_mut().stirred = Instant::now();
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(_)) => return Err(over()),
                Err(_would_block) => {}
            }
        }
        Ok(())
    }

    /// Waits until nothing more will be written.
    async fn closed(&self) {
        loop {
            let news = self.news.notified();
            if self.state.borrow().silent {
                return;
            }
            news.await;
        }
    }

    async fn end(&self) {
        self.close.cancel();
        let follower = self.follower.borrow_mut().take();
        if let Some(follower) = follower {
            let _ = tokio::time::timeout(GRACE * 2 + Duration::from_secs(3), follower).await;
        }
    }

    /// Waits for what the program writes and takes it. Returns when nothing more will come.
    async fn listen(&self) {
        let mut piece = vec![0; 16 << 10];
        loop {
            let Ok(mut ready) = self.master.readable().await else { return };
            for _ in 0..PIECES {
                match ready.try_io(|master| rustix::io::read(master, &mut piece).map_err(Into::into)) {
                    Ok(Ok(0)) => return,
                    Ok(Ok(read)) => {
                        let mut state = self.state.borrow_mut();
                        state.unread.push(&piece[..read]);
                        state.stirred = Instant::now();
                        drop(state);
                        self.news.notify_waiters();
                    }
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Linux says EIO when nobody has the terminal open any more.
                    Ok(Err(_)) => return,
                    Err(_would_block) => break,
                }
            }
        }
    }
}

/// Serves a terminal to its end.
async fn follow(terminal: Rc<Terminal>, mut process: Process) {
    process.be_thorough();
    let exit = {
        let listen = terminal.listen();
        tokio::pin!(listen);
        let mut heard = false;
        loop {
            tokio::select! {
                biased;
                () = terminal.close.cancelled() => break None,
                ended = process.ended() => {
                    terminal.state.borrow_mut().exit = Some(ended);
                    terminal.news.notify_waiters();
                    // What it wrote last is still in the terminal; what it left behind may hold the terminal for ever.
                    if !heard {
                        let _ = tokio::time::timeout(super::shell::LINGER, &mut listen).await;
                    }
                    break Some(ended);
                }
                () = &mut listen, if !heard => heard = true,
            }
        }
    };
    if exit.is_none() {
        // As a terminal does that is closed.
        process.signal(Kill::HUP);
        process.signal(Kill::TERM);
        process.signal(Kill::CONT);
        let ended = tokio::time::timeout(GRACE, process.ended()).await;
        terminal.state.borrow_mut().exit = ended.ok();
    }
    // Jobs of a shell have groups of their own: they are found by their mark.
    process.kill_all().await;
    let last = process.exit();
    let mut state = terminal.state.borrow_mut();
    state.exit = state.exit.or(last);
    state.silent = true;
    state.over = true;
    drop(state);
    terminal.news.notify_waiters();
}

/// A new terminal: our side and the program's.
fn open(size: Size) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).or_else(|error| match error {
        // Some systems take no CLOEXEC here.
        Errno::INVAL => openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY),
        error => Err(error),
    })?;
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(&name, flags, rustix::fs::Mode::empty())?;
    tcsetwinsize(&slave, size.into())?;
    let flags = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, flags | OFlags::NONBLOCK)?;
    Ok((master, slave))
}

#[cfg(test)]
#[path = "pty_tests.rs"]
mod tests;
