//! What the programs say when a call is not allowed, and how they ask.

use serde_json::{Value, json};

use super::{Policy, Reason};
use crate::tools::{Access, Spec};
use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::ToolKind;
use agentglot_adapters::launch::PermissionMode;

/// Why a question for leave brought no leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unheard {
    /// There is nobody to ask.
    Nobody,
    /// The host has denied it, in these words.
    Denied(Option<String>),
    /// The host has denied it and stops the turn, or the turn was stopped while the question was open.
    Stopped(Option<String>),
    /// The host's answer cannot be understood.
    Invalid,
    /// The host says that it went wrong.
    Failed(String),
    /// The host is gone.
    Gone,
    /// It took too long.
    TimedOut,
    /// A hook has denied it, in these words. The event and the tool name the hook.
    Hook(String),
}

/// What Claude Code says to the model when the user stops a call.
const STOPPED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, \
                           the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";

const INVALID: &str = "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: object} or \
                       {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and directories in all.";

impl Policy {
    pub(super) const fn is_qwen(&self) -> bool {
        matches!(self.dialect, Dialect::Qwen | Dialect::QwenCode)
    }

    /// What the model reads when the policy itself denies a call.
    pub(super) fn denied(&self, spec: &Spec, access: &Access, reason: &Reason) -> String {
        let name = &spec.name;
        if self.is_qwen() {
            return match (reason, access) {
                (Reason::Mode(PermissionMode::Plan), Access::Run(_)) => "Plan mode blocked this shell command because it was classified as \
                     state-modifying. Do not retry it through wrappers or obfuscation; continue read-only investigation and include the \
                     action in the plan."
                    .to_owned(),
                (Reason::Mode(PermissionMode::Plan), _) => format!(
                    "Plan mode is active: \"{name}\" would change something, so it was not run. Continue read-only investigation and include \
                     the action in the plan."
                ),
                (Reason::Rule { rule, .. }, _) => declined(name, rule),
                _ => declined(name, qwen_rule(spec)),
            };
        }
        match self.dialect {
            Dialect::Tricode => return format!("Denied: {name} is not allowed: {reason}"),
            Dialect::Cursor => return format!("Rejected: {reason}"),
            _ => {}
        }
        match (reason, access) {
            (Reason::Mode(PermissionMode::DontAsk), _) => {
                format!("Permission to use {name} has been denied because the permission mode is dontAsk: nobody is asked.")
            }
            (Reason::Mode(PermissionMode::Plan), _) => {
                format!("Permission to use {name} has been denied because plan mode is active: nothing may be changed until the plan is approved.")
            }
            (Reason::Rule { .. }, Access::Run(line)) => format!("Permission to use {name} with command {line} has been denied."),
            (Reason::Rule { rule, .. }, Access::Read(_) | Access::Write(_)) if rule.contains('(') => {
                "File is in a directory that is denied by your permission settings.".to_owned()
            }
            (Reason::NotOffered, _) => format!("Permission to use {name} has been denied: {reason}."),
            _ => format!("Permission to use {name} has been denied."),
        }
    }

    /// What the model reads when a question brought no leave.
    pub fn unheard(&self, spec: &Spec, access: &Access, why: &Unheard) -> String {
        let name = &spec.name;
        if self.is_qwen() {
            let reason = match why {
                Unheard::Nobody => return declined(name, qwen_rule(spec)),
                Unheard::Hook(reason) => return reason.clone(),
                Unheard::Denied(message) | Unheard::Stopped(message) => message.clone().unwrap_or_else(|| "User did not allow tool call".to_owned()),
                Unheard::Invalid => "User did not allow tool call".to_owned(),
                Unheard::Failed(error) => format!("Error: {error}"),
                Unheard::Gone => "Error: Input closed".to_owned(),
                Unheard::TimedOut => "Error: Control request timeout".to_owned(),
            };
            return format!("[Operation Cancelled] Reason: {reason}");
        }
        match self.dialect {
            Dialect::Tricode => {
                return match why {
                    Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => format!("Denied: {reason}"),
                    _ => format!("Denied: User denied {name} operation"),
                };
            }
            Dialect::Cursor => {
                return match why {
                    Unheard::Hook(reason) | Unheard::Denied(Some(reason)) | Unheard::Stopped(Some(reason)) => reason.clone(),
                    _ => "User Rejected".to_owned(),
                };
            }
            _ => {}
        }
        match why {
            Unheard::Nobody => match access {
                Access::Write(paths) => {
                    format!(
                        "Claude requested permissions to write to {}, but you haven't granted it yet.",
                        self.first(paths)
                    )
                }
                Access::Read(paths) => {
                    format!(
                        "Claude requested permissions to read from {}, but you haven't granted it yet.",
                        self.first(paths)
                    )
                }
                Access::Run(_) => "This command requires approval".to_owned(),
                _ => format!("Claude requested permissions to use {name}, but you haven't granted it yet."),
            },
            Unheard::Denied(message) => message.clone().unwrap_or_else(|| format!("Permission to use {name} has been denied.")),
            Unheard::Stopped(_) => STOPPED.to_owned(),
            Unheard::Invalid => INVALID.to_owned(),
            Unheard::Failed(error) => format!("Tool permission request failed: Error: {error}"),
            Unheard::Gone => "Tool permission request failed: AbortError: Tool permission stream closed before response received".to_owned(),
            Unheard::TimedOut => "Tool permission request failed: Error: the host did not answer in time".to_owned(),
            Unheard::Hook(reason) => format!("PreToolUse:{name} hook error: {reason}"),
        }
    }

    fn first(&self, paths: &[String]) -> String {
        paths
            .first()
            .map_or_else(String::new, |path| self.place(path).written.display().to_string())
    }

    /// The suggestions of a question, and Claude's further members of it.
    pub(super) fn question(&self, spec: &Spec, input: &Value, access: &Access, reason: &Reason) -> (Option<Value>, Vec<(String, Value)>) {
        match self.dialect {
            Dialect::Qwen | Dialect::QwenCode => (
                Some(qwen_suggestions(spec, input, access)),
                vec![("blocked_path".to_owned(), Value::Null)],
            ),
            Dialect::Claude | Dialect::Agentglot | Dialect::Openai | Dialect::Anthropic => self.claude_question(spec, input, access, reason),
            Dialect::Cursor | Dialect::Tricode => (None, Vec::new()),
        }
    }

    fn claude_question(&self, spec: &Spec, input: &Value, access: &Access, reason: &Reason) -> (Option<Value>, Vec<(String, Value)>) {
        let mut fields = vec![("display_name".to_owned(), json!(spec.name))];
        let mut field = |name: &str, value: Value| fields.push((name.to_owned(), value));
        let description = match access {
            Access::Read(paths) | Access::Write(paths) => paths.first().map(|path| self.short(path)),
            Access::Run(_) => input.get("description").and_then(Value::as_str).map(str::to_owned),
            Access::Fetch(url) => Some(url.clone()),
            Access::Nothing | Access::Mcp => None,
        };
        if let Some(description) = description {
            field("description", json!(description));
        }
        match reason {
            Reason::User => field("requires_user_interaction", json!(true)),
            Reason::Outside(path) | Reason::Sensitive(path, _) => {
                field("blocked_path", json!(path));
                field("decision_reason", json!(reason.to_string()));
                field("decision_reason_type", json!(reason.kind()));
            }
            Reason::Unclear(why) => {
                field("decision_reason", json!(why));
                field("decision_reason_type", json!(reason.kind()));
            }
            Reason::Rule { source, rule, .. } => {
                field("decision_reason_type", json!("rule"));
                let (tool, content) = rule
                    .split_once('(')
                    .map_or((rule.as_str(), None), |(tool, rest)| (tool, rest.strip_suffix(')')));
                let mut matched = json!({"source": source.name(), "tool_name": tool});
                if let Some(content) = content {
                    matched["rule_content"] = json!(content);
                }
                field("matched_ask_rule", matched);
            }
            _ => {}
        }
        (self.claude_suggestions(spec, access, reason), fields)
    }

    /// Updates that would have made the question needless. None for what nobody should wave through.
    fn claude_suggestions(&self, spec: &Spec, access: &Access, reason: &Reason) -> Option<Value> {
        let rule = |content: Option<String>, destination: &str| {
            let mut rule = json!({"toolName": spec.name});
            if let Some(content) = content {
                rule["ruleContent"] = json!(content);
            }
            json!([{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination}])
        };
        let folder = |path: &std::path::Path| path.parent().unwrap_or(path).display().to_string();
        match (reason, access) {
            (Reason::User | Reason::Sensitive(..) | Reason::Unclear(_) | Reason::Rule { .. }, _) => None,
            (Reason::Outside(path), Access::Write(_)) => Some(json!([
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
                {"type": "addDirectories", "directories": [folder(path)], "destination": "session"},
            ])),
            (Reason::Outside(path), Access::Read(_)) => {
                let mut rules = rule(Some(format!("/{}/**", folder(path).trim_end_matches('/'))), "session");
                rules[0]["rules"][0]["toolName"] = json!("Read");
                Some(rules)
            }
            (_, Access::Write(_)) => Some(json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])),
            (_, Access::Run(line)) => {
                let rules: Vec<Value> = self
                    .unallowed(spec, line)
                    .into_iter()
                    .map(|content| json!({"toolName": spec.name, "ruleContent": content}))
                    .collect();
                (!rules.is_empty()).then(|| json!([{"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}]))
            }
            (_, Access::Fetch(url)) => Some(rule(super::judge::host(url).map(|host| format!("domain:{host}")), "localSettings")),
            (_, Access::Mcp) => Some(rule(None, "localSettings")),
            (_, Access::Nothing) if spec.kind == ToolKind::WebSearch => Some(rule(None, "localSettings")),
            _ => None,
        }
    }

    /// A path as the user would say it.
    fn short(&self, path: &str) -> String {
        let place = self.place(path);
        place
            .written
            .strip_prefix(&self.grounds.root)
            .unwrap_or(&place.written)
            .display()
            .to_string()
    }
}

/// What Qwen Code says of a tool that needs a permission which nobody gives.
fn declined(name: &str, rule: &str) -> String {
    format!("Qwen Code requires permission to use \"{name}\", but that permission was declined. Matching deny rule: \"{rule}\".")
}

/// The rule that Qwen Code makes for a tool that nobody can be asked about.
fn qwen_rule(spec: &Spec) -> &str {
    match spec.kind {
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::Delete | ToolKind::Mkdir => "edit",
        _ => &spec.name,
    }
}

/// Qwen Code's suggestions are the labels of its choices.
fn qwen_suggestions(spec: &Spec, input: &Value, access: &Access) -> Value {
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    let (label, description, block) = match (spec.kind, access) {
        (_, Access::Run(line)) => ("Allow Command", format!("Execute: {line}"), "Block this command execution".to_owned()),
        (_, Access::Write(paths)) => {
            let path = paths.first().map(String::as_str).unwrap_or_default();
            let name = path.rsplit('/').next().unwrap_or(path);
            return json!([
                {"type": "allow", "label": "Allow Edit", "description": format!("Edit file: {name}")},
                {"type": "deny", "label": "Deny", "description": "Block this file edit"},
                {"type": "modify", "label": "Review Changes", "description": "Review the proposed changes before applying"},
            ]);
        }
        (ToolKind::Ask, _) => (
            "Allow",
            "Please answer the following question(s):".to_owned(),
            format!("Block {} operation", spec.name),
        ),
        (ToolKind::ExitPlan, _) => ("Approve Plan", text("plan").to_owned(), "Reject the plan and keep planning".to_owned()),
        (_, Access::Mcp) | (ToolKind::Mcp, _) => {
            let name = spec.name.strip_prefix("mcp__").unwrap_or(&spec.name).replacen("__", ".", 1);
            ("Allow MCP Call", name, "Block this MCP server call".to_owned())
        }
        (ToolKind::Subagent, _) => ("Allow Info Request", "Confirm AgentTool".to_owned(), INFO.to_owned()),
        (_, Access::Fetch(url)) => ("Allow Info Request", format!("Fetch content from {url}"), INFO.to_owned()),
        (_, Access::Read(paths)) => (
            "Allow Info Request",
            format!("Read {}", paths.first().map(String::as_str).unwrap_or_default()),
            INFO.to_owned(),
        ),
        _ => ("Allow Info Request", format!("Confirm {}", spec.name), INFO.to_owned()),
    };
    json!([
        {"type": "allow", "label": label, "description": description},
        {"type": "deny", "label": "Deny", "description": block},
    ])
}

const INFO: &str = "Block this information request";
