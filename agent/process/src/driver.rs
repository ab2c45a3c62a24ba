//! The task that serves stdin and stderr of a child and takes it through its end.

use std::future::pending;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal as Kill, WaitId, WaitIdOptions, waitid};
use tokio::net::unix::pipe;
use tokio::signal::unix::Signal;
use tokio::sync::watch as channel;
use tokio::time::{Instant, sleep_until};

use super::relay::Relay;
use super::shared::{Progress, Shared, Stdin};
use super::watch::{PATIENCE, Watch};
use crate::{Exit, Step, Steps};

/// How much of stderr is read at once, and how often in a row before something else gets its turn.
const PIECE: usize = 32 << 10;
const PIECES: usize = 16;

/// The processes of one child. Dropping it before the end kills them.
#[derive(Debug)]
pub(super) struct Family {
    shared: Arc<Shared>,
    /// `None` once it has been waited for, or somebody else does it.
    members: Option<(std::process::Child, Option<Watch>)>,
}

impl Family {
    pub(super) const fn new(shared: Arc<Shared>, leader: std::process::Child, watcher: Option<Watch>) -> Self {
        Self {
            shared,
            members: Some((leader, watcher)),
        }
    }

    /// How the leader ended, if it has. It stays a zombie, so that its number, which is the group's, stays taken.
    fn look(&self) -> Option<Gone> {
        let (leader, _) = self.members.as_ref()?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(Pid::from_child(leader)), options) {
            Ok(None) => None,
            Ok(Some(status)) => {
                let code = status.exit_status().map(Exit::Code);
                Some(Gone(code.or_else(|| status.terminating_signal().map(Exit::Signal))))
            }
            Err(Errno::CHILD) => {
                // Some other part of this process waits for any child, and took the status; the number is free from now on.
                self.shared.lock().reaped = true;
                Some(Gone(None))
            }
            Err(_) => None,
        }
    }

    /// The group is killed for good, and the watcher looks for what left it.
    fn sweep(&mut self) {
        self.shared.kill_group();
        if let Some((_, Some(watcher))) = &mut self.members {
            watcher.over();
        }
    }

    fn swept(&mut self) -> bool {
        match &mut self.members {
            Some((_, Some(watcher))) => watcher.gone(),
            _ => true,
        }
    }

    /// Waits for all that has ended, in another thread if something has not.
    fn reap(&mut self) {
        let Some((mut leader, mut watcher)) = self.members.take() else { return };
        self.shared.lock().reaped = true;
        let leader_gone = !matches!(leader.try_wait(), Ok(None));
        let watcher_gone = watcher.as_mut().is_none_or(Watch::gone);
        if leader_gone && watcher_gone {
            return;
        }
        let wait = move || {
            let _ = leader.wait();
            if let Some(mut watcher) = watcher {
                watcher.wait();
            }
        };
        // Without a thread they stay zombies until we end.
        let _ = std::thread::Builder::new().name("reaper".to_owned()).spawn(wait);
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if self.members.is_some() {
            self.sweep();
            self.reap();
        }
    }
}

/// The leader has ended; `None` if nobody can say how.
#[derive(Clone, Copy, Debug)]
struct Gone(Option<Exit>);

#[derive(Debug)]
pub(super) struct Driver {
    family: Family,
    stdin: Option<pipe::Sender>,
    stderr: Option<pipe::Receiver>,
    relay: Option<Relay>,
    ends: Signal,
    tell: channel::Sender<Progress>,
    linger: Duration,
    stage: Stage,
    /// The steps of the stop that is under way.
    steps: Option<Steps>,
    piece: Vec<u8>,
}

/// Where the child stands. The times are when the next stage is entered at the latest.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Running,
    Closing(Instant),
    Terminating(Instant),
    Killing(Instant),
    /// The leader has ended; what it started may finish its output.
    Lingering(Instant),
    /// The group has been killed; the watcher looks around a last time.
    Sweeping(Instant),
    Over,
}

impl Driver {
    pub(super) fn new(
        family: Family,
        stdin: pipe::Sender,
        stderr: pipe::Receiver,
        relay: Option<Relay>,
        ends: Signal,
        tell: channel::Sender<Progress>,
        linger: Duration,
    ) -> Self {
        Self {
            family,
            stdin: Some(stdin),
            stderr: Some(stderr),
            relay,
            ends,
            tell,
            linger,
            stage: Stage::Running,
            steps: None,
            piece: vec![0; PIECE],
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            // In this order: what ended before it was asked to, ended by itself; what ended after its stdin was closed, did not.
            self.look(Instant::now());
            self.take_stop(Instant::now());
            self.flush();
            self.advance();
            if matches!(self.stage, Stage::Over) {
                if let Some(relay) = self.relay.take() {
                    relay.finish().await;
                }
                self.tell.send_modify(|progress| progress.over = true);
                return;
            }
            let writing = self.stdin.is_some() && self.family.shared.queued() > 0;
            let until = self.deadline();
            tokio::select! {
                () = self.family.shared.wake.notified() => {}
                _ = self.ends.recv() => {}
                () = writable(self.stdin.as_ref()), if writing => {}
                () = readable(self.stderr.as_ref()) => self.drain(PIECES),
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {}
            }
        }
    }

    /// Writes what the program takes, and closes its stdin when that is due.
    fn flush(&mut self) {
        let Some(stdin) = &self.stdin else { return };
        let shared = &self.family.shared;
        let (mut changed, mut closed) = (false, false);
        {
            let mut state = shared.lock();
            while !state.queue.bytes().is_empty() {
                match stdin.try_write(state.queue.bytes()) {
                    Ok(written) => {
                        state.queue.take(written);
                        changed = true;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // The program has closed its stdin, as programs do that have read enough.
                    Err(_) => closed = true,
                }
                if closed {
                    break;
                }
            }
            closed |= state.stdin == Stdin::Closing && state.queue.bytes().is_empty();
            if closed {
                state.stdin = Stdin::Closed;
                state.queue.clear();
            }
        }
        if closed {
            self.stdin = None;
        }
        if changed || closed {
            self.tell.send_modify(|now| now.stdin_closed |= closed);
        }
    }

    fn close_stdin(&mut self) {
        if self.stdin.take().is_some() {
            let mut state = self.family.shared.lock();
            state.stdin = Stdin::Closed;
            state.queue.clear();
            drop(state);
            self.tell.send_modify(|now| now.stdin_closed = true);
        }
    }

    /// Reads what is on stderr, at most so many pieces.
    fn drain(&mut self, pieces: usize) {
        for _ in 0..pieces {
            let Some(stderr) = &self.stderr else { return };
            match stderr.try_read(&mut self.piece) {
                Ok(read @ 1..) => {
                    self.family.shared.lock().tail.push(&self.piece[..read]);
                    if let Some(relay) = &mut self.relay {
                        relay.pass(&self.piece[..read]);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => self.stderr = None,
            }
        }
    }

    const fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Running | Stage::Over => None,
            Stage::Closing(until) | Stage::Terminating(until) | Stage::Killing(until) => Some(until),
            Stage::Lingering(until) | Stage::Sweeping(until) => Some(until),
        }
    }

    /// Enters every stage that is due.
    fn advance(&mut self) {
        loop {
            let now = Instant::now();
            self.look(now);
            let due = self.deadline().is_some_and(|until| until <= now);
            self.stage = match self.stage {
                Stage::Closing(_) if due => {
                    self.step(Step::Terminated, Kill::TERM);
                    Stage::Terminating(now + self.steps.map_or(Duration::ZERO, |steps| steps.terminate))
                }
                Stage::Terminating(_) if due => {
                    self.close_stdin();
                    self.step(Step::Killed, Kill::KILL);
                    Stage::Killing(now + self.steps.map_or(Duration::ZERO, |steps| steps.kill))
                }
                Stage::Lingering(_) if due || self.silent() => self.sweep(now),
                Stage::Killing(_) if due => self.sweep(now),
                Stage::Sweeping(_) if due || self.family.swept() => {
                    self.over();
                    Stage::Over
                }
                _ => return,
            };
        }
    }

    fn look(&mut self, now: Instant) {
        let before_exit = !matches!(self.stage, Stage::Lingering(_) | Stage::Sweeping(_) | Stage::Over);
        if before_exit && let Some(gone) = self.family.look() {
            self.exited(gone, now);
        }
    }

    /// A stop that was asked for begins, or hurries.
    fn take_stop(&mut self, now: Instant) {
        let asked = self.family.shared.lock().stop.take();
        let Some(steps) = asked else { return };
        self.steps = Some(steps);
        self.stage = match self.stage {
            Stage::Running => {
                let mut state = self.family.shared.lock();
                state.step = state.step.max(Step::Closed);
                Stage::Closing(now + steps.close)
            }
            Stage::Closing(until) => Stage::Closing(until.min(now + steps.close)),
            Stage::Terminating(until) => Stage::Terminating(until.min(now + steps.terminate)),
            Stage::Killing(until) => Stage::Killing(until.min(now + steps.kill)),
            stage => stage,
        };
    }

    fn step(&self, step: Step, signal: Kill) {
        self.family.shared.lock().step = step;
        self.family.shared.signal_group(signal);
    }

    fn exited(&mut self, Gone(exit): Gone, now: Instant) {
        let killed = matches!(self.stage, Stage::Killing(_));
        {
            let mut state = self.family.shared.lock();
            state.exit = exit;
            if matches!(self.stage, Stage::Running) {
                state.step = Step::ByItself;
            }
        }
        self.close_stdin();
        self.tell.send_modify(|progress| progress.exit = exit);
        if self.steps.is_some() && !killed {
            // What the program left behind is asked to go before it is made to.
            self.family.shared.signal_group(Kill::TERM);
        }
        self.stage = Stage::Lingering(if killed { now } else { now + self.linger });
    }

    /// Whether nobody holds the program's output any more.
    fn silent(&self) -> bool {
        self.stderr.is_none() && self.family.shared.lock().stdout_ended
    }

    fn sweep(&mut self, now: Instant) -> Stage {
        self.close_stdin();
        self.family.sweep();
        Stage::Sweeping(now + PATIENCE)
    }

    fn over(&mut self) {
        if let Some((_, Some(watcher))) = &mut self.family.members
            && !watcher.gone()
        {
            watcher.kill();
        }
        // What lies in the pipe; a pipe holds a megabyte at most unless somebody goes on writing.
        self.drain(64);
        self.family.reap();
    }
}

async fn writable(stdin: Option<&pipe::Sender>) {
    match stdin {
        // An error shows when writing.
        Some(stdin) => drop(stdin.writable().await),
        None => pending().await,
    }
}

async fn readable(stderr: Option<&pipe::Receiver>) {
    match stderr {
        Some(stderr) => drop(stderr.readable().await),
        None => pending().await,
    }
}
