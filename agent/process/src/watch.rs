//! The watcher: a small process beside each child that outlives us just long enough to clean up.
//!
//! It is a program of ours started anew under the name [`NAME`]. It waits on a pipe whose other end only we hold, so it learns of
//! our end however we end. Told that the child is over, it looks for processes that left the child's group (Linux) and goes. Not told,
//! it ends the group as well: `SIGTERM`, [`GRACE`], `SIGKILL`, and (Linux) what it last saw of our [family]: that which hides its marks too. It lives in a session of its own, holds none of our pipes, and a
//! signal to stop does not stop it.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getppid, kill_process_group, test_kill_process_group};

use crate::sys;
use crate::{StartError, Watcher, family, sweep};

/// The name (`argv[0]`) under which our program is started as the watcher.
pub const NAME: &str = "agentglot-watcher";

/// How long the group has between `SIGTERM` and `SIGKILL` when we died.
pub const GRACE: Duration = Duration::from_secs(1);

/// How long we wait for the watcher's last look at the end of a child.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Told to the watcher when the group has been killed.
const OVER: u8 = b'o';

static SERVES: AtomicBool = AtomicBool::new(false);

/// To be called first thing in `main`: if this process was started as a watcher, it is one, and this does not return.
pub fn serve_if_asked() {
    let mut args = std::env::args_os();
    if args.next().as_deref() == Some(OsStr::new(NAME)) {
        let mark = args.next().unwrap_or_default();
        serve(&mark.to_string_lossy(), args.next().as_deref().map(Path::new));
        std::process::exit(0);
    }
    SERVES.store(true, Ordering::Relaxed);
}

fn serve(mark: &str, cgroup: Option<&Path>) {
    // A handler that does nothing much, where ignoring would be inherited and dying would leave the group alone.
    let heard = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGQUIT,
    ] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&heard));
    }
    // Without a mark nothing is looked for that left its group.
    let mut seen = Vec::new();
    let owner = getppid().filter(|_| !mark.is_empty());
    let (group, over) = listen(&mut io::stdin().lock(), || {
        // Given to somebody else, we are not told of its family any more; what we saw last is all there is.
        if let Some(owner) = owner.filter(|owner| getppid() == Some(*owner)) {
            let now = family::below(owner);
            if getppid() == Some(owner) {
                seen = now;
            }
        }
    });
    if let Some(group) = group.filter(|_| !over) {
        end(group);
    }
    if !mark.is_empty() {
        sweep::sweep(mark);
    }
    seen.retain(|being| family::born(being.pid()).is_some());
    let cgroup = cgroup.filter(|cgroup| cgroup.exists());
    if !over && (!seen.is_empty() || cgroup.is_some()) {
        // Other watchers are at work, and let theirs end by themselves.
        std::thread::sleep(GRACE);
        family::end(&seen);
        #[cfg(target_os = "linux")]
        cgroup.into_iter().for_each(crate::cgroup::end);
    }
}

/// Whether a process is one of our program's watchers.
#[cfg(target_os = "linux")]
pub(crate) fn is_watcher(pid: i32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let beginning = [NAME.as_bytes(), b"\0"].concat();
    let program = |who: &str| std::fs::metadata(format!("/proc/{who}/exe")).ok().map(|about| (about.dev(), about.ino()));
    // A name is anybody's to take; our program is one that waits and ends what it is told to.
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(&beginning)) && {
        let theirs = program(&pid.to_string());
        theirs.is_some() && theirs == program("self")
    }
}

/// How often we look at the family of our owner.
const GLANCE: Duration = Duration::from_millis(500);

/// Waits for the end of the pipe, and looks around meanwhile. Which group there is, and whether it is over.
fn listen(pipe: &mut (impl Read + AsFd), mut look: impl FnMut()) -> (Option<Pid>, bool) {
    let (mut told, mut buffer) = (Vec::new(), [0; 64]);
    let glance = Timespec::try_from(GLANCE).ok();
    loop {
        let mut waiting = [PollFd::new(&*pipe, PollFlags::IN)];
        if matches!(poll(&mut waiting, glance.as_ref()), Ok(0)) {
            look();
            continue;
        }
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => told.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let over = told.contains(&OVER);
    let number = told
        .split(|&b| b == b'\n')
        .next()
        .and_then(|line| std::str::from_utf8(line).ok()?.parse().ok());
    // 0 and 1 would mean ourselves, or everybody.
    (number.filter(|&number: &i32| number > 1).and_then(Pid::from_raw), over)
}

fn end(group: Pid) {
    let _ = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + GRACE;
    while Instant::now() < until {
        if test_kill_process_group(group).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = kill_process_group(group, Signal::KILL);
}

/// Our side of a watcher that runs.
#[derive(Debug)]
pub struct Watch {
    process: std::process::Child,
    pipe: Option<ChildStdin>,
}

impl Watch {
    /// Starts one, unless nobody is to watch. Without a mark it looks for nothing that left the group.
    pub fn start(who: &Watcher, mark: &str) -> Result<Option<Self>, StartError> {
        let program = match who {
            Watcher::Nobody => return Ok(None),
            Watcher::Program(path) => path.clone(),
            Watcher::OurProgram if !SERVES.load(Ordering::Relaxed) => return Err(StartError::NoWatcher),
            Watcher::OurProgram => our_program().map_err(|error| StartError::Watcher {
                path: PathBuf::from("agentglot"),
                error,
            })?,
        };
        let mut command = Command::new(&program);
        command.arg0(NAME).arg(OsString::from(mark)).env_clear().current_dir("/");
        #[cfg(target_os = "linux")]
        command.args(crate::cgroup::path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        sys::own_session(&mut command);
        let mut process = family::spawn(&mut command).map_err(|error| StartError::Watcher { path: program, error })?;
        let pipe = process.stdin.take();
        Ok(Some(Self { process, pipe }))
    }

    /// Tells it which group there is.
    pub(super) fn guard(&mut self, group: Pid) {
        self.tell(format!("{}\n", group.as_raw_nonzero()).as_bytes());
    }

    /// Tells it that the group is over: it looks for what left it, and goes.
    pub(super) fn over(&mut self) {
        self.tell(&[OVER]);
        self.pipe = None;
    }

    /// A watcher that somebody killed cannot be told anything, and the child need not suffer for it.
    fn tell(&mut self, bytes: &[u8]) {
        if let Some(pipe) = &mut self.pipe {
            let _ = pipe.write_all(bytes);
        }
    }

    /// Whether it has gone. It is no zombie then.
    pub fn gone(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Waits until it has gone.
    pub(super) fn wait(&mut self) {
        self.pipe = None;
        let _ = self.process.wait();
    }

    /// For one that has nothing to watch, or is stuck.
    pub(super) fn kill(&mut self) {
        let _ = self.process.kill();
    }
}

/// The program that runs now, even if its file was replaced since.
pub(super) fn our_program() -> io::Result<PathBuf> {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() { Ok(linux.to_owned()) } else { std::env::current_exe() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_what_it_is_told() {
        let understood = |told: &[u8]| {
            let (mut reader, mut writer) = io::pipe().unwrap();
            writer.write_all(told).unwrap();
            drop(writer);
            let (group, over) = listen(&mut reader, || {});
            (group.map(|pid| pid.as_raw_nonzero().get()), over)
        };
        assert_eq!(understood(b""), (None, false));
        assert_eq!(understood(b"4711\n"), (Some(4711), false));
        assert_eq!(understood(b"4711\no"), (Some(4711), true));
        assert_eq!(understood(b"o"), (None, true));
        for dangerous in [&b"0\n"[..], b"1\n", b"-1\n", b"-4711\n", b"x\n", b"99999999999\n"] {
            assert_eq!(understood(dangerous).0, None, "{dangerous:?}");
        }
    }
}
