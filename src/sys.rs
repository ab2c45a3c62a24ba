//! What needs unsafe code, and nothing else does: what a new process does between fork and exec, and waiting for any file.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the runtime wait for a file.
pub(crate) fn register(fd: Arc<OwnedFd>, interest: Interest) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the file must stay open, and be the same one, while it is registered. The `Arc` keeps it, an `OwnedFd` closes only
    // when dropped, and nothing can be exchanged behind a shared reference.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}

/// Linux ends the process when the thread that starts it ends. Elsewhere the watcher has to do.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn end_with_parent(command: &mut Command) {
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
pub(crate) fn end_with_parent(_: &mut Command) {}

/// A session of its own: no terminal, no signal to our group or our parent's reaches it.
pub(crate) fn own_session(command: &mut Command) {
    let prepare = || rustix::process::setsid().map(drop).map_err(Into::into);
    // SAFETY: as above; `setsid` is one system call and async-signal-safe.
    unsafe { command.pre_exec(prepare) };
}
