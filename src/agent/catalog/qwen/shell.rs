//! Qwen Code's `run_shell_command`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::adapters::event::{DetailShape, ResultStatus, ToolKind};
use crate::agent::catalog::input::Arguments;
use crate::agent::tool::{Access, Cx, Given, Spec, Tool};
use crate::agent::tools::shell::{Cause, Commands, Order, Ran};
use crate::child::Exit;

/// How long a command may take if the model does not say, and at most.
const TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(600);

/// How many bytes of an output the model reads: of its beginning and of its end.
const SHOWN: (usize, usize) = (20 << 10, 10 << 10);

/// The tools, for a session's commands.
pub fn shell(commands: &Rc<Commands>) -> Vec<Rc<dyn Tool>> {
    vec![Rc::new(RunShellCommand::new(Rc::clone(commands)))]
}

#[derive(Debug)]
struct RunShellCommand {
    spec: Spec,
    commands: Rc<Commands>,
}

impl RunShellCommand {
    fn new(commands: Rc<Commands>) -> Self {
        let spec = Spec {
            name: "run_shell_command".to_owned(),
            description: "Runs a command as `bash -c COMMAND` in a process group of its own. Standard input is empty and there is no \
                          terminal, so a command that wants to ask something fails. What a command leaves running ends with it. Told are the \
                          command, its folder, what it printed on both streams, its exit code or signal, and its process group; of a long \
                          output, the beginning and the end, and where the whole is."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "Exact bash command to execute as `bash -c <command>`"},
                    "timeout": {"type": "number", "description": "Optional timeout in milliseconds (default 120000, max 600000)"},
                    "description": {"type": "string", "description": "What the command does, in one sentence, for the user"},
                    "directory": {"type": "string", "description": "Folder to run the command in, if not the working folder"},
                },
                "required": ["command"],
            }),
            kind: ToolKind::Shell,
            reads_only: false,
        };
        Self { spec, commands }
    }

    async fn given(&self, input: &Value, cx: &Cx<'_>) -> Result<Given, String> {
        let arguments = Arguments::new("run_shell_command", input);
        let command = arguments.must_text("command")?;
        let directory = arguments.text("directory")?.filter(|directory| !directory.is_empty());
        let timeout = arguments.number("timeout")?;
        arguments.text("description")?;
        let timeout = timeout
            .filter(|most| *most > 0.0)
            .map_or(TIMEOUT, |most| Duration::from_secs_f64(most / 1000.0).min(LONGEST));
        let name = format!("shell-{}.txt", crate::child::start::mark());
        let path = self
            .commands
            .file("tool-results", &name)
            .map_err(|error| format!("The output could not be kept: {error}"))?;
        let order = Order {
            folder: Some(directory.map_or(cx.world.wall.root(), Path::new)),
            timeout: Some(timeout),
            merged: true,
            keep: SHOWN,
            whole: Some((path, SHOWN.0)),
            ..Order::new(command)
        };
        let ran = self.commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(command, directory, timeout, &ran))
    }
}

#[async_trait(?Send)]
impl Tool for RunShellCommand {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Run(input["command"].as_str().unwrap_or_default().to_owned())
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let given = self.given(input, cx).await;
        given.unwrap_or_else(|error| Given::error(error.clone()).with(DetailShape::Qwen, display(&error)))
    }
}

/// The typed form of a text.
fn display(text: &str) -> Value {
    json!({"kind": "string", "text": text})
}

fn told(command: &str, directory: Option<&str>, timeout: Duration, ran: &Ran) -> Given {
    let output = plain(&ran.stdout.text());
    let output = output.trim();
    let mut told = match &ran.whole {
        Some(Ok((path, _))) if ran.stdout.missing() > 0 => format!("{output}\n[The whole output is in {}]", path.display()),
        Some(Ok((path, _))) => {
            // Everything is kept, and the file is not needed.
            let _ = std::fs::remove_file(path);
            output.to_owned()
        }
        Some(Err(error)) if ran.stdout.missing() > 0 => format!("{output}\n[The whole output could not be kept: {error}]"),
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
    let mut given = Given::text(text).with(DetailShape::Qwen, display(&shown));
    given.exit_code = Some(ran.code());
    given.status = match ran.cause {
        Cause::Cancelled => ResultStatus::Canceled,
        Cause::Itself if ran.is_success() => ResultStatus::Success,
        _ => ResultStatus::Error,
    };
    given
}

/// A text without the sequences that colour it and move the cursor.
fn plain(text: &str) -> String {
    if !text.contains('\u{1b}') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        match rest.next() {
            // Parameters and intermediates, up to the final byte.
            Some('[') => while rest.next().is_some_and(|letter| matches!(letter, ' '..='?')) {},
            // A string, up to BEL or ESC \.
            Some(']' | 'P' | '_' | '^' | 'X') => {
                while let Some(letter) = rest.next() {
                    if letter == '\u{7}' {
                        break;
                    }
                    if letter == '\u{1b}' {
                        rest.next();
                        break;
                    }
                }
            }
            // An intermediate and what it belongs to.
            Some('(' | ')' | '#' | '%') => drop(rest.next()),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::agent::chat::Part;
    use crate::agent::tools::shell::tests::{Scene, scene, within};

    async fn call(scene: &Scene, tools: &[Rc<dyn Tool>], name: &str, input: Value) -> Given {
        let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
        let cx = Cx {
            call: "c1",
            cancel: CancellationToken::new(),
            world: &scene.world,
            tell: &|_| {},
        };
        tool.run(&input, &cx).await
    }

    /// What the model reads and what hosts see, with the process group left out.
    fn both(given: &Given) -> (String, String) {
        let [Part::Text(text)] = given.content.as_slice() else {
            panic!("{given:?}")
        };
        let (DetailShape::Qwen, detail) = given.detail.as_ref().unwrap() else {
            panic!("{given:?}")
        };
        assert_eq!(detail["kind"], "string");
        let text = match text.split_once("Process Group PGID: ") {
            Some((before, group)) if group.parse::<u32>().is_ok() => format!("{before}Process Group PGID: N"),
            _ => text.clone(),
        };
        (text, detail["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn answers_as_recorded() {
        within(30, async {
            let scene = scene();
            let tools = shell(&scene.commands);
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
    fn sequences_of_terminals_are_left_out() {
        assert_eq!(plain("a\u{1b}[1;31mb\u{1b}[0mc"), "abc");
        assert_eq!(plain("\u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y\u{1b}(Bz\u{1b}"), "xyz");
        assert_eq!(plain("no \u{e9}"), "no \u{e9}");
    }
}
