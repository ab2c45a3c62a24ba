//! `agentglot.toml`: what holds where neither a flag nor a variable says otherwise.
//!
//! Two files are read: that of the project (in the working folder or the nearest folder above it) and, below it, that of the user.
//! A project's file comes with code that somebody else may have written, so it has no say in what is started, what is passed on,
//! what is allowed and what is kept, unless the user's file trusts that project.

mod file;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::adapters::raw::codec::Dialect;
use crate::status::Failure;
pub use file::{Layer, Setting};

/// The name of both files.
pub const FILE: &str = "agentglot.toml";

/// Both files together.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The project's, if there is one.
    pub project: Option<Layer>,
    /// The user's, if there is one.
    pub user: Option<Layer>,
    /// Where the user's is looked for.
    pub user_path: Option<PathBuf>,
    /// Whether the user's file trusts the project.
    pub trusted: bool,
    /// Keys of the project's file that do not count, and why.
    pub ignored: Vec<Ignored>,
}

/// A key that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The file.
    pub path: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// The key.
    pub key: String,
    /// Why not.
    pub why: String,
}

impl Config {
    /// Reads the files for a working folder.
    ///
    /// # Errors
    /// When a file cannot be read or says what cannot be meant; the error names file and line.
    pub fn load(cwd: &Path) -> Result<Self, Failure> {
        let user_path = user_path();
        let user = user_path.as_deref().map(read).transpose()?.flatten();
        let mut project = None;
        for folder in cwd.ancestors() {
            let path = folder.join(FILE);
            if user_path.as_deref().is_some_and(|user| same(user, &path)) {
                continue;
            }
            if let Some(layer) = read(&path)? {
                project = Some(layer);
                break;
            }
        }
        let mut config = Self {
            project,
            user,
            user_path,
            ..Self::default()
        };
        config.distrust();
        Ok(config)
    }

    /// Whether the user's file trusts a folder.
    pub fn trusts(&self, folder: &Path) -> bool {
        self.user.as_ref().is_some_and(|user| user.trust.iter().any(|path| same(path, folder)))
    }

    /// What holds for a setting that neither a flag nor a variable sets, and from which file it is.
    pub fn setting(&self, key: &str) -> Option<(&Setting, &Path)> {
        self.layers().find_map(|layer| Some((layer.settings.get(key)?, layer.path.as_path())))
    }

    /// All keys of settings that some file sets.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        file::SETTINGS.iter().map(|key| key.name).filter(|key| self.setting(key).is_some())
    }

    /// The program that is started for a dialect, and from which file it is.
    pub fn program(&self, dialect: Dialect) -> Option<(&Path, &Path)> {
        self.layers()
            .find_map(|layer| Some((layer.programs.get(dialect.name())?.text.as_ref(), layer.path.as_path())))
    }

    /// What the host's names of models are called behind us. The project's names go before the user's.
    pub fn models(&self) -> BTreeMap<String, String> {
        let both = [&self.user, &self.project];
        both.into_iter().flatten().flat_map(|layer| layer.models.clone()).collect()
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        [&self.project, &self.user].into_iter().flatten()
    }

    /// Takes away what a project may not say.
    fn distrust(&mut self) {
        let Some(project) = &mut self.project else { return };
        let folder = project.path.parent().map(Path::to_owned).unwrap_or_default();
        self.trusted = self.user.as_ref().is_some_and(|user| user.trust.iter().any(|path| same(path, &folder)));
        if let Some(line) = project.trust_line {
            self.ignored.push(Ignored {
                path: project.path.clone(),
                line,
                key: "trust".to_owned(),
                why: "only the user's own file says whom to trust".to_owned(),
            });
            project.trust.clear();
        }
        if self.trusted {
            return;
        }
        let why = match &self.user_path {
            Some(user) => format!("trust = [\"{}\"] is not in {}", folder.display(), user.display()),
            None => "there is no user's file that trusts this project".to_owned(),
        };
        let mut ignore = |key: String, setting: &Setting| {
            self.ignored.push(Ignored {
                path: project.path.clone(),
                line: setting.line,
                key,
                why: why.clone(),
            });
        };
        project.settings.retain(|key, setting| {
            let guarded = file::is_guarded(key, &setting.text);
            if guarded {
                ignore((*key).to_owned(), setting);
            }
            !guarded
        });
        for (name, setting) in &project.programs {
            ignore(format!("programs.{name}"), setting);
        }
        project.programs.clear();
        self.ignored.sort_by_key(|ignored| ignored.line);
    }
}

impl std::fmt::Display for Ignored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {} is ignored: {}", self.path.display(), self.line, self.key, self.why)
    }
}

/// `$XDG_CONFIG_HOME/agentglot/agentglot.toml`, `~/.config` being the usual place. A relative `XDG_CONFIG_HOME` does not count, as
/// its specification says.
fn user_path() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("agentglot").join(FILE))
}

fn read(path: &Path) -> Result<Option<Layer>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Layer::parse(path, &text).map(Some).map_err(Failure::Usage),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory) => Ok(None),
        // A folder above us that is not ours to read is somebody else's.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(Failure::Read {
            name: path.display().to_string(),
            error,
        }),
    }
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(user: &str, project: &str, root: &Path) -> Config {
        let layer = |name: &str, text: &str| Layer::parse(&root.join(name).join(FILE), text).unwrap();
        let mut config = Config {
            project: Some(layer("project", project)),
            user: Some(layer("user", user)),
            user_path: Some(root.join("user").join(FILE)),
            ..Config::default()
        };
        config.distrust();
        config
    }

    #[test]
    fn a_project_has_no_say_in_what_runs_unless_it_is_trusted() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("project");
        std::fs::create_dir(&folder).unwrap();
        let project = "\
            backend = 'cli:qwen=./bin/evil'\non_ask = ['Bash']\nrecord = 'kept'\npass_env = ['AWS_*']\npace = 2\ntrust = ['/']\n\
            [programs]\nclaude = './evil'\n[models]\nsonnet = 'max'\n";
        let unknown = config("pace = 'original'\nbackend = 'demo'\n", project, root.path());
        let keys: Vec<&str> = unknown.ignored.iter().map(|ignored| ignored.key.as_str()).collect();
        assert_eq!(keys, ["backend", "on_ask", "record", "pass_env", "trust", "programs.claude"]);
        assert_eq!(unknown.setting("backend").unwrap().0.text, "demo");
        assert_eq!(unknown.setting("pace").unwrap().0.text, "2");
        assert!(unknown.setting("record").is_none() && unknown.program(Dialect::Claude).is_none());
        assert_eq!(unknown.models()["sonnet"], "max");
        assert!(
            unknown.ignored[0].to_string().contains("agentglot.toml:1: backend is ignored: trust = "),
            "{}",
            unknown.ignored[0]
        );

        let user = format!("trust = ['{}']", folder.display());
        let trusted = config(&user, project, root.path());
        assert_eq!(trusted.ignored.len(), 1, "{:?}", trusted.ignored);
        let backend = &trusted.setting("backend").unwrap().0.text;
        assert_eq!(*backend, format!("cli:qwen={}", folder.join("bin/evil").display()));
        assert_eq!(trusted.program(Dialect::Claude).unwrap().0, folder.join("evil"));

        let above = format!("trust = ['{}']", root.path().display());
        assert!(
            !config(&above, project, root.path()).trusted,
            "trust is for one project, not for what lies below it"
        );
    }

    #[test]
    fn a_harmless_back_end_is_a_project_s_to_choose() {
        let root = tempfile::tempdir().unwrap();
        for harmless in ["demo", "cli:claude", "replay:log.jsonl"] {
            let config = config("", &format!("backend = '{harmless}'"), root.path());
            assert!(config.ignored.is_empty() && config.setting("backend").is_some(), "{harmless}");
        }
    }
}
