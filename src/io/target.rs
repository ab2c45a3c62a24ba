use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::interrupt;
use crate::system;

/// Where output goes.
pub struct Target {
    to: To,
    name: String,
    /// The name that the file has until it is whole, and the one that it gets then.
    replacing: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("name", &self.name)
            .field("replacing", &self.replacing)
            .finish_non_exhaustive()
    }
}

enum To {
    Stdout(io::Stdout),
    File(File),
    Gzip(GzEncoder<File>),
    Zstd(zstd::stream::write::Encoder<'static, File>),
}

impl To {
    /// A file, compressed as its name says.
    fn file(file: File, path: &Path) -> io::Result<Self> {
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default()
            .to_ascii_lowercase();
        Ok(match ending.as_str() {
            "gz" => Self::Gzip(GzEncoder::new(file, Compression::default())),
            "zst" | "zstd" => Self::Zstd(zstd::stream::write::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            _ => Self::File(file),
        })
    }

    /// Writes what compressors hold.
    fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(_) | Self::File(_) => self.flush(),
            Self::Gzip(file) => file.try_finish(),
            Self::Zstd(file) => file.do_finish(),
        }
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Gzip(file) => file.write(bytes),
            Self::Zstd(file) => file.write(bytes),
            Self::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                let written = stdout.write(bytes)?;
                stdout.flush()?;
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Gzip(file) => file.flush(),
            Self::Zstd(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

impl Target {
    /// Standard output; nothing stays in the standard library's buffer.
    pub fn stdout() -> Self {
        Self {
            to: To::Stdout(io::stdout()),
            name: "standard output".to_owned(),
            replacing: None,
        }
    }

    /// A file, written under another name in the same folder until [`Self::commit`]; compressed if it is called `.gz` or `.zst`. What is not a plain file (a device, a
    /// pipe) is written as it is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn file(path: &Path) -> io::Result<Self> {
        let name = path.display().to_string();
        let old = match fs::metadata(path) {
            Ok(about) if about.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(about) if !about.is_file() => {
                let file = OpenOptions::new().write(true).open(path)?;
                return Ok(Self {
                    to: To::file(file, path)?,
                    name,
                    replacing: None,
                });
            }
            Ok(about) => Some(about),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // A link stays a link: the file that it leads to is replaced.
        let path = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let (file, temporary) = beside(&path)?;
        let permissions = old.map_or(Ok(()), |old| file.set_permissions(old.permissions()));
        // It goes with the target, whatever came of that.
        let target = Self {
            to: To::file(file, &path)?,
            name,
            replacing: Some((temporary, path)),
        };
        permissions.map(|()| target)
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All is written: the file gets its name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn commit(mut self) -> io::Result<()> {
        self.to.end()?;
        if let Some((temporary, path)) = &self.replacing {
            fs::rename(temporary, path)?;
            interrupt::done(temporary);
            self.replacing = None;
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.replacing {
            let _ = fs::remove_file(temporary);
            interrupt::done(temporary);
        }
    }
}

/// A new file in the folder of `path`.
fn beside(path: &Path) -> io::Result<(File, PathBuf)> {
    for n in 0..1000 {
        let temporary = path.with_file_name(format!(".agentglot-{}-{n}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                // Held as long as we live, where the file system knows of it.
                let _ = file.try_lock();
                interrupt::begun(&temporary);
                sweep(path.parent().unwrap_or(Path::new("")), &file);
                return Ok((file, temporary));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Takes away what others of us left in a folder that were killed: files of our user's whose owner has gone, and that nobody holds.
fn sweep(folder: &Path, ours: &File) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(".agentglot-")?.strip_suffix(".part")?.split_once('-'));
        let Some(owner) = owner.and_then(|(pid, _)| pid.parse::<u32>().ok()) else {
            continue;
        };
        let is_left = || -> io::Result<bool> {
            let about = entry.path().symlink_metadata()?;
            let gone = owner != std::process::id() && !system::may_live(owner);
            Ok(gone && about.is_file() && system::same_owner(&about, &ours.metadata()?) && File::open(entry.path())?.try_lock().is_ok())
        };
        if is_left().unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
