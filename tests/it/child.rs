//! Children: all pipes served, stopped in steps, nothing left behind.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agentglot::child::{Child, Ending, Environment, Exit, LookupError, Plan, StartError, Step, Steps, Watcher};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{alive, eventually, example, pids, watchers_of, within};

const MIB: usize = 1 << 20;

/// Short ones, for programs that are known not to heed them.
const STEPS: Steps = Steps {
    close: Duration::from_millis(200),
    terminate: Duration::from_millis(200),
    kill: Duration::from_millis(1000),
};

fn plan(commands: &[&str]) -> Plan {
    let mut plan = Plan::new(example("fake_agent")).args(["--do"]).args(commands);
    plan.watcher = Watcher::Program(PathBuf::from(env!("CARGO_BIN_EXE_agentglot")));
    plan
}

fn start(commands: &[&str]) -> Child {
    Child::start(plan(commands)).unwrap()
}

async fn read_all(child: &Child) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        match child.read(&mut buffer).await.unwrap() {
            0 => return all,
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
}

async fn read_text(child: &Child) -> String {
    String::from_utf8(read_all(child).await).unwrap()
}

fn pid_file(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("pids");
    let command = format!("pid {}", path.display());
    (path, command)
}

#[test]
fn a_program_that_ends_by_itself() {
    within(20, async {
        let child = start(&["say hello", "warn oh", "exit 3"]);
        assert_eq!(read_text(&child).await, "hello\n");
        assert_eq!(child.exited().await, Some(Exit::Code(3)));
        let expected = Ending {
            exit: Some(Exit::Code(3)),
            stderr_tail: b"oh\n".to_vec(),
            stderr_bytes: 3,
            step: Step::ByItself,
        };
        assert_eq!(child.stop(STEPS).await, expected);
        assert_eq!(child.ended().await, expected);
        assert_eq!(child.read(&mut [0; 8]).await.unwrap(), 0);
        assert!(child.write(b"x").is_err());
    });
}

#[test]
fn a_hundred_mib_of_stderr() {
    within(120, async {
        let child = start(&["flood stderr 104857600", "warn the end", "say done"]);
        assert_eq!(read_text(&child).await, "done\n");
        let ending = child.stop(STEPS).await;
        assert_eq!(ending.stderr_bytes, 100 * MIB as u64 + 8);
        assert_eq!(ending.stderr_tail.len(), 64 << 10);
        assert!(ending.stderr_tail.ends_with(b".\nthe end\n"));
        assert_eq!(ending.exit, Some(Exit::Code(0)));
    });
}

#[test]
fn much_is_written_before_anything_is_read() {
    for (prompt, before) in [(128 << 10, 256 << 10), (8 * MIB, 4 * MIB)] {
        within(30, async {
            let child = start(&[&format!("flood stdout {before}"), "flood stderr 1000000", "count"]);
            child.write(&vec![b'p'; prompt]).unwrap();
            child.close_stdin();
            // Both sides are stuck now, unless the pipes are served apart.
            tokio::time::sleep(Duration::from_millis(300)).await;
            let all = read_all(&child).await;
            assert_eq!(all.len(), before + prompt.to_string().len() + 1);
            assert!(all.ends_with(format!("\n{prompt}\n").as_bytes()));
            assert_eq!(child.stop(STEPS).await.stderr_bytes, 1_000_000);
        });
    }
}

#[test]
fn a_caller_that_gives_more_than_is_taken_is_held_back() {
    within(30, async {
        let mut plan = plan(&["sleep 500", "count"]);
        plan.limits.queued = 100_000;
        let child = Child::start(plan).unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(5), child.room()).await.is_ok());
        child.write(&vec![b'x'; MIB]).unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(100), child.room()).await.is_err());
        child.room().await;
        assert!(child.queued() < 100_000);
        child.flushed().await;
        assert_eq!(child.queued(), 0);
        child.close_stdin();
        assert_eq!(read_text(&child).await, "1048576\n");
    });
}

#[test]
fn stderr_is_passed_on_to_the_last_word() {
    within(30, async {
        let run = |commands: &[&str]| {
            let mut owner = owner();
            owner.arg("--do").args(commands).stdin(Stdio::null()).output().unwrap()
        };
        let output = run(&["flood stderr 307200", "warn the last word", "exit 7"]);
        assert_eq!(output.stderr.len(), 307_214);
        assert!(output.stderr.ends_with(b"\nthe last word\n"));
        assert_eq!(output.status.code(), Some(7));
    });
}

#[test]
fn a_stderr_that_nobody_reads_holds_nothing_up() {
    within(30, async {
        let mut process = owner();
        process.args(["--do", "flood stderr 30000000", "say done"]).stdin(Stdio::null());
        let mut process = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = String::new();
        process.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        assert_eq!(stdout, "done\n");
        assert!(process.wait().unwrap().success());
    });
}

#[test]
fn a_program_that_closes_stdin_early() {
    within(30, async {
        let child = start(&["say ready", "exit 0"]);
        assert_eq!(read_text(&child).await, "ready\n");
        let _ = child.write(&vec![b'x'; MIB]);
        child.flushed().await;
        child.room().await;
        eventually("stdin is closed", Duration::from_secs(5), || child.write(b"more").is_err()).await;
        assert_eq!(child.stop(STEPS).await.exit, Some(Exit::Code(0)));
    });
}

#[test]
fn killed_in_the_middle_of_a_line() {
    // Also when something that it started holds the pipe, so that its end does not come by itself.
    for spawned in [&[][..], &["spawn"]] {
        within(20, async {
            let commands = [spawned, &["say {\"a\":1}", "write {\"half\":", "die KILL"]].concat();
            let child = start(&commands);
            let mut all = Vec::new();
            while !all.ends_with(b"half\":") {
                let mut buffer = [0; 100];
                let read = child.read(&mut buffer).await.unwrap();
                all.extend_from_slice(&buffer[..read]);
            }
            assert_eq!(child.exited().await, Some(Exit::Signal(9)));
            let since = Instant::now();
            assert_eq!(child.read(&mut [0; 100]).await.unwrap(), 0);
            assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
            assert_eq!(all, b"{\"a\":1}\n{\"half\":");
            assert_eq!(child.stop(STEPS).await.step, Step::ByItself);
        });
    }
}

#[test]
fn stops_in_steps() {
    within(60, async {
        let folder = tempfile::tempdir().unwrap();
        for (commands, step, exit) in [
            (&["read all"][..], Step::Closed, Exit::Code(0)),
            (&["hang"], Step::Terminated, Exit::Signal(15)),
            (&["at TERM bye", "hang"], Step::Terminated, Exit::Code(143)),
            (&["ignore TERM", "hang"], Step::Killed, Exit::Signal(9)),
            // It cannot end before its output is taken.
            (&["flood stdout 3000000", "read all"], Step::Closed, Exit::Code(0)),
        ] {
            let (path, pid) = pid_file(folder.path());
            let ready = folder.path().join("ready");
            let ready_command = format!("pid {}", ready.display());
            let (last, first) = commands.split_last().unwrap();
            let mut all = vec![pid.as_str()];
            all.extend(first.iter().filter(|command| !command.starts_with("flood")));
            all.push(&ready_command);
            all.extend(first.iter().filter(|command| command.starts_with("flood")));
            all.push(last);
            let child = start(&all);
            eventually("it is ready", Duration::from_secs(10), || !pids(&ready).is_empty()).await;
            let since = Instant::now();
            let ending = child.stop(STEPS).await;
            assert_eq!((ending.step, ending.exit), (step, Some(exit)), "{commands:?}");
            assert!(since.elapsed() < Duration::from_secs(15), "{commands:?}: {:?}", since.elapsed());
            assert!(pids(&path).iter().all(|&pid| !alive(pid)));
            std::fs::remove_file(ready).unwrap();
        }
    });
}

#[test]
fn what_is_said_at_the_end_is_kept() {
    within(20, async {
        let child = start(&["at TERM {\"type\":\"result\"}", "say ready", "hang"]);
        let mut buffer = [0; 100];
        assert_eq!(child.read(&mut buffer).await.unwrap(), 6);
        child.begin_stop(Steps {
            close: Duration::ZERO,
            ..Steps::default()
        });
        assert_eq!(read_text(&child).await, "{\"type\":\"result\"}\n");
        let ending = child.ended().await;
        assert_eq!((ending.step, ending.exit), (Step::Terminated, Some(Exit::Code(143))));
    });
}

#[test]
fn a_stop_can_be_hurried_and_given_up() {
    within(20, async {
        let child = start(&["ignore TERM", "say ready", "hang"]);
        assert_eq!(child.read(&mut [0; 100]).await.unwrap(), 6);
        let slow = Steps {
            close: Duration::from_secs(100),
            terminate: Duration::from_secs(100),
            kill: Duration::from_secs(1),
        };
        assert!(tokio::time::timeout(Duration::from_millis(50), child.stop(slow)).await.is_err());
        assert!(alive(child.id().cast_signed()));
        assert_eq!(child.stop(Steps::NOW).await.step, Step::Killed);
    });
}

#[test]
fn nothing_is_lost_when_reads_are_given_up() {
    within(60, async {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let lines: String = (0..400).map(|n| format!("{{\"n\":{n}}}\n")).collect();
        std::fs::write(&log, &lines).unwrap();
        let child = start(&["cut 5 0", &format!("rate 500 1 {}", log.display())]);
        let (mut all, mut buffer, mut given_up) = (Vec::new(), [0; 64], 0);
        loop {
            match tokio::time::timeout(Duration::from_micros(50), child.read(&mut buffer)).await {
                Err(_) => given_up += 1,
                Ok(Ok(0)) => break,
                Ok(read) => all.extend_from_slice(&buffer[..read.unwrap()]),
            }
        }
        assert_eq!(String::from_utf8(all).unwrap(), lines);
        assert!(given_up > 10, "{given_up}");
    });
}

/// Everything that an agent may start: in its group, out of it, executed anew, started anew.
fn brood(pid: &str) -> Vec<&str> {
    let mut commands = vec![pid, "ignore TERM", "spawn"];
    if cfg!(target_os = "linux") {
        commands.push("spawn detached");
    }
    commands.extend(["reexec", "ignore TERM", "respawn", "ignore TERM", "say ready"]);
    commands
}

const BROOD: usize = if cfg!(target_os = "linux") { 4 } else { 3 };

async fn brood_is_there(path: &Path) {
    eventually("all of the brood is there", Duration::from_secs(20), || pids(path).len() == BROOD).await;
}

async fn brood_is_gone(path: &Path, patience: Duration) {
    eventually("all of the brood is gone", patience, || !pids(path).into_iter().any(alive)).await;
}

#[test]
fn nothing_is_left_of_a_child() {
    within(60, async {
        for (end, way) in [
            ("hang", "stop"),
            ("hang", "drop"),
            ("hang", "kill the leader"),
            ("sleep 300", "ends by itself"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (path, pid) = pid_file(folder.path());
            let mut commands = brood(&pid);
            commands.push(end);
            let child = start(&commands);
            assert_eq!(child.read(&mut [0; 100]).await.unwrap(), 6, "{way}");
            brood_is_there(&path).await;
            match way {
                "stop" => {
                    let ending = child.stop(STEPS).await;
                    assert_eq!(ending.step, Step::Killed);
                    assert!(!pids(&path).into_iter().any(alive), "gone when stop returns");
                }
                "drop" => drop(child),
                "kill the leader" => {
                    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
                    assert_eq!(read_all(&child).await, b"");
                    assert_eq!(child.ended().await.exit, Some(Exit::Signal(9)));
                }
                _ => {
                    assert_eq!(read_all(&child).await, b"");
                    let ending = child.ended().await;
                    assert_eq!((ending.exit, ending.step), (Some(Exit::Code(0)), Step::ByItself));
                }
            }
            brood_is_gone(&path, Duration::from_secs(5)).await;
        }
    });
}

#[test]
fn a_runtime_that_goes_takes_its_children_along() {
    let folder = tempfile::tempdir().unwrap();
    let (path, pid) = pid_file(folder.path());
    let mut kept = None;
    within(30, async {
        let mut commands = brood(&pid);
        commands.push("hang");
        kept = Some(start(&commands));
        brood_is_there(&path).await;
    });
    within(10, brood_is_gone(&path, Duration::from_secs(5)));
    drop(kept);
}

#[test]
fn a_killed_watcher_is_missed_by_nobody() {
    within(30, async {
        let folder = tempfile::tempdir().unwrap();
        let (path, pid) = pid_file(folder.path());
        let plan = plan(&[&pid, "ignore TERM", "spawn", "say ready", "hang"]);
        let mut owner = owner();
        let child = Child::start(plan).unwrap();
        assert_eq!(child.read(&mut [0; 100]).await.unwrap(), 6);
        eventually("both are there", Duration::from_secs(10), || pids(&path).len() == 2).await;
        // Only that of a process of its own can be told from those of tests beside this one.
        let process = owner
            .args(["--do", "say ready", "read all"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = process.unwrap();
        process.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
        for watcher in watchers_of(process.id()) {
            kill_process(Pid::from_raw(watcher).unwrap(), Signal::KILL).unwrap();
        }
        drop(process.stdin.take());
        assert!(process.wait().unwrap().success());
        assert_eq!(child.stop(STEPS).await.exit, Some(Exit::Signal(9)));
        brood_is_gone(&path, Duration::from_secs(1)).await;
    });
}

/// A process that owns a fake agent; the script is still to be given.
fn owner() -> Command {
    let mut command = Command::new(example("child_owner"));
    command.arg(example("fake_agent"));
    command
}

#[test]
fn nothing_is_left_when_the_owner_goes() {
    for way in ["stdin", "stdout", "TERM", "INT", "KILL", "KILL all of its name"] {
        within(60, async {
            let folder = tempfile::tempdir().unwrap();
            let (path, pid) = pid_file(folder.path());
            let mut commands = brood(&pid);
            // It goes on writing, or a closed stdout would be noticed by nobody.
            commands.extend(["sleep 1500", "flood stdout 100000000", "hang"]);
            let mut process = owner()
                .arg("--do")
                .args(commands)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            process.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
            brood_is_there(&path).await;
            let id = process.id();
            if cfg!(target_os = "linux") {
                assert_eq!(watchers_of(id).len(), 1);
            }
            let pid = Pid::from_child(&process);
            match way {
                "stdin" => drop(process.stdin.take()),
                "stdout" => drop(process.stdout.take()),
                "TERM" => kill_process(pid, Signal::TERM).unwrap(),
                "INT" => kill_process(pid, Signal::INT).unwrap(),
                "KILL" => kill_process(pid, Signal::KILL).unwrap(),
                // As `kill -9 -1` would, but for the watcher, which is told to stop first and does not.
                _ => {
                    for watcher in watchers_of(id) {
                        kill_process(Pid::from_raw(watcher).unwrap(), Signal::TERM).unwrap();
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    kill_process(pid, Signal::KILL).unwrap();
                }
            }
            if way == "stdin" {
                // An agent that does not end when its stdin does is stopped by the session, not by us.
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert!(alive(id.cast_signed()));
                kill_process(pid, Signal::TERM).unwrap();
            }
            brood_is_gone(&path, Duration::from_secs(5)).await;
            eventually("the owner is gone", Duration::from_secs(5), || process.try_wait().unwrap().is_some()).await;
            eventually("no watcher is left", Duration::from_secs(5), || watchers_of(id).is_empty()).await;
        });
    }
}

/// The resident memory of a process in bytes.
#[cfg(target_os = "linux")]
fn resident(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn a_slow_reader_costs_no_memory() {
    within(120, async {
        let mut process = owner()
            .args(["--do", "say ready", "sleep 300", "flood stdout 67108864", "flood stderr 1000000"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = process.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 6]).unwrap();
        let before = resident(process.id());
        let mut most = 0;
        for _ in 0..30 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            most = most.max(resident(process.id()));
        }
        assert!(most < before + 16 * MIB, "{before} became {most}");
        let mut all = Vec::new();
        stdout.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), 64 * MIB);
        assert!(process.wait().unwrap().success());
    });
}

#[test]
fn what_a_program_is_given() {
    within(20, async {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = plan(&[
            "args",
            "cwd",
            "env PATH",
            "env HOME",
            "env SECRET",
            "env CARGO",
            "env PWD",
            "env AGENTGLOT_DEPTH",
        ]);
        plan.env = Environment::nothing().allow(["PATH", "HOM*"]).set("SECRET", "s").set("HOME", "/nowhere");
        plan.cwd = Some(folder.path().to_owned());
        let child = Child::start(plan).unwrap();
        let text = read_text(&child).await;
        let cwd = folder.path().canonicalize().unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                cwd.to_str().unwrap(),
                &format!("PATH={}", std::env::var("PATH").unwrap()),
                "HOME=/nowhere",
                "SECRET=s",
                "CARGO=",
                &format!("PWD={}", folder.path().display()),
                "AGENTGLOT_DEPTH=1"
            ]
        );
        assert!(text.starts_with("[\"--do\",\"args\",\"cwd\""), "{text}");
    });
}

#[test]
fn what_cannot_be_started() {
    within(20, async {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            path
        };
        let try_start = |change: &dyn Fn(&mut Plan)| {
            let mut plan = plan(&["say hello"]);
            change(&mut plan);
            Child::start(plan).unwrap_err()
        };
        let program = |path: PathBuf| try_start(&move |plan| plan.program = path.clone().into());
        assert!(matches!(
            program("/no/such/agent".into()),
            StartError::Lookup(LookupError::Missing { .. })
        ));
        assert!(matches!(
            program("no-such-agent".into()),
            StartError::Lookup(LookupError::NotInPath { .. })
        ));
        assert!(matches!(program(folder.path().into()), StartError::Lookup(LookupError::Directory { .. })));
        let text = file("text", "#!/bin/sh\n", 0o644);
        assert!(matches!(program(text), StartError::Lookup(LookupError::NotExecutable { .. })));
        let us = std::env::current_exe().unwrap();
        let link = folder.path().join("claude");
        std::os::unix::fs::symlink(us, &link).unwrap();
        assert!(matches!(program(link), StartError::Lookup(LookupError::Ourselves { .. })));
        let told = program(file("script", "#!/no/such/interpreter\n", 0o755)).to_string();
        assert!(told.contains("did not start") && told.contains("interpreter"), "{told}");

        let told = try_start(&|plan| plan.args.push(OsString::from("a\0b"))).to_string();
        assert!(told.starts_with("argument 3 holds a NUL"), "{told}");
        let told = try_start(&|plan| plan.args.push("x".repeat(131_072).into())).to_string();
        assert!(told.starts_with("argument 3 has 131072 bytes"), "{told}");
        let told = try_start(&|plan| plan.env = Environment::default().set("BIG", "x".repeat(131_068))).to_string();
        assert!(told.starts_with("the variable BIG has 131072 bytes"), "{told}");
        let told = try_start(&|plan| plan.cwd = Some("/no/such/folder".into())).to_string();
        assert!(told.starts_with("/no/such/folder: the program cannot run in this folder"), "{told}");
        assert!(matches!(try_start(&|plan| plan.limits.depth = 0), StartError::TooDeep { depth: 0 }));
        assert!(matches!(try_start(&|plan| plan.watcher = Watcher::OurProgram), StartError::NoWatcher));
        assert!(matches!(
            try_start(&|plan| plan.watcher = Watcher::Program("/no/such/watcher".into())),
            StartError::Watcher { .. }
        ));

        // The longest that there may be gets through.
        let mut longest = plan(&["say hello"]);
        longest.args.push(format!("# {}", "x".repeat(131_069)).into());
        assert_eq!(read_text(&Child::start(longest).unwrap()).await, "hello\n");
    });
}
