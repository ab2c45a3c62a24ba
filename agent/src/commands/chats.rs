//! Conversations that the user keeps under a name: `/chat`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agentglot_process::file::read_regular;
use serde_json::{Value, json};

use super::{Given, failed, message};
use crate::model::message::{Message, Part, Role};
use crate::turn::context::Context;

/// So large may a kept conversation be, in bytes; so long a name, in characters.
const LARGEST: u64 = 64 << 20;
const LONGEST: usize = 64;

/// The folder, which is made with the first one: beside the sessions, one for each working folder.
fn folder(context: &Context) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("AGENTGLOT_STATE_DIR")
        .or_else(|| set("XDG_STATE_HOME").filter(|path| path.is_absolute()).map(|path| path.join("agentglot")))
        .or_else(|| Some(set("HOME")?.join(".local/state/agentglot")))?;
    let root = context.world.wall.root().display().to_string();
    let digest = <sha2::Sha256 as sha2::Digest>::digest(root.as_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Some(state.join("chats").join(name))
}

/// A name that is safe as a file's.
fn file(name: &str) -> Result<String, Value> {
    let fine = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if name.is_empty() {
        return Err(failed("Missing tag. Usage: /chat save|resume|delete <tag>"));
    }
    if name.chars().count() > LONGEST || name.starts_with('.') || !name.chars().all(fine) {
        return Err(failed(format!(
            "{name:?} is no name for a conversation: up to {LONGEST} letters, digits, -, _ and ., the first one no dot"
        )));
    }
    Ok(format!("{name}.json"))
}

/// Does what `/chat` says.
pub(super) fn run(context: &Context, given: &Given) -> Value {
    let Some(folder) = folder(context) else {
        return failed("there is no home for conversations");
    };
    let name = given.args.trim();
    let path = |file: String| folder.join(file);
    match given.path.get(1).map(String::as_str) {
        None | Some("list") if given.path.len() > 1 || name.is_empty() || name == "list" => list(&folder),
        Some("save") => match file(name) {
            Err(why) => why,
            Ok(file) => save(context, given, &path(file), name),
        },
        Some("resume" | "load") => match file(name) {
            Err(why) => why,
            Ok(file) => resume(context, &path(file), name),
        },
        Some("delete" | "remove") => match file(name) {
            Err(why) => why,
            Ok(file) => match fs::remove_file(path(file)) {
                Ok(()) => message("info", format!("Conversation checkpoint '{name}' has been deleted.")),
                Err(_) => failed(format!("Error: No checkpoint found with tag '{name}'.")),
            },
        },
        _ => failed("Usage: /chat list|save|resume|delete [tag]"),
    }
}

fn list(folder: &PathBuf) -> Value {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    if names.is_empty() {
        return message("info", "No saved conversation checkpoints found.");
    }
    let list: String = names.iter().map(|name| format!("\n  - {name}")).collect();
    message("info", format!("List of saved conversations:{list}"))
}

fn save(context: &Context, given: &Given, path: &PathBuf, name: &str) -> Value {
    let conversation = context.conversation.borrow();
    if conversation.messages.is_empty() {
        return message("info", "No conversation found to save.");
    }
    match given.outcome.as_deref() {
        Some("cancel") => return message("info", "Operation cancelled."),
        None if path.exists() => {
            return json!({
                "type": "confirm_action",
                "prompt": format!("A checkpoint with the tag {name} already exists. Do you want to overwrite it?"),
                "original_invocation": {"raw": format!("/chat save {name}")},
            });
        }
        _ => {}
    }
    let write = || -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = agentglot_process::leftover::draft(folder)?;
        file.write_all(&serde_json::to_vec(
            &conversation.messages.iter().map(|message| &**message).collect::<Vec<_>>(),
        )?)?;
        file.as_file().sync_data()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    match write() {
        Ok(()) => message("info", format!("Conversation checkpoint saved with tag: {name}.")),
        Err(error) => failed(format!("The conversation cannot be saved: {error}")),
    }
}

fn resume(context: &Context, path: &Path, name: &str) -> Value {
    let bytes = match read_regular(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return failed(format!("No saved checkpoint found with tag: {name}."));
        }
        Err(error) => return failed(format!("The conversation cannot be read: {error}")),
    };
    let messages: Vec<Message> = match serde_json::from_slice(&bytes) {
        Ok(messages) => messages,
        Err(error) => return failed(format!("The conversation cannot be read: {error}")),
    };
    let history: Vec<Value> = messages.iter().filter_map(shown).collect();
    context.conversation.borrow_mut().messages = messages.into_iter().map(Rc::new).collect();
    json!({"type": "load_history", "history": history, "content": format!("Conversation {name} is loaded.")})
}

/// What a host shows of a message.
fn shown(message: &Message) -> Option<Value> {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let kind = if message.role == Role::User { "user" } else { "assistant" };
    (!texts.is_empty()).then(|| json!({"role": kind, "content": texts.join("\n")}))
}
