//! `Bash`, and what looks after its background tasks.
//!
//! Texts of ends, time-outs and long outputs are as recorded or as they stand in transcripts of the real program.

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::model::message::Part;
use crate::persona::shared::native::{Run, plain, stray, tools};
use crate::tools::jobs::{Job, NoJob, Start, State};
use crate::tools::processes::Processes;
use crate::tools::shell::{Cause, Order, Ran, time_limit};
use crate::tools::{Cx, Given, ShellCommand, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};
use agentglot_process::Exit;

use super::say;

/// How long a command may take if the model does not say, and at most.
const TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(600);

/// The same in the background.
const BACKGROUND: Duration = Duration::from_secs(1800);
const LONGEST_BACKGROUND: Duration = Duration::from_secs(7200);

/// How long `TaskOutput` waits if the model does not say.
const WAIT: Duration = Duration::from_secs(30);

/// How many characters of an output the model reads. A longer one is kept in a file.
const SHOWN: usize = 30_000;

/// How many bytes of a long output the model reads.
const PREVIEW: usize = 2000;

/// Commands that say nothing when all goes well.
const SILENT: [&str; 16] = [
    "mv", "cp", "rm", "mkdir", "rmdir", "chmod", "chown", "chgrp", "touch", "ln", "cd", "export", "unset", "wait", "true", ":",
];

/// Bash, TaskOutput, TaskStop.
pub fn shell(processes: &Rc<Processes>) -> Vec<Rc<dyn Tool>> {
    let specs = [bash(), task_output(), task_stop()];
    tools(Dialect::Claude, say::invalid, specs, Shell(Rc::clone(processes)))
}

/// What the model is told, as a message of the user's, when a background task has ended.
pub fn notice(job: &Job) -> String {
    let label = job.description.as_deref().unwrap_or(&job.command);
    let (status, how) = match job.state {
        State::Running => ("running", "is running".to_owned()),
        State::Ended { exit, cause, .. } => match (cause, exit) {
            (Cause::Cancelled, _) => ("killed", "was stopped".to_owned()),
            (Cause::TimedOut, _) => ("failed", "ran longer than it was allowed to, and was stopped".to_owned()),
            (Cause::Itself, Some(Exit::Code(0))) => ("completed", "completed (exit code 0)".to_owned()),
            (Cause::Itself, exit) => ("failed", format!("failed with exit code {}", exit.map_or(137, Exit::code))),
        },
    };
    format!(
        "<task-notification>\n<task-id>{}</task-id>\n<tool-use-id>{}</tool-use-id>\n<output-file>{}</output-file>\n<status>{status}</status>\n\
         <summary>Background command \"{label}\" {how}</summary>\n</task-notification>",
        job.id,
        job.call,
        job.output.display(),
    )
}

fn bash() -> Spec {
    Spec {
        name: "Bash".to_owned(),
        description: "Runs a command with bash and returns what it prints. The working folder carries over from one command to the next; \
                      variables and functions do not. Standard input is empty and there is no terminal, so a command that wants to ask \
                      something fails. Quote paths that hold spaces. Use the tools for files and searches instead of cat, sed, find and \
                      grep where there are any. Commands that do not depend on each other may be separate calls; those that do are \
                      joined by &&. What a command leaves running ends with it: for a server, or whatever takes long, set \
                      run_in_background instead of writing &, and you are told when it has ended. A long output is kept in a file, and \
                      its beginning is shown."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command to execute"},
                "timeout": {"type": "number", "description": "Optional timeout in milliseconds (default 120000, max 600000)"},
                "description": {"type": "string", "description": "What this command does, in five to ten words"},
                "run_in_background": {
                    "type": "boolean",
                    "description": "Set to true to run this command in the background. `timeout` then says how long it may run (default 1800000 ms, max 7200000 ms)",
                },
                "dangerouslyDisableSandbox": {"type": "boolean", "description": "Has no effect here"},
            },
            "required": ["command"],
            "additionalProperties": false,
        }),
        kind: ToolKind::Shell,
        ..Spec::default()
    }
}

/// What a background task has written so far.
fn task_output() -> Spec {
    Spec {
        name: "TaskOutput".to_owned(),
        description: "Returns how a background task stands and the end of what it has printed so far. With block (the default) it waits \
                      until the task has ended, or the timeout is over."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "The task ID to get output from"},
                "block": {"type": "boolean", "description": "Whether to wait for completion (default true)"},
                "timeout": {"type": "number", "minimum": 0, "description": "Max wait time in ms (default 30000, max 600000)"},
            },
            "required": ["task_id"],
            "additionalProperties": false,
        }),
        kind: ToolKind::Other,
        reads_only: true,
        ..Spec::default()
    }
}

/// Ends a background task.
fn task_stop() -> Spec {
    Spec {
        name: "TaskStop".to_owned(),
        description: "Stops a running background task by its ID.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "The ID of the background task to stop"},
                "shell_id": {"type": "string", "description": "Deprecated: use task_id instead"},
            },
            "additionalProperties": false,
        }),
        kind: ToolKind::Other,
        ..Spec::default()
    }
}

/// Runs commands, and looks after those in the background.
#[derive(Debug)]
struct Shell(Rc<Processes>);

impl Shell {
    async fn given(&self, asked: &args::Shell<'_>, cx: &Cx<'_>) -> Result<Given, String> {
        let command = &plain(asked.command);
        if asked.background == Some(true) {
            let timeout = time_limit(asked.timeout, BACKGROUND, LONGEST_BACKGROUND);
            return self.begin(command, asked.description.map(plain).as_deref(), timeout, cx);
        }
        let timeout = time_limit(asked.timeout, TIMEOUT, LONGEST);
        let commands = &self.0.commands;
        let name = format!("b{}.txt", word());
        let path = commands
            .file("tool-results", &name)
            .map_err(|error| format!("The output could not be kept: {error}"))?;
        let order = Order {
            moves: true,
            timeout: Some(timeout),
            merged: true,
            // Room for that many characters of four bytes.
            keep: (SHOWN * 4, 0),
            whole: Some((path, SHOWN)),
            ..Order::new(command)
        };
        let ran = commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(command, timeout, &ran))
    }

    fn begin(&self, command: &str, description: Option<&str>, timeout: Duration, cx: &Cx<'_>) -> Result<Given, String> {
        let id = format!("b{}", word());
        let start = Start {
            id: &id,
            command,
            description,
            call: cx.call,
            folder: None,
            timeout: Some(timeout),
        };
        let job = self.0.jobs.start(start).map_err(|error| error.to_string())?;
        let text = format!(
            "Command running in background with ID: {id}. Output is being written to: {}. You will be notified when it completes. To check \
             interim output, use TaskOutput.",
            job.output.display()
        );
        let detail = json!({
            "stdout": "",
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": false,
            "backgroundTaskId": id,
        });
        Ok(Given::text(text).with(DetailShape::Claude, detail))
    }

    async fn output(&self, arguments: &Value, cx: &Cx<'_>) -> Result<Given, NoJob> {
        let jobs = &self.0.jobs;
        let id = say::text(arguments, "task_id");
        let mut job = jobs.get(id)?;
        let block = arguments["block"] != false;
        if block {
            let most = arguments["timeout"].as_f64().map_or(WAIT, |most| milliseconds(most, LONGEST));
            tokio::select! {
                waited = jobs.wait(id, most) => job = waited?,
                () = cx.cancel.cancelled() => {}
            }
        }
        let output = jobs.output(id).await?;
        let output = last(output.trim_end(), SHOWN);
        let (status, exit) = match job.state {
            State::Running => ("running", None),
            State::Ended { exit, cause, .. } => {
                let status = match cause {
                    Cause::Cancelled => "killed",
                    _ if job.state.is_success() => "completed",
                    _ => "failed",
                };
                (status, exit.map(Exit::code))
            }
        };
        let retrieved = match (job.state, block) {
            (State::Running, true) => "timeout",
            (State::Running, false) => "not_ready",
            _ => "success",
        };
        let mut text = format!(
            "<retrieval_status>{retrieved}</retrieval_status>\n\n<task_id>{id}</task_id>\n\n<task_type>local_bash</task_type>\n\n<status>{status}</status>"
        );
        if let Some(code) = exit {
            text.push_str(&format!("\n\n<exit_code>{code}</exit_code>"));
        }
        if !output.is_empty() {
            text.push_str(&format!("\n\n<output>\n{output}\n</output>"));
        }
        let task = json!({
            "task_id": id,
            "task_type": "local_bash",
            "status": status,
            "description": job.description.as_deref().unwrap_or(&job.command),
            "output": output,
            "exitCode": exit,
        });
        Ok(Given::text(text).with(DetailShape::Claude, json!({"retrieval_status": retrieved, "task": task})))
    }

    async fn stop(&self, arguments: &Value) -> Result<Given, String> {
        let id = arguments["task_id"].as_str().or_else(|| arguments["shell_id"].as_str());
        let id = id.ok_or("Missing required parameter: task_id")?;
        let job = self.0.jobs.stop(id).await.map_err(|error| error.to_string())?;
        let detail = json!({
            "message": format!("Successfully stopped task: {id} ({})", job.command),
            "task_id": id,
            "task_type": "local_bash",
            "command": job.command,
        });
        Ok(Given::text(detail.to_string()).with(DetailShape::Claude, detail))
    }
}

/// At least one, for a time-out of nothing would end everything at once.
fn milliseconds(number: f64, most: Duration) -> Duration {
    Duration::try_from_secs_f64(number / 1000.0)
        .unwrap_or(most)
        .clamp(Duration::from_millis(1), most)
}

#[async_trait(?Send)]
impl Run for Shell {
    async fn run(&self, args: &Args<'_>, _: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Shell(asked) => self.given(asked, cx).await.unwrap_or_else(|error| say::failed(&error)),
            _ => stray(),
        }
    }

    fn asked(&self, asked: &args::Shell<'_>) -> ShellCommand {
        self.0.commands.asked(plain(asked.command), None)
    }

    async fn run_own(&self, spec: &Spec, input: &Value, cx: &Cx<'_>) -> Given {
        let given = match spec.name.as_str() {
            "TaskOutput" => self.output(input, cx).await.map_err(|error| error.to_string()),
            "TaskStop" => self.stop(input).await,
            _ => return stray(),
        };
        given.unwrap_or_else(|why| say::refused(&why))
    }
}

/// A random word of small letters and digits, as names of outputs and tasks have.
pub(super) fn word() -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..8).map(|_| char::from(LETTERS[rand::random_range(0..LETTERS.len())])).collect()
}

fn told(command: &str, timeout: Duration, ran: &Ran) -> Given {
    let text = ran.stdout.text();
    let stdout = trimmed(&text);
    let mut notes = Vec::new();
    if ran.left {
        notes.push("Processes that the command left in the background were ended with it.".to_owned());
    }
    if let Some(folder) = &ran.reset {
        notes.push(format!("Shell cwd was reset to {}", folder.display()));
    }
    let notes = notes.join("\n");
    let code = ran.code();
    if ran.cause == Cause::TimedOut {
        let head = format!("Exit code {code}\nCommand timed out after {}", span(timeout));
        return exited(say::failed(&joined(&[&head, &cut(stdout, ran), &notes])), code);
    }
    let meaning = (ran.cause == Cause::Itself).then(|| meaning(command, code)).flatten();
    if ran.cause == Cause::Itself && code != 0 && meaning.is_none() {
        let head = format!("Exit code {code}");
        let signal = ran.exit.filter(|exit| matches!(exit, Exit::Signal(_)));
        let signal = signal.map(|exit| format!("The command {exit}.")).unwrap_or_default();
        return exited(say::failed(&joined(&[&head, &signal, &cut(stdout, ran), &notes])), code);
    }
    let interrupted = ran.cause == Cause::Cancelled;
    let quiet = stdout.is_empty() && notes.is_empty();
    let mut detail = json!({
        "stdout": first(stdout, SHOWN),
        "stderr": notes,
        "interrupted": interrupted,
        "isImage": false,
        "noOutputExpected": is_silent(command),
    });
    if let Some(meaning) = meaning {
        detail["returnCodeInterpretation"] = meaning.into();
    }
    let picture = picture(stdout);
    if picture.is_some() {
        detail["isImage"] = true.into();
    }
    let mut text = if quiet && !interrupted {
        "(Bash completed with no output)".to_owned()
    } else {
        match &ran.whole {
            Some(Ok((path, size))) if stdout.chars().nth(SHOWN).is_some() => {
                detail["persistedOutputPath"] = path.display().to_string().into();
                detail["persistedOutputSize"] = (*size).into();
                let preview = format!(
                    "<persisted-output>\nOutput too large ({}). Full output saved to: {}\n\nPreview (first 2KB):\n{}\n...\n</persisted-output>",
                    size_of(ran.stdout.total()),
                    path.display(),
                    preview(stdout),
                );
                joined(&[&preview, &notes])
            }
            _ => joined(&[&cut(stdout, ran), &notes]),
        }
    };
    if interrupted {
        text = joined(&[&text, "<error>Command was aborted before completion</error>"]);
    }
    let mut given = Given::text(text).with(DetailShape::Claude, detail);
    if let Some(picture) = picture {
        given.content = vec![picture];
    }
    if interrupted {
        given.status = ResultStatus::Canceled;
    }
    exited(given, code)
}

/// The last so many characters.
fn last(text: &str, characters: usize) -> &str {
    match text.char_indices().rev().nth(characters) {
        Some((at, letter)) => &text[at + letter.len_utf8()..],
        None => text,
    }
}

/// What the model reads of an output, and where the rest is. A file that is not needed is removed.
fn cut(stdout: &str, ran: &Ran) -> String {
    let shown = first(stdout, SHOWN);
    let is_cut = shown.len() < stdout.len() || ran.stdout.missing() > 0;
    let rest = match &ran.whole {
        Some(Ok((path, _))) if !is_cut => {
            // It has more bytes than characters.
            let _ = std::fs::remove_file(path);
            String::new()
        }
        Some(Ok((path, size))) => format!("... (output too large; the first {} are in {})", size_of(*size), path.display()),
        Some(Err(error)) if is_cut => format!("... (output too large, and it could not be kept in a file: {error})"),
        _ => String::new(),
    };
    joined(&[shown, &rest])
}

fn exited(mut given: Given, code: i32) -> Given {
    given.exit_code = Some(code);
    given
}

/// Without blank lines at the beginning and without blanks at the end.
fn trimmed(text: &str) -> &str {
    let text = text.trim_end();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            break;
        }
        from += line.len();
    }
    &text[from..]
}

fn first(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// The beginning of a long output, up to the end of a line if one is near.
fn preview(text: &str) -> &str {
    let mut end = PREVIEW.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = &text[..end];
    match cut.rfind('\n') {
        Some(line) if line > PREVIEW / 2 => &cut[..line],
        _ => cut,
    }
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// `195.3KB`.
#[expect(clippy::cast_precision_loss, reason = "one digit is told")]
fn size_of(bytes: u64) -> String {
    let units = [("GB", 30), ("MB", 20), ("KB", 10)];
    for (unit, shift) in units {
        if bytes >= 1 << shift {
            let tenths = format!("{:.1}", bytes as f64 / f64::from(1u32 << shift));
            return format!("{}{unit}", tenths.strip_suffix(".0").unwrap_or(&tenths));
        }
    }
    format!("{bytes} bytes")
}

/// `2m 0s`.
fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 60.0 {
        let text = format!("{seconds:.1}");
        return format!("{}s", text.strip_suffix(".0").unwrap_or(&text));
    }
    let whole = time.as_secs();
    format!("{}m {}s", whole / 60, whole % 60)
}

/// The commands of a pipeline or list, roughly: enough to tell what is usual for them.
fn parts(command: &str) -> impl Iterator<Item = &str> {
    command.split(['\n', ';', '|', '&']).map(str::trim).filter(|part| !part.is_empty())
}

fn program(part: &str) -> &str {
    part.split_whitespace().next().unwrap_or_default()
}

fn is_silent(command: &str) -> bool {
    let mut any = false;
    parts(command).all(|part| {
        any = true;
        SILENT.contains(&program(part))
    }) && any
}

/// What an exit code means that is no failure.
fn meaning(command: &str, code: i32) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    match program(parts(command).last()?) {
        "grep" | "egrep" | "fgrep" | "rg" => Some("No matches found"),
        "diff" => Some("Files differ"),
        "find" => Some("Some directories were inaccessible"),
        "test" | "[" => Some("Condition is false"),
        _ => None,
    }
}

/// A picture that was printed as a data URL.
fn picture(text: &str) -> Option<Part> {
    let (media_type, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let fits = media_type.starts_with("image/") && media_type.len() < 40 && !data.is_empty() && data.bytes().all(is_base64);
    fits.then(|| Part::Image {
        media_type: media_type.to_owned(),
        data: data.to_owned(),
    })
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
