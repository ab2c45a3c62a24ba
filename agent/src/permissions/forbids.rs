//! What speaks against a command: rules that deny or ask, by any reading of it.
//!
//! A rule that is sure to be about the command counts as it stands. One that may be about it (a name that comes of a variable, a program
//! that might run its arguments, a line that cannot be read) is asked about.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::rule::{Behavior, Rule, Source};
use super::shell::reads::{bare, edits, looks};
use super::shell::{Command, Word};
use super::sight::{Sight, base, pieces};
use super::{Policy, Reason, reason};
use crate::tools::{ShellCommand, Spec};
use agentglot_adapters::raw::event::ToolKind;

/// So many entries of folders are looked at.
const ENTRIES: usize = 100_000;
/// Programs that go through the working folder where no other is named.
const HERE: &[&str] = &["find", "fd", "fdfind", "rgrep", "ag", "ack", "ack-grep", "ctags"];

impl Policy {
    /// A rule that is about a part of a command line.
    pub(super) fn command_rule(&self, behavior: Behavior, spec: &Spec, shell: &ShellCommand) -> Option<Reason> {
        if !self.rules.iter().any(|(_, does, _)| *does == behavior) {
            return None;
        }
        let sight = Sight::of(&shell.line);
        let by_text = self
            .rules_for(behavior, spec)
            .find(|(_, rule)| sight.texts.iter().any(|(text, _)| rule.matches_command(text)));
        let found = by_text.or_else(|| {
            self.about_paths(behavior).next()?;
            let folders = self.begins(shell, &sight);
            let places: Vec<Place> = sight.words.iter().flat_map(|word| self.leads(word, &folders)).collect();
            self.about_paths(behavior)
                .find(|(_, rule)| places.iter().any(|place| rule.matches_path(place, false)))
        });
        found.map(|(source, rule)| reason(source, behavior, rule))
    }

    /// A command that a rule may be about.
    pub(super) fn hides_from_rules(&self, spec: &Spec, shell: &ShellCommand) -> Option<Reason> {
        let both = [Behavior::Deny, Behavior::Ask];
        let commands: Vec<&Rule> = both
            .iter()
            .flat_map(|behavior| self.rules_for(*behavior, spec))
            .filter(|(_, rule)| rule.content().is_some())
            .map(|(_, rule)| rule)
            .collect();
        let paths: Vec<&Rule> = both
            .iter()
            .flat_map(|behavior| self.about_paths(*behavior))
            .map(|(_, rule)| rule)
            .collect();
        if commands.is_empty() && paths.is_empty() {
            return None;
        }
        let sight = Sight::of(&shell.line);
        if let Some(hidden) = sight.hidden {
            return Some(Reason::Hidden(hidden));
        }
        let may_be = |rule: &&Rule| {
            sight.texts.iter().any(|(text, open)| *open && rule.could_match(text))
                || sight.suspects.iter().any(|text| rule.is_mentioned(text))
                || sight.copied.iter().any(|name| rule.program() == Some(name))
        };
        if let Some(rule) = commands.into_iter().find(may_be) {
            return Some(Reason::Hidden(format!("it may run what the rule `{}` is about", rule.text())));
        }
        if paths.is_empty() {
            return None;
        }
        if let Some(word) = sight.words.iter().find(|word| word.value.is_none()) {
            return Some(Reason::Hidden(format!("it cannot be told which files `{}` is", word.raw)));
        }
        let about = |kind: ToolKind| paths.iter().any(|rule| rule.names("", kind));
        if let Some(name) = sight
            .fed
            .iter()
            .find(|name| about(ToolKind::Read) && shows(name) || about(ToolKind::Edit) && looks(&[name, "x"]).is_none())
        {
            return Some(Reason::Hidden(format!("it cannot be told which files `{name}` gets")));
        }
        let folders = self.begins(shell, &sight);
        let other_name = |path: &Path| path.metadata().is_ok_and(|about| self.read_rules.denies_other_names(&about));
        let named = sight
            .words
            .iter()
            .flat_map(|word| self.leads(word, &folders))
            .find(|place| other_name(&place.real));
        if let Some(place) = named {
            return Some(Reason::Hidden(format!(
                "{} is another name of a file that a rule keeps from being read",
                place.written.display()
            )));
        }
        let below = |folder: &PathBuf| paths.iter().any(|rule| rule.names("", ToolKind::Read)) && meets(folder, &paths, &other_name);
        let met = sight
            .commands
            .iter()
            .flat_map(|command| self.goes_through(command, &folders))
            .find(below)?;
        Some(Reason::Hidden(format!("it may read what a rule forbids below {}", met.display())))
    }

    /// Rules with patterns of paths.
    fn about_paths(&self, behavior: Behavior) -> impl Iterator<Item = (Source, &Rule)> {
        self.rules
            .iter()
            .filter(move |(_, does, rule)| *does == behavior && rule.is_about_paths())
            .filter(|(_, _, rule)| rule.names("", ToolKind::Read) || rule.names("", ToolKind::Edit))
            .map(|(source, _, rule)| (*source, rule))
    }

    /// Where paths of a line may begin.
    fn begins(&self, shell: &ShellCommand, sight: &Sight) -> Vec<PathBuf> {
        let root = &self.grounds.root;
        let mut folders = vec![shell.folder.as_ref().map_or_else(|| root.clone(), |folder| root.join(folder))];
        for command in &sight.commands {
            if let Some(["cd" | "pushd", .., path]) = command.values().as_deref() {
                let more: Vec<PathBuf> = folders
                    .iter()
                    .map(|folder| Place::of(path, folder, self.grounds.home.as_deref()).real)
                    .collect();
                folders.extend(more);
                folders.truncate(16);
            }
        }
        folders
    }

    /// Every path that a word may be, or hold.
    fn leads(&self, word: &Word, folders: &[PathBuf]) -> Vec<Place> {
        folders
            .iter()
            .flat_map(|folder| pieces(word).into_iter().map(|path| Place::of(path, folder, self.grounds.home.as_deref())))
            .collect()
    }

    /// The folders that a command may read all of.
    fn goes_through(&self, command: &Command, folders: &[PathBuf]) -> Vec<PathBuf> {
        let Some(words) = command.values() else { return Vec::new() };
        let paths: Vec<&str> = match looks(bare(&words)) {
            Some(looks) if !looks.content => return Vec::new(),
            Some(looks) if looks.git.is_some() => vec!["."],
            Some(looks) => looks.paths,
            None if matches!(words[0], "cd" | "mkdir" | "touch" | "rmdir" | "rm") => return Vec::new(),
            None if words[0] == "git" => vec!["."],
            // They begin in the working folder.
            None if HERE.contains(&base(words[0])) => [&["."], &words[1..]].concat(),
            None => words[1..].to_vec(),
        };
        let places = folders
            .iter()
            .flat_map(|folder| paths.iter().map(|path| Place::of(path, folder, self.grounds.home.as_deref()).real));
        places.filter(|place| place.is_dir()).collect()
    }
}

impl Rule {
    /// Whether it may be about a command that begins with this text.
    fn could_match(&self, text: &str) -> bool {
        let begins = self.begins_with();
        begins.starts_with(text) || text.starts_with(begins)
    }

    /// Whether a text holds the words that the commands of this rule begin with.
    fn is_mentioned(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        self.begins_with().to_ascii_lowercase().split_whitespace().all(|word| {
            let word = base(word);
            text.match_indices(word).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let behind = text[at + word.len()..].chars().next();
                !before.is_some_and(|c| joins(c) || c == '.') && !behind.is_some_and(joins)
            })
        })
    }

    /// The program that it is about.
    fn program(&self) -> Option<&str> {
        self.begins_with().split_whitespace().next().map(base)
    }

    /// What a command has to begin with.
    fn begins_with(&self) -> &str {
        let content = self.content().unwrap_or_default();
        content.split('*').next().unwrap_or_default().trim_end_matches(':').trim()
    }
}

/// Whether a program may tell what is in the files that it gets.
fn shows(name: &str) -> bool {
    looks(&[name, "x"]).is_none_or(|looks| looks.content) && edits(&[name, "x"]).is_none_or(|_| matches!(name, "cp" | "mv"))
}

/// Whether something below a folder is what one of these rules is about.
fn meets(folder: &Path, rules: &[&Rule], other_name: &dyn Fn(&Path) -> bool) -> bool {
    let mut folders = vec![folder.to_owned()];
    let mut left = ENTRIES;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            left -= 1;
            let place = Place::at(entry.path());
            if left == 0 || rules.iter().any(|rule| rule.matches_path(&place, false)) || other_name(&place.real) {
                return true;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    false
}
