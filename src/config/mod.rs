//! `agentglot.toml`: what holds where neither a flag nor a variable says otherwise.
//!
//! Two files are read: that of the project (in the working folder, or in a folder above it that the user trusts) and, below it, that of the user.
//! A project's file comes with code that somebody else may have written. What counts of one that is not trusted are its [`HarmlessSettings`]; who
//! answers, what is started, allowed, passed on, paid and kept is not among them. A file of another user counts for nothing.

pub mod durations;
mod file;
mod harmless;
pub mod trust;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::adapters::raw::codec::Dialect;
use crate::child::file::open_regular;
use crate::io::shell_word;
use crate::status::Failure;
pub use file::{Layer, Setting};
pub use harmless::HarmlessSettings;
use trust::Trust;

/// The name of both files.
pub const FILE: &str = "agentglot.toml";

/// So large may such a file be, in bytes.
const LARGEST: u64 = 1 << 20;

/// Both files together.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The project's, if there is one that counts.
    pub project: Option<Project>,
    /// The user's, if there is one.
    pub user: Option<Layer>,
    /// Where the user's is looked for.
    pub user_path: Option<PathBuf>,
    /// Keys and whole files that do not count, and why.
    pub ignored: Vec<Ignored>,
}

/// The file of a project.
#[derive(Clone, Debug)]
pub enum Project {
    /// Of a folder that the user trusts: all that it says.
    Trusted(Layer),
    /// Of any other.
    Stranger(HarmlessSettings),
}

impl Project {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Trusted(layer) => &layer.path,
            Self::Stranger(harmless) => &harmless.path,
        }
    }

    /// Whether the user trusts its folder.
    pub const fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted(_))
    }
}

/// What does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The file.
    pub path: PathBuf,
    /// Its line, from 1; the whole file, if there is none.
    pub line: Option<usize>,
    /// The key; `the file`, if it is all of it.
    pub key: String,
    /// Why not.
    pub why: String,
    /// Somebody else put it there for us to find: the user is told without having asked.
    pub foreign: bool,
}

impl Config {
    /// Reads the files for a working folder.
    ///
    /// # Errors
    /// When a file that counts cannot be read or says what cannot be meant; the error names file and line.
    pub fn load(cwd: &Path) -> Result<Self, Failure> {
        let mut config = Self {
            user_path: user_path(),
            ..Self::default()
        };
        if let Some(path) = config.user_path.clone() {
            config.user = config.read(&path)?;
        }
        let trust = Trust::of(config.user.as_ref());
        for (above, folder) in cwd.ancestors().enumerate() {
            let path = folder.join(FILE);
            if config.user_path.as_deref().is_some_and(|user| same(user, &path)) {
                continue;
            }
            let trusted = trust.holds(folder);
            if !trusted && above > 0 {
                if path.symlink_metadata().is_ok() {
                    let why = format!(
                        "it is in a folder above that nobody trusts; `agentglot trust {}` does",
                        shell_word(&folder.display().to_string())
                    );
                    config.ignore(&path, why, false);
                }
                continue;
            }
            if let Some(layer) = config.read(&path)? {
                config.project = Some(config.judge(layer, folder, trusted));
                break;
            }
        }
        Ok(config)
    }

    /// What holds for a setting that neither a flag nor a variable sets, and from which file it is.
    pub fn setting(&self, key: &str) -> Option<(&Setting, &Path)> {
        let project = self.project.as_ref().and_then(|project| match project {
            Project::Trusted(layer) => layer.settings.get(key),
            Project::Stranger(harmless) => harmless.setting(key),
        });
        let project = project.and_then(|setting| Some((setting, self.project.as_ref()?.path())));
        project.or_else(|| {
            let user = self.user.as_ref()?;
            Some((user.settings.get(key)?, user.path.as_path()))
        })
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
        let mut models = self.user.as_ref().map(|user| user.models.clone()).unwrap_or_default();
        models.extend(self.layers().next().map(|layer| layer.models.clone()).unwrap_or_default());
        models
    }

    /// The files that may say everything.
    fn layers(&self) -> impl Iterator<Item = &Layer> {
        let project = self.project.as_ref().and_then(|project| match project {
            Project::Trusted(layer) => Some(layer),
            Project::Stranger(_) => None,
        });
        [project, self.user.as_ref()].into_iter().flatten()
    }

    /// What counts of the file of a folder.
    fn judge(&mut self, mut layer: Layer, folder: &Path, trusted: bool) -> Project {
        let path = layer.path.clone();
        let mut ignored: Vec<Ignored> = Vec::new();
        let mut ignore = |key: String, line: usize, why: &str| {
            ignored.push(Ignored {
                path: path.clone(),
                line: Some(line),
                key,
                why: why.to_owned(),
                foreign: false,
            });
        };
        if let Some(line) = layer.trust_line.take() {
            ignore("trust".to_owned(), line, "only the user says whom to trust");
            layer.trust.clear();
        }
        let project = if trusted {
            Project::Trusted(layer)
        } else {
            let why = format!(
                "nobody trusts this folder; `agentglot trust {}` does",
                shell_word(&folder.display().to_string())
            );
            let (harmless, others) = HarmlessSettings::of(layer);
            others.into_iter().for_each(|(key, line)| ignore(key, line, &why));
            Project::Stranger(harmless)
        };
        ignored.sort_by_key(|ignored| ignored.line);
        self.ignored.append(&mut ignored);
        project
    }

    /// A file of ours or of root's. What somebody else has put there is passed over with a word, and so is what is no file.
    fn read(&mut self, path: &Path) -> Result<Option<Layer>, Failure> {
        let failed = |error| Failure::Read {
            name: path.display().to_string(),
            error,
        };
        let (file, about) = match open_regular(path) {
            Ok(opened) => opened,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            // A folder above us that is not ours to read is somebody else's.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory) => {
                self.ignore(path, error.to_string(), true);
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        };
        if let Some(why) = foreign(&about) {
            self.ignore(path, why, true);
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST {
            self.ignore(path, format!("it has more than {LARGEST} bytes"), true);
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("{}: it is no UTF-8 text", path.display())))?;
        Layer::parse(path, &text).map(Some).map_err(Failure::Usage)
    }

    fn ignore(&mut self, path: &Path, why: String, foreign: bool) {
        self.ignored.push(Ignored {
            path: path.to_owned(),
            line: None,
            key: "the file".to_owned(),
            why,
            foreign,
        });
    }
}

/// Why a file is another user's and counts for nothing, if it is.
fn foreign(about: &std::fs::Metadata) -> Option<String> {
    let owner = std::os::unix::fs::MetadataExt::uid(about);
    let ours = rustix::process::geteuid().as_raw();
    (owner != ours && owner != 0).then(|| format!("it belongs to another user ({owner}), and not to you ({ours}) or root"))
}

impl std::fmt::Display for Ignored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.path.display())?;
        self.line.iter().try_for_each(|line| write!(f, "{line}:"))?;
        write!(f, " {} is ignored: {}", self.key, self.why)
    }
}

/// `$XDG_CONFIG_HOME/agentglot/agentglot.toml`, `~/.config` being the usual place. A relative `XDG_CONFIG_HOME` does not count, as
/// its specification says.
fn user_path() -> Option<PathBuf> {
    Some(user_folder()?.join(FILE))
}

/// Where the user's own files lie.
fn user_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("agentglot"))
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(project: &str, trusted: bool) -> Config {
        let mut config = Config {
            user: Some(Layer::parse(Path::new("/user/agentglot.toml"), "pace = 'original'\nbackend = 'demo'\n").unwrap()),
            ..Config::default()
        };
        let layer = Layer::parse(Path::new("/project/agentglot.toml"), project).unwrap();
        config.project = Some(config.judge(layer, Path::new("/project"), trusted));
        config
    }

    /// Every key that there is, each with a value that it takes.
    fn everything() -> String {
        let mut text = String::new();
        for key in &file::SETTINGS {
            let value = match key.name {
                "backend" => "'replay:log.jsonl'",
                "pace" => "2",
                "on_ask" => "'deny'",
                "search_engine" => "'http://127.0.0.1:1/'",
                "keep_daemons" | "confine_commands" | "strict_args" => "true",
                name if name.ends_with("_timeout") || name.starts_with("max_") || name == "heartbeat" => "7",
                _ => "'x'",
            };
            text.push_str(&format!("{} = {value}\n", key.name));
        }
        text + "trust = ['/']\n[programs]\nclaude = './evil'\n[models]\nsonnet = 'max'\n"
    }

    #[test]
    fn of_a_stranger_s_file_only_manners_count() {
        let stranger = judged(&everything(), false);
        let counts: Vec<&str> = file::SETTINGS
            .iter()
            .map(|key| key.name)
            .filter(|key| stranger.setting(key).is_some_and(|(_, path)| path.starts_with("/project")))
            .collect();
        let harmless = [
            "pace",
            "start_timeout",
            "silence_timeout",
            "turn_timeout",
            "permission_timeout",
            "control_timeout",
            "shutdown_timeout",
            "prompt_timeout",
            "heartbeat",
            "strict_args",
        ];
        assert_eq!(counts, harmless);
        assert_eq!(
            stranger.ignored.len(),
            file::SETTINGS.len() - harmless.len() + 3,
            "{:?}",
            stranger.ignored
        );
        assert!(stranger.program(Dialect::Claude).is_none() && stranger.models().is_empty());
        assert_eq!(stranger.setting("backend").unwrap().0.text, "demo", "the user's");
        let told = stranger.ignored[0].to_string();
        assert_eq!(
            told,
            "/project/agentglot.toml:1: backend is ignored: nobody trusts this folder; `agentglot trust /project` does"
        );

        let trusted = judged(&everything(), true);
        assert_eq!(trusted.ignored.len(), 1, "{:?}", trusted.ignored);
        assert_eq!(trusted.setting("backend").unwrap().0.text, "replay:/project/log.jsonl");
        assert_eq!(trusted.program(Dialect::Claude).unwrap().0, Path::new("/project/evil"));
        assert_eq!(trusted.models()["sonnet"], "max");
    }

    #[test]
    fn a_stranger_makes_nobody_wait() {
        for (text, counts) in [
            ("silence_timeout = 0", false),
            ("silence_timeout = 3601", false),
            ("silence_timeout = 3600", true),
            ("shutdown_timeout = 0", false),
            ("pace = 11", false),
            ("pace = 'original'", true),
        ] {
            let key = text.split(' ').next().unwrap();
            let config = judged(text, false);
            assert_eq!(
                config.setting(key).is_some_and(|(_, path)| path.starts_with("/project")),
                counts,
                "{text}"
            );
        }
    }
}
