//! `shell_command`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::invalid;
use crate::persona::shared::jobs::uncoloured;
use crate::persona::shared::native::{Run, plain, stray, tool};
use crate::tools::processes::Processes;
use crate::tools::shell::{Cause, Order, Ran, time_limit};
use crate::tools::{Cx, Given, ShellCommand, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};

/// How long a command may take if the model does not say, and at most.
const TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(1800);

/// How many bytes of an output the model reads: of its beginning and of its end.
const SHOWN: (usize, usize) = (20 << 10, 20 << 10);

pub(super) fn shell(processes: &Rc<Processes>) -> Rc<dyn Tool> {
    let spec = Spec {
        name: "shell_command".to_owned(),
        description: "Runs a shell command and returns its output, both streams as one. Standard input is empty and there is no terminal. What \
                      a command leaves running ends with it. Read files with it (`sed -n`, `cat`), look for them (`rg`, `find`); change them \
                      with apply_patch."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The shell script to execute"},
                "workdir": {"type": "string", "description": "The folder to run it in, if not the working folder"},
                "timeout_ms": {"type": "number", "description": "How long it may take, in milliseconds (default 120000, max 1800000)"},
            },
            "required": ["command"],
        }),
        kind: ToolKind::Shell,
        ..Spec::default()
    };
    tool(Dialect::Codex, invalid, spec, Shell(Rc::clone(processes)))
}

#[derive(Debug)]
struct Shell(Rc<Processes>);

#[async_trait(?Send)]
impl Run for Shell {
    async fn run(&self, args: &Args<'_>, input: &Value, cx: &Cx<'_>) -> Given {
        let Args::Shell(asked) = args else { return stray() };
        self.given(asked, input, cx)
            .await
            .unwrap_or_else(|error| Given::error(format!("execution error: {error}")))
    }

    fn asked(&self, asked: &args::Shell<'_>) -> ShellCommand {
        let folder = asked.directory.map(plain).unwrap_or_default();
        self.0.commands.asked(plain(asked.command), Some(Path::new(&folder)))
    }
}

impl Shell {
    async fn given(&self, asked: &args::Shell<'_>, input: &Value, cx: &Cx<'_>) -> Result<Given, String> {
        let commands = &self.0.commands;
        let command = plain(asked.command);
        let root = cx.world.wall.root();
        let folder = asked.directory.map_or_else(|| root.to_owned(), |directory| root.join(plain(directory)));
        let name = format!("shell-{:08x}.txt", rand::random::<u32>());
        let path = commands
            .file("tool-results", &name)
            .map_err(|error| format!("the output could not be kept: {error}"))?;
        let timeout = time_limit(input["timeout_ms"].as_f64().map(|ms| ms.max(0.0) as u64), TIMEOUT, LONGEST);
        let order = Order {
            folder: Some(&folder),
            timeout: Some(timeout),
            merged: true,
            keep: SHOWN,
            whole: Some((path, SHOWN.0)),
            ..Order::new(&command)
        };
        let ran = commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(&ran, timeout))
    }
}

fn told(ran: &Ran, timeout: Duration) -> Given {
    let output = uncoloured(&ran.stdout.text());
    let mut note = String::new();
    match &ran.whole {
        Some(Ok((path, _))) if ran.stdout.missing() > 0 => note = format!("\n[The whole output is in {}]", path.display()),
        Some(Ok((path, _))) => {
            // Everything is kept, and the file is not needed.
            let _ = std::fs::remove_file(path);
        }
        Some(Err(error)) if ran.stdout.missing() > 0 => note = format!("\n[The whole output could not be kept: {error}]"),
        _ => {}
    }
    let late = match ran.cause {
        Cause::TimedOut => format!("command timed out after {} milliseconds\n", timeout.as_millis()),
        Cause::Cancelled => "aborted by user\n".to_owned(),
        Cause::Itself => String::new(),
    };
    let status = match ran.cause {
        Cause::Cancelled => ResultStatus::Canceled,
        Cause::Itself if ran.is_success() => ResultStatus::Success,
        _ => ResultStatus::Error,
    };
    let word = if status == ResultStatus::Success { "completed" } else { "failed" };
    let text = format!(
        "Exit code: {}\nWall time: {:.1} seconds\nOutput:\n{late}{output}{note}",
        ran.code(),
        ran.took.as_secs_f64()
    );
    Given {
        status,
        exit_code: Some(ran.code()),
        ..Given::text(text).with(
            DetailShape::Codex,
            json!({"aggregated_output": format!("{late}{output}"), "exit_code": ran.code(), "status": word}),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::text;
    use crate::tools::shell::tests::{call, scene, within};

    #[test]
    fn the_model_reads_how_a_command_ended_and_the_host_what_it_printed() {
        within(30, async {
            let scene = scene();
            let tools = [shell(&scene.processes)];
            let failed = call(&scene, &tools, "shell_command", json!({"command": "echo out; echo err >&2; exit 3"})).await;
            let said = text(&failed);
            assert!(
                said.starts_with("Exit code: 3\nWall time: ") && said.ends_with(" seconds\nOutput:\nout\nerr\n"),
                "{said}"
            );
            assert_eq!((failed.status, failed.exit_code), (ResultStatus::Error, Some(3)));
            let shown = json!({"aggregated_output": "out\nerr\n", "exit_code": 3, "status": "failed"});
            assert_eq!(failed.detail, Some((DetailShape::Codex, shown)));
            std::fs::create_dir(scene.root().join("sub")).unwrap();
            let there = call(&scene, &tools, "shell_command", json!({"command": "basename $PWD", "workdir": "sub"})).await;
            assert_eq!(there.detail.unwrap().1["aggregated_output"], "sub\n");
            let late = call(
                &scene,
                &tools,
                "shell_command",
                json!({"command": "echo a; sleep 100", "timeout_ms": 300}),
            )
            .await;
            assert!(
                text(&late).ends_with("Output:\ncommand timed out after 300 milliseconds\na\n"),
                "{}",
                text(&late)
            );
            assert_eq!(late.status, ResultStatus::Error);
            let wrong = call(&scene, &tools, "shell_command", json!({"cmd": "x"})).await;
            assert_eq!(text(&wrong), "failed to parse arguments of shell_command: missing field `command`");
        });
    }
}
