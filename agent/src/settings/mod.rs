//! Files of settings: whose they are, which of them count, what they say. Where they lie is the persona's business ([`SettingsFiles`]).
//!
//! What comes with a project counts only when the project is trusted: its hooks and servers run programs, its rules open tools. Of a project
//! that is not, only what is harmless (`harmless.rs`) counts. A file that cannot be read is told and skipped.

mod by_tool;
mod current;
mod folder;
mod harmless;
pub mod memory;
mod plugin;
mod style;
pub(crate) mod subagent;
mod write;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::flags::every;
use crate::permissions::{Behavior, Policy, Source};
use crate::restrictions::{Restriction, Restrictions};
use agentglot_adapters::raw::launch::Launch;

pub(crate) use current::CurrentSettings;
pub use folder::{AgentFile, CommandFile};
pub use plugin::{Plugin, PluginFiles};
pub use style::StyleFile;

/// So large may a settings file be, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Where a vendor's program keeps its settings.
#[derive(Debug)]
pub struct SettingsFiles {
    /// The folder, beside the user's home and in a project.
    pub folder: &'static str,
    /// The variable that names the user's folder.
    pub variable: Option<&'static str>,
    /// The user's file.
    pub user: &'static str,
    /// The user's folder below his home, where it is not called as a project's.
    pub home: Option<&'static str>,
    /// The project's file.
    pub project: &'static str,
    /// That one lies beside the folder, not in it.
    pub is_beside: bool,
    /// The project's file for the user alone.
    pub local: Option<&'static str>,
    /// The project's file of MCP servers.
    pub servers: Option<&'static str>,
    /// How plugins are put together, where there are any.
    pub plugins: Option<PluginFiles>,
    /// Folders below the folder that hold a user's prompts and plans, and that nobody has to guard.
    pub unguarded: &'static [&'static str],
    /// Files beside the folder.
    pub beside: &'static [&'static str],
}

impl SettingsFiles {
    /// As most vendors have them below their folders.
    pub const fn below(folder: &'static str) -> Self {
        Self {
            folder,
            variable: None,
            user: "settings.json",
            home: None,
            project: "settings.json",
            is_beside: false,
            local: None,
            servers: None,
            plugins: None,
            unguarded: &[],
            beside: &[],
        }
    }
}

/// Where settings lie and which of them count.
#[derive(Clone, Debug)]
pub struct Places {
    /// Whose settings; `None` where there are no files of them.
    pub files: Option<&'static SettingsFiles>,
    /// The working folder.
    pub root: PathBuf,
    /// The user's own folder.
    pub home: Option<PathBuf>,
    /// The program's folder of settings: `~/.claude` and its like.
    pub config: Option<PathBuf>,
    /// The files that count, of [`Source::User`], [`Source::Project`] and [`Source::Local`].
    pub sources: Vec<Source>,
    /// The project is trusted.
    pub trusted: bool,
    /// `--settings`: a path, or JSON.
    pub flag: Option<String>,
    /// The folders of plugins.
    pub plugins: Vec<PathBuf>,
    /// Files may add to the agent: instructions, hooks, subagents, commands, styles, MCP servers.
    pub add: bool,
}

impl Places {
    /// Those of a launch. Whoever names the project's files by `--setting-sources` trusts the project; otherwise `trusts` says whether
    /// the user does.
    pub fn of(
        launch: &Launch,
        files: Option<&'static SettingsFiles>,
        root: &Path,
        trusts: &dyn Fn(&Path) -> bool,
        variable: &dyn Fn(&str) -> Option<std::ffi::OsString>,
    ) -> Self {
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let named = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = files.and_then(|files| {
            files
                .variable
                .and_then(named)
                .or_else(|| home.as_ref().map(|home| home.join(files.home.unwrap_or(files.folder))))
        });
        let all = [Source::User, Source::Project, Source::Local];
        let (sources, asked) = match &launch.setting_sources {
            None => (all.to_vec(), false),
            Some(names) => {
                let has = |word: &str| names.iter().any(|name| name.trim() == word);
                let chosen = [("user", Source::User), ("project", Source::Project), ("local", Source::Local)];
                let sources: Vec<Source> = chosen.into_iter().filter(|(word, _)| has(word)).map(|(_, source)| source).collect();
                let asked = sources.iter().any(|source| *source != Source::User);
                (sources, asked)
            }
        };
        Self {
            files,
            trusted: asked || trusts(root),
            root: root.to_owned(),
            home,
            config,
            sources,
            flag: launch.settings.clone(),
            plugins: files
                .and_then(|files| files.plugins.as_ref())
                .into_iter()
                .flat_map(|plugins| every(launch, plugins.flag))
                .filter_map(|(_, path)| Some(root.join(path.as_ref()?)))
                .collect(),
            add: true,
        }
    }

    /// Leaves out what the host keeps the agent from.
    pub(crate) fn without(mut self, restrictions: &Restrictions) -> Self {
        if restrictions.has(Restriction::Settings) {
            self.sources.clear();
        }
        if restrictions.has(Restriction::ProjectSettings) {
            self.sources.retain(|source| *source == Source::User);
        }
        if restrictions.has(Restriction::Plugins) {
            self.plugins.clear();
        }
        self.add &= !restrictions.has(Restriction::Additions);
        self
    }

    /// Where the file of a source is.
    pub fn file(&self, source: Source) -> Option<PathBuf> {
        let files = self.files?;
        match source {
            Source::User => Some(self.config.as_ref()?.join(files.user)),
            Source::Project if files.is_beside => Some(self.root.join(files.project)),
            Source::Project => Some(self.root.join(files.folder).join(files.project)),
            Source::Local => Some(self.root.join(files.folder).join(files.local?)),
            _ => None,
        }
    }

    /// Whether all that lies at a source counts.
    pub fn counts(&self, source: Source) -> bool {
        self.sources.contains(&source) && (source == Source::User || self.trusted)
    }
}

/// Settings, the weakest first.
#[derive(Clone, Debug)]
pub struct Settings {
    places: Places,
    /// What each file says.
    pub layers: Vec<(Source, Value)>,
    /// Kinds of subagents; a later one of the same name counts.
    pub agents: Vec<AgentFile>,
    /// Commands that files define.
    pub commands: Vec<CommandFile>,
    /// Output styles that files define.
    pub styles: Vec<StyleFile>,
    /// Plugins.
    pub installed: Vec<Plugin>,
    /// What could not be read or does not count, a sentence each.
    pub problems: Vec<String>,
}

impl Settings {
    /// Reads them all.
    pub fn load(places: Places) -> Self {
        let mut settings = Self {
            layers: Vec::new(),
            agents: Vec::new(),
            commands: Vec::new(),
            styles: Vec::new(),
            installed: Vec::new(),
            problems: Vec::new(),
            places,
        };
        for source in [Source::User, Source::Project, Source::Local] {
            let Some(path) = settings.places.file(source).filter(|_| settings.places.sources.contains(&source)) else {
                continue;
            };
            match read(&path) {
                Ok(Some(value)) if settings.places.counts(source) => settings.layers.push((source, value)),
                Ok(Some(value)) => {
                    let (part, more) = harmless::part(&value);
                    if more {
                        tracing::info!("of {} only what is harmless counts: the project is not trusted", path.display());
                    }
                    settings.layers.push((source, part));
                }
                Ok(None) => {}
                Err(problem) => settings.problems.push(problem),
            }
        }
        if let Some(flag) = settings.places.flag.clone() {
            let value = if flag.trim_start().starts_with('{') {
                object(&flag, "--settings").map(Some)
            } else {
                let path = settings.places.root.join(&flag);
                read(&path).and_then(|value| {
                    value
                        .map(Some)
                        .ok_or_else(|| format!("the settings file {} is not there", path.display()))
                })
            };
            match value {
                Ok(value) => settings.layers.extend(value.map(|value| (Source::Flag, value))),
                Err(problem) => settings.problems.push(problem),
            }
        }
        if settings.places.add {
            settings.folders();
        }
        settings.plugins();
        settings
    }

    /// Where they were read.
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// What the strongest file says of a name; a path of names leads inwards.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        self.layers.iter().rev().find_map(|(_, value)| at(value, path))
    }

    /// A text.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.get(path).and_then(Value::as_str)
    }

    /// Tells the policy the rules and folders, and the mode if the launch has named none.
    pub fn tell(&self, policy: &mut Policy, launch: &Launch) -> Vec<String> {
        let mut problems = Vec::new();
        for (source, value) in &self.layers {
            let lists = |paths: &[&[&str]]| -> Vec<String> { paths.iter().flat_map(|path| texts(at(value, path))).collect() };
            let rules: [(Behavior, &[&[&str]]); 3] = [
                (Behavior::Deny, &[&["permissions", "deny"], &["tools", "exclude"], &["excludeTools"]]),
                (Behavior::Ask, &[&["permissions", "ask"]]),
                (Behavior::Allow, &[&["permissions", "allow"], &["tools", "allowed"], &["allowedTools"]]),
            ];
            for (behavior, paths) in rules {
                problems.extend(policy.add(*source, behavior, &lists(paths)));
            }
            for (behavior, rule) in by_tool::rules(value) {
                problems.extend(policy.add(*source, behavior, &[rule]));
            }
            for folder in lists(&[&["permissions", "additionalDirectories"], &["context", "includeDirectories"]]) {
                policy.add_folder(*source, &folder);
            }
        }
        let mode = self
            .text(&["permissions", "defaultMode"])
            .or_else(|| self.text(&["tools", "approvalMode"]))
            .or_else(|| self.text(&["general", "defaultApprovalMode"]));
        if let Some(mode) = mode.filter(|_| launch.permission.is_none())
            && let Err((problem, _)) = policy.set_mode(mode)
        {
            problems.push(problem);
        }
        problems
    }

    /// Variables for the session and its commands. A project's do not count unless it is trusted, as all that it says.
    pub fn env(&self) -> Vec<(String, String)> {
        let mut variables: Vec<(String, String)> = Vec::new();
        for (_, value) in &self.layers {
            for (name, value) in at(value, &["env"]).and_then(Value::as_object).into_iter().flatten() {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ => continue,
                };
                variables.retain(|(known, _)| known != name);
                variables.push((name.clone(), text));
            }
        }
        variables
    }

    /// The hooks of all files, each with where it is from. None, where a file turns them all off.
    pub fn hooks(&self) -> Vec<(Source, &Value)> {
        if !self.places.add || self.get(&["disableAllHooks"]).and_then(Value::as_bool) == Some(true) {
            return Vec::new();
        }
        self.layers
            .iter()
            .filter_map(|(source, value)| Some((*source, at(value, &["hooks"])?)))
            .collect()
    }

    /// `outputStyle`.
    pub fn output_style(&self) -> Option<&str> {
        self.text(&["outputStyle"])
    }

    /// The model.
    pub fn model(&self) -> Option<&str> {
        self.text(&["model"]).or_else(|| self.text(&["model", "name"]))
    }

    /// The most rounds of a turn, where the launch names none.
    pub fn max_rounds(&self) -> Option<u64> {
        self.get(&["model", "maxSessionTurns"]).and_then(Value::as_u64)
    }

    /// The most calls of tools for a prompt.
    pub fn max_calls(&self) -> Option<u64> {
        self.get(&["model", "maxToolCalls"]).and_then(Value::as_u64)
    }

    /// The longest that a prompt may take.
    pub fn max_time(&self) -> Option<Duration> {
        let seconds = self.get(&["model", "maxWallTimeSeconds"]).and_then(Value::as_f64)?;
        Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
    }

    /// Commands that are left out.
    pub fn disabled_commands(&self) -> Vec<String> {
        let names = self.get(&["slashCommands", "disabled"]).and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str).map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Leaves out the commands that the session is kept from.
    pub(crate) fn without_commands(mut self, restrictions: &Restrictions) -> Self {
        if restrictions.has(Restriction::Commands) {
            self.commands.clear();
        }
        self.commands.retain(|command| restrictions.allows_command(&command.name));
        self
    }

    /// The configuration of MCP servers that files give, for `--mcp-config`: the user's and the project's settings and the project's
    /// `.mcp.json`. `{"mcpServers": …}`.
    pub fn mcp_servers(&mut self) -> Value {
        let mut servers = Map::new();
        for (source, value) in &self.layers {
            if let Some(Value::Object(more)) = at(value, &["mcpServers"]).filter(|_| self.places.add || *source == Source::Flag) {
                servers.extend(more.clone());
            }
        }
        let Some(file) = self.places.files.and_then(|files| files.servers).filter(|_| self.places.add) else {
            return serde_json::json!({ "mcpServers": servers });
        };
        let file = self.places.root.join(file);
        if self.places.counts(Source::Project) {
            match read(&file) {
                Ok(Some(value)) => {
                    let listed = |name: &str| texts(self.get(&[name])).collect::<Vec<_>>();
                    let (enabled, disabled) = (listed("enabledMcpjsonServers"), listed("disabledMcpjsonServers"));
                    let all = self.get(&["enableAllProjectMcpServers"]).and_then(Value::as_bool) != Some(false);
                    for (name, server) in at(&value, &["mcpServers"]).and_then(Value::as_object).into_iter().flatten() {
                        let wanted = if enabled.is_empty() { all } else { enabled.contains(name) };
                        if wanted && !disabled.contains(name) {
                            servers.entry(name.clone()).or_insert_with(|| server.clone());
                        }
                    }
                }
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        } else if file.exists() {
            tracing::info!("{} does not count: the project is not trusted", file.display());
        }
        serde_json::json!({ "mcpServers": servers })
    }
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// The texts of a list.
fn texts(value: Option<&Value>) -> impl Iterator<Item = String> {
    let list = value.and_then(Value::as_array).cloned().unwrap_or_default();
    list.into_iter().filter_map(|text| Some(text.as_str()?.to_owned()))
}

/// The text of a file that is one, is there and is not too large.
fn text_of(path: &Path, largest: u64) -> Result<Option<String>, String> {
    match agentglot_process::file::read_text(path, largest) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(format!("{} is skipped: {error}", path.display())),
    }
}

fn read(path: &Path) -> Result<Option<Value>, String> {
    match text_of(path, LARGEST)? {
        Some(text) if text.trim().is_empty() => Ok(None),
        Some(text) => object(&text, &path.display().to_string()).map(Some),
        None => Ok(None),
    }
}

fn object(text: &str, name: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err(format!("{name} is no JSON object and is skipped")),
        Err(error) => Err(format!("{name} is no JSON and is skipped: {error}")),
    }
}

#[cfg(test)]
mod tests;
