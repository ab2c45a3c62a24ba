//! Settings that change while a session runs.

use std::io::Write;
use std::path::Path;

use agentglot_process::leftover;
use serde_json::{Value, json};

use super::{Places, read};
use crate::permissions::Source;

impl Places {
    /// Writes a `PermissionUpdate` to the file of its destination. The file is replaced whole; what else it says stays.
    ///
    /// # Errors
    /// When the destination has no file here, the file does not count, it is a link, it cannot be read (then it is left as it is) or cannot
    /// be written.
    pub fn write(&self, source: Source, update: &Value) -> Result<(), String> {
        self.change(source, |value| apply(value, update))
    }

    /// Puts members into the file of a source; `null` takes one away.
    ///
    /// # Errors
    /// As those of [`Self::write`].
    pub fn merge(&self, source: Source, more: &Value) -> Result<(), String> {
        self.change(source, |value| {
            merge(value, more);
            Ok(())
        })
    }

    fn change(&self, source: Source, change: impl FnOnce(&mut Value) -> Result<(), String>) -> Result<(), String> {
        let path = self.file(source).ok_or_else(|| format!("{} have no file here", source.name()))?;
        if source != Source::User && !self.root.is_dir() {
            return Err(format!("{} is no folder", self.root.display()));
        }
        let linked = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink())
            || (source != Source::User
                && path
                    .parent()
                    .is_some_and(|folder| std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_symlink())));
        if linked {
            return Err(format!("{} is a link and is not written", path.display()));
        }
        let mut value = read(&path)?.unwrap_or_else(|| json!({}));
        change(&mut value)?;
        put(&path, &value).map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }
}

fn merge(value: &mut Value, more: &Value) {
    let (Some(value), Some(more)) = (value.as_object_mut(), more.as_object()) else {
        *value = more.clone();
        return;
    };
    for (name, more) in more {
        match more {
            Value::Null => _ = value.remove(name),
            Value::Object(_) => merge(value.entry(name.clone()).or_insert_with(|| json!({})), more),
            _ => _ = value.insert(name.clone(), more.clone()),
        }
    }
}

/// Changes settings as an update says.
fn apply(settings: &mut Value, update: &Value) -> Result<(), String> {
    let text = |name: &str| update.get(name).and_then(Value::as_str).unwrap_or_default();
    let root = settings.as_object_mut().ok_or("settings are an object")?;
    let permissions = root.entry("permissions").or_insert_with(|| json!({}));
    let permissions = permissions
        .as_object_mut()
        .ok_or("`permissions` is not an object; the file is left as it is")?;
    let items: Vec<String> = match text("type") {
        "setMode" => {
            permissions.insert("defaultMode".to_owned(), text("mode").into());
            return Ok(());
        }
        "addDirectories" | "removeDirectories" => {
            let folders = update.get("directories").and_then(Value::as_array).cloned().unwrap_or_default();
            folders.iter().filter_map(|folder| Some(folder.as_str()?.to_owned())).collect()
        }
        _ => update
            .get("rules")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(rule_text)
            .collect(),
    };
    let list = match text("type") {
        "addDirectories" | "removeDirectories" => "additionalDirectories",
        _ => match text("behavior") {
            behavior @ ("allow" | "deny" | "ask") => behavior,
            _ => return Err("an update of rules without a behavior".to_owned()),
        },
    };
    let list = permissions.entry(list).or_insert_with(|| json!([]));
    let list = list.as_array_mut().ok_or("a list of rules is no list; the file is left as it is")?;
    let is = |known: &Value| known.as_str().is_some_and(|known| items.iter().any(|item| item == known));
    match text("type") {
        "addRules" | "addDirectories" => {
            for item in &items {
                if !list.iter().any(|known| known.as_str() == Some(item)) {
                    list.push(item.as_str().into());
                }
            }
        }
        "replaceRules" => *list = items.iter().map(|item| item.as_str().into()).collect(),
        "removeRules" | "removeDirectories" => list.retain(|known| !is(known)),
        other => return Err(format!("`{other}` is no update of permissions")),
    }
    Ok(())
}

/// `{toolName, ruleContent}` as settings write it.
fn rule_text(rule: &Value) -> Option<String> {
    let tool = rule.get("toolName")?.as_str()?;
    Some(match rule.get("ruleContent").and_then(Value::as_str) {
        Some(content) => format!("{tool}({})", content.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)")),
        None => tool.to_owned(),
    })
}

/// A new file beside it takes the old one's place.
fn put(path: &Path, value: &Value) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = leftover::draft(folder)?;
    let mut text = serde_json::to_vec_pretty(value).map_err(std::io::Error::other)?;
    text.push(b'\n');
    file.write_all(&text)?;
    if let Ok(meta) = std::fs::metadata(path) {
        file.as_file().set_permissions(meta.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
