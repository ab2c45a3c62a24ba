//! Hooks that are commands.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::output::Said;
use super::{Tell, Told};
use agentglot_process::{Child, Environment, Exit, Limits, Plan, Steps, Watcher};

/// So much of what a command writes is taken, on each of its outputs.
const SAID: usize = 1024 * 1024;
/// What runs longer than this is shown while it runs.
const LONG: Duration = Duration::from_secs(1);

/// A command that is to be run.
pub(super) struct Run {
    pub(super) line: String,
    pub(super) patience: Duration,
    pub(super) cwd: PathBuf,
    pub(super) environment: Vec<(String, String)>,
    /// What it reads.
    pub(super) input: String,
    pub(super) event: &'static str,
    /// `PreToolUse:Bash`.
    pub(super) name: String,
    /// The variable for the project's folder, besides ours.
    pub(super) project: &'static str,
    pub(super) tell: Option<Tell>,
    pub(super) watcher: Watcher,
}

/// What came of it.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    pub(super) async fn run(self) -> Said {
        let id = uuid::Uuid::new_v4().to_string();
        let about = json!({"hook_id": id, "hook_name": self.name, "hook_event": self.event});
        self.show("hook_started", None, about.clone());
        let ran = match tokio::time::timeout(self.patience, self.start(&about)).await {
            Ok(ran) => ran.map_err(|error| format!("could not be run: {error}")),
            // The group is ended when the child is dropped.
            Err(_) => Err(format!("did not end within {:.1} s", self.patience.as_secs_f64())),
        };
        let (output, mut data, outcome) = match &ran {
            Ok(ran) => {
                let outcome = if ran.code == Some(0) { "success" } else { "error" };
                let output = if ran.stdout.is_empty() { &ran.stderr } else { &ran.stdout };
                (
                    output.clone(),
                    json!({"stdout": ran.stdout, "stderr": ran.stderr, "exit_code": ran.code}),
                    outcome,
                )
            }
            Err(why) => (why.clone(), json!({"stdout": "", "stderr": why}), "cancelled"),
        };
        let mut all = about;
        if let (Value::Object(all), Value::Object(more)) = (&mut all, &mut data) {
            all.append(more);
            all.insert("outcome".to_owned(), json!(outcome));
        }
        self.show("hook_response", Some(output), all);
        match ran {
            Ok(ran) => self.said(&ran),
            Err(why) => {
                tracing::warn!(event = self.event, why, "a hook failed");
                Said::Failed(format!("{} hook [{}] {why}", self.name, self.line))
            }
        }
    }

    fn said(&self, ran: &Ran) -> Said {
        let plain = ran.stdout.trim();
        match ran.code {
            Some(0) => match serde_json::from_str::<Value>(plain) {
                _ if plain.is_empty() => Said::Nothing,
                Ok(value) if value.is_object() => Said::Json(value),
                _ => Said::Text(plain.to_owned()),
            },
            Some(2) => {
                let why = [ran.stderr.trim(), plain].into_iter().find(|text| !text.is_empty());
                Said::Blocks(format!("[{}]: {}", self.line, why.unwrap_or("No stderr output")))
            }
            code => {
                let how = code.map_or_else(|| "was ended by a signal".to_owned(), |code| format!("failed with exit code {code}"));
                tracing::warn!(event = self.event, how, "a hook failed");
                let why = ran.stderr.trim();
                let colon = if why.is_empty() { "" } else { ": " };
                Said::Failed(format!("{} hook [{}] {how}{colon}{why}", self.name, self.line))
            }
        }
    }

    fn show(&self, name: &'static str, output: Option<String>, data: Value) {
        if let Some(tell) = &self.tell {
            tell(Told { name, output, data });
        }
    }

    async fn start(&self, about: &Value) -> std::io::Result<Ran> {
        let cwd = self.cwd.display().to_string();
        let mut env = Environment::nothing();
        for (name, value) in &self.environment {
            env = env.set(name, value);
        }
        env = env.set(self.project, &cwd).set("AGENTGLOT_PROJECT_DIR", &cwd);
        let plan = Plan {
            env,
            cwd: Some(self.cwd.clone()),
            watcher: self.watcher.clone(),
            limits: Limits {
                stderr_tail: SAID,
                ..Limits::default()
            },
            ..Plan::new("/bin/sh")
        };
        let begun = Instant::now();
        let child = Child::start(plan.args(["-c", &self.line])).map_err(|error| std::io::Error::other(error.to_string()))?;
        // One that does not read it may know what it wants.
        let _ = child.write(self.input.as_bytes());
        child.close_stdin();
        let (mut said, mut room) = (Vec::new(), vec![0; 64 * 1024]);
        loop {
            match child.read(&mut room).await? {
                0 => break,
                read => said.extend_from_slice(&room[..read.min(SAID - said.len())]),
            }
            if begun.elapsed() > LONG {
                let stdout = String::from_utf8_lossy(&said).into_owned();
                let mut data = about.clone();
                data["stdout"] = json!(stdout);
                data["stderr"] = json!("");
                self.show("hook_progress", Some(stdout), data);
            }
        }
        let exit = child.exited().await;
        let ending = child.stop(Steps::default()).await;
        Ok(Ran {
            code: match exit.or(ending.exit) {
                Some(Exit::Code(code)) => Some(code),
                _ => None,
            },
            stdout: String::from_utf8_lossy(&said).into_owned(),
            stderr: String::from_utf8_lossy(&ending.stderr_tail).into_owned(),
        })
    }
}
