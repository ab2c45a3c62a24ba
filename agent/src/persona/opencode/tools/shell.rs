//! `bash`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::say;
use crate::persona::shared::jobs::uncoloured;
use crate::persona::shared::native::{Run, plain, stray, tool};
use crate::tools::processes::Processes;
use crate::tools::shell::{Cause, Order, Ran, time_limit};
use crate::tools::{Cx, Given, ShellCommand, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};
use agentglot_process::Exit;

/// How long a command may take if the model does not say it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The longest that the model may ask for.
const LONGEST: Duration = Duration::from_secs(3600);
/// How many bytes of the end of an output the model reads.
const SHOWN: usize = 50 << 10;

pub(super) fn shell(processes: &Rc<Processes>) -> Rc<dyn Tool> {
    let spec = Spec {
        name: "bash".to_owned(),
        description: "Runs a command as `bash -c COMMAND` in a process group of its own, for at most two minutes if timeout does not say otherwise. \
                      Standard input is empty and there is no terminal. What a command leaves running ends with it. Told is what it printed on \
                      both streams; of a long output the end, and where the whole is."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command"},
                "timeout": {"type": "integer", "minimum": 1, "description": "How many milliseconds it may take"},
                "workdir": {"type": "string", "description": "The folder to run it in, if not the working folder"},
            },
            "required": ["command"],
        }),
        kind: ToolKind::Shell,
        ..Spec::default()
    };
    tool(Dialect::Opencode, say::invalid, spec, Shell(Rc::clone(processes)))
}

#[derive(Debug)]
struct Shell(Rc<Processes>);

#[async_trait(?Send)]
impl Run for Shell {
    async fn run(&self, args: &Args<'_>, _: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Shell(asked) => self.given(asked, cx).await.unwrap_or_else(Given::error),
            _ => stray(),
        }
    }

    fn asked(&self, asked: &args::Shell<'_>) -> ShellCommand {
        let folder = asked.directory.map(plain).unwrap_or_default();
        self.0.commands.asked(plain(asked.command), Some(Path::new(&folder)))
    }
}

impl Shell {
    async fn given(&self, asked: &args::Shell<'_>, cx: &Cx<'_>) -> Result<Given, String> {
        let root = cx.world.wall.root();
        let folder = asked.directory.map_or_else(|| root.to_owned(), |folder| root.join(plain(folder)));
        let limit = time_limit(asked.timeout, TIMEOUT, LONGEST);
        let commands = &self.0.commands;
        let name = format!("shell-{:08x}.txt", rand::random::<u32>());
        let path = commands
            .file("tool-results", &name)
            .map_err(|error| format!("The output could not be kept: {error}"))?;
        let command = plain(asked.command);
        let order = Order {
            folder: Some(&folder),
            timeout: Some(limit),
            merged: true,
            keep: (0, SHOWN),
            whole: Some((path, SHOWN)),
            ..Order::new(&command)
        };
        let ran = commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(&ran, limit))
    }
}

/// A command that ran is a success, however it ended: beside its text stands how.
fn told(ran: &Ran, limit: Duration) -> Given {
    let output = uncoloured(&ran.stdout.text());
    let cut = ran.stdout.missing() > 0;
    let mut text = match &ran.whole {
        Some(Ok((path, _))) if cut => format!("...output truncated...\n\nFull output saved to: {}\n\n{output}", path.display()),
        Some(Ok((path, _))) => {
            // Everything is kept, and the file is not needed.
            let _ = std::fs::remove_file(path);
            output
        }
        Some(Err(error)) if cut => format!("...output truncated...\n\nThe whole output could not be kept: {error}\n\n{output}"),
        _ => output,
    };
    if text.is_empty() {
        text.push_str("(no output)");
    }
    let printed = text.clone();
    let mut notes = Vec::new();
    match ran.cause {
        Cause::TimedOut => notes.push(format!(
            "shell tool terminated command after exceeding timeout {} ms. If it needs longer, and waits for nobody, give it a larger timeout.",
            limit.as_millis()
        )),
        Cause::Cancelled => notes.push("User aborted the command".to_owned()),
        Cause::Itself => {}
    }
    if ran.left {
        notes.push("Processes that the command left in the background were ended with it.".to_owned());
    }
    if !notes.is_empty() {
        text.push_str(&format!("\n\n<shell_metadata>\n{}\n</shell_metadata>", notes.join("\n")));
    }
    let exit = match (ran.cause, ran.exit) {
        (Cause::Itself, Some(Exit::Code(code))) => json!(code),
        _ => Value::Null,
    };
    Given {
        status: match ran.cause {
            Cause::Cancelled => ResultStatus::Canceled,
            Cause::Itself | Cause::TimedOut => ResultStatus::Success,
        },
        exit_code: Some(ran.code()),
        ..say::said(text, json!({"output": printed, "exit": exit}), cut)
    }
}
