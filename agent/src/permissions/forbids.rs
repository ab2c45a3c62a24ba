//! What speaks against a command: rules that deny or ask, by any reading of it.
//!
//! A rule that is sure to be about the command counts as it stands. One that may be about it (a name that comes of a variable, a program
//! that might run its arguments, a line that cannot be read) is asked about.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::rule::{Behavior, Rule, Source};
use super::shell::reads::{bare, edits, looks};
use super::shell::tree::Tree;
use super::shell::{Command, Word, plain};
use super::{Policy, Reason, reason};
use crate::tools::{ShellCommand, Spec};
use agentglot_adapters::raw::event::ToolKind;

/// So deep may commands be in words of commands.
const DEEPEST: usize = 4;
/// So many entries of folders are looked at.
const ENTRIES: usize = 100_000;

/// Programs that go through the working folder where no other is named.
const HERE: &[&str] = &["find", "fd", "fdfind", "rgrep", "ag", "ack", "ack-grep", "ctags"];

/// Programs that run what stands in their arguments.
const WRAPPERS: &[&str] = &[
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "ionice",
    "chrt",
    "time",
    "timeout",
    "command",
    "builtin",
    "exec",
    "env",
    "xargs",
    "eval",
    "trap",
    "find",
    "fd",
    "fdfind",
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "chroot",
    "nsenter",
    "unshare",
    "setpriv",
    "setarch",
    "linux32",
    "linux64",
    "strace",
    "ltrace",
    "gdb",
    "valgrind",
    "perf",
    "watch",
    "parallel",
    "flock",
    "script",
    "busybox",
    "toybox",
    "ssh",
    "rsh",
    "docker",
    "podman",
    "kubectl",
    "systemd-run",
    "at",
    "batch",
    "entr",
    "expect",
    "firejail",
    "bwrap",
    "proxychains",
    "torsocks",
    "chronic",
    "caffeinate",
    "arch",
    "taskset",
    "numactl",
    "cpulimit",
    "unbuffer",
    "rlwrap",
    "tmux",
    "screen",
    "dbus-run-session",
    "xvfb-run",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "poetry",
    "pipenv",
    "direnv",
    "mise",
    "asdf",
    "coproc",
    "alias",
    "prlimit",
    "ts",
    "sem",
    "run-parts",
    "start-stop-daemon",
    "capsh",
    "sg",
    "newgrp",
];
const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "csh", "tcsh"];

/// What can be seen of a line.
#[derive(Debug, Default)]
struct Sight {
    /// Commands, as rules know them; and whether more words may follow.
    texts: Vec<(String, bool)>,
    /// Texts in which a command may stand.
    suspects: Vec<String>,
    /// Words that may be paths.
    words: Vec<Word>,
    /// The commands themselves.
    commands: Vec<Command>,
    /// Names of programs that may get another one here.
    copied: Vec<String>,
    /// Programs that get paths which do not stand in the line: from `xargs`, or because they read lists of names.
    fed: Vec<String>,
    /// Something may run that is not seen, for this reason.
    hidden: Option<String>,
}

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
        let value = word.value.as_deref().unwrap_or(&word.raw);
        let mut paths = vec![value, value.trim_start_matches('@')];
        if value.starts_with('-') {
            paths.extend(value.get(2..));
        }
        paths.extend(value.split(|c: char| c.is_whitespace() || "'\"`()[]{}=,;:<>|&".contains(c)));
        paths.retain(|path| !path.is_empty());
        paths.dedup();
        folders
            .iter()
            .flat_map(|folder| paths.iter().map(|path| Place::of(path, folder, self.grounds.home.as_deref())))
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

impl Sight {
    fn of(line: &str) -> Self {
        let mut sight = Self::default();
        sight.read(line, 0);
        sight
    }

    fn read(&mut self, line: &str, depth: usize) {
        if depth > DEEPEST {
            self.hide("commands inside commands, too deeply");
            return;
        }
        if let Ok(commands) = plain::read(line) {
            self.copied.extend(copied(&commands));
            commands.into_iter().for_each(|command| self.command(command, depth));
            return;
        }
        self.texts.push((line.trim().to_owned(), false));
        let joined = line.replace("\\\n", "");
        let bare: String = joined.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        for reading in [line, &joined].into_iter().take(if joined == line { 1 } else { 2 }) {
            let tree = Tree::read(reading);
            if let Some(problem) = tree.problem {
                self.hide(&problem);
                let pieces = bare.split([';', '&', '|', '\n', '(', ')', '`', '{', '}', '$', '<', '>']);
                self.texts
                    .extend(pieces.map(|piece| (piece.split_whitespace().collect::<Vec<_>>().join(" "), false)));
            }
            self.words.extend(tree.loose);
            self.copied.extend(copied(&tree.commands));
            tree.commands.into_iter().for_each(|command| self.command(command, depth));
        }
        self.suspects.push(bare);
    }

    fn hide(&mut self, why: &str) {
        self.hidden.get_or_insert_with(|| why.to_owned());
    }

    fn command(&mut self, command: Command, depth: usize) {
        let from_elsewhere = |word: &&Word| word.value.is_none() && word.raw.trim_start_matches('"').starts_with(['/', '$', '`', '{', '~']);
        if matches!(command.name().map(base), Some("cp" | "mv" | "ln" | "install"))
            && let Some(word) = command.words.iter().find(from_elsewhere)
        {
            self.hide(&format!("it cannot be told which program `{}` is", word.raw));
        }
        let known: Vec<Option<&str>> = command.words.iter().map(|word| word.value.as_deref()).collect();
        self.texts.push((command.text(), false));
        match known.first() {
            Some(Some(name)) => self.program(name, &known, depth),
            _ => self.hide("it cannot be told which command this runs"),
        }
        let first = command.name().map(base);
        if !matches!(first, Some("echo" | "printf")) {
            // What is said of a commit names files that it does not read.
            let says = command.values().is_some_and(|words| matches!(words.as_slice(), ["git", "commit", ..]));
            let may_be = |word: &&Word| !says || !word.raw.contains(char::is_whitespace);
            self.words.extend(command.words.iter().skip(1).filter(may_be).cloned());
        }
        self.commands.push(command);
    }

    fn program(&mut self, name: &str, words: &[Option<&str>], depth: usize) {
        let name = base(name).to_ascii_lowercase();
        self.spell(words, false);
        if name == "git" {
            self.spell(&git(words), false);
        }
        let literal: Option<Vec<&str>> = words.iter().copied().collect();
        let lists = |word: &&str| matches!(*word, "-T" | "-@") || word.starts_with("--files-from") || word.starts_with("--files0-from");
        if matches!(name.as_str(), "cpio" | "pax") || words.iter().flatten().any(lists) {
            self.fed.push(name.clone());
        }
        let runs_none = |words: &Vec<&str>| {
            looks(words).is_some() || edits(words).is_some() || words[0] == "cd" || matches!(words.as_slice(), ["git", "commit" | "add", ..])
        };
        if literal.as_ref().is_some_and(runs_none) {
            return;
        }
        let shell = SHELLS.contains(&name.as_str());
        if !shell && !WRAPPERS.contains(&name.as_str()) {
            self.suspects.push(words.iter().flatten().copied().collect::<Vec<_>>().join(" "));
            return;
        }
        if literal.is_none() {
            self.hide(&format!("it cannot be told what `{name}` runs"));
        }
        // What stdin brings.
        if shell && words[1..].iter().all(|word| word.is_some_and(|word| word.starts_with('-'))) {
            self.hide(&format!("it cannot be told what `{name}` runs"));
        }
        if matches!(name.as_str(), "xargs" | "parallel") {
            match fed(words).filter(|_| runs_a_reader(words)) {
                Some(reader) => self.fed.push(reader.to_owned()),
                None => self.hide(&format!("it cannot be told what `{name}` runs")),
            }
        }
        let open = matches!(name.as_str(), "xargs" | "parallel" | "find" | "fd" | "fdfind");
        for at in 1..words.len() {
            self.spell(&words[at..], open);
            let Some(word) = words[at] else { continue };
            let parts = [
                Some(word),
                word.get(2..).filter(|_| word.starts_with('-')),
                word.split_once('=').map(|(_, value)| value),
            ];
            for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
                let mut behind = words[at..].to_vec();
                behind[0] = Some(part);
                self.spell(&behind, open);
                if part.contains(|c: char| c.is_whitespace() || ";&|$`<>(){}'\"\\".contains(c)) {
                    self.read(part, depth + 1);
                }
            }
        }
        if let (Some(words), "eval" | "ssh" | "watch" | "su" | "script") = (&literal, name.as_str()) {
            self.read(&words[1..].join(" "), depth + 1);
        }
    }

    /// The words as far as they are known.
    fn spell(&mut self, words: &[Option<&str>], open: bool) {
        let known: Vec<&str> = words.iter().map_while(|word| *word).collect();
        let open = open || known.len() < words.len();
        let Some((name, rest)) = known.split_first() else { return };
        for name in [name, base(name), &base(name).to_ascii_lowercase()] {
            let text = [&[name], rest].concat().join(" ");
            if !self.texts.iter().any(|known| *known == (text.clone(), open)) {
                self.texts.push((text, open));
            }
        }
    }
}

/// `git -C x push` is a push.
fn git<'a>(words: &[Option<&'a str>]) -> Vec<Option<&'a str>> {
    const WITH: &[&str] = &[
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
        "--super-prefix",
    ];
    let mut rest = &words[1..];
    while let [Some(first), behind @ ..] = rest
        && first.starts_with('-')
    {
        rest = if WITH.contains(first) {
            behind.get(1..).unwrap_or_default()
        } else {
            behind
        };
    }
    [&words[..1], rest].concat()
}

/// The command of an `xargs`.
fn fed<'a>(words: &[Option<&'a str>]) -> Option<&'a str> {
    let mut words = words[1..].iter().copied();
    let mut first = words.next();
    while let Some(Some(word)) = first
        && (word.starts_with('-') || word == "{}" || word.chars().all(|c| c.is_ascii_digit()))
    {
        first = words.next();
    }
    first.flatten()
}

/// Whether the command of an `xargs` is one that only reads, whatever is added to it.
fn runs_a_reader(words: &[Option<&str>]) -> bool {
    fed(words).is_some_and(|name| looks(&[name, "x"]).is_some_and(|looks| !looks.builtin || name == "echo") || matches!(name, "grep" | "rg" | "rm"))
}

/// Whether a program may tell what is in the files that it gets.
fn shows(name: &str) -> bool {
    looks(&[name, "x"]).is_none_or(|looks| looks.content) && edits(&[name, "x"]).is_none_or(|_| matches!(name, "cp" | "mv"))
}

/// Programs that may get another name by a line: a copy of `rm` is `rm`.
fn copied(commands: &[Command]) -> Vec<String> {
    let reads = |command: &Command| command.values().is_some_and(|words| words[0] == "cd" || looks(bare(&words)).is_some());
    if commands.iter().all(reads) {
        return Vec::new();
    }
    let mut names = Vec::new();
    for command in commands {
        let moves = matches!(command.name().map(base), Some("cp" | "mv" | "ln" | "install"));
        let values = command.words.iter().skip(1).filter_map(|word| word.value.as_deref());
        let says = matches!(command.name(), Some("echo" | "printf"));
        names.extend(
            values
                .filter(|value| moves || !says && value.contains('/'))
                .map(|value| base(value).to_owned()),
        );
    }
    names
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

/// The name without folders.
fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
