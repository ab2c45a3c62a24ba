//! What can be seen of a command line: every reading of it that a rule may be about, within limits.

use super::shell::reads::{bare, edits, looks};
use super::shell::tree::Tree;
use super::shell::{Command, Word, plain};

/// So deep may commands be in words of commands.
const DEEPEST: usize = 4;
/// So many readings of a line are held against rules, with so many bytes in all, and so many words and parts of words that may be paths. A
/// line of a few kilobytes can have millions.
const READINGS: usize = 4096;
const READ: usize = 4 << 20;
const PATHS: usize = 4096;

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
pub(super) struct Sight {
    /// Commands, as rules know them; and whether more words may follow.
    pub(super) texts: Vec<(String, bool)>,
    /// Texts in which a command may stand.
    pub(super) suspects: Vec<String>,
    /// Words that may be paths.
    pub(super) words: Vec<Word>,
    /// The commands themselves.
    pub(super) commands: Vec<Command>,
    /// Names of programs that may get another one here.
    pub(super) copied: Vec<String>,
    /// Programs that get paths which do not stand in the line: from `xargs`, or because they read lists of names.
    pub(super) fed: Vec<String>,
    /// Something may run that is not seen, for this reason.
    pub(super) hidden: Option<String>,
    /// How many bytes were read, and how many paths the words may be.
    read: usize,
    paths: usize,
}

/// What a word may be as a path, and parts of it.
pub(super) fn pieces(word: &Word) -> Vec<&str> {
    let value = word.value.as_deref().unwrap_or(&word.raw);
    let mut paths = vec![value, value.trim_start_matches('@')];
    if value.starts_with('-') {
        paths.extend(value.get(2..));
    }
    paths.extend(value.split(|c: char| c.is_whitespace() || "'\"`()[]{}=,;:<>|&".contains(c)));
    paths.retain(|path| !path.is_empty());
    paths.dedup();
    paths
}

impl Sight {
    pub(super) fn of(line: &str) -> Self {
        let mut sight = Self::default();
        sight.read(line, 0);
        sight
    }

    fn read(&mut self, line: &str, depth: usize) {
        if depth > DEEPEST {
            self.hide("commands inside commands, too deeply");
            return;
        }
        if self.is_full(line.len()) {
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
            tree.loose.into_iter().for_each(|word| self.word(word));
            self.copied.extend(copied(&tree.commands));
            tree.commands.into_iter().for_each(|command| self.command(command, depth));
        }
        self.suspects.push(bare);
    }

    fn hide(&mut self, why: &str) {
        self.hidden.get_or_insert_with(|| why.to_owned());
    }

    /// Whether so many bytes more are too many to be judged.
    fn is_full(&mut self, more: usize) -> bool {
        self.read += more;
        let full = self.read > READ || self.texts.len() + self.suspects.len() > READINGS;
        if full {
            self.hide("it has more parts than can be judged");
        }
        full
    }

    fn word(&mut self, word: Word) {
        self.paths += pieces(&word).len();
        if self.paths > PATHS {
            self.hide("it has more words than can be judged");
        } else {
            self.words.push(word);
        }
    }

    fn command(&mut self, command: Command, depth: usize) {
        if self.is_full(command.words.iter().map(|word| word.raw.len()).sum()) {
            return;
        }
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
            command.words.iter().skip(1).filter(may_be).cloned().for_each(|word| self.word(word));
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
            if self.is_full(0) {
                return;
            }
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
            if self.is_full(text.len()) {
                return;
            }
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

/// The name without folders.
pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
