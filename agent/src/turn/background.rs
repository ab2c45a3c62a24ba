//! Commands and subagents in the background, as the host and the model hear of them.
//!
//! The end of one begins a turn that nobody asked for, in which the model is told of it. When the host says nothing more, what runs in the
//! background has [`PATIENCE`] to end, subagents [`AGENTS`]; then it is ended with the session.

use std::rc::Rc;
use std::time::Duration;

use agentglot_adapters::raw::codec::Layout;
use serde_json::json;

use crate::host::prompts::HostPrompt;
use crate::model::message::Part;
use crate::persona::host::{SubagentTask, Task};
use crate::tools::jobs::{Job, State};
use crate::tools::processes::Processes;
use crate::turn::context::Context;

/// How long the session goes on for the sake of commands in the background when the host has closed its input.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same for subagents: their work is what the session was for.
const AGENTS: Duration = Duration::from_secs(600);

/// What the agent is to answer next: a prompt of the host's, or the end of a command in the background. `None` when the session is over.
pub(crate) async fn next(context: &Rc<Context>) -> Option<HostPrompt> {
    let Some(processes) = context.persona_session.processes() else {
        return context.host.prompts.next().await;
    };
    if !begins_turns(context) {
        // The model is told of ends with the next prompt.
        let mut asked = context.host.prompts.next().await?;
        let notices = notices(context, &processes, processes.jobs.take_ended()).await;
        asked.notices = notices.len();
        asked.parts.splice(0..0, notices);
        return Some(asked);
    }
    if !processes.jobs.any_ended() && !context.tasks.any_ended() {
        if !context.tasks.any() && !context.host.prompts.any_waits() {
            crate::host::state::now(&context.host, crate::host::state::State::Idle);
        }
        tokio::select! {
            biased;
            asked = context.host.prompts.next() => match asked {
                Some(asked) => return Some(asked),
                None => last(context, &processes).await,
            },
            () = processes.jobs.some_ended() => {}
            () = context.tasks.some_ended() => {}
        }
    }
    let (ended, agents) = (processes.jobs.take_ended(), context.tasks.take_ended());
    if ended.is_empty() && agents.is_empty() {
        return None;
    }
    let mut parts = notices(context, &processes, ended).await;
    parts.extend(agents.iter().filter_map(|task| Some(Part::Text(task.notice(&task.ended()?)))));
    Some(HostPrompt {
        notices: usize::MAX,
        parts,
        fields: vec![("origin".to_owned(), json!({"kind": "task-notification"}))],
        ..HostPrompt::default()
    })
}

/// Whether the host can read a turn that nobody asked for.
pub(crate) fn begins_turns(context: &Context) -> bool {
    context.host.persona.facts().begins_turns && context.host.launch.format.mode.layout == Layout::Lines
}

/// Whether the session goes on for the sake of commands in the background, though the host says nothing more: [`last`] says for how long.
pub(crate) fn waits(context: &Context) -> bool {
    let processes = context.persona_session.processes().filter(|_| begins_turns(context));
    processes.is_some_and(|processes| processes.jobs.any_running() || processes.jobs.any_ended()) && !context.turns.cancel().is_cancelled()
}

/// The host says nothing more: waits for an end in the background, if there is one to wait for.
async fn last(context: &Context, processes: &Processes) {
    let cancel = context.turns.cancel();
    if cancel.is_cancelled() || !(processes.jobs.any_running() || context.tasks.any()) {
        return;
    }
    let patience = if context.tasks.any() { AGENTS } else { PATIENCE };
    tokio::select! {
        () = processes.jobs.some_ended() => {}
        () = context.tasks.some_ended() => {}
        () = tokio::time::sleep(patience) => {}
        () = cancel.cancelled() => {}
    }
}

/// Tells the host of ends, and says what the model is told of them.
async fn notices(context: &Context, processes: &Processes, ended: Vec<Job>) -> Vec<Part> {
    let mut parts = Vec::new();
    for job in &ended {
        if let Some(tasks) = context.host.persona.facts().tasks {
            tasks.ended(Task::Command(job)).iter().for_each(|told| context.host.events.told(told));
        }
        let output = processes.jobs.output(&job.id).await.unwrap_or_default();
        parts.push(Part::Text(context.host.persona.job_ended(job, tail(&output))));
    }
    if !ended.is_empty() {
        tell_running(context);
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
pub(crate) fn announce(context: &Context) {
    let (Some(processes), Some(tasks)) = (context.persona_session.processes(), context.host.persona.facts().tasks) else {
        return;
    };
    let started = processes.jobs.take_started();
    for job in &started {
        context.host.events.told(&tasks.started(Task::Command(job)));
    }
    if !started.is_empty() {
        tell_running(context);
    }
}

/// The host wants one of them stopped. One that has ended, or never was, is stopped already.
pub(crate) fn stop(context: &Rc<Context>, request: &str, task: &str) {
    if context.tasks.stop(task) {
        return context.host.events.respond(request, &Ok(json!({})));
    }
    let (context, request, task) = (Rc::clone(context), request.to_owned(), task.to_owned());
    Rc::clone(&context).host.jobs.spawn(async move {
        if let Some(processes) = context.persona_session.processes() {
            let _ = processes.jobs.stop(&task).await;
        }
        context.host.events.respond(&request, &Ok(json!({})));
    });
}

/// Tells a host that wants to know what runs in the background.
pub(crate) fn tell_running(context: &Context) {
    let (Some(processes), Some(tasks)) = (context.persona_session.processes(), context.host.persona.facts().tasks) else {
        return;
    };
    let jobs = processes.jobs.list();
    let running = jobs
        .iter()
        .filter(|(job, _)| job.state == State::Running)
        .map(|(job, _)| Task::Command(job));
    let subagents = context.tasks.running();
    let subagents: Vec<SubagentTask<'_>> = subagents.iter().map(|task| task.told(None)).collect();
    let all: Vec<Task<'_>> = running.chain(subagents.iter().map(Task::Subagent)).collect();
    context.host.events.told(&tasks.running(&all));
}
