//! What may run: one policy for the modes, rules and lists of tools of every dialect.
//!
//! A call is judged by the first of these that has something to say: the tools that exist, rules that deny, rules that ask, tools that
//! only a user can answer, the modes that allow or forbid everything, rules that allow, and what the tool is going to touch. Commands are
//! judged part by part ([`shell`]); paths where they lead ([`place`]).

mod command;
mod confirm;
pub mod place;
pub mod rule;
pub mod shell;
mod update;
mod words;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use self::confirm::confirmation;
use self::place::Place;
pub use self::rule::{Behavior, Grounds, Rule, Source};
pub use self::update::Updated;
pub use self::words::Unheard;
use super::about::given;
use super::tool::{Access, Spec};
use crate::adapters::codec::Dialect;
use crate::adapters::event::ToolKind;
use crate::adapters::launch::{Answerer, Launch, PermissionMode};

/// What is allowed in a session.
#[derive(Debug)]
pub struct Policy {
    dialect: Dialect,
    mode: PermissionMode,
    /// Launched with the flag that lets everything run.
    may_bypass: bool,
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
    /// Servers whose tools run without a question.
    trusted: Vec<String>,
    denials: RefCell<Vec<Denial>>,
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

/// What is to be done with a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It runs.
    Allow {
        /// Why.
        reason: Reason,
    },
    /// It does not run.
    Deny {
        /// Why.
        reason: Reason,
        /// What the model reads.
        message: String,
    },
    /// Somebody has to be asked; where nobody can be, it is denied with [`Policy::unheard`].
    Ask {
        /// Why.
        reason: Reason,
        /// What the host may accept together with the call, in its dialect's words.
        suggestions: Option<Value>,
        /// Claude's other members of the question, in order: `blocked_path`, `decision_reason` …
        fields: Vec<(String, Value)>,
    },
}

/// Why a call may run or may not.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A rule says so.
    Rule {
        /// Where it comes from.
        source: Source,
        /// What it does.
        behavior: Behavior,
        /// As settings write it.
        rule: String,
    },
    /// The mode says so.
    Mode(PermissionMode),
    /// Each part of a command may run.
    Parts,
    /// It leads out of the workspace.
    Outside(PathBuf),
    /// It would change what is read when programs start.
    Sensitive(PathBuf, &'static str),
    /// The tool is not among those that exist.
    NotOffered,
    /// The tool is for the user to answer.
    User,
    /// Nothing allows it.
    Nothing,
    /// A command that cannot be told for sure.
    Unclear(String),
}

impl Reason {
    /// Claude's `decision_reason_type`, where it has one.
    pub const fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Rule { .. } => Some("rule"),
            Self::Mode(_) => Some("mode"),
            Self::Parts => Some("subcommandResults"),
            Self::Outside(_) => Some("workingDir"),
            Self::Sensitive(..) => Some("safetyCheck"),
            Self::Unclear(_) | Self::NotOffered => Some("other"),
            Self::User | Self::Nothing => None,
        }
    }

    /// Who decided, in the words of Claude's `tool_result_meta`.
    pub const fn decider(&self) -> &'static str {
        match self {
            Self::Rule { source: Source::Session, .. } => "user_temporary",
            _ => "config",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rule { source, behavior, rule } => write!(f, "the rule `{rule}` ({}, {})", behavior.name(), source.name()),
            Self::Mode(mode) => write!(f, "the permission mode is {}", mode.name(Dialect::Claude).unwrap_or("default")),
            Self::Parts => write!(f, "every part of the command may run"),
            Self::Outside(path) => write!(f, "{} is outside the workspace", path.display()),
            Self::Sensitive(path, why) => write!(f, "{}: {why}", path.display()),
            Self::NotOffered => write!(f, "the tool is not among those that may be used"),
            Self::User => write!(f, "only the user can answer this"),
            Self::Nothing => write!(f, "nothing allows it"),
            Self::Unclear(why) => write!(f, "{why}"),
        }
    }
}

impl Policy {
    /// What a command line says for a workspace; settings are added with [`Self::add`]. The problems are rules that are none.
    ///
    /// `root` is the working folder; `home` and `config` are the user's folder and the agent's folder of settings.
    pub fn new(launch: &Launch, root: &Path, home: Option<PathBuf>, config: Option<PathBuf>) -> (Self, Vec<String>) {
        let dialect = launch.format.dialect;
        let root = root.canonicalize().unwrap_or_else(|_| place::flat(root));
        let mode = launch.permission_or_default();
        let flag = given(launch, "--allow-dangerously-skip-permissions").is_some();
        let mut policy = Self {
            dialect,
            mode,
            may_bypass: mode == PermissionMode::Bypass || flag,
            asks: launch.answerer != Answerer::Nobody,
            grounds: Grounds {
                root: root.clone(),
                home,
                config: config.map(|config| config.canonicalize().unwrap_or(config)),
            },
            folders: vec![(Source::Argument, root)],
            rules: Vec::new(),
            only: None,
            overrides: Overrides::default(),
            trusted: Vec::new(),
            denials: RefCell::default(),
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

    fn read_all(&self, texts: &[String], problems: &mut Vec<String>) -> Vec<Rule> {
        let mut rules = Vec::new();
        for text in texts.iter().filter(|text| !text.trim().is_empty()) {
            match Rule::parse(text, self.dialect, &self.grounds) {
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
        }
        Ok(())
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
        self.mode.name(self.dialect).or(self.mode.name(Dialect::Claude)).unwrap_or("default")
    }

    /// Another mode, as the host asks for it.
    ///
    /// # Errors
    /// A mode that the dialect does not have, and the one that lets everything run where the session was not launched with its flag: what
    /// Claude Code says then, and its `error_code`.
    pub fn set_mode(&mut self, name: &str) -> Result<PermissionMode, (String, &'static str)> {
        let qwen = matches!(self.dialect, Dialect::Qwen | Dialect::QwenCode);
        let words = if matches!(self.dialect, Dialect::Cursor | Dialect::Tricode) {
            Dialect::Claude
        } else {
            self.dialect
        };
        let Some(mode) = PermissionMode::from_name(words, name) else {
            if qwen {
                return Err((
                    format!("Invalid permission mode: {name}. Valid values are: plan, default, auto-edit, auto, yolo"),
                    "invalid_mode",
                ));
            }
            let mut names: Vec<&str> = PermissionMode::ALL.iter().filter_map(|mode| mode.name(words)).collect();
            names.sort_unstable();
            return Err((format!("Cannot set permission mode: must be one of {}", names.join(", ")), "invalid_mode"));
        };
        // Qwen's hosts may go over to yolo without a flag, as in the program itself.
        if mode == PermissionMode::Bypass && !self.may_bypass && !qwen {
            return Err((
                format!("Cannot set permission mode to {name} because the session was not launched with --dangerously-skip-permissions"),
                "bypass_not_launched",
            ));
        }
        tracing::info!(from = ?self.mode, to = ?mode, "permission mode");
        self.mode = mode;
        Ok(mode)
    }

    /// The tools of this server run without a question: SDK servers of Qwen's hosts.
    pub fn trust_server(&mut self, name: &str) {
        self.trusted.push(name.to_owned());
    }

    /// Which tools the prompt that begins now may use.
    pub fn set_overrides(&mut self, overrides: Overrides) {
        self.overrides = overrides;
    }

    /// The prompt that begins now may use these tools alone, as the host calls them: by their names, or by those of their families.
    pub fn restrict(&mut self, names: &[String], specs: &[&Spec]) {
        let rules: Vec<Rule> = names
            .iter()
            .filter_map(|name| Rule::parse(name, self.dialect, &self.grounds).ok())
            .collect();
        // Who names a tool means that one, though a family may be called the same.
        let exact = |rule: &Rule| specs.iter().any(|spec| spec.name == rule.tool());
        let fits = |rule: &Rule, spec: &Spec| rule.tool() == spec.name || !exact(rule) && rule.names(&spec.name, spec.kind);
        let only = specs.iter().filter(|spec| rules.iter().any(|rule| fits(rule, spec)));
        self.overrides.only = Some(only.map(|spec| spec.name.clone()).collect());
    }

    /// A tool's name is not enough where a kind decides, so this takes what the model would be told.
    pub fn offered(&self, spec: &Spec) -> bool {
        if !self.exists(spec) || self.whole_rule(Behavior::Deny, spec).is_some() {
            return false;
        }
        // Qwen Code, where nobody can be asked, does not offer what it would have to ask about.
        let qwen = matches!(self.dialect, Dialect::Qwen | Dialect::QwenCode);
        if !qwen || self.asks || self.mode == PermissionMode::Bypass {
            return true;
        }
        let rules = || {
            self.rules
                .iter()
                .any(|(_, behavior, rule)| *behavior == Behavior::Allow && rule.names(&spec.name, spec.kind))
        };
        match spec.kind {
            ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::Delete | ToolKind::Mkdir => {
                self.mode == PermissionMode::AcceptEdits || rules()
            }
            ToolKind::Shell => rules(),
            _ => true,
        }
    }

    /// Whether a tool is among those that the host has named.
    fn exists(&self, spec: &Spec) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == &spec.name);
        if self.overrides.only.as_deref().is_some_and(|only| !named(only)) || named(&self.overrides.without) {
            return false;
        }
        // Lists of tools are about the program's own; servers are configured apart.
        spec.kind == ToolKind::Mcp
            || self
                .only
                .as_ref()
                .is_none_or(|only| only.iter().any(|rule| rule.names(&spec.name, spec.kind)))
    }

    /// The first rule about a whole tool.
    fn whole_rule(&self, behavior: Behavior, spec: &Spec) -> Option<Reason> {
        self.rules_for(behavior, spec)
            .find(|(_, rule)| rule.content().is_none())
            .map(|(source, rule)| reason(source, behavior, rule))
    }

    fn rules_for(&self, behavior: Behavior, spec: &Spec) -> impl Iterator<Item = (Source, &Rule)> {
        self.rules
            .iter()
            .filter(move |(_, does, rule)| *does == behavior && rule.names(&spec.name, spec.kind))
            .map(|(source, _, rule)| (*source, rule))
    }

    /// What is to be done with a call. The decision is logged, without the arguments.
    pub fn judge(&self, spec: &Spec, input: &Value, access: &Access) -> Verdict {
        let verdict = self.judged(spec, input, access);
        match &verdict {
            Verdict::Allow { reason } => tracing::debug!(tool = spec.name, %reason, "allowed"),
            Verdict::Deny { reason, .. } => tracing::info!(tool = spec.name, %reason, "denied"),
            Verdict::Ask { reason, .. } => tracing::debug!(tool = spec.name, %reason, "to be asked"),
        }
        verdict
    }

    fn judged(&self, spec: &Spec, input: &Value, access: &Access) -> Verdict {
        if !self.exists(spec) {
            return self.deny(spec, access, Reason::NotOffered);
        }
        for behavior in [Behavior::Deny, Behavior::Ask] {
            let found = self.whole_rule(behavior, spec).or_else(|| self.part_rule(behavior, spec, input, access));
            match found {
                Some(reason) if behavior == Behavior::Deny => return self.deny(spec, access, reason),
                Some(reason) => return self.ask(spec, input, access, reason),
                None => {}
            }
        }
        if !self.fits_the_list(spec, input, access) {
            return self.deny(spec, access, Reason::NotOffered);
        }
        if matches!(spec.kind, ToolKind::Ask | ToolKind::ExitPlan) {
            return self.ask(spec, input, access, Reason::User);
        }
        let reads = self.only_reads(spec, access);
        if let Access::Run(line) = access
            && let Some(unclear) = self.hides_from_rules(spec, line)
        {
            return self.ask(spec, input, access, unclear);
        }
        match self.mode {
            PermissionMode::Bypass => {
                return Verdict::Allow {
                    reason: Reason::Mode(self.mode),
                };
            }
            PermissionMode::Plan if !reads => return self.deny(spec, access, Reason::Mode(self.mode)),
            _ => {}
        }
        match self.touched(spec, input, access) {
            Ok(reason) => Verdict::Allow { reason },
            Err(reason) => self.ask(spec, input, access, reason),
        }
    }

    /// A rule about a part of what a tool does.
    fn part_rule(&self, behavior: Behavior, spec: &Spec, input: &Value, access: &Access) -> Option<Reason> {
        match access {
            Access::Read(paths) | Access::Write(paths) => {
                let places: Vec<Place> = paths.iter().map(|path| self.place(path)).collect();
                self.rules_for(behavior, spec)
                    .find(|(_, rule)| places.iter().any(|place| rule.matches_path(place, false)))
                    .map(|(source, rule)| reason(source, behavior, rule))
            }
            Access::Run(line) => self.command_rule(behavior, spec, line),
            Access::Fetch(url) => {
                let host = host(url)?;
                self.rules_for(behavior, spec)
                    .find(|(_, rule)| rule.matches_host(&host))
                    .map(|(source, rule)| reason(source, behavior, rule))
            }
            Access::Nothing | Access::Mcp => {
                let kind = subagent(spec, input)?;
                self.rules_for(behavior, spec)
                    .find(|(_, rule)| rule.content() == Some(kind))
                    .map(|(source, rule)| reason(source, behavior, rule))
            }
        }
    }

    /// Qwen's lists of tools may have parentheses: then only such commands exist.
    fn fits_the_list(&self, spec: &Spec, input: &Value, access: &Access) -> bool {
        let Some(only) = &self.only else { return true };
        let rules: Vec<&Rule> = only.iter().filter(|rule| rule.names(&spec.name, spec.kind)).collect();
        if rules.is_empty() || rules.iter().any(|rule| rule.content().is_none()) {
            return true;
        }
        let _ = input;
        match access {
            Access::Run(line) => self.command_is_covered(&rules, line),
            Access::Read(paths) | Access::Write(paths) => paths
                .iter()
                .all(|path| rules.iter().any(|rule| rule.matches_path(&self.place(path), true))),
            Access::Fetch(url) => host(url).is_some_and(|host| rules.iter().any(|rule| rule.matches_host(&host))),
            Access::Nothing | Access::Mcp => true,
        }
    }

    /// Whether a call changes nothing, so that it may run while a plan is made.
    fn only_reads(&self, spec: &Spec, access: &Access) -> bool {
        match access {
            Access::Read(_) => true,
            Access::Write(_) => false,
            Access::Run(line) => self.command_only_reads(line),
            Access::Fetch(_) => true,
            Access::Mcp => spec.reads_only,
            Access::Nothing => true,
        }
    }

    /// What allows a call that nothing forbids, or why it has to be asked about.
    fn touched(&self, spec: &Spec, input: &Value, access: &Access) -> Result<Reason, Reason> {
        let whole = || self.whole_rule(Behavior::Allow, spec);
        match access {
            Access::Read(paths) => match whole() {
                Some(rule) => Ok(rule),
                None => self.all(paths, |place| self.may_read(Some(spec), place)),
            },
            Access::Write(paths) => self.all(paths, |place| self.may_write(Some(spec), place)),
            Access::Run(line) => match whole() {
                Some(rule) => Ok(rule),
                None => self.may_run(spec, line),
            },
            Access::Fetch(url) => {
                let by_host = || {
                    let host = host(url)?;
                    self.rules_for(Behavior::Allow, spec)
                        .find(|(_, rule)| rule.matches_host(&host))
                        .map(|(source, rule)| reason(source, Behavior::Allow, rule))
                };
                whole().or_else(by_host).ok_or(Reason::Nothing)
            }
            Access::Mcp => {
                let server = spec
                    .name
                    .strip_prefix("mcp__")
                    .and_then(|rest| rest.split_once("__"))
                    .map(|(server, _)| server);
                let trusted = server.is_some_and(|server| self.trusted.iter().any(|known| known == server));
                if trusted {
                    Ok(Reason::Mode(self.mode))
                } else {
                    whole().ok_or(Reason::Nothing)
                }
            }
            Access::Nothing => {
                if let Some(rule) = whole().or_else(|| self.part_rule(Behavior::Allow, spec, input, access)) {
                    return Ok(rule);
                }
                let asked = match spec.kind {
                    ToolKind::Fetch | ToolKind::WebSearch | ToolKind::Mcp => true,
                    ToolKind::Subagent => self.dialect == Dialect::QwenCode,
                    _ => false,
                };
                if asked { Err(Reason::Nothing) } else { Ok(Reason::Mode(self.mode)) }
            }
        }
    }

    /// The reason of the last path, if all of them may.
    fn all(&self, paths: &[String], may: impl Fn(&Place) -> Result<Reason, Reason>) -> Result<Reason, Reason> {
        let mut last = Err(Reason::Nothing);
        for path in paths {
            last = Ok(may(&self.place(path))?);
        }
        last
    }

    fn place(&self, path: &str) -> Place {
        Place::of(path, &self.grounds.root, self.grounds.home.as_deref())
    }

    fn is_inside(&self, place: &Place) -> bool {
        let folders: Vec<&Path> = self.folders().collect();
        place.is_in(&folders)
    }

    /// Reading is free in the workspace. Without a tool, only its own rules count.
    fn may_read(&self, spec: Option<&Spec>, place: &Place) -> Result<Reason, Reason> {
        if let Some(rule) = self.path_rule(Behavior::Allow, spec, place, ToolKind::Read) {
            return Ok(rule);
        }
        // Tricode's tools say themselves that they do not leave the workspace.
        if self.is_inside(place) || self.dialect == Dialect::Tricode {
            return Ok(Reason::Mode(self.mode));
        }
        Err(Reason::Outside(place.written.clone()))
    }

    /// Writing is asked about, unless edits are accepted and it is in the workspace.
    fn may_write(&self, spec: Option<&Spec>, place: &Place) -> Result<Reason, Reason> {
        let rule = self.path_rule(Behavior::Allow, spec, place, ToolKind::Edit);
        if let Some(why) = place.sensitive(self.grounds.config.as_deref()) {
            // Only a rule that says so by name.
            let named = self
                .path_rules(Behavior::Allow, spec, place, ToolKind::Edit)
                .find(|(_, rule)| names_sensitive(rule));
            return match named {
                Some((source, rule)) => Ok(reason(source, Behavior::Allow, rule)),
                None => Err(Reason::Sensitive(place.written.clone(), why)),
            };
        }
        if let Some(rule) = rule {
            return Ok(rule);
        }
        if let Some(rule) = spec.and_then(|spec| self.whole_rule(Behavior::Allow, spec)) {
            return Ok(rule);
        }
        let inside = self.is_inside(place);
        if inside && self.mode == PermissionMode::AcceptEdits {
            return Ok(Reason::Mode(self.mode));
        }
        Err(if inside {
            Reason::Nothing
        } else {
            Reason::Outside(place.written.clone())
        })
    }

    /// The first rule with a pattern of paths.
    fn path_rule(&self, behavior: Behavior, spec: Option<&Spec>, place: &Place, kind: ToolKind) -> Option<Reason> {
        let found = self.path_rules(behavior, spec, place, kind).next();
        found.map(|(source, rule)| reason(source, behavior, rule))
    }

    /// Rules with patterns of paths; those of a tool, or of any that does this to a file.
    fn path_rules<'a>(&'a self, behavior: Behavior, spec: Option<&Spec>, place: &Place, kind: ToolKind) -> impl Iterator<Item = (Source, &'a Rule)> {
        self.rules
            .iter()
            .filter(move |(_, does, rule)| *does == behavior && rule.is_about_paths())
            .filter(move |(_, _, rule)| match spec {
                Some(spec) => rule.names(&spec.name, spec.kind),
                None => rule.names("", kind),
            })
            .filter(move |(_, _, rule)| rule.matches_path(place, behavior == Behavior::Allow))
            .map(|(source, _, rule)| (*source, rule))
    }

    fn deny(&self, spec: &Spec, access: &Access, reason: Reason) -> Verdict {
        let message = self.denied(spec, access, &reason);
        Verdict::Deny { reason, message }
    }

    fn ask(&self, spec: &Spec, input: &Value, access: &Access, reason: Reason) -> Verdict {
        if self.mode == PermissionMode::DontAsk {
            return self.deny(spec, access, Reason::Mode(self.mode));
        }
        let (suggestions, fields) = self.question(spec, input, access, &reason);
        Verdict::Ask { reason, suggestions, fields }
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

impl Denial {
    /// An entry of `permission_denials`.
    pub fn value(&self) -> Value {
        json!({"tool_name": self.tool, "tool_use_id": self.call, "tool_input": self.input})
    }
}

fn reason(source: Source, behavior: Behavior, rule: &Rule) -> Reason {
    Reason::Rule {
        source,
        behavior,
        rule: rule.text().to_owned(),
    }
}

/// Whether a rule says the name of a sensitive folder or file, and not just everything.
fn names_sensitive(rule: &Rule) -> bool {
    rule.content().is_some_and(|content| {
        content
            .split('/')
            .any(|part| part.len() > 1 && part.starts_with('.') && !part.contains('*') && part != "..")
    })
}

/// Which kind of subagent a call is for.
fn subagent<'a>(spec: &Spec, input: &'a Value) -> Option<&'a str> {
    (spec.kind == ToolKind::Subagent).then(|| input.get("subagent_type").and_then(Value::as_str))?
}

/// The host of a URL, in lower case.
fn host(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url.trim()).ok()?;
    url.host_str().map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_shell;
