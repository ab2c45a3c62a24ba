//! Where a path leads: as it is written and behind its links.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::Guarded;

/// A path, made absolute in two ways. Whoever allows asks both, whoever forbids is content with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Without `.` and `..`, links left alone.
    pub written: PathBuf,
    /// With links followed as far as there is something, as the system does it: `..` behind a link leads out of where the link leads.
    pub real: PathBuf,
    /// The same for who takes `..` away first.
    plain: PathBuf,
}

impl Place {
    /// Where a path leads from a folder. `~` is the user's own folder.
    pub fn of(path: &str, cwd: &Path, home: Option<&Path>) -> Self {
        let joined = match (path.strip_prefix('~'), home) {
            (Some(""), Some(home)) => home.to_owned(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => cwd.join(path),
        };
        let written = flat(&joined);
        Self {
            real: real(&joined),
            plain: real(&written),
            written,
        }
    }

    /// A path that is free of links and of `..`.
    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            real: path.clone(),
            plain: path.clone(),
            written: path,
        }
    }

    /// Everything that it may be called.
    pub(super) fn names(&self) -> [&Path; 3] {
        [&self.written, &self.real, &self.plain]
    }

    /// Whether it lies in one of these folders, which are free of links.
    pub fn is_in<P: AsRef<Path>>(&self, folders: &[P]) -> bool {
        let inside = |path: &Path| folders.iter().any(|folder| path.starts_with(folder.as_ref()));
        inside(&self.real) && inside(&self.plain)
    }

    /// Why writing here is never a matter of course: it would change what runs later, or who may come in.
    pub fn sensitive(&self, config: Option<&Path>, guarded: &Guarded) -> Option<&'static str> {
        if let Some(config) = config
            && [&self.written, &self.real, &self.plain].into_iter().any(|path| path.starts_with(config))
        {
            return Some("it holds the agent's own settings");
        }
        [&self.written, &self.real, &self.plain]
            .into_iter()
            .find_map(|path| sensitive(path, guarded))
    }
}

/// Without `.` and `..`.
pub(super) fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                flat.pop();
            }
            part => flat.push(part),
        }
    }
    flat
}

/// Links followed as far as the path exists; a link that leads nowhere yet is followed too, because whoever writes creates what it names.
fn real(path: &Path) -> PathBuf {
    let mut rest: Vec<Component<'_>> = path.components().collect();
    rest.reverse();
    let mut at = PathBuf::new();
    // What links add is put before what is left.
    let mut added: Vec<std::ffi::OsString> = Vec::new();
    let mut links = 0;
    loop {
        let part: std::ffi::OsString = match added.pop() {
            Some(part) => part,
            None => match rest.pop() {
                Some(part) => part.as_os_str().to_owned(),
                None => return at,
            },
        };
        if part == "/" {
            at = PathBuf::from("/");
        } else if part == ".." {
            at.pop();
        } else if part != "." {
            at.push(&part);
            if let Ok(to) = std::fs::read_link(&at) {
                links += 1;
                if links > 40 {
                    return at;
                }
                at.pop();
                added.extend(to.components().rev().map(|part| part.as_os_str().to_owned()));
            }
        }
    }
}

/// Folders whose content runs, or says what runs.
const FOLDERS: &[(&str, &str)] = &[
    (".git", "what lies in .git can run commands"),
    (".ssh", "it holds keys"),
    (".gnupg", "it holds keys"),
    (".aws", "it holds keys"),
    (".kube", "it holds keys"),
    (".docker", "it holds keys"),
    (".agentglot", "it holds an agent's settings"),
    (".vscode", "an editor runs what it says"),
    (".idea", "an editor runs what it says"),
    (".husky", "git runs what it says"),
    (".devcontainer", "an editor runs what it says"),
    (".zed", "an editor runs what it says"),
    (".direnv", "shells run what it says"),
];

/// Files that shells, git or agents read when they start.
const FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".gitconfig",
    ".gitmodules",
    ".ripgreprc",
    ".mcp.json",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".envrc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".curlrc",
    ".wgetrc",
    ".screenrc",
    ".tmux.conf",
    ".xinitrc",
    ".xprofile",
    "agentglot.toml",
];

/// What is below the agents' folders of settings and lies in one where a user's prompts and plans lie: as harmless as any file.
fn harmless(parts: &[&OsStr], open: &[&str]) -> bool {
    parts.get(1).is_some_and(|part| open.iter().any(|name| same(part, name))) && parts.len() > 2
}

fn same(part: &OsStr, name: &str) -> bool {
    // File systems exist that fold case (of more than ASCII) and pass over what is not seen, so nobody may write `.GIT` either.
    let folded = |text: &str| -> String {
        let seen = text.chars().filter(|c| !super::shell::is_unseen(*c));
        seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
    };
    part.to_str()
        .is_some_and(|part| part.eq_ignore_ascii_case(name) || !part.is_ascii() && folded(part) == folded(name))
}

fn sensitive(path: &Path, guarded: &Guarded) -> Option<&'static str> {
    let parts: Vec<&OsStr> = path.iter().collect();
    for (index, part) in parts.iter().enumerate() {
        if let Some((_, why)) = FOLDERS.iter().find(|(name, _)| same(part, name)) {
            return Some(why);
        }
        if let Some((_, open)) = guarded.folders.iter().find(|(name, _)| same(part, name))
            && !harmless(&parts[index..], open)
        {
            return Some("it holds an agent's settings");
        }
    }
    let name = parts.last()?;
    if FILES.iter().chain(&guarded.files).any(|file| same(name, file)) {
        return Some("it is read by programs when they start");
    }
    // `.config/fish`, `.config/autostart` and their like.
    let text = path.to_string_lossy();
    let known = [
        "/.config/fish/",
        "/.config/autostart/",
        "/.config/systemd/",
        "/.config/git/",
        "/.local/bin/",
        "/LaunchAgents/",
    ];
    known
        .iter()
        .any(|folder| text.contains(folder))
        .then_some("it is read by programs when they start")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_do_not_lead_out_unseen() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let work = root.join("work");
        std::fs::create_dir_all(work.join("src")).unwrap();
        std::fs::create_dir_all(root.join("out/deep")).unwrap();
        std::os::unix::fs::symlink(root.join("out"), work.join("link")).unwrap();
        std::os::unix::fs::symlink("../out/new.txt", work.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", work.join("loop")).unwrap();
        std::os::unix::fs::symlink(&work, root.join("alias")).unwrap();
        let alias = root.join("alias/src/x");
        for (path, inside) in [
            ("src/a.rs", true),
            ("src/../b", true),
            ("not/yet/there", true),
            ("../out/x", false),
            ("link/x", false),
            ("link/deep/../../work/x", true),
            ("link/../x", false),
            ("dangling", false),
            ("/etc/passwd", false),
            ("~/x", false),
            ("~", false),
            ("", true),
            (".", true),
            ("src/./.././..", false),
            (alias.to_str().unwrap(), true),
        ] {
            let place = Place::of(path, &work, Some(Path::new("/home/nobody")));
            assert_eq!(place.is_in(&[&work]), inside, "{path} {place:?}");
        }
        let _ = Place::of("loop/x", &work, None);
    }

    #[test]
    fn what_programs_read_when_they_start_is_no_matter_of_course() {
        let of =
            |path: &str| Place::of(path, Path::new("/w"), Some(Path::new("/home/u"))).sensitive(Some(Path::new("/conf")), &crate::persona::guarded());
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            "sub/.GIT/config",
            ".git",
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".claude/worktrees",
            "~/.bashrc",
            "~/.ssh/authorized_keys",
            "x/.envrc",
            ".mcp.json",
            "/conf/x",
            "~/.config/fish/config.fish",
            "a/../.vscode/tasks.json",
            ".\u{17f}sh/config",
            ".\u{df}h/config",
            ".g\u{200c}it/hooks/pre-commit",
            ".devcontainer/devcontainer.json",
            ".yarnrc.yml",
        ] {
            assert!(of(path).is_some(), "{path}");
        }
        for path in [
            "src/main.rs",
            ".github/workflows/x.yml",
            ".gitignore",
            ".claude/plans/a.md",
            "git/x",
            ".env",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
