//! What Gemini CLI says of permissions. Where it is not run by a person nobody is asked, and what would be asked about is not offered to
//! the model.

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::PermissionMode;

use crate::permissions::{Family, PermissionForm, Policy, Reason, Unheard};
use crate::tools::{Access, Spec};

/// What rules call the tools: their names and those of their classes.
const TOOL_NAMES: &[(Family, &[&str])] = &[
    (Family::Shell, &["run_shell_command", "ShellTool"]),
    (Family::Read, &["read_file", "ReadFileTool"]),
    (Family::Write, &["write_file", "WriteFileTool"]),
    (Family::Edit, &["replace", "EditTool"]),
    (
        Family::Search,
        &[
            "grep_search",
            "search_file_content",
            "GrepTool",
            "glob",
            "GlobTool",
            "list_directory",
            "LSTool",
        ],
    ),
    (Family::Fetch, &["web_fetch", "WebFetchTool"]),
    (Family::WebSearch, &["google_web_search", "WebSearchTool"]),
    (Family::Todo, &["write_todos", "WriteTodosTool"]),
    (Family::Subagent, &["invoke_agent"]),
];

pub(super) static PERMISSIONS: PermissionForm = PermissionForm {
    rules_are_beginnings: true,
    hides_what_nobody_allows: true,
    commands_edit: false,
    ..PermissionForm::new(TOOL_NAMES, Dialect::Gemini, named, denied, unheard)
};

fn named(name: &str) -> Result<PermissionMode, String> {
    PermissionMode::from_name(Dialect::Gemini, name)
        .ok_or_else(|| format!("Invalid approval mode: {name}. Valid values are: default, auto_edit, yolo, plan"))
}

fn denied(spec: &Spec, _: &Access, reason: &Reason) -> String {
    format!("Tool execution denied by policy: {} ({reason})", spec.name)
}

fn unheard(_: &Policy, spec: &Spec, _: &Access, why: &Unheard) -> String {
    why.reason().map_or_else(
        || {
            format!(
                "Tool execution for \"{}\" requires user confirmation, which is not supported in non-interactive mode.",
                spec.name
            )
        },
        str::to_owned,
    )
}
