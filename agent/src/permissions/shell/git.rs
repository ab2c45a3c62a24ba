//! Whether git may be run in a folder without a question: what its repository says of programs, git would run.
//!
//! Nothing is switched off, for not everything can be: a filter, a pager or a watcher of files may be called anything, and a submodule
//! brings settings of its own. A repository that says more than the usual is asked about.

use std::fs;
use std::path::{Path, PathBuf};

use agentglot_process::file::read_regular;
use memchr::memmem;

/// Larger files of a repository are not looked at.
const LARGEST: u64 = 64 << 20;

/// Settings that say nothing of programs, of other folders or of other settings.
const HARMLESS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.quotepath",
    "core.abbrev",
    "remote.url",
    "remote.fetch",
    "remote.pushurl",
    "remote.prune",
    "remote.tagopt",
    "branch.remote",
    "branch.merge",
    "branch.rebase",
    "branch.description",
    "branch.vscode-merge-base",
    "branch.github-pr-owner-number",
    "user.name",
    "user.email",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "fetch.prune",
    "init.defaultbranch",
    "merge.conflictstyle",
    "rerere.enabled",
    "color.ui",
    "gc.auto",
    "commit.gpgsign",
    "submodule.active",
    "submodule.url",
    "lfs.repositoryformatversion",
];

/// The working tree of the repository that git finds from a folder, if nothing in it says what is run or leads elsewhere. Where git finds
/// none, some of its commands read any file.
pub(in crate::permissions) fn tame(folder: &Path) -> Option<PathBuf> {
    for at in folder.ancestors() {
        match fs::symlink_metadata(at.join(".git")) {
            Ok(found) => return (found.is_dir() && is_tame(&at.join(".git"))).then(|| at.to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        // A folder that is a repository itself: what lies in it are settings.
        if exists(&at.join("HEAD")) && ["objects", "refs", "commondir"].iter().any(|name| exists(&at.join(name))) {
            return None;
        }
    }
    None
}

fn is_tame(git: &Path) -> bool {
    let kind = |name: &str| fs::symlink_metadata(git.join(name)).map(|found| found.file_type());
    let file = |name: &str| kind(name).is_ok_and(|kind| kind.is_file());
    let folder = |name: &str| kind(name).is_ok_and(|kind| kind.is_dir());
    let elsewhere = ["config.worktree", "commondir", "objects/info/alternates", "hooks/post-index-change"];
    if !file("HEAD") || !file("config") || !folder("objects") || !folder("refs") || elsewhere.iter().any(|name| exists(&git.join(name))) {
        return false;
    }
    // A part of the index that lies apart is not looked through.
    let Ok(entries) = fs::read_dir(git) else { return false };
    if entries
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex"))
    {
        return false;
    }
    let index = match kind("index") {
        Err(_) => Some(Vec::new()),
        Ok(kind) if kind.is_file() => whole(&git.join("index")),
        Ok(_) => None,
    };
    // Git looks into submodules, and into their settings. 0xE000 is their mode; `sdir` says that whole folders stand for what is in them.
    let leads_on = |index: Vec<u8>| [&[0, 0, 0xE0, 0], b"sdir"].iter().any(|mark| memmem::find(&index, *mark).is_some());
    if index.is_none_or(leads_on) {
        return false;
    }
    let config = whole(&git.join("config")).and_then(|config| String::from_utf8(config).ok());
    config.is_some_and(|config| is_harmless(&config, git))
}

/// Whether a file of settings has nothing but what is harmless, plainly written.
fn is_harmless(config: &str, git: &Path) -> bool {
    let mut section = String::new();
    config.lines().all(|line| {
        let line = line.trim_matches([' ', '\t']);
        if line.contains('\\') || line.chars().any(|c| c.is_control() && c != '\t') {
            return false;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']').filter(|header| !header.contains(']')) else {
                return false;
            };
            section = header.split([' ', '"']).next().unwrap_or_default().to_ascii_lowercase();
            return true;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        match format!("{section}.{}", name.trim().to_ascii_lowercase()).as_str() {
            // Husky's. What only reads runs one hook: when it writes what it has learnt of files into the index.
            "core.hookspath" => hooks(value.trim(), git).is_some_and(|hooks| !exists(&hooks.join("post-index-change"))),
            name => HARMLESS.contains(&name),
        }
    })
}

/// The folder that `core.hooksPath` names. `None`: git may read it otherwise (quotes, comments, `~/`, `%(prefix)/`).
fn hooks(value: &str, git: &Path) -> Option<PathBuf> {
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let literal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    (!quoted.is_empty() && quoted.chars().all(literal)).then(|| git.join("..").join(quoted))
}

fn whole(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, LARGEST).ok()
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
