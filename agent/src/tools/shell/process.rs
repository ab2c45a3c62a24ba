//! One command that runs: a shell in a session of its own, and whatever it starts.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal as Kill, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{CannotRun, Commands};
use agentglot_process::deeper;
use agentglot_process::family::{self, Being};
use agentglot_process::mark;
use agentglot_process::sweep::sweep;
use agentglot_process::sys;
use agentglot_process::watch::Watch;
use agentglot_process::{DEPTH, Exit, FAMILY, Limits, MAX_ARGUMENT, Watcher};

/// What the three streams of a command are.
#[derive(Debug)]
pub(crate) enum Streams {
    /// Nothing to read; what it writes goes here.
    Plain {
        /// Its stdout.
        stdout: OwnedFd,
        /// Its stderr.
        stderr: OwnedFd,
    },
    /// All three are a terminal, which becomes the one that controls its session.
    Terminal(OwnedFd),
}

/// A command that runs. Dropping it kills its group, and (Linux) what left the group.
#[derive(Debug)]
pub(crate) struct Process {
    leader: Option<Child>,
    group: Pid,
    mark: String,
    ends: Signal,
    /// Whether all that carries the mark is looked for when this is dropped.
    thorough: bool,
    /// What was below the shell before it was asked to end: afterwards nobody knows whose it was.
    seen: Vec<Being>,
}

impl Process {
    /// Starts a shell with a command.
    pub(crate) fn start(commands: &Commands, command: &str, folder: &Path, more: &[(&str, &str)], streams: Streams) -> Result<Self, CannotRun> {
        let depth = deeper(std::env::var_os(DEPTH).as_deref(), Limits::default().depth).map_err(|error| CannotRun::Start(io::Error::other(error)))?;
        let (shell, script) = (commands.shell(), commands.script(command)?);
        let mark = mark();
        let mut child = Command::new(shell);
        match &script {
            Some(path) => child.arg(path),
            None => child.arg("-c").arg(command),
        };
        child
            .current_dir(folder)
            .env_clear()
            .envs(commands.environment().iter().map(|(name, value)| (name, value)))
            .envs(more.iter().copied())
            // `cd` leads where permissions think that it does.
            .env_remove("CDPATH");
        child
            .env("PWD", folder)
            .env(DEPTH, depth.to_string())
            .env(FAMILY, commands.family(&mark)?);
        if let Some(traceparent) = crate::telemetry::traceparent() {
            child.env("TRACEPARENT", traceparent);
        }
        if let Some(rules) = commands.rules()? {
            rules.apply(&mut child);
        }
        match streams {
            Streams::Plain { stdout, stderr } => {
                child.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
                sys::own_session(&mut child);
            }
            Streams::Terminal(terminal) => {
                let copy = || terminal.try_clone().map_err(CannotRun::Start);
                child.stdin(copy()?).stdout(copy()?).stderr(terminal);
                sys::own_terminal(&mut child);
            }
        }
        sys::end_with_parent(&mut child);
        sys::adopt(&mut child);
        #[cfg(target_os = "linux")]
        agentglot_process::cgroup::join(&mut child);
        // Before the start, so that no end is missed.
        let ends = signal(SignalKind::child()).map_err(CannotRun::Start)?;
        let leader = family::spawn(&mut child).map_err(CannotRun::Start)?;
        Ok(Self {
            group: Pid::from_child(&leader),
            leader: Some(leader),
            mark,
            ends,
            thorough: false,
            seen: Vec::new(),
        })
    }

    /// The process id of the shell, which is that of its group too.
    pub(crate) fn id(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// How the shell ended, if it has. It stays a zombie, so that its number stays taken.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.group), options) {
            Ok(Some(status)) => {
                let code = status.exit_status().map(Exit::Code);
                code.or_else(|| status.terminating_signal().map(Exit::Signal))
            }
            // Some other part of this process took the status.
            Err(Errno::CHILD) => Some(Exit::Code(1)),
            Ok(None) | Err(_) => None,
        }
    }

    /// Waits until the shell has ended. Cancel-safe.
    pub(crate) async fn ended(&mut self) -> Exit {
        loop {
            if let Some(exit) = self.exit() {
                return exit;
            }
            self.ends.recv().await;
        }
    }

    /// Sends a signal to the group.
    pub(crate) fn signal(&mut self, what: Kill) {
        if self.leader.is_some() {
            self.look();
            let _ = kill_process_group(self.group, what);
        }
    }

    /// Kills the group and, on Linux, everything that left it.
    pub(crate) async fn kill_all(&mut self) {
        self.thorough = true;
        self.signal(Kill::KILL);
        let (mark, seen) = (self.mark.clone(), std::mem::take(&mut self.seen));
        let rest = move || {
            family::end(&seen);
            sweep(&mark);
            family::reap();
        };
        let _ = tokio::task::spawn_blocking(rest).await;
        self.thorough = false;
    }

    fn look(&mut self) {
        self.seen.retain(|being| family::born(being.pid()).is_some());
        self.seen.extend(family::below(self.group));
    }

    /// What left the group is looked for as well if this is dropped while it runs.
    pub(crate) const fn be_thorough(&mut self) {
        self.thorough = true;
    }

    /// It is over: what left the group on purpose may live.
    pub(crate) fn at_ease(&mut self) {
        self.thorough = false;
        family::reap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.thorough {
            self.look();
        }
        let _ = kill_process_group(self.group, Kill::KILL);
        let Some(mut leader) = self.leader.take() else { return };
        let gone = !matches!(leader.try_wait(), Ok(None));
        if gone && !self.thorough {
            return;
        }
        let mark = self.thorough.then(|| std::mem::take(&mut self.mark));
        let seen = std::mem::take(&mut self.seen);
        let rest = move || {
            if let Some(mark) = mark {
                family::end(&seen);
                sweep(&mark);
            }
            let _ = leader.wait();
        };
        // Without a thread it stays a zombie until we end.
        let _ = std::thread::Builder::new().name("reaper".to_owned()).spawn(rest);
    }
}

/// Sees to it that a process looks after all commands of ours if we die, and gives the mark by which it knows them.
pub(crate) fn watched(who: &Watcher) -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    static WATCH: Mutex<Option<Watch>> = Mutex::new(None);
    let mark = MARK.get_or_init(mark);
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if watch.as_mut().is_none_or(Watch::gone) {
        // Without it the signal at the death of a parent has to do.
        *watch = Watch::start(who, mark).ok().flatten();
    }
    mark
}

/// Whether the system takes it as one argument.
pub(crate) const fn fits(command: &str) -> bool {
    command.len() <= MAX_ARGUMENT
}
