//! What Claude Code says of permissions: its rules, its modes, its `can_use_tool`.

use std::path::Path;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;
use serde_json::{Value, json};

use crate::permissions::{Family, PermissionForm, Policy, Question, Reason, Unheard, host, mode_named};
use crate::tools::{Access, Spec};

/// What rules call the tools.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["Bash"]),
    (Family::Read, &["Read"]),
    (Family::Write, &["Write"]),
    (Family::Edit, &["Edit", "MultiEdit", "NotebookEdit"]),
    (Family::Search, &["Grep", "Glob", "LS"]),
    (Family::Fetch, &["WebFetch"]),
    (Family::WebSearch, &["WebSearch"]),
    (Family::Todo, &["TodoWrite"]),
    (Family::Subagent, &["Task", "Agent"]),
    (Family::Ask, &["AskUserQuestion"]),
    (Family::ExitPlan, &["ExitPlanMode"]),
];

/// What the model reads when the user stops a call.
const STOPPED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, \
                           the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";

/// What is said of a command that nothing allows.
const APPROVAL: &str = "This command requires approval";

const INVALID: &str = "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: object} or \
                       {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and directories in all.";

pub(super) static PERMISSIONS: PermissionForm = PermissionForm {
    question: Some(question),
    tells_targets: true,
    asks_in_plan: true,
    // `Edit(…)` and `Read(…)` are whole families.
    ..PermissionForm::new(TOOL_NAMES, Dialect::Claude, |name| mode_named(Dialect::Claude, name), denied, unheard)
};

fn denied(spec: &Spec, access: &Access, reason: &Reason) -> String {
    let name = &spec.name;
    match (reason, access) {
        (Reason::Mode(PermissionMode::DontAsk), _) => {
            format!("Permission to use {name} has been denied because the permission mode is dontAsk: nobody is asked.")
        }
        (Reason::Rule { .. }, Access::Run(asked)) => format!("Permission to use {name} with command {} has been denied.", asked.line),
        (Reason::Rule { rule, .. }, Access::Read(_) | Access::Write(_)) if rule.contains('(') => {
            "File is in a directory that is denied by your permission settings.".to_owned()
        }
        (Reason::NotOffered, _) => format!("Permission to use {name} has been denied: {reason}."),
        _ => format!("Permission to use {name} has been denied."),
    }
}

fn unheard(policy: &Policy, spec: &Spec, access: &Access, why: &Unheard) -> String {
    let name = &spec.name;
    let first = |paths: &[String]| paths.first().map_or_else(String::new, |path| policy.written(path));
    match why {
        Unheard::Nobody if policy.mode() == PermissionMode::Plan => match access {
            Access::Write(paths) => format!("Cannot write to {} while in plan mode.", first(paths)),
            _ => format!("Cannot use {name} while in plan mode."),
        },
        Unheard::Nobody => match access {
            Access::Write(paths) => {
                format!(
                    "Claude requested permissions to write to {}, but you haven't granted it yet.",
                    first(paths)
                )
            }
            Access::Read(paths) => {
                format!(
                    "Claude requested permissions to read from {}, but you haven't granted it yet.",
                    first(paths)
                )
            }
            Access::Run(_) => APPROVAL.to_owned(),
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

fn question(policy: &Policy, spec: &Spec, input: &Value, access: &Access, reason: &Reason) -> Question {
    let mut fields = vec![("display_name".to_owned(), json!(spec.name))];
    let mut field = |name: &str, value: Value| fields.push((name.to_owned(), value));
    let description = match access {
        Access::Read(paths) | Access::Write(paths) => paths.first().map(|path| policy.short(path)),
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
        Reason::Unclear(why) | Reason::Hidden(why) => {
            field("decision_reason", json!(why));
            field("decision_reason_type", json!(reason.kind()));
        }
        Reason::Nothing if matches!(access, Access::Run(_)) => {
            field("decision_reason", json!(APPROVAL));
            field("decision_reason_type", json!("other"));
        }
        Reason::Hook(why) => {
            if !why.is_empty() {
                field("decision_reason", json!(why));
            }
            field("decision_reason_type", json!(reason.kind()));
            field("decision_reason_hook_event", json!("PreToolUse"));
            field("decision_reason_hook_source", json!("settings"));
        }
        Reason::Mode(_) => field("decision_reason_type", json!(reason.kind())),
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
    (suggestions(policy, spec, access, reason), fields)
}

/// Updates that would have made the question needless. None for what nobody should wave through.
fn suggestions(policy: &Policy, spec: &Spec, access: &Access, reason: &Reason) -> Option<Value> {
    let rule = |content: Option<String>, destination: &str| {
        let mut rule = json!({"toolName": spec.name});
        if let Some(content) = content {
            rule["ruleContent"] = json!(content);
        }
        json!([{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination}])
    };
    let folder = |path: &Path| path.parent().unwrap_or(path).display().to_string();
    match (reason, access) {
        (
            Reason::User | Reason::Mode(_) | Reason::Hook(_) | Reason::Sensitive(..) | Reason::Unclear(_) | Reason::Hidden(_) | Reason::Rule { .. },
            _,
        ) => None,
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
        (_, Access::Run(asked)) => {
            let rules: Vec<Value> = policy
                .unallowed(spec, asked)
                .into_iter()
                .map(|content| json!({"toolName": spec.name, "ruleContent": content}))
                .collect();
            (!rules.is_empty()).then(|| json!([{"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}]))
        }
        (_, Access::Fetch(url)) => Some(rule(host(url).map(|host| format!("domain:{host}")), "localSettings")),
        (_, Access::Mcp) => Some(rule(None, "localSettings")),
        (_, Access::Nothing) if spec.kind == ToolKind::WebSearch => Some(rule(None, "localSettings")),
        _ => None,
    }
}
