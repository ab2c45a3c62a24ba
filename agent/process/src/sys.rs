//! What needs unsafe code, and nothing else does: what a new process does between fork and exec, and waiting for any file.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the runtime wait for a file.
pub fn register(fd: Arc<OwnedFd>, interest: Interest) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the file must stay open, and be the same one, while it is registered. The `Arc` keeps it, an `OwnedFd` closes only
    // when dropped, and nothing can be exchanged behind a shared reference.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}

/// Linux ends the process when the thread that starts it ends. Elsewhere the watcher has to do.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn end_with_parent(command: &mut Command) {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
    let parent = Some(getpid());
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // The parent may have gone before the signal was asked for.
        if getppid() == parent {
            Ok(())
        } else {
            Err(rustix::io::Errno::SRCH.into())
        }
    };
    // SAFETY: after a fork only async-signal-safe functions may be called. `prepare` makes two system calls without libc's help,
    // allocates nothing, takes no lock and touches no memory but its own copy of `parent`; making the error allocates nothing.
    unsafe { command.pre_exec(prepare) };
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn end_with_parent(_: &mut Command) {}

/// Writes a zero to a file that stays open: so a process puts itself into a [group](crate::cgroup). Where it cannot, it runs all the same.
#[cfg(target_os = "linux")]
pub fn write_zero(command: &mut Command, file: &'static std::fs::File) {
    let prepare = move || {
        let _ = rustix::io::write(file, b"0");
        Ok(())
    };
    // SAFETY: as above; one system call.
    unsafe { command.pre_exec(prepare) };
}

/// What loses its parent below the process becomes its child: see [`family`](crate::family).
#[cfg(target_os = "linux")]
pub fn adopt(command: &mut Command) {
    let prepare = || rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(Into::into);
    // SAFETY: as above; two system calls, of which none allocates or takes a lock.
    unsafe { command.pre_exec(prepare) };
}

#[cfg(not(target_os = "linux"))]
pub fn adopt(_: &mut Command) {}

/// Whether a signal is ignored, as `nohup` and shells have it for what they put into the background.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: nothing is changed, and a `sigaction` of zeros is a valid one to be written over.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// A session of its own: no terminal, no signal to our group or our parent's reaches it.
pub fn own_session(command: &mut Command) {
    let prepare = || rustix::process::setsid().map(drop).map_err(Into::into);
    // SAFETY: as above; `setsid` is one system call and async-signal-safe.
    unsafe { command.pre_exec(prepare) };
}

/// A session of its own with the terminal that the process gets as its standard error. What is typed there reaches it, even if our
/// own terminal's signals are ignored, as they are in the background of a script.
pub fn own_terminal(command: &mut Command) {
    let prepare = || {
        rustix::process::setsid()?;
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP] {
            // SAFETY: `signal` is async-signal-safe, and no handler is set.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: standard error has been put in its place before this runs, and nothing closes it meanwhile.
        let stderr = unsafe { BorrowedFd::borrow_raw(2) };
        rustix::process::ioctl_tiocsctty(stderr).map_err(Into::into)
    };
    // SAFETY: as above; system calls that are async-signal-safe.
    unsafe { command.pre_exec(prepare) };
}

/// The process, and whatever it starts, may do no more than these rules allow.
#[cfg(target_os = "linux")]
pub fn restrict(command: &mut Command, rules: landlock::RulesetCreated) {
    let mut rules = Some(rules);
    let prepare = move || match rules.take() {
        // What the error says would have to be allocated.
        Some(rules) => rules.restrict_self().map(drop).map_err(|_| io::ErrorKind::PermissionDenied.into()),
        None => Ok(()),
    };
    // SAFETY: as above; the rules were made before the fork, and to apply them takes two system calls and closes one file. Neither the
    // status nor the error holds anything on the heap.
    unsafe { command.pre_exec(prepare) };
}
