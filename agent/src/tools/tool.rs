//! What a tool is to the loop that runs it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::model::Spec;
use crate::model::message::Part;
use crate::workspace::Wall;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus};

/// Something that the model can call.
#[async_trait(?Send)]
pub trait Tool: fmt::Debug {
    /// What the model is told of it.
    fn spec(&self) -> &Spec;

    /// Whether the model is told of it. One that it is not told of runs when it is called.
    fn is_told(&self) -> bool {
        true
    }

    /// Whether this is one of its names.
    fn is_called(&self, name: &str) -> bool {
        self.spec().name == name
    }

    /// Whether a call with these arguments only reads: such calls run side by side, others one after the other.
    fn reads_only(&self, input: &Value) -> bool {
        let _ = input;
        self.spec().reads_only
    }

    /// What a call with these arguments is going to touch; permissions are judged by it.
    fn access(&self, input: &Value) -> Access {
        let _ = input;
        Access::Nothing
    }

    /// What the call would change, as a unified diff: shown to a person who is asked for permission. Changes nothing.
    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        let _ = (input, cx);
        None
    }

    /// Runs it. Every way it can go wrong is a [`Given`] too. When `cx.cancel` is cancelled it comes back soon and leaves no process and
    /// no half-written file behind.
    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given;
}

/// What a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing outside the agent.
    Nothing,
    /// Files and folders that are read. Paths as the model wrote them, relative to the working folder or absolute.
    Read(Vec<String>),
    /// Files and folders that are written or deleted.
    Write(Vec<String>),
    /// A command for a shell.
    Run(ShellCommand),
    /// A URL that is fetched.
    Fetch(String),
    /// Whatever an MCP server does.
    Mcp,
}

/// A command for a shell, and where it would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// The command.
    pub line: String,
    /// The folder that it begins in, relative to the working folder or absolute; `None`: that cannot be told.
    pub folder: Option<PathBuf>,
    /// Where its programs are looked for.
    pub programs: Vec<PathBuf>,
}

/// What a call has around it.
pub struct Cx<'a> {
    /// The call's id.
    pub call: &'a str,
    /// The turn is being stopped.
    pub cancel: CancellationToken,
    /// The session's surroundings.
    pub world: &'a World,
    /// Takes what the tool prints while it runs, as the bytes come.
    pub tell: &'a dyn Fn(Progress<'_>),
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("call", &self.call).finish_non_exhaustive()
    }
}

/// What a running tool shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Bytes on its standard output.
    Stdout(&'a [u8]),
    /// Bytes on its standard error.
    Stderr(&'a [u8]),
}

/// A session's surroundings, the same for all its tools.
#[derive(Clone, Debug)]
pub struct World {
    /// The workspace.
    pub wall: Arc<Wall>,
    /// The variables that commands get, scrubbed of secrets.
    pub environment: Arc<Vec<(String, String)>>,
    /// Where this session may keep files of its own (outputs of background commands, checkpoints). 0700.
    pub scratch: PathBuf,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// How it went.
    pub status: ResultStatus,
    /// What the model reads.
    pub content: Vec<Part>,
    /// The same in the typed form that hosts of a dialect read (Claude's `tool_use_result`, the RFC's `result_display`, Cursor's results).
    pub detail: Option<(DetailShape, Value)>,
    /// The exit code of a command.
    pub exit_code: Option<i32>,
}

impl Given {
    /// It went well.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            status: ResultStatus::Success,
            content: vec![Part::Text(text.into())],
            detail: None,
            exit_code: None,
        }
    }

    /// It went wrong, for this reason.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            status: ResultStatus::Error,
            ..Self::text(text)
        }
    }

    /// It was not allowed, for this reason.
    pub fn denied(text: impl Into<String>) -> Self {
        Self {
            status: ResultStatus::Denied,
            ..Self::text(text)
        }
    }

    /// With the typed form.
    #[must_use]
    pub fn with(mut self, shape: DetailShape, detail: Value) -> Self {
        self.detail = Some((shape, detail));
        self
    }
}
