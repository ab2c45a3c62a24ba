//! What Qwen Code says of permissions, by both of its protocols.

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;
use serde_json::{Value, json};

use crate::permissions::{Family, PermissionForm, Policy, Question, Reason, Unheard, Width};
use crate::tools::{Access, Spec};

/// What rules call the tools: the program's own names and those of its classes.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["ShellTool", "RunShellCommand", "run_shell_command"]),
    (Family::Read, &["ReadFile", "ReadFileTool", "read_file", "ReadManyFilesTool"]),
    (Family::Write, &["WriteFile", "WriteFileTool", "write_file"]),
    (Family::Edit, &["EditTool", "edit", "replace", "notebook_edit"]),
    (
        Family::Search,
        &[
            "GrepTool",
            "grep_search",
            "search_file_content",
            "GlobTool",
            "glob",
            "ListFiles",
            "ListFilesTool",
            "LSTool",
            "list_directory",
        ],
    ),
    (Family::Fetch, &["WebFetchTool", "web_fetch", "Fetch"]),
    (Family::WebSearch, &["WebSearchTool", "web_search"]),
    (Family::Todo, &["TodoWriteTool", "todo_write"]),
    (Family::Subagent, &["AgentTool", "agent", "TaskTool"]),
    (Family::Ask, &["ask_user_question"]),
    (Family::ExitPlan, &["ExitPlanModeTool", "exit_plan_mode"]),
];

pub(super) static RFC: PermissionForm = form(Dialect::Qwen, |name| named(Dialect::Qwen, name));
pub(super) static CODE: PermissionForm = PermissionForm {
    asks_about_subagents: true,
    tells_targets: true,
    commands_edit: false,
    withheld: Some(withheld),
    empty_is_unchanged: true,
    counts_refusals: false,
    ..form(Dialect::QwenCode, |name| named(Dialect::QwenCode, name))
};

const fn form(modes: Dialect, mode_named: fn(&str) -> Result<PermissionMode, String>) -> PermissionForm {
    PermissionForm {
        // `edit` and `read_file` are families always.
        bare: Width::Family,
        rules_are_beginnings: true,
        rules_allow_what_is_run: false,
        may_bypass_later: true,
        hides_what_nobody_allows: true,
        question: Some(question),
        ..PermissionForm::new(TOOL_NAMES, modes, mode_named, denied, unheard)
    }
}

fn named(dialect: Dialect, name: &str) -> Result<PermissionMode, String> {
    PermissionMode::from_name(dialect, name)
        .ok_or_else(|| format!("Invalid permission mode: {name}. Valid values are: plan, default, auto-edit, auto, yolo"))
}

fn denied(spec: &Spec, access: &Access, reason: &Reason) -> String {
    let name = &spec.name;
    match (reason, access) {
        (Reason::Mode(PermissionMode::Plan), Access::Run(_)) => "Plan mode blocked this shell command because it was classified as \
             state-modifying. Do not retry it through wrappers or obfuscation; continue read-only investigation and include the \
             action in the plan."
            .to_owned(),
        (Reason::Mode(PermissionMode::Plan), _) => format!(
            "Plan mode is active: \"{name}\" would change something, so it was not run. Continue read-only investigation and include \
             the action in the plan."
        ),
        (Reason::Rule { rule, .. }, _) if rule.contains('(') => format!(
            "This \"{name}\" invocation was denied by permission rules. Matching deny rule: \"{rule}\". Other uses of this tool are still \
             permitted."
        ),
        (Reason::Rule { rule, .. }, _) => declined(name, rule),
        _ => declined(name, rule(spec)),
    }
}

/// What Qwen Code says of a tool that a rule or the list of tools keeps from the model.
fn withheld(spec: &Spec, reason: &Reason) -> String {
    let name = &spec.name;
    match reason {
        Reason::Rule { rule, .. } => declined(name, rule),
        _ => format!(
            "\"{name}\" is not listed in the active core tools allowlist (--core-tools or settings tools.core), so the tool is not available. Add \
             it to the core tools list to re-enable it."
        ),
    }
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    let name = &spec.name;
    let reason = match why {
        Unheard::Nobody => return declined(name, rule(spec)),
        Unheard::Hook(reason) => return reason.clone(),
        Unheard::Denied(message) | Unheard::Stopped(message) => message.clone().unwrap_or_else(|| "User did not allow tool call".to_owned()),
        Unheard::Invalid => "User did not allow tool call".to_owned(),
        Unheard::Failed(error) => format!("Error: {error}"),
        Unheard::Gone => "Error: Input closed".to_owned(),
        Unheard::TimedOut => "Error: Control request timeout".to_owned(),
    };
    format!("[Operation Cancelled] Reason: {reason}")
}

fn question(_: &Policy, spec: &Spec, input: &Value, access: &Access, _: &Reason) -> Question {
    (Some(suggestions(spec, input, access)), vec![("blocked_path".to_owned(), Value::Null)])
}

/// What Qwen Code says of a tool that needs a permission which nobody gives.
fn declined(name: &str, rule: &str) -> String {
    format!("Qwen Code requires permission to use \"{name}\", but that permission was declined. Matching deny rule: \"{rule}\".")
}

/// The rule that Qwen Code makes for a tool that nobody can be asked about.
fn rule(spec: &Spec) -> &str {
    match spec.kind {
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit | ToolKind::Delete | ToolKind::Mkdir => "edit",
        _ => &spec.name,
    }
}

/// Qwen Code's suggestions are the labels of its choices.
fn suggestions(spec: &Spec, input: &Value, access: &Access) -> Value {
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    let (label, description, block) = match (spec.kind, access) {
        (_, Access::Run(asked)) => (
            "Allow Command",
            format!("Execute: {}", asked.line),
            "Block this command execution".to_owned(),
        ),
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
            let name = spec
                .server_and_tool()
                .map_or_else(|| spec.name.clone(), |(server, tool)| format!("{server}.{tool}"));
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
