//! The sessions that the agents' programs keep on this machine, and our own: each program's [`Home`] says where.

mod database;

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::store::{Home, Project, Store, begins_as_subagent, session_of, short_slug, slug};

use crate::agent::persona;
use crate::io::{Console, Input, Source};
use crate::status::Failure;

pub(crate) use database::InDatabase;

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) lies: Lies,
    /// Whose program keeps it; `None`: it is one of ours.
    pub(crate) owner: Option<Format>,
    /// What the program calls the session.
    pub(crate) id: String,
    pub(crate) written: SystemTime,
}

/// Where a session lies.
#[derive(Clone, Debug)]
pub(crate) enum Lies {
    /// In a file of its own.
    InFile(PathBuf),
    /// In a database.
    InDatabase(InDatabase),
}

impl Kept {
    pub(crate) fn input(self) -> Input {
        match self.lies {
            Lies::InFile(path) => Input::File(path),
            Lies::InDatabase(row) => row.input(),
        }
    }
}

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Every store that a program looks into.
pub(crate) fn stores() -> impl Iterator<Item = (Dialect, &'static Store, &'static Home)> {
    Dialect::ALL.into_iter().flat_map(|dialect| {
        let stores = dialect.vendor().stores.iter();
        stores.filter_map(move |store| Some((dialect, store, store.home.as_ref()?)))
    })
}

/// The program's own folder: that of the first variable that is set.
pub(crate) fn root(home: &Home) -> Option<PathBuf> {
    let named = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    home.roots.iter().find_map(|root| {
        let folder = named(root.variable)?;
        Some(if root.below.is_empty() { folder } else { folder.join(root.below) })
    })
}

/// All sessions, those that were written last at the end: whoever goes on from another comes behind it. And what cannot be listed.
pub(crate) fn kept() -> (Vec<Kept>, Vec<Failure>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let mut failed = each(&mut |path, owner| match read(path, owner) {
        Ok(kept) => found.extend(kept),
        Err(Failure::Read { error, .. }) if error.kind() == ErrorKind::NotFound => {}
        Err(failure) => unread.push(failure),
    });
    let (rows, unlisted) = database::list();
    failed.extend(unread.into_iter().chain(unlisted));
    found.extend(rows.into_iter().map(|row| Kept {
        owner: Some(row.format),
        id: row.id.clone(),
        written: row.written,
        lies: Lies::InDatabase(row),
    }));
    let path = |kept: &Kept| match &kept.lies {
        Lies::InFile(path) => Some(path.clone()),
        Lies::InDatabase(_) => None,
    };
    found.sort_by(|a, b| {
        a.written
            .cmp(&b.written)
            .then_with(|| path(a).cmp(&path(b)))
            .then_with(|| a.id.cmp(&b.id))
    });
    (found, failed)
}

/// Those that one program keeps, in the same order. And what cannot be listed.
pub(crate) fn kept_by(dialect: Dialect) -> (Vec<Kept>, Vec<Failure>) {
    let (mut found, failed) = kept();
    found.retain(|kept| kept.owner.is_some_and(|owner| owner.dialect == dialect));
    (found, failed)
}

/// The files that are called like those of sessions, which nobody has looked into: some may be of subagents, or empty. What lies in
/// databases, too; and what cannot be listed.
#[cfg(feature = "view")]
pub(crate) fn called() -> (Vec<Input>, Vec<Failure>) {
    let mut found = Vec::new();
    let mut failed = each(&mut |path, _| found.push(Input::File(path)));
    let (rows, unlisted) = database::list();
    failed.extend(unlisted);
    found.extend(rows.into_iter().map(InDatabase::input));
    (found, failed)
}

/// Gives the files that are called like those of sessions; returns what of them is too long to be looked through unasked, and the folders
/// that cannot be read.
fn each(found: &mut dyn FnMut(PathBuf, Option<(Format, &'static Home)>)) -> Vec<Failure> {
    let mut failed = Vec::new();
    let mut found = |path: io::Result<PathBuf>, folder: &Path, owner| {
        let (path, error) = match path {
            Ok(path) => match path.metadata().map_or(0, |about| about.len()) {
                bytes if bytes > LONGEST => (path, too_long(bytes)),
                _ => return found(path, owner),
            },
            Err(error) => (folder.to_owned(), error),
        };
        let name = path.display().to_string();
        failed.push(Failure::Read { name, error });
    };
    let shelf = persona::shelf(&|name| std::env::var_os(name));
    for root in shelf.own() {
        gather(root, "*/*.jsonl", &mut |path, folder| found(path, folder, None));
    }
    for (dialect, store, home) in stores() {
        let owner = (Format { dialect, mode: store.mode }, home);
        for pattern in home.files {
            if let Some(root) = root(home) {
                gather(&root, pattern, &mut |path, folder| found(path, folder, Some(owner)));
            }
        }
    }
    failed
}

fn too_long(bytes: u64) -> io::Error {
    io::Error::other(format!(
        "{bytes} bytes are more than the {} GiB of a session that are looked through unless its file is named",
        LONGEST >> 30
    ))
}

/// The session whose id begins like this, and what it is written in, where that is known; of several the one that is called so, or else
/// that of the working folder.
///
/// # Errors
/// When there is none, or more than one.
pub(crate) fn input(id: &str) -> Result<(Input, Option<Format>), Failure> {
    let (mut fitting, failed) = kept();
    let begins = |kept: &Kept| kept.id.get(..id.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(id));
    fitting.retain(|kept| !id.is_empty() && begins(kept));
    if fitting.len() > 1 && fitting.iter().any(|kept| kept.id == id) {
        fitting.retain(|kept| kept.id == id);
    }
    if fitting.len() > 1 {
        let here: Vec<Kept> = fitting.iter().filter(|kept| is_here(&kept.lies)).cloned().collect();
        if here.len() == 1 {
            fitting = here;
        }
    }
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => {
            let owner = only.owner;
            Ok((only.input(), owner))
        }
        (Some(_), false) => Err(Failure::Usage(format!(
            "more than one session begins with {id:?}; say more of its id, or name its file"
        ))),
        // It may lie where nobody could look.
        (None, _) => Err(failed.into_iter().next().unwrap_or_else(|| {
            Failure::Usage(format!(
                "there is no session {id:?}, and no file of this name; `agentglot sessions list --all-agents` names the sessions"
            ))
        })),
    }
}

/// Whether a session is one of the working folder, or its file lies in a folder of that.
fn is_here(lies: &Lies) -> bool {
    let cwd = std::env::current_dir().and_then(|cwd| cwd.canonicalize()).unwrap_or_default();
    let cwd = cwd.to_string_lossy();
    let path = match lies {
        Lies::InFile(path) => path,
        Lies::InDatabase(row) => return row.cwd.as_deref() == Some(&*cwd),
    };
    let names = [slug(&cwd), short_slug(&cwd)];
    path.ancestors().skip(1).take(2).any(|folder| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| names.iter().any(|known| known == name))
    })
}

/// The working folder for which a program has claimed the folder that a session's file lies in.
pub(crate) fn claimed_for(path: &Path) -> Option<String> {
    let markers = stores().filter_map(|(_, _, home)| match home.project {
        Project::Claimed { marker, .. } => Some(marker),
        _ => None,
    });
    let within = |marker: &str| path.ancestors().skip(1).take(3).find_map(|folder| short_text(&folder.join(marker)));
    let mut named = markers.filter_map(within);
    named.find(|named| named.starts_with('/'))
}

/// What a small file says, which is no pipe and no link; nothing if it is none.
pub(crate) fn short_text(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    let text = (about.is_file() && about.len() <= POINTER).then(|| fs::read_to_string(path).ok())?;
    text.map(|text| text.trim().to_owned())
}

/// All files below a folder whose way there fits a pattern, each with its folder; and the folders that cannot be read.
fn gather(folder: &Path, pattern: &str, found: &mut dyn FnMut(io::Result<PathBuf>, &Path)) {
    let (first, rest) = pattern.split_once('/').map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    if let (false, Some(rest)) = (first.contains('*'), rest) {
        return gather(&folder.join(first), rest, found);
    }
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    let mut names: Vec<OsString> = match entries {
        Ok(names) => names,
        // That of a program that was never used is not there, and among folders there may be files.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return,
        Err(error) => return found(Err(error), folder),
    };
    names.sort();
    for name in names {
        if !name.to_str().is_some_and(|name| fits(name, first)) {
            continue;
        }
        match rest {
            Some(rest) => gather(&folder.join(name), rest, found),
            None => found(Ok(folder.join(name)), folder),
        }
    }
}

/// Whether a name fits a pattern with at most one `*`.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, behind)) => name.len() >= before.len() + behind.len() && name.starts_with(before) && name.ends_with(behind),
        None => name == pattern,
    }
}

/// A file that was found. Nothing if it is none of a session that somebody could go on with.
fn read(path: PathBuf, owner: Option<(Format, &Home)>) -> Result<Option<Kept>, Failure> {
    let failed = |error| Failure::Read {
        name: path.display().to_string(),
        error,
    };
    let about = path.metadata().map_err(failed)?;
    if !about.is_file() || about.len() == 0 {
        return Ok(None);
    }
    let written = about.modified().map_err(failed)?;
    let source = Source::open(&Input::File(path.clone()), &Console::plain())?;
    // No program packs its sessions, and what unpacks may have no end.
    if source.file().is_none() {
        return Err(failed(io::Error::other("it is packed, and looked through only where its file is named")));
    }
    let id = (!begins_as_subagent(source.head())).then(|| id_of(&path, owner, source.head())).flatten();
    Ok(id.map(|id| Kept {
        lies: Lies::InFile(path),
        owner: owner.map(|(format, _)| format),
        id,
        written,
    }))
}

/// What the program calls the session in this file, which begins so.
fn id_of(path: &Path, owner: Option<(Format, &Home)>, head: &[u8]) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    match owner {
        Some((_, home)) if home.file.ends_with("/ID.jsonl") => Some(stem.to_owned()),
        Some((_, home)) if home.file.contains("ID") => Some(stem.get(stem.len().checked_sub(UUID)?..)?.to_owned()),
        Some(_) => session_of(head).or_else(|| Some(stem.to_owned())),
        None => Some(stem.to_owned()),
    }
}

/// A file of a program's that says whose a folder is, or lists such folders, is not longer than this.
const POINTER: u64 = 16 << 20;

/// A longer file is read only by its name: whoever fills a disk, or has a file that only looks long, keeps no list waiting.
const LONGEST: u64 = 4 << 30;

/// So long is a UUID.
const UUID: usize = 36;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns() {
        assert!(fits("rollout-x.jsonl", "rollout-*.jsonl") && fits("a", "*") && fits("projects", "projects"));
        assert!(!fits("rollout.jsonl", "rollout-*.jsonl") && !fits("aba", "ab*ba") && !fits("x", "projects"));
    }
}
