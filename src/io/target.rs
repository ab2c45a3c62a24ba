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

/// Where the output of a log goes, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A file, or anything else that the user named.
    Named(PathBuf),
    /// A file of a folder that the user named, by its path from there: whatever stands there already, nobody meant it.
    InFolder {
        /// The folder.
        folder: PathBuf,
        /// The file.
        below: PathBuf,
    },
}

impl Output {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Named(path) => path.clone(),
            Self::InFolder { folder, below } => folder.join(below),
        }
    }

    /// Refuses a path that goes through links that nobody meant.
    fn check(&self) -> io::Result<()> {
        match self {
            Self::Named(path) => no_link(path),
            Self::InFolder { folder, below } => no_link_below(folder, &folder.join(below)),
        }
    }
}

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
    Program(Box<dyn Write + Send>),
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
            Self::Stdout(_) | Self::Program(_) | Self::File(_) => self.flush(),
            Self::Gzip(file) => file.try_finish(),
            Self::Zstd(file) => file.do_finish(),
        }
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Program(program) => program.write(bytes),
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
            Self::Program(program) => program.flush(),
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

    /// What a program takes that uses this as a library, in place of standard output.
    pub fn program(takes: impl Write + Send + 'static) -> Self {
        Self {
            to: To::Program(Box::new(takes)),
            name: "the output".to_owned(),
            replacing: None,
        }
    }

    /// A file, written under another name in the same folder until [`Self::commit`]; compressed if it is called `.gz` or `.zst`. What the user
    /// named and is not a plain file (a device, a pipe) is written as it is.
    ///
    /// # Errors
    /// Those of the system, and [`no_link`]'s.
    pub fn file(output: &Output) -> io::Result<Self> {
        output.check()?;
        let path = output.path();
        let name = path.display().to_string();
        let old = match fs::metadata(&path) {
            Ok(about) if about.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(about) if !about.is_file() => {
                if matches!(output, Output::InFolder { .. }) {
                    return Err(io::Error::new(
                        ErrorKind::InvalidInput,
                        "what has this name in the folder is no plain file",
                    ));
                }
                let file = OpenOptions::new().write(true).open(&path)?;
                return Ok(Self {
                    to: To::file(file, &path)?,
                    name,
                    replacing: None,
                });
            }
            Ok(about) => Some(about),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (file, temporary) = beside(&path, old.as_ref())?;
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

/// Refuses a path that is a link: what it leads to would be written, which may be anything if the folder is somebody else's. Those of the
/// system (`/dev/stdout`) lead where it says.
///
/// # Errors
/// [`ErrorKind::InvalidInput`].
pub fn no_link(path: &Path) -> io::Result<()> {
    let systems = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    if !systems && fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink()) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is a link, and links are not followed: name the file itself",
        ));
    }
    Ok(())
}

/// The same for everything between a folder and a path in it, both of which may not be there yet.
///
/// # Errors
/// [`ErrorKind::InvalidInput`].
pub fn no_link_below(folder: &Path, path: &Path) -> io::Result<()> {
    path.ancestors().take_while(|path| *path != folder).try_for_each(no_link)
}

/// A new file in the folder of `path`. In the place of an old one nobody may look into it, from the first moment, who may not look into that.
fn beside(path: &Path, old: Option<&fs::Metadata>) -> io::Result<(File, PathBuf)> {
    let mut how = OpenOptions::new();
    how.write(true).create_new(true);
    if let Some(old) = old {
        system::made_like(&mut how, old);
    }
    for n in 0..1000 {
        let temporary = path.with_file_name(format!(".agentglot-{}-{n}.part", std::process::id()));
        match interrupt::begin(&temporary, || how.open(&temporary)) {
            Ok(file) => {
                // Held as long as we live, where the file system knows of it.
                let _ = file.try_lock();
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
