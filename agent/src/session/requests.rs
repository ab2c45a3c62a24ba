//! Requests of the host's that concern permissions, MCP servers, files and sessions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::permissions::{Behavior, Source};
use crate::store::Rewound;
use crate::turn::context::Context;
use agentglot_adapters::raw::event::{ControlKind, Request};

/// So long a host that asks for the servers waits for those that are coming up.
const COMING_UP: Duration = Duration::from_secs(1);

/// See [`crate::session::control::request`].
pub(crate) fn request(context: &Rc<Context>, id: &str, request: &Request<'_>, members: &BTreeMap<String, Value>) -> bool {
    let subtype = request.subtype.as_escaped();
    if request.kind == ControlKind::Mcp || subtype.starts_with("mcp_") {
        let (context, id, subtype) = (context.clone(), id.to_owned(), subtype.to_owned());
        let members: Value = members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        context.clone().host.jobs.spawn(async move {
            if subtype == "mcp_status" {
                // Servers that come up at once are told as such.
                let _ = tokio::time::timeout(COMING_UP, context.mcp.get().ready()).await;
            }
            let answer = context.mcp.get().control(&subtype, &members).await;
            let answer = answer.unwrap_or_else(|| Err(format!("Unsupported control request subtype: {subtype}")));
            context.host.events.respond(&id, &answer);
        });
        return true;
    }
    if subtype == "rewind_files" {
        let message = members.get("user_message_id").and_then(Value::as_str).unwrap_or_default();
        let dry_run = members.get("dry_run").and_then(Value::as_bool).unwrap_or(false);
        let rewound = match &context.store.checkpoints {
            Some(checkpoints) => checkpoints.borrow_mut().rewind(message, dry_run),
            None => Rewound::off(),
        };
        let answer = match (&rewound.error, rewound.can_rewind) {
            (Some(why), false) if !dry_run => Err(why.clone()),
            _ => Ok(rewound.answer()),
        };
        context.host.events.respond(id, &answer);
        return true;
    }
    if let ("update_settings", Some(settings)) = (subtype, members.get("settings").filter(|settings| settings.is_object())) {
        let sources = context.host.launch.setting_sources.as_deref();
        let is_read = |name: &str| sources.is_none_or(|sources| sources.iter().any(|source| source == name));
        let source = match members.get("source").and_then(Value::as_str) {
            Some(name @ ("userSettings" | "localSettings")) if !is_read(name.trim_end_matches("Settings")) => {
                let why = format!("update_settings: the {name} source is disabled for this session (--setting-sources)");
                context.host.events.respond(id, &Err(why));
                return true;
            }
            Some("userSettings") => Source::User,
            Some("localSettings") => Source::Local,
            _ => {
                context
                    .host
                    .events
                    .respond(id, &Err("source is userSettings or localSettings".to_owned()));
                return true;
            }
        };
        context
            .host
            .events
            .respond(id, &context.settings.get().places().merge(source, settings).map(|()| json!({})));
        return true;
    }
    if let ("apply_flag_settings", Some(settings)) = (subtype, members.get("settings")) {
        context.host.events.respond(id, &flag_settings(context, settings).map(|()| Value::Null));
        return true;
    }
    if let ("read_file", Some(path)) = (subtype, members.get("path").and_then(Value::as_str)) {
        let most = members.get("max_bytes").and_then(Value::as_u64).unwrap_or(MOST).min(MOST);
        context
            .host
            .events
            .respond(id, &read_file(context, path, most, members.get("encoding").and_then(Value::as_str)));
        return true;
    }
    if let "reload_output_styles" | "reload_skills" | "reload_plugins" = subtype {
        context.reload();
        context.host.events.respond(id, &Ok(reloaded(context, subtype)));
        return true;
    }
    if subtype == "get_task_output" {
        task_output(context, id, members.get("task_id").and_then(Value::as_str));
        return true;
    }
    if subtype == "get_session_cost" {
        let text = crate::commands::builtin::stats(context);
        context.host.events.respond(id, &Ok(json!({"text": text})));
        return true;
    }
    if subtype == "get_usage" {
        let session = json!({
            "total_cost_usd": context.model.usage.borrow().cost(), "model_usage": crate::turn::outcome::by_model(context),
        });
        let answer = json!({
            "session": session, "subscription_type": null, "rate_limits_available": false, "rate_limits": null, "behaviors": null,
        });
        context.host.events.respond(id, &Ok(answer));
        return true;
    }
    if let ("stop_task", Some(task)) = (subtype, members.get("task_id").and_then(Value::as_str)) {
        crate::turn::background::stop(context, id, task);
        return true;
    }
    if let ("rename_session", Some(title)) = (subtype, members.get("title").and_then(Value::as_str)) {
        crate::conversation::transcript::rename(&context.host, &context.store.transcript, title.trim());
        return false;
    }
    if subtype == "get_hooks_listing" {
        context.host.events.respond(id, &Ok(context.hooks.runner.listed()));
        return true;
    }
    if subtype == "register_repo_root" {
        let folder = members.get("directory").and_then(Value::as_str);
        let answer = register(context, folder).map_err(|why| format!("register_repo_root: {why}"));
        if answer.is_ok() {
            context.reload();
        }
        context.host.events.respond(id, &answer);
        return true;
    }
    if subtype == "list_permission_rules" {
        context.host.events.respond(id, &Ok(context.policy.borrow().listed()));
        return true;
    }
    if request.kind != ControlKind::SetMode {
        return false;
    }
    let mode = members.get("mode").and_then(Value::as_str).unwrap_or_default();
    let set = context.policy.borrow_mut().set_mode(mode);
    match set {
        Ok(_) => {
            let mode = context.policy.borrow().mode_name();
            if let Some(told) = context.host.persona.mode_set(mode) {
                context.host.events.told(&told);
            }
            false
        }
        Err((why, code)) => {
            context.host.events.refuse(id, &why, code);
            true
        }
    }
}

/// A folder below the workspace, into which the host has put a repository.
fn register(context: &Context, folder: Option<&str>) -> Result<Value, String> {
    let unresolved = || "target path could not be resolved".to_owned();
    let wall = &context.world.wall;
    let place = folder.filter(|folder| !folder.is_empty()).ok_or_else(unresolved)?;
    let path = wall.absolute(place.as_ref()).canonicalize().map_err(|_| unresolved())?;
    if !path.is_dir() {
        return Err(format!("{place} is no folder"));
    }
    if path == wall.root() {
        return Err(format!("{place} is the session's working directory, which is already registered"));
    }
    if wall.target_outside(&path.display().to_string()).is_some() {
        return Err(format!("{place} is not a subdirectory of the session's working directory"));
    }
    Ok(json!({ "directory": path }))
}

/// What a command in the background has written, for the host.
fn task_output(context: &Rc<Context>, id: &str, task: Option<&str>) {
    let Some(task) = task else {
        return context
            .host
            .events
            .respond(id, &Err("get_task_output: task_id must be a string".to_owned()));
    };
    let (context, id, task) = (Rc::clone(context), id.to_owned(), task.to_owned());
    Rc::clone(&context).host.jobs.spawn(async move {
        let written = match context.persona_session.processes() {
            Some(processes) => processes.jobs.measured_output(&task).await.ok(),
            None => None,
        };
        let answer = match written {
            Some((output, total, cut)) => Ok(json!({"output": output, "total_bytes": total, "truncated": cut})),
            None => Err("get_task_output: no shell task with that task_id in this session".to_owned()),
        };
        context.host.events.respond(&id, &answer);
    });
}

/// What there is now.
fn reloaded(context: &Context, subtype: &str) -> Value {
    let settings = context.settings.get();
    match subtype {
        "reload_output_styles" => json!({"available_output_styles": settings.style_names()}),
        "reload_skills" => {
            let skills = settings.skills();
            let told = skills.map(|skill| json!({"name": skill.name, "description": skill.description, "argumentHint": skill.hint}));
            json!({"skills": told.collect::<Value>()})
        }
        _ => {
            let greeting = crate::session::control::greeting(context);
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
            let servers: Value = context
                .mcp
                .get()
                .status()
                .into_iter()
                .map(|known| json!({"name": known.name, "status": known.status.as_str()}))
                .collect();
            json!({
                "commands": read(&greeting.commands), "agents": read(&greeting.agents), "plugins": crate::commands::introduce::plugins(context),
                "mcpServers": servers, "error_count": settings.problems.len(),
            })
        }
    }
}

/// The most bytes of a file that a host is given.
const MOST: u64 = 10 << 20;

/// A file of the workspace for the host.
fn read_file(context: &Context, path: &str, most: u64, encoding: Option<&str>) -> Result<Value, String> {
    use std::io::Read;
    let place = context.world.wall.locate(path).map_err(|fault| fault.to_string())?;
    let (file, stat) = place.open().map_err(|fault| fault.to_string())?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let mut answer = json!({"absPath": place.path(), "requested_path": path});
    if stat.size > bytes.len() as u64 {
        answer["truncated"] = true.into();
    }
    if encoding == Some("base64") {
        answer["encoding"] = "base64".into();
        answer["contents"] = base64::engine::general_purpose::STANDARD.encode(&bytes).into();
    } else {
        let text = String::from_utf8_lossy(&bytes);
        answer["lossy"] = matches!(text, Cow::Owned(_)).into();
        answer["contents"] = text.into();
    }
    Ok(answer)
}

/// Settings for this run alone: rules and folders, the model.
fn flag_settings(context: &Context, settings: &Value) -> Result<(), String> {
    let permissions = |name: &str| -> Vec<String> {
        let list = settings
            .get("permissions")
            .and_then(|permissions| permissions.get(name))
            .and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let mut policy = context.policy.borrow_mut();
    let mut problems = Vec::new();
    for (name, behavior) in [("deny", Behavior::Deny), ("ask", Behavior::Ask), ("allow", Behavior::Allow)] {
        problems.extend(policy.add(Source::Flag, behavior, &permissions(name)));
    }
    for folder in permissions("additionalDirectories") {
        policy.add_folder(Source::Flag, &folder);
        problems.extend(context.world.wall.add(Path::new(&folder)).err().map(|error| format!("{folder}: {error}")));
    }
    if let Some(model) = settings.get("model") {
        let mut wishes = context.model.options.borrow_mut();
        wishes.model = model
            .as_str()
            .and_then(|name| context.model.names.named(name))
            .unwrap_or_else(|| wishes.first_model.clone());
    }
    drop(policy);
    if settings.get("model").is_some() {
        crate::session::control::tell_model(context);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

/// What the handshake says.
pub(crate) fn initialize(context: &Rc<Context>, members: &BTreeMap<String, Value>) {
    let greeting = members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    context.mcp.greet(greeting);
    if let Some(hooks) = members.get("hooks").filter(|_| context.persona.hooks.takes_callbacks) {
        context.hooks.runner.set_callbacks(hooks);
    }
    let context = context.clone();
    context.clone().host.jobs.spawn(async move {
        context.mcp.get();
    });
}
