//! The host's hooks, where the agent is a program that calls none: the session calls them, at the moments that it sees.
//!
//! It sees prompts, questions for permission, calls, results and outcomes. A prompt, a question and the end of a turn wait for what the hooks
//! say. A call of which the agent has asked nobody has run already when its hooks hear of it: what they deny then ends the turn.

mod decided;

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use serde_json::{Value, json};

use super::Session;
use super::text_questions::Question;
use crate::adapters::raw::event::{
    At, ControlKind, Event, Field, Fields, Input, InputKind, Kind, Origin, Outcome, OutcomeKind, Prompt, Request, Response,
};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::live::{Heard, Listener, Manner, Speaker};
use crate::agent::control_requests::Unanswered;
use crate::agent::hooks::{self, Callback, CallbackAnswer, Facts, HOOK_CALLBACK, HookEvent, HookOutcome};
use crate::agent::persona;
use crate::backend::{Backend, callbacks};

/// The host's callbacks, and what waits for them.
#[derive(Debug, Default)]
pub(super) struct HostHooks {
    callbacks: Vec<Callback>,
    runs: Vec<Run>,
    /// Callbacks that were asked so far, for the ids of the requests.
    asked: u64,
    /// Calls without a result, by their ids.
    calls: BTreeMap<String, Call>,
    /// Prompts behind one that waits, as lines of the host's.
    prompts: VecDeque<Vec<u8>>,
    /// How often in a row hooks have kept the turn from its end.
    held_up: u64,
}

/// Callbacks of one moment.
#[derive(Debug)]
struct Run {
    event: HookEvent,
    /// Those that have not answered: the request's id, and until when it is waited for.
    waiting: Vec<(String, Callback, Instant)>,
    outcome: HookOutcome,
    then: Then,
}

/// What waits for them.
#[derive(Debug)]
enum Then {
    /// Nothing.
    Nothing,
    /// A question for permission, of this call.
    Question(String, Box<Question>),
    /// A call that has run.
    Ran,
    /// A prompt, as a line of the host's.
    Prompt(Vec<u8>),
    /// The outcome of a turn, as the host's lines.
    End(Vec<u8>),
}

/// A call, in the host's words.
#[derive(Debug)]
struct Call {
    tool: String,
    input: Value,
    /// Hooks have heard that it is about to run.
    judged: bool,
    /// They did not let it run.
    denied: bool,
}

impl Call {
    const fn new(tool: String, input: Value) -> Self {
        Self {
            tool,
            input,
            judged: false,
            denied: false,
        }
    }
}

/// More moments than any program has open; beyond it the hooks of the oldest have not answered.
const MOST_RUNS: usize = 1024;

/// Why a call does not run whose hooks nobody answers.
const GONE: &str = "the host is gone, whose hook guards this call";

impl HostHooks {
    pub(super) const fn is_waiting(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether something waits for them that the host waits for too.
    pub(super) fn holds(&self) -> bool {
        self.runs.iter().any(|run| matches!(run.then, Then::Prompt(_) | Then::End(_)))
    }

    /// A call is not to run.
    pub(super) fn denied(&mut self, call: &str) {
        if let Some(call) = self.calls.get_mut(call) {
            call.denied = true;
        }
    }

    /// How many bytes of prompts wait.
    pub(super) fn queued(&self) -> usize {
        self.prompts.iter().map(Vec::len).sum()
    }

    fn wants(&self, event: HookEvent) -> bool {
        self.callbacks.iter().any(|callback| callback.event == event)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.runs.iter().flat_map(|run| &run.waiting).map(|(_, _, until)| *until).min()
    }
}

impl Session {
    /// The host names its hooks when it begins.
    pub(super) fn learn_hooks(&mut self, request: &Request<'_>, fields: Fields<'_>, backend: &dyn Backend) {
        let form = persona::of(self.host.format.dialect).hooks;
        if request.kind != ControlKind::Initialize || self.same || !form.takes_callbacks || backend.calls_hooks() {
            return;
        }
        self.hooks.callbacks = callbacks(self.host.format.dialect, fields);
    }

    /// The host has said something: it comes behind a prompt that waits for hooks. Returns whether it waits too.
    pub(super) fn hooks_hold(&mut self, input: &Input<'_>, now: Instant) -> bool {
        let InputKind::Prompt(prompt) = input.kind else { return false };
        let wants = self.hooks.wants(HookEvent::UserPromptSubmit);
        // This one is counted already.
        let is_behind = self.hooks.holds() || wants && self.prompts > self.hooks.prompts.len() + 1;
        if is_behind || !self.hooks.prompts.is_empty() {
            let line = self.line_of(input);
            self.hooks.prompts.push_back(line);
            return true;
        }
        self.ask_about_prompt(input, prompt, now)
    }

    /// Puts a prompt to the hooks. Returns whether there are any.
    fn ask_about_prompt(&mut self, input: &Input<'_>, prompt: &Prompt<'_>, now: Instant) -> bool {
        let text = json!(plain(prompt));
        self.hooks.wants(HookEvent::UserPromptSubmit) && {
            let line = self.line_of(input);
            self.call_hooks(HookEvent::UserPromptSubmit, vec![("prompt", text)], None, Then::Prompt(line), now)
        }
    }

    /// A question for permission is put to the hooks, before anybody else is asked. Returns whether it waits for them.
    pub(super) fn hooks_judge(&mut self, id: &str, event: &Event<'_>, request: &Request<'_>, now: Instant, backend: &mut dyn Backend) -> bool {
        let Some(permission) = request.permission.filter(|_| self.hooks.wants(HookEvent::PreToolUse)) else {
            return false;
        };
        let (tool, input) = self.in_hosts_words(permission, backend.dialect());
        let tool = Str::trusted(&tool).unescape().into_owned();
        let input: Value = serde_json::from_str(&input).unwrap_or_default();
        let named = permission.call.map(|call| call.unescape().into_owned());
        // Who asks without naming the call means one that has not been asked about.
        let like = |(_, call): &(&String, &Call)| !call.judged && call.tool == tool && call.input == input;
        let found = named.or_else(|| self.hooks.calls.iter().find(like).map(|(id, _)| id.clone()));
        let call = found.unwrap_or_else(|| id.to_owned());
        let fields = about(&call, &tool, &input);
        let known = self.hooks.calls.entry(call.clone()).or_insert_with(|| Call::new(tool, input));
        known.judged = true;
        let question = Box::new(Question::of(id, event, request));
        let waits = self.call_hooks(HookEvent::PreToolUse, fields, Some(&call), Then::Question(call.clone(), question), now);
        if self.gone && waits {
            self.hooks_gone(now, backend);
        }
        waits
    }

    /// Looks at what was said to the host from this byte on.
    pub(super) fn hooks_watch(&mut self, from: usize, now: Instant) {
        if self.hooks.callbacks.is_empty() {
            return;
        }
        let said = self.out.get(from..).unwrap_or_default().to_owned();
        for line in said.split(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
            for block in line["message"]["content"].as_array().into_iter().flatten() {
                match block["type"].as_str() {
                    Some("tool_use") => self.note_call(block),
                    Some("tool_result") => self.note_result(&line, block, now),
                    _ => {}
                }
            }
        }
    }

    fn note_call(&mut self, block: &Value) {
        if let (Some(id), Some(tool)) = (block["id"].as_str(), block["name"].as_str()) {
            let call = || Call::new(tool.to_owned(), block["input"].clone());
            self.hooks.calls.entry(id.to_owned()).or_insert_with(call);
        }
    }

    fn note_result(&mut self, line: &Value, block: &Value, now: Instant) {
        let Some((id, call)) = block["tool_use_id"].as_str().and_then(|id| self.hooks.calls.remove_entry(id)) else {
            return;
        };
        if self.gone || call.denied {
            return;
        }
        let mut fields = about(&id, &call.tool, &call.input);
        if !call.judged {
            self.call_hooks(HookEvent::PreToolUse, fields.clone(), Some(&id), Then::Ran, now);
        }
        let event = if block["is_error"] == true {
            fields.push(("error", json!(text_of(&block["content"]))));
            HookEvent::PostToolUseFailure
        } else {
            let response = line.get("tool_use_result").cloned().unwrap_or_else(|| json!(text_of(&block["content"])));
            fields.insert(2, ("tool_response", response));
            HookEvent::PostToolUse
        };
        self.call_hooks(event, fields, Some(&id), Then::Nothing, now);
    }

    /// A turn has ended, and this was said of it from this byte on: the hooks may want it to go on.
    pub(super) fn hooks_before_end(&mut self, outcome: &Outcome<'_>, from: usize, now: Instant) {
        self.hooks.calls.clear();
        if !self.hooks.wants(HookEvent::Stop) || outcome.is_error || self.gone || self.out.len() == from {
            return;
        }
        let held = self.out.split_off(from);
        let fields = vec![
            ("stop_hook_active", json!(self.hooks.held_up > 0)),
            (
                "last_assistant_message",
                json!(outcome.text.map(|text| text.unescape()).unwrap_or_default()),
            ),
        ];
        self.call_hooks(HookEvent::Stop, fields, None, Then::End(held), now);
    }

    /// The host has answered a callback. Returns whether it was one of these.
    pub(super) fn hook_answered(&mut self, response: &Response<'_>, now: Instant, backend: &mut dyn Backend) -> bool {
        let Some(id) = response.id.map(|id| id.as_escaped()) else { return false };
        let answer = if response.ok {
            let body = response.body.and_then(|body| serde_json::from_str(body.as_str()).ok());
            Ok(body.unwrap_or_default())
        } else {
            Err(Unanswered::Failed(
                response.error.map(|error| error.as_str().to_owned()).unwrap_or_default(),
            ))
        };
        let known = self.hooks.runs.iter_mut().find_map(|run| {
            let at = run.waiting.iter().position(|(known, ..)| known == id)?;
            Some((run, at))
        });
        let Some((run, at)) = known else { return false };
        let (_, callback, _) = run.waiting.remove(at);
        callback.told(
            persona::of(self.host.format.dialect).hooks,
            CallbackAnswer::Answered(answer),
            &mut run.outcome,
        );
        self.waited(now);
        self.finish_hooks(now, backend);
        true
    }

    /// Callbacks whose time is over have not answered.
    pub(super) fn hooks_expire(&mut self, now: Instant, backend: &mut dyn Backend) {
        let form = persona::of(self.host.format.dialect).hooks;
        for run in &mut self.hooks.runs {
            for (_, callback, _) in run.waiting.extract_if(.., |(_, _, until)| *until <= now) {
                callback.told(form, CallbackAnswer::Late, &mut run.outcome);
            }
        }
        self.finish_hooks(now, backend);
    }

    /// The host is gone: nobody answers its hooks any more.
    pub(super) fn hooks_gone(&mut self, now: Instant, backend: &mut dyn Backend) {
        let form = persona::of(self.host.format.dialect).hooks;
        for run in &mut self.hooks.runs {
            for (_, callback, _) in run.waiting.drain(..) {
                callback.told(form, CallbackAnswer::Answered(Err(Unanswered::Gone)), &mut run.outcome);
            }
        }
        self.finish_hooks(now, backend);
    }

    /// The turn is over for another reason, or all of them: what waits for hooks waits no more. The outcome of one that ended well is told.
    pub(super) fn drop_hooks(&mut self, all: bool) {
        for run in std::mem::take(&mut self.hooks.runs) {
            match run.then {
                Then::Prompt(_) if !all => self.hooks.runs.push(run),
                Then::End(held) => self.out.extend(held),
                _ => {}
            }
        }
        if all {
            self.hooks.prompts.clear();
        }
    }

    /// The host stops the turn. If its prompt waited for hooks, the agent has not heard of it.
    pub(super) fn hooks_stop(&mut self, now: Instant) {
        let unheard = self.hooks.runs.iter().any(|run| matches!(run.then, Then::Prompt(_)));
        self.hooks.runs.retain(|run| !matches!(run.then, Then::Prompt(_) | Then::Question(..)));
        if unheard {
            self.end_turn(OutcomeKind::Cancelled, "the host has stopped the turn", now);
        }
    }

    /// The next prompt that has waited goes on when the one before it is answered.
    pub fn go_on(&mut self, now: Instant, backend: &mut dyn Backend) {
        while !self.is_answering()
            && let Some(line) = self.hooks.prompts.pop_front()
        {
            self.reread(&line, |session, input| {
                let InputKind::Prompt(prompt) = input.kind else { return };
                if !session.ask_about_prompt(input, prompt, now) {
                    backend.input(input);
                }
            });
        }
    }

    /// Whether hooks, or the agent, have a prompt that no outcome has answered.
    fn is_answering(&self) -> bool {
        self.hooks.holds() || self.prompts > self.hooks.prompts.len()
    }

    /// Asks the callbacks of a moment. Returns whether there are any, and `then` waits for them.
    fn call_hooks(&mut self, event: HookEvent, fields: Vec<(&str, Value)>, call: Option<&str>, then: Then, now: Instant) -> bool {
        let form = persona::of(self.host.format.dialect).hooks;
        let tool = fields.iter().find(|(name, _)| *name == "tool_name").and_then(|(_, tool)| tool.as_str());
        let wanted = self.hooks.callbacks.iter().filter(|callback| callback.wants(form, event, tool));
        let wanted: Vec<Callback> = wanted.cloned().collect();
        if wanted.is_empty() {
            // What would have waited.
            if let Then::End(held) = then {
                self.out.extend(held);
            }
            return false;
        }
        let facts = Facts {
            session: self.host.facts.session.clone(),
            cwd: self.host.facts.cwd.clone(),
            mode: self.host.facts.permission_mode.clone(),
            ..Facts::default()
        };
        let payload = hooks::payload(form, event, &facts, fields);
        let mut waiting = Vec::new();
        for callback in wanted {
            self.hooks.asked += 1;
            let id = format!("agentglot-callback-{}", self.hooks.asked);
            let question = callback.question(&payload, call.unwrap_or(&id));
            if !self.gone {
                self.ask_callback(&id, &question);
            }
            waiting.push((id, callback.clone(), now + callback.patience));
        }
        if self.hooks.runs.len() >= MOST_RUNS
            && let Some(oldest) = self.hooks.runs.first_mut()
        {
            oldest.waiting.iter_mut().for_each(|(.., until)| *until = now);
        }
        self.hooks.runs.push(Run {
            event,
            waiting,
            outcome: HookOutcome::default(),
            then,
        });
        true
    }

    fn ask_callback(&mut self, id: &str, question: &[(String, Value)]) {
        let members: Vec<(&str, String)> = question.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
        let fields: Vec<_> = members
            .iter()
            .map(|(name, value)| Field {
                at: At::Part("/request"),
                key: Str::trusted(name),
                value: Raw::trusted(value),
                known: true,
            })
            .collect();
        let request = Request {
            id: Some(Str::trusted(id)),
            subtype: Str::trusted(HOOK_CALLBACK),
            kind: ControlKind::Hook,
            permission: None,
        };
        self.say(&Event {
            origin: Origin::default(),
            kind: Kind::Request(&request),
            fields: &fields,
        });
    }

    /// What the host said, as it would say it again.
    fn line_of(&self, input: &Input<'_>) -> Vec<u8> {
        let mut line = Vec::new();
        let host = self.host.format.dialect;
        let manner = Manner {
            from: host,
            tools: host,
            to: host.into(),
            ..self.manner
        };
        Speaker::new(manner).input(input, &mut line);
        line
    }

    /// Reads such a line once more.
    fn reread(&mut self, line: &[u8], mut hear: impl FnMut(&mut Self, &Input<'_>)) {
        Listener::to_host(self.host.format.dialect, usize::MAX).feed(line, &mut |heard| {
            if let Heard::Input(input) = heard {
                hear(self, input);
            }
        });
    }
}

fn about(id: &str, tool: &str, input: &Value) -> Vec<(&'static str, Value)> {
    vec![("tool_name", json!(tool)), ("tool_input", input.clone()), ("tool_use_id", json!(id))]
}

/// What a prompt says, for people.
fn plain(prompt: &Prompt<'_>) -> String {
    prompt.content.texts().map(|text| text.unescape()).collect::<Vec<_>>().join("\n")
}

/// The text of a result: a string, or blocks.
fn text_of(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    content.as_str().map_or_else(|| blocks.collect::<Vec<_>>().join("\n"), str::to_owned)
}

#[cfg(test)]
mod tests;
