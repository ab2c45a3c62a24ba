//! Our own stdin and stdout, whatever they are: pipes, sockets, terminals, files, devices. A process that joins them to a fake
//! agent is looked at from outside.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl};

use crate::support::{eventually, example, within};

/// A process that joins its stdin and stdout to those of a fake agent.
fn owner(commands: &[&str], stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Child {
    let mut command = Command::new(example("child_owner"));
    command.arg(example("fake_agent")).arg("--do").args(commands);
    command.stdin(stdin).stdout(stdout).stderr(Stdio::inherit()).spawn().unwrap()
}

fn lines(count: usize) -> String {
    (0..count).map(|n| format!("{{\"line\":{n},\"of\":{count}}}\n")).collect()
}

async fn ends_well(mut process: Child) {
    let mut code = None;
    eventually("it ends", Duration::from_secs(20), || {
        code = process.try_wait().unwrap();
        code.is_some()
    })
    .await;
    assert!(code.is_some_and(|code| code.success()), "{code:?}");
}

#[test]
fn pipes() {
    within(30, async {
        let (host_in, mut ours) = std::io::pipe().unwrap();
        let (mut theirs, host_out) = std::io::pipe().unwrap();
        let (kept_in, kept_out) = (host_in.try_clone().unwrap(), host_out.try_clone().unwrap());
        let process = owner(&["echo"], host_in, host_out);
        let text = lines(50_000);
        let (write, expected) = (text.clone(), text.len());
        let writer = std::thread::spawn(move || ours.write_all(write.as_bytes()).unwrap());
        let mut back = vec![0; expected];
        theirs.read_exact(&mut back).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), text);
        if cfg!(target_os = "linux") {
            // The open files are shared with us, and must be left as they are even while they are used.
            assert!(!fcntl_getfl(&kept_in).unwrap().contains(OFlags::NONBLOCK));
            assert!(!fcntl_getfl(&kept_out).unwrap().contains(OFlags::NONBLOCK));
        }
        writer.join().unwrap();
        drop((kept_in, kept_out));
        ends_well(process).await;
    });
}

/// Node gives the programs that it starts sockets.
#[test]
fn sockets() {
    within(30, async {
        let (mut ours, host_in) = UnixStream::pair().unwrap();
        let (mut theirs, host_out) = UnixStream::pair().unwrap();
        let kept = host_out.try_clone().unwrap();
        let process = owner(&["echo"], OwnedFd::from(host_in), OwnedFd::from(host_out));
        let text = lines(50_000);
        let write = text.clone();
        let writer = std::thread::spawn(move || {
            ours.write_all(write.as_bytes()).unwrap();
            ours
        });
        let mut back = vec![0; text.len()];
        theirs.read_exact(&mut back).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), text);
        assert!(!fcntl_getfl(&kept).unwrap().contains(OFlags::NONBLOCK));
        drop((kept, writer.join().unwrap()));
        ends_well(process).await;
    });
}

#[test]
fn files_and_devices() {
    within(30, async {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let text = lines(100_000);
        std::fs::write(&from, &text).unwrap();
        ends_well(owner(&["echo"], File::open(&from).unwrap(), File::create(&to).unwrap())).await;
        assert_eq!(std::fs::read_to_string(&to).unwrap(), text);
        ends_well(owner(&["read all", "say done"], Stdio::null(), File::create(&to).unwrap())).await;
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "done\n");
        ends_well(owner(&["flood stdout 3000000"], Stdio::null(), Stdio::null())).await;
        // A file that is appended to keeps what stood there.
        let append = File::options().append(true).open(&to).unwrap();
        ends_well(owner(&["say more"], Stdio::null(), append)).await;
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "done\nmore\n");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    within(30, async {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let process = owner(&["echo"], terminal.try_clone().unwrap(), terminal.try_clone().unwrap());
        let mut ours = File::from(ours);
        // Two lines at once: a terminal gives one a read.
        ours.write_all(b"one\ntwo\n").unwrap();
        let mut shown = String::new();
        // What is typed is shown by the terminal, and then once more by the program.
        while shown.matches("one").count() < 2 || shown.matches("two").count() < 2 {
            let mut buffer = [0; 100];
            let read = ours.read(&mut buffer).unwrap();
            shown.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
        assert!(!fcntl_getfl(&terminal).unwrap().contains(OFlags::NONBLOCK));
        // The end of file key.
        ours.write_all(&[4]).unwrap();
        ends_well(process).await;
    });
}

#[test]
fn a_reader_that_goes_is_noticed_even_when_there_is_nothing_to_write() {
    within(60, async {
        for socket in [false, true] {
            let (theirs, host_out): (OwnedFd, OwnedFd) = if socket {
                let (theirs, host_out) = UnixStream::pair().unwrap();
                (theirs.into(), host_out.into())
            } else {
                let (theirs, host_out) = std::io::pipe().unwrap();
                (theirs.into(), host_out.into())
            };
            let (host_in, ours) = std::io::pipe().unwrap();
            let mut process = owner(&["say ready", "read all"], host_in, host_out);
            let mut theirs = File::from(theirs);
            theirs.read_exact(&mut [0; 6]).unwrap();
            assert!(process.try_wait().unwrap().is_none());
            let since = Instant::now();
            drop(theirs);
            ends_well(process).await;
            assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
            drop(ours);
        }
    });
}

/// Bun closes the half of the socket through which it does not write, and reads on.
#[test]
fn a_reader_that_has_closed_its_own_half_is_served_and_its_end_is_noticed() {
    within(60, async {
        for goes in [false, true] {
            let (mut theirs, host_out) = UnixStream::pair().unwrap();
            theirs.shutdown(std::net::Shutdown::Write).unwrap();
            let (host_in, ours) = std::io::pipe().unwrap();
            let commands = ["say ready", "sleep 300", "say more", "read all", "say done"];
            let process = owner(&commands, host_in, OwnedFd::from(host_out));
            let mut said = [0; 11];
            theirs.read_exact(&mut said).unwrap();
            assert_eq!(&said, b"ready\nmore\n");
            let since = Instant::now();
            if goes {
                drop(theirs);
                ends_well(process).await;
                drop(ours);
            } else {
                drop(ours);
                let mut rest = String::new();
                theirs.read_to_string(&mut rest).unwrap();
                assert_eq!(rest, "done\n");
                ends_well(process).await;
            }
            assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        }
    });
}

/// Each line comes on its own, and soon: nothing waits for more.
#[test]
fn lines_are_passed_on_as_they_come() {
    within(30, async {
        let (host_in, mut ours) = std::io::pipe().unwrap();
        let (mut theirs, host_out) = std::io::pipe().unwrap();
        let process = owner(&["echo"], host_in, host_out);
        for n in 0..500 {
            let line = format!("{{\"n\":{n}}}\n");
            ours.write_all(line.as_bytes()).unwrap();
            let mut back = vec![0; line.len()];
            theirs.read_exact(&mut back).unwrap();
            assert_eq!(back, line.as_bytes());
        }
        drop(ours);
        ends_well(process).await;
    });
}
