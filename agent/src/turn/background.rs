//! Commands and subagents in the background, as the host and the model hear of them.
//!
//! The end of one begins a turn that nobody asked for, in which the model is told of it. When the host says nothing more, what runs in the
//! background has [`PATIENCE`] to end, subagents [`AGENTS`]; then it is ended with the session.

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::host::event_writer::line_id;
use crate::host::prompts::Asked;
use crate::model::message::Part;
use crate::persona;
use crate::tools::jobs::{Job, State};
use crate::tools::processes::Processes;
use crate::tools::shell::Cause;
use crate::turn::context::Context;
use agentglot_adapters::raw::codec::{Dialect, Mode};

/// How long the session goes on for the sake of commands in the background when the host has closed its input.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same for subagents: their work is what the session was for.
const AGENTS: Duration = Duration::from_secs(600);

/// What the agent is to answer next: a prompt of the host's, or the end of a command in the background. `None` when the session is over.
pub(crate) async fn next(core: &Rc<Context>) -> Option<Asked> {
    let Some(processes) = core.persona_session.processes() else {
        return core.host.prompts.next().await;
    };
    if !begins_turns(core) {
        // The model is told of ends with the next prompt.
        let mut asked = core.host.prompts.next().await?;
        let notices = notices(core, &processes, processes.jobs.take_ended()).await;
        asked.notices = notices.len();
        asked.parts.splice(0..0, notices);
        return Some(asked);
    }
    if !processes.jobs.any_ended() && !core.tasks.any_ended() {
        if !core.tasks.any() && !core.host.prompts.any_waits() {
            crate::host::state::now(&core.host, crate::host::state::State::Idle);
        }
        tokio::select! {
            biased;
            asked = core.host.prompts.next() => match asked {
                Some(asked) => return Some(asked),
                None => last(core, &processes).await,
            },
            () = processes.jobs.some_ended() => {}
            () = core.tasks.some_ended() => {}
        }
    }
    let (ended, agents) = (processes.jobs.take_ended(), core.tasks.take_ended());
    if ended.is_empty() && agents.is_empty() {
        return None;
    }
    let mut parts = notices(core, &processes, ended).await;
    parts.extend(agents.iter().filter_map(|task| Some(Part::Text(task.notice(&task.ended()?)))));
    Some(Asked {
        notices: usize::MAX,
        parts,
        fields: vec![("origin".to_owned(), json!({"kind": "task-notification"}))],
        ..Asked::default()
    })
}

/// Whether the host can read a turn that nobody asked for: not where it waits for one value at the end, and not by the RFC, where every
/// turn answers a request.
pub(crate) fn begins_turns(core: &Context) -> bool {
    matches!(core.host.dialect, Dialect::Claude | Dialect::QwenCode) && core.host.launch.format.mode == Mode::StreamJson
}

/// The host says nothing more: waits for an end in the background, if there is one to wait for.
async fn last(core: &Context, processes: &Processes) {
    let cancel = core.turns.cancel();
    if cancel.is_cancelled() || !(processes.jobs.any_running() || core.tasks.any()) {
        return;
    }
    let patience = if core.tasks.any() { AGENTS } else { PATIENCE };
    tokio::select! {
        () = processes.jobs.some_ended() => {}
        () = core.tasks.some_ended() => {}
        () = tokio::time::sleep(patience) => {}
        () = cancel.cancelled() => {}
    }
}

/// Tells the host of ends, and says what the model is told of them.
async fn notices(core: &Context, processes: &Processes, ended: Vec<Job>) -> Vec<Part> {
    let mut parts = Vec::new();
    for job in &ended {
        let text = match core.host.dialect {
            Dialect::Claude => {
                core.host.events.line(&notification(core, job));
                persona::claude::tools::shell::notice(job)
            }
            _ => {
                let output = processes.jobs.output(&job.id).await.unwrap_or_default();
                persona::qwen::tools::shell::notice(job, tail(&output))
            }
        };
        parts.push(Part::Text(text));
    }
    if core.host.dialect == Dialect::Claude && !ended.is_empty() {
        core.host.events.line(&changed(core, processes));
    }
    parts
}

/// The end of an output, as much as a notice holds.
fn tail(output: &str) -> &str {
    let mut from = output.len().saturating_sub(2000);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    &output[from..]
}

/// Tells the host of commands that were started since this was called the last time.
pub(crate) fn announce(core: &Context) {
    let Some(processes) = core.persona_session.processes().filter(|_| core.host.dialect == Dialect::Claude) else {
        return;
    };
    let started = processes.jobs.take_started();
    for job in &started {
        core.host.events.line(&json!({
            "type": "system",
            "subtype": "task_started",
            "task_id": job.id,
            "tool_use_id": job.call,
            "description": label(job),
            "is_backgrounded": true,
            "task_type": "local_bash",
            "uuid": line_id(),
            "session_id": *core.host.session.borrow(),
        }));
    }
    if !started.is_empty() {
        core.host.events.line(&changed(core, &processes));
    }
}

fn label(job: &Job) -> &str {
    job.description.as_deref().unwrap_or(&job.command)
}

/// The host wants one of them stopped. One that has ended, or never was, is stopped already.
pub(crate) fn stop(core: &Rc<Context>, request: &str, task: &str) {
    if core.tasks.stop(task) {
        return core.host.events.respond(request, &Ok(json!({})));
    }
    let (core, request, task) = (Rc::clone(core), request.to_owned(), task.to_owned());
    Rc::clone(&core).host.jobs.spawn(async move {
        if let Some(processes) = core.persona_session.processes() {
            let _ = processes.jobs.stop(&task).await;
        }
        core.host.events.respond(&request, &Ok(json!({})));
    });
}

/// Tells a host of Claude's what runs in the background.
pub(crate) fn tell_running(core: &Context) {
    if let Some(processes) = core.persona_session.processes() {
        core.host.events.line(&changed(core, &processes));
    }
}

/// Claude's `background_tasks_changed`.
fn changed(core: &Context, processes: &Processes) -> Value {
    let running = processes.jobs.list().into_iter().filter(|(job, _)| job.state == State::Running);
    let commands = running.map(|(job, _)| json!({"task_id": job.id, "task_type": "local_bash", "description": label(&job)}));
    let tasks: Value = commands.chain(core.tasks.listed()).collect();
    json!({
        "type": "system",
        "subtype": "background_tasks_changed",
        "tasks": tasks,
        "uuid": line_id(),
        "session_id": *core.host.session.borrow(),
    })
}

/// Claude's `task_notification`.
fn notification(core: &Context, job: &Job) -> Value {
    let (status, summary) = match job.state {
        State::Ended { cause: Cause::Cancelled, .. } => ("stopped", format!("Background command \"{}\" was stopped", label(job))),
        State::Ended { exit: Some(exit), .. } if job.state.is_success() => (
            "completed",
            format!("Background command \"{}\" completed (exit code {})", label(job), exit.code()),
        ),
        State::Ended { cause, exit, .. } => {
            let code = exit.map_or(137, agentglot_process::Exit::code);
            let why = if cause == Cause::TimedOut { " after its time-out" } else { "" };
            (
                "failed",
                format!("Background command \"{}\" failed with exit code {code}{why}", label(job)),
            )
        }
        State::Running => ("completed", label(job).to_owned()),
    };
    json!({
        "type": "system",
        "subtype": "task_notification",
        "task_id": job.id,
        "tool_use_id": job.call,
        "status": status,
        "output_file": job.output,
        "summary": summary,
        "uuid": line_id(),
        "session_id": *core.host.session.borrow(),
    })
}
