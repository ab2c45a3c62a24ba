//! Judging calls: see [the order](super) in which something is looked for that has a say.

use std::path::Path;

use serde_json::Value;

use super::place::Place;
use super::rule::{Behavior, Rule, Source};
use super::{Policy, Question, Reason, Verdict, reason};
use crate::tools::{Access, Spec};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;

impl Policy {
    /// A tool's name is not enough where a kind decides, so this takes what the model would be told.
    pub fn offered(&self, spec: &Spec) -> bool {
        if !self.exists(spec) || self.whole_rule(Behavior::Deny, spec).is_some() {
            return false;
        }
        if !self.form().hides_what_nobody_allows || self.asks || self.mode == PermissionMode::Bypass {
            return true;
        }
        let rules = || {
            self.rules
                .iter()
                .any(|(_, behavior, rule)| *behavior == Behavior::Allow && rule.is_about(spec, true))
        };
        match spec.kind {
            ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit | ToolKind::Delete | ToolKind::Mkdir => {
                self.mode == PermissionMode::AcceptEdits || rules()
            }
            ToolKind::Shell => rules(),
            _ => true,
        }
    }

    /// What is said of a call of a tool that a list or a rule keeps from the model, where the vendor has words for that.
    pub(crate) fn withheld(&self, spec: &Spec) -> Option<(String, Reason)> {
        let say = self.form().withheld?;
        // A list is looked at after the rules: these say more.
        let reason = match self.whole_rule(Behavior::Deny, spec) {
            Some(reason) => reason,
            None => (!self.exists(spec)).then_some(Reason::NotOffered)?,
        };
        Some((say(spec, &reason), reason))
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
                .is_none_or(|only| only.iter().any(|rule| rule.is_tool(&spec.name, spec.kind)))
    }

    /// The first rule about a whole tool.
    fn whole_rule(&self, behavior: Behavior, spec: &Spec) -> Option<Reason> {
        self.rules_for(behavior, spec)
            .find(|(_, rule)| rule.content().is_none())
            .map(|(source, rule)| reason(source, behavior, rule))
    }

    pub(super) fn rules_for(&self, behavior: Behavior, spec: &Spec) -> impl Iterator<Item = (Source, &Rule)> {
        self.rules
            .iter()
            .filter(move |(_, does, rule)| *does == behavior && rule.is_about(spec, behavior == Behavior::Allow))
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
        if let Access::Run(shell) = access
            && let Some(unclear) = self.hides_from_rules(spec, shell)
        {
            return self.ask(spec, input, access, unclear);
        }
        match self.mode {
            PermissionMode::Bypass => {
                return Verdict::Allow {
                    reason: Reason::Mode(self.mode),
                };
            }
            PermissionMode::Plan if !reads && self.form().asks_in_plan => return self.ask(spec, input, access, Reason::Mode(self.mode)),
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
            Access::Run(shell) => self.command_rule(behavior, spec, shell),
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

    /// A list of tools may have parentheses: then only such commands exist.
    fn fits_the_list(&self, spec: &Spec, input: &Value, access: &Access) -> bool {
        let Some(only) = &self.only else { return true };
        let rules: Vec<&Rule> = only.iter().filter(|rule| rule.is_about(spec, true)).collect();
        if rules.is_empty() || rules.iter().any(|rule| rule.content().is_none()) {
            return true;
        }
        let _ = input;
        match access {
            Access::Run(shell) => self.command_is_covered(&rules, &shell.line),
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
            Access::Run(shell) => self.command_only_reads(&shell.line),
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
            Access::Run(shell) => match whole() {
                Some(rule) => Ok(rule),
                None => self.may_run(spec, shell),
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
                if self.trusts_servers && spec.owner.as_ref().is_some_and(|owner| owner.trusted) {
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
                    ToolKind::Subagent => self.form().asks_about_subagents,
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

    pub(super) fn place(&self, path: &str) -> Place {
        Place::of(path, &self.grounds.root, self.grounds.home.as_deref())
    }

    pub(super) fn is_inside(&self, place: &Place) -> bool {
        let folders: Vec<&Path> = self.folders().collect();
        place.is_in(&folders)
    }

    /// Reading is free in the workspace. Without a tool, only its own rules count.
    pub(super) fn may_read(&self, spec: Option<&Spec>, place: &Place) -> Result<Reason, Reason> {
        if let Some(rule) = self.path_rule(Behavior::Allow, spec, place, ToolKind::Read) {
            return Ok(rule);
        }
        if self.is_inside(place) || self.form().reads_anywhere {
            return Ok(Reason::Mode(self.mode));
        }
        Err(Reason::Outside(place.written.clone()))
    }

    /// Writing is asked about, unless edits are accepted and it is in the workspace.
    pub(super) fn may_write(&self, spec: Option<&Spec>, place: &Place) -> Result<Reason, Reason> {
        let rule = self.path_rule(Behavior::Allow, spec, place, ToolKind::Edit);
        if let Some(why) = place.sensitive(self.grounds.config.as_deref(), &self.guarded) {
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
        let message = (self.form().denied)(spec, access, &reason);
        Verdict::Deny { reason, message }
    }

    /// Somebody is to be asked, for this reason.
    pub(crate) fn ask(&self, spec: &Spec, input: &Value, access: &Access, reason: Reason) -> Verdict {
        if self.mode == PermissionMode::DontAsk {
            return self.deny(spec, access, Reason::Mode(self.mode));
        }
        let (suggestions, fields) = self
            .form()
            .question
            .map_or_else(Question::default, |question| question(self, spec, input, access, &reason));
        Verdict::Ask { reason, suggestions, fields }
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
pub fn host(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url.trim()).ok()?;
    url.host_str().map(str::to_ascii_lowercase)
}
