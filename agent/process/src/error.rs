use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::{DEPTH, MAX_ARGUMENT};

/// Why a program was not found. Paths are as they were looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No folder of `PATH` holds it.
    #[error("the program {name:?} is in no folder of PATH: install it, or give the path to it")]
    NotInPath {
        /// The name.
        name: OsString,
    },
    /// There is no such file.
    #[error("{}: there is no such program: correct the path, or install the program", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{}: is a folder, not a program: give the path to the program in it", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// It may not be run.
    #[error("{}: may not be run: `chmod +x` makes it a program", path.display())]
    NotExecutable {
        /// The path.
        path: PathBuf,
    },
    /// It is agentglot under that name.
    #[error("{}: is agentglot itself, and starting it would go round in circles: give the path to the real program", path.display())]
    Ourselves {
        /// The path.
        path: PathBuf,
    },
    /// The system does not let us look.
    #[error("{}: cannot be looked at ({kind}): correct the permissions of the folders above it", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        kind: io::ErrorKind,
    },
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It was not found.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// Too many of us stand one behind the other.
    #[error("{DEPTH} is {depth} already: agentglot starts itself over and over; give the path to the real program")]
    TooDeep {
        /// How many of us there are.
        depth: u32,
    },
    /// The environment variable that counts us does not hold a number.
    #[error("{DEPTH} is {value:?}, which is not a number: unset it")]
    BadDepth {
        /// What it holds.
        value: OsString,
    },
    /// An argument, a variable, the program's name or the folder holds a NUL, which no program can be given.
    #[error("{what} holds a NUL byte, which cannot be passed to a program: remove it")]
    Nul {
        /// Which one.
        what: String,
    },
    /// An argument or variable is longer than [`MAX_ARGUMENT`].
    #[error("{what} has {bytes} bytes, more than the {MAX_ARGUMENT} that the system takes: shorten it, or pass it by stdin or in a file")]
    TooLong {
        /// Which one.
        what: String,
        /// Its length.
        bytes: usize,
    },
    /// The folder to run in is not there.
    #[error("{}: the program cannot run in this folder: it is not there, or is no folder; make it or name another", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Our own program cannot be used as the watcher.
    #[error("this program does not serve as the watcher of its children: call child::watch::serve_if_asked first thing in main")]
    NoWatcher,
    /// The watcher did not start.
    #[error("{}: the watcher of children did not start: {error}; {}", path.display(), mend(error))]
    Watcher {
        /// Its program.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The system did not start the program.
    #[error("{}: did not start: {error}; {}", path.display(), mend(error))]
    Spawn {
        /// The program.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The pipes or signals could not be set up.
    #[error("the pipes to a program cannot be set up: {error}; {}", mend(error))]
    Setup {
        /// What the system says.
        error: io::Error,
    },
}

/// What to do about an error of the system.
fn mend(error: &io::Error) -> &'static str {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        // The file itself is there: it was looked up.
        Some(Errno::NOENT) => "the interpreter that its first line names, or its loader, is missing: install it",
        Some(Errno::NOEXEC) => "it is no program for this machine: a script needs `#!` and its interpreter in the first line",
        Some(Errno::TOOBIG) => "arguments and environment are too long together: pass less, or by stdin",
        Some(Errno::MFILE | Errno::NFILE) => "too many files are open: raise `ulimit -n` or run fewer sessions",
        Some(Errno::AGAIN | Errno::NOMEM) => "there is no room for one more process: raise `ulimit -u` or run fewer sessions",
        Some(Errno::ACCESS | Errno::PERM) => "the system forbids it: look at its permissions and at how its file system is mounted",
        Some(Errno::TXTBSY) => "somebody is writing to it: try again",
        _ => "try again, or run it by hand to see more",
    }
}
