//! `run_shell_command` and `task_stop`.
//!
//! Texts are as recorded, or those of the program (version 0.24.4).

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::persona::shared::native::{Run, plain, stray, tools};
use crate::tools::jobs::{NoJob, Start};
use crate::tools::processes::Processes;
use crate::tools::shell::{Cause, Order, Ran, time_limit};
use crate::tools::{Cx, Given, ShellCommand, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};
use agentglot_process::Exit;

use super::say;
use crate::persona::shared::jobs::uncoloured;

/// How long a command may take if the model does not say, and at most.
const TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(600);

/// How many bytes of an output the model reads: of its beginning and of its end.
const SHOWN: (usize, usize) = (20 << 10, 10 << 10);

/// run_shell_command, task_stop.
/// `apart`: the host is told which of its two streams a command writes to. Then the output is in the order in which it arrived, else in
/// the one in which it was written.
pub fn shell(processes: &Rc<Processes>, apart: bool) -> Vec<Rc<dyn Tool>> {
    let run = Shell {
        processes: Rc::clone(processes),
        apart,
    };
    tools(Dialect::QwenCode, say::invalid, [run_shell_command(), task_stop()], run)
}

fn run_shell_command() -> Spec {
    Spec {
        name: "run_shell_command".to_owned(),
        description: "Runs a command as `bash -c COMMAND` in a process group of its own. Standard input is empty and there is no \
                      terminal, so a command that wants to ask something fails. What a command leaves running ends with it: for a \
                      server, or whatever takes long, set is_background instead of writing &, and you are told when it has ended. \
                      Told are the command, its folder, what it printed on both streams, its exit code or signal, and its process \
                      group; of a long output, the beginning and the end, and where the whole is."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "Exact bash command to execute as `bash -c <command>`"},
                "is_background": {"type": "boolean", "description": "Whether the command is run in the background. Defaults to false."},
                "timeout": {"type": "number", "description": "Optional timeout in milliseconds (default 120000, max 600000)"},
                "description": {"type": "string", "description": "What the command does, in one sentence, for the user"},
                "directory": {"type": "string", "description": "Folder to run the command in, if not the working folder"},
            },
            "required": ["command"],
        }),
        kind: ToolKind::Shell,
        ..Spec::default()
    }
}

/// Runs commands, and ends those in the background.
#[derive(Debug)]
struct Shell {
    processes: Rc<Processes>,
    apart: bool,
}

impl Shell {
    async fn given(&self, asked: &args::Shell<'_>, cx: &Cx<'_>) -> Result<Given, String> {
        let command = &plain(asked.command);
        let directory = asked.directory.filter(|directory| !directory.is_empty()).map(plain);
        let root = cx.world.wall.root();
        let folder = directory.as_ref().map_or_else(|| root.to_owned(), |directory| root.join(directory));
        if asked.background == Some(true) {
            return self.begin(command, asked.description.map(plain).as_deref(), &folder, cx);
        }
        let timeout = time_limit(asked.timeout, TIMEOUT, LONGEST);
        let name = format!("shell-{:08x}.txt", rand::random::<u32>());
        let commands = &self.processes.commands;
        let path = commands
            .file("tool-results", &name)
            .map_err(|error| format!("The output could not be kept: {error}"))?;
        let order = Order {
            folder: Some(&folder),
            timeout: Some(timeout),
            merged: !self.apart,
            keep: SHOWN,
            whole: Some((path, SHOWN.0)),
            ..Order::new(command)
        };
        let ran = commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(command, directory.as_deref(), timeout, &ran, self.apart))
    }

    fn begin(&self, command: &str, description: Option<&str>, folder: &Path, cx: &Cx<'_>) -> Result<Given, String> {
        let command = command.trim_end();
        // The flag says the same already.
        let command = match command.strip_suffix('&') {
            Some(before) if !before.ends_with(['&', '\\']) => before.trim_end(),
            _ => command,
        };
        let id = format!("bg_{:08x}", rand::random::<u32>());
        let start = Start {
            id: &id,
            command,
            description,
            call: cx.call,
            folder: Some(folder),
            timeout: None,
        };
        let job = self.processes.jobs.start(start).map_err(|error| error.to_string())?;
        let text = format!(
            "Background shell started.\nid: {id}\npid: {}\noutput file: {}\nYou are told when it has ended. To look at its output before, print \
             the output file; to end it, call task_stop.",
            job.process,
            job.output.display()
        );
        let shown = format!("Background shell {id} started (pid {}).", job.process);
        Ok(say::said(text, &shown))
    }
}

#[async_trait(?Send)]
impl Run for Shell {
    async fn run(&self, args: &Args<'_>, _: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Shell(asked) => self.given(asked, cx).await.unwrap_or_else(|error| failed(&error)),
            _ => stray(),
        }
    }

    fn asked(&self, asked: &args::Shell<'_>) -> ShellCommand {
        self.processes
            .commands
            .asked(plain(asked.command), Some(Path::new(&asked.directory.map(plain).unwrap_or_default())))
    }

    async fn run_own(&self, _: &Spec, input: &Value, _: &Cx<'_>) -> Given {
        let id = input["task_id"].as_str().unwrap_or_default();
        match self.processes.jobs.stop(id).await {
            Ok(job) => {
                let text = format!("Background shell \"{id}\" was stopped.\nCommand: {}", job.command);
                say::said(&text, &text)
            }
            Err(NoJob::Unknown(_)) => failed(&format!("Error: No background task found with ID \"{id}\".")),
            Err(NoJob::Over(_)) => failed(&format!("Error: Background shell \"{id}\" is not running.")),
            Err(error) => failed(&format!("Error: {error}")),
        }
    }
}

/// Ends a background command.
fn task_stop() -> Spec {
    Spec {
        name: "task_stop".to_owned(),
        description: "Stops a background command by its id.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"task_id": {"type": "string", "description": "The id of the background command"}},
            "required": ["task_id"],
        }),
        kind: ToolKind::Other,
        ..Spec::default()
    }
}

/// A call that went wrong before anything ran.
fn failed(text: &str) -> Given {
    say::failed(text, text)
}

fn told(command: &str, directory: Option<&str>, timeout: Duration, ran: &Ran, apart: bool) -> Given {
    let kept = if apart { &ran.both } else { &ran.stdout };
    let output = uncoloured(&kept.text());
    let output = output.trim();
    let mut told = match &ran.whole {
        Some(Ok((path, _))) if kept.missing() > 0 => format!("{output}\n[The whole output is in {}]", path.display()),
        Some(Ok((path, _))) => {
            // Everything is kept, and the file is not needed.
            let _ = std::fs::remove_file(path);
            output.to_owned()
        }
        Some(Err(error)) if kept.missing() > 0 => format!("{output}\n[The whole output could not be kept: {error}]"),
        _ => output.to_owned(),
    };
    if ran.left {
        told.push_str("\n[Processes that the command left in the background were ended with it.]");
    }
    let late = format!("Command timed out after {}ms before it could complete.", timeout.as_millis());
    let (text, shown) = match ran.cause {
        Cause::TimedOut if told.is_empty() => {
            let text = format!("{late} There was no output before it timed out.");
            (text.clone(), text)
        }
        Cause::TimedOut => (
            format!("{late} Below is the output before it timed out:\n{told}"),
            format!("{late}\n{told}"),
        ),
        Cause::Cancelled if told.is_empty() => (
            "Command was cancelled by user before it could complete. There was no output before it was cancelled.".to_owned(),
            "Command cancelled by user.".to_owned(),
        ),
        Cause::Cancelled => (
            format!("Command was cancelled by user before it could complete. Below is the output before it was cancelled:\n{told}"),
            told.clone(),
        ),
        Cause::Itself => {
            let none = || "(none)".to_owned();
            let (code, signal) = match ran.exit {
                Some(Exit::Code(code)) => (code.to_string(), none()),
                Some(Exit::Signal(number)) => (none(), number.to_string()),
                None => (none(), none()),
            };
            let text = format!(
                "Command: {command}\nDirectory: {}\nOutput: {}\nError: (none)\nExit Code: {code}\nSignal: {signal}\nProcess Group PGID: {}",
                directory.unwrap_or("(root)"),
                if told.is_empty() { "(empty)" } else { &told },
                ran.id,
            );
            let shown = match ran.exit {
                _ if !told.is_empty() => told.clone(),
                Some(Exit::Signal(number)) => format!("Command terminated by signal: {number}"),
                Some(Exit::Code(code)) if code != 0 => format!("Command exited with code: {code}"),
                _ => String::new(),
            };
            (text, shown)
        }
    };
    let mut given = say::said(text, &shown);
    given.exit_code = Some(ran.code());
    given.status = match ran.cause {
        Cause::Cancelled => ResultStatus::Canceled,
        Cause::Itself if ran.is_success() => ResultStatus::Success,
        _ => ResultStatus::Error,
    };
    given
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::message::Part;
    use crate::persona::shared::jobs::notice;
    use crate::tools::shell::tests::{call, scene, within};
    use agentglot_adapters::raw::event::DetailShape;

    /// What the model reads and what hosts see, with the process group left out.
    fn both(given: &Given) -> (String, String) {
        let [Part::Text(text)] = given.content.as_slice() else {
            panic!("{given:?}")
        };
        let shown = given.detail.as_ref().map(|(shape, detail)| {
            assert_eq!((*shape, &detail["kind"]), (DetailShape::Qwen, &json!("string")));
            detail["text"].as_str().unwrap().to_owned()
        });
        let text = match text.split_once("Process Group PGID: ") {
            Some((before, group)) if group.parse::<u32>().is_ok() => format!("{before}Process Group PGID: N"),
            _ => text.clone(),
        };
        (text, shown.unwrap_or_default())
    }

    #[test]
    fn answers_as_recorded() {
        within(30, async {
            let scene = scene();
            let tools = shell(&scene.processes, false);
            let run = async |input: Value| call(&scene, &tools, "run_shell_command", input).await;
            let touched = run(json!({"command": "touch m2", "is_background": false})).await;
            let expected =
                "Command: touch m2\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: N";
            assert_eq!(both(&touched), (expected.to_owned(), String::new()));
            let failed = run(json!({"command": "echo before; exit 3"})).await;
            let expected =
                "Command: echo before; exit 3\nDirectory: (root)\nOutput: before\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: N";
            assert_eq!(both(&failed), (expected.to_owned(), "before".to_owned()));
            assert_eq!((failed.status, failed.exit_code), (ResultStatus::Error, Some(3)));
            let late = run(json!({"command": "echo a; sleep 100", "timeout": 300})).await;
            let head = "Command timed out after 300ms before it could complete.";
            assert_eq!(
                both(&late),
                (format!("{head} Below is the output before it timed out:\na"), format!("{head}\na"))
            );
            let killed = run(json!({"command": "kill -9 $$"})).await;
            assert!(both(&killed).0.contains("\nExit Code: (none)\nSignal: 9\n"));
            assert_eq!(both(&killed).1, "Command terminated by signal: 9");
            std::fs::create_dir(scene.root().join("sub")).unwrap();
            let there = run(json!({"command": "printf '\\033[31mred\\033[0m'; basename $PWD", "directory": "sub"})).await;
            assert!(both(&there).0.contains("\nDirectory: sub\nOutput: redsub\n"));
            let long = both(&run(json!({"command": "seq 1 100000"})).await).0;
            assert!(
                long.contains("bytes left out") && long.contains("99999\n100000\n[The whole output is in "),
                "{}",
                long.len()
            );
        });
    }

    #[test]
    fn commands_in_the_background() {
        within(30, async {
            let scene = scene();
            let tools = shell(&scene.processes, false);
            let begun = call(
                &scene,
                &tools,
                "run_shell_command",
                json!({"command": "echo '<up>'; exit 2 &", "is_background": true}),
            )
            .await;
            let (text, shown) = both(&begun);
            assert!(text.starts_with("Background shell started.\nid: bg_"), "{text}");
            let id = shown.split(' ').nth(2).unwrap().to_owned();
            let jobs = &scene.processes.jobs;
            jobs.some_ended().await;
            let job = jobs.take_ended().remove(0);
            assert_eq!((job.command.as_str(), job.id.as_str()), ("echo '<up>'; exit 2", id.as_str()));
            assert_eq!(shown, format!("Background shell {id} started (pid {}).", job.process));
            let told = notice(&job, &jobs.output(&id).await.unwrap());
            assert!(
                told.contains("<status>failed</status>\n<summary>Shell command \"echo '&lt;up&gt;'; exit 2\" failed.</summary>"),
                "{told}"
            );
            assert!(
                told.contains("<exit-code>2</exit-code>\n<result>exited with code 2</result>\n<output-tail>&lt;up&gt;</output-tail>"),
                "{told}"
            );

            let begun = call(
                &scene,
                &tools,
                "run_shell_command",
                json!({"command": "sleep 100", "is_background": true}),
            )
            .await;
            let id = both(&begun).1.split(' ').nth(2).unwrap().to_owned();
            let stop = async |id: &str| both(&call(&scene, &tools, "task_stop", json!({"task_id": id})).await).0;
            assert_eq!(stop(&id).await, format!("Background shell \"{id}\" was stopped.\nCommand: sleep 100"));
            assert_eq!(stop(&id).await, format!("Error: Background shell \"{id}\" is not running."));
            assert_eq!(stop("bg_0").await, "Error: No background task found with ID \"bg_0\".");
            scene.nothing_is_left().await;
            let wrong = call(&scene, &tools, "run_shell_command", json!({"is_background": true})).await;
            assert_eq!(both(&wrong).0, "params must have required property 'command'");
            let wrong = call(&scene, &tools, "run_shell_command", json!({"command": 5})).await;
            assert_eq!(both(&wrong).0, "params/command must be string");
        });
    }

    #[test]
    fn sequences_of_terminals_are_left_out() {
        assert_eq!(uncoloured("a\u{1b}[1;31mb\u{1b}[0mc"), "abc");
        assert_eq!(uncoloured("\u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y\u{1b}(Bz\u{1b}"), "xyz");
        assert_eq!(uncoloured("no \u{e9}"), "no \u{e9}");
    }
}
