//! Deleting files and folders.

use tokio_util::sync::CancellationToken;

use super::text::decode;
use super::write::LARGEST_CHANGED;
use crate::workspace::{Fault, Kind, Place, Wall};

/// What was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Where it was.
    pub place: Place,
    /// What it was.
    pub kind: Kind,
    /// Its size in bytes; 0 of folders.
    pub size: u64,
    /// Its text, if it was a text file of no more than [`LARGEST_CHANGED`] bytes.
    pub text: Option<String>,
}

/// Deletes a file, or a link: that one, not what it leads to.
///
/// # Errors
/// [`Fault::Folder`] for a folder.
pub fn delete_file(wall: &Wall, path: &str) -> Result<Deleted, Fault> {
    let place = wall.locate_entry(path)?;
    let stat = place.stat()?;
    let content = (stat.kind == Kind::File).then(|| place.read(LARGEST_CHANGED).ok()).flatten();
    place.delete_file()?;
    Ok(Deleted {
        kind: stat.kind,
        size: stat.size,
        text: content
            .and_then(|(bytes, _)| decode(&bytes))
            .filter(|text| !text.lossy)
            .map(|text| text.text),
        place,
    })
}

/// Deletes a file, a link or a folder; with `all` a folder that holds something too.
///
/// # Errors
/// [`Fault::NotEmpty`].
pub fn delete_path(wall: &Wall, path: &str, all: bool, cancel: &CancellationToken) -> Result<Deleted, Fault> {
    let place = wall.locate_entry(path)?;
    let stat = place.stat()?;
    if stat.kind != Kind::Folder {
        return delete_file(wall, path);
    }
    place.delete_folder(all, cancel)?;
    Ok(Deleted {
        place,
        kind: Kind::Folder,
        size: 0,
        text: None,
    })
}
