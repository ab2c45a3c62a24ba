//! `create_file`, `delete_file`, `delete_path`, `mkdir`

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::{is_set, text};
use super::place::{entry, errno, place};
use crate::tools::Given;
use crate::workspace::{Fault, Guard, Kind, Wall};

pub(super) fn create(input: &Value, wall: &Wall) -> Result<Given, Given> {
    let place = place(input, "path", wall)?;
    let path = place.path().display().to_string();
    let content = text(input, "content")?;
    match place.write(content.as_bytes(), Guard::New) {
        Ok(_) => Ok(Given::text(format!("Successfully created {path}"))),
        Err(Fault::Exists(_) | Fault::Folder(_)) => Err(Given::error(format!(
            "File already exists: {path}. Use edit_file to modify existing files."
        ))),
        Err(other) => Err(Given::error(format!("Create failed: {}", errno(&other, &path)))),
    }
}

pub(super) fn delete_file(input: &Value, wall: &Wall) -> Result<Given, Given> {
    let place = entry(input, "path", wall)?;
    let path = place.path().display().to_string();
    match place.delete_file() {
        Ok(()) => Ok(Given::text(format!("Deleted file: {path}"))),
        Err(Fault::Missing(_)) => Err(Given::error(format!("File not found: {path}"))),
        Err(Fault::Folder(_)) => Err(Given::error(format!("Is a directory: {path}. Use delete_path for directories."))),
        Err(fault @ Fault::Denied(_)) => Err(Given::error(format!("Permission denied: {path}: {}", errno(&fault, &path)))),
        Err(other) => Err(Given::error(format!("Delete failed: {}", errno(&other, &path)))),
    }
}

pub(super) fn delete_path(input: &Value, wall: &Wall, cancel: &CancellationToken) -> Result<Given, Given> {
    let place = entry(input, "path", wall)?;
    let path = place.path().display().to_string();
    let failed = |fault: Fault| match fault {
        Fault::Denied(_) => Given::error(format!("Permission denied: {path}: {}", errno(&fault, &path))),
        other => Given::error(format!("Delete failed: {path}: {}", errno(&other, &path))),
    };
    if wall.folders().iter().any(|folder| folder == place.path()) {
        return Err(Given::error(format!("Refusing to delete the work directory root: {path}")));
    }
    let Some(stat) = place.stat_if_there().map_err(failed)? else {
        return Err(Given::error(format!("Path not found: {path}")));
    };
    match stat.kind {
        Kind::File | Kind::Link => {
            place.delete_file().map_err(failed)?;
            Ok(Given::text(format!("Deleted file: {path}")))
        }
        Kind::Folder => {
            let all = is_set(input, "recursive", false);
            place.delete_folder(all, cancel).map_err(failed)?;
            let how = if all { "directory recursively" } else { "empty directory" };
            Ok(Given::text(format!("Deleted {how}: {path}")))
        }
        Kind::Special(_) => Err(Given::error(format!("Unsupported path type: {path}"))),
    }
}

pub(super) fn mkdir(input: &Value, wall: &Wall) -> Result<Given, Given> {
    let place = place(input, "path", wall)?;
    let path = place.path().display().to_string();
    let failed = |fault: Fault| match fault {
        Fault::Denied(_) => Given::error(format!("Permission denied: {path}: {}", errno(&fault, &path))),
        other => Given::error(format!("Create directory failed: {}", errno(&other, &path))),
    };
    match place.make_folder(is_set(input, "parents", true)) {
        Ok(()) => Ok(Given::text(format!("Created directory: {path}"))),
        Err(Fault::Exists(_)) => match place.stat().map_err(failed)?.kind {
            Kind::Folder if is_set(input, "exist_ok", false) => Ok(Given::text(format!("Directory exists: {path}"))),
            Kind::Folder => Err(Given::error(format!("Directory already exists: {path}"))),
            _ => Err(Given::error(format!("Path exists and is not a directory: {path}"))),
        },
        Err(other) => Err(failed(other)),
    }
}
