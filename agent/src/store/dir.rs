//! Folders and files below a root. No link is followed, no name leads out of its folder, and what is made is for its user alone.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};

/// How deep a folder of ours may be to be removed as a whole.
const DEEPEST: usize = 16;

/// An open folder.
#[derive(Debug)]
pub(super) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

impl Dir {
    /// A root. The way to it is the user's own business: links in it are followed.
    pub(super) fn root(path: &Path, create: bool) -> io::Result<Self> {
        if create {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// The folder of this name in it.
    pub(super) fn sub(&self, name: &str, create: bool) -> io::Result<Self> {
        let name = plain(name)?;
        if create {
            match mkdirat(&self.fd, name, Mode::RWXU) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&self.fd, name, flags, Mode::empty())?;
        let path = self.path.join(name);
        Ok(Self { fd, path })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file to read it.
    pub(super) fn read(&self, name: &str) -> io::Result<File> {
        self.open(name, OFlags::RDONLY)
    }

    /// Opens a file to append to it, and to read what is there.
    pub(super) fn append(&self, name: &str, create: bool) -> io::Result<File> {
        let create = if create { OFlags::CREATE } else { OFlags::empty() };
        self.open(name, OFlags::RDWR | OFlags::APPEND | create)
    }

    fn open(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // A pipe of this name would be waited for, if it were not for `NONBLOCK`.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(openat(&self.fd, plain(name)?, flags, Mode::RUSR | Mode::WUSR)?);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"))
        }
    }

    /// Writes a whole file, with these rights: all of it is there, or what was there before.
    pub(super) fn replace(&self, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        let name = plain(name)?;
        let beside = format!(".{}.tmp", uuid::Uuid::new_v4().simple());
        let mut file = self.open(&beside, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        let rights = Mode::from_raw_mode(mode & 0o7777);
        let written = file
            .write_all(bytes)
            .and_then(|()| Ok(rustix::fs::fchmod(&file, rights)?))
            .and_then(|()| Ok(renameat(&self.fd, &*beside, &self.fd, name)?));
        if written.is_err() {
            let _ = unlinkat(&self.fd, &*beside, AtFlags::empty());
        }
        written
    }

    /// Whether the file of this name is this one.
    pub(super) fn holds(&self, name: &str, file: &File) -> bool {
        let (Ok(name), Ok(about)) = (plain(name), file.metadata()) else {
            return false;
        };
        statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| stat.st_dev == about.dev() && stat.st_ino == about.ino())
    }

    /// Whether there is something of this name, a link too.
    pub(super) fn has(&self, name: &str) -> bool {
        plain(name).is_ok_and(|name| statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    /// The names in it, with whether each is a folder. Names that are not UTF-8 are none of ours.
    pub(super) fn names(&self) -> io::Result<Vec<(String, bool)>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let folder = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => {
                    statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
                }
                _ => false,
            };
            names.push((name.to_owned(), folder));
        }
        Ok(names)
    }

    /// Removes a file, or a link.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.fd, plain(name)?, AtFlags::empty())?)
    }

    /// Removes a folder that is empty.
    pub(super) fn remove_empty(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.fd, plain(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder with everything in it; a link instead of one is removed itself.
    pub(super) fn remove_all(&self, name: &str) -> io::Result<()> {
        self.remove_below(plain(name)?, DEEPEST)
    }

    fn remove_below(&self, name: &OsStr, deep: usize) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => {
                let below = Self {
                    fd,
                    path: self.path.join(name),
                };
                if deep == 0 {
                    return Err(io::Error::other(format!("{}: folders are too deep", below.path.display())));
                }
                // Collected first: what is removed while a folder is read may shift what is read next.
                let entries: Vec<_> = rustix::fs::Dir::read_from(&below.fd)?.collect::<Result<_, _>>()?;
                for entry in entries {
                    let entry = OsStr::from_bytes(entry.file_name().to_bytes());
                    if entry != "." && entry != ".." {
                        below.remove_below(entry, deep - 1)?;
                    }
                }
                drop(below);
                Ok(unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
            }
            Err(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => Ok(unlinkat(&self.fd, name, AtFlags::empty())?),
            Err(error) => Err(error.into()),
        }
    }

    /// What was made or removed in it lasts.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.fd.as_fd())?)
    }
}

/// A name that is one step down and nothing else.
fn plain(name: &str) -> io::Result<&OsStr> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{name:?} is no name of a file")));
    }
    Ok(OsStr::new(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_are_not_followed_and_nothing_is_open_to_others() {
        let temp = tempfile::tempdir().unwrap();
        let root = Dir::root(&temp.path().join("a/b"), true).unwrap();
        let sub = root.sub("s", true).unwrap();
        drop(sub.append("f", true).unwrap());
        let mode = |path: &str| std::fs::metadata(temp.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a/b"), mode("a/b/s"), mode("a/b/s/f")), (0o700, 0o700, 0o600));
        std::fs::write(temp.path().join("secret"), "x").unwrap();
        symlink(temp.path().join("secret"), temp.path().join("a/b/l")).unwrap();
        symlink(temp.path(), temp.path().join("a/b/d")).unwrap();
        assert!(root.read("l").is_err());
        assert!(root.append("l", true).is_err());
        assert!(root.sub("d", true).is_err());
        for name in ["..", ".", "", "a/b", "/etc"] {
            assert!(root.read(name).is_err() && root.sub(name, true).is_err(), "{name}");
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, temp.path().join("a/b/pipe"), Mode::RWXU).unwrap();
        assert!(root.read("pipe").is_err());
        root.remove_all("d").unwrap();
        assert!(temp.path().join("secret").exists());
        root.remove_all("s").unwrap();
        assert!(!root.has("s"));
        root.replace("w", b"1", 0o600).unwrap();
        root.replace("w", b"22", 0o600).unwrap();
        assert_eq!(std::fs::read(temp.path().join("a/b/w")).unwrap(), b"22");
    }
}
