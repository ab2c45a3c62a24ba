//! What is kept on disk of a place, so that logs need not be read again: a folder for each place below the user's cache.
//!
//! A second program that shows the same place at the same time keeps its own: a folder has a lock.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::library::{Log, What};
use super::place::Stamp;
use super::search_index::{Doc, Saved, Words};
use super::summary::Summary;
use crate::system::{cache_folder, private_folder};

/// What was known of the logs of a place.
#[derive(Debug, Default)]
pub(super) struct Kept {
    folder: Option<PathBuf>,
    /// Locked as long as we live.
    _lock: Option<File>,
    logs: HashMap<PathBuf, Known>,
}

/// What was known of a log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    path: String,
    size: u64,
    modified: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Option<Doc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<Arc<Summary>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unread: Option<Arc<str>>,
}

/// So many programs keep something of one place at the same time.
const SLOTS: usize = 4;
/// Whoever reads logs otherwise reads them anew.
const HEAD: &str = concat!("agentglot view 3 ", env!("CARGO_PKG_VERSION"));

impl Kept {
    /// What is kept of the place with this key; nothing without one, or where nothing can be kept.
    pub(super) fn open(key: Option<&str>) -> (Self, Words) {
        let Some(home) = key.and_then(|key| Some(cache_folder()?.join("agentglot").join("view").join(key))) else {
            return Default::default();
        };
        for slot in 0..SLOTS {
            let folder = home.join(slot.to_string());
            let Ok(lock) = private_folder(&folder).and_then(|()| File::create(folder.join("lock"))) else {
                break;
            };
            if lock.try_lock().is_ok() {
                // Without its words a log is not known.
                let known = load(&folder.join("logs")).and_then(|(saved, logs)| Some((Words::open(Some(folder.clone()), &saved)?, logs)));
                let (words, logs) = known.unwrap_or_else(|| (Words::empty(Some(folder.clone())), HashMap::new()));
                let kept = Self {
                    folder: Some(folder),
                    _lock: Some(lock),
                    logs,
                };
                return (kept, words);
            }
        }
        Default::default()
    }

    /// What is known of a log, if it is as it was.
    pub(super) fn take(&mut self, path: &Path, stamp: Stamp) -> Option<(What, Option<Doc>)> {
        let known = self.logs.remove(path)?;
        let was = Stamp {
            size: known.size,
            modified: known.modified,
        };
        let what = match (known.summary, known.unread) {
            (Some(summary), _) => What::Told(summary),
            (None, Some(why)) => What::Unread(why),
            (None, None) => What::Empty,
        };
        (was == stamp).then_some((what, known.doc))
    }

    /// Whether it still holds what was kept.
    pub(super) fn is_full(&self) -> bool {
        !self.logs.is_empty()
    }

    /// What was not asked for is gone.
    pub(super) fn forget(&mut self) {
        self.logs = HashMap::new();
    }

    /// Writes what is known.
    pub(super) fn save(&self, known: &[Known], words: &Saved) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let draft = folder.join("logs.new");
        let mut file = BufWriter::new(File::create(&draft)?);
        writeln!(file, "{HEAD}")?;
        serde_json::to_writer(&mut file, words)?;
        file.write_all(b"\n")?;
        for known in known.iter().filter(|known| !known.path.is_empty()) {
            serde_json::to_writer(&mut file, known)?;
            file.write_all(b"\n")?;
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?;
        std::fs::rename(draft, folder.join("logs"))
    }
}

impl Known {
    /// What is known of a log. One whose path is no text is not kept.
    pub(super) fn of(log: &Log) -> Self {
        let (summary, unread) = match &log.what {
            What::Told(summary) => (Some(Arc::clone(summary)), None),
            What::Unread(why) => (None, Some(Arc::clone(why))),
            What::Empty | What::Waiting => (None, None),
        };
        Self {
            path: log.path.to_str().unwrap_or_default().to_owned(),
            size: log.stamp.size,
            modified: log.stamp.modified,
            doc: log.doc,
            summary,
            unread,
        }
    }
}

/// A file that is damaged holds nothing.
fn load(path: &Path) -> Option<(Saved, HashMap<PathBuf, Known>)> {
    let mut lines = BufReader::new(File::open(path).ok()?).lines();
    if lines.next()?.ok()? != HEAD {
        return None;
    }
    let saved = serde_json::from_str(&lines.next()?.ok()?).ok()?;
    let logs = lines.map(|line| {
        let known: Known = serde_json::from_str(&line.ok()?).ok()?;
        Some((PathBuf::from(&known.path), known))
    });
    Some((saved, logs.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_of_another_version_holds_nothing() {
        let folder = std::env::temp_dir().join(format!("agentglot-kept-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("logs");
        let words = r#"{"next":0,"files":[]}"#;
        let line = r#"{"path":"/a","size":1,"modified":2}"#;
        for (text, many) in [
            (format!("{HEAD}\n{words}\n{line}\n"), Some(1)),
            (format!("{HEAD}\n{line}\n"), None),
            (format!("{HEAD}\n{words}\n{line}\n{}\n", &line[..20]), None),
            (format!("agentglot view 0\n{words}\n{line}\n"), None),
            (String::new(), None),
        ] {
            std::fs::write(&path, &text).unwrap();
            assert_eq!(load(&path).map(|(_, logs)| logs.len()), many, "{text}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
