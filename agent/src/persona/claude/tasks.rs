//! The lines about what runs in the background: `task_started`, `task_updated`, `task_notification`, `background_tasks_changed`.

use serde_json::{Value, json};

use crate::clock::now_millis;
use crate::persona::host::{SubagentAtWork, Task, TaskHost, Told};
use crate::tools::jobs::{Job, State};
use crate::tools::shell::Cause;

#[derive(Debug)]
pub(super) struct Tasks;

impl TaskHost for Tasks {
    fn started(&self, task: Task<'_>) -> Told {
        let members = match task {
            Task::Command(job) => json!({
                "task_id": job.id, "tool_use_id": job.call, "description": label(job), "is_backgrounded": true, "task_type": "local_bash",
            }),
            Task::Subagent(task) => json!({
                "task_id": task.id, "tool_use_id": task.call, "description": task.about, "subagent_type": task.kind,
                "is_backgrounded": task.background, "spawn_depth": 1, "task_type": "local_agent", "prompt": task.prompt,
            }),
        };
        Told::System("task_started", members)
    }

    fn progressed(&self, subagent: &SubagentAtWork<'_>) -> Told {
        let text = |name: &str| subagent.input.get(name).and_then(Value::as_str);
        let about = ["description", "command", "file_path", "pattern", "url", "query"]
            .iter()
            .find_map(|name| text(name));
        let about = match about {
            Some(about) if subagent.input.get("command").is_some() => format!("Running {about}"),
            Some(about) => format!("{}: {about}", subagent.tool),
            None => subagent.tool.to_owned(),
        };
        let members = json!({
            "task_id": subagent.id, "tool_use_id": subagent.call, "description": about, "subagent_type": subagent.kind,
            "usage": {"total_tokens": subagent.tokens, "tool_uses": subagent.calls, "duration_ms": subagent.took},
            "last_tool_name": subagent.tool,
        });
        Told::System("task_progress", members)
    }

    fn ended(&self, task: Task<'_>) -> Vec<Told> {
        let (id, call, output, (status, text), usage) = match task {
            Task::Command(job) => (&*job.id, json!(job.call), json!(job.output), how(job), None),
            Task::Subagent(task) => {
                let ended = task.ended.map(|end| (end.status, end.text.to_owned()));
                let usage = task
                    .ended
                    .map(|end| json!({"total_tokens": end.tokens, "tool_uses": end.calls, "duration_ms": end.took}));
                (
                    task.id,
                    json!(task.call),
                    json!(task.output),
                    ended.unwrap_or(("completed", String::new())),
                    Some(usage),
                )
            }
        };
        let mut patch = json!({"status": if status == "stopped" { "killed" } else { status }, "end_time": now_millis()});
        if status == "failed" {
            patch["error"] = text.clone().into();
        }
        let mut members = json!({"task_id": id, "tool_use_id": call, "status": status, "output_file": output, "summary": text});
        if let Some(usage) = usage {
            members["usage"] = usage.into();
        }
        vec![
            Told::System("task_updated", json!({"task_id": id, "patch": patch})),
            Told::System("task_notification", members),
        ]
    }

    fn running(&self, tasks: &[Task<'_>]) -> Told {
        let tasks: Value = tasks.iter().map(listed).collect();
        Told::System("background_tasks_changed", json!({ "tasks": tasks }))
    }
}

fn listed(task: &Task<'_>) -> Value {
    match task {
        Task::Command(job) => json!({"task_id": job.id, "task_type": "local_bash", "description": label(job)}),
        Task::Subagent(task) => {
            json!({"task_id": task.id, "task_type": "local_agent", "subagent_type": task.kind, "description": task.about})
        }
    }
}

fn label(job: &Job) -> &str {
    job.description.as_deref().unwrap_or(&job.command)
}

fn how(job: &Job) -> (&'static str, String) {
    let label = label(job);
    match job.state {
        State::Ended { cause: Cause::Cancelled, .. } => ("stopped", format!("Background command \"{label}\" was stopped")),
        State::Ended { exit: Some(exit), .. } if job.state.is_success() => (
            "completed",
            format!("Background command \"{label}\" completed (exit code {})", exit.code()),
        ),
        State::Ended { cause, exit, .. } => {
            let code = exit.map_or(137, agentglot_process::Exit::code);
            let why = if cause == Cause::TimedOut { " after its time-out" } else { "" };
            ("failed", format!("Background command \"{label}\" failed with exit code {code}{why}"))
        }
        State::Running => ("completed", label.to_owned()),
    }
}
