//! How a run ended, and what can go wrong in the world outside.

use agentglot_adapters::detect::Unclear;
use agentglot_adapters::{Error, ErrorKind};

/// How a run ended, the worse ones last: of several outcomes the worst counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All understood. A reader that closed early is no error either.
    #[default]
    Clean,
    /// Done, but some input was damaged.
    Damaged,
    /// Wrong usage, or a dialect that could not be detected.
    Usage,
    /// Reading or writing failed.
    Failed,
}

impl Status {
    /// The exit code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Takes the worse of the two.
    pub fn worsen(&mut self, other: Self) {
        *self = (*self).max(other);
    }
}

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Which dialect a log is written in could not be told.
    #[error("{name}: {unclear}")]
    Unclear {
        /// The log.
        name: String,
        /// What was seen.
        unclear: Unclear,
    },
    /// A file could not be opened or read.
    #[error("{name}: cannot be read: {error}")]
    Read {
        /// The file.
        name: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file could not be made or written.
    #[error("{name}: cannot be written: {error}")]
    Write {
        /// The file.
        name: String,
        /// What the system says.
        error: std::io::Error,
    },
}

impl Failure {
    /// Why a log could not be read to its end.
    pub fn of_log(name: &str, error: Error) -> Self {
        let text = error.to_string();
        let name = name.to_owned();
        match error.into_kind() {
            ErrorKind::Io(error) => Self::Read { name, error },
            ErrorKind::Unclear(unclear) => Self::Unclear { name, unclear },
            _ => Self::Usage(text),
        }
    }

    /// Why standard output could not be written.
    pub fn of_stdout(error: std::io::Error) -> Self {
        let name = "standard output".to_owned();
        Self::Write { name, error }
    }

    /// The same where nothing takes a dialect: it says what can be done instead.
    #[must_use]
    pub fn without_from(self) -> Self {
        match self {
            Self::Unclear { name, unclear } if unclear.kind.is_none() && unclear.wrapped.is_none() => Self::Usage(format!(
                "{name}: the dialect could not be told; `agentglot convert --from DIALECT --to agentglot` makes a log of it that names its dialect"
            )),
            other => other,
        }
    }

    /// How a run ends that meets it.
    pub const fn status(&self) -> Status {
        match self {
            Self::Usage(_) | Self::Unclear { .. } => Status::Usage,
            Self::Read { .. } | Self::Write { .. } => Status::Failed,
        }
    }

    /// Whether it is only that nobody reads our output any more.
    pub fn is_closed_reader(&self) -> bool {
        matches!(self, Self::Write { error, .. } if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

#[cfg(all(unix, feature = "agent"))]
impl From<agentglot_agent::Error> for Failure {
    fn from(error: agentglot_agent::Error) -> Self {
        use agentglot_agent::Error;
        match error {
            Error::Usage(text) => Self::Usage(text),
            Error::Read { name, error } => Self::Read { name, error },
            Error::Write { name, error } => Self::Write { name, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts() {
        let mut status = Status::Clean;
        for (next, code) in [(Status::Damaged, 1), (Status::Failed, 3), (Status::Usage, 3), (Status::Clean, 3)] {
            status.worsen(next);
            assert_eq!(status.code(), code);
        }
    }
}
