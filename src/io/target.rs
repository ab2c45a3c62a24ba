use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::interrupt;

/// Where output goes.
#[derive(Debug)]
pub struct Target {
    file: File,
    name: String,
    /// The name that the file has until it is whole, and the one that it gets then.
    replacing: Option<(PathBuf, PathBuf)>,
}

impl Target {
    /// Standard output without the standard library's buffer.
    ///
    /// # Errors
    /// When there is none.
    pub fn stdout() -> io::Result<Self> {
        Ok(Self {
            file: raw_stdout()?,
            name: "standard output".to_owned(),
            replacing: None,
        })
    }

    /// A file, written under another name in the same folder until [`Self::commit`]. What is not a plain file (a device, a
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
                return Ok(Self { file, name, replacing: None });
            }
            Ok(about) => Some(about),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // A link stays a link: the file that it leads to is replaced.
        let path = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let (file, temporary) = beside(&path)?;
        let target = Self {
            file,
            name,
            replacing: Some((temporary, path)),
        };
        if let Some(old) = old {
            target.file.set_permissions(old.permissions())?;
        }
        Ok(target)
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
        self.file.flush()?;
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
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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
                interrupt::begun(&temporary);
                return Ok((file, temporary));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(unix)]
fn raw_stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn raw_stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
