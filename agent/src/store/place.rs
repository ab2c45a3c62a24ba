//! Where sessions lie, and which ids they may have.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agentglot_adapters::raw::store::short_slug;
pub(super) use agentglot_adapters::raw::store::stem;
use agentglot_process::file::read_text;

/// How many digits of a UUID stand behind the beginning of an id that is none.
pub(super) const DIGITS: usize = 26;

/// What ids of sessions look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// UUIDs.
    Uuid,
    /// Eight hexadecimal digits.
    Short,
    /// Letters and digits behind these.
    Prefixed(&'static str),
}

impl Ids {
    /// Whether this is one.
    pub(super) fn fit(self, id: &str) -> bool {
        match self {
            Self::Uuid => is_uuid(id),
            Self::Short => id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
            Self::Prefixed(prefix) => id.strip_prefix(prefix).is_some_and(is_word),
        }
    }
}

/// A folder of our own that holds a folder for each working folder.
pub fn own_root(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(state(env)?.join("sessions"))
}

/// The folder for what we keep ourselves.
pub(super) fn state(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("AGENTGLOT_STATE_DIR")
        // A path that is not absolute is none there, says the specification of base directories.
        .or_else(|| set("XDG_STATE_HOME").filter(|path| path.is_absolute()).map(|path| path.join("agentglot")))
        .or_else(|| Some(set("HOME")?.join(".local/state/agentglot")))
}

/// The name of a working folder's folder.
pub(super) fn slug(cwd: &Path) -> String {
    short_slug(&cwd.to_string_lossy())
}

/// Whether it is a session's id of any kind.
pub(super) fn is_any_id(id: &str) -> bool {
    let behind = |(_, digits): (&str, &str)| digits.len() == DIGITS && is_word(digits);
    Ids::Uuid.fit(id) || Ids::Short.fit(id) || id.split_once('_').is_some_and(behind)
}

/// The part of an id behind its beginning, which becomes part of a file's name.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

pub(super) fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a subagent's id can be a part of a file's name.
pub(super) fn is_agent(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The largest file of git's that says where something lies, in bytes.
const POINTER: u64 = 8 << 10;

/// The branch of the repository around a folder; `HEAD` where there is none.
pub(super) fn branch(cwd: &Path) -> String {
    let found = cwd.ancestors().find_map(|dir| {
        let git = dir.join(".git");
        let git = match read_text(&git, POINTER) {
            // A work tree: a file names the folder.
            Ok(text) => dir.join(text.strip_prefix("gitdir:")?.trim()),
            Err(error) if error.kind() == ErrorKind::IsADirectory => git,
            Err(_) => return None,
        };
        read_text(&git.join("HEAD"), POINTER).ok()
    });
    let branch = found.and_then(|head| Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned()));
    branch.unwrap_or_else(|| "HEAD".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Persona;
    use crate::persona::claude::CLAUDE;
    use crate::persona::cursor::CURSOR;
    use crate::persona::qwen::CODE;
    use crate::persona::tricode::TRICODE;

    fn root(persona: &Persona, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        (persona.sessions.root)(env)
    }

    #[test]
    fn the_root_follows_the_environment() {
        let env =
            |pairs: &'static [(&str, &str)]| move |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        let home = env(&[("HOME", "/h")]);
        assert_eq!(root(&CLAUDE, &home).unwrap(), Path::new("/h/.claude/projects"));
        assert_eq!(root(&CURSOR, &home).unwrap(), Path::new("/h/.local/state/agentglot/sessions"));
        let all = env(&[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c"), ("XDG_STATE_HOME", "/x")]);
        assert_eq!(root(&CLAUDE, &all).unwrap(), Path::new("/c/projects"));
        assert_eq!(root(&TRICODE, &all).unwrap(), Path::new("/x/agentglot/sessions"));
        let own = env(&[("XDG_STATE_HOME", "x"), ("AGENTGLOT_STATE_DIR", "/s")]);
        assert_eq!(root(&CODE, &own).unwrap(), Path::new("/s/sessions"));
        assert_eq!(root(&CLAUDE, &own), None);
    }

    #[test]
    fn ids_are_ids() {
        assert!(Ids::Short.fit("0a1b2c3d") && !Ids::Short.fit("../../aa") && !Ids::Short.fit(""));
        assert!(Ids::Uuid.fit("11111111-2222-4333-8444-555555555555"));
        for bad in ["", "../11111111-2222-4333-8444-555555555", "11111111-2222-4333-8444-55555555555g"] {
            assert!(!Ids::Uuid.fit(bad), "{bad}");
        }
        assert!(is_agent("a1b2") && !is_agent("../x") && !is_agent(""));
    }
}
