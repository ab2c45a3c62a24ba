//! What `.gitignore` and its like leave out of a folder.
//!
//! The files are read here and not by the library that knows their rules: a folder may come from anybody, and under these names may
//! stand a pipe, a device or a file without end.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use agentglot_process::file::read_regular;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::Override;
use ignore::types::Types;

/// The largest file of rules that counts, in bytes.
pub const LARGEST: u64 = 256 << 10;
/// The largest file by which git says where a folder of its own lies, in bytes.
const POINTER: u64 = 4 << 10;
/// So many folders are remembered at a time.
const REMEMBERED: usize = 100_000;

/// Which kinds of files say what is left out.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// `.ignore`, and what git heeds: `.gitignore`, `.git/info/exclude`, the user's own file. Those of folders above count too.
    pub usual: bool,
    /// Others with such rules: their names. They come before the usual ones.
    pub more: Vec<String>,
    /// What has a name with a dot before it is left out.
    pub hidden: bool,
    /// Globs that come before all of these.
    pub globs: Option<Override>,
    /// Only files of these types.
    pub types: Option<Types>,
}

/// What is left out of a folder, wherever in it.
#[derive(Debug)]
pub struct Ignored {
    root: PathBuf,
    wanted: Wanted,
    /// The user's own rules for everything that git has.
    own: Gitignore,
    folders: RwLock<HashMap<Box<[u8]>, Arc<Folder>>>,
}

/// The rules of a folder, and those above it. A folder without any has those of the one above.
#[derive(Debug)]
struct Folder {
    above: Option<Arc<Self>>,
    more: Gitignore,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// The top of a work tree: what git heeds above it is another's.
    is_top: bool,
    /// It is one, or lies in one.
    in_git: bool,
}

impl Ignored {
    /// For what lies below a folder, whose path is absolute and free of links.
    pub fn new(root: &Path, wanted: Wanted) -> Self {
        let own = if wanted.usual { users_own(root) } else { Gitignore::empty() };
        Self {
            root: root.to_owned(),
            wanted,
            own,
            folders: RwLock::default(),
        }
    }

    /// Whether something below the folder is left out, by rules about itself. What lies in a folder that is left out is left out too, which
    /// is for whoever goes through folders to heed.
    pub fn leaves_out(&self, path: &Path, is_folder: bool) -> bool {
        if let Some(globs) = &self.wanted.globs {
            match globs.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        let rules = path
            .parent()
            .and_then(|above| self.folder(above))
            .map_or(Match::None, |folder| self.matched(&folder, path, is_folder));
        if rules.is_ignore() {
            return true;
        }
        let mut wanted = rules.is_whitelist();
        if let Some(types) = &self.wanted.types {
            match types.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => wanted = true,
                Match::None => {}
            }
        }
        self.wanted.hidden && !wanted && path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."))
    }

    /// What the rules say: each kind of file by the innermost folder that says something, the kinds in their order.
    fn matched(&self, folder: &Arc<Folder>, path: &Path, is_folder: bool) -> Match<()> {
        let (mut more, mut ignore, mut git, mut exclude) = (Match::None, Match::None, Match::None, Match::None);
        let (mut at, mut beyond_top) = (Some(folder), !folder.in_git);
        while let Some(folder) = at {
            let ask = |known: &mut Match<()>, rules: &Gitignore| {
                if known.is_none() {
                    *known = rules.matched(path, is_folder).map(|_| ());
                }
            };
            ask(&mut more, &folder.more);
            ask(&mut ignore, &folder.ignore);
            if !beyond_top {
                ask(&mut git, &folder.git);
                ask(&mut exclude, &folder.exclude);
            }
            beyond_top |= folder.is_top;
            at = folder.above.as_ref();
        }
        let own = if folder.in_git {
            self.own.matched(path, is_folder).map(|_| ())
        } else {
            Match::None
        };
        more.or(ignore).or(git).or(exclude).or(own)
    }

    /// The rules of a folder; `None` where there are none at all.
    fn folder(&self, path: &Path) -> Option<Arc<Folder>> {
        if !self.wanted.usual && self.wanted.more.is_empty() {
            return None;
        }
        let key = path.as_os_str().as_bytes();
        let known = self.folders.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if known.is_some() {
            return known;
        }
        // Those above the root count where the usual rules do.
        let above = match path.parent() {
            Some(above) if self.wanted.usual || path.starts_with(&self.root) && path != self.root => self.folder(above),
            _ => None,
        };
        let read = Arc::new(self.read(path, above.clone()));
        let has_own = read.is_top || [&read.more, &read.ignore, &read.git, &read.exclude].iter().any(|rules| !rules.is_empty());
        let folder = match above {
            Some(above) if !has_own => above,
            _ => read,
        };
        let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        if folders.len() >= REMEMBERED {
            folders.clear();
        }
        folders.insert(key.into(), folder.clone());
        Some(folder)
    }

    fn read(&self, path: &Path, above: Option<Arc<Folder>>) -> Folder {
        let more: Vec<PathBuf> = self.wanted.more.iter().map(|name| path.join(name)).collect();
        let mut folder = Folder {
            above,
            more: rules(path, &more),
            ignore: Gitignore::empty(),
            git: Gitignore::empty(),
            exclude: Gitignore::empty(),
            is_top: false,
            in_git: false,
        };
        if self.wanted.usual {
            let git = path.join(".git");
            folder.ignore = rules(path, &[path.join(".ignore")]);
            folder.git = rules(path, &[path.join(".gitignore")]);
            if let Ok(about) = git.metadata() {
                folder.is_top = true;
                if let Some(git) = own_folder(path, git, about.is_dir()) {
                    folder.exclude = rules(path, &[git.join("info/exclude")]);
                }
            } else {
                folder.is_top = path.join(".jj").exists();
            }
        }
        folder.in_git = folder.is_top || folder.above.as_ref().is_some_and(|above| above.in_git);
        folder
    }
}

/// The rules that some files say for a folder; of two that are about the same file the last counts. A file that cannot be read says none.
pub fn rules(folder: &Path, files: &[PathBuf]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for file in files {
        let text = match read_regular(file, LARGEST) {
            Ok(text) => text,
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    tracing::warn!("{} does not count: {error}", file.display());
                }
                continue;
            }
        };
        // What stands behind a line that is no text does not count, as in the library.
        let whole = match std::str::from_utf8(&text) {
            Ok(text) => text,
            Err(error) => {
                let valid = &text[..error.valid_up_to()];
                let lines = memchr::memrchr(b'\n', valid).map_or(0, |end| end + 1);
                std::str::from_utf8(&valid[..lines]).unwrap_or_default()
            }
        };
        let whole = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        for line in whole.lines() {
            // One that makes no sense is passed over.
            let _ = builder.add_line(Some(file.clone()), line);
        }
    }
    builder.build().unwrap_or_else(|error| {
        tracing::warn!("the rules for {} do not count: {error}", folder.display());
        Gitignore::empty()
    })
}

/// The user's own rules, which git's configuration names.
fn users_own(root: &Path) -> Gitignore {
    match ignore::gitignore::gitconfig_excludes_path() {
        Some(file) => rules(root, &[file]),
        None => Gitignore::empty(),
    }
}

/// Where git keeps what all work trees of a repository share. In a work tree that was added, a file says where.
fn own_folder(path: &Path, git: PathBuf, is_folder: bool) -> Option<PathBuf> {
    if is_folder {
        return Some(git);
    }
    let line = |file: &Path| {
        let text = read_regular(file, POINTER).ok()?;
        let line = text.split(|byte| *byte == b'\n').next()?;
        Some(OsStr::from_bytes(line.strip_suffix(b"\r").unwrap_or(line)).to_owned())
    };
    let pointer = line(&git)?;
    let own = path.join(OsStr::from_bytes(pointer.as_bytes().strip_prefix(b"gitdir: ")?));
    match line(&own.join("commondir")) {
        Some(common) => Some(own.join(common)),
        None => Some(own),
    }
}

#[cfg(test)]
#[path = "ignored_tests.rs"]
mod tests;
