//! Paths as the program shows them, and what it says when the system says no.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::spawn_blocking;

use super::args::text;
use crate::tools::{Cx, Given};
use crate::workspace::{Fault, Place, Wall};

/// Files larger than this are not taken into memory.
pub(super) const MOST: u64 = 64 << 20;

/// Where the `path` of a call leads, links followed.
pub(super) fn place(input: &Value, name: &str, wall: &Wall) -> Result<Place, Given> {
    let path = text(input, name)?;
    wall.locate(path).map_err(|fault| refused(&fault, wall.absolute(path.as_ref())))
}

/// The same, but a link at the end is not followed.
pub(super) fn entry(input: &Value, name: &str, wall: &Wall) -> Result<Place, Given> {
    let path = text(input, name)?;
    wall.locate_entry(path).map_err(|fault| refused(&fault, wall.absolute(path.as_ref())))
}

/// A path that cannot be used.
pub(super) fn refused(fault: &Fault, path: PathBuf) -> Given {
    Given::error(match fault {
        Fault::Outside { path, root } => format!("Access denied: {} is outside work directory {}", path.display(), root.display()),
        other => format!("Path validation error: {}", errno(other, &path.display().to_string())),
    })
}

/// What `str(error)` prints of Python's errors.
pub(super) fn errno(fault: &Fault, path: &str) -> String {
    let (number, words) = match fault {
        Fault::Missing(_) => (2, "No such file or directory"),
        Fault::Denied(_) => (13, "Permission denied"),
        Fault::Exists(_) => (17, "File exists"),
        Fault::NotFolder(_) => (20, "Not a directory"),
        Fault::Folder(_) => (21, "Is a directory"),
        Fault::Full(_) => (28, "No space left on device"),
        Fault::ReadOnly(_) => (30, "Read-only file system"),
        Fault::NotEmpty(_) => (39, "Directory not empty"),
        other => return other.to_string(),
    };
    format!("[Errno {number}] {words}: '{path}'")
}

/// Does a call's file work on a thread that may wait. What comes first in `fn` is that the turn may be stopped: short work is finished.
pub(super) async fn work(input: &Value, cx: &Cx<'_>, work: impl FnOnce(&Value, &Wall) -> Result<Given, Given> + Send + 'static) -> Given {
    let wall: Arc<Wall> = cx.world.wall.clone();
    let input = input.clone();
    match spawn_blocking(move || work(&input, &wall)).await {
        Ok(Ok(given) | Err(given)) => given,
        Err(_) => Given::error("the tool has failed inside"),
    }
}
