//! What tests of living programs share.

pub(crate) mod app_server;
pub(crate) mod asked;
pub(crate) mod claude;
pub(crate) mod model;
pub(crate) mod play;
pub(crate) mod rfc;
pub(crate) mod server;
pub(crate) mod stage;
#[cfg(target_os = "linux")]
pub(crate) mod terminal;
pub(crate) mod turns;
pub(crate) mod wire;

use std::future::Future;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

/// The fake agent and the owner of a child are examples of this package; `cargo test --test …` alone does not build them. For the whole
/// workspace, as the README's command does: by the package alone what they depend on has other features, and is built once more.
pub(crate) fn example(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let us = std::env::current_exe().expect("the test runs");
        let profile = us.ancestors().nth(2).expect("target/PROFILE/deps/TEST");
        let name = profile.file_name().and_then(|name| name.to_str()).expect("it has a name");
        let name = if name == "debug" { "dev" } else { name };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--workspace",
            "--profile",
            name,
            "--example",
            "fake_agent",
            "--example",
            "child_owner",
            "--example",
            "mcp_server",
        ]);
        cargo.arg("--target-dir").arg(profile.parent().expect("target"));
        let built = cargo
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs, as it runs this test");
        assert!(built.success(), "the examples do not build");
        profile.join("examples")
    });
    folder.join(name)
}

/// A port of this machine that nobody listens at, for a program that does not say which one the system gave it. The system gives none of
/// these by itself, so no other test has it in the meantime.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 9000).expect("below 9000") + 20_000;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// What a program that ended said on stdout.
pub(crate) fn stdout(done: &Output) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// What it said on stderr.
pub(crate) fn stderr(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// Runs a test that may take so many seconds. A test that hangs, even without awaiting, ends the whole run with its name.
pub(crate) fn within(seconds: u64, test: impl Future<Output = ()>) {
    example("fake_agent");
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let (done, waiting) = channel::<()>();
    std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(seconds + 5)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{name} hangs");
            std::process::abort();
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let in_time = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(seconds), test).await });
    drop(done);
    in_time.unwrap_or_else(|_| panic!("it took longer than {seconds} s"));
}

/// Whether this process runs nothing but the test of this name (`module::test`). Otherwise one that does is started and waited for.
pub(crate) fn alone(name: &str) -> bool {
    const ALONE: &str = "AGENTGLOT_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let us = std::env::current_exe().expect("the test runs");
    let output = Command::new(us).args(["--exact", name, "--nocapture"]).env(ALONE, "1").output();
    let output = output.expect("a test can be run once more");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{name}: {said}");
    false
}

/// Signals are not ignored by what we start, even where `nohup`, the background of a script or a Python program has us ignore them: what a process
/// ignores its children ignore too, and the program heeds that; what it catches they begin with by default.
pub(crate) fn hear_what_is_ignored() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::XFSZ].map(Signal::as_raw) {
            if agentglot::child::sys::is_ignored(signal) {
                signal_hook::flag::register(signal, Arc::default()).expect("it can be caught");
            }
        }
    });
}

/// The lines of an output, each of which is JSON.
pub(crate) fn lines(output: &[u8]) -> Vec<Value> {
    let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Waits until it is so, where nothing else is to go on meanwhile.
pub(crate) fn wait(what: &str, patience: Duration, mut so: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while !so() {
        assert!(Instant::now() < until, "{what}: not so after {patience:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until it is so.
pub(crate) async fn eventually(what: &str, patience: Duration, mut so: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while !so() {
        assert!(Instant::now() < until, "{what}: not so after {patience:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The process ids that fake agents wrote to a file.
pub(crate) fn pids(path: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut pids: Vec<i32> = text.lines().map(|line| line.parse().expect("a number a line")).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Whether a process runs. A zombie does not: it only waits for its parent to look.
pub(crate) fn alive(pid: i32) -> bool {
    if cfg!(target_os = "linux") {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name, which is in brackets and may hold anything.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        return !matches!(state, None | Some('Z' | 'X'));
    }
    rustix::process::Pid::from_raw(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// The watchers of children that this process started.
pub(crate) fn watchers_of(owner: u32) -> Vec<i32> {
    let beginning = format!("agentglot-watcher\0{owner:x}.");
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(beginning.as_bytes())))
        .filter(|&pid| alive(pid))
        .collect()
}
