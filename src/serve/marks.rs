//! What hosts want to be kept of sessions that the sessions' own files have no place for: a file for each session.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use agentglot_adapters::raw::server::{Listed, Mark};
use serde::{Deserialize, Serialize};

use super::stored_sessions::{is_plain, own_folder};
use crate::child::file::read_regular;

/// So many bytes hold it.
const MOST: u64 = 64 * 1024;

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Marks {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
}

/// Adds what is kept of a session.
pub(super) fn read(session: &mut Listed) {
    let Marks { name, archived } = file(&session.id).map(|path| kept(&path)).unwrap_or_default();
    session.archived = archived;
    session.name = name.or_else(|| session.name.take());
}

/// Keeps something more of a session, or nothing any more.
pub(super) fn write(session: &str, mark: &Mark) -> io::Result<()> {
    let path = file(session).ok_or(ErrorKind::InvalidInput)?;
    let mut marks = kept(&path);
    match mark {
        Mark::Name(name) => marks.name = Some(name.clone()),
        Mark::Archived | Mark::Unarchived => marks.archived = *mark == Mark::Archived,
        Mark::Deleted => marks = Marks::default(),
    }
    if marks == Marks::default() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let beside = path.with_extension("tmp");
    fs::write(&beside, serde_json::to_string(&marks)?)?;
    fs::rename(&beside, &path)
}

fn kept(path: &std::path::Path) -> Marks {
    let text = read_regular(path, MOST).ok();
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn file(session: &str) -> Option<PathBuf> {
    is_plain(session).then(|| Some(own_folder()?.join("marks").join(session)))?
}
