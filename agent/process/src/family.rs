//! What descends from us, whatever it did to hide: left its group and its session, cleared its environment, let its parent die.
//!
//! Linux gives a process without a parent to the nearest ancestor that [adopts](adopt). So a shell that adopts has all below it that it ever
//! started, as long as it lives, and we have the rest. Elsewhere the group and the mark have to do.

use std::io;
use std::process::{Child, Command};

#[cfg(target_os = "linux")]
pub use linux::{Being, adopt, below, born, end, end_all, reap};

/// Starts a program that only its starter waits for: [`reap`] leaves it alone.
///
/// # Errors
/// Those of the system.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    {
        // Held, so that it is known before it can have ended.
        let mut known = linux::known();
        let child = command.spawn()?;
        known.insert(child.id().cast_signed());
        Ok(child)
    }
    #[cfg(not(target_os = "linux"))]
    command.spawn()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitpid};

    use crate::watch;

    /// How long is tried to end what starts others as fast as it is ended.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Whether what loses its parent becomes our child.
    static ADOPTS: AtomicBool = AtomicBool::new(false);

    /// A process, told from a later one of the same number by when it began.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Being {
        pid: i32,
        born: u64,
    }

    impl Being {
        /// Its number.
        pub const fn pid(&self) -> i32 {
            self.pid
        }
    }

    /// What stands in `/proc/PID/stat`.
    struct Stat {
        state: u8,
        parent: i32,
        born: u64,
    }

    /// From now on what loses its parent below us becomes our child, and what we start is in a [group](crate::cgroup) of ours where that can
    /// be had.
    ///
    /// # Errors
    /// Those of the system.
    pub fn adopt() -> io::Result<()> {
        crate::cgroup::begin();
        set_child_subreaper(Some(getpid()))?;
        ADOPTS.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// When a process began, in ticks since the machine did; `None` if there is none.
    pub fn born(pid: i32) -> Option<u64> {
        stat(pid).filter(|stat| !matches!(stat.state, b'Z' | b'X')).map(|stat| stat.born)
    }

    /// All that lives below a process, but for watchers of ours.
    pub fn below(root: Pid) -> Vec<Being> {
        let mut found = Vec::new();
        let mut at = vec![root.as_raw_nonzero().get()];
        let all = std::cell::OnceCell::new();
        while let Some(parent) = at.pop() {
            for pid in children(parent).unwrap_or_else(|| of_parent(all.get_or_init(everybody), parent)) {
                if watch::is_watcher(pid) {
                    continue;
                }
                at.push(pid);
                if let Some(born) = born(pid) {
                    found.push(Being { pid, born });
                }
            }
        }
        found
    }

    /// Kills processes and all below them, until none is left or time is up. Whether there were any.
    pub fn end(beings: &[Being]) -> bool {
        let until = Instant::now() + PATIENCE;
        let mut known: BTreeSet<Being> = beings.iter().copied().collect();
        let mut any = false;
        loop {
            // Those below first: what is killed gives its children away.
            for root in known.clone() {
                if is(root)
                    && let Some(pid) = Pid::from_raw(root.pid)
                {
                    known.extend(below(pid));
                }
            }
            let killed = known.iter().filter(|being| kill(**being)).count();
            any |= killed > 0;
            if killed == 0 || Instant::now() >= until {
                return any;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills all that is below us, however it came there, until none is left or time is up; then waits for those that have ended.
    pub fn end_all() {
        let until = Instant::now() + PATIENCE;
        loop {
            let all = below(getpid());
            let killed = all.iter().filter(|being| kill(**being)).count();
            reap();
            if killed == 0 || Instant::now() >= until {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        crate::cgroup::end_ours();
    }

    /// Waits for those that became our children and have ended, so that they do not stay as zombies. Where none do, all children are somebody's
    /// here who waits for them.
    pub fn reap() {
        if !ADOPTS.load(Ordering::Relaxed) {
            return;
        }
        let mut known = known();
        let us = getpid().as_raw_nonzero().get();
        let Some(ours) = children(us) else { return };
        known.retain(|pid| stat(*pid).is_some_and(|stat| stat.parent == us));
        for pid in ours.into_iter().filter(|pid| !known.contains(pid)) {
            if stat(pid).is_some_and(|stat| stat.state == b'Z')
                && let Some(pid) = Pid::from_raw(pid)
            {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
    }

    /// The programs that somebody here waits for.
    pub(super) fn known() -> MutexGuard<'static, BTreeSet<i32>> {
        static KNOWN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is(being: Being) -> bool {
        born(being.pid) == Some(being.born)
    }

    fn kill(being: Being) -> bool {
        let Some(pid) = Pid::from_raw(being.pid) else { return false };
        // Held before it is looked at: the signal cannot meet another process that got the same number.
        let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        is(being) && pidfd_send_signal(&held, Signal::KILL).is_ok()
    }

    /// The children of a process; `None` where the kernel does not list them.
    fn children(pid: i32) -> Option<BTreeSet<i32>> {
        let mut found = BTreeSet::new();
        // Where one ends while the list is read, the next may be left out.
        for _ in 0..2 {
            for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
                match fs::read_to_string(task.path().join("children")) {
                    Ok(list) => found.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok())),
                    Err(error) if error.kind() == io::ErrorKind::NotFound && task.path().exists() => return None,
                    // The thread has ended.
                    Err(_) => {}
                }
            }
        }
        Some(found)
    }

    /// Every process and its parent.
    fn everybody() -> Vec<(i32, i32)> {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, stat(pid)?.parent))
        })
        .collect()
    }

    fn of_parent(all: &[(i32, i32)], parent: i32) -> BTreeSet<i32> {
        all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid).collect()
    }

    fn stat(pid: i32) -> Option<Stat> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // Behind the name, which stands in brackets and may hold anything.
        let rest = &text[memchr::memmem::rfind(&text, b") ")? + 2..];
        let mut words = rest.split(|byte| *byte == b' ').map(|word| std::str::from_utf8(word).unwrap_or_default());
        Some(Stat {
            state: *words.next()?.as_bytes().first()?,
            parent: words.next()?.parse().ok()?,
            born: words.nth(17)?.parse().ok()?,
        })
    }

    #[cfg(test)]
    mod tests {
        use std::process::{Command, Stdio};

        use super::*;

        #[test]
        fn we_are_known_to_ourselves() {
            let us = getpid().as_raw_nonzero().get();
            assert!(born(us).is_some_and(|born| born > 0));
            assert_eq!(stat(us).unwrap().parent, std::os::unix::process::parent_id().cast_signed());
            assert_eq!(born(i32::MAX), None);
        }

        #[test]
        fn what_hides_is_found_below_a_shell_that_adopts() {
            // Sessions of their own, no environment, parents that are gone.
            let script = "setsid env -i sh -c '(sleep 97861 & sleep 97862 &) & exec sleep 97863' & (setsid sh -c 'sleep 97864 & :' &); echo ready; wait; sleep 97865";
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdout(Stdio::piped());
            crate::sys::adopt(&mut command);
            let mut shell = crate::family::spawn(&mut command).unwrap();
            let root = Pid::from_child(&shell);
            let until = Instant::now() + Duration::from_secs(10);
            let sleeps = |beings: &[Being]| {
                let line = |being: &Being| fs::read(format!("/proc/{}/cmdline", being.pid)).unwrap_or_default();
                beings.iter().filter(|being| line(being).starts_with(b"sleep\09786")).count()
            };
            while sleeps(&below(root)) < 4 {
                assert!(Instant::now() < until, "{:?}", below(root));
                std::thread::sleep(Duration::from_millis(10));
            }
            let found = below(root);
            let us = Being {
                pid: root.as_raw_nonzero().get(),
                born: born(root.as_raw_nonzero().get()).unwrap(),
            };
            assert!(end(&[us]));
            shell.wait().unwrap();
            assert!(found.iter().all(|being| !is(*being)), "{found:?}");
            assert!(!end(&found), "another of the same number is not met");
        }
    }
}

/// Other systems tell nobody of orphans.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use rustix::process::Pid;

    /// A process.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Being(());

    impl Being {
        /// Nobody's number.
        pub const fn pid(&self) -> i32 {
            0
        }
    }

    /// Does nothing.
    ///
    /// # Errors
    /// None.
    pub const fn adopt() -> std::io::Result<()> {
        Ok(())
    }

    /// Nothing is known.
    pub const fn born(_: i32) -> Option<u64> {
        None
    }

    /// Nothing is known.
    pub const fn below(_: Pid) -> Vec<Being> {
        Vec::new()
    }

    /// Does nothing.
    pub const fn end(_: &[Being]) -> bool {
        false
    }

    /// Does nothing.
    pub const fn end_all() {}

    /// Does nothing.
    pub const fn reap() {}
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Being, adopt, below, born, end, end_all, reap};
