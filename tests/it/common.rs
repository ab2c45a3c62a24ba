//! Runs the program from outside.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ran {
    /// What was written, as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("output is UTF-8")
    }

    /// The lines on stderr that name damage: file, line, byte, reason.
    pub(crate) fn damage(&self) -> Vec<(String, u64, u64, String)> {
        let parse = |line: &str| {
            let mut parts = line.splitn(4, ':');
            let (file, at, byte) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            Some((file.to_owned(), at, byte, parts.next()?.trim().to_owned()))
        };
        self.err
            .lines()
            .filter(|line| !line.starts_with("agentglot: "))
            .map(|line| parse(line).unwrap_or_else(|| panic!("{line:?} is no damage")))
            .collect()
    }

    /// The damaged lines.
    pub(crate) fn damaged_lines(&self) -> Vec<u64> {
        self.damage().into_iter().map(|(_, line, ..)| line).collect()
    }
}

/// The program, ready to be given arguments.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command
        .env_remove("AGENTGLOT_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program with nothing on stdin.
pub(crate) fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) -> Ran {
    feed(args, b"")
}

/// Runs the program with `input` on stdin.
pub(crate) fn feed<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I, input: &[u8]) -> Ran {
    let mut child = program().args(args).stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let input = input.to_owned();
    // The program may write before it has read everything.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("writing does not panic");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!err.contains("panicked"), "{err}");
    Ran {
        code: output.status.code().expect("no signal ends the program"),
        out: output.stdout,
        err,
    }
}

/// Says that something was not tried here, and why. Where nothing may be skipped (`AGENTGLOT_NO_SKIPS`) that is a failure.
pub(crate) fn skipped(what: &str, why: impl Display) {
    assert!(std::env::var_os("AGENTGLOT_NO_SKIPS").is_none(), "{what} may not be skipped: {why}");
    // Straight to the terminal: what a test prints by the macros is kept back when it passes.
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: {what}: {why}");
}

/// A folder that goes away with the test.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder can be made"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder can be made");
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    }

    /// The names of the files in a folder.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("the folder is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// A file of `golden/`.
pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// The path as an argument.
pub(crate) fn arg(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// A session of Claude Code with one answer, a line each.
pub(crate) fn session(id: &str, answer: &str) -> [String; 3] {
    [
        format!(
            r#"{{"type":"system","subtype":"init","cwd":"/w","session_id":"{id}","tools":["Bash"],"mcp_servers":[],"model":"m-1","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.1.329","output_style":"default","agents":[],"skills":[],"plugins":[],"uuid":"00000000-0000-4000-8000-000000000001"}}"#
        ),
        format!(
            r#"{{"type":"assistant","message":{{"id":"msg_{id}","type":"message","role":"assistant","model":"m-1","content":[{{"type":"text","text":"{answer}"}}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":3,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"{id}","uuid":"00000000-0000-4000-8000-000000000002"}}"#
        ),
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"duration_api_ms":4,"num_turns":1,"result":"{answer}","stop_reason":"end_turn","session_id":"{id}","total_cost_usd":0.1,"usage":{{"input_tokens":3,"output_tokens":9}},"modelUsage":{{}},"permission_denials":[],"uuid":"00000000-0000-4000-8000-000000000003"}}"#
        ),
    ]
}

/// The lines of [`session`], each ended.
pub(crate) fn log(id: &str, answer: &str) -> String {
    session(id, answer).map(|line| line + "\n").concat()
}
