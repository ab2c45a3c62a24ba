use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::{MAX_ARGUMENT, StartError};

/// The variable that counts how many of us stand one behind the other.
pub const DEPTH: &str = "AGENTGLOT_DEPTH";

/// The variable that says of which children a process is a descendant: marks joined by `:`, the outermost first.
pub const FAMILY: &str = "AGENTGLOT_FAMILY";

/// What any program needs to run on this machine: where things are, who the user is, which language and clock, how the network
/// is reached. No keys. A `*` at the end stands for any ending.
pub const BASIC: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "NIX_*",
    "NVM_*",
    "VOLTA_HOME",
    "FNM_*",
];

/// What a program finds in its environment: of ours, only what is allowed; then what is set for it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    allowed: Vec<OsString>,
    set: Vec<(OsString, OsString)>,
}

impl Default for Environment {
    /// [`BASIC`] alone.
    fn default() -> Self {
        Self::nothing().allow(BASIC)
    }
}

impl Environment {
    /// Nothing of ours.
    pub const fn nothing() -> Self {
        Self {
            allowed: Vec::new(),
            set: Vec::new(),
        }
    }

    /// Passes variables of ours on, if they are set. A `*` at the end of a name stands for any ending.
    #[must_use]
    pub fn allow(mut self, names: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.allowed.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }

    /// Sets a variable for the program, whatever ours says.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.set.retain(|(known, _)| *known != name);
        self.set.push((name, value.into()));
        self
    }

    /// What a program gets out of `ours`. Our own two variables, [`DEPTH`] and [`FAMILY`], are never passed on: they are
    /// counted and lengthened for each child.
    pub fn choose(&self, ours: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let inherited = ours
            .into_iter()
            .filter(|(name, _)| self.is_allowed(name) && !self.set.iter().any(|(known, _)| known == name));
        let all = inherited.chain(self.set.iter().cloned());
        all.filter(|(name, _)| name != DEPTH && name != FAMILY).collect()
    }

    fn is_allowed(&self, name: &OsStr) -> bool {
        let fits = |pattern: &OsString| match pattern.as_bytes() {
            [beginning @ .., b'*'] => name.as_bytes().starts_with(beginning),
            whole => name.as_bytes() == whole,
        };
        self.allowed.iter().any(fits)
    }
}

/// The depth of a child, if ours is `ours`.
pub fn deeper(ours: Option<&OsStr>, limit: u32) -> Result<u32, StartError> {
    let depth = match ours {
        None => 0,
        Some(value) if value.is_empty() => 0,
        Some(value) => value
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| StartError::BadDepth { value: value.to_owned() })?,
    };
    match depth {
        depth if depth < limit => Ok(depth + 1),
        depth => Err(StartError::TooDeep { depth }),
    }
}

/// Refuses what the system would cut off or refuse with a word that helps nobody.
pub fn check(what: impl Fn() -> String, text: &OsStr, more: usize) -> Result<(), StartError> {
    if text.as_bytes().contains(&0) {
        return Err(StartError::Nul { what: what() });
    }
    let bytes = text.len() + more;
    if bytes > MAX_ARGUMENT {
        return Err(StartError::TooLong { what: what(), bytes });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        list.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn passes_on_what_is_allowed_and_nothing_else() {
        let ours = pairs(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("AWS_SECRET", "x"),
            ("ANTHROPIC_API_KEY", "k"),
            ("MINE", "1"),
            (DEPTH, "1"),
            (FAMILY, "a"),
        ]);
        let chosen = |env: Environment| env.choose(ours.clone());
        assert_eq!(chosen(Environment::default()), pairs(&[("PATH", "/bin"), ("LC_ALL", "C")]));
        assert_eq!(
            chosen(Environment::nothing().allow(["ANTHROPIC_*", "MINE", "NOT_SET"])),
            pairs(&[("ANTHROPIC_API_KEY", "k"), ("MINE", "1")])
        );
        assert_eq!(
            chosen(Environment::nothing().allow(["*"]).set("MINE", "2").set("PATH", "/x").set("PATH", "/y")),
            pairs(&[
                ("LC_ALL", "C"),
                ("AWS_SECRET", "x"),
                ("ANTHROPIC_API_KEY", "k"),
                ("MINE", "2"),
                ("PATH", "/y")
            ])
        );
    }

    #[test]
    fn counts_and_stops() {
        let deeper = |ours: Option<&str>| deeper(ours.map(OsStr::new), 4);
        assert_eq!(deeper(None).unwrap(), 1);
        assert_eq!(deeper(Some("")).unwrap(), 1);
        assert_eq!(deeper(Some("3")).unwrap(), 4);
        assert!(matches!(deeper(Some("4")), Err(StartError::TooDeep { depth: 4 })));
        assert!(matches!(deeper(Some("4000000000")), Err(StartError::TooDeep { .. })));
        assert!(matches!(deeper(Some("two")), Err(StartError::BadDepth { .. })));
    }

    #[test]
    fn refuses_what_no_program_can_be_given() {
        let check = |bytes: &[u8]| check(|| "argument 1".to_owned(), OsStr::from_bytes(bytes), 0);
        assert!(check(&[b'a'; MAX_ARGUMENT]).is_ok());
        let error = check(&[b'a'; MAX_ARGUMENT + 1]).unwrap_err().to_string();
        assert!(error.starts_with("argument 1 has 131072 bytes"), "{error}");
        let error = check(b"a\0b").unwrap_err().to_string();
        assert!(error.starts_with("argument 1 holds a NUL"), "{error}");
    }
}
