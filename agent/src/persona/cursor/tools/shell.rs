//! `shell`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::persona::shared::native::{Run, plain, stray, tools};
use crate::persona::shared::say;
use crate::tools::processes::Processes;
use crate::tools::shell::{Cause, Order, Ran, time_limit};
use crate::tools::{Cx, Given, ShellCommand, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};

/// How long a command may take if the model does not say, and at most.
const TIMEOUT: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(600);

/// How many bytes of each stream are shown: of its beginning and of its end. A longer output is kept in a file.
const SHOWN: (usize, usize) = (30_000, 10_000);

/// The tool.
pub fn shell(processes: &Rc<Processes>) -> Vec<Rc<dyn Tool>> {
    tools(Dialect::Cursor, say::invalid, [spec()], Shell(Rc::clone(processes)))
}

fn spec() -> Spec {
    Spec {
        name: "shell".to_owned(),
        description: "Runs a command with bash and returns what it prints. Standard input is empty and there is no terminal, so a \
                      command that wants to ask something fails. What a command leaves running ends with it."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command to run"},
                "workingDirectory": {"type": "string", "description": "Folder to run it in, if not the working folder"},
                "timeout": {"type": "number", "description": "Optional timeout in milliseconds (default 30000, max 600000)"},
                "description": {"type": "string", "description": "What the command does, in a few words"},
            },
            "required": ["command"],
        }),
        kind: ToolKind::Shell,
        ..Spec::default()
    }
}

/// Runs it.
#[derive(Debug)]
struct Shell(Rc<Processes>);

impl Shell {
    async fn given(&self, asked: &args::Shell<'_>, cx: &Cx<'_>) -> Result<Given, String> {
        let commands = &self.0.commands;
        let (command, folder) = (plain(asked.command), asked.directory.map(plain));
        let timeout = time_limit(asked.timeout, TIMEOUT, LONGEST);
        let name = format!("{}.txt", uuid::Uuid::new_v4());
        let path = commands
            .file("tool-results", &name)
            .map_err(|error| format!("The output could not be kept: {error}"))?;
        let order = Order {
            folder: Some(folder.as_ref().map_or(cx.world.wall.root(), Path::new)),
            timeout: Some(timeout),
            keep: SHOWN,
            whole: Some((path, SHOWN.0)),
            ..Order::new(&command)
        };
        let ran = commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(timeout, &ran))
    }
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
        self.0
            .commands
            .asked(plain(asked.command), Some(Path::new(&asked.directory.map(plain).unwrap_or_default())))
    }
}

fn told(timeout: Duration, ran: &Ran) -> Given {
    let (stdout, stderr) = (ran.stdout.text(), ran.stderr.text());
    let mut text = ran.both.text();
    let rest = match &ran.whole {
        Some(Ok((path, _))) if ran.both.missing() > 0 => format!("[The whole output is in {}]", path.display()),
        Some(Ok((path, _))) => {
            // Everything is shown, and the file is not needed.
            let _ = std::fs::remove_file(path);
            String::new()
        }
        Some(Err(error)) if ran.both.missing() > 0 => format!("[The whole output could not be kept: {error}]"),
        _ => String::new(),
    };
    for note in [
        rest,
        if ran.left {
            "[Processes that the command left in the background were ended with it.]".to_owned()
        } else {
            String::new()
        },
    ] {
        if !note.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&note);
        }
    }
    let code = ran.code();
    let mut given = match ran.cause {
        Cause::Itself if ran.is_success() => Given::text(text),
        Cause::Itself => Given::error(format!("Exit code {code}\n{text}")),
        Cause::TimedOut => Given::error(format!("Command timed out after {}ms\n{text}", timeout.as_millis())),
        Cause::Cancelled => Given {
            status: ResultStatus::Canceled,
            ..Given::text(format!("Command was cancelled\n{text}"))
        },
    };
    given.exit_code = Some(code);
    let detail = json!({
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": ran.cause != Cause::Itself,
        "isImage": false,
        "noOutputExpected": false,
    });
    given.with(DetailShape::Claude, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::text;
    use crate::tools::shell::tests::{call, scene, within};

    #[test]
    fn both_streams_are_told_apart() {
        within(30, async {
            let scene = scene();
            let tools = shell(&scene.processes);
            let run = async |input: Value| call(&scene, &tools, "shell", input).await;
            let ok = run(json!({"command": "echo out; sleep 0.1; echo err >&2", "workingDirectory": ""})).await;
            assert_eq!(
                (text(&ok).as_str(), ok.exit_code, ok.status),
                ("out\nerr\n", Some(0), ResultStatus::Success)
            );
            let (_, detail) = ok.detail.unwrap();
            assert_eq!((&detail["stdout"], &detail["stderr"]), (&json!("out\n"), &json!("err\n")));
            let bad = run(json!({"command": "echo no >&2; exit 4"})).await;
            assert_eq!(
                (text(&bad).as_str(), bad.exit_code, bad.status),
                ("Exit code 4\nno\n", Some(4), ResultStatus::Error)
            );
            let late = run(json!({"command": "sleep 100", "timeout": 200})).await;
            assert_eq!(
                (text(&late).as_str(), late.status),
                ("Command timed out after 200ms\n", ResultStatus::Error)
            );
            let long = run(json!({"command": "seq 1 20000"})).await;
            assert!(text(&long).contains("bytes left out") && text(&long).contains("\n20000\n[The whole output is in "));
            let nowhere = run(json!({"command": "ls", "workingDirectory": "no"})).await;
            assert_eq!(nowhere.status, ResultStatus::Error);
        });
    }
}
