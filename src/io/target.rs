use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::interrupt;

/// Where output goes.
#[derive(Debug)]
pub struct Target {
    to: To,
    name: String,
    /// The name that the file has until it is whole, and the one that it gets then.
    replacing: Option<(PathBuf, PathBuf)>,
}

#[derive(Debug)]
enum To {
    Stdout(io::Stdout),
    File(File),
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
                return Ok(Self {
                    to: To::File(file),
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
            to: To::File(file),
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
        self.flush()?;
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
        match &mut self.to {
            To::File(file) => file.write(bytes),
            To::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                let written = stdout.write(bytes)?;
                stdout.flush()?;
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file) => file.flush(),
            To::Stdout(stdout) => stdout.flush(),
        }
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
