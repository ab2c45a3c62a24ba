//! What may run: one policy for the modes, rules and lists of tools of every dialect.
//!
//! A call is judged by the first of these that has something to say: the tools that exist, rules that deny, rules that ask, tools that
//! only a user can answer, the modes that allow or forbid everything, rules that allow, and what the tool is going to touch. Commands are
//! judged part by part ([`shell`]); paths where they lead ([`place`]).

mod command;
mod decision;
mod family;
mod forbids;
pub mod form;
mod judge;
pub mod place;
pub mod rule;
pub mod shell;
mod sight;
mod update;
mod verdict;
mod wildcard;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use self::decision::Decision;
pub use self::family::{Family, Width};
pub use self::form::{Guarded, PermissionForm, Question, Vocabulary, mode_named};
pub use self::judge::host;
use self::place::Place;
pub use self::rule::{Behavior, Grounds, Rule, Source};
pub use self::update::Updated;
use self::verdict::reason;
pub use self::verdict::{Reason, Unheard, Verdict};
use crate::flags::given;
use crate::tools::{Access, Spec};
use crate::workspace::{Patterns, ReadRules};
use agentglot_adapters::raw::launch::{Answerer, Launch, PermissionMode};

/// What is allowed in a session.
#[derive(Debug)]
pub struct Policy {
    /// What settings lie in.
    guarded: Guarded,
    mode: PermissionMode,
    /// Launched with the flag that lets everything run.
    may_bypass: bool,
    /// The host has ruled that out for good.
    never_bypasses: bool,
    /// Somebody can be asked.
    asks: bool,
    grounds: Grounds,
    /// The working folder and those added to it, free of links, and who added them.
    folders: Vec<(Source, PathBuf)>,
    rules: Vec<(Source, Behavior, Rule)>,
    /// The tools that exist; `None` is all.
    only: Option<Vec<Rule>>,
    /// What the host has said for the prompt in work.
    overrides: Overrides,
    /// Servers may be configured so that their tools run without a question.
    trusts_servers: bool,
    denials: RefCell<Vec<Denial>>,
    /// Where whoever opens files finds the rules about reading.
    read_rules: ReadRules,
}

/// Which tools a prompt may use; the RFC's `options.tool_overrides`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The only ones, if there is a list.
    pub only: Option<Vec<String>>,
    /// Those that it may not.
    pub without: Vec<String>,
}

/// A call that did not run because it was not allowed: an entry of `permission_denials`.
#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub call: String,
    /// The arguments.
    pub input: Value,
}

impl Policy {
    /// What a command line says for a workspace; settings are added with [`Self::add`]. The problems are rules that are none.
    ///
    /// `root` is the working folder; `home` and `config` are the user's folder and the agent's folder of settings.
    pub fn new(launch: &Launch, vocabulary: Vocabulary, root: &Path, home: Option<PathBuf>, config: Option<PathBuf>) -> (Self, Vec<String>) {
        let root = root.canonicalize().unwrap_or_else(|_| place::flat(root));
        let mode = launch.permission_or_default();
        let flag = given(launch, "--allow-dangerously-skip-permissions").is_some();
        let mut policy = Self {
            guarded: vocabulary.guarded,
            mode,
            may_bypass: mode == PermissionMode::Bypass || flag,
            never_bypasses: false,
            asks: launch.answerer != Answerer::Nobody,
            grounds: Grounds {
                form: vocabulary.form,
                family: vocabulary.family,
                root: root.clone(),
                home,
                config: config.map(|config| config.canonicalize().unwrap_or(config)),
            },
            folders: vec![(Source::Argument, root)],
            rules: Vec::new(),
            only: None,
            overrides: Overrides::default(),
            trusts_servers: false,
            denials: RefCell::default(),
            read_rules: ReadRules::default(),
        };
        let mut problems = Vec::new();
        // `default` stands for the program's usual set.
        if let Some(tools) = &launch.tools
            && !tools.iter().any(|tool| tool.trim() == "default")
        {
            policy.only = Some(policy.read_all(tools, &mut problems));
        }
        for (rules, behavior) in [(&launch.disallowed_tools, Behavior::Deny), (&launch.allowed_tools, Behavior::Allow)] {
            problems.extend(policy.add(Source::Argument, behavior, rules));
        }
        for folder in &launch.add_dirs {
            policy.add_folder(Source::Argument, folder);
        }
        (policy, problems)
    }

    pub(crate) const fn form(&self) -> &'static PermissionForm {
        self.grounds.form
    }

    /// Whether a host that is asked sees the paths of a call; if it does, whether it is told where their links lead.
    pub fn shows_paths(&self) -> Option<bool> {
        self.form().question.map(|_| self.form().tells_targets)
    }

    fn read_all(&self, texts: &[String], problems: &mut Vec<String>) -> Vec<Rule> {
        let mut rules = Vec::new();
        for text in texts.iter().filter(|text| !text.trim().is_empty()) {
            match Rule::parse(text, &self.grounds) {
                Ok(rule) => rules.push(rule),
                Err(problem) => problems.push(problem),
            }
        }
        rules
    }

    /// Adds rules as they are written, and returns those that are none, each with the reason.
    pub fn add<S: AsRef<str>>(&mut self, source: Source, behavior: Behavior, texts: &[S]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|text| text.as_ref().to_owned()).collect();
        let mut problems = Vec::new();
        for rule in self.read_all(&texts, &mut problems) {
            if let Err(problem) = self.add_rule(source, behavior, rule) {
                problems.push(problem);
            }
        }
        problems
    }

    fn add_rule(&mut self, source: Source, behavior: Behavior, rule: Rule) -> Result<(), String> {
        if behavior == Behavior::Allow && rule.tool() == "*" {
            return Err("`*` allows no tools: that is what the bypass mode is for".to_owned());
        }
        let known = self
            .rules
            .iter()
            .any(|(from, does, known)| (*from, *does) == (source, behavior) && *known == rule);
        if !known {
            self.rules.push((source, behavior, rule));
            self.publish();
        }
        Ok(())
    }

    /// From now on these always are the rules about reading.
    pub fn set_read_rules(&mut self, shared: ReadRules) {
        self.read_rules = shared;
        self.publish();
    }

    /// Tells what the rules are now to whoever opens files.
    fn publish(&self) {
        let about = |wanted: Behavior| {
            let rules = self.rules.iter().filter(move |(_, behavior, _)| *behavior == wanted);
            rules.filter_map(|(.., rule)| rule.read_pattern()).collect()
        };
        self.read_rules.set(Patterns::new(about(Behavior::Deny), about(Behavior::Ask)));
    }

    /// Adds a folder to the workspace. One that does not exist is added as it is written.
    pub fn add_folder(&mut self, source: Source, folder: &str) {
        let path = Place::of(folder, &self.grounds.root, self.grounds.home.as_deref()).real;
        if !self.folders.iter().any(|(_, known)| *known == path) {
            self.folders.push((source, path));
        }
    }

    /// The folders of the workspace, the working folder first.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|(_, folder)| folder.as_path())
    }

    /// The mode.
    pub const fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// The mode in the dialect's word, as lines and hooks name it.
    pub fn mode_name(&self) -> &'static str {
        self.form().mode_name(self.mode)
    }

    /// Another mode, as the host asks for it.
    ///
    /// # Errors
    /// A mode that the dialect does not have, and the one that lets everything run where the session was not launched with its flag: what
    /// Claude Code says then, and its `error_code`.
    pub fn set_mode(&mut self, name: &str) -> Result<PermissionMode, (String, &'static str)> {
        let mode = (self.form().mode_named)(name).map_err(|why| (why, "invalid_mode"))?;
        if mode == PermissionMode::Bypass && self.never_bypasses {
            return Err((format!("{name} not supported in restricted mode"), "bypass_not_launched"));
        }
        if mode == PermissionMode::Bypass && !self.may_bypass && !self.form().may_bypass_later {
            return Err((
                format!("Cannot set permission mode to {name} because the session was not launched with --dangerously-skip-permissions"),
                "bypass_not_launched",
            ));
        }
        tracing::info!(from = ?self.mode, to = ?mode, "permission mode");
        self.mode = mode;
        Ok(mode)
    }

    /// The mode in which everything runs is ruled out.
    pub(crate) const fn never_bypass(&mut self) {
        self.never_bypasses = true;
    }

    /// This mode holds now: whoever speaks to the host has seen to it that it may.
    pub const fn hold(&mut self, mode: PermissionMode) {
        self.mode = mode;
    }

    /// Whether the tools of servers that are configured so run without a question.
    pub const fn trusts_servers(&mut self, trusts: bool) {
        self.trusts_servers = trusts;
    }

    /// Which tools the prompt that begins now may use.
    pub fn set_overrides(&mut self, overrides: Overrides) {
        self.overrides = overrides;
    }

    /// The prompt that begins now may use these tools alone, as the host calls them: by their names, or by those of their families.
    pub fn restrict(&mut self, names: &[String], specs: &[&Spec]) {
        let rules: Vec<Rule> = names.iter().filter_map(|name| Rule::parse(name, &self.grounds).ok()).collect();
        // Who names a tool means that one, though a family may be called the same.
        let exact = |rule: &Rule| specs.iter().any(|spec| spec.name == rule.tool());
        let fits = |rule: &Rule, spec: &Spec| rule.tool() == spec.name || !exact(rule) && rule.is_about(spec, true);
        let only = specs.iter().filter(|spec| rules.iter().any(|rule| fits(rule, spec)));
        self.overrides.only = Some(only.map(|spec| spec.name.clone()).collect());
    }

    /// Notes that a call did not run, for `permission_denials`.
    pub fn note_denial(&self, tool: &str, call: &str, input: &Value) {
        self.denials.borrow_mut().push(Denial {
            tool: tool.to_owned(),
            call: call.to_owned(),
            input: input.clone(),
        });
    }

    /// The denials since the last time, in order.
    pub fn take_denials(&self) -> Vec<Denial> {
        self.denials.take()
    }
}

/// For whoever puts texts of a call together.
impl Policy {
    /// A path as it is written, made absolute.
    pub fn written(&self, path: &str) -> String {
        self.place(path).written.display().to_string()
    }

    /// A path as the user would say it.
    pub fn short(&self, path: &str) -> String {
        let place = self.place(path);
        let short = place.written.strip_prefix(&self.grounds.root).unwrap_or(&place.written);
        short.display().to_string()
    }

    /// What the model reads when a question brought no permission.
    pub fn unheard(&self, spec: &Spec, access: &Access, why: &Unheard) -> String {
        (self.form().unheard)(self, spec, access, why)
    }
}

impl Denial {
    /// An entry of `permission_denials`.
    pub fn value(&self) -> Value {
        json!({"tool_name": self.tool, "tool_use_id": self.call, "tool_input": self.input})
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_bash;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_reads;
#[cfg(test)]
mod tests_shell;
