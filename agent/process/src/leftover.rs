//! What we put where others' things lie, and what becomes of it when we are killed: the next of us takes it away.
//!
//! A name says whose it is, by process id and the moment of its beginning, and the owner holds a lock on it, which the system gives back
//! whatever happens. Taken away is only what belongs to our user, whose owner is gone and that nobody holds.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::OFlags;
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::family;

/// How names of ours begin in folders for temporary files, and in folders of the user's.
const HERE: &str = "agentglot-";
const BESIDE: &str = ".agentglot-";

/// What in a folder of ours names the folders with drafts.
const DRAFTS: &str = "drafts";

/// So much of that is read.
const MOST: u64 = 1 << 20;

/// A folder in the folder for temporary files, ours alone, until this is dropped.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
    _held: Option<File>,
}

impl Folder {
    /// Makes one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Self> {
        let folder = Builder::new()
            .prefix(&format!("{HERE}{}-", owner()))
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()?;
        let held = File::open(folder.path()).ok().filter(hold);
        // The first of a process keeps the names of folders with drafts.
        let _ = JOURNAL.set(folder.path().join(DRAFTS));
        Ok(Self { folder, _held: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

static JOURNAL: OnceLock<PathBuf> = OnceLock::new();

/// A file in the folder for temporary files, ours alone, until it is dropped.
///
/// # Errors
/// Those of the system.
pub fn file(ending: &str) -> io::Result<NamedTempFile> {
    let file = Builder::new().prefix(&format!("{HERE}{}-", owner())).suffix(ending).tempfile()?;
    hold(file.as_file());
    Ok(file)
}

/// A file beside others on its way to a name of its own.
///
/// # Errors
/// Those of the system.
pub fn draft(folder: &Path) -> io::Result<NamedTempFile> {
    let file = Builder::new().prefix(&beginning()).tempfile_in(folder)?;
    begun(file.as_file(), folder);
    Ok(file)
}

/// How the name of a draft begins.
pub fn beginning() -> String {
    format!("{BESIDE}{}-", owner())
}

/// A draft was begun in a folder.
pub fn begun(draft: &File, folder: &Path) {
    static NOTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    hold(draft);
    let Some(journal) = JOURNAL.get() else { return };
    let fresh = NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    // A name that no line can hold is found when its folder is the one that is worked in.
    let line = folder.to_str().filter(|text| fresh && text.starts_with('/') && !text.contains('\n'));
    if let Some(line) = line
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).mode(0o600).open(journal)
    {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// The same for a folder that is known by its handle.
pub fn begun_in(draft: &File, folder: impl AsFd) {
    match fs::read_link(format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd())) {
        Ok(folder) => begun(draft, &folder),
        Err(_) => drop(hold(draft)),
    }
}

/// Takes away what others of us left behind that are gone: in the folder for temporary files, where their drafts were, in these, and their control groups.
pub fn sweep(folders: &[&Path]) {
    sweep_in(&std::env::temp_dir(), folders);
    #[cfg(target_os = "linux")]
    crate::cgroup::sweep();
}

fn sweep_in(temporary: &Path, folders: &[&Path]) {
    for folder in folders {
        drafts(folder, None);
    }
    for (path, owner) in left(temporary, HERE, None) {
        if path.is_dir() {
            let noted = crate::file::read_text(&path.join(DRAFTS), MOST).unwrap_or_default();
            noted
                .lines()
                .filter(|line| line.starts_with('/'))
                .for_each(|folder| drafts(Path::new(folder), Some(&owner)));
            let _ = fs::remove_dir_all(&path);
        } else {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Takes drafts away, of this owner or of all that are gone.
fn drafts(folder: &Path, of: Option<&str>) {
    for (path, _) in left(folder, BESIDE, of) {
        if path.symlink_metadata().is_ok_and(|about| about.is_file()) {
            let _ = fs::remove_file(path);
        }
    }
}

/// What lies there of owners that are gone, with the owner.
pub(crate) fn left(folder: &Path, beginning: &str, of: Option<&str>) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of_gone = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let (owner, _) = name.to_str()?.strip_prefix(beginning)?.split_once('-')?;
        let wanted = of.is_none_or(|of| of == owner) && is_gone(owner)?;
        (wanted && is_free(&entry.path())).then(|| (entry.path(), owner.to_owned()))
    };
    entries.filter_map(of_gone).collect()
}

/// Whether no process has this number that began then; `None` if it is no name of ours.
fn is_gone(owner: &str) -> Option<bool> {
    let (pid, moment) = owner.split_once('.')?;
    let (pid, moment) = (pid.parse::<i32>().ok()?, moment.parse::<u64>().ok()?);
    Some(match family::born(pid) {
        Some(born) => born != moment,
        // Where nobody says when a process began, its number has to do.
        None if cfg!(target_os = "linux") => true,
        None => rustix::process::Pid::from_raw(pid).is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)),
    })
}

/// Whether it is our user's, no link, and held by nobody: not by one of us in another container either.
fn is_free(path: &Path) -> bool {
    let Ok(about) = path.symlink_metadata() else { return false };
    let ours = about.uid() == rustix::process::geteuid().as_raw() && (about.is_file() || about.is_dir());
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    ours && OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .is_ok_and(|file| file.try_lock().is_ok())
}

/// Holds a file or a folder of ours as long as it is open.
pub(crate) fn hold(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// This process, as names say it.
pub(crate) fn owner() -> String {
    let pid = std::process::id();
    format!("{pid}.{}", family::born(pid.cast_signed()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_those_that_are_gone_is_taken_away_and_nothing_else() {
        let room = tempfile::tempdir().unwrap();
        let (temporary, work) = (room.path().join("tmp"), room.path().join("work"));
        fs::create_dir_all(work.join("deep")).unwrap();
        fs::create_dir(&temporary).unwrap();
        let gone = "999999999.17";
        let old = temporary.join(format!("agentglot-{gone}-abc"));
        fs::create_dir_all(old.join("below")).unwrap();
        fs::write(old.join(DRAFTS), format!("{}\n/etc\nrelative\n", work.join("deep").display())).unwrap();
        std::os::unix::fs::symlink(&work, old.join("link")).unwrap();
        let put = |path: PathBuf| {
            fs::write(&path, "x").unwrap();
            path
        };
        let swept = [
            put(temporary.join(format!("agentglot-{gone}-x.json"))),
            put(work.join(format!(".agentglot-{gone}-1"))),
            put(work.join(format!("deep/.agentglot-{gone}-2"))),
            // Of one that had our number before us.
            put(temporary.join(format!("agentglot-{}.1-x", std::process::id()))),
        ];
        let held = put(temporary.join(format!("agentglot-{gone}-held")));
        let holder = File::open(&held).unwrap();
        holder.try_lock().unwrap();
        let stays = [
            held,
            put(temporary.join("agentglot-of-the-user.txt")),
            put(temporary.join("agentglot-12x.4-x")),
            put(temporary.join(format!("agentglot-{}-live", owner()))),
            put(work.join(".agentglot-notes.md")),
            put(work.join(format!("deep/.agentglot-{}-3", owner()))),
            // Nobody said that there are drafts.
            put(temporary.join(format!(".agentglot-{gone}-4"))),
        ];
        std::os::unix::fs::symlink(&work, temporary.join(format!("agentglot-{gone}-link"))).unwrap();
        sweep_in(&temporary, &[&work]);
        assert!(swept.iter().all(|path| !path.exists()) && !old.exists());
        assert!(stays.iter().all(|path| path.exists()) && work.join("deep").is_dir(), "{stays:?}");
    }

    #[test]
    fn what_we_make_is_ours_and_held() {
        let folder = Folder::new().unwrap();
        let file = file(".json").unwrap();
        let draft = draft(folder.path()).unwrap();
        for path in [folder.path(), file.path(), draft.path()] {
            let name = path.file_name().unwrap().to_str().unwrap().trim_start_matches('.');
            assert!(name.starts_with(&format!("agentglot-{}-", owner())), "{name}");
            assert!(!is_free(path), "{name}");
        }
        assert_eq!(is_gone(&owner()), Some(false));
        let path = folder.path().to_owned();
        drop((draft, file, folder));
        assert!(!path.exists());
    }
}
