//! Plugins that a launch names: a folder with commands, kinds of subagents, output styles, skills, hooks and MCP servers of its own.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{LARGEST, Settings, text_of};
use crate::permissions::Source;

/// How plugins are put together.
#[derive(Debug)]
pub struct PluginFiles {
    /// The flag that names one.
    pub flag: &'static str,
    /// What says what it is.
    pub manifest: &'static str,
    /// What stands for its folder in its hooks and servers.
    pub root: &'static str,
}

/// A plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plugin {
    /// Its name: what it defines is called `name:…`.
    pub name: String,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// Its folder.
    pub path: PathBuf,
}

impl Settings {
    /// Reads the plugins that the launch names; whoever names one trusts it.
    pub(super) fn plugins(&mut self) {
        let Some(files) = self.places.files.and_then(|files| files.plugins.as_ref()) else {
            return;
        };
        for path in self.places.plugins.clone() {
            let Ok(path) = path.canonicalize() else {
                self.problems.push(format!("the plugin {} is not there", path.display()));
                continue;
            };
            let about = self.part(&path.join(files.manifest), &path, files).unwrap_or_default();
            let text = |name: &str| about.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
            let named = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let plugin = Plugin {
                name: text("name").unwrap_or(named),
                version: text("version"),
                path,
            };
            self.folder(&plugin.path, &format!("{}:", plugin.name));
            let hooks = self.part(&plugin.path.join("hooks/hooks.json"), &plugin.path, files);
            let servers = self.part(&plugin.path.join(".mcp.json"), &plugin.path, files);
            let member = |value: Option<Value>, name: &str| value.and_then(|value| value.get(name).cloned()).unwrap_or_else(|| json!({}));
            let layer = json!({"hooks": member(hooks, "hooks"), "mcpServers": member(servers, "mcpServers")});
            self.layers.insert(0, (Source::Flag, layer));
            self.installed.push(plugin);
        }
    }

    /// A file of a plugin's, in which it may name its own folder.
    fn part(&mut self, file: &Path, root: &Path, files: &PluginFiles) -> Option<Value> {
        let text = match text_of(file, LARGEST) {
            Ok(text) => text?,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        let root = Value::String(root.display().to_string()).to_string();
        match super::object(&text.replace(files.root, &root[1..root.len() - 1]), &file.display().to_string()) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }
}
