//! Questions that a command of the user's decides, because the host cannot be asked.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Session;
use super::control::{allow_unseen, refuse};
use crate::adapters::raw::event::Request;
use crate::adapters::raw::json::{Raw, Str};
use crate::backend::Backend;
use crate::child::{Child, Environment, Plan, Steps};

/// So much of what a command says is told as the reason.
const SAID: usize = 4096;

/// A question that waits for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Undecided {
    id: String,
    command: String,
    cwd: PathBuf,
    /// What the command reads.
    question: String,
}

/// What a command has decided, for the question of this id: permission, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    id: String,
    verdict: Result<(), String>,
}

impl Session {
    /// A question for permission waits for the command.
    pub(super) fn put_to_command(&mut self, id: &str, request: &Request<'_>, command: &str) {
        let permission = request.permission.copied().unwrap_or_default();
        let quoted = |text: &str| {
            let mut body = String::from("\"");
            Str::escape(text, &mut body);
            body.push('"');
            body
        };
        let question = format!(
            "{{\"tool_name\":\"{}\",\"tool_use_id\":\"{}\",\"input\":{},\"session_id\":{},\"cwd\":{}}}\n",
            permission.name.as_escaped(),
            permission.call.unwrap_or_default().as_escaped(),
            permission.input.map_or("{}", Raw::as_str),
            quoted(&self.host.facts.session),
            quoted(&self.host.facts.cwd),
        );
        self.undecided.push_back(Undecided {
            id: id.to_owned(),
            command: command.to_owned(),
            cwd: PathBuf::from(&self.host.facts.cwd),
            question,
        });
        self.deciding += 1;
    }

    /// The next question for the command.
    pub(super) fn next_undecided(&mut self) -> Option<Undecided> {
        self.undecided.pop_front()
    }

    /// How long the command may take.
    pub(super) const fn patience(&self) -> Duration {
        self.timers.permission
    }

    /// The command has decided.
    pub(super) fn decided(&mut self, decision: &Decision, now: Instant, backend: &mut dyn Backend) {
        self.deciding = self.deciding.saturating_sub(1);
        match &decision.verdict {
            Ok(()) => allow_unseen(&decision.id, backend),
            Err(why) => refuse(&decision.id, why, backend),
        }
        self.waited(now);
    }
}

/// Has the command decide: it reads the question, and exits with 0 for permission. What it writes else is the reason.
pub(super) async fn ask(undecided: Undecided, patience: Duration) -> Decision {
    let verdict = match tokio::time::timeout(patience, run(&undecided)).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(error)) => Err(format!("the command that decides could not be run: {error}")),
        Err(_) => Err(format!("the command did not decide within {:.1} s", patience.as_secs_f64())),
    };
    Decision { id: undecided.id, verdict }
}

async fn run(undecided: &Undecided) -> io::Result<Result<(), String>> {
    let plan = Plan {
        env: Environment::default().allow(["*"]),
        cwd: Some(undecided.cwd.clone()),
        ..Plan::new("/bin/sh")
    };
    let child = Child::start(plan.args(["-c", &undecided.command])).map_err(|error| io::Error::other(error.to_string()))?;
    // One that does not read it knows what it wants.
    let _ = child.write(undecided.question.as_bytes());
    child.close_stdin();
    let (mut said, mut room) = (Vec::new(), vec![0; SAID]);
    loop {
        match child.read(&mut room).await? {
            0 => break,
            read => said.extend_from_slice(&room[..read.min(SAID - said.len())]),
        }
    }
    let ending = child.stop(Steps::default()).await;
    if ending.exit.is_some_and(|exit| exit.code() == 0) {
        return Ok(Ok(()));
    }
    let words = if said.trim_ascii().is_empty() { &ending.stderr_tail } else { &said };
    let words = String::from_utf8_lossy(&words[..words.len().min(SAID)]).trim().to_owned();
    Ok(Err(if words.is_empty() {
        "the command that decides here did not allow it".to_owned()
    } else {
        words
    }))
}
