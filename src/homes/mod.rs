//! The sessions that the agents' programs keep on this machine, and our own: each program's [`Home`] says where.

mod database;

use std::ffi::OsString;
use std::fs;
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
    let mut found = Vec::new();
    let mut failed = each(&mut |path, owner| found.extend(read(path, owner)));
    let (rows, unlisted) = database::list();
    failed.extend(unlisted);
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

/// Those that one program keeps, in the same order.
pub(crate) fn kept_by(dialect: Dialect) -> Vec<Kept> {
    let (mut found, failed) = kept();
    for failure in failed {
        tracing::warn!("{failure}");
    }
    found.retain(|kept| kept.owner.is_some_and(|owner| owner.dialect == dialect));
    found
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

/// Gives the files that are called like those of sessions; returns what of them is too long to be looked through unasked.
fn each(found: &mut dyn FnMut(PathBuf, Option<(Format, &'static Home)>)) -> Vec<Failure> {
    let mut too_long = Vec::new();
    let mut found = |path: PathBuf, owner| match path.metadata().map_or(0, |about| about.len()) {
        bytes if bytes > LONGEST => too_long.push(Failure::Read {
            name: path.display().to_string(),
            error: std::io::Error::other(format!(
                "{bytes} bytes are more than the {} GiB of a session that are looked through unless its file is named",
                LONGEST >> 30
            )),
        }),
        _ => found(path, owner),
    };
    let shelf = persona::shelf(&|name| std::env::var_os(name));
    for root in shelf.own() {
        gather(root, "*/*.jsonl", &mut |path| found(path, None));
    }
    for (dialect, store, home) in stores() {
        let owner = (Format { dialect, mode: store.mode }, home);
        for pattern in home.files {
            if let Some(root) = root(home) {
                gather(&root, pattern, &mut |path| found(path, Some(owner)));
            }
        }
    }
    too_long
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

/// All files below a folder whose way there fits a pattern.
fn gather(folder: &Path, pattern: &str, found: &mut dyn FnMut(PathBuf)) {
    let (first, rest) = pattern.split_once('/').map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    if let (false, Some(rest)) = (first.contains('*'), rest) {
        return gather(&folder.join(first), rest, found);
    }
    // A folder that cannot be read has nothing to show; that of a program that was never used is not there.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        if !name.to_str().is_some_and(|name| fits(name, first)) {
            continue;
        }
        match rest {
            Some(rest) => gather(&folder.join(name), rest, found),
            None => found(folder.join(name)),
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
fn read(path: PathBuf, owner: Option<(Format, &Home)>) -> Option<Kept> {
    let about = path.metadata().ok().filter(|about| about.is_file() && about.len() > 0)?;
    let source = Source::open(&Input::File(path.clone()), &Console::plain()).ok()?;
    if begins_as_subagent(source.head()) {
        return None;
    }
    let stem = path.file_stem()?.to_str()?;
    let id = match owner {
        Some((_, home)) if home.file.ends_with("/ID.jsonl") => stem.to_owned(),
        Some((_, home)) if home.file.contains("ID") => stem.get(stem.len().checked_sub(UUID)?..)?.to_owned(),
        Some(_) => session_of(source.head()).unwrap_or_else(|| stem.to_owned()),
        None => stem.to_owned(),
    };
    Some(Kept {
        lies: Lies::InFile(path),
        owner: owner.map(|(format, _)| format),
        id,
        written: about.modified().ok()?,
    })
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
