//! Commands that change nothing and run nothing else, whatever files they are given.
//!
//! The list is short on purpose: what is not in it is asked about. Of the programs in it those options are taken that are known to be
//! harmless, where a program has others at all.

use super::Command;

/// What a command that only reads reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reads<'a> {
    /// Arguments that are, or may be, paths.
    pub paths: Vec<&'a str>,
    /// It runs git, which reads the settings of the folder that it stands in.
    pub git: bool,
}

/// Programs none of whose arguments is a path.
const TALK: &[&str] = &[
    "echo", "true", "false", ":", "pwd", "whoami", "id", "uname", "nproc", "seq", "basename", "dirname", "expr", "uptime", "arch", "groups", "tty",
    "locale", "sleep",
];

/// Programs all of whose options are harmless.
const LOOK: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "stat",
    "du",
    "df",
    "cut",
    "tr",
    "nl",
    "rev",
    "tac",
    "paste",
    "column",
    "fold",
    "expand",
    "unexpand",
    "fmt",
    "comm",
    "cmp",
    "diff",
    "realpath",
    "readlink",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "b2sum",
    "od",
    "hexdump",
    "strings",
    "grep",
    "egrep",
    "fgrep",
    "which",
    "type",
    "whereis",
    "tsort",
    "join",
    "zcat",
];

/// Whether a command only reads, and what. `None`: it does not, or that cannot be told.
pub(crate) fn reads(command: &Command) -> Option<Reads<'_>> {
    if command.open {
        return None;
    }
    let name = command.name()?;
    let mut words = command.arguments()?;
    if name == "cd" {
        return None;
    }
    // A name that comes of a pattern of files is told by nobody.
    if command.words.first()?.glob && name != "[" {
        return None;
    }
    let mut git = false;
    let options = |words: &[&str], known: &[&str], starts: &[&str]| {
        words
            .iter()
            .take_while(|word| **word != "--")
            .filter(|word| word.starts_with('-') && word.len() > 1)
            .all(|word| known.contains(word) || starts.iter().any(|start| word.starts_with(start) && word.len() > start.len()) || is_number(word))
    };
    match name {
        name if TALK.contains(&name) => words.clear(),
        "printf" => {
            if words.first().is_some_and(|word| word.starts_with('-')) {
                return None;
            }
            words.clear();
        }
        "test" | "[" => {
            // Some tests evaluate their words.
            if words
                .iter()
                .any(|word| matches!(*word, "-v" | "-R" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") || (word.contains('[') && *word != "["))
            {
                return None;
            }
        }
        "date" => {
            if !words
                .iter()
                .all(|word| word.starts_with('+') || matches!(*word, "-u" | "-I" | "-R" | "--utc" | "--iso-8601" | "--rfc-email" | "-Iseconds"))
            {
                return None;
            }
            words.clear();
        }
        "hostname" if words.is_empty() => {}
        "command" if matches!(words.as_slice(), ["-v" | "-V", _]) => words.clear(),
        "env" | "printenv" if words.is_empty() => return None,
        "sort" => {
            let letters = |word: &str| word.starts_with('-') && word[1..].chars().all(|c| "bdfghinrRVuczms0123456789k,.t:".contains(c));
            if !words.iter().filter(|word| word.starts_with('-')).all(|word| letters(word)) {
                return None;
            }
        }
        "uniq" => {
            if words.iter().filter(|word| !word.starts_with('-')).count() > 1 {
                return None;
            }
        }
        "jq" => {
            if !options(
                &words,
                &["-r", "-c", "-e", "-s", "-n", "-S", "-M", "-C", "-j", "--raw-output", "--compact-output"],
                &[],
            ) {
                return None;
            }
            // The first is a program of its own, which cannot write or run anything; it may read `$ENV`.
            let program = words.iter().position(|word| !word.starts_with('-'))?;
            if words[program].contains("env")
                || words[program].contains("ENV")
                || words[program].contains("import")
                || words[program].contains("include")
            {
                return None;
            }
            words.remove(program);
        }
        "tree" => {
            if !options(
                &words,
                &["-a", "-d", "-f", "-L", "-I", "-P", "-s", "-h", "-D", "--dirsfirst", "--gitignore"],
                &["-L"],
            ) {
                return None;
            }
        }
        "file" => {
            if !options(&words, &["-b", "-i", "--brief", "--mime", "--mime-type", "-L"], &[]) {
                return None;
            }
        }
        "rg" => {
            if words
                .iter()
                .any(|word| word.starts_with("--pre") || word.starts_with("--hostname-bin") || word.starts_with("--search-zip") || *word == "-z")
            {
                return None;
            }
        }
        "find" => {
            const HARMLESS: &[&str] = &[
                "-name",
                "-iname",
                "-path",
                "-ipath",
                "-type",
                "-maxdepth",
                "-mindepth",
                "-size",
                "-mtime",
                "-mmin",
                "-newer",
                "-not",
                "-o",
                "-a",
                "-and",
                "-or",
                "-print",
                "-print0",
                "-prune",
                "-empty",
                "-regex",
                "-iregex",
                "-ls",
                "-perm",
                "-user",
                "-group",
                "-depth",
                "-L",
                "-P",
                "-H",
                "-xdev",
                "-readable",
                "-executable",
                "-writable",
                "-true",
                "-false",
                "-quit",
            ];
            if !options(&words, HARMLESS, &[]) {
                return None;
            }
        }
        "git" => {
            git = true;
            words = git_reads(&words)?;
        }
        name if LOOK.contains(&name) => {}
        _ => return None,
    }
    let mut paths = Vec::new();
    for word in words {
        match word.strip_prefix('-') {
            // `-f/etc/passwd` and `--file=/etc/passwd` name files as well.
            Some(option) if option.contains('/') || option.contains('~') || option.contains("..") => {
                let value = option.split_once('=').map_or(option, |(_, value)| value);
                if !option.contains('=') {
                    return None;
                }
                paths.push(value);
            }
            Some(option) => paths.extend(option.split_once('=').map(|(_, value)| value)),
            None => paths.push(word),
        }
    }
    Some(Reads { paths, git })
}

fn is_number(word: &str) -> bool {
    word.len() > 1 && word[1..].chars().all(|c| c.is_ascii_digit())
}

/// Options of git that only say what is shown.
const GIT: &[&str] = &[
    "--oneline",
    "--stat",
    "--shortstat",
    "--numstat",
    "--name-only",
    "--name-status",
    "--graph",
    "--all",
    "--decorate",
    "--short",
    "--porcelain",
    "--branch",
    "-b",
    "-s",
    "-v",
    "-vv",
    "-a",
    "-r",
    "-n",
    "-p",
    "-u",
    "-w",
    "-M",
    "-l",
    "-i",
    "-z",
    "-q",
    "-1",
    "--cached",
    "--staged",
    "--no-color",
    "--color",
    "--patch",
    "--no-patch",
    "--summary",
    "--follow",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--reverse",
    "--show-current",
    "--list",
    "--show-toplevel",
    "--git-dir",
    "--is-inside-work-tree",
    "--abbrev-ref",
    "--abbrev-commit",
    "--verify",
    "--symbolic-full-name",
    "--word-diff",
    "--ignore-all-space",
    "--ignore-space-change",
    "--untracked-files",
    "--ignored",
    "--long",
    "--no-ext-diff",
    "--no-textconv",
    "--minimal",
    "--histogram",
    "--cherry",
    "--left-right",
    "--count",
    "--tags",
    "--heads",
    "--date-order",
    "--topo-order",
    "--raw",
    "--full-index",
    "--check",
    "--exit-code",
    "--quiet",
    "--merged",
    "--no-merged",
    "--others",
    "--exclude-standard",
    "--modified",
    "--deleted",
    "--stage",
    "--line-number",
    "--ignore-case",
    "--files-with-matches",
    "--name-rev",
    "--always",
    "--dirty",
    "--",
    "-e",
    "-t",
    "-c",
    "-E",
    "-F",
    "-L",
    "-S",
    "-G",
    "-U",
];

/// Options of git with a value behind `=` or joined.
const GIT_VALUES: &[&str] = &[
    "--format=",
    "--pretty=",
    "--since=",
    "--until=",
    "--after=",
    "--before=",
    "--author=",
    "--committer=",
    "--grep=",
    "--max-count=",
    "--skip=",
    "--date=",
    "--abbrev=",
    "--unified=",
    "--diff-filter=",
    "--sort=",
    "--contains=",
    "--points-at=",
    "--untracked-files=",
    "--porcelain=",
    "--color=",
    "--stat=",
    "--decorate=",
    "--word-diff=",
    "--find-renames=",
    "-n",
    "-U",
    "-S",
    "-G",
    "-L",
    "-M",
];

/// The arguments of a git command that only reads.
fn git_reads<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut words = words.to_vec();
    if words.first() == Some(&"--no-pager") {
        words.remove(0);
    }
    let sub = *words.first()?;
    words.remove(0);
    let known =
        |word: &&str| GIT.contains(word) || GIT_VALUES.iter().any(|start| word.starts_with(start) && word.len() > start.len()) || is_number(word);
    if sub == "--version" || sub == "version" {
        return words.is_empty().then(Vec::new);
    }
    if !words.iter().filter(|word| word.starts_with('-')).all(known) {
        return None;
    }
    let plain = words.iter().filter(|word| !word.starts_with('-')).count();
    let fits = match sub {
        "status" | "diff" | "log" | "show" | "rev-parse" | "ls-files" | "ls-tree" | "blame" | "describe" | "shortlog" | "cat-file"
        | "for-each-ref" | "merge-base" | "rev-list" | "name-rev" | "whatchanged" | "diff-tree" | "count-objects" | "var" => true,
        "grep" => true,
        // Without a name they list.
        "branch" => plain == 0 && !words.contains(&"-M") && !words.contains(&"-c"),
        "tag" => plain == 0 || words.first() == Some(&"-l") || words.first() == Some(&"--list"),
        "remote" => plain == 0 || (words.first() == Some(&"get-url") && plain == 2),
        "stash" => matches!(words.first(), Some(&("list" | "show"))),
        "reflog" => plain == 0 || words.first() == Some(&"show"),
        "worktree" => words.first() == Some(&"list"),
        _ => false,
    };
    // `git diff --no-index` and the like name files; revisions do no harm where files are looked for.
    fits.then(|| {
        words
            .into_iter()
            .filter(|word| !GIT_VALUES.iter().any(|start| word.starts_with(start)))
            .collect()
    })
}
