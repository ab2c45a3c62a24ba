//! What a person sees of a call that waits for permission: the `confirmation` of the RFC's `x-qwen-tool-display`.

use agentglot_adapters::raw::event::ToolKind;
use serde_json::{Value, json};

use crate::permissions::shell;
use crate::tools::{Access, Spec};

/// The payload for a call, of the kinds `edit`, `exec`, `mcp`, `plan` and `info`. `diff` is the change that an edit would make.
pub(super) fn confirmation(spec: &Spec, input: &Value, access: &Access, diff: Option<&str>) -> Value {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    match (spec.kind, access) {
        (ToolKind::ExitPlan, _) => json!({"type": "plan", "title": "Would you like to proceed?", "plan": text("plan").unwrap_or_default()}),
        (_, Access::Run(asked)) => {
            let root = shell::root_command(&asked.line).unwrap_or_default();
            json!({"type": "exec", "title": "Confirm Shell Command", "command": asked.line, "rootCommand": root})
        }
        (_, Access::Write(paths)) => {
            let path = paths.first().map(String::as_str).unwrap_or_default();
            let name = path.rsplit('/').next().unwrap_or(path);
            let mut payload = json!({"type": "edit", "title": format!("Confirm Edit: {name}"), "fileName": name, "filePath": path});
            if let Some(diff) = diff {
                payload["fileDiff"] = diff.into();
            }
            let new = text("content").or_else(|| text("new_string"));
            payload["originalContent"] = text("old_string").map_or(Value::Null, Into::into);
            payload["newContent"] = new.map_or(Value::Null, Into::into);
            payload
        }
        (ToolKind::Mcp, _) | (_, Access::Mcp) => {
            let (server, tool) = spec.server_and_tool().unwrap_or(("", &spec.name));
            json!({"type": "mcp", "title": "Confirm MCP Tool Execution", "serverName": server, "toolName": tool, "toolDisplayName": tool})
        }
        (_, Access::Fetch(url)) => json!({"type": "info", "title": "Confirm Web Fetch", "prompt": url, "urls": [url]}),
        _ => json!({"type": "info", "title": format!("Confirm {}", spec.name), "prompt": spec.name}),
    }
}
