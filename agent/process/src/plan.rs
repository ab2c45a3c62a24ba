use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Environment;

/// The longest argument and the longest `NAME=value` that Linux takes, in bytes, without the NUL at its end.
pub const MAX_ARGUMENT: usize = 131_071;

/// What is to be started, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A name that is looked up in `PATH`, or, if there is a slash in it, a path. See [`super::find`].
    pub program: OsString,
    /// The arguments after the program's own name.
    pub args: Vec<OsString>,
    /// What it finds in its environment.
    pub env: Environment,
    /// The folder that it runs in; ours if there is none.
    pub cwd: Option<PathBuf>,
    /// Bounds.
    pub limits: Limits,
    /// Who looks after it if we die.
    pub watcher: Watcher,
    /// What leaves the group on purpose, as daemons do that a tool starts, lives on when the program is over.
    pub keeps_daemons: bool,
    /// Whether what it writes to stderr also goes to our stderr. Nothing waits for a stderr that nobody reads: if too much
    /// is waiting, some is left out and a line says how much.
    pub pass_stderr: bool,
    /// The program is [our own](Plan::ourselves), and meant to be: otherwise that is refused, for it would go round in circles.
    pub ours: bool,
}

impl Plan {
    /// A plan with the usual environment, limits and watcher.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Environment::default(),
            cwd: None,
            limits: Limits::default(),
            watcher: Watcher::default(),
            keeps_daemons: false,
            pass_stderr: false,
            ours: false,
        }
    }

    /// A plan that starts our own program once more.
    ///
    /// # Errors
    /// When it cannot be found any more.
    pub fn ourselves() -> std::io::Result<Self> {
        Ok(Self {
            ours: true,
            ..Self::new(super::watch::our_program()?)
        })
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }
}

/// Bounds of one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many of the last bytes of stderr are kept.
    pub stderr_tail: usize,
    /// How many bytes may wait for stdin before [`super::Child::room`] holds the caller back. [`super::Child::write`] itself takes
    /// any number: a prompt is never refused.
    pub queued: usize,
    /// How long what the program started may go on writing after the program itself has ended. Then it is killed.
    pub linger: Duration,
    /// How many of us may stand one behind the other: the highest `AGENTGLOT_DEPTH` that a child may get.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stderr_tail: 64 << 10,
            queued: 256 << 10,
            linger: Duration::from_millis(500),
            depth: 4,
        }
    }
}

/// How long each step of a stop may take before the next one is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// After stdin is closed (which is once what is queued has gone out; that counts too).
    pub close: Duration,
    /// After `SIGTERM` to the group.
    pub terminate: Duration,
    /// After `SIGKILL` to the group. Only a process that hangs in the kernel makes use of it.
    pub kill: Duration,
}

impl Steps {
    /// No patience at all.
    pub const NOW: Self = Self {
        close: Duration::ZERO,
        terminate: Duration::ZERO,
        kill: Duration::from_secs(1),
    };
}

impl Default for Steps {
    /// Together below five seconds, the time after which nothing of ours may be alive.
    fn default() -> Self {
        Self {
            close: Duration::from_millis(1500),
            terminate: Duration::from_millis(1500),
            kill: Duration::from_millis(500),
        }
    }
}

/// Who looks after a child if we die. See [`super::watch`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Watcher {
    /// Our own program, started anew. It has to call [`super::watch::serve_if_asked`] first thing in `main`.
    #[default]
    OurProgram,
    /// Another program that does, which is to say `agentglot`.
    Program(PathBuf),
    /// Nobody: the parent-death signal alone (Linux), or nothing.
    Nobody,
}
