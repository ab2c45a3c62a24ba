//! The real counterparts, as their makers publish them, in front of us and behind us: the Claude Agent SDK for Python and for
//! TypeScript, Codex's for Python, the Qwen Code SDK and a Cursor client drive our binary; `claude` and `qwen` themselves answer, in front of a scripted
//! model. Every process sees the loopback interface alone where the system lets us arrange that.
//!
//! Without Python, npm or a way to install the packages the tests say so and pass. Each scenario is a line of the output, with a deadline
//! of its own.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::skipped;
use crate::installed;

/// How long all scenarios of a test may take together. A busy machine with two cores needs a third of it.
const PATIENCE: Duration = Duration::from_secs(480);

#[test]
fn claude_sdk_for_python_over_the_demo() {
    drive("claude_sdk.py", "demo", |_| "demo".to_owned());
}

#[test]
fn claude_sdk_for_python_over_recorded_logs() {
    drive("claude_sdk.py", "replay", |_| "demo".to_owned());
}

#[test]
fn claude_sdk_for_python_over_claude() {
    drive("claude_sdk.py", "agent", Installed::claude);
}

#[test]
fn claude_sdk_for_python_over_qwen() {
    drive("claude_sdk.py", "agent", Installed::qwen);
}

#[test]
fn claude_sdk_for_typescript_over_the_demo() {
    drive("claude_sdk.mjs", "demo", |_| "demo".to_owned());
}

#[test]
fn claude_sdk_for_typescript_over_claude() {
    drive("claude_sdk.mjs", "agent", Installed::claude);
}

#[test]
fn claude_sdk_for_typescript_over_qwen() {
    drive("claude_sdk.mjs", "agent", Installed::qwen);
}

#[test]
fn claude_sdk_for_python_over_a_model_of_openai() {
    drive("claude_sdk.py", "agent+own", |_| "model:openai".to_owned());
}

#[test]
fn claude_sdk_for_python_over_a_model_of_anthropic() {
    drive("claude_sdk.py", "agent+own", |_| "model:anthropic".to_owned());
}

#[test]
fn claude_sdk_for_typescript_over_a_model_of_openai() {
    drive("claude_sdk.mjs", "agent+own", |_| "model:openai".to_owned());
}

#[test]
fn claude_sdk_for_typescript_over_a_model_of_anthropic() {
    drive("claude_sdk.mjs", "agent+own", |_| "model:anthropic".to_owned());
}

#[test]
fn what_the_suite_of_claudes_sdk_for_python_asks_for() {
    drive("claude_suite.py", "own", |_| "model:anthropic".to_owned());
}

#[test]
fn codex_sdk_for_python_over_a_model_of_openai() {
    drive("codex_sdk.py", "own", |_| "model:openai".to_owned());
}

#[test]
fn codex_sdk_for_python_over_a_model_of_anthropic() {
    drive("codex_sdk.py", "own", |_| "model:anthropic".to_owned());
}

#[test]
fn qwen_sdk_over_a_model_of_openai() {
    drive("qwen_sdk.mjs", "agent", |_| "model:openai".to_owned());
}

#[test]
fn qwen_sdk_over_a_model_of_anthropic() {
    drive("qwen_sdk.mjs", "agent", |_| "model:anthropic".to_owned());
}

#[test]
fn qwen_sdk_over_recorded_logs() {
    drive("qwen_sdk.mjs", "replay", |_| "demo".to_owned());
}

#[test]
fn qwen_sdk_over_claude() {
    drive("qwen_sdk.mjs", "agent", Installed::claude);
}

#[test]
fn a_cursor_client_over_the_demo_and_a_recorded_log() {
    drive("cursor_client.mjs", "all", |_| "demo".to_owned());
}

/// Where the counterparts are.
struct Installed {
    python: PathBuf,
    /// `node_modules`.
    modules: PathBuf,
}

impl Installed {
    /// The real `claude`: it comes with its SDK.
    fn claude(&self) -> String {
        let lib = self.python.ancestors().nth(2).expect("bin/python of a virtual environment").join("lib");
        let versions = std::fs::read_dir(&lib).expect("its packages").flatten();
        let mut programs = versions.map(|version| version.path().join("site-packages/claude_agent_sdk/_bundled/claude"));
        let program = programs.find(|program| program.is_file()).expect("the SDK brings its program");
        format!("cli:claude={}", program.display())
    }

    /// The real `qwen`.
    fn qwen(&self) -> String {
        format!("cli:qwen={}", self.modules.join("@qwen-code/qwen-code/cli.js").display())
    }
}

/// Runs the scenarios of a client; all of them pass, and nothing is left behind.
fn drive(client: &str, group: &str, backend: impl Fn(&Installed) -> String) {
    let installed = match install() {
        Ok(installed) => installed,
        Err(why) => return skipped(&format!("{client} {group}, with the real counterparts"), why),
    };
    let scratch = tempfile::Builder::new().prefix("agentglot-sdks-").tempdir().unwrap();
    let shims = scratch.path().join("shims");
    std::fs::create_dir(&shims).unwrap();
    for name in ["claude", "codex", "qwen", "cursor-agent", "agent"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_agentglot"), shims.join(name)).unwrap();
    }
    let scripts = root().join("tests/sdks");
    let interpreter = if client.ends_with(".py") {
        installed.python.clone()
    } else {
        installed.modules.join(".bin/node")
    };
    let path = std::env::join_paths([
        shims.clone(),
        installed.modules.join(".bin"),
        "/usr/local/bin".into(),
        "/usr/bin".into(),
        "/bin".into(),
    ]);
    let said = scratch.path().join("said");
    let program = ["qwen", "codex"].into_iter().find(|name| client.starts_with(name)).unwrap_or("claude");
    let mut command = alone(&installed.python);
    command
        .arg(scripts.join("run.py"))
        .arg(scratch.path())
        .arg(interpreter)
        .arg(at_home(&scripts.join(client), &installed.modules))
        .arg(group)
        .env("PATH", path.unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TEST_CLI", shims.join(program))
        .env("TEST_BACKEND", backend(&installed))
        .env("TEST_GOLDEN", root().join("golden"))
        .env("TEST_MODULES", &installed.modules)
        .stdin(Stdio::null())
        .stdout(File::create(&said).unwrap())
        .stderr(File::create(scratch.path().join("stderr")).unwrap())
        .process_group(0);
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let left = left_behind(scratch.path());
    if status.is_none() {
        let group = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = child.wait();
    }
    let said = std::fs::read_to_string(said).unwrap();
    let stderr = std::fs::read(scratch.path().join("stderr")).unwrap();
    let stderr = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(4096)..]).into_owned();
    println!("{client} {group}:\n{said}");
    assert!(
        status.is_some_and(|status| status.success()),
        "{client} {group}: {status:?}\n{said}{stderr}"
    );
    assert!(
        said.lines().filter(|line| line.starts_with("ok ")).count() > 0,
        "no scenario ran:\n{stderr}"
    );
    assert!(left.is_empty(), "{client} {group}: still alive: {left:?}");
}

/// A command that sees no network but the loopback interface, if the system lets us; else Python itself.
fn alone(python: &Path) -> Command {
    for how in [&["-n"][..], &["-rn"]] {
        let works = Command::new("unshare").args(how).arg("true").stderr(Stdio::null()).status();
        if works.is_ok_and(|status| status.success()) {
            let mut command = Command::new("unshare");
            command.args(how).arg(python);
            return command;
        }
    }
    Command::new(python)
}

/// Node looks for packages beside the script: it is put there.
fn at_home(script: &Path, modules: &Path) -> PathBuf {
    if script.extension().is_some_and(|ending| ending == "py") {
        return script.to_owned();
    }
    let folder = modules.parent().expect("node_modules is in a folder");
    let copy = |name: &std::ffi::OsStr| {
        let own = folder.join(name);
        let text = std::fs::read(script.with_file_name(name)).unwrap();
        // Another run may read it: it is replaced in one step.
        let new = tempfile::NamedTempFile::new_in(folder).unwrap();
        std::fs::write(new.path(), text).unwrap();
        new.persist(&own).unwrap();
        own
    };
    for shared in ["scenarios.mjs", "claude_host.mjs", "claude_own.mjs"] {
        copy(shared.as_ref());
    }
    copy(script.file_name().expect("a script has a name"))
}

/// The processes that have our scratch folder for a home, a few seconds after everything should have ended.
fn left_behind(scratch: &Path) -> Vec<String> {
    let home = format!("HOME={}/home", scratch.display());
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let mut left = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes()) {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let shown = String::from_utf8_lossy(&line).replace('\0', " ").chars().take(120).collect::<String>();
                left.push(format!("{} {shown}", entry.file_name().display()));
            }
        }
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn install() -> Result<Installed, String> {
    Ok(Installed {
        python: installed::python("sdks/requirements.txt")?,
        modules: installed::node_modules("sdks/package.json")?,
    })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
