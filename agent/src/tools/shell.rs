//! Commands: a shell runs them in a session of its own, and nothing of them is left when they are over.
//!
//! [`Commands`] is what a session of the agent has of them: the working folder that `cd` changes, the environment, and (by
//! [`jobs`](super::jobs) and [`pty`](super::pty)) what runs in the background. [`Commands::run`] runs one and waits for it.
//!
//! **The end of a command** is the end of its shell. What the shell left behind in its process group is killed then; what it still holds
//! of the pipes is waited for no longer than [`LINGER`]. A time-out or a cancelled turn sends `SIGTERM` to the group, then `SIGKILL`, and
//! (Linux) to whatever left the group. Daemons, which left their group on purpose, live until the session ends. If we are killed, a
//! [watcher](agentglot_process::watch) sees to the same.
//!
//! Commands are not behind the wall that file tools are behind: they may do what their user may, unless they are [confined](super::confine).

use std::cell::{OnceCell, RefCell};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::confine::{Confine, NoLandlock, Rules};
use crate::tools::{Progress, ShellCommand, World};
use crate::workspace::Wall;
use agentglot_process::check;
use agentglot_process::mark;
use agentglot_process::{Exit, FAMILY, Watcher, sweep};

pub(crate) mod follow;
pub(crate) mod kept;
pub(crate) mod process;
/// How long a command may take: what the call asks for in milliseconds, up to a limit, or what is usual. At least one millisecond, for a
/// time-out of nothing would end everything at once.
pub fn time_limit(asked: Option<u64>, usual: Duration, longest: Duration) -> Duration {
    let asked = asked.filter(|most| *most > 0).map(Duration::from_millis);
    asked.unwrap_or(usual).min(longest)
}

#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod whole;

use follow::Running;
pub use kept::Kept;

/// How long what a shell started may go on writing after the shell itself has ended. Then it is killed.
pub const LINGER: Duration = Duration::from_millis(250);

/// How long a command has between `SIGTERM` and `SIGKILL`.
pub const GRACE: Duration = Duration::from_millis(400);

/// How many bytes of a long output go to a file at most.
pub const LONGEST_FILE: u64 = 256 << 20;

/// What all commands of a session have in common.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The shell, which takes `-c COMMAND`; otherwise `bash`, or `sh` where there is none.
    pub shell: Option<PathBuf>,
    /// Commands may write only here and in the folders of the workspace; anywhere if this is `None`.
    pub confine: Option<Confine>,
    /// What leaves its group on purpose, as daemons do, lives on when the session is over.
    pub keeps_daemons: bool,
    /// Who looks after commands if we die.
    pub watcher: Watcher,
}

/// The commands of one session. Dropping it kills what still runs.
#[derive(Debug)]
pub struct Commands {
    settings: Settings,
    wall: Arc<Wall>,
    root: PathBuf,
    environment: Arc<Vec<(String, String)>>,
    /// Where outputs are kept.
    scratch: PathBuf,
    /// Where a shell says in which folder it ended. Commands may write here, so nothing else is kept here.
    notes: PathBuf,
    folder: RefCell<PathBuf>,
    mark: String,
    shell: OnceCell<PathBuf>,
    watched: OnceCell<&'static str>,
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// For the shell.
    pub command: &'a str,
    /// Where; if `None`, in the session's [folder](Commands::folder).
    pub folder: Option<&'a Path>,
    /// Variables that it gets besides those of the session.
    pub env: &'a [(String, String)],
    /// The folder that the command ends in becomes the session's, if it is in the workspace.
    pub moves: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Stdout and stderr are one stream, in the order in which they were written, and all of it is [`Ran::stdout`]. Otherwise they are two,
    /// and their order is that in which they arrived, which is not always the one in which they were written.
    pub merged: bool,
    /// How many bytes of each stream are kept: so many of its beginning, and so many of its end.
    pub keep: (usize, usize),
    /// Where the whole output goes if it is longer than so many bytes, which [`Self::keep`] keeps at its beginning at least.
    pub whole: Option<(PathBuf, usize)>,
}

impl<'a> Order<'a> {
    /// A command with the usual bounds: two minutes, 64 KiB of each end, streams apart.
    pub const fn new(command: &'a str) -> Self {
        Self {
            command,
            folder: None,
            env: &[],
            moves: false,
            timeout: Some(Duration::from_secs(120)),
            merged: false,
            keep: (64 << 10, 64 << 10),
            whole: None,
        }
    }
}

/// A command that is over.
#[derive(Debug)]
pub struct Ran {
    /// How it ended; `None` if even `SIGKILL` did not end it, as happens to a process that hangs in the kernel.
    pub exit: Option<Exit>,
    /// Why.
    pub cause: Cause,
    /// What it wrote to stdout.
    pub stdout: Kept,
    /// What it wrote to stderr.
    pub stderr: Kept,
    /// Both, in the order in which they arrived; empty if they were merged.
    pub both: Kept,
    /// Where the whole output is and how many bytes the file has, if it was longer than asked for: or why there is no such file.
    pub whole: Option<Result<(PathBuf, u64), String>>,
    /// How long it took.
    pub took: Duration,
    /// The process id of its shell.
    pub id: u32,
    /// It ended outside the workspace: the session's folder is this one again.
    pub reset: Option<PathBuf>,
    /// It left processes behind that held its output open; they were killed.
    pub left: bool,
}

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// By itself.
    Itself,
    /// It took longer than it was allowed to.
    TimedOut,
    /// The turn was stopped.
    Cancelled,
}

impl Ran {
    /// Whether it ended by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        self.cause == Cause::Itself && self.exit.is_some_and(Exit::is_success)
    }

    /// The exit code as shells tell it.
    pub fn code(&self) -> i32 {
        self.exit.map_or(137, Exit::code)
    }
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum CannotRun {
    /// There is nothing to run.
    #[error("the command is empty")]
    Empty,
    /// No system takes a NUL.
    #[error("the command holds a NUL character")]
    Nul,
    /// The folder to run in.
    #[error("{} is not a folder that a command can run in", .0.display())]
    Folder(PathBuf),
    /// The system refuses.
    #[error("the command could not be started: {0}")]
    Start(#[source] io::Error),
    /// It may not run unconfined.
    #[error("{0}; nothing was run")]
    Landlock(#[from] NoLandlock),
}

impl Commands {
    /// The commands of a session. Nothing is started before the first of them.
    pub fn new(world: &World, settings: Settings) -> Rc<Self> {
        let root = world.wall.root().to_owned();
        Rc::new(Self {
            settings,
            wall: Arc::clone(&world.wall),
            folder: RefCell::new(root.clone()),
            root,
            environment: Arc::clone(&world.environment),
            notes: world.scratch.join("shell"),
            scratch: world.scratch.clone(),
            mark: mark(),
            shell: OnceCell::new(),
            watched: OnceCell::new(),
        })
    }

    /// The folder that commands run in.
    pub fn folder(&self) -> PathBuf {
        self.folder.borrow().clone()
    }

    /// A command as permissions are asked for it, if it begins in this folder or else in the session's.
    pub fn asked(&self, line: String, folder: Option<&Path>) -> ShellCommand {
        let path = self.environment.iter().find(|(name, _)| name == "PATH");
        ShellCommand {
            line,
            folder: follow::place(self, folder).ok().or(folder.map(Path::to_owned)),
            programs: path.map_or_else(Vec::new, |(_, path)| std::env::split_paths(path).collect()),
        }
    }

    /// Commands run here from now on.
    pub fn set_folder(&self, folder: PathBuf) {
        *self.folder.borrow_mut() = folder;
    }

    /// A new path for an output, in a folder of the session's own.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn file(&self, kind: &str, name: &str) -> io::Result<PathBuf> {
        let folder = self.scratch.join(kind);
        whole::folder(&folder)?;
        Ok(folder.join(name))
    }

    /// Runs a command and waits for its end. What it writes is told as it comes. When `cancel` is cancelled, it is ended; dropping this
    /// ends it too.
    ///
    /// # Errors
    /// When it was not run at all.
    pub async fn run(&self, order: Order<'_>, cancel: &CancellationToken, tell: &dyn Fn(Progress<'_>)) -> Result<Ran, CannotRun> {
        Ok(Running::start(self, order)?.end(self, cancel, tell).await)
    }

    /// Ends daemons that commands left, unless they are kept.
    pub async fn end(&self) {
        if self.watched.get().is_some() && !self.settings.keeps_daemons {
            let mark = self.mark.clone();
            let _ = tokio::task::spawn_blocking(move || sweep::sweep(&mark)).await;
        }
    }

    /// The program that runs commands, and whether it is bash.
    fn shell(&self) -> &Path {
        self.shell.get_or_init(|| {
            if let Some(shell) = &self.settings.shell {
                return shell.clone();
            }
            let path = self
                .environment
                .iter()
                .find(|(name, _)| name == "PATH")
                .map_or("", |(_, value)| value.as_str());
            let places = [PathBuf::from("/bin"), PathBuf::from("/usr/bin")];
            let found = places
                .into_iter()
                .chain(std::env::split_paths(OsStr::new(path)).filter(|place| place.is_absolute()))
                .map(|place| place.join("bash"));
            found
                .into_iter()
                .find(|shell| shell.is_file())
                .unwrap_or_else(|| PathBuf::from("/bin/sh"))
        })
    }

    fn is_bash(&self) -> bool {
        self.shell().file_name() == Some(OsStr::new("bash"))
    }

    fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The marks that a command carries: of whatever we descend from, of this process, of the session, its own.
    fn family(&self, mark: &str) -> Result<String, CannotRun> {
        let ours = std::env::var(FAMILY).unwrap_or_default();
        let family = if self.settings.keeps_daemons {
            format!("{ours}:{mark}")
        } else {
            let watched = self.watched.get_or_init(|| process::watched(&self.settings.watcher));
            format!("{ours}:{watched}:{}:{mark}", self.mark)
        };
        let family = family.trim_start_matches(':').to_owned();
        check(|| "the marks of our ancestors".to_owned(), OsStr::new(&family), FAMILY.len() + 1)
            .map_err(|error| CannotRun::Start(io::Error::other(error)))?;
        Ok(family)
    }

    fn rules(&self) -> Result<Option<Rules>, CannotRun> {
        let Some(confine) = &self.settings.confine else { return Ok(None) };
        whole::folder(&self.notes).map_err(CannotRun::Start)?;
        let folders = self.wall.folders();
        let confine = folders.into_iter().fold(confine.clone().and(&self.notes), |all, folder| all.and(folder));
        Ok(Some(confine.rules()?))
    }

    /// Checks a command, and puts one that is too long for an argument into a file.
    fn script(&self, command: &str) -> Result<Option<PathBuf>, CannotRun> {
        if command.trim().is_empty() {
            return Err(CannotRun::Empty);
        }
        if command.contains('\0') {
            return Err(CannotRun::Nul);
        }
        if process::fits(command) {
            return Ok(None);
        }
        let path = self.file("scripts", &format!("{}.sh", mark())).map_err(CannotRun::Start)?;
        let mut file = whole::create(&path).map_err(CannotRun::Start)?;
        io::Write::write_all(&mut file, command.as_bytes()).map_err(CannotRun::Start)?;
        Ok(Some(path))
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        if self.watched.get().is_some() && !self.settings.keeps_daemons {
            let mark = std::mem::take(&mut self.mark);
            // Without a thread the watcher finds it when we end.
            let _ = std::thread::Builder::new().name("sweeper".to_owned()).spawn(move || sweep::sweep(&mark));
        }
    }
}
