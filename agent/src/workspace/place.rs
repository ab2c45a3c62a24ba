//! A file or folder of the workspace, there or not, and what can be done with it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};
use tokio_util::sync::CancellationToken;

use super::draft::{Draft, take_after};
use super::stamp::sha256;
use super::{Fault, Folder, HASHED_UP_TO, Limits, ReadRules, Stamp};

/// A file or folder of the workspace, there or not.
#[derive(Clone)]
pub struct Place {
    folder: Arc<Folder>,
    /// Its path in the folder, free of links; empty for the folder itself.
    inside: PathBuf,
    real: PathBuf,
    named: PathBuf,
    read_rules: ReadRules,
    limits: Limits,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link that was not followed.
    Link,
    /// A pipe, a socket, a device: which.
    Special(&'static str),
}

/// What the system says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub size: u64,
    /// When it was written last, where the system says so.
    pub modified: Option<SystemTime>,
    /// Device and inode.
    pub id: (u64, u64),
}

/// What has to be true of a file that is written.
#[derive(Clone, Copy, Debug)]
pub enum Guard<'a> {
    /// There is none yet.
    New,
    /// It looks as it did.
    Same(&'a Stamp),
    /// Nothing.
    Anything,
}

/// What is in a folder.
struct Entry {
    name: OsString,
    kind: Kind,
}

/// Two places are the same when they are reached by the same path and mean the same file.
impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.real == other.real && self.named == other.named
    }
}

impl Eq for Place {}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Place").field(&self.real).finish()
    }
}

impl Place {
    pub(super) fn new(folder: Arc<Folder>, inside: PathBuf, (named, real): (PathBuf, PathBuf), read_rules: ReadRules, limits: Limits) -> Self {
        Self {
            folder,
            inside,
            real,
            named,
            read_rules,
            limits,
        }
    }

    /// Its absolute path, free of links.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// The path by which it was asked for, absolute, without `.` and `..`.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// How much is looked through.
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// What the system says of it; links are not followed, for the path has none.
    ///
    /// # Errors
    /// [`Fault::Missing`] when nothing is there.
    pub fn stat(&self) -> Result<Stat, Fault> {
        let (parent, name) = self.parent()?;
        self.stat_in(&parent, name)
    }

    /// The same; nothing there is no error.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn stat_if_there(&self) -> Result<Option<Stat>, Fault> {
        match self.stat() {
            Ok(stat) => Ok(Some(stat)),
            Err(Fault::Missing(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Opens a regular file to read it.
    ///
    /// # Errors
    /// [`Fault::Folder`] and [`Fault::Special`] for anything else; [`Fault::Forbidden`].
    pub fn open(&self) -> Result<(File, Stat), Fault> {
        self.not_denied()?;
        let (file, stat) = self.open_unasked()?;
        self.read_rules.check(&file, stat.id, &self.named)?;
        Ok((file, stat))
    }

    /// The same for what is not shown to anybody.
    fn open_unasked(&self) -> Result<(File, Stat), Fault> {
        let (parent, name) = self.parent()?;
        self.open_in(&parent, name, OpenOptions::new().read(true))
    }

    /// What a rule says of the path alone comes before what is there.
    fn not_denied(&self) -> Result<(), Fault> {
        if self.read_rules.denies(&self.real) || self.read_rules.denies(&self.named) {
            return Err(Fault::Forbidden(self.named.clone()));
        }
        Ok(())
    }

    /// Opens a regular file below this folder by its path from here, in one step: links may be followed, but not out of the folder of
    /// the workspace.
    ///
    /// # Errors
    /// The system's, when it is no regular file, and when a rule denies reading it.
    pub fn open_below(&self, path: &Path) -> std::io::Result<(File, Stat)> {
        let mut how = OpenOptions::new();
        how.read(true);
        let file = self.folder.handle.open_with(self.inside.join(path), unblocked(&mut how))?;
        let about = stat(&file.metadata()?);
        if about.kind != Kind::File {
            return Err(ErrorKind::InvalidInput.into());
        }
        let file = file.into_std();
        let whole = self.real.join(path);
        self.read_rules.check(&file, about.id, &whole).map_err(std::io::Error::other)?;
        Ok((file, about))
    }

    /// Reads a regular file of at most so many bytes.
    ///
    /// # Errors
    /// [`Fault::TooBig`] when it has more.
    pub fn read(&self, most: u64) -> Result<(Vec<u8>, Stamp), Fault> {
        let (file, stat) = self.open()?;
        self.read_all(file, stat, most)
    }

    /// Writes a file as a whole, and the folders above it where they are missing. Gives how it looks now.
    ///
    /// # Errors
    /// [`Fault::Exists`] and [`Fault::Changed`] by the guard. The file is then, and after every other fault, what it was.
    pub fn write(&self, content: &[u8], guard: Guard<'_>) -> Result<Stamp, Fault> {
        let (parent, name) = self.parent_made()?;
        let before = match self.stat_in(&parent, name) {
            Ok(stat) => Some(stat),
            Err(Fault::Missing(_)) => None,
            Err(fault) => return Err(fault),
        };
        match (guard, &before) {
            (Guard::New, Some(_)) => return Err(Fault::Exists(self.named.clone())),
            (Guard::Same(_), None) => return Err(Fault::Changed(self.named.clone())),
            _ => {}
        }
        // Whoever may not write the file may not replace it either.
        let old = match &before {
            Some(_) => Some(self.open_in(&parent, name, OpenOptions::new().write(true))?.0),
            None => None,
        };
        let (draft, mut file) = Draft::create(&parent, old.as_ref()).map_err(|error| self.fault(&error))?;
        let written = file.write_all(content).and_then(|()| {
            if let Some(old) = &old {
                take_after(old, &file)?;
            }
            file.sync_data()
        });
        written.map_err(|error| self.fault(&error))?;
        drop(file);
        if let Guard::Same(stamp) = guard
            && !self.is_still(stamp)?
        {
            return Err(Fault::Changed(self.named.clone()));
        }
        match guard {
            Guard::New => draft.name_new(name),
            _ => draft.name(name),
        }
        .map_err(|error| self.fault(&error))?;
        Ok(Stamp::of(self.stat_in(&parent, name)?, content))
    }

    /// Whether the file looks as it did: by what the system says of it, or else by its content.
    ///
    /// # Errors
    /// When that cannot be told. A file that is gone is not the same.
    pub fn is_still(&self, stamp: &Stamp) -> Result<bool, Fault> {
        let Some(stat) = self.stat_if_there()? else { return Ok(false) };
        let Some(hash) = stamp.hash else { return Ok(stat == stamp.stat) };
        if stat.size != stamp.stat.size || stat.kind != Kind::File || stat.size > HASHED_UP_TO {
            return Ok(false);
        }
        // Times may lie: two writes within a clock's tick have the same.
        let (file, stat) = self.open_unasked()?;
        let (content, _) = self.read_all(file, stat, HASHED_UP_TO)?;
        Ok(sha256(&content) == hash)
    }

    /// Deletes a file, or a link.
    ///
    /// # Errors
    /// [`Fault::Folder`] for a folder.
    pub fn delete_file(&self) -> Result<(), Fault> {
        let (parent, name) = self.parent()?;
        let stat = self.stat_in(&parent, name)?;
        if stat.kind == Kind::Folder {
            return Err(Fault::Folder(self.named.clone()));
        }
        parent.remove_file(name).map_err(|error| self.fault(&error))
    }

    /// Deletes a folder: an empty one, or with all that is in it. Links in it are deleted, not followed.
    ///
    /// # Errors
    /// [`Fault::NotEmpty`]; [`Fault::Other`] for a folder of the workspace itself. What was deleted by then is gone.
    pub fn delete_folder(&self, all: bool, cancel: &CancellationToken) -> Result<(), Fault> {
        if self.inside.as_os_str().is_empty() {
            return Err(Fault::Other(format!("{} is the workspace itself", self.named.display())));
        }
        let (parent, name) = self.parent()?;
        if self.stat_in(&parent, name)?.kind != Kind::Folder {
            return Err(Fault::NotFolder(self.named.clone()));
        }
        if all {
            self.clear(&parent, name, cancel)?;
        }
        parent.remove_dir(name).map_err(|error| self.fault(&error))
    }

    /// Makes a folder; with `parents`, those above it too.
    ///
    /// # Errors
    /// [`Fault::Exists`] when something is there; [`Fault::Missing`] without its parent.
    pub fn make_folder(&self, parents: bool) -> Result<(), Fault> {
        let (parent, name) = if parents { self.parent_made()? } else { self.parent()? };
        if name == "." {
            return Err(Fault::Exists(self.named.clone()));
        }
        parent.create_dir(name).map_err(|error| self.fault(&error))
    }

    /// Opens a folder, to be the working folder of a program.
    ///
    /// # Errors
    /// [`Fault::NotFolder`] for anything else.
    pub fn open_folder(&self) -> Result<File, Fault> {
        let folder = self.folder.handle.open_dir(self.inside_or_dot());
        folder.map(Dir::into_std_file).map_err(|error| self.fault(&error))
    }

    /// What a search below this folder leaves out.
    pub(crate) fn read_rules(&self) -> &ReadRules {
        &self.read_rules
    }

    fn inside_or_dot(&self) -> &Path {
        if self.inside.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &self.inside
        }
    }

    /// Its folder, opened, and its name there.
    fn parent(&self) -> Result<(Dir, &OsStr), Fault> {
        let (above, name) = self.split();
        let parent = self.folder.dir(above, false).map_err(|error| self.fault(&error))?;
        Ok((parent, name))
    }

    /// The same; the folders are made where they are missing.
    fn parent_made(&self) -> Result<(Dir, &OsStr), Fault> {
        match self.parent() {
            Err(Fault::Missing(_)) => {
                let (above, name) = self.split();
                let parent = self.folder.dir(above, true).map_err(|error| self.fault(&error))?;
                Ok((parent, name))
            }
            other => other,
        }
    }

    fn split(&self) -> (&Path, &OsStr) {
        let above = self.inside.parent().filter(|above| !above.as_os_str().is_empty());
        (above.unwrap_or(Path::new(".")), self.inside.file_name().unwrap_or(OsStr::new(".")))
    }

    fn stat_in(&self, parent: &Dir, name: &OsStr) -> Result<Stat, Fault> {
        let about = parent.symlink_metadata(name).map_err(|error| self.fault(&error))?;
        Ok(stat(&about))
    }

    fn open_in(&self, parent: &Dir, name: &OsStr, how: &OpenOptions) -> Result<(File, Stat), Fault> {
        self.regular(self.stat_in(parent, name)?.kind)?;
        let file = parent.open_with(name, itself(&mut how.clone())).map_err(|error| self.fault(&error))?;
        let stat = stat(&file.metadata().map_err(|error| self.fault(&error))?);
        self.regular(stat.kind)?;
        Ok((file.into_std(), stat))
    }

    fn regular(&self, kind: Kind) -> Result<(), Fault> {
        match kind {
            Kind::File => Ok(()),
            Kind::Folder => Err(Fault::Folder(self.named.clone())),
            // There was none when the path was looked up.
            Kind::Link => Err(Fault::Changed(self.named.clone())),
            Kind::Special(what) => Err(Fault::Special {
                path: self.named.clone(),
                what,
            }),
        }
    }

    fn read_all(&self, file: File, stat: Stat, most: u64) -> Result<(Vec<u8>, Stamp), Fault> {
        let too_big = |size| Fault::TooBig {
            path: self.named.clone(),
            size,
            most,
        };
        if stat.size > most {
            return Err(too_big(stat.size));
        }
        let mut content = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default() + 1);
        file.take(most.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| self.fault(&error))?;
        if content.len() as u64 > most {
            return Err(too_big(content.len() as u64));
        }
        let stamp = Stamp::of(stat, &content);
        Ok((content, stamp))
    }

    /// Empties a folder. No recursion: a tree may be deep.
    fn clear(&self, parent: &Dir, name: &OsStr, cancel: &CancellationToken) -> Result<(), Fault> {
        let fault = |error| self.fault(&error);
        let open = |parent: &Dir, name: &OsStr| -> Result<(Dir, Vec<Entry>), Fault> {
            // No link: one could have been put there by now.
            if parent.symlink_metadata(name).map_err(fault)?.is_symlink() {
                return Err(Fault::Changed(self.named.clone()));
            }
            let folder = parent.open_dir(name).map_err(fault)?;
            let entries = folder.entries().map_err(fault)?;
            let entries = entries.map(|entry| {
                let entry = entry?;
                Ok(Entry {
                    kind: kind(entry.file_type()?),
                    name: entry.file_name(),
                })
            });
            let entries = entries.collect::<std::io::Result<_>>().map_err(fault)?;
            Ok((folder, entries))
        };
        let (folder, entries) = open(parent, name)?;
        let mut open_folders = vec![(folder, entries, name.to_owned())];
        while let Some((folder, entries, _)) = open_folders.last_mut() {
            if cancel.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            match entries.pop() {
                Some(entry) if entry.kind == Kind::Folder => {
                    let (inner, inner_entries) = open(folder, &entry.name)?;
                    open_folders.push((inner, inner_entries, entry.name));
                }
                Some(entry) => folder.remove_file(&entry.name).map_err(fault)?,
                None => {
                    let done = open_folders.pop();
                    if let (Some((above, ..)), Some((.., name))) = (open_folders.last(), done) {
                        above.remove_dir(name).map_err(fault)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn fault(&self, error: &std::io::Error) -> Fault {
        Fault::of(error, &self.named)
    }
}

/// A pipe that takes a file's place just now must not hold us up.
fn unblocked(how: &mut OpenOptions) -> &OpenOptions {
    flags(how, rustix::fs::OFlags::NONBLOCK)
}

/// The same where a link that takes its place just now must not lead elsewhere.
fn itself(how: &mut OpenOptions) -> &OpenOptions {
    flags(how, rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW)
}

fn flags(how: &mut OpenOptions, flags: rustix::fs::OFlags) -> &OpenOptions {
    use cap_std::fs::OpenOptionsExt;
    how.custom_flags(flags.bits().cast_signed());
    how
}

fn stat(about: &Metadata) -> Stat {
    #[cfg(unix)]
    let id = {
        use cap_std::fs::MetadataExt;
        (about.dev(), about.ino())
    };
    #[cfg(not(unix))]
    let id = (0, 0);
    Stat {
        kind: kind(about.file_type()),
        size: about.len(),
        modified: about.modified().ok().map(cap_std::time::SystemTime::into_std),
        id,
    }
}

fn kind(of: FileType) -> Kind {
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt;
        if of.is_fifo() {
            return Kind::Special("named pipe");
        } else if of.is_socket() {
            return Kind::Special("socket");
        } else if of.is_block_device() || of.is_char_device() {
            return Kind::Special("device");
        }
    }
    if of.is_file() {
        Kind::File
    } else if of.is_dir() {
        Kind::Folder
    } else if of.is_symlink() {
        Kind::Link
    } else {
        Kind::Special("special file")
    }
}
