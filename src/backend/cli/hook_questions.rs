//! What Qwen Code's settings hooks ask, put to the host as the program's own control channel would.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Cli;
use crate::adapters::raw::event::{Block, Event, Kind, Response, ToolCall, ToolKind};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::launch;
use crate::adapters::raw::tools::{Arena, Translate};
use crate::agent::hooks::{Callback, HOOK_CALLBACK};
use crate::agent::persona;
use crate::backend::hooks::{Hooks, Question, VARIABLE};

/// The hook event that asks for permission.
const PERMISSION: &str = "PermissionRequest";

/// How long a hook may be ahead of the lines that tell of its call: they come through another pipe.
pub(super) const EARLY: Duration = Duration::from_millis(30);

impl Cli {
    /// The hooks that the host needs: for its own callbacks, and for its permission if it gives it.
    pub(super) fn listen(&self) -> std::io::Result<Hooks> {
        let form = persona::of(self.host).hooks;
        let mut events: Vec<&str> = self.callbacks.iter().map(|callback| form.name(callback.event)).collect();
        let named = self.host.program().is_some_and(launch::Program::names_answerer);
        if self.launch.answerer == launch::Answerer::Host || !named {
            events.push(PERMISSION);
        }
        events.sort();
        events.dedup();
        Hooks::new(&events, std::env::var_os(VARIABLE).as_deref().map(Path::new), self.patience)
    }

    /// A hook wants to know something: asks the host, as the program's own control channel would.
    pub(super) fn question(&mut self, question: Question, into: &mut Vec<u8>) {
        let text = |name: &str| question.input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (event, tool) = (text("hook_event_name"), text("tool_name"));
        let input = question.input.get("tool_input").cloned().unwrap_or_else(|| json!({}));
        // Qwen Code gives its hooks ids of their own; the host knows the call by that of the stream.
        let call = self.call_of(&tool, &input).unwrap_or_else(|| text("tool_use_id"));
        // It says so again before each round; the host has given one prompt.
        if event == "UserPromptSubmit" && std::mem::replace(&mut self.prompt_told, true) {
            let _ = question.reply.send("{}".to_owned());
            return;
        }
        let mut lines = Vec::new();
        if event == PERMISSION {
            lines.push(json!({ "subtype": "can_use_tool", "tool_name": tool, "tool_use_id": call, "input": input,
                               "permission_suggestions": null, "blocked_path": null }));
        } else {
            let (name, arguments) = self.in_hosts_words(&tool, &input);
            let mut told = question.input.clone();
            if !tool.is_empty() {
                told.insert("tool_name".to_owned(), Value::String(name.clone()));
                told.insert("tool_input".to_owned(), arguments);
                told.insert("tool_use_id".to_owned(), Value::String(call.clone()));
            }
            let named = Some(name.as_str()).filter(|name| !name.is_empty());
            let (form, told) = (persona::of(self.host).hooks, Value::Object(told));
            let wanted = |callback: &&Callback| form.name(callback.event) == event && callback.wants(form, callback.event, named);
            for callback in self.callbacks.iter().filter(wanted) {
                let mut request = Map::from_iter([("subtype".to_owned(), json!(HOOK_CALLBACK))]);
                request.extend(callback.question(&told, &call));
                lines.push(Value::Object(request));
            }
        }
        if lines.is_empty() {
            let _ = question.reply.send("{}".to_owned());
            return;
        }
        let mut ids = Vec::new();
        for request in lines {
            self.asked += 1;
            let id = format!("agentglot-hook-{}", self.asked);
            let line = json!({ "type": "control_request", "request_id": id, "request": request });
            into.extend_from_slice(line.to_string().as_bytes());
            into.push(b'\n');
            ids.push(id);
        }
        self.waiting.push((ids, question));
    }

    /// The host has answered a question that a hook had asked.
    pub(super) fn hook_answered(&mut self, response: &Response<'_>) -> bool {
        let Some(id) = response.id else { return false };
        let Some(at) = self.waiting.iter().position(|(ids, _)| ids.iter().any(|known| known == id.as_escaped())) else {
            return false;
        };
        let body: Value = response
            .body
            .filter(|_| response.ok)
            .and_then(|body| serde_json::from_str(body.as_str()).ok())
            .unwrap_or_default();
        let (ids, question) = &mut self.waiting[at];
        ids.retain(|known| known != id.as_escaped());
        let permission = question.input.get("hook_event_name").and_then(Value::as_str) == Some(PERMISSION);
        let says_something = body.as_object().is_some_and(|body| !body.is_empty());
        // Of several callbacks the first that says something counts.
        if permission || says_something || ids.is_empty() {
            let (_, question) = self.waiting.remove(at);
            let answer = if permission { decision(&body) } else { self.obeyed(&question, body) };
            let answer = if answer.is_object() { answer.to_string() } else { "{}".to_owned() };
            let _ = question.reply.send(answer);
        }
        true
    }

    /// What a callback answers, as far as the program does it. It would run the original arguments where a `PreToolUse` hook gives
    /// others (docs/run.md): such a call is denied.
    fn obeyed(&self, question: &Question, answer: Value) -> Value {
        let output = &answer["hookSpecificOutput"];
        let Some(changed) = output.get("updatedInput").filter(|input| !input.is_null()) else {
            return answer;
        };
        let text = |name: &str| question.input.get(name).and_then(Value::as_str).unwrap_or_default();
        let input = question.input.get("tool_input").cloned().unwrap_or_else(|| json!({}));
        let same = *changed == input || *changed == self.in_hosts_words(text("tool_name"), &input).1;
        if text("hook_event_name") != "PreToolUse" || same || output["permissionDecision"] == "deny" {
            return answer;
        }
        let why = "this agent runs a tool only with the arguments that it asked for; the hook changed them";
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why } })
    }

    /// Keeps the calls that have no result yet.
    pub(super) fn note_calls(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Reply(reply) => {
                for block in reply.blocks {
                    if let Block::Call(call) = block {
                        let (name, input) = (call.name.unescape().into_owned(), call.input.as_str().to_owned());
                        self.calls.push((call.id.as_escaped().to_owned(), name, input));
                    }
                }
            }
            Kind::ToolResult(result) => self.calls.retain(|(id, ..)| id != result.call.as_escaped()),
            Kind::Outcome(_) => {
                self.calls.clear();
                self.prompt_told = false;
            }
            _ => {}
        }
    }

    /// The call that a hook speaks of.
    fn call_of(&self, tool: &str, input: &Value) -> Option<String> {
        let says = |arguments: &str| serde_json::from_str::<Value>(arguments).is_ok_and(|value| value == *input);
        let of_tool = || self.calls.iter().filter(|(_, name, _)| name == tool);
        let found = of_tool().find(|(_, _, arguments)| says(arguments)).or_else(|| of_tool().next_back());
        found.map(|(id, ..)| id.clone())
    }

    /// A tool's name and arguments as the host knows them.
    fn in_hosts_words(&self, tool: &str, input: &Value) -> (String, Value) {
        let arena = Arena::new();
        let text = input.to_string();
        let call = ToolCall {
            id: Str::EMPTY,
            name: Str::trusted(tool),
            kind: ToolKind::default(),
            input: Raw::trusted(&text),
            fields: &[],
        };
        let translate = Translate::new(self.dialect, self.host);
        match translate.call(&call, &arena) {
            Some(call) => (
                call.name.unescape().into_owned(),
                serde_json::from_str(call.input.as_str()).unwrap_or_else(|_| input.clone()),
            ),
            None => (tool.to_owned(), input.clone()),
        }
    }
}

pub(super) async fn next(hooks: &mut Option<Hooks>) -> Question {
    match hooks {
        Some(hooks) => hooks.next().await,
        None => std::future::pending().await,
    }
}

/// The host's answer to a permission question, as a hook gives it. What is no permission is a denial.
fn decision(body: &Value) -> Value {
    let allows = matches!(body["behavior"].as_str(), Some("allow" | "approve"));
    let mut decision = if allows {
        json!({ "behavior": "allow" })
    } else {
        json!({ "behavior": "deny", "message": body["message"].as_str().unwrap_or("the host did not allow it") })
    };
    if let Some(input) = body.get("updatedInput").filter(|input| allows && input.is_object()) {
        decision["updatedInput"] = input.clone();
    }
    json!({ "hookSpecificOutput": { "hookEventName": PERMISSION, "decision": decision } })
}
