//! Making folders.

use crate::workspace::{Fault, Kind, Place, Wall};

/// Makes a folder; with `parents` those above it too. With `there_is_fine` it may be there already: whether it was made.
///
/// # Errors
/// [`Fault::Exists`]; [`Fault::Missing`] without the folder above it.
pub fn mkdir(wall: &Wall, path: &str, parents: bool, there_is_fine: bool) -> Result<(Place, bool), Fault> {
    let place = wall.locate(path)?;
    match place.make_folder(parents) {
        Ok(()) => Ok((place, true)),
        Err(Fault::Exists(_)) if there_is_fine && place.stat()?.kind == Kind::Folder => Ok((place, false)),
        Err(fault) => Err(fault),
    }
}
