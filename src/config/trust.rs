//! Whom the user trusts: folders, by the user's `agentglot.toml` and by a list beside it that `agentglot trust` keeps.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{FILE, Layer, foreign, same, user_folder};
use crate::child::file::{open_regular, read_text};
use crate::child::leftover;
use crate::status::Failure;

/// The name of the list, in the folder of the user's `agentglot.toml`: a folder a line.
pub const LIST: &str = "trusted";

/// The folders that the user trusts: each of them exactly, not what lies below it.
#[derive(Clone, Debug, Default)]
pub struct Trust(Vec<PathBuf>);

impl Trust {
    /// What the user's files say now.
    pub fn now() -> Self {
        let mut config = super::Config::default();
        let user = super::user_path().and_then(|path| config.read(&path).ok().flatten());
        Self::of(user.as_ref())
    }

    pub(super) fn of(user: Option<&Layer>) -> Self {
        let mut folders = user.map(|user| user.trust.clone()).unwrap_or_default();
        folders.extend(listed().unwrap_or_default());
        Self(folders)
    }

    /// Whether it is one of them.
    pub fn holds(&self, folder: &Path) -> bool {
        self.0.iter().any(|trusted| same(trusted, folder))
    }

    /// All of them, in order.
    pub fn folders(&self) -> &[PathBuf] {
        &self.0
    }
}

/// Trusts a folder from now on. Returns what it is called without links.
///
/// # Errors
/// When there is no such folder, or the list cannot be written.
pub fn add(folder: &Path) -> Result<PathBuf, Failure> {
    let folder = named(folder)?;
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("{} is no folder", folder.display())));
    }
    if Trust::now().holds(&folder) {
        return Ok(folder);
    }
    let path = list()?;
    let failed = |error| Failure::Write {
        name: path.display().to_string(),
        error,
    };
    if let Some(parent) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
    }
    // One write at the end of the file: two of us do not disturb each other.
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(failed)?;
    file.write_all(format!("{}\n", folder.display()).as_bytes()).map_err(failed)?;
    Ok(folder)
}

/// Trusts a folder no longer. Whether it was trusted.
///
/// # Errors
/// When the list cannot be written, or the folder stands in `agentglot.toml`, which is the user's to change.
pub fn remove(folder: &Path) -> Result<bool, Failure> {
    // It may be gone.
    let folder = named(folder).unwrap_or_else(|_| folder.to_owned());
    let path = list()?;
    let all = listed().map_err(|error| Failure::Read {
        name: path.display().to_string(),
        error,
    })?;
    let (gone, kept): (Vec<PathBuf>, Vec<PathBuf>) = all.into_iter().partition(|known| same(known, &folder));
    if !gone.is_empty() {
        let failed = |error| Failure::Write {
            name: path.display().to_string(),
            error,
        };
        let parent = path.parent().unwrap_or(Path::new("/"));
        let mut file = leftover::draft(parent).map_err(failed)?;
        let text: String = kept.iter().map(|folder| format!("{}\n", folder.display())).collect();
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
    }
    if Trust::now().holds(&folder) {
        return Err(Failure::Usage(format!(
            "{} stands in `trust` of {}: take it out there",
            folder.display(),
            path.with_file_name(FILE).display()
        )));
    }
    Ok(!gone.is_empty())
}

fn named(folder: &Path) -> Result<PathBuf, Failure> {
    let folder = folder.canonicalize().map_err(|error| Failure::Read {
        name: folder.display().to_string(),
        error,
    })?;
    match folder.to_str() {
        Some(text) if !text.contains('\n') => Ok(folder),
        _ => Err(Failure::Usage(format!("{}: a name that no line can hold", folder.display()))),
    }
}

fn list() -> Result<PathBuf, Failure> {
    let folder = user_folder().ok_or_else(|| Failure::Usage("neither HOME nor XDG_CONFIG_HOME says where your files are".to_owned()))?;
    Ok(folder.join(LIST))
}

/// The folders of the list. One that belongs to somebody else counts for nothing.
fn listed() -> std::io::Result<Vec<PathBuf>> {
    let Ok(path) = list() else { return Ok(Vec::new()) };
    match open_regular(&path) {
        Ok((_, about)) if foreign(&about).is_some() => return Ok(Vec::new()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        _ => {}
    }
    let text = read_text(&path, super::LARGEST)?;
    Ok(text.lines().filter(|line| line.starts_with('/')).map(PathBuf::from).collect())
}
