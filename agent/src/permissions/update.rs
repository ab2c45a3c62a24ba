//! Changes of the policy that a host sends: Claude's `PermissionUpdate`, alone or together with a permission.

use serde_json::Value;

use super::rule::{Behavior, Rule, Source};
use super::{Place, Policy};
use agentglot_adapters::raw::launch::PermissionMode;

/// So many updates, rules and folders may come at once, as in Claude Code.
const MOST: usize = 4096;

/// What became of updates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// The mode, if it was changed: hosts are told by a status.
    pub mode: Option<PermissionMode>,
    /// What belongs into files of settings.
    pub keep: Vec<(Source, Value)>,
    /// What was not done, and why.
    pub problems: Vec<String>,
}

impl Policy {
    /// Takes updates over. All of them count for this session; those for a settings file are given back too.
    ///
    /// # Errors
    /// A value that is no list of updates, or too long a one: then nothing of it counts, and the answer that it stands in is invalid.
    pub fn update(&mut self, updates: &Value) -> Result<Updated, String> {
        let mut updated = Updated::default();
        let list = match updates {
            Value::Null => return Ok(updated),
            Value::Array(list) => list,
            _ => return Err("updatedPermissions is not a list".to_owned()),
        };
        let size: usize = list
            .iter()
            .map(|update| {
                let count = |name: &str| update.get(name).and_then(Value::as_array).map_or(0, Vec::len);
                1 + count("rules") + count("directories")
            })
            .sum();
        if size > MOST {
            return Err(format!(
                "updatedPermissions may hold at most {MOST} updates, rules and directories in all"
            ));
        }
        if let Some(bad) = list.iter().find(|update| update.get("type").and_then(Value::as_str).is_none()) {
            return Err(format!("an update without a type: {bad}"));
        }
        for update in list {
            match self.update_one(update) {
                Ok(mode) => {
                    updated.mode = mode.or(updated.mode);
                    let destination = update.get("destination").and_then(Value::as_str).and_then(Source::from_name);
                    if let Some(source @ (Source::User | Source::Project | Source::Local)) = destination {
                        updated.keep.push((source, update.clone()));
                    }
                }
                Err(problem) => updated.problems.push(problem),
            }
        }
        Ok(updated)
    }

    fn update_one(&mut self, update: &Value) -> Result<Option<PermissionMode>, String> {
        let text = |name: &str| update.get(name).and_then(Value::as_str);
        let kind = text("type").unwrap_or_default();
        let source = match text("destination") {
            None => Source::Session,
            Some(name) => Source::from_name(name).ok_or_else(|| format!("`{name}` is no place for rules"))?,
        };
        if source == Source::Policy {
            return Err("a host does not change the settings of the machine's owner".to_owned());
        }
        match kind {
            "addRules" | "replaceRules" | "removeRules" => {
                let behavior = text("behavior")
                    .and_then(Behavior::from_name)
                    .ok_or("an update of rules without a behavior")?;
                let rules = self.rules_of(update)?;
                match kind {
                    "removeRules" => self
                        .rules
                        .retain(|(from, does, rule)| !(*from == source && *does == behavior && rules.contains(rule))),
                    _ => {
                        if kind == "replaceRules" {
                            self.rules.retain(|(from, does, _)| !(*from == source && *does == behavior));
                        }
                        for rule in rules {
                            tracing::info!(rule = rule.text(), source = source.name(), does = behavior.name(), "rule added");
                            self.add_rule(source, behavior, rule)?;
                        }
                    }
                }
                self.publish();
                Ok(None)
            }
            "setMode" => {
                let mode = text("mode").ok_or("an update of the mode without a mode")?;
                self.set_mode(mode).map(Some).map_err(|(why, _)| why)
            }
            "addDirectories" | "removeDirectories" => {
                let folders = update
                    .get("directories")
                    .and_then(Value::as_array)
                    .ok_or("an update of directories without any")?;
                for folder in folders.iter().filter_map(Value::as_str) {
                    if kind == "addDirectories" {
                        tracing::info!(source = source.name(), "folder added to the workspace");
                        self.add_folder(source, folder);
                    } else {
                        let real = Place::of(folder, &self.grounds.root, self.grounds.home.as_deref()).real;
                        let root = self.grounds.root.clone();
                        self.folders.retain(|(_, known)| *known != real || *known == root);
                    }
                }
                Ok(None)
            }
            other => Err(format!("`{other}` is no update of permissions")),
        }
    }

    fn rules_of(&self, update: &Value) -> Result<Vec<Rule>, String> {
        let rules = update.get("rules").and_then(Value::as_array).ok_or("an update of rules without any")?;
        rules
            .iter()
            .map(|rule| {
                let tool = rule.get("toolName").and_then(Value::as_str).unwrap_or_default();
                let content = rule.get("ruleContent").and_then(Value::as_str).map(str::to_owned);
                Rule::new(tool, content, &self.grounds)
            })
            .collect()
    }

    /// All rules as Claude's `list_permission_rules` tells them.
    pub fn listed(&self) -> Value {
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|(source, behavior, rule)| {
                let mut value = serde_json::json!({"toolName": rule.tool()});
                if let Some(content) = rule.content() {
                    value["ruleContent"] = content.into();
                }
                serde_json::json!({"source": source.name(), "ruleBehavior": behavior.name(), "ruleValue": value})
            })
            .collect();
        let folders: Vec<String> = self.folders().skip(1).map(|folder| folder.display().to_string()).collect();
        serde_json::json!({"state": {
            "rules": rules, "workspaceDirectories": folders, "originalCwd": self.grounds.root.display().to_string(), "managedOnly": false,
        }})
    }
}
