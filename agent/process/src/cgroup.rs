//! A control group of our own for what we start: nothing leaves it, whatever it does to hide, and the kernel ends all of it at once.
//!
//! There is one where Linux lets us make one: a group that belongs to our user, as `systemd --user` gives it, or as root of a container.
//! Everywhere else [`family`](crate::family) has to do. Nothing fails for want of it.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{leftover, sys};

/// How their names begin.
const PREFIX: &str = "agentglot-";

/// How often it is tried to take an empty group away: those that were killed take a moment.
const TRIES: u32 = 200;
const MOMENT: Duration = Duration::from_millis(5);

static WANTED: AtomicBool = AtomicBool::new(false);
static OURS: OnceLock<Option<Group>> = OnceLock::new();

#[derive(Debug)]
struct Group {
    path: PathBuf,
    /// Open and locked as long as we live.
    _held: Option<File>,
    /// Who writes 0 here is in it.
    joins: File,
}

impl Group {
    fn make() -> Option<Self> {
        let path = own()?.join(format!("{PREFIX}{}-{}", leftover::owner(), crate::mark()));
        fs::create_dir(&path).ok()?;
        let held = File::open(&path).ok().filter(leftover::hold);
        let joins = OpenOptions::new().write(true).open(path.join("cgroup.procs"));
        // Without it we could not end what is in it.
        let joins = joins.ok().filter(|_| path.join("cgroup.kill").exists());
        if joins.is_none() {
            let _ = fs::remove_dir(&path);
        }
        Some(Self {
            path,
            _held: held,
            joins: joins?,
        })
    }
}

/// From now on what we start is in a group of ours, where that can be had. It is made when the first [watcher](crate::watch) starts, who
/// takes it away if we cannot.
pub fn begin() {
    WANTED.store(true, Ordering::Relaxed);
}

fn ours() -> Option<&'static Group> {
    let wanted = WANTED.load(Ordering::Relaxed);
    if wanted { OURS.get_or_init(Group::make).as_ref() } else { None }
}

/// Where our group is, if we have one.
pub(crate) fn path() -> Option<&'static Path> {
    ours().map(|group| group.path.as_path())
}

/// Puts a program that is about to start into it.
pub fn join(command: &mut Command) {
    if let Some(group) = ours() {
        sys::write_zero(command, &group.joins);
    }
}

/// Ends all that is in our group.
pub fn end_ours() {
    if let Some(Some(group)) = OURS.get() {
        end(&group.path);
    }
}

/// Takes away the groups beside ours whose owners are gone, and ends what is in them. They stay when a watcher was killed as well.
pub(crate) fn sweep() {
    let Some(folder) = own() else { return };
    for (path, _) in leftover::left(&folder, PREFIX, None) {
        end(&path);
    }
}

/// Ends all that is in a group, and takes it away.
pub(crate) fn end(path: &Path) {
    for _ in 0..TRIES {
        let _ = fs::write(path.join("cgroup.kill"), "1");
        remove(path);
        if !path.exists() {
            return;
        }
        std::thread::sleep(MOMENT);
    }
}

/// Groups of other agents may be in it.
fn remove(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    let _ = fs::remove_dir(path);
}

/// The folder of the group that we are in, if it is ours to divide: whose root we are, or what belongs to our user.
fn own() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    if rustix::process::geteuid().is_root() && group != "/" {
        return None;
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    folder(&mounts, group)
}

/// Where a group is mounted.
fn folder(mounts: &str, group: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let inside = Path::new(group).strip_prefix(root).ok()?;
        kind.starts_with("cgroup2 ").then(|| Path::new(point).join(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_where_it_is_mounted() {
        let mounts = "29 20 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n\
                      30 29 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                      31 29 0:28 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = |group| folder(mounts, group);
        assert_eq!(found("/"), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(found("/user.slice/a.scope"), Some("/sys/fs/cgroup/unified/user.slice/a.scope".into()));
        let of_a_part = mounts.replace("0:28 / /", "0:28 /docker/1 /");
        assert_eq!(folder(&of_a_part, "/docker/1/x"), Some("/sys/fs/cgroup/unified/x".into()));
        assert_eq!(folder(&of_a_part, "/other"), None);
        assert_eq!(folder("", "/"), None);
    }
}
