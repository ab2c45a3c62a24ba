//! Judging commands for a shell, part by part.

use std::path::PathBuf;

use super::place::Place;
use super::rule::{Behavior, Rule, Source};
use super::shell::reads::reads;
use super::shell::wrap::{base, harmless, inside};
use super::shell::{Command, Script};
use super::{Policy, Reason, reason};
use crate::tools::Spec;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;

/// So deep may wrappers be nested.
const WRAPPED: usize = 8;
/// So many rules are suggested for one command line.
const SUGGESTED: usize = 5;

/// Commands of file systems that count as edits.
const EDITS: &[&str] = &["mkdir", "touch", "rmdir", "rm", "mv", "cp"];

/// Where a command's paths begin: more than one folder where a `cd` stands before it.
type Folders = Vec<PathBuf>;

impl Policy {
    /// A rule that is about a part of a command line.
    pub(super) fn command_rule(&self, behavior: Behavior, spec: &Spec, line: &str) -> Option<Reason> {
        if !self.rules.iter().any(|(_, does, _)| *does == behavior) {
            return None;
        }
        let script = Script::parse(line);
        let mut texts = vec![line.trim().to_owned()];
        let mut words = Vec::new();
        for command in &script.commands {
            spellings(command, 0, &mut texts);
            every_word(command, 0, &mut words);
        }
        if script.problem.is_some() {
            let bare: String = line.chars().filter(|c| !"'\"\\".contains(*c)).collect();
            let pieces = bare.split([';', '&', '|', '\n', '(', ')', '`', '{', '}', '$', '<', '>']);
            texts.extend(pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        let by_text = self
            .rules_for(behavior, spec)
            .find(|(_, rule)| texts.iter().any(|text| rule.matches_command(text)));
        let found = by_text.or_else(|| {
            let folders = self.folders_after(&script.commands, script.commands.len());
            let places: Vec<Place> = words.iter().flat_map(|word| self.places(word, &folders)).collect();
            self.rules
                .iter()
                .filter(|(_, does, rule)| *does == behavior && rule.is_about_paths())
                .filter(|(_, _, rule)| rule.names("", ToolKind::Read) || rule.names("", ToolKind::Edit))
                .find(|(_, _, rule)| places.iter().any(|place| rule.matches_path(place, false)))
                .map(|(source, _, rule)| (*source, rule))
        });
        found.map(|(source, rule)| reason(source, behavior, rule))
    }

    /// A command that could hide from rules about parts of commands.
    pub(super) fn hides_from_rules(&self, spec: &Spec, line: &str) -> Option<Reason> {
        let ruled = self.rules.iter().any(|(_, does, rule)| {
            *does != Behavior::Allow
                && rule.content().is_some()
                && (rule.names(&spec.name, spec.kind) || rule.names("", ToolKind::Read) || rule.names("", ToolKind::Edit))
        });
        if !ruled {
            return None;
        }
        let script = Script::parse(line);
        if let Some(problem) = script.problem {
            return Some(Reason::Unclear(problem));
        }
        let hidden = script.commands.iter().any(|command| is_hidden(command, 0));
        hidden.then(|| Reason::Unclear("it cannot be told which command this runs".to_owned()))
    }

    /// Whether each part of a command is covered by a list of rules.
    pub(super) fn command_is_covered(&self, rules: &[&Rule], line: &str) -> bool {
        let script = Script::parse(line);
        script.problem.is_none()
            && !script.commands.is_empty()
            && script.commands.iter().all(|command| {
                command
                    .redirects
                    .iter()
                    .all(|redirect| !redirect.writes || is_nowhere(redirect.target.value.as_deref()))
                    && covering(rules.iter().copied(), command).is_some()
            })
    }

    /// Whether a command changes nothing.
    pub(super) fn command_only_reads(&self, line: &str) -> bool {
        let script = Script::parse(line);
        script.problem.is_none() && script.commands.iter().all(|command| only_reads(command, 0))
    }

    /// What allows a command, or why it has to be asked about.
    pub(super) fn may_run(&self, spec: &Spec, line: &str) -> Result<Reason, Reason> {
        let script = Script::parse(line);
        if let Some(problem) = script.problem {
            return Err(Reason::Unclear(problem));
        }
        let mut reasons = Vec::new();
        for (at, command) in script.commands.iter().enumerate() {
            reasons.push(self.may_run_part(spec, command, &self.folders_after(&script.commands, at), 0)?);
        }
        Ok(match reasons.as_slice() {
            [one] => one.clone(),
            _ => Reason::Parts,
        })
    }

    /// One command.
    fn may_run_part(&self, spec: &Spec, command: &Command, folders: &Folders, depth: usize) -> Result<Reason, Reason> {
        if depth > WRAPPED {
            return Err(Reason::Unclear("commands inside commands, too deeply".to_owned()));
        }
        for redirect in &command.redirects {
            let target = &redirect.target;
            let Some(path) = target.value.as_deref().filter(|_| !target.glob) else {
                return Err(Reason::Unclear(format!("it cannot be told which file `{}` is", target.raw)));
            };
            if is_nowhere(Some(path)) {
                continue;
            }
            for place in self.places(path, folders) {
                if redirect.writes {
                    self.may_write(None, &place)
                } else {
                    self.may_read(None, &place)
                }?;
            }
        }
        let harmless = command.assigns.iter().all(|assign| harmless(&assign.raw));
        if command.words.is_empty() {
            let nothing = harmless || command.assigns.is_empty();
            return if nothing {
                Ok(Reason::Parts)
            } else {
                self.by_rule(spec, command).ok_or(Reason::Nothing)
            };
        }
        let wrapped = inside(command);
        let rule = self.by_rule(spec, command).or_else(|| {
            let bare = Command {
                assigns: Vec::new(),
                ..command.clone()
            };
            if harmless { self.by_rule(spec, &bare) } else { None }
        });
        match (rule, &wrapped) {
            (Some(rule), None) => return Ok(rule),
            (Some(rule), Some(wrapped)) if !wrapped.guarded => return Ok(rule),
            // What `find` runs is judged as well; what it does by itself is allowed by its own words alone.
            (Some(rule), Some(wrapped)) => {
                let exact = matches!(&rule, Reason::Rule { rule, .. } if !rule.contains('*') && self.form().rules_allow_what_is_run);
                if !exact {
                    if wrapped.unclear || wrapped.commands.is_empty() {
                        return Err(Reason::Nothing);
                    }
                    for inner in &wrapped.commands {
                        self.may_run_part(spec, inner, folders, depth + 1)?;
                    }
                }
                return Ok(rule);
            }
            (None, Some(wrapped)) if wrapped.transparent && !wrapped.unclear && harmless => {
                for inner in &wrapped.commands {
                    self.may_run_part(spec, inner, folders, depth + 1)?;
                }
                return Ok(Reason::Parts);
            }
            _ => {}
        }
        if !harmless {
            return Err(Reason::Nothing);
        }
        self.may_run_freely(command, wrapped.is_some(), folders)
    }

    /// What needs no rule: reading in the workspace, and edits of it where edits are accepted.
    fn may_run_freely(&self, command: &Command, wraps: bool, folders: &Folders) -> Result<Reason, Reason> {
        let moved = folders.len() > 1;
        if let Some(read) = reads(command).filter(|_| !wraps) {
            if read.git && moved {
                return Err(Reason::Unclear("git in another folder runs what that folder says".to_owned()));
            }
            let globs = command.words.iter().any(|word| word.glob);
            let ruled = self.rules.iter().any(|(_, does, rule)| *does != Behavior::Allow && rule.is_about_paths());
            if globs && ruled {
                return Err(Reason::Unclear("it cannot be told which files this reads".to_owned()));
            }
            for path in &read.paths {
                for place in self.places(path, folders) {
                    self.may_read(None, &place)?;
                }
            }
            return Ok(Reason::Parts);
        }
        let name = command.name().unwrap_or_default();
        if name == "cd" {
            return match command.arguments().as_deref() {
                Some([path]) if !command.words[1].glob => {
                    for place in self.places(path, folders) {
                        if !self.is_inside(&place) {
                            return Err(Reason::Outside(place.written));
                        }
                    }
                    Ok(Reason::Parts)
                }
                _ => Err(Reason::Nothing),
            };
        }
        if self.mode == PermissionMode::AcceptEdits && EDITS.contains(&name) && !command.open {
            let words = command
                .arguments()
                .filter(|_| !command.words.iter().any(|word| word.glob))
                .ok_or(Reason::Nothing)?;
            let (options, paths): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|word| word.starts_with('-'));
            let plain = options.iter().all(|option| option[1..].chars().all(|c| "rfpvnRaiu".contains(c)));
            if plain && !paths.is_empty() {
                for path in paths {
                    for place in self.places(path, folders) {
                        let is_root = self.folders().any(|folder| folder.starts_with(&place.real));
                        if is_root {
                            return Err(Reason::Nothing);
                        }
                        self.may_write(None, &place)?;
                    }
                }
                return Ok(Reason::Mode(self.mode));
            }
        }
        Err(Reason::Nothing)
    }

    fn by_rule(&self, spec: &Spec, command: &Command) -> Option<Reason> {
        let rules: Vec<(Source, &Rule)> = self.rules_for(Behavior::Allow, spec).collect();
        let rule = covering(rules.iter().map(|(_, rule)| *rule), command)?;
        let source = rules
            .iter()
            .find(|(_, known)| std::ptr::eq(*known, rule))
            .map_or(Source::Session, |(source, _)| *source);
        Some(reason(source, Behavior::Allow, rule))
    }

    /// Where paths may begin for the command of this number.
    fn folders_after(&self, commands: &[Command], at: usize) -> Folders {
        let mut folders = vec![self.grounds.root.clone()];
        for command in commands.iter().take(at).filter(|command| matches!(command.name(), Some("cd" | "pushd"))) {
            if let Some([path]) = command.arguments().as_deref() {
                let more: Vec<PathBuf> = self.places(path, &folders).into_iter().map(|place| place.real).collect();
                folders.extend(more);
                folders.truncate(16);
            }
        }
        folders
    }

    fn places(&self, path: &str, folders: &Folders) -> Vec<Place> {
        folders
            .iter()
            .map(|folder| Place::of(path, folder, self.grounds.home.as_deref()))
            .collect()
    }

    /// What rules would have to say so that a command may run.
    pub(crate) fn unallowed(&self, spec: &Spec, line: &str) -> Vec<String> {
        let script = Script::parse(line);
        if script.problem.is_some() {
            return Vec::new();
        }
        let mut wanted = Vec::new();
        for (at, command) in script.commands.iter().enumerate() {
            let folders = self.folders_after(&script.commands, at);
            if command.words.is_empty() || self.may_run_part(spec, command, &folders, 0).is_ok() {
                continue;
            }
            let text = suggestion(command);
            if !wanted.contains(&text) {
                wanted.push(text);
            }
        }
        wanted.truncate(SUGGESTED);
        wanted
    }
}

/// The rule that covers a command. One whose arguments are open is covered by an open rule alone.
fn covering<'r>(mut rules: impl Iterator<Item = &'r Rule>, command: &Command) -> Option<&'r Rule> {
    let text = command.text();
    rules.find(|rule| rule.matches_command(&text) && (!command.open || rule.is_open()))
}

/// Every way in which a rule that forbids may know a command.
fn spellings(command: &Command, depth: usize, into: &mut Vec<String>) {
    into.extend([command.text(), command.bare()]);
    let plain: Vec<&str> = command.words.iter().map(|word| word.value.as_deref().unwrap_or(&word.raw)).collect();
    if let Some((name, rest)) = plain.split_first() {
        into.push(plain.join(" "));
        let mut by_base = vec![base(name)];
        by_base.extend(rest);
        into.push(by_base.join(" "));
        // `git -C x push` is a push.
        if base(name) == "git" {
            let mut rest = rest;
            while let [first, behind @ ..] = rest
                && first.starts_with('-')
            {
                rest = if matches!(*first, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path") {
                    behind.get(1..).unwrap_or_default()
                } else {
                    behind
                };
            }
            into.push(format!("git {}", rest.join(" ")));
        }
    }
    if depth < WRAPPED
        && let Some(inside) = inside(command)
    {
        inside.commands.iter().for_each(|inner| spellings(inner, depth + 1, into));
    }
}

/// Every word that may be a path.
fn every_word(command: &Command, depth: usize, into: &mut Vec<String>) {
    let talks = matches!(command.name(), Some("echo" | "printf"));
    if !talks {
        for word in command.words.iter().skip(1) {
            let value = word.value.as_deref().unwrap_or(&word.raw);
            into.push(value.trim_start_matches('@').to_owned());
            into.extend(value.split_once('=').map(|(_, value)| value.to_owned()));
        }
    }
    into.extend(command.redirects.iter().filter_map(|redirect| redirect.target.value.clone()));
    if depth < WRAPPED
        && let Some(inside) = inside(command)
    {
        inside.commands.iter().for_each(|inner| every_word(inner, depth + 1, into));
    }
}

/// Whether a command may run one that is not seen.
fn is_hidden(command: &Command, depth: usize) -> bool {
    let Some(first) = command.words.first() else { return false };
    if first.value.is_none() || (first.glob && first.raw != "[") || depth > WRAPPED {
        return true;
    }
    inside(command).is_some_and(|inside| inside.unclear || inside.commands.iter().any(|inner| is_hidden(inner, depth + 1)))
}

fn only_reads(command: &Command, depth: usize) -> bool {
    let quiet = command
        .redirects
        .iter()
        .all(|redirect| !redirect.writes || is_nowhere(redirect.target.value.as_deref()));
    let harmless = command.assigns.iter().all(|assign| harmless(&assign.raw));
    if !quiet || !harmless || depth > WRAPPED {
        return false;
    }
    if command.words.is_empty() || command.name() == Some("cd") {
        return true;
    }
    match inside(command) {
        Some(inside) => inside.transparent && !inside.unclear && inside.commands.iter().all(|inner| only_reads(inner, depth + 1)),
        None => reads(command).is_some(),
    }
}

/// Whether what is written there is gone, or goes where output goes anyway.
fn is_nowhere(path: Option<&str>) -> bool {
    matches!(path, Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"))
}

/// Programs whose first argument is what they do.
const TWO_WORDS: &[&str] = &[
    "git",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "go",
    "pip",
    "pip3",
    "uv",
    "docker",
    "kubectl",
    "gh",
    "make",
    "just",
    "dotnet",
    "mvn",
    "gradle",
    "terraform",
    "brew",
    "apt",
    "systemctl",
    "rustup",
    "deno",
    "helm",
];

/// The rule for a command: what it does with any arguments where that has a name of its own, else the command itself.
fn suggestion(command: &Command) -> String {
    let plain = |index: usize| {
        let word = command.words.get(index)?;
        let value = word.value.as_deref()?;
        let simple = value == word.raw
            && value.starts_with(|c: char| c.is_ascii_alphabetic())
            && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c));
        simple.then_some(value)
    };
    match (plain(0), plain(1)) {
        (Some(name), Some(sub)) if TWO_WORDS.contains(&name) && command.assigns.is_empty() && !sub.contains('*') => match plain(2) {
            Some(script) if matches!((name, sub), ("npm" | "pnpm" | "yarn" | "bun", "run")) => format!("{name} {sub} {script}:*"),
            _ => format!("{name} {sub}:*"),
        },
        _ => command.text(),
    }
}
