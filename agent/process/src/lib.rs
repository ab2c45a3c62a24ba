//! Programs that run as our children, and nothing of them left behind.
//!
//! [`Child::start`] looks a program up, starts it in a process group of its own and serves its three pipes from then on, whatever
//! the caller is busy with: stderr is always read (its last bytes are kept for the error message), what is written goes out as
//! the program takes it, and [`Child::read`] gives what the program writes. Stdout is the one pipe with back pressure: it is read
//! only inside [`Child::read`], into the caller's own buffer, so a caller that holds enough bytes simply does not read.
//!
//! **The end.** [`Child::stop`] closes stdin, sends `SIGTERM` to the group, then `SIGKILL`, each step only after the deadline of
//! the one before. A program that ends by itself, a dropped [`Child`], and the death of our own process end in the same place:
//! the whole group is gone. Three things see to that, because each alone has a hole:
//!
//! - the *process group*: programs that start themselves anew stay in it, and so do the tools that agents start;
//! - the *parent-death signal* (Linux): reaches the program even if we are killed before anything else happens;
//! - the *[watcher](watch)*: a process that waits for the end of a pipe that only we hold. It sees our `SIGKILL` too, ends the
//!   group, and (Linux) whatever left the group but still carries the mark that we put into its environment: daemons too.
//!
//! **Cancel safety.** Every async method here may be dropped at any await and called again; nothing is lost. All take `&self`,
//! so several of them can stand in one `select!` with the host's input and timers.
//!
//! A tokio runtime with IO and time enabled is needed; a current-thread one is enough. Because Linux sends the
//! parent-death signal when the *thread* that started a program ends, start programs from a thread that lives as long as they do.

#![deny(unsafe_code)]

#[cfg(not(unix))]
compile_error!("pipes and process groups are served as Unix has them");

use std::io;
use std::sync::Arc;

use tokio::sync::watch as channel;
use tokio::task::JoinHandle;

#[cfg(target_os = "linux")]
pub mod cgroup;
mod driver;
mod environment;
mod error;
mod exit;
pub mod family;
pub mod file;
pub mod leftover;
pub mod live;
mod lookup;
mod plan;
mod relay;
mod shared;
pub(crate) mod start;
pub mod sweep;
pub mod sys;
pub(crate) mod tail;
pub mod watch;

pub use environment::{BASIC, DEPTH, Environment, FAMILY, check, deeper};
pub use error::{LookupError, StartError};
pub use exit::{Ending, Exit, Step};
pub use lookup::{Ourselves, find};
pub use plan::{Limits, MAX_ARGUMENT, Plan, Steps, Watcher};
pub use start::mark;
pub use tail::Tail;

use live::Input;
use shared::{Progress, Shared};

/// A program that runs. Dropping it kills the program and everything that it started.
#[derive(Debug)]
pub struct Child {
    shared: Arc<Shared>,
    stdout: Input,
    progress: channel::Receiver<Progress>,
    driver: JoinHandle<()>,
}

impl Child {
    /// Starts a program.
    ///
    /// # Errors
    /// When there is no such program, it may not be run, or the system refuses. Each message says how to mend it.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(plan: Plan) -> Result<Self, StartError> {
        start::start(plan)
    }

    /// The process id, which is also the id of its group. Not to be signalled after [`Child::ended`].
    pub fn id(&self) -> u32 {
        self.shared.id()
    }

    /// Reads what the program wrote to stdout. `Ok(0)` is the end: the pipe is closed, or the program has gone and nothing more is
    /// there; do not call it again. Call it only when there is room for what it gives: while nobody calls it, nothing is read and
    /// the program waits once the pipe is full.
    ///
    /// A buffer of 64 KiB takes what a pipe holds. Cancel-safe: no byte is taken unless it returns.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.shared.has_stdout_ended() {
            return Ok(0);
        }
        let mut progress = self.progress.clone();
        let read = tokio::select! {
            biased;
            read = self.stdout.read(buffer) => read?,
            // Something that outlived the program still holds the pipe. What lies in it is read; nothing more is waited for.
            _ = progress.wait_for(|now| now.over) => self.stdout.read_now(buffer)?,
        };
        if read == 0 && !buffer.is_empty() {
            self.shared.stdout_ended();
        }
        Ok(read)
    }

    /// Hands bytes to the program's stdin. They are queued at once and go out as the program takes them, even while the caller does
    /// something else; [`Child::room`] holds back a caller that gives more than the program takes.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] when stdin is closed, by us or by the program. What the program did not take is lost then.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.shared.write(bytes)
    }

    /// How many bytes wait to be taken by the program.
    pub fn queued(&self) -> usize {
        self.shared.queued()
    }

    /// Waits until fewer bytes are queued than [`Limits::queued`], or stdin is closed. Cancel-safe.
    pub async fn room(&self) {
        let limit = self.shared.room;
        self.queue_below(limit).await;
    }

    /// Waits until the program has taken everything, or stdin is closed. Cancel-safe.
    pub async fn flushed(&self) {
        self.queue_below(1).await;
    }

    async fn queue_below(&self, limit: usize) {
        let shared = &self.shared;
        // An error says that the driver is gone, and with it the queue.
        let _ = self.progress.clone().wait_for(|now| now.stdin_closed || shared.queued() < limit).await;
    }

    /// Closes stdin as soon as what is queued has gone out.
    pub fn close_stdin(&self) {
        self.shared.close_stdin();
    }

    /// Waits until the program itself has ended. What it started may still run, and what it wrote may still have to be read.
    /// Cancel-safe. `None`: it could not be ended, see [`Ending::exit`].
    pub async fn exited(&self) -> Option<Exit> {
        let _ = self.progress.clone().wait_for(|now| now.exit.is_some() || now.over).await;
        self.exit()
    }

    /// How the program ended, if it has.
    pub fn exit(&self) -> Option<Exit> {
        self.progress.borrow().exit
    }

    /// Begins to stop the program and returns at once: go on with [`Child::read`] until it gives 0 to keep what the program still
    /// says, then [`Child::ended`]. Called again with shorter deadlines, it hurries.
    pub fn begin_stop(&self, steps: Steps) {
        self.shared.begin_stop(steps);
    }

    /// Stops the program in steps and waits until nothing of it is left. What it still writes is thrown away; see [`Child::begin_stop`] to keep
    /// it. Takes no longer than the sum of `steps`, [`Limits::linger`] and [`watch::PATIENCE`]. Cancel-safe: the steps go on all the same,
    /// and calling it again waits for their end.
    pub async fn stop(&self, steps: Steps) -> Ending {
        self.begin_stop(steps);
        let mut thrown_away = vec![0; 16 << 10];
        while let Ok(1..) = self.read(&mut thrown_away).await {}
        self.ended().await
    }

    /// Waits until the program has ended, by itself or by [`Child::begin_stop`], and nothing of it is left. Stdout has to be read
    /// meanwhile, or have been read to its end: a program that cannot write may never end. Cancel-safe.
    pub async fn ended(&self) -> Ending {
        let _ = self.progress.clone().wait_for(|now| now.over).await;
        self.shared.ending()
    }

    /// The last bytes that the program wrote to stderr, at most [`Limits::stderr_tail`] of them.
    pub fn stderr_tail(&self) -> Vec<u8> {
        self.shared.stderr_tail()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.shared.kill_group();
        // The rest is done where the driver is dropped.
        self.driver.abort();
    }
}
