//! Requests of the host's that concern permissions, MCP servers, files and sessions.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::core::Core;
use super::store::Rewound;
use crate::adapters::codec::Dialect;
use crate::adapters::event::{ControlKind, Request, Topic};

/// See [`super::control::request`].
pub(super) fn request(core: &Rc<Core>, id: &str, request: &Request<'_>, members: &BTreeMap<String, Value>) -> bool {
    let subtype = request.subtype.as_escaped();
    if request.kind == ControlKind::Mcp || subtype.starts_with("mcp_") {
        let (core, id, subtype) = (core.clone(), id.to_owned(), subtype.to_owned());
        let members: Value = members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        core.clone().chore(async move {
            let answer = core.mcp().control(&subtype, &members).await;
            let answer = answer.unwrap_or_else(|| Err(format!("Unsupported control request subtype: {subtype}")));
            core.voice.respond(&id, &answer);
        });
        return true;
    }
    if subtype == "rewind_files" {
        let message = members.get("user_message_id").and_then(Value::as_str).unwrap_or_default();
        let dry_run = members.get("dry_run").and_then(Value::as_bool).unwrap_or(false);
        let rewound = match &core.checkpoints {
            Some(checkpoints) => checkpoints.borrow_mut().rewind(message, dry_run),
            None => Rewound::off(),
        };
        let answer = match (&rewound.error, rewound.can_rewind) {
            (Some(why), false) if !dry_run => Err(why.clone()),
            _ => Ok(rewound.answer()),
        };
        core.voice.respond(id, &answer);
        return true;
    }
    if let ("stop_task", Some(task)) = (subtype, members.get("task_id").and_then(Value::as_str)) {
        super::background::stop(core, id, task);
        return true;
    }
    if let ("rename_session", Some(title)) = (subtype, members.get("title").and_then(Value::as_str)) {
        super::keeping::rename(core, title.trim());
        return false;
    }
    if subtype == "list_permission_rules" {
        core.voice.respond(id, &Ok(core.policy.borrow().listed()));
        return true;
    }
    if request.kind != ControlKind::SetMode {
        return false;
    }
    let mode = members.get("mode").and_then(Value::as_str).unwrap_or_default();
    match core.policy.borrow_mut().set_mode(mode) {
        Ok(_) => false,
        Err((why, code)) => {
            core.voice.refuse(id, &why, code);
            true
        }
    }
}

/// What the handshake says.
pub(super) fn initialize(core: &Rc<Core>, members: &BTreeMap<String, Value>) {
    let greeting = members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    *core.greeting.borrow_mut() = Some(greeting);
    // Qwen Code accepts hooks here and never calls them; its hosts do not answer.
    if let (Dialect::Claude | Dialect::Agentglot, Some(hooks)) = (core.dialect, members.get("hooks")) {
        core.hooks.set_callbacks(hooks);
    }
    let core = core.clone();
    core.clone().chore(async move {
        core.mcp();
    });
}

/// Rules that the host gives together with its leave.
///
/// # Errors
/// When they cannot be understood: then the answer that they stand in is none.
pub(super) fn permission_updates(core: &Core, updates: &Value) -> Result<(), String> {
    let updated = core.policy.borrow_mut().update(updates);
    match updated {
        Ok(updated) => {
            for (source, update) in &updated.keep {
                if let Err(problem) = core.settings.places().write(*source, update) {
                    tracing::warn!("{problem}");
                }
            }
            for problem in &updated.problems {
                tracing::warn!("{problem}");
            }
            if updated.mode.is_some() {
                let mode = core.policy.borrow().mode_name();
                let data = json!({"status": null, "permissionMode": mode});
                if core.dialect == Dialect::Claude {
                    core.voice.system("status", &data);
                } else {
                    core.voice.notice("status", Topic::Status, None, Some(&data));
                }
            }
            for folder in core.policy.borrow().folders().skip(1) {
                // One that is there already, or cannot be had, changes nothing.
                let _ = core.world.wall.add(folder);
            }
        }
        Err(problem) => return Err(problem),
    }
    Ok(())
}
