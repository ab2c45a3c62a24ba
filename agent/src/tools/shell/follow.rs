//! Runs one command to its end.

use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal as Kill;
use tokio::net::unix::pipe::Receiver;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use super::process::{Process, Streams};
use super::whole::{self, Whole};
use super::{CannotRun, Cause, Commands, GRACE, Kept, LINGER, LONGEST_FILE, Order, Ran};
use crate::tools::Progress;
use agentglot_process::file::read_regular;
use agentglot_process::{Exit, mark};

/// How much is read at once, and how often in a row before something else gets its turn.
const PIECE: usize = 64 << 10;
const PIECES: usize = 8;
/// The longest path of a folder that is taken over, in bytes.
const LONGEST_PATH: u64 = 16 << 10;

/// How long a killed shell may take to be gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells where bash ended, and is gone before the command can see it: sourced by way of `BASH_ENV`.
const HOOK: &str = r#"__agentglot_note=$AGENTGLOT_NOTE
unset AGENTGLOT_NOTE BASH_ENV
if [ -n "$AGENTGLOT_BASH_ENV" ]; then
  BASH_ENV=$AGENTGLOT_BASH_ENV
  export BASH_ENV
  . "$BASH_ENV"
fi
unset AGENTGLOT_BASH_ENV
trap 'pwd -P >|"$__agentglot_note"' EXIT
"#;

/// A command that runs.
#[derive(Debug)]
pub(crate) struct Running {
    process: Process,
    follow: Follow,
    note: Option<Note>,
    begun: Instant,
}

#[derive(Debug)]
struct Follow {
    timeout: Option<Duration>,
    merged: bool,
    /// Where the whole output goes, if it has more bytes than this.
    file: Option<(PathBuf, usize)>,
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
    kept: [Kept; 3],
    whole: Option<Whole>,
    total: u64,
    piece: Vec<u8>,
}

/// How far the stop of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    No,
    /// `SIGTERM` was sent.
    Asked,
    /// `SIGKILL` was sent.
    Killed,
}

impl Running {
    /// Starts a command.
    pub(crate) fn start(commands: &Commands, order: Order<'_>) -> Result<Self, CannotRun> {
        let begun = Instant::now();
        let folder = place(commands, order.folder)?;
        let note = if order.moves && commands.is_bash() {
            Some(Note::new(commands)?)
        } else {
            None
        };
        let more = note.as_ref().map(|note| note.variables(commands)).unwrap_or_default();
        let own = order.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // Ours come last, and hold.
        let more: Vec<(&str, &str)> = own.chain(more.iter().map(|(name, value)| (*name, value.as_str()))).collect();
        let command = order.command;
        let (mut follow, streams) = Follow::new(order)?;
        let mut process = Process::start(commands, command, &folder, &more, streams)?;
        process.be_thorough();
        follow.begin_file();
        Ok(Self {
            process,
            follow,
            note,
            begun,
        })
    }

    /// The process id of its shell.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Follows it to its end.
    pub(crate) async fn end(self, commands: &Commands, cancel: &CancellationToken, tell: &dyn Fn(Progress<'_>)) -> Ran {
        let Self {
            mut process,
            mut follow,
            note,
            begun,
        } = self;
        let id = process.id();
        let (exit, cause, left) = follow.follow(&mut process, cancel, tell).await;
        if cause == Cause::Itself {
            process.at_ease();
        } else {
            process.kill_all().await;
        }
        let exit = exit.or_else(|| process.exit());
        drop(process);
        let reset = note.and_then(|note| note.read(commands));
        let Follow { kept, whole, .. } = follow;
        let whole = match whole {
            Some(whole) => Some(whole.end().await.map_err(|error| error.to_string())),
            None => None,
        };
        let [stdout, stderr, both] = kept;
        Ran {
            exit,
            cause,
            stdout,
            stderr,
            both,
            whole,
            took: begun.elapsed(),
            id,
            reset,
            left,
        }
    }
}

/// The folder to run in. A session's folder that is gone is left for the root.
pub(crate) fn place(commands: &Commands, folder: Option<&Path>) -> Result<PathBuf, CannotRun> {
    if let Some(folder) = folder {
        let folder = commands.root.join(folder);
        return if folder.is_dir() { Ok(folder) } else { Err(CannotRun::Folder(folder)) };
    }
    let folder = commands.folder();
    if folder.is_dir() {
        return Ok(folder);
    }
    if !commands.root.is_dir() {
        return Err(CannotRun::Folder(commands.root.clone()));
    }
    commands.set_folder(commands.root.clone());
    Ok(commands.root.clone())
}

impl Follow {
    fn new(mut order: Order<'_>) -> Result<(Self, Streams), CannotRun> {
        if let Some((_, over)) = &order.whole {
            order.keep.0 = order.keep.0.max(*over);
        }
        let (head, tail) = order.keep;
        let (stdout, to_stdout) = pipe()?;
        let (stderr, to_stderr) = if order.merged {
            (None, to_stdout.try_clone().map_err(CannotRun::Start)?)
        } else {
            let (stderr, to_stderr) = pipe()?;
            (Some(stderr), to_stderr)
        };
        let follow = Self {
            stdout: Some(stdout),
            stderr,
            kept: [Kept::new(head, tail), Kept::new(head, tail), Kept::new(head, tail)],
            whole: None,
            total: 0,
            piece: vec![0; PIECE],
            timeout: order.timeout,
            merged: order.merged,
            file: order.whole,
        };
        let streams = Streams::Plain {
            stdout: to_stdout,
            stderr: to_stderr,
        };
        Ok((follow, streams))
    }

    /// A file for any output at all is there from the beginning.
    fn begin_file(&mut self) {
        if let Some((path, 0)) = &self.file {
            self.whole = Some(Whole::begin(path.clone(), Vec::new(), LONGEST_FILE));
        }
    }

    /// Until the shell is gone and its output has been read. How it ended, why, and whether something of it held the pipes.
    async fn follow(&mut self, process: &mut Process, cancel: &CancellationToken, tell: &dyn Fn(Progress<'_>)) -> (Option<Exit>, Cause, bool) {
        let mut deadline = self.timeout.map(|most| tokio::time::Instant::now() + most);
        let (mut stop, mut cause, mut exit) = (Stop::No, Cause::Itself, None);
        loop {
            let open = self.stdout.is_some() || self.stderr.is_some();
            if exit.is_some() && !open {
                return (exit, cause, false);
            }
            let has_room = self.whole.as_ref().is_none_or(Whole::has_room);
            let writes = self.whole.as_ref().is_some_and(Whole::is_writing);
            let until = deadline.unwrap_or_else(tokio::time::Instant::now);
            tokio::select! {
                biased;
                // First, for what ended before it was asked to, ended by itself.
                ended = process.ended(), if exit.is_none() => {
                    exit = Some(ended);
                    deadline = Some(tokio::time::Instant::now() + LINGER);
                }
                () = cancel.cancelled(), if stop == Stop::No && exit.is_none() => {
                    cause = Cause::Cancelled;
                    stop = Stop::Asked;
                    process.signal(Kill::TERM);
                    deadline = Some(tokio::time::Instant::now() + GRACE);
                }
                () = sleep_until(until), if deadline.is_some() => match (exit.is_some(), stop) {
                    // It is gone, and something of it still holds the pipes: what lies in them is read, the rest is killed.
                    (true, _) | (false, Stop::Killed) => {
                        // On a busy machine this may be the first time that they are read: then nobody holds them.
                        let left = self.rest(tell);
                        if left || cause != Cause::Itself {
                            process.signal(Kill::KILL);
                        }
                        if cause != Cause::Itself {
                            process.kill_all().await;
                        }
                        self.rest(tell);
                        return (exit, cause, left && cause == Cause::Itself);
                    }
                    (false, Stop::No) => {
                        cause = Cause::TimedOut;
                        stop = Stop::Asked;
                        process.signal(Kill::TERM);
                        deadline = Some(tokio::time::Instant::now() + GRACE);
                    }
                    (false, Stop::Asked) => {
                        stop = Stop::Killed;
                        process.kill_all().await;
                        deadline = Some(tokio::time::Instant::now() + PATIENCE);
                    }
                },
                () = step(self.whole.as_mut()), if writes => {}
                (out, err) = ready(self.stdout.as_ref(), self.stderr.as_ref()), if open && has_room => {
                    if out {
                        self.read(0, PIECES, tell);
                    }
                    if err {
                        self.read(1, PIECES, tell);
                    }
                }
            }
        }
    }

    /// Reads what lies in a pipe, at most so many pieces of it.
    fn read(&mut self, which: usize, pieces: usize, tell: &dyn Fn(Progress<'_>)) {
        for _ in 0..pieces {
            let stream = if which == 0 { &mut self.stdout } else { &mut self.stderr };
            let Some(pipe) = stream else { return };
            match pipe.try_read(&mut self.piece) {
                Ok(0) => *stream = None,
                Ok(read) => {
                    self.take(which, read, tell);
                    if self.whole.as_ref().is_some_and(|whole| !whole.has_room()) {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => *stream = None,
            }
        }
    }

    fn take(&mut self, which: usize, read: usize, tell: &dyn Fn(Progress<'_>)) {
        let bytes = &self.piece[..read];
        tell(if which == 0 { Progress::Stdout(bytes) } else { Progress::Stderr(bytes) });
        self.kept[which].push(bytes);
        let all = if self.merged { 0 } else { 2 };
        let before = self.total;
        self.total += read as u64;
        if let Some(whole) = &mut self.whole {
            whole.push(bytes);
        } else if let Some((path, over)) = &self.file
            && self.total > *over as u64
        {
            // So far everything is kept at the beginning.
            let head = if all == 0 { &self.kept[0] } else { &self.kept[2] };
            let before = usize::try_from(before).map_or(&[][..], |before| &head.head()[..before]);
            self.whole = Some(Whole::begin(path.clone(), [before, bytes].concat(), LONGEST_FILE));
        }
        if all == 2 {
            self.kept[2].push(bytes);
        }
    }

    /// Reads what lies in the pipes now. Whether anybody still holds them.
    fn rest(&mut self, tell: &dyn Fn(Progress<'_>)) -> bool {
        // A pipe holds a piece or two, unless somebody still writes.
        self.read(0, PIECES, tell);
        self.read(1, PIECES, tell);
        self.stdout.is_some() || self.stderr.is_some()
    }
}

async fn step(whole: Option<&mut Whole>) {
    if let Some(whole) = whole {
        whole.step().await;
    }
}

/// Waits until one of the pipes has something, or has ended: which.
async fn ready(stdout: Option<&Receiver>, stderr: Option<&Receiver>) -> (bool, bool) {
    match (stdout, stderr) {
        (Some(stdout), Some(stderr)) => {
            // Whoever writes much does not keep the other one waiting.
            tokio::select! {
                _ = stdout.readable() => (true, false),
                _ = stderr.readable() => (false, true),
            }
        }
        (Some(stdout), None) => {
            let _ = stdout.readable().await;
            (true, false)
        }
        (None, Some(stderr)) => {
            let _ = stderr.readable().await;
            (false, true)
        }
        (None, None) => std::future::pending().await,
    }
}

fn pipe() -> Result<(Receiver, OwnedFd), CannotRun> {
    let (reader, writer) = std::io::pipe().map_err(CannotRun::Start)?;
    let reader = Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(CannotRun::Start)?;
    Ok((reader, OwnedFd::from(writer)))
}

/// Where a shell writes the folder that it ends in.
#[derive(Debug)]
struct Note {
    hook: PathBuf,
    path: PathBuf,
}

impl Note {
    fn new(commands: &Commands) -> Result<Self, CannotRun> {
        whole::folder(&commands.notes).map_err(CannotRun::Start)?;
        // Not where commands may write: the next one will run it.
        let hook = commands.file("hooks", "bash-env").map_err(CannotRun::Start)?;
        match whole::create(&hook) {
            Ok(mut file) => file.write_all(HOOK.as_bytes()).map_err(CannotRun::Start)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(CannotRun::Start(error)),
        }
        Ok(Self {
            hook,
            path: commands.notes.join(mark()),
        })
    }

    fn variables(&self, commands: &Commands) -> Vec<(&'static str, String)> {
        let (Some(hook), Some(path)) = (self.hook.to_str(), self.path.to_str()) else {
            return Vec::new();
        };
        let mut all = vec![("BASH_ENV", hook.to_owned()), ("AGENTGLOT_NOTE", path.to_owned())];
        if let Some((_, theirs)) = commands.environment().iter().find(|(name, _)| name == "BASH_ENV") {
            all.push(("AGENTGLOT_BASH_ENV", theirs.clone()));
        }
        all
    }

    /// Moves the session to where the shell ended. If that is outside the workspace, it goes back to the root, which is returned.
    fn read(self, commands: &Commands) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        // The command knows the path, and may have put anything there.
        let mut told = read_regular(&self.path, LONGEST_PATH).ok()?;
        let _ = std::fs::remove_file(&self.path);
        if told.last() == Some(&b'\n') {
            told.pop();
        }
        let folder = PathBuf::from(std::ffi::OsString::from_vec(told));
        if !folder.is_absolute() || folder == commands.folder() {
            return None;
        }
        if commands.wall.folders().iter().any(|inside| folder.starts_with(inside)) {
            commands.set_folder(folder);
            return None;
        }
        commands.set_folder(commands.root.clone());
        Some(commands.root.clone())
    }
}
