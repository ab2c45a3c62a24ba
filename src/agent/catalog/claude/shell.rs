//! Claude Code's `Bash`.

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::adapters::event::{DetailShape, ResultStatus, ToolKind};
use crate::agent::catalog::input::Arguments;
use crate::agent::chat::Part;
use crate::agent::tool::{Access, Cx, Given, Spec, Tool};
use crate::agent::tools::shell::{Cause, Commands, Order, Ran};

/// How long a command may take if the model does not say, and at most.
const TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(600);

/// How many characters of an output the model reads. A longer one is kept in a file.
const SHOWN: usize = 30_000;

/// How many bytes of a long output the model reads.
const PREVIEW: usize = 2000;

/// Commands that say nothing when all goes well.
const SILENT: [&str; 16] = [
    "mv", "cp", "rm", "mkdir", "rmdir", "chmod", "chown", "chgrp", "touch", "ln", "cd", "export", "unset", "wait", "true", ":",
];

/// The tools, for a session's commands.
pub fn shell(commands: &Rc<Commands>) -> Vec<Rc<dyn Tool>> {
    vec![Rc::new(Bash::new(Rc::clone(commands)))]
}

#[derive(Debug)]
struct Bash {
    spec: Spec,
    commands: Rc<Commands>,
}

impl Bash {
    fn new(commands: Rc<Commands>) -> Self {
        let spec = Spec {
            name: "Bash".to_owned(),
            description: "Runs a command with bash and returns what it prints. The working folder carries over from one command to the next; \
                          variables and functions do not. Standard input is empty and there is no terminal, so a command that wants to ask \
                          something fails. Quote paths that hold spaces. Use the tools for files and searches instead of cat, sed, find and \
                          grep where there are any. Commands that do not depend on each other may be separate calls; those that do are \
                          joined by &&. What a command leaves running ends with it. A long output is kept in a file, and its beginning is \
                          shown."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command to execute"},
                    "timeout": {"type": "number", "description": "Optional timeout in milliseconds (default 120000, max 600000)"},
                    "description": {"type": "string", "description": "What this command does, in five to ten words"},
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
            kind: ToolKind::Shell,
            reads_only: false,
        };
        Self { spec, commands }
    }

    async fn given(&self, input: &Value, cx: &Cx<'_>) -> Result<Given, String> {
        let arguments = Arguments::new("Bash", input);
        let command = arguments.must_text("command")?;
        let timeout = arguments.number("timeout")?;
        arguments.text("description")?;
        let timeout = timeout
            .filter(|most| *most > 0.0)
            .map_or(TIMEOUT, |most| Duration::from_secs_f64(most / 1000.0).min(LONGEST));
        let name = format!("b{}.txt", word());
        let path = self
            .commands
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
        let ran = self.commands.run(order, &cx.cancel, cx.tell).await.map_err(|error| error.to_string())?;
        Ok(told(command, timeout, ran))
    }
}

#[async_trait(?Send)]
impl Tool for Bash {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Run(input["command"].as_str().unwrap_or_default().to_owned())
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        self.given(input, cx).await.unwrap_or_else(failed)
    }
}

/// A failure, as Claude Code tells one.
pub(super) fn failed(text: String) -> Given {
    let detail = Value::from(format!("Error: {text}"));
    Given::error(text).with(DetailShape::Claude, detail)
}

/// A random word of small letters and digits, as names of outputs and tasks have.
pub(super) fn word() -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..8).map(|_| char::from(LETTERS[rand::random_range(0..LETTERS.len())])).collect()
}

fn told(command: &str, timeout: Duration, ran: Ran) -> Given {
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
        return exited(failed(joined(&[&head, &cut(stdout, &ran), &notes])), code);
    }
    let meaning = (ran.cause == Cause::Itself).then(|| meaning(command, code)).flatten();
    if ran.cause == Cause::Itself && code != 0 && meaning.is_none() {
        let head = format!("Exit code {code}");
        let signal = ran.exit.filter(|exit| matches!(exit, crate::child::Exit::Signal(_)));
        let signal = signal.map(|exit| format!("The command {exit}.")).unwrap_or_default();
        return exited(failed(joined(&[&head, &signal, &cut(stdout, &ran), &notes])), code);
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
            _ => joined(&[&cut(stdout, &ran), &notes]),
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
mod tests {
    use std::fs;

    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::agent::tools::shell::tests::{Scene, scene, within};

    pub(crate) async fn call(scene: &Scene, tools: &[Rc<dyn Tool>], name: &str, input: Value) -> Given {
        let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
        let cx = Cx {
            call: "c1",
            cancel: CancellationToken::new(),
            world: &scene.world,
            tell: &|_| {},
        };
        tool.run(&input, &cx).await
    }

    fn text(given: &Given) -> &str {
        match given.content.as_slice() {
            [Part::Text(text)] => text,
            other => panic!("{other:?}"),
        }
    }

    fn detail(given: &Given) -> &Value {
        let (shape, detail) = given.detail.as_ref().unwrap();
        assert_eq!(*shape, DetailShape::Claude);
        detail
    }

    #[test]
    fn answers_as_recorded() {
        within(30, async {
            let scene = scene();
            let tools = shell(&scene.commands);
            let bash = async |input: Value| call(&scene, &tools, "Bash", input).await;
            let ok = bash(json!({"command": "echo parallel; echo err >&2", "description": "Echo"})).await;
            assert_eq!((text(&ok), ok.status, ok.exit_code), ("parallel\nerr", ResultStatus::Success, Some(0)));
            assert_eq!(
                detail(&ok).to_string(),
                r#"{"stdout":"parallel\nerr","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}"#
            );
            let bad = bash(json!({"command": "printf 'out\\n'; printf 'err\\n' >&2; exit 3"})).await;
            assert_eq!(
                (text(&bad), bad.status, bad.exit_code),
                ("Exit code 3\nout\nerr", ResultStatus::Error, Some(3))
            );
            assert_eq!(*detail(&bad), json!("Error: Exit code 3\nout\nerr"));
            let big = bash(json!({"command": "head -c 200000 /dev/zero | tr '\\0' x; echo"})).await;
            let path = detail(&big)["persistedOutputPath"].as_str().unwrap();
            assert_eq!(
                text(&big),
                format!(
                    "<persisted-output>\nOutput too large (195.3KB). Full output saved to: {path}\n\nPreview (first 2KB):\n{}\n...\n</persisted-output>",
                    "x".repeat(2000)
                )
            );
            assert_eq!(detail(&big)["stdout"].as_str().unwrap().len(), 30_000);
            assert_eq!(detail(&big)["persistedOutputSize"], 200_001);
            assert_eq!(fs::metadata(path).unwrap().len(), 200_001);
        });
    }

    #[test]
    fn ends_that_are_not_plain() {
        within(30, async {
            let scene = scene();
            let tools = shell(&scene.commands);
            let bash = async |command: &str| call(&scene, &tools, "Bash", json!({"command": command, "timeout": 1500})).await;
            let late = bash("echo begun; sleep 100").await;
            assert_eq!(
                (text(&late), late.status),
                ("Exit code 143\nCommand timed out after 1.5s\nbegun", ResultStatus::Error)
            );
            let silent = bash("mkdir a && touch a/b").await;
            assert_eq!(text(&silent), "(Bash completed with no output)");
            assert_eq!(detail(&silent)["noOutputExpected"], true);
            let none = bash("grep nothing a/b").await;
            assert_eq!((none.status, none.exit_code), (ResultStatus::Success, Some(1)));
            assert_eq!(detail(&none)["returnCodeInterpretation"], "No matches found");
            let killed = bash("kill -9 $$").await;
            assert_eq!(text(&killed), "Exit code 137\nThe command was ended by signal 9 (SIGKILL).");
            let out = bash("cd /; echo there").await;
            let root = scene.root().display();
            assert_eq!(text(&out), format!("there\nShell cwd was reset to {root}"));
            assert_eq!(detail(&out)["stderr"], format!("Shell cwd was reset to {root}"));
            let picture = bash("echo 'data:image/png;base64,AAAA'").await;
            assert!(matches!(&picture.content[..], [Part::Image { data, .. }] if data == "AAAA"));
            let wide = bash("printf '\u{e9}%.0s' {1..20000}").await;
            assert_eq!(text(&wide).chars().count(), 20_000);
            assert_eq!(fs::read_dir(scene.world.scratch.join("tool-results")).unwrap().count(), 0);
            let missing = call(&scene, &tools, "Bash", json!({"cmd": "x"})).await;
            assert_eq!(text(&missing), "The required parameter `command` of Bash is missing.");
            assert_eq!(tools[0].access(&json!({"command": "ls; rm x"})), Access::Run("ls; rm x".to_owned()));
        });
    }

    #[test]
    fn spans_and_sizes() {
        assert_eq!(span(Duration::from_secs(120)), "2m 0s");
        assert_eq!(span(Duration::from_secs(165)), "2m 45s");
        assert_eq!(span(Duration::from_secs(30)), "30s");
        assert_eq!((size_of(200_001).as_str(), size_of(3 << 20).as_str()), ("195.3KB", "3MB"));
        assert_eq!(trimmed("\n \n  a\n\n"), "  a");
        assert!(is_silent("cd x && rm y") && !is_silent("cd x && ls") && !is_silent(""));
    }
}
