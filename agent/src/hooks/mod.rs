//! Hooks: what the host or the user's settings want to hear of, and may decide, at certain moments of a session.
//!
//! There are two kinds. Callbacks are asked of the host by `hook_callback`; their ids come with `initialize.hooks`. Commands come from
//! settings files; each runs in a process group of its own, reads the payload as JSON on stdin and answers by its exit code and by JSON on
//! stdout. All hooks of one moment run at the same time, and what they say is put together: a denial goes before a question, a question
//! before a permission.

mod callbacks;
mod command;
mod matcher;
mod output;

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

pub use self::callbacks::{Callback, CallbackAnswer, HOOK_CALLBACK};
use self::matcher::Matcher;
pub use self::output::{HookOutcome, Permission};
use crate::control_requests::{HostRequests, Question};
use crate::permissions::Source;
use agentglot_adapters::raw::event::ControlKind;
use agentglot_process::Watcher;

/// How long a command may take where its settings do not say.
const COMMAND: Duration = Duration::from_secs(60);

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookEvent {
    /// A tool is about to run.
    PreToolUse,
    /// A tool has run.
    PostToolUse,
    /// A tool has failed.
    PostToolUseFailure,
    /// All calls of a reply are done.
    PostToolBatch,
    /// The user has said something.
    UserPromptSubmit,
    /// The model wants to stop.
    Stop,
    /// The model cannot be had, and the turn ends.
    StopFailure,
    /// A subagent begins.
    SubagentStart,
    /// A subagent wants to stop.
    SubagentStop,
    /// The conversation is about to be made shorter.
    PreCompact,
    /// Somebody waits for the user.
    Notification,
    /// A session begins or goes on.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The host is about to be asked for permission.
    PermissionRequest,
}

/// How a vendor's hooks are called and told.
#[derive(Clone, Copy, Debug)]
pub struct HookForm {
    /// What the moments are called, on the wire and in settings.
    pub names: &'static [(HookEvent, &'static str)],
    /// Tools that matchers know by a second name.
    pub aliases: &'static [(&'static str, &'static str)],
    /// A command's `timeout` counts milliseconds, not seconds.
    pub counts_milliseconds: bool,
    /// A payload says when it was written.
    pub has_time: bool,
    /// Hosts may register callbacks.
    pub takes_callbacks: bool,
    /// A hook may put a call off.
    pub defers: bool,
    /// Hooks that are asked about a permission, and the host, are asked side by side: what is said first holds. Else the host is asked behind them.
    pub beside_host: bool,
    /// A hook that ends the turn before a call ends it behind the calls of the reply, and the call runs if it may. Else it does not run.
    pub stops_behind_calls: bool,
    /// What a hook says to the user stands behind the moment's name and the tool's.
    pub names_speakers: bool,
    /// The variable that says how often in a row hooks may keep a turn from its end, where there is one.
    pub stop_cap_variable: Option<&'static str>,
    /// The variable that names the project's folder to commands.
    pub project_variable: &'static str,
    /// Who needs the user's permission, in a notification.
    pub agent: &'static str,
}

/// The form where a vendor has none of its own.
pub const PLAIN: HookForm = HookForm {
    names: &[
        (HookEvent::PreToolUse, "PreToolUse"),
        (HookEvent::PostToolUse, "PostToolUse"),
        (HookEvent::PostToolUseFailure, "PostToolUseFailure"),
        (HookEvent::PostToolBatch, "PostToolBatch"),
        (HookEvent::UserPromptSubmit, "UserPromptSubmit"),
        (HookEvent::Stop, "Stop"),
        (HookEvent::SubagentStart, "SubagentStart"),
        (HookEvent::SubagentStop, "SubagentStop"),
        (HookEvent::PreCompact, "PreCompact"),
        (HookEvent::Notification, "Notification"),
        (HookEvent::SessionStart, "SessionStart"),
        (HookEvent::SessionEnd, "SessionEnd"),
        (HookEvent::PermissionRequest, "PermissionRequest"),
    ],
    aliases: &[],
    counts_milliseconds: false,
    has_time: false,
    takes_callbacks: false,
    defers: false,
    beside_host: false,
    stops_behind_calls: false,
    names_speakers: false,
    stop_cap_variable: None,
    project_variable: "AGENTGLOT_PROJECT_DIR",
    agent: "The agent",
};

impl HookForm {
    /// What a moment is called.
    pub fn name(&self, event: HookEvent) -> &'static str {
        self.names.iter().find(|(known, _)| *known == event).map_or("", |(_, name)| name)
    }

    /// The moment of a name.
    fn event(&self, name: &str) -> Option<HookEvent> {
        self.names.iter().find(|(_, known)| *known == name).map(|(event, _)| *event)
    }
}

impl HookEvent {
    /// When it is, in words.
    const fn about(self) -> &'static str {
        match self {
            Self::PreToolUse => "A tool is about to run",
            Self::PostToolUse => "A tool has run",
            Self::PostToolUseFailure => "A tool has failed",
            Self::PostToolBatch => "All calls of a reply are done",
            Self::UserPromptSubmit => "The user has said something",
            Self::Stop => "The model wants to stop",
            Self::StopFailure => "The model cannot be had, and the turn ends",
            Self::SubagentStart => "A subagent begins",
            Self::SubagentStop => "A subagent wants to stop",
            Self::PreCompact => "The conversation is about to be made shorter",
            Self::Notification => "Somebody waits for the user",
            Self::SessionStart => "A session begins or goes on",
            Self::SessionEnd => "A session ends",
            Self::PermissionRequest => "The host is about to be asked for permission",
        }
    }

    /// What a matcher is held against: the member of the payload; `None` where matchers do not count.
    pub const fn subject(self) -> Option<&'static str> {
        match self {
            Self::PreToolUse | Self::PostToolUse | Self::PostToolUseFailure | Self::PermissionRequest => Some("tool_name"),
            Self::SubagentStart | Self::SubagentStop => Some("agent_type"),
            Self::PreCompact => Some("trigger"),
            Self::Notification => Some("notification_type"),
            Self::SessionStart => Some("source"),
            Self::SessionEnd => Some("reason"),
            Self::StopFailure => Some("error"),
            Self::UserPromptSubmit | Self::Stop | Self::PostToolBatch => None,
        }
    }
}

/// What every payload says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The session's id.
    pub session: String,
    /// Its transcript.
    pub transcript: String,
    /// The working folder.
    pub cwd: String,
    /// The id of the turn.
    pub prompt: Option<String>,
    /// The permission mode in the dialect's word.
    pub mode: String,
    /// The subagent that it is about: its id and its kind.
    pub agent: Option<(String, String)>,
    /// How much effort the model takes.
    pub effort: Option<String>,
}

/// What is shown of command hooks with `--include-hook-events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// `hook_started`, `hook_progress` or `hook_response`.
    pub name: &'static str,
    /// What it wrote so far; at the end all of it.
    pub output: Option<String>,
    /// The other members.
    pub data: Value,
}

/// Who hears of command hooks.
pub type Tell = Rc<dyn Fn(Told)>;

/// The hooks of a session.
pub struct Hooks {
    hooks: RefCell<Vec<Hook>>,
    requests: HostRequests,
    form: &'static HookForm,
    cwd: PathBuf,
    environment: Vec<(String, String)>,
    tell: Option<Tell>,
    watcher: Watcher,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("hooks", &self.hooks).finish_non_exhaustive()
    }
}

/// One hook.
#[derive(Clone, Debug)]
struct Hook {
    event: HookEvent,
    matcher: Matcher,
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Callback(Callback),
    Command {
        line: String,
        patience: Duration,
        waits: bool,
        /// Where it is from.
        source: Source,
    },
}

impl Hooks {
    /// No hooks yet. `environment` is what commands find in theirs, besides the project's folder; `tell` hears of them if the host wants to
    /// see them.
    pub fn new(form: &'static HookForm, cwd: PathBuf, environment: Vec<(String, String)>, requests: HostRequests, tell: Option<Tell>) -> Self {
        Self {
            hooks: RefCell::default(),
            requests,
            form,
            cwd,
            environment,
            tell,
            watcher: Watcher::default(),
        }
    }

    /// Who looks after commands if we die.
    #[must_use]
    pub fn watched_by(mut self, watcher: Watcher) -> Self {
        self.watcher = watcher;
        self
    }

    /// Adds the hooks of a settings file: `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}]}`. Returns
    /// what is no hook, a sentence each.
    pub fn add_settings(&self, source: Source, hooks: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        let Some(events) = hooks.as_object() else {
            return vec![format!("the hooks of {} are no object", source.name())];
        };
        for (name, groups) in events {
            let Some(event) = self.form.event(name) else {
                problems.push(format!("there are no hooks for {name} here"));
                continue;
            };
            for group in groups.as_array().into_iter().flatten() {
                let matcher = match Matcher::read(group.get("matcher")) {
                    Ok(matcher) => matcher,
                    Err(problem) => {
                        problems.push(format!("a hook for {name} never runs: {problem}"));
                        continue;
                    }
                };
                for hook in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                    let kind = hook.get("type").and_then(Value::as_str).unwrap_or("command");
                    let Some(line) = hook
                        .get("command")
                        .and_then(Value::as_str)
                        .filter(|line| kind == "command" && !line.trim().is_empty())
                    else {
                        problems.push(format!("a hook for {name} is no command and never runs"));
                        continue;
                    };
                    let number = hook
                        .get("timeout")
                        .and_then(Value::as_f64)
                        .filter(|number| number.is_finite() && *number > 0.0);
                    let scale = if self.form.counts_milliseconds { 1000.0 } else { 1.0 };
                    let patience = number.map_or(COMMAND, |number| Duration::from_secs_f64((number / scale).min(86_400.0)));
                    let action = Action::Command {
                        line: line.to_owned(),
                        patience,
                        waits: hook.get("async").and_then(Value::as_bool) != Some(true),
                        source,
                    };
                    self.add(event, matcher.clone(), action);
                }
            }
        }
        problems
    }

    /// The callbacks of `initialize.hooks` ([`Callback::read`]). Those of an earlier handshake are gone.
    pub fn set_callbacks(&self, hooks: &Value) {
        self.hooks.borrow_mut().retain(|hook| !matches!(hook.action, Action::Callback(_)));
        for callback in Callback::read(self.form, hooks) {
            self.add(callback.event, callback.matcher.clone(), Action::Callback(callback));
        }
    }

    /// The moments that there are and the commands of settings for them, for a host that shows them. Callbacks are the host's own.
    pub fn listed(&self) -> Value {
        let hooks = self.hooks.borrow();
        let commands = |event: HookEvent| {
            let of_event = hooks.iter().filter(move |hook| hook.event == event);
            of_event.filter_map(|hook| match &hook.action {
                Action::Command {
                    line,
                    patience,
                    waits,
                    source,
                } => Some((&hook.matcher, line, patience, waits, source)),
                Action::Callback(_) => None,
            })
        };
        let moment = |event: HookEvent, name: &str| json!({"name": name, "summary": event.about(), "supportsMatcher": event.subject().is_some()});
        let (mut events, mut listed, mut catalog) = (Vec::new(), Vec::new(), Vec::new());
        for (event, name) in self.form.names {
            catalog.push(moment(*event, name));
            let count = commands(*event).count();
            if count > 0 {
                let mut told = moment(*event, name);
                told["hookCount"] = count.into();
                events.push(told);
            }
            listed.extend(commands(*event).map(|(matcher, line, patience, waits, source)| {
                json!({
                    "event": name, "matcher": matcher.text(), "source": source.name(), "sourceLabel": source.name(), "type": "command",
                    "displayText": line, "commandText": line, "contentLabel": "Command", "timeout": patience.as_secs(),
                    "runsInBackground": !waits,
                })
            }));
        }
        json!({
            "events": events, "hooks": listed, "eventCatalog": catalog,
            "policy": {"allDisabled": false, "managedOnly": false, "pluginOnly": false, "disabledByPolicy": false, "policyHookCount": 0},
        })
    }

    fn add(&self, event: HookEvent, matcher: Matcher, action: Action) {
        self.hooks.borrow_mut().push(Hook { event, matcher, action });
    }

    /// Whether anybody wants to hear of a moment at all.
    pub fn any(&self, event: HookEvent) -> bool {
        self.hooks.borrow().iter().any(|hook| hook.event == event)
    }

    /// Runs the hooks of a moment and puts together what they say. `fields` are the event's own members of the payload, in order; `call` is
    /// the id of the tool call that it is about.
    pub async fn run(&self, event: HookEvent, facts: &Facts, fields: Vec<(&str, Value)>, call: Option<&str>) -> HookOutcome {
        if !self.any(event) {
            return HookOutcome::default();
        }
        let payload = payload(self.form, event, facts, fields);
        let subject = event.subject().and_then(|name| payload.get(name)).and_then(Value::as_str);
        let mut actions: Vec<Action> = Vec::new();
        for hook in self.hooks.borrow().iter().filter(|hook| hook.event == event) {
            if subject.is_none_or(|subject| hook.matcher.fits(subject, self.form.aliases)) && !actions.contains(&hook.action) {
                actions.push(hook.action.clone());
            }
        }
        let called = self.form.name(event);
        let name = subject.map_or_else(|| called.to_owned(), |subject| format!("{called}:{subject}"));
        let running = actions.into_iter().map(|action| self.one(action, event, &name, &payload, call));
        let mut outcome = HookOutcome::default();
        for said in join_all(running).await {
            outcome.add(event, called, said);
        }
        outcome
    }

    async fn one(&self, action: Action, event: HookEvent, name: &str, payload: &Value, call: Option<&str>) -> output::Said {
        match action {
            // Callbacks for the ends of a session do not fire: nobody is there yet, or any more.
            Action::Callback(_) if matches!(event, HookEvent::SessionStart | HookEvent::SessionEnd) => output::Said::Nothing,
            Action::Callback(callback) => {
                let call = call.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned);
                let question = Question {
                    kind: ControlKind::Hook,
                    subtype: HOOK_CALLBACK.to_owned(),
                    permission: None,
                    fields: callback.question(payload, &call),
                };
                let heard = tokio::time::timeout(callback.patience, self.requests.ask(question)).await;
                callback.said(self.form, heard.map_or(CallbackAnswer::Late, CallbackAnswer::Answered))
            }
            Action::Command { line, patience, waits, .. } => {
                let run = command::Run {
                    line,
                    patience,
                    cwd: self.cwd.clone(),
                    environment: self.environment.clone(),
                    input: format!("{payload}\n"),
                    event: self.form.name(event),
                    name: name.to_owned(),
                    project: self.form.project_variable,
                    tell: self.tell.clone(),
                    watcher: self.watcher.clone(),
                };
                if waits {
                    return run.run().await;
                }
                // It has no say.
                tokio::task::spawn_local(async move {
                    run.run().await;
                });
                output::Said::Nothing
            }
        }
    }
}

/// What the hooks of a moment are told, its members in the order of the recordings. `fields` are the event's own.
pub fn payload(form: &HookForm, event: HookEvent, facts: &Facts, fields: Vec<(&str, Value)>) -> Value {
    use HookEvent as E;
    let mut payload = serde_json::Map::new();
    let mut put = |name: &str, value: Value| payload.insert(name.to_owned(), value);
    put("session_id", json!(facts.session));
    put("transcript_path", json!(facts.transcript));
    put("cwd", json!(facts.cwd));
    if let Some(prompt) = &facts.prompt {
        put("prompt_id", json!(prompt));
    }
    if !matches!(
        event,
        E::SubagentStart | E::SessionStart | E::SessionEnd | E::PreCompact | E::Notification
    ) {
        put("permission_mode", json!(facts.mode));
    }
    if let Some((id, kind)) = &facts.agent {
        put("agent_id", json!(id));
        put("agent_type", json!(kind));
    }
    if let Some(effort) = facts.effort.as_ref().filter(|_| {
        matches!(
            event,
            E::PreToolUse | E::PostToolUse | E::PostToolUseFailure | E::PostToolBatch | E::Stop | E::SubagentStop | E::PermissionRequest
        )
    }) {
        put("effort", json!({ "level": effort }));
    }
    put("hook_event_name", json!(form.name(event)));
    if form.has_time {
        put("timestamp", json!(crate::clock::now_iso()));
    }
    for (name, value) in fields {
        put(name, value);
    }
    Value::Object(payload)
}

/// What a prompt is answered that a hook has blocked.
pub fn blocked_prompt(why: &str, said: &str) -> String {
    format!("UserPromptSubmit operation blocked by hook:\n{why}\n\nOriginal prompt: {said}")
}

/// What the model reads when a hook does not let it stop.
pub fn stop_feedback(why: &str) -> String {
    format!("Stop hook feedback:\n{why}")
}

/// So often in a row hooks may keep a turn from its end, where nothing else is said.
pub const MOST_HELD_UP: u64 = 8;

#[cfg(test)]
mod tests;
