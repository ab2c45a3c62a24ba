//! The built-in agent between a host that the test plays and a scripted model.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::model::{Answer, Asked, Server};
use super::stage::{End, Host};
use super::{alive, watchers_of};

/// Arguments of a run with one prompt, in each dialect, with permission for everything. The prompt goes behind them.
pub(crate) const ONE: &[(&str, &[&str])] = &[
    (
        "claude",
        &["-p", "--verbose", "--output-format", "stream-json", "--dangerously-skip-permissions"],
    ),
    ("qwen-code", &["--output-format", "stream-json", "--approval-mode", "yolo", "-p"]),
    ("qwen", &["--output-format", "stream-json", "--approval-mode", "yolo", "-p"]),
    ("qwen", &["--output-format", "stream-chunk-json", "--approval-mode", "yolo", "-p"]),
    ("tricode", &["--stdio", "--bypass-permission"]),
    ("cursor", &["-p", "--trust", "--force", "--output-format", "stream-json"]),
];

/// Those of Claude's.
pub(crate) const PRINT: &[&str] = ONE[0].1;

/// A workspace, a home and a model.
pub(crate) struct Play {
    folder: std::sync::Arc<tempfile::TempDir>,
    pub(crate) server: Server,
    mark: String,
}

impl Play {
    pub(crate) fn new(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::of(Server::start(answer))
    }

    pub(crate) fn script(answers: Vec<Answer>) -> Self {
        Self::of(Server::script(answers))
    }

    pub(crate) fn of(server: Server) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        let mark = format!("mark-{}", uuid::Uuid::new_v4());
        Self {
            folder: std::sync::Arc::new(folder),
            server,
            mark,
        }
    }

    /// The same folders, another model.
    pub(crate) fn served(self, server: Server) -> Self {
        Self { server, ..self }
    }

    /// The same, with this one going on.
    pub(crate) fn again(&self, server: Server) -> Self {
        Self {
            folder: self.folder.clone(),
            server,
            mark: self.mark.clone(),
        }
    }

    /// The folder that holds the workspace, as it is called without links.
    pub(crate) fn base(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base().join("work").join(name)
    }

    /// The same as text.
    pub(crate) fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn command(&self, dialect: &str, args: &[&str]) -> Command {
        self.command_of("openai", dialect, args)
    }

    pub(crate) fn command_of(&self, api: &str, dialect: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        let url = format!("http://127.0.0.1:{}", self.server.port);
        command
            .args([
                "run",
                "--as",
                dialect,
                "--backend",
                &format!("model:{api}"),
                "--pass-env",
                "TEST_MARK",
                "--",
            ])
            .args(args)
            .current_dir(self.path(""))
            .env_clear()
            .envs([
                ("PATH", std::env::var("PATH").unwrap_or_default()),
                ("HOME", self.base().join("home").display().to_string()),
                ("OPENAI_BASE_URL", format!("{url}/v1")),
                ("ANTHROPIC_BASE_URL", url),
                ("OPENAI_API_KEY", "sk-a-secret-of-ours".to_owned()),
                ("ANTHROPIC_API_KEY", "sk-a-secret-of-ours".to_owned()),
                ("OPENAI_MODEL", "gpt-4o".to_owned()),
                ("ANTHROPIC_MODEL", "claude-sonnet-4-5".to_owned()),
                ("AGENTGLOT_MODEL_RETRIES", "0".to_owned()),
                ("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "10".to_owned()),
                ("AGENTGLOT_MODEL_STALL_TIMEOUT", "30".to_owned()),
                ("TEST_MARK", self.mark.clone()),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A host that goes on talking.
    pub(crate) fn host(&self, dialect: &str, args: &[&str]) -> Host {
        Host::new(self.command(dialect, args))
    }

    /// A run with one prompt.
    pub(crate) fn one(&self, dialect: &str, args: &[&str], prompt: &str) -> End {
        let mut args = args.to_vec();
        args.push(prompt);
        run(self.command(dialect, &args))
    }

    /// A run of Claude's with one prompt.
    pub(crate) fn print(&self, prompt: &str) -> End {
        self.one("claude", PRINT, prompt)
    }

    /// Nothing of a run is left but what it should leave: no process that has its mark, or works in its folder.
    pub(crate) fn nothing_is_left(&self, process: Option<u32>) {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let left: Vec<_> = self.left().into_iter().chain(process.into_iter().flat_map(watchers_of)).collect();
            if left.is_empty() {
                return;
            }
            let names: Vec<_> = left.iter().map(|pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline"))).collect();
            assert!(Instant::now() < until, "processes are left: {left:?} {names:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn left(&self) -> Vec<i32> {
        let base = self.base();
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| {
                let here = std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&base));
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                here || environment.windows(self.mark.len()).any(|window| window == self.mark.as_bytes())
            })
            .filter(|&pid| alive(pid))
            .collect()
    }
}

/// Runs to the end; nothing is said on standard input.
pub(crate) fn run(command: Command) -> End {
    let mut host = Host::new(command);
    host.close();
    host.end()
}

/// What a host reads of the results of calls: lines of any dialect that hold them.
pub(crate) fn said(end: &End) -> String {
    end.lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}
