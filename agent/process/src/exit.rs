use std::fmt;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal with this number.
    Signal(i32),
}

impl Exit {
    /// Whether the exit code is 0.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Code(0))
    }

    /// The name of the signal that ended it, if it is one whose number is the same everywhere.
    pub const fn signal(self) -> Option<&'static str> {
        match self {
            Self::Code(_) => None,
            Self::Signal(number) => name(number),
        }
    }

    /// The exit code as shells tell it: 128 and the number for a signal.
    pub const fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(number) => 128 + number,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Code(code) => write!(f, "ended with exit code {code}"),
            Self::Signal(number) => match name(number) {
                Some(name) => write!(f, "was ended by signal {number} ({name})"),
                None => write!(f, "was ended by signal {number}"),
            },
        }
    }
}

/// The signals whose numbers are the same everywhere.
const fn name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// How far a stop had to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The program ended before anybody asked it to.
    #[default]
    ByItself,
    /// It ended when its stdin was closed.
    Closed,
    /// It ended on `SIGTERM`.
    Terminated,
    /// It had to be killed.
    Killed,
}

/// What there is to say about a program that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How it ended. `None` only when even `SIGKILL` did not end it in time, as happens to a process that hangs in the kernel, or when
    /// another part of this process took its status.
    pub exit: Option<Exit>,
    /// The last bytes that it wrote to stderr, at most [`super::Limits::stderr_tail`].
    pub stderr_tail: Vec<u8>,
    /// How many bytes it wrote to stderr in all.
    pub stderr_bytes: u64,
    /// How far the stop had to go.
    pub step: Step,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_it_ended() {
        assert_eq!(Exit::Code(3).to_string(), "ended with exit code 3");
        assert_eq!(Exit::Signal(9).to_string(), "was ended by signal 9 (SIGKILL)");
        assert_eq!(Exit::Signal(9).code(), 137);
        assert_eq!((Exit::Signal(9).signal(), Exit::Code(9).signal()), (Some("SIGKILL"), None));
        assert!(Exit::Code(0).is_success() && !Exit::Signal(0).is_success());
    }
}
