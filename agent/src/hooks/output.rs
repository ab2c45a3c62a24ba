//! What hooks say, and what comes of it.

use serde_json::Value;

use super::HookEvent;

/// What one hook said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    Nothing,
    /// The answer of a callback, or JSON on stdout.
    Json(Value),
    /// Plain text on stdout.
    Text(String),
    /// Exit code 2: it is against it, for this reason.
    Blocks(String),
    /// It went wrong; nothing follows from that.
    Failed(String),
    /// Nobody is left who could be asked.
    Unheard,
}

/// What a hook says about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// It runs without a question.
    Allow,
    /// The host is asked.
    Ask,
    /// The turn ends before it, so that the host can go on with it later.
    Defer,
    /// It does not run.
    Deny,
}

/// What all hooks of a moment say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOutcome {
    /// About a call, and why; the strictest counts.
    pub permission: Option<(Permission, String)>,
    /// The arguments that the call is to have.
    pub updated_input: Option<Value>,
    /// What the model is to read instead of a result.
    pub updated_output: Option<Value>,
    /// The moment is blocked, for this reason: a prompt is not answered, a turn does not end, a result is objected to.
    pub block: Option<String>,
    /// The turn ends, for this reason.
    pub stop: Option<String>,
    /// What the model is told besides.
    pub context: Vec<String>,
    /// What the user is told.
    pub messages: Vec<String>,
    /// What hooks say to the user themselves.
    pub said: Vec<String>,
    /// What a hook for [`HookEvent::PermissionRequest`] answers in the host's place, in the shape of the host's answer.
    pub decision: Option<Value>,
    /// Hooks that went wrong, a sentence each.
    pub failures: Vec<String>,
    /// A hook could not be asked: the host is gone.
    pub unheard: bool,
    /// What the hooks wrote is not to be shown.
    pub quiet: bool,
}

impl HookOutcome {
    /// The texts for the model, one below the other.
    pub fn context(&self) -> Option<String> {
        (!self.context.is_empty()).then(|| self.context.join("\n"))
    }

    pub(super) fn add(&mut self, event: HookEvent, called: &str, said: Said) {
        match said {
            Said::Nothing => {}
            Said::Json(value) => self.read(event, called, &value),
            // Only there does plain text reach the model.
            Said::Text(text) => {
                if matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart | HookEvent::SubagentStart) {
                    self.context.push(text);
                }
            }
            Said::Blocks(why) => self.against(event, why),
            Said::Failed(why) => self.failures.push(why),
            Said::Unheard => self.unheard = true,
        }
    }

    fn against(&mut self, event: HookEvent, why: String) {
        match event {
            HookEvent::PreToolUse => self.permit(Permission::Deny, why),
            HookEvent::PermissionRequest => self.decide(serde_json::json!({"behavior": "deny", "message": why})),
            // Nobody can be held up there.
            HookEvent::SessionStart | HookEvent::SessionEnd | HookEvent::Notification | HookEvent::SubagentStart => self.messages.push(why),
            _ => {
                self.block.get_or_insert(why);
            }
        }
    }

    fn permit(&mut self, permission: Permission, why: String) {
        if self.permission.as_ref().is_none_or(|(known, _)| *known < permission) {
            self.permission = Some((permission, why));
        }
    }

    fn decide(&mut self, decision: Value) {
        let denies = |value: &Value| value.get("behavior").and_then(Value::as_str) == Some("deny");
        if self.decision.as_ref().is_none_or(|known| !denies(known) && denies(&decision)) {
            self.decision = Some(decision);
        }
    }

    fn read(&mut self, event: HookEvent, called: &str, value: &Value) {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let flag = |name: &str| value.get(name).and_then(Value::as_bool);
        // An answer that will come later is none.
        if flag("async") == Some(true) {
            return;
        }
        let reason = text(value, "reason");
        if flag("continue") == Some(false) {
            let why = text(value, "stopReason")
                .or_else(|| reason.clone())
                .unwrap_or_else(|| "stopped by a hook".to_owned());
            self.stop.get_or_insert(why);
        }
        self.quiet |= flag("suppressOutput") == Some(true);
        self.said.extend(text(value, "systemMessage"));
        let specific = value.get("hookSpecificOutput").filter(|specific| {
            // What is meant for another moment does not count.
            text(specific, "hookEventName").is_none_or(|name| name == called)
        });
        match text(value, "decision").as_deref() {
            Some("block" | "deny") => self.against(event, reason.clone().unwrap_or_else(|| "blocked by a hook".to_owned())),
            Some("approve" | "allow") if event == HookEvent::PreToolUse => self.permit(Permission::Allow, reason.clone().unwrap_or_default()),
            _ => {}
        }
        let Some(specific) = specific else { return };
        let why = text(specific, "permissionDecisionReason").or(reason).unwrap_or_default();
        if event == HookEvent::PreToolUse {
            match text(specific, "permissionDecision").as_deref() {
                Some("allow") => self.permit(Permission::Allow, why),
                Some("ask") => self.permit(Permission::Ask, why),
                Some("defer") => self.permit(Permission::Defer, why),
                Some("deny") => self.permit(Permission::Deny, if why.is_empty() { "denied by a hook".to_owned() } else { why }),
                _ => {}
            }
        }
        if let Some(input) = specific.get("updatedInput").filter(|input| input.is_object()) {
            self.updated_input = Some(input.clone());
        }
        for name in ["updatedToolOutput", "updatedMCPToolOutput"] {
            if let Some(output) = specific.get(name).filter(|output| !output.is_null()) {
                self.updated_output = Some(output.clone());
            }
        }
        self.context.extend(text(specific, "additionalContext"));
        if let Some(decision) = specific
            .get("decision")
            .filter(|decision| event == HookEvent::PermissionRequest && decision.is_object())
        {
            self.decide(decision.clone());
        }
    }
}
