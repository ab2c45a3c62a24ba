//! Why a file operation failed.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file operation failed. Nothing was changed, unless it says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The path leads out of the workspace.
    #[error("{} is outside the workspace ({})", path.display(), root.display())]
    Outside {
        /// The path, absolute.
        path: PathBuf,
        /// The working folder.
        root: PathBuf,
    },
    /// There is no such file or folder.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// There is one already.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// A folder, where a file is wanted.
    #[error("{} is a directory", .0.display())]
    Folder(PathBuf),
    /// No folder, where one is wanted.
    #[error("{} is not a directory", .0.display())]
    NotFolder(PathBuf),
    /// A pipe, a socket, a device: what may never end, or do something when it is opened.
    #[error("{} is a {what}, not a regular file", path.display())]
    Special {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A rule of the session denies reading it.
    #[error("{} may not be read: a permission rule denies it", .0.display())]
    Forbidden(PathBuf),
    /// The system does not allow it.
    #[error("permission denied: {}", .0.display())]
    Denied(PathBuf),
    /// The file system cannot be written to.
    #[error("{} is on a read-only file system", .0.display())]
    ReadOnly(PathBuf),
    /// There is no room: the disk, a quota or the limit of a file's size.
    #[error("no space left to write {}", .0.display())]
    Full(PathBuf),
    /// The file is not what it was when it was read.
    #[error("{} has changed since it was read", .0.display())]
    Changed(PathBuf),
    /// The folder holds something.
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A name that no file can have.
    #[error("{} is not a possible file name", .0.display())]
    Name(PathBuf),
    /// More than can be worked on.
    #[error("{} has {size} bytes, more than {most}", path.display())]
    TooBig {
        /// The path.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The most bytes.
        most: u64,
    },
    /// The turn was stopped.
    #[error("the operation was cancelled")]
    Cancelled,
    /// Something else.
    #[error("{0}")]
    Other(String),
}

impl Fault {
    /// What an error of the system's means, for a path.
    pub(super) fn of(error: &Error, path: &Path) -> Self {
        let path = path.to_owned();
        match error.kind() {
            ErrorKind::NotFound => Self::Missing(path),
            ErrorKind::AlreadyExists => Self::Exists(path),
            ErrorKind::IsADirectory => Self::Folder(path),
            ErrorKind::NotADirectory => Self::NotFolder(path),
            // Said by the confinement itself, not by the system: a link was put there after the path was looked up.
            ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Changed(path),
            ErrorKind::PermissionDenied => Self::Denied(path),
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::Full(path),
            ErrorKind::DirectoryNotEmpty => Self::NotEmpty(path),
            ErrorKind::InvalidFilename | ErrorKind::InvalidInput => Self::Name(path),
            _ => Self::Other(format!("{}: {error}", path.display())),
        }
    }
}
