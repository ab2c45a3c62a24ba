//! A stand-in between a host that the test plays and a scripted agent.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::play::Play;
use super::rfc::Keeper;
use super::{alive, example, hear_what_is_ignored, pids};

/// The lines of agents.
pub(crate) const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/tmp","session_id":"11111111-2222-4333-8444-555555555555","tools":["Bash"],"mcp_servers":[],"model":"m-1","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.1.329","output_style":"default","agents":[],"skills":[],"plugins":[],"uuid":"00000000-0000-4000-8000-000000000001"}"#;

/// What a Claude Code says.
pub(crate) fn text(text: &str) -> String {
    let line = r#"{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"TEXT"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":4}},"parent_tool_use_id":null,"session_id":"11111111-2222-4333-8444-555555555555","uuid":"00000000-0000-4000-8000-000000000002"}"#;
    line.replace("TEXT", text)
}

/// How its turn ends well.
pub(crate) fn result(text: &str) -> String {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"duration_api_ms":4,"num_turns":1,"result":"TEXT","stop_reason":"end_turn","session_id":"11111111-2222-4333-8444-555555555555","total_cost_usd":0.01,"usage":{"input_tokens":3,"output_tokens":4},"modelUsage":{},"permission_denials":[],"uuid":"00000000-0000-4000-8000-000000000003"}"#;
    line.replace("TEXT", text)
}

/// A host's prompt.
pub(crate) fn user(text: &str) -> String {
    format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}},"parent_tool_use_id":null,"session_id":""}}"#)
}

/// A host's control request.
pub(crate) fn request(id: &str, request: &str) -> String {
    format!(r#"{{"type":"control_request","request_id":"{id}","request":{request}}}"#)
}

/// Arguments of a host that talks Claude's dialect.
pub(crate) const CLAUDE: &[&str] = &[
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
];

/// Arguments of a host that talks Qwen Code's dialect.
pub(crate) const QWEN: &[&str] = &["--output-format", "stream-json", "--input-format", "stream-json"];

/// An agent and its script, in a folder that goes with the test.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// The agent does what these commands say.
    pub(crate) fn new<C: AsRef<str>>(commands: &[C]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(example("fake_agent"), folder.path().join("agent-program")).unwrap();
        let lines: Vec<&str> = commands.iter().map(AsRef::as_ref).collect();
        std::fs::write(folder.path().join("agent-program.script"), lines.join("\n")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The process ids of the agent and of what it started; needs `pid` with the path of `pids` in the script.
    pub(crate) fn living(&self) -> Vec<i32> {
        pids(&self.path("pids")).into_iter().filter(|&pid| alive(pid)).collect()
    }

    /// `agentglot run --as DIALECT --backend cli:BACKEND=AGENT`.
    pub(crate) fn command(&self, dialect: &str, backend: &str, settings: &[&str], args: &[&str]) -> Command {
        let program = self.path("agent-program");
        self.command_with(&program, dialect, backend, settings, args)
    }

    pub(crate) fn command_with(&self, program: &Path, dialect: &str, backend: &str, settings: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command.args(["run", "--as", dialect, "--backend"]);
        command.arg(format!("cli:{backend}={}", program.display()));
        command.args(settings).arg("--").args(args);
        command.current_dir(self.folder.path());
        for name in ["AGENTGLOT_BACKEND", "AGENTGLOT_DEPTH", "AGENTGLOT_LOG", "AGENTGLOT_QWEN"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The same, running, with a host that reads.
    pub(crate) fn host(&self, dialect: &str, backend: &str, settings: &[&str], args: &[&str]) -> Host {
        Host::new(self.command(dialect, backend, settings, args))
    }
}

/// A host that says what the test says and keeps what it reads.
pub(crate) struct Host {
    pub(crate) process: Child,
    stdin: Option<ChildStdin>,
    lines: Option<Receiver<String>>,
    stdout: Option<ChildStdout>,
    stderr: JoinHandle<String>,
    pub(crate) seen: Vec<Value>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

impl End {
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// The types of its lines, in order.
    pub(crate) fn types(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
    }

    /// Its results.
    pub(crate) fn results(&self) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["type"] == "result").collect()
    }

    /// The only one.
    pub(crate) fn result(&self) -> &Value {
        let results = self.results();
        assert_eq!(results.len(), 1, "one outcome a turn: {self:#?}");
        results[0]
    }
}

impl Host {
    pub(crate) fn new(command: Command) -> Self {
        // What the built-in agent says in the RFC's lines is looked at and kept, whichever test it is.
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let as_rfc = args.windows(2).any(|two| two == ["--as", "qwen"]) && args.iter().any(|arg| arg.starts_with("model:"));
        let mut keeper = (as_rfc && args.iter().any(|arg| arg.starts_with("stream-"))).then(Keeper::default);
        let mut host = Self::deaf(command);
        let stdout = BufReader::new(host.stdout.take().unwrap());
        let (give, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if let Some(keeper) = &mut keeper {
                    keeper.line(&line);
                }
                if give.send(line).is_err() {
                    return;
                }
            }
        });
        host.lines = Some(lines);
        host
    }

    /// One that does not read.
    pub(crate) fn deaf(mut command: Command) -> Self {
        hear_what_is_ignored();
        let mut process = command.spawn().unwrap();
        let mut stderr = process.stderr.take().unwrap();
        Self {
            stdin: process.stdin.take(),
            stdout: process.stdout.take(),
            lines: None,
            stderr: std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stderr.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            }),
            process,
            seen: Vec::new(),
        }
    }

    pub(crate) fn say(&mut self, line: &str) -> &mut Self {
        self.say_bytes(format!("{line}\n").as_bytes())
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
        self
    }

    pub(crate) fn close(&mut self) -> &mut Self {
        self.stdin = None;
        self
    }

    /// Takes the pipe to write to it oneself.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    /// Takes the pipe to read from it oneself, or to close it.
    pub(crate) fn take_stdout(&mut self) -> ChildStdout {
        self.stdout.take().unwrap()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Reads until a line is of this type.
    pub(crate) fn until(&mut self, what: &str) -> Value {
        self.until_within(what, Duration::from_secs(20))
    }

    /// The same for what takes its time.
    pub(crate) fn until_within(&mut self, what: &str, patience: Duration) -> Value {
        self.until_is(what, patience, |line| line["type"] == what)
    }

    /// Reads until such a line comes.
    pub(crate) fn until_is(&mut self, what: &str, patience: Duration, is: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + patience;
        loop {
            match self.next(until.saturating_duration_since(Instant::now())) {
                Ok(line) if is(&line) => return line,
                Ok(_) => {}
                Err(error) => panic!("no {what}: {error}; seen {:#?}", self.seen),
            }
        }
    }

    pub(crate) fn next(&mut self, patience: Duration) -> Result<Value, RecvTimeoutError> {
        let line = self.lines.as_ref().unwrap().recv_timeout(patience)?;
        let value: Value = serde_json::from_str(&line).unwrap_or(Value::String(line));
        self.seen.push(value.clone());
        Ok(value)
    }

    /// The host goes; so does everything else.
    pub(crate) fn leave(mut self, play: &Play) -> i32 {
        let process = self.process.id();
        self.close();
        let code = self.end().code();
        play.nothing_is_left(Some(process));
        code
    }

    /// Waits for the end of it.
    pub(crate) fn end(mut self) -> End {
        if self.lines.is_some() {
            while self.next(Duration::from_secs(60)).is_ok() {}
        }
        let status = self.process.wait().unwrap();
        End {
            status,
            lines: std::mem::take(&mut self.seen),
            stderr: self.stderr.join().unwrap(),
        }
    }
}
