//! The real counterparts, as their makers publish them, in front of us and behind us: the Claude Agent SDK for Python and for
//! TypeScript, the Qwen Code SDK and a Cursor client drive our binary; `claude` and `qwen` themselves answer, in front of a scripted
//! model. Every process sees the loopback interface alone where the system lets us arrange that.
//!
//! The packages go into a cache folder outside the clone. Without Python, npm or a way to install them the tests say so and pass; with
//! `AGENTGLOT_REQUIRE_SDKS` set they fail instead. Each scenario is a line of the output, with a deadline of its own.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

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
    static INSTALLED: OnceLock<Result<Installed, String>> = OnceLock::new();
    let installed = match INSTALLED.get_or_init(install) {
        Ok(installed) => installed,
        Err(why) if std::env::var_os("AGENTGLOT_REQUIRE_SDKS").is_some() => panic!("the real counterparts are required: {why}"),
        Err(why) => {
            eprintln!("\n*** SKIPPED: {client} {group}: nothing was tried with the real counterparts: {why} ***\n");
            return;
        }
    };
    let scratch = tempfile::Builder::new().prefix("agentglot-sdks-").tempdir().unwrap();
    let shims = scratch.path().join("shims");
    std::fs::create_dir(&shims).unwrap();
    for name in ["claude", "qwen", "cursor-agent", "agent"] {
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
    let mut command = alone(&installed.python);
    command
        .arg(scripts.join("run.py"))
        .arg(scratch.path())
        .arg(interpreter)
        .arg(at_home(&scripts.join(client), &installed.modules))
        .arg(group)
        .env("PATH", path.unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TEST_CLI", shims.join(if client.starts_with("qwen") { "qwen" } else { "claude" }))
        .env("TEST_BACKEND", backend(installed))
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

/// Installs what is not installed yet. A folder is complete when it says so.
fn install() -> Result<Installed, String> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let cache = cache
        .ok_or("no cache folder: neither XDG_CACHE_HOME nor HOME is set")?
        .join("agentglot-tests");
    let venv = folder(&cache, "sdks-python", "requirements.txt", |folder, list| {
        run(Path::new("python3"), &["-m".into(), "venv".into(), folder.into()], folder)?;
        let args = ["-m".into(), "pip".into(), "install".into(), "--quiet".into(), "-r".into(), list.into()];
        run(&folder.join("bin/python"), &args, folder)
    })?;
    let node = folder(&cache, "sdks-node", "package.json", |folder, list| {
        std::fs::copy(list, folder.join("package.json")).map_err(|error| error.to_string())?;
        let args = ["install", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"].map(OsString::from);
        run(Path::new("npm"), &args, folder)?;
        // The package that brings Node fetches its program in a script, which npm may have been told not to run.
        run(&folder.join("node_modules/.bin/node"), &["--version".into()], folder)
    })?;
    Ok(Installed {
        python: venv.join("bin/python"),
        modules: node.join("node_modules"),
    })
}

/// The folder of a list of packages, filled by `fill` if it is not complete.
fn folder(cache: &Path, name: &str, list: &str, fill: impl Fn(&Path, &Path) -> Result<(), String>) -> Result<PathBuf, String> {
    let list = root().join("tests/sdks").join(list);
    let wanted = std::fs::read(&list).map_err(|error| error.to_string())?;
    let key = agentglot::adapters::ids::fnv(&wanted, agentglot::adapters::ids::FNV_SEED);
    let folder = cache.join(format!("{name}-{key:016x}"));
    let done = folder.join("complete");
    if !done.exists() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        fill(&folder, &list)?;
        std::fs::write(&done, b"").map_err(|error| error.to_string())?;
    }
    Ok(folder)
}

fn run(program: &Path, args: &[OsString], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    output
        .status
        .success()
        .then_some(())
        .ok_or_else(|| format!("{} {args:?}: {} {}", program.display(), text(&output.stdout), text(&output.stderr)))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
