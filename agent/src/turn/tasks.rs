//! Subagents that work in the background: the model goes on while they do, and is told when one has ended.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::host::event_writer::RunningSubagent;
use crate::persona::host::{self, SubagentEnd, SubagentTask};
use crate::turn::context::Context;

/// The subagents of a session.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    /// Those that run in the background, or whose end the model has not heard of.
    open: RefCell<Vec<Rc<Task>>>,
    wake: Notify,
}

/// A subagent at work.
#[derive(Debug)]
pub(crate) struct Task {
    /// Who it is.
    pub subagent: RunningSubagent,
    /// What it was asked.
    pub prompt: String,
    /// The model does not wait for it.
    pub background: bool,
    /// Stops it.
    pub stop: CancellationToken,
    /// What it said last is found here in the end.
    pub output: PathBuf,
    begun: Instant,
    end: RefCell<Option<Ended>>,
}

/// How a subagent has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// How it went.
    pub how: How,
    /// What it said last, or why it failed.
    pub text: String,
    /// Tokens of its last request.
    pub tokens: u64,
    /// Calls of tools that it made.
    pub calls: u64,
    /// How long it worked.
    pub took: Duration,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Well.
    Completed,
    /// Not.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl How {
    /// In a word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

impl Task {
    /// One that begins now.
    pub(crate) fn new(context: &Context, subagent: RunningSubagent, prompt: String, background: bool) -> Self {
        let output = context.world.scratch.join("tasks").join(format!("{}.output", subagent.id));
        Self {
            subagent,
            prompt,
            background,
            stop: CancellationToken::new(),
            output,
            begun: Instant::now(),
            end: RefCell::default(),
        }
    }

    /// How long it has worked.
    pub(crate) fn took(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Its end, if it has come.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.end.borrow().clone()
    }

    /// As a host is told of it.
    pub(crate) fn told<'a>(&'a self, ended: Option<&'a Ended>) -> SubagentTask<'a> {
        SubagentTask {
            id: &self.subagent.id,
            call: &self.subagent.call,
            kind: &self.subagent.kind,
            about: &self.subagent.task,
            prompt: &self.prompt,
            background: self.background,
            output: &self.output,
            ended: ended.map(|ended| SubagentEnd {
                status: ended.how.name(),
                text: &ended.text,
                tokens: ended.tokens,
                calls: ended.calls,
                took: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
            }),
        }
    }

    /// What the model reads of its end.
    pub(crate) fn notice(&self, ended: &Ended) -> String {
        let RunningSubagent { id, call, task, .. } = &self.subagent;
        let how = match ended.how {
            How::Completed => "finished",
            How::Failed => "failed",
            How::Stopped => "was stopped",
        };
        format!(
            "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>{}</status>\n<summary>Agent \"{task}\" \
             {how}</summary>\n<result>{}</result>\n<usage><subagent_tokens>{}</subagent_tokens><tool_uses>{}</tool_uses>\
             <duration_ms>{}</duration_ms></usage>\n</task-notification>",
            ended.how.name(),
            ended.text,
            ended.tokens,
            ended.calls,
            ended.took.as_millis(),
        )
    }
}

impl Tasks {
    /// One more.
    pub(crate) fn begin(&self, context: &Context, task: &Rc<Task>) {
        if task.background {
            self.open.borrow_mut().push(Rc::clone(task));
            crate::turn::background::tell_running(context);
        }
        if let Some(tasks) = context.host.persona.facts().tasks {
            context.host.events.told(&tasks.started(host::Task::Subagent(&task.told(None))));
        }
    }

    /// One has ended.
    pub(crate) fn end(&self, context: &Context, task: &Rc<Task>, ended: Ended) {
        // Nobody has to read it; a disk that is full stops nobody.
        if let Some(folder) = task.output.parent() {
            let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&task.output, &ended.text));
        }
        *task.end.borrow_mut() = Some(ended.clone());
        if let Some(tasks) = context.host.persona.facts().tasks {
            let told = tasks.ended(host::Task::Subagent(&task.told(Some(&ended))));
            told.iter().for_each(|told| context.host.events.told(told));
        }
        if task.background {
            crate::turn::background::tell_running(context);
            self.wake.notify_one();
        }
    }

    /// Those whose end the model has not heard of; from now on it has.
    pub(crate) fn take_ended(&self) -> Vec<Rc<Task>> {
        let (ended, open) = self.open.take().into_iter().partition(|task| task.end.borrow().is_some());
        *self.open.borrow_mut() = open;
        ended
    }

    /// Whether [`Self::take_ended`] has something to give.
    pub(crate) fn any_ended(&self) -> bool {
        self.open.borrow().iter().any(|task| task.end.borrow().is_some())
    }

    /// Whether one is at work in the background, or its end was not told to the model.
    pub(crate) fn any(&self) -> bool {
        !self.open.borrow().is_empty()
    }

    /// Waits until one has ended. Cancel-safe.
    pub(crate) async fn some_ended(&self) {
        while !self.any_ended() {
            self.wake.notified().await;
        }
    }

    /// Stops one. Returns whether it was at work.
    pub(crate) fn stop(&self, id: &str) -> bool {
        let open = self.open.borrow();
        let task = open.iter().find(|task| task.subagent.id == id && task.end.borrow().is_none());
        task.inspect(|task| task.stop.cancel()).is_some()
    }

    /// Stops all of them.
    pub(crate) fn stop_all(&self) {
        self.open.borrow().iter().for_each(|task| task.stop.cancel());
    }

    /// Those at work.
    pub(crate) fn running(&self) -> Vec<Rc<Task>> {
        let open = self.open.borrow();
        open.iter().filter(|task| task.end.borrow().is_none()).cloned().collect()
    }

    /// The same for hooks that hear of a stop.
    pub(crate) fn for_hooks(&self) -> Vec<Value> {
        let shown = |task: Rc<Task>| {
            let RunningSubagent { id, kind, task: about, .. } = &task.subagent;
            json!({"id": id, "type": "subagent", "status": "running", "description": about, "agent_type": kind})
        };
        self.running().into_iter().map(shown).collect()
    }
}
