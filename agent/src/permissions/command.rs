//! What lets a command run: each of its parts is allowed by a rule, only reads in the workspace, or is an edit of it where edits are
//! accepted. Only what is [plain](super::shell::plain) is looked at; anything else is asked about.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::rule::{Behavior, Rule, Source};
use super::shell::reads::{Looks, bare, edits, looks};
use super::shell::{Command, Join, git, plain};
use super::{Policy, Reason, reason};
use crate::tools::{ShellCommand, Spec};
use agentglot_adapters::raw::launch::PermissionMode;

/// So many rules are suggested for one command line.
const SUGGESTED: usize = 5;
/// In so many folders a command may begin before it counts as unknown.
const FOLDERS: usize = 32;

/// Where a command may begin: more than one folder where a `cd` stands before it, which may fail. `None`: nobody knows.
type Folders = Option<Vec<PathBuf>>;

/// The commands of a line, each with what lets it run or why it has to be asked about.
type Judged = Vec<(Command, Result<Reason, Reason>)>;

/// What a command does to what others see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Changes {
    Nothing,
    /// Files come and go, but no links.
    Files,
    Anything,
}

impl Policy {
    /// Whether each part of a command is covered by a list of rules.
    pub(super) fn command_is_covered(&self, rules: &[&Rule], line: &str) -> bool {
        plain::read(line)
            .is_ok_and(|commands| !commands.is_empty() && commands.iter().all(|command| self.covering(rules.iter().copied(), command).is_some()))
    }

    /// Whether a command changes nothing, wherever it reads.
    pub(super) fn command_only_reads(&self, line: &str) -> bool {
        let reads = |command: &Command| command.values().is_some_and(|words| words[0] == "cd" || looks(bare(&words)).is_some());
        plain::read(line).is_ok_and(|commands| commands.iter().all(reads))
    }

    /// What allows a command, or why it has to be asked about.
    pub(super) fn may_run(&self, spec: &Spec, shell: &ShellCommand) -> Result<Reason, Reason> {
        let mut reasons = Vec::new();
        for (_, judged) in self.parts(spec, shell)? {
            reasons.push(judged?);
        }
        Ok(match reasons.as_slice() {
            [one] => one.clone(),
            _ => Reason::Parts,
        })
    }

    /// What rules would have to say so that a command may run.
    pub(crate) fn unallowed(&self, spec: &Spec, shell: &ShellCommand) -> Vec<String> {
        let mut wanted: Vec<String> = Vec::new();
        for (command, _) in self.parts(spec, shell).unwrap_or_default().iter().filter(|(_, judged)| judged.is_err()) {
            let text = suggestion(command);
            if !wanted.contains(&text) {
                wanted.push(text);
            }
        }
        wanted.truncate(SUGGESTED);
        wanted
    }

    /// The folder that a command begins in, by all its names.
    ///
    /// # Errors
    /// It is outside the workspace.
    pub(super) fn start(&self, shell: &ShellCommand) -> Result<Folders, Reason> {
        let Some(folder) = &shell.folder else { return Ok(None) };
        let place = Place::of("", &self.grounds.root.join(folder), None);
        if self.is_inside(&place) || self.form().reads_anywhere {
            return Ok(Some(place.names().map(Path::to_owned).to_vec()));
        }
        Err(Reason::Outside(place.written))
    }

    fn parts(&self, spec: &Spec, shell: &ShellCommand) -> Result<Judged, Reason> {
        let mut folders = self.start(shell)?;
        // Where it would begin if a `cd` failed.
        let mut elsewhere: Vec<PathBuf> = Vec::new();
        let commands = plain::read(&shell.line).map_err(Reason::Unclear)?;
        let changes: Vec<Changes> = commands.iter().map(changes).collect();
        let mut judged = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            // What is in one pipe runs at the same time.
            let beside = commands[at + 1..].iter().take_while(|next| next.join == Join::Pipe).count();
            let others = changes[..at].iter().chain(&changes[at + 1..=at + beside]);
            let before = others.max().copied().unwrap_or(Changes::Nothing);
            if matches!(command.join, Join::Then | Join::Or) {
                folders = folders.map(|folders| joined(folders, &elsewhere));
            }
            let verdict = self.may_run_part(spec, shell, command, &folders, before);
            let stays = beside > 0 || matches!(command.join, Join::Pipe | Join::Or);
            let old = folders.clone().unwrap_or_default();
            folders = self.after(command, folders).filter(|folders| folders.len() <= FOLDERS);
            folders = folders.map(|folders| if stays { joined(folders, &old) } else { folders });
            elsewhere = joined(elsewhere, &old);
            judged.push((command.clone(), verdict));
        }
        Ok(judged)
    }

    fn may_run_part(&self, spec: &Spec, shell: &ShellCommand, command: &Command, folders: &Folders, before: Changes) -> Result<Reason, Reason> {
        if let Some(rule) = self.by_rule(spec, command) {
            return Ok(rule);
        }
        let words = command.values().ok_or(Reason::Nothing)?;
        let inner = bare(&words);
        let looks = looks(inner);
        let edits = edits(&words).filter(|_| self.mode == PermissionMode::AcceptEdits && self.form().commands_edit);
        if looks.is_none() && edits.is_none() && words[0] != "cd" {
            return Err(Reason::Nothing);
        }
        let Some(folders) = folders else {
            return Err(Reason::Unclear("it is not known in which folder this runs".to_owned()));
        };
        let wraps = inner.len() < words.len();
        let programs = [words[0], inner[0]];
        let programs = if words[0] == "cd" || looks.as_ref().is_some_and(|looks| looks.builtin && !wraps) {
            &[][..]
        } else {
            &programs
        };
        programs.iter().try_for_each(|name| self.is_usual(name, &shell.programs))?;
        let reads_paths = looks.as_ref().is_none_or(|looks| !looks.paths.is_empty());
        let reads_git = looks.as_ref().is_some_and(|looks| looks.git.is_some());
        if reads_paths && before == Changes::Anything || reads_git && before != Changes::Nothing {
            return Err(Reason::Unclear("what goes before it may change what this reads".to_owned()));
        }
        for folder in folders {
            match (&looks, &edits, words.as_slice()) {
                (Some(looks), _, _) => self.may_look(looks, folder)?,
                (None, Some(paths), _) => self.may_edit(words[0], paths, folder)?,
                (None, None, ["cd", path]) if !path.starts_with('-') && !path.is_empty() => {
                    let place = Place::of(path, folder, None);
                    if !self.is_inside(&place) {
                        return Err(Reason::Outside(place.written));
                    }
                }
                _ => return Err(Reason::Nothing),
            }
        }
        Ok(if edits.is_some() { Reason::Mode(self.mode) } else { Reason::Parts })
    }

    /// Whether a program is one of the machine's, and none that lies in the workspace.
    fn is_usual(&self, name: &str, programs: &[PathBuf]) -> Result<(), Reason> {
        let ours = |path: &Path| self.folders().any(|folder| path.starts_with(folder));
        for folder in programs {
            let path = folder.join(name);
            let runs = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
            if !folder.is_absolute() || runs && Place::of("", &path, None).names().into_iter().any(ours) {
                return Err(Reason::Unclear(format!("`{name}` may be a program of the workspace's")));
            }
            if runs {
                return Ok(());
            }
        }
        Ok(())
    }

    fn may_look(&self, looks: &Looks<'_>, folder: &Path) -> Result<(), Reason> {
        for path in looks.paths.iter().filter(|path| **path != "/dev/null") {
            let place = Place::of(path, folder, None);
            self.may_read(None, &place)?;
            // A pipe or a device waits for somebody, or tells them.
            let found = fs::metadata(&place.real).ok();
            if found.is_some_and(|found| !found.is_file() && (looks.files || !found.is_dir())) {
                return Err(Reason::Unclear(format!("{} is no file that could be judged", place.written.display())));
            }
        }
        let Some(folders) = &looks.git else { return Ok(()) };
        let mut folder = folder.to_owned();
        for path in folders {
            let place = Place::of(path, &folder, None);
            self.may_read(None, &place)?;
            folder = place.real;
        }
        let top = git::tame(&folder).ok_or_else(|| Reason::Unclear("git would do what the repository's settings say".to_owned()))?;
        if looks.content {
            self.may_read(None, &Place::of("", &top, None))?;
        }
        Ok(())
    }

    fn may_edit(&self, name: &str, paths: &[&str], folder: &Path) -> Result<(), Reason> {
        let may = |place: &Place| {
            let is_root = self.folders().any(|folder| folder.starts_with(&place.real));
            if is_root {
                Err(Reason::Nothing)
            } else {
                self.may_write(None, place).map(drop)
            }
        };
        let place = |path: &str| Place::of(path, folder, None);
        for path in paths {
            may(&place(path))?;
        }
        let [sources @ .., target] = paths else { return Ok(()) };
        if !matches!(name, "cp" | "mv") || !place(target).real.is_dir() {
            return Ok(());
        }
        // They become files of the folder, and what is there already may be a link.
        for source in sources {
            let own = source.trim_start_matches("./").trim_end_matches('/');
            let last = own.rsplit('/').next().unwrap_or_default();
            let inside = place(&format!("{target}/{last}"));
            may(&inside)?;
            let merges = place(source).real.is_dir() && fs::symlink_metadata(&inside.written).is_ok();
            if matches!(last, "" | "." | "..") || own.split('/').any(|part| part == ".") || merges {
                return Err(Reason::Nothing);
            }
        }
        Ok(())
    }

    fn by_rule(&self, spec: &Spec, command: &Command) -> Option<Reason> {
        let rules: Vec<(Source, &Rule)> = self.rules_for(Behavior::Allow, spec).collect();
        let rule = self.covering(rules.iter().map(|(_, rule)| *rule), command)?;
        let (source, rule) = rules.into_iter().find(|(_, known)| std::ptr::eq(*known, rule))?;
        Some(reason(source, Behavior::Allow, rule))
    }

    /// The rule that covers a command, or what `timeout` and `nice` run of it.
    fn covering<'r>(&self, mut rules: impl Iterator<Item = &'r Rule>, command: &Command) -> Option<&'r Rule> {
        let words = command.values()?;
        let skipped = words.len() - bare(&words).len();
        let inner = Command {
            words: command.words[skipped..].to_vec(),
            ..Command::default()
        };
        let texts = [command.text(), inner.text()];
        // What `find` does by itself is allowed by its own words alone.
        let acts = matches!(words[skipped], "find" | "fd" | "fdfind") && words.iter().any(|word| is_action(word));
        rules.find(|rule| {
            let exact = !rule.text().contains('*') && self.form().rules_allow_what_is_run;
            texts.iter().any(|text| rule.matches_command(text)) && (!acts || exact)
        })
    }

    /// Where the command behind this one may begin.
    fn after(&self, command: &Command, folders: Folders) -> Folders {
        const BUILTINS: &[&str] = &[
            "pushd",
            "popd",
            "eval",
            "source",
            ".",
            "builtin",
            "exec",
            "set",
            "shopt",
            "alias",
            "unalias",
            "unset",
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
            "hash",
            "enable",
            "trap",
            "read",
            "mapfile",
            "readarray",
            "getopts",
            "let",
        ];
        let words = command.values()?;
        match words.as_slice() {
            ["cd", path] if !path.starts_with('-') && !path.is_empty() => {
                let places: Vec<Place> = folders?.iter().map(|folder| Place::of(path, folder, None)).collect();
                // The shell goes by the names of links, programs by where they lead.
                let names = places.iter().flat_map(|place| place.names().map(Path::to_owned));
                Some(joined(names.collect(), &[]))
            }
            ["cd", ..] => None,
            ["command", ..] if looks(&words).is_none() => None,
            [name, ..] if BUILTINS.contains(name) => None,
            _ => folders,
        }
    }
}

fn joined(mut folders: Vec<PathBuf>, more: &[PathBuf]) -> Vec<PathBuf> {
    folders.extend_from_slice(more);
    folders.sort();
    folders.dedup();
    folders
}

/// What `find` and its like do besides looking.
fn is_action(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir" | "-delete" | "-fls" | "-x" | "-X")
        || word.starts_with("-fprint")
        || word.starts_with("--exec")
}

fn changes(command: &Command) -> Changes {
    let words = command.values().unwrap_or_default();
    match words.first() {
        Some(&"cd") => Changes::Nothing,
        _ if looks(bare(&words)).is_some() => Changes::Nothing,
        Some(&("mkdir" | "touch" | "rm" | "rmdir")) if edits(&words).is_some() => Changes::Files,
        _ => Changes::Anything,
    }
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
        (Some(name), Some(sub)) if TWO_WORDS.contains(&name) => match plain(2) {
            Some(script) if matches!((name, sub), ("npm" | "pnpm" | "yarn" | "bun", "run")) => format!("{name} {sub} {script} *"),
            _ => format!("{name} {sub} *"),
        },
        _ => command.text(),
    }
}
