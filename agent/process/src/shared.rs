use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::Notify;

use super::tail::Tail;
use crate::{Ending, Exit, Limits, Step, Steps};

/// What the driver tells the handle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) exit: Option<Exit>,
    /// Nothing takes bytes any more.
    pub(super) stdin_closed: bool,
    /// Nothing of the program is left.
    pub(super) over: bool,
}

/// What the handle and the driver both touch. The lock is never held over an await.
#[derive(Debug)]
pub(super) struct Shared {
    group: Pid,
    /// See [`Limits::queued`].
    pub(super) room: usize,
    /// Tells the driver to look at the state again.
    pub(super) wake: Notify,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) queue: Queue,
    pub(super) stdin: Stdin,
    pub(super) tail: Tail,
    /// Asked for and not yet begun.
    pub(super) stop: Option<Steps>,
    pub(super) step: Step,
    pub(super) exit: Option<Exit>,
    pub(super) stdout_ended: bool,
    /// The leader has been waited for: its number may belong to somebody else.
    pub(super) reaped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stdin {
    Open,
    /// To be closed when the queue is empty.
    Closing,
    Closed,
}

impl Shared {
    pub(super) fn new(group: Pid, limits: &Limits) -> Self {
        Self {
            group,
            room: limits.queued.max(1),
            wake: Notify::new(),
            state: Mutex::new(State {
                queue: Queue::default(),
                stdin: Stdin::Open,
                tail: Tail::new(limits.stderr_tail),
                stop: None,
                step: Step::ByItself,
                exit: None,
                stdout_ended: false,
                reaped: false,
            }),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) const fn id(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if state.stdin != Stdin::Open {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.queue.push(bytes);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    pub(super) fn queued(&self) -> usize {
        self.lock().queue.bytes().len()
    }

    pub(super) fn close_stdin(&self) {
        let mut state = self.lock();
        if state.stdin == Stdin::Open {
            state.stdin = Stdin::Closing;
        }
        drop(state);
        self.wake.notify_one();
    }

    pub(super) fn begin_stop(&self, steps: Steps) {
        self.lock().stop = Some(steps);
        self.close_stdin();
    }

    pub(super) fn stdout_ended(&self) {
        self.lock().stdout_ended = true;
        self.wake.notify_one();
    }

    pub(super) fn has_stdout_ended(&self) -> bool {
        self.lock().stdout_ended
    }

    pub(super) fn kill_group(&self) {
        self.signal_group(Signal::KILL);
    }

    /// The leader stays a zombie until `reaped` is set under the same lock, so the group's number is still its own.
    pub(super) fn signal_group(&self, signal: Signal) {
        let state = self.lock();
        if !state.reaped {
            let _ = kill_process_group(self.group, signal);
        }
    }

    pub(super) fn ending(&self) -> Ending {
        let state = self.lock();
        Ending {
            exit: state.exit,
            stderr_tail: state.tail.to_vec(),
            stderr_bytes: state.tail.total,
            step: state.step,
        }
    }

    pub(super) fn stderr_tail(&self) -> Vec<u8> {
        self.lock().tail.to_vec()
    }
}

/// Bytes on their way to stdin.
#[derive(Debug, Default)]
pub(super) struct Queue {
    bytes: Vec<u8>,
    /// How many of them have gone.
    gone: usize,
}

/// What an empty queue may keep for the next bytes.
const KEPT: usize = 64 << 10;

impl Queue {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.gone > self.bytes.len() / 2 {
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn take(&mut self, count: usize) {
        self.gone += count;
        if self.gone == self.bytes.len() {
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.gone = 0;
    }
}
