//! New files on their way to a name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::ErrorKind;

use agentglot_process::leftover;
use cap_std::fs::{Dir, OpenOptions};

/// A new file that has no name of its own yet, and is deleted if it gets none: by the next of us, if we are killed.
pub(super) struct Draft<'d> {
    folder: &'d Dir,
    name: String,
}

impl<'d> Draft<'d> {
    /// In the place of an old file nobody may look into it, from the first moment, who may not look into that.
    pub(super) fn create(folder: &'d Dir, old: Option<&File>) -> std::io::Result<(Self, File)> {
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(old) = old {
            use std::os::unix::fs::MetadataExt;
            // Until it has the old one's owner and group, for whom the other bits are meant.
            cap_std::fs::OpenOptionsExt::mode(&mut how, old.metadata()?.mode() & 0o700);
        }
        loop {
            let name = format!("{}{:016x}", leftover::beginning(), rand::random::<u64>());
            match folder.open_with(&name, &how) {
                Ok(file) => {
                    let file = file.into_std();
                    leftover::begun_in(&file, folder);
                    return Ok((Self { folder, name }, file));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a name, whoever has it.
    pub(super) fn name(mut self, name: &OsStr) -> std::io::Result<()> {
        self.folder.rename(&self.name, self.folder, name)?;
        self.name.clear();
        Ok(())
    }

    /// Takes a name that nobody has.
    pub(super) fn name_new(self, name: &OsStr) -> std::io::Result<()> {
        match self.folder.hard_link(&self.name, self.folder, name) {
            // The draft's own name goes with the draft.
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            // A file system without links.
            Err(_) if self.folder.symlink_metadata(name).is_err() => self.name(name),
            Err(_) => Err(ErrorKind::AlreadyExists.into()),
        }
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

/// Gives a new file the mode and, if we may, the owner of the old one.
#[cfg(unix)]
pub(super) fn take_after(old: &File, new: &File) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let (was, is) = (old.metadata()?, new.metadata()?);
    if was.uid() != is.uid() || was.gid() != is.gid() {
        // Only a privileged process may give files away; the group may be ours to choose.
        let _ = fchown(new, Some(was.uid()), Some(was.gid())).or_else(|_| fchown(new, None, Some(was.gid())));
    }
    new.set_permissions(was.permissions())
}

#[cfg(not(unix))]
pub(super) fn take_after(old: &File, new: &File) -> std::io::Result<()> {
    new.set_permissions(old.metadata()?.permissions())
}
