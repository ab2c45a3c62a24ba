//! What a host sees of a tool while it runs, where its dialect has lines for it: displays and terminal output.
//!
//! A call is `pending` while it is looked at, `confirming` while a person is asked, `executing` while it runs; its result says how it ended.
//! What a subagent does is told in the display of the call that began it, which is told again whenever something of it changes.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Host;
use crate::host::event_writer::{RunningSubagent, body};
use crate::host::terminal::{Apart, Shown};
use crate::model::message::{Call, Part};
use crate::persona::host::{CallShown, SubagentShown};
use crate::tools::{Access, Given, Progress, Tool};
use agentglot_adapters::raw::event::{Kind, Notice, ResultStatus, Terminal};
use agentglot_adapters::raw::json::{Raw, Str};

/// What is shown of the calls that run.
#[derive(Debug, Default)]
pub(crate) struct Screens {
    /// Standard output and standard error of each call, each taken apart by itself.
    streams: HashMap<String, [Apart; 2]>,
    /// The subagents at work, by the calls that began them.
    tasks: HashMap<String, Task>,
}

/// A subagent at work.
#[derive(Debug, Default)]
struct Task {
    calls: Vec<TaskCall>,
}

#[derive(Debug)]
struct TaskCall {
    id: String,
    name: String,
    status: &'static str,
    input: Value,
    text: Option<String>,
}

/// How much of what a subagent's call gave is shown while the subagent works.
const SHOWN: usize = 2000;

/// A call was made, and is looked at.
pub(crate) fn pending(host: &Host, subagent: Option<&RunningSubagent>, call: &Call) {
    stands(host, subagent, call, "pending", None);
}

/// The host is asked whether it may run. `diff`: the change that it would make.
pub(crate) fn confirms(host: &Host, subagent: Option<&RunningSubagent>, tool: &dyn Tool, call: &Call, input: &Value, diff: Option<&str>) {
    if host.persona.facts().shows_calls {
        let asked = host.persona.confirmation(tool.spec(), input, &tool.access(input), diff);
        stands(host, subagent, call, "confirming", Some(&asked));
    }
}

/// Whether a person is shown what an edit would change before they are asked.
pub(crate) fn shows_changes(host: &Host, access: &Access) -> bool {
    host.persona.facts().shows_calls && matches!(access, Access::Write(_))
}

/// A call runs.
pub(crate) fn begins(host: &Host, subagent: Option<&RunningSubagent>, call: &Call) {
    stands(host, subagent, call, "executing", None);
}

fn stands(host: &Host, subagent: Option<&RunningSubagent>, call: &Call, status: &'static str, confirmation: Option<&Value>) {
    if !host.persona.facts().shows_calls {
        return;
    }
    if let Some(subagent) = subagent {
        // There are no lines of a subagent's own; a question to the host is one about its call all the same.
        let word = if status == "confirming" { "awaiting_approval" } else { "executing" };
        task(host, subagent, call, word, None);
        if confirmation.is_none() {
            return;
        }
    }
    host.events.progress(&call.id, status, None, confirmation, None);
}

/// It prints something.
pub(crate) fn printed(host: &Host, subagent: Option<&RunningSubagent>, call: &Call, progress: Progress<'_>) {
    if !host.persona.facts().shows_calls {
        return;
    }
    let (which, bytes) = match progress {
        Progress::Stdout(bytes) => (0, bytes),
        Progress::Stderr(bytes) => (1, bytes),
    };
    let shown = host.screens.borrow_mut().streams.entry(call.id.clone()).or_default()[which].feed(bytes);
    show(host, subagent, which, &shown);
}

/// It prints nothing more.
pub(crate) fn ends(host: &Host, subagent: Option<&RunningSubagent>, call: &Call) {
    let Some(mut screens) = host.screens.borrow_mut().streams.remove(&call.id) else {
        return;
    };
    for (which, apart) in screens.iter_mut().enumerate() {
        show(host, subagent, which, &apart.finish());
    }
}

/// A call of a subagent has given something; what a call of the main conversation gives is told by its result.
pub(crate) fn gave(host: &Host, subagent: Option<&RunningSubagent>, call: &Call, given: &Given) {
    if !host.persona.facts().shows_calls {
        return;
    }
    host.screens.borrow_mut().tasks.remove(&call.id);
    let Some(subagent) = subagent else { return };
    let status = match given.status {
        ResultStatus::Success => "success",
        ResultStatus::Error => "failed",
        ResultStatus::Denied | ResultStatus::Canceled => "cancelled",
    };
    let texts = given.content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.flat_map(str::chars).take(SHOWN).collect();
    task(host, subagent, call, status, Some(text));
}

/// Tells how far a subagent is, after one of its calls has got somewhere.
fn task(host: &Host, subagent: &RunningSubagent, call: &Call, status: &'static str, text: Option<String>) {
    let display = {
        let mut screens = host.screens.borrow_mut();
        let task = screens.tasks.entry(subagent.call.clone()).or_default();
        match task.calls.iter_mut().find(|known| known.id == call.id) {
            // It was told so already.
            Some(known) if known.status == status && text.is_none() => return,
            Some(known) => (known.status, known.text) = (status, text),
            None => task.calls.push(TaskCall {
                id: call.id.clone(),
                name: call.name.clone(),
                status,
                input: serde_json::from_str(&call.input).unwrap_or_default(),
                text,
            }),
        }
        host.persona.subagent_shown(&task.shown(subagent))
    };
    host.events.progress(&subagent.call, "executing", Some(&display), None, None);
}

impl Task {
    fn shown<'a>(&'a self, subagent: &'a RunningSubagent) -> SubagentShown<'a> {
        let calls = self.calls.iter().map(|call| CallShown {
            id: &call.id,
            name: &call.name,
            status: call.status,
            input: &call.input,
            text: call.text.as_deref(),
        });
        SubagentShown {
            kind: &subagent.kind,
            task: &subagent.task,
            calls: calls.collect(),
        }
    }
}

/// A model call failed and is tried again. Whether the host was told of it so.
pub(crate) fn retried(host: &Host, notice: &Notice<'_>) -> bool {
    let metrics: Value = notice.data.and_then(|data| serde_json::from_str(data.as_str()).ok()).unwrap_or_default();
    let message = notice.message.map(|message| message.unescape().into_owned());
    let told = host.persona.retried(message.as_deref(), &metrics);
    told.inspect(|told| host.events.told(told)).is_some()
}

fn show(host: &Host, subagent: Option<&RunningSubagent>, which: usize, shown: &Shown) {
    if shown.is_empty() {
        return;
    }
    let text = body(&shown.text);
    let (spans, ansi) = (json!(shown.spans).to_string(), json!(shown.ansi).to_string());
    let terminal = Terminal {
        text: Some(Str::trusted(&text)),
        channel: Some(Str::trusted(["stdout", "stderr"][which])),
        source: Some(Str::trusted("tool")),
        spans: Some(Raw::trusted(&spans)),
        ansi: Some(Raw::trusted(&ansi)),
        ..Terminal::default()
    };
    host.events.say(Kind::Terminal(&terminal), subagent, None);
}
