//! `run_shell_command`, `list_background_processes`, `read_background_output`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::say;
use crate::persona::shared::jobs::uncoloured;
use crate::persona::shared::native::{Run, plain, stray, tools};
use crate::tools::jobs::{Job, Start, State};
use crate::tools::processes::Processes;
use crate::tools::shell::{Cause, Order, Ran};
use crate::tools::{Cx, Given, ShellCommand, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};
use agentglot_process::Exit;

/// How long a command may take. The model cannot say it.
const TIMEOUT: Duration = Duration::from_secs(300);
/// How many bytes of an output the model reads: of its beginning and of its end.
const SHOWN: (usize, usize) = (20 << 10, 20 << 10);
/// How many lines of a background command's output it reads if it does not say.
const LINES: u64 = 100;
/// The longest wait that it may ask for.
const LONGEST_DELAY: u64 = 60_000;

pub(super) fn shell(processes: &Rc<Processes>) -> Vec<Rc<dyn Tool>> {
    let specs = [run_shell_command(), list_background_processes(), read_background_output()];
    tools(Dialect::Gemini, say::invalid, specs, Shell(Rc::clone(processes)))
}

fn run_shell_command() -> Spec {
    Spec {
        name: "run_shell_command".to_owned(),
        description: "Runs a command as `bash -c COMMAND` in a process group of its own, for at most five minutes. Standard input is empty and \
                      there is no terminal. What a command leaves running ends with it: for a server, or whatever takes long, set is_background, \
                      and you are told when it has ended. Told are what it printed on both streams, its exit code if that is not 0, and its \
                      process group; of a long output, the beginning and the end, and where the whole is."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command"},
                "description": {"type": "string", "description": "What the command does, in one sentence, for the user"},
                "dir_path": {"type": "string", "description": "The folder to run it in, if not the working folder"},
                "is_background": {"type": "boolean", "description": "Run it in the background"},
            },
            "required": ["command"],
        }),
        kind: ToolKind::Shell,
        ..Spec::default()
    }
}

fn list_background_processes() -> Spec {
    Spec {
        name: "list_background_processes".to_owned(),
        description: "Lists the commands that were begun in the background, with their process ids and how they stand.".to_owned(),
        schema: json!({"type": "object", "properties": {}}),
        kind: ToolKind::Other,
        reads_only: true,
        ..Spec::default()
    }
}

fn read_background_output() -> Spec {
    Spec {
        name: "read_background_output".to_owned(),
        description: "Reads the end of what a command in the background has printed.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "pid": {"type": "integer", "description": "Its process id"},
                "lines": {"type": "integer", "minimum": 1, "description": "How many lines (default 100)"},
                "delay_ms": {"type": "integer", "description": "How long to wait before, in milliseconds"},
            },
            "required": ["pid"],
        }),
        kind: ToolKind::Other,
        reads_only: true,
        ..Spec::default()
    }
}

/// Runs commands, and looks after those in the background.
#[derive(Debug)]
struct Shell(Rc<Processes>);

#[async_trait(?Send)]
impl Run for Shell {
    async fn run(&self, args: &Args<'_>, _: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Shell(asked) => self
                .given(asked, cx)
                .await
                .unwrap_or_else(|error| say::refused(&error, "shell_execute_error")),
            _ => stray(),
        }
    }

    fn asked(&self, asked: &args::Shell<'_>) -> ShellCommand {
        let folder = asked.directory.map(plain).unwrap_or_default();
        self.0.commands.asked(plain(asked.command), Some(Path::new(&folder)))
    }

    async fn run_own(&self, spec: &Spec, input: &Value, cx: &Cx<'_>) -> Given {
        match spec.name.as_str() {
            "list_background_processes" => self.list(),
            _ => self.read(input, cx).await,
        }
    }
}

impl Shell {
    async fn given(&self, asked: &args::Shell<'_>, cx: &Cx<'_>) -> Result<Given, String> {
        let command = plain(asked.command);
        if command.trim().is_empty() {
            return Ok(say::refused("Command cannot be empty.", say::INVALID));
        }
        let root = cx.world.wall.root();
        let folder = asked.directory.map_or_else(|| root.to_owned(), |folder| root.join(plain(folder)));
        if asked.background == Some(true) {
            return self.begin(&command, asked.description.map(plain).as_deref(), &folder, cx);
        }
        let commands = &self.0.commands;
        let name = format!("shell-{:08x}.txt", rand::random::<u32>());
        let path = commands
            .file("tool-results", &name)
            .map_err(|error| format!("The output could not be kept: {error}"))?;
        let order = Order {
            folder: Some(&folder),
            timeout: Some(TIMEOUT),
            merged: true,
            keep: SHOWN,
            whole: Some((path, SHOWN.0)),
            ..Order::new(&command)
        };
        let ran = commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(&ran))
    }

    fn begin(&self, command: &str, description: Option<&str>, folder: &Path, cx: &Cx<'_>) -> Result<Given, String> {
        let id = format!("bg_{:08x}", rand::random::<u32>());
        let start = Start {
            id: &id,
            command,
            description,
            call: cx.call,
            folder: Some(folder),
            timeout: None,
        };
        let job = self.0.jobs.start(start).map_err(|error| error.to_string())?;
        let text = format!(
            "Command moved to background (PID: {}). Output is in {}.",
            job.process,
            job.output.display()
        );
        Ok(say::said(&text, &format!("Command moved to background (PID: {}).", job.process)))
    }

    fn list(&self) -> Given {
        let jobs = self.0.jobs.list();
        if jobs.is_empty() {
            return say::unseen("No background processes found.");
        }
        let line = |(job, _): &(Job, Duration)| {
            let state = match job.state {
                State::Running => "running".to_owned(),
                State::Ended { exit, .. } => match exit {
                    Some(Exit::Code(code)) => format!("exited with code {code}"),
                    Some(Exit::Signal(number)) => format!("ended by signal {number}"),
                    None => "ended".to_owned(),
                },
            };
            format!("- [PID {}] {state}: `{}`", job.process, job.command)
        };
        let lines: Vec<String> = jobs.iter().map(line).collect();
        say::unseen(lines.join("\n"))
    }

    async fn read(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let pid = input["pid"].as_u64().unwrap_or_default();
        let jobs = &self.0.jobs;
        let known = |job: &Job| u64::from(job.process) == pid;
        let Some((job, _)) = jobs.list().into_iter().find(|(job, _)| known(job)) else {
            return say::refused(&format!("No background process with PID {pid} was begun."), say::INVALID);
        };
        let delay = input["delay_ms"].as_u64().unwrap_or_default().min(LONGEST_DELAY);
        tokio::select! {
            () = cx.cancel.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(delay)) => {}
        }
        match jobs.output(&job.id).await {
            Ok(output) => {
                let most = usize::try_from(input["lines"].as_u64().unwrap_or(LINES)).unwrap_or(usize::MAX);
                let output = uncoloured(&output);
                let lines: Vec<&str> = output.lines().collect();
                let end = &lines[lines.len().saturating_sub(most)..];
                say::said(end.join("\n"), &format!("Read {} lines of the output of PID {pid}.", end.len()))
            }
            Err(error) => say::refused(&error.to_string(), "shell_execute_error"),
        }
    }
}

/// A command that ran is a success, however it ended: its text says how.
fn told(ran: &Ran) -> Given {
    let output = uncoloured(&ran.stdout.text());
    let mut output = output.trim_end().to_owned();
    match &ran.whole {
        Some(Ok((path, _))) if ran.stdout.missing() > 0 => output.push_str(&format!("\n[The whole output is in {}]", path.display())),
        Some(Ok((path, _))) => {
            // Everything is kept, and the file is not needed.
            let _ = std::fs::remove_file(path);
        }
        Some(Err(error)) if ran.stdout.missing() > 0 => output.push_str(&format!("\n[The whole output could not be kept: {error}]")),
        _ => {}
    }
    if ran.left {
        output.push_str("\n[Processes that the command left in the background were ended with it.]");
    }
    let (late, shown) = match (ran.cause, ran.exit) {
        (Cause::TimedOut, _) => (
            format!("Command was stopped after {} minutes without its end. ", TIMEOUT.as_secs() / 60),
            format!("Command timed out after {} minutes.", TIMEOUT.as_secs() / 60),
        ),
        (Cause::Cancelled, _) => (
            "Command was cancelled by user before it could complete. ".to_owned(),
            "Command cancelled by user.".to_owned(),
        ),
        (Cause::Itself, Some(Exit::Signal(number))) => (String::new(), format!("Command terminated by signal: {number}")),
        (Cause::Itself, Some(Exit::Code(code))) if code != 0 => (String::new(), format!("Command exited with code: {code}")),
        (Cause::Itself, _) => (String::new(), String::new()),
    };
    let mut text = format!(
        "<untrusted_context>\n{late}Output: {}",
        if output.is_empty() { "(empty)" } else { &output }
    );
    match ran.exit {
        Some(Exit::Code(code)) if code != 0 => text.push_str(&format!("\nExit Code: {code}")),
        Some(Exit::Signal(number)) => text.push_str(&format!("\nSignal: {number}")),
        _ => {}
    }
    text.push_str(&format!("\nProcess Group PGID: {}\n</untrusted_context>", ran.id));
    let shown = if output.is_empty() { shown } else { output };
    Given {
        status: match ran.cause {
            Cause::Cancelled => ResultStatus::Canceled,
            Cause::Itself | Cause::TimedOut => ResultStatus::Success,
        },
        exit_code: Some(ran.code()),
        ..say::said(text, &shown)
    }
}
