//! Commands that run other commands.

use super::{Command, Script};

/// What a command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inside {
    /// The commands, as far as they can be told.
    pub commands: Vec<Command>,
    /// It adds nothing to them: who allows them allows it.
    pub transparent: bool,
    /// It may run something else too.
    pub unclear: bool,
    /// Only its own words and no rule with a `*` allow it: it does more than it says at first.
    pub guarded: bool,
}

/// What a command runs, if it is one that runs others.
pub(crate) fn inside(command: &Command) -> Option<Inside> {
    let name = base(command.name()?);
    let words = &command.words;
    let value = |index: usize| words.get(index).and_then(|word| word.value.as_deref());
    let rest = |from: usize| Command {
        words: words[from.min(words.len())..].to_vec(),
        open: command.open,
        ..Command::default()
    };
    // The first word behind options; `with` are those that take the next word.
    let behind = |with: &[&str], alone: &[&str], joined: &[&str]| -> Option<usize> {
        let mut at = 1;
        while let Some(word) = value(at).filter(|word| word.starts_with('-') && word.len() > 1) {
            if word == "--" {
                return Some(at + 1);
            }
            if with.contains(&word) {
                at += 2;
            } else if alone.contains(&word) || joined.iter().any(|start| word.starts_with(start) && word.len() > start.len()) {
                at += 1;
            } else {
                return None;
            }
        }
        // What cannot be told may be an option.
        value(at).map(|_| at)
    };
    let clear = |at: Option<usize>| match at {
        Some(at) if at < words.len() => Inside {
            commands: vec![rest(at)],
            transparent: true,
            ..Inside::default()
        },
        _ => suffixes(command),
    };
    Some(match name {
        "nice" => clear(behind(
            &["-n", "--adjustment"],
            &[],
            &["--adjustment=", "-n", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"],
        )),
        "nohup" => clear(behind(&[], &[], &[])),
        "setsid" => clear(behind(&[], &["-w", "-f", "-c", "--wait", "--fork", "--ctty"], &[])),
        "stdbuf" => clear(behind(&["-i", "-o", "-e"], &[], &["-i", "-o", "-e", "--input=", "--output=", "--error="])),
        "ionice" => clear(behind(&["-c", "-n"], &["-t"], &["-c", "-n"])),
        "time" => clear(behind(&[], &["-p", "-v", "--portability", "--verbose"], &[])),
        "timeout" => clear(
            behind(
                &["-k", "-s", "--kill-after", "--signal"],
                &["--foreground", "--preserve-status", "-v", "--verbose"],
                &["-k", "-s", "--kill-after=", "--signal="],
            )
            .map(|at| at + 1),
        ),
        "command" if matches!(value(1), Some("-v" | "-V")) => return None,
        "command" | "builtin" => clear(behind(&[], &["-p"], &[])),
        "exec" => clear(behind(&[], &["-c", "-l"], &[])),
        "env" => {
            let mut at = 1;
            let mut plain = true;
            while let Some(word) = value(at) {
                match word {
                    "-i" | "-" | "--ignore-environment" => at += 1,
                    "-u" | "--unset" => at += 2,
                    word if word.starts_with('-') => return Some(suffixes(command)),
                    word if word.contains('=') => {
                        plain &= harmless(word);
                        at += 1;
                    }
                    _ => break,
                }
            }
            if at >= words.len() {
                return None;
            }
            Inside {
                commands: vec![rest(at)],
                transparent: plain && value(at).is_some(),
                unclear: value(at).is_none(),
                ..Inside::default()
            }
        }
        "xargs" => {
            let at = behind(
                &["-n", "-P", "-L", "-d", "-s", "-E"],
                &["-0", "--null", "-r", "--no-run-if-empty", "-t", "-x"],
                &["-n", "-P", "-L", "--max-args=", "--max-procs="],
            );
            match at {
                Some(at) if at < words.len() => Inside {
                    commands: vec![Command { open: true, ..rest(at) }],
                    transparent: true,
                    ..Inside::default()
                },
                None if words.len() == 1 => return None,
                _ => suffixes(command),
            }
        }
        "eval" => {
            let texts: Option<Vec<&str>> = command.arguments();
            script(texts.map(|texts| texts.join(" ")).as_deref(), words.len() > 1)
        }
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "mksh" => {
            let at =
                (1..words.len()).find(|at| value(*at).is_some_and(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c')));
            match at {
                Some(at) => script(value(at + 1), at == 1 && value(1) == Some("-c") && words.len() == 3),
                // A file, or what stdin brings.
                None => Inside {
                    unclear: words.iter().any(|word| word.value.is_none()) || words.len() == 1,
                    ..Inside::default()
                },
            }
        }
        "trap" => script(value(1).filter(|word| !word.starts_with('-')), false),
        "find" | "fd" | "fdfind" => return found(command),
        "sudo" | "doas" | "su" | "runuser" | "pkexec" | "chroot" | "nsenter" | "unshare" | "setpriv" | "strace" | "ltrace" | "gdb" | "valgrind"
        | "perf" | "watch" | "parallel" | "flock" | "script" | "busybox" | "toybox" | "ssh" | "rsh" | "docker" | "podman" | "kubectl"
        | "systemd-run" | "at" | "batch" | "entr" | "expect" | "firejail" | "bwrap" | "proxychains" | "torsocks" | "chronic" | "caffeinate"
        | "arch" | "taskset" | "numactl" | "cpulimit" | "unbuffer" | "rlwrap" | "tmux" | "screen" | "dbus-run-session" | "xvfb-run" | "npx"
        | "bunx" | "pnpx" | "uvx" | "poetry" | "pipenv" | "direnv" | "mise" | "asdf" => suffixes(command),
        _ => return None,
    })
}

/// Every command that could begin at one of the words: for rules that forbid.
fn suffixes(command: &Command) -> Inside {
    let mut inside = Inside {
        unclear: command.words.iter().any(|word| word.value.is_none()),
        ..Inside::default()
    };
    for at in 1..command.words.len() {
        inside.commands.push(Command {
            words: command.words[at..].to_vec(),
            open: command.open,
            ..Command::default()
        });
        // A whole command may stand in one word.
        if let Some(text) = command.words[at].value.as_deref().filter(|text| text.contains(char::is_whitespace)) {
            let script = Script::parse_at(text, 1);
            inside.unclear |= script.problem.is_some();
            inside.commands.extend(script.commands);
        }
    }
    inside
}

/// A command line in a word.
fn script(text: Option<&str>, transparent: bool) -> Inside {
    let Some(text) = text else {
        return Inside {
            unclear: true,
            ..Inside::default()
        };
    };
    let script = Script::parse_at(text, 1);
    let unclear = script.problem.is_some();
    Inside {
        commands: script.commands,
        transparent: transparent && !unclear,
        unclear,
        guarded: false,
    }
}

/// What `find` runs for what it finds, or writes and deletes by itself.
fn found(command: &Command) -> Option<Inside> {
    let words = &command.words;
    let mut inside = Inside::default();
    let mut at = 1;
    while at < words.len() {
        let Some(word) = words[at].value.as_deref() else {
            // It may be an action.
            inside.unclear = true;
            at += 1;
            continue;
        };
        let runs = matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch");
        if matches!(word, "-delete" | "-fls") || word.starts_with("-fprint") || word.starts_with("--exec") || runs {
            inside.guarded = true;
        }
        at += 1;
        if !runs {
            continue;
        }
        let from = at;
        while at < words.len() && !matches!(words[at].value.as_deref(), Some(";" | "+")) {
            at += 1;
        }
        inside.commands.push(Command {
            words: words[from..at].to_vec(),
            open: true,
            ..Command::default()
        });
    }
    (inside != Inside::default()).then_some(inside)
}

/// The name without folders.
pub(crate) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Variables that change no program's doing but its looks. As `NAME=value`.
pub(crate) fn harmless(assignment: &str) -> bool {
    const NAMES: &[&str] = &[
        "CI",
        "NODE_ENV",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLORTERM",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "CARGO_TERM_COLOR",
        "COLUMNS",
        "LINES",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHASHSEED",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
        "GO111MODULE",
        "CGO_ENABLED",
        "GOOS",
        "GOARCH",
        "DEBIAN_FRONTEND",
        "GIT_PAGER_IN_USE",
        "GIT_TERMINAL_PROMPT",
        "GIT_OPTIONAL_LOCKS",
        "SOURCE_DATE_EPOCH",
        "MAKEFLAGS_JOBS",
    ];
    let name = assignment.split(['=', '+']).next().unwrap_or_default();
    assignment.contains('=') && (NAMES.contains(&name) || name.starts_with("LC_"))
}
